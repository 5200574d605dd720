"""Attention over a shared prefix and the rows of a batch, each row with a time axis of its own.

A forward pass gets the new tokens of all rows as one packed sequence, so rows of unequal lengths waste nothing, and a
row takes rejected tokens back by forgetting its last slots: they are written over.

Shapes: G query heads share one of H key heads; D is the size of a head, N the number of packed tokens, B of rows, P of
tokens of the prefix, S of slots of a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

NAME = "sgam_slots"
_GROWTH = 128

Layers = dict[int, tuple[Tensor, Tensor]]
"""For each layer the keys and values of a prefix, [H, P, D] each."""


def attention(module: Any, query: Tensor, key: Tensor, value: Tensor, mask: Any, **more: Any) -> tuple[Tensor, None]:
    """The attention function that a model calls when its `_attn_implementation` is `NAME`."""
    slots: Slots = more["slots"]
    return slots.attend(module.layer_idx, query[0], key[0], value[0], more["scaling"])[None], None


class Slots:
    """Keys and values of the rows of a batch after a shared prefix."""

    def __init__(self, rows: int, prefix: Layers | None = None, start: int = 0) -> None:
        self.start = start
        self.lengths = [0] * rows
        self._prefix = prefix or {}
        self._own: Layers = {}

    def plan(self, counts: Sequence[int], device: Any) -> Tensor:
        """Prepare a pass with `counts[b]` new tokens of row b; the position of each token, [1, N]."""
        rows = [row for row, count in enumerate(counts) for _ in range(count)]
        offsets = [offset for count in counts for offset in range(count)]
        slots = [self.lengths[row] + offset for row, offset in zip(rows, offsets, strict=True)]
        self._rows, self._offsets, self._places = torch.tensor([rows, offsets, slots], device=device)
        self._shape = (len(counts), max(counts))
        self._even = len(set(counts)) == 1
        self._seen = max(slots) + 1
        hidden = torch.arange(self._seen, device=device) > self._places[:, None]
        self._mask = hidden[:, None].expand(-1, 1, -1)
        positions: Tensor = self._places[None] + self.start
        return positions

    def commit(self, row: int, count: int) -> None:
        """Keep the first `count` of the tokens that row was given in the last pass."""
        self.lengths[row] += count

    def keep(self, rows: Sequence[int]) -> None:
        """Drop all rows but these."""
        chosen = torch.tensor(rows)
        self.lengths = [self.lengths[row] for row in rows]
        for layer, (keys, values) in self._own.items():
            index = chosen.to(keys.device)
            self._own[layer] = keys.index_select(1, index), values.index_select(1, index)

    def first_row(self) -> Layers:
        """Keys and values of row 0, as a prefix."""
        end = self.lengths[0]
        return {layer: (keys[:, 0, :end], values[:, 0, :end]) for layer, (keys, values) in self._own.items()}

    def fill(self, layers: Layers, length: int) -> None:
        """Begin row 0, the only one, with the first `length` tokens of a prefix."""
        self.lengths = [length]
        for layer, (keys, values) in layers.items():
            own = _grown(None, keys, 1, length), _grown(None, values, 1, length)
            own[0][:, 0, :length], own[1][:, 0, :length] = keys[:, :length], values[:, :length]
            self._own[layer] = own

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scaling: float) -> Tensor:
        """Store key and value, [H, N, D], and attend with query, [H * G, N, D].  Result: [N, H * G, D]."""
        keys, values = self._store(layer, key, value)
        heads, count, size = key.shape
        asked = query.view(heads, -1, count, size).transpose(1, 2) * scaling
        scores = self._gather(self._spread(asked) @ keys.transpose(-1, -2), asked.shape[2])
        scores = scores.masked_fill(self._mask, -torch.inf)
        found = self._weigh(layer, asked, scores, values)
        return found.permute(1, 0, 2, 3).reshape(count, -1, size)

    def _weigh(self, layer: int, asked: Tensor, own: Tensor, values: Tensor) -> Tensor:
        """The mean of prefix and own values, [H, N, G, D], by the softmax over the scores of both."""
        heads, count, group, size = asked.shape
        if layer not in self._prefix:
            return self._gather(self._spread(own.softmax(-1)) @ values, group)
        keys, before = self._prefix[layer]
        flat = asked.reshape(heads, count * group, size)
        scores = (flat @ keys.transpose(-1, -2)).view(heads, count, group, -1)
        weights = torch.cat([scores, own], -1).softmax(-1)
        first, last = weights[..., : scores.shape[-1]], weights[..., scores.shape[-1] :]
        shared = (first.reshape(heads, count * group, -1) @ before).view(heads, count, group, size)
        found: Tensor = shared + self._gather(self._spread(last) @ values, group)
        return found

    def _spread(self, packed: Tensor) -> Tensor:
        """[H, N, G, X] to [H, B, n * G, X], n tokens for each row, some of them padding."""
        heads, _, group, size = packed.shape
        rows, width = self._shape
        if self._even:
            return packed.reshape(heads, rows, width * group, size)
        padded = packed.new_zeros(heads, rows, width, group, size)
        padded[:, self._rows, self._offsets] = packed
        return padded.view(heads, rows, width * group, size)

    def _gather(self, padded: Tensor, group: int) -> Tensor:
        """The way back from `_spread`."""
        heads, rows, _, size = padded.shape
        if self._even:
            return padded.reshape(heads, -1, group, size)
        return padded.view(heads, rows, -1, group, size)[:, self._rows, self._offsets]

    def _store(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Write the new tokens; all that is seen by some row of the batch, [H, B, S, D] each."""
        rows = self._shape[0]
        own = self._own.get(layer)
        if own is None or own[0].shape[2] < self._seen:
            keys, values = own or (None, None)
            own = _grown(keys, key, rows, self._seen), _grown(values, value, rows, self._seen)
            self._own[layer] = own
        own[0][:, self._rows, self._places] = key
        own[1][:, self._rows, self._places] = value
        return own[0][:, :, : self._seen], own[1][:, :, : self._seen]


def _grown(old: Tensor | None, like: Tensor, rows: int, length: int) -> Tensor:
    """A buffer for at least `length` slots; zeros where nothing is written, since 0 times a stray NaN is NaN."""
    room = (length + _GROWTH + length // 4) // _GROWTH * _GROWTH + _GROWTH
    new = like.new_zeros(like.shape[0], rows, room, like.shape[-1])
    if old is not None:
        new[:, :, : old.shape[2]] = old
    return new
