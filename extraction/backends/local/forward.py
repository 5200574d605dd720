"""Running a model over the rows of a batch: packed where the model allows it, one row at a time where not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import torch
from torch import Tensor
from transformers import AttentionInterface, DynamicCache

from . import slots
from .slots import Layers, Slots

# A prefix runs through the model in blocks at fixed places, so that a block gives the same bits whether the blocks
# before it were computed now or kept from a request before.
BLOCK = 128
KEPT = 4

Late = Callable[[], bool]

AttentionInterface.register(slots.NAME, slots.attention)


class Session(Protocol):
    """The state of the model after the tokens of each row of a batch."""

    def feed(self, tokens: Sequence[Sequence[int]]) -> Tensor:
        """Run the next tokens of each row.  What the head makes logits of, one row for each token in order."""
        ...

    def commit(self, row: int, count: int) -> None:
        """Keep the first `count` of the tokens that the row was fed last."""
        ...

    def keep(self, rows: Sequence[int]) -> None:
        """Drop all rows but these."""
        ...


class Packed:
    """A decoder whose attention goes through `Slots`; it keeps the state after a few prefixes."""

    drafts = True

    def __init__(self, model: Any, *, kept: int = KEPT) -> None:
        self._model = model
        self._decoder = model.get_decoder()
        self._room = kept
        self._kept: dict[tuple[int, ...], Layers] = {}

    def open(self, prefix: Sequence[int], rows: int, late: Late) -> PackedSession | None:
        """A session of some rows after the prefix, or None when it got late before the prefix was computed."""
        layers = self._prefix(tuple(prefix), late)
        return None if layers is None else PackedSession(self, Slots(rows, layers, len(prefix)))

    def run(self, state: Slots, tokens: Sequence[Sequence[int]]) -> Tensor:
        """The last hidden state of each token, [N, hidden size]."""
        device = self._model.device
        ids = torch.tensor([[token for row in tokens for token in row]], device=device)
        positions = state.plan([len(row) for row in tokens], device)
        with _attending(self._model.config):
            output = self._decoder(
                input_ids=ids,
                position_ids=positions,
                attention_mask=torch.zeros(1, 1, 1, 1, device=device),  # four axes: taken for made, and then not used
                use_cache=False,
                slots=state,
            )
        hidden: Tensor = output.last_hidden_state[0]
        return hidden

    def _prefix(self, ids: tuple[int, ...], late: Late) -> Layers | None:
        layers = self._kept.pop(ids, None)
        if layers is None:
            layers = self._computed(ids, late)
        if layers is not None and ids:
            self._kept[ids] = layers
        while len(self._kept) > self._room:
            del self._kept[next(iter(self._kept))]
        return layers

    def _computed(self, ids: tuple[int, ...], late: Late) -> Layers | None:
        state = Slots(1)
        nearest = max(self._kept, key=lambda kept: shared(kept, ids), default=())
        if known := shared(nearest, ids) // BLOCK * BLOCK:
            state.fill(self._kept[nearest], known)
        for start in range(known, len(ids), BLOCK):
            if late():
                return None
            block = ids[start : start + BLOCK]
            self.run(state, [block])
            state.commit(0, len(block))
        return state.first_row()


class PackedSession:
    """Rows that go through the model together."""

    def __init__(self, runner: Packed, state: Slots) -> None:
        self._runner = runner
        self._state = state

    def feed(self, tokens: Sequence[Sequence[int]]) -> Tensor:
        return self._runner.run(self._state, tokens)

    def commit(self, row: int, count: int) -> None:
        self._state.commit(row, count)

    def keep(self, rows: Sequence[int]) -> None:
        self._state.keep(rows)


class Single:
    """Any model that `transformers` runs with a cache: one row at a time, and what was fed stays."""

    drafts = False

    def __init__(self, model: Any) -> None:
        self._model = model

    def open(self, prefix: Sequence[int], rows: int, late: Late) -> SingleSession | None:
        """A session of one row after the prefix, or None when it got late before the prefix was computed."""
        session = SingleSession(self._model)
        for start in range(0, len(prefix), BLOCK):
            if late():
                return None
            session.feed([prefix[start : start + BLOCK]])
        return session


class SingleSession:
    """One row; `feed` gives logits, and only those after the last token."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._cache = DynamicCache(config=model.config)

    def feed(self, tokens: Sequence[Sequence[int]]) -> Tensor:
        [row] = tokens
        ids = torch.tensor([list(row)], device=self._model.device)
        output = self._model(input_ids=ids, cache=self._cache, use_cache=True, logits_to_keep=1)
        logits: Tensor = output.logits[0].expand(len(row), -1)
        return logits

    def commit(self, row: int, count: int) -> None:
        """Nothing is ever taken back."""

    def keep(self, rows: Sequence[int]) -> None:
        """There is one row."""


def shared(left: Sequence[int], right: Sequence[int]) -> int:
    """The number of tokens at the start that two sequences share."""
    for index, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return index
    return min(len(left), len(right))


@torch.inference_mode()
def is_packable(model: Any) -> bool:
    """Whether packed rows give what the model gives alone, and its logits are its head over the last hidden state.

    Found out by running both on two short rows: a sliding window, a recurrent layer, attention that is capped or biased
    or a scaled head all show, or fail.
    """
    config = model.config.get_text_config()
    if getattr(config, "sliding_window", None) and set(getattr(config, "layer_types", None) or ["sliding"]) != {
        "full_attention"
    }:
        return False
    width = int(model.get_output_embeddings().weight.shape[0])
    rows = [[(7 * step + 3 + row) % width for step in range(6)] for row in range(2)]
    try:
        packed = _packed_logits(model, rows)
    except (TypeError, KeyError, AttributeError, RuntimeError, ValueError, IndexError):
        return False
    alone = torch.cat([model(input_ids=torch.tensor([row], device=model.device)).logits[0] for row in rows])
    return packed.shape == alone.shape and _close(packed.float(), alone.float(), model.dtype)


def _packed_logits(model: Any, rows: Sequence[Sequence[int]]) -> Tensor:
    """The logits of two rows of equal length, their last tokens in a second pass."""
    state, runner = Slots(2), Packed(model)
    first = runner.run(state, [row[:-2] for row in rows])
    for row in range(2):
        state.commit(row, len(rows[row]) - 2)
    second = runner.run(state, [row[-2:] for row in rows])
    half = len(rows[0]) - 2
    hidden = torch.cat([first[:half], second[:2], first[half:], second[2:]])
    logits: Tensor = model.get_output_embeddings()(hidden)
    return logits


def _close(one: Tensor, other: Tensor, dtype: torch.dtype) -> bool:
    tolerance = 2e-3 if dtype in (torch.float32, torch.float64) else 5e-2
    return bool((one - other).abs().max() <= tolerance * (1 + other.abs().max()))


@contextmanager
def _attending(config: Any) -> Iterator[None]:
    """The model's attention is ours inside."""
    config = config.get_text_config()
    before = config._attn_implementation
    config._attn_implementation = slots.NAME
    try:
        yield
    finally:
        config._attn_implementation = before
