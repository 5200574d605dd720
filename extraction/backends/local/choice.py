"""Choosing a token among those that are allowed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..base import Request
from .head import Ids
from .outline import Outline

FEW = 64
"""With more allowed tokens than this, no list of items begins or ends."""

Scores = npt.NDArray[np.float64]
Spell = Callable[[Sequence[int]], bytes]


@dataclass(frozen=True, slots=True)
class Choice:
    """A token, its probability among the allowed ones, and that of another item where this token decides on it."""

    token: int
    probability: float
    more: float | None


@dataclass(frozen=True, slots=True)
class Chooser:
    """How tokens are chosen: greedily, or drawn at a temperature above 0, the draws seeded."""

    spell: Spell
    temperature: float = 0.0
    seed: int = 0
    update_bias: float = 0.0

    def choose(self, ids: Ids, scores: Scores, outline: Outline, place: tuple[bytes, int]) -> Choice:
        """Choose among `ids` by their logits; `place` is the request's digest and the number of the token."""
        events = self._events(ids, outline)
        more = np.array([event == "more" for event in events]) if any(events) else None
        if more is not None and self.update_bias and not outline.begun:
            scores = scores + self.update_bias * more
        chances = _softmax(scores)
        at = self._pick(scores, place)
        decides = more is not None and events[at] is not None
        return Choice(int(ids[at]), float(chances[at]), self._more(chances, events) if decides else None)

    def _events(self, ids: Ids, outline: Outline) -> list[str | None]:
        """What each token decides; one that ends an item counts as an end where another one goes on after it."""
        if len(ids) > FEW:
            return []
        spelled = [self.spell([int(token)]) for token in ids]
        events: list[str | None] = [outline.peek(data) for data in spelled]
        if "more" not in events:
            return events
        return [event or ("end" if outline.closes(data) else None) for event, data in zip(events, spelled, strict=True)]

    def _more(self, chances: Scores, events: list[str | None]) -> float:
        weights = {
            kind: sum(chance for chance, event in zip(chances, events, strict=True) if event == kind)
            for kind in ("more", "end")
        }
        return float(weights["more"] / max(sum(weights.values()), 1e-300))

    def _pick(self, scores: Scores, place: tuple[bytes, int]) -> int:
        if self.temperature <= 0 or len(scores) == 1:
            return int(scores.argmax())
        edges = _softmax(scores / self.temperature).cumsum()
        return min(int(np.searchsorted(edges, self._draw(place) * edges[-1], side="right")), len(scores) - 1)

    def _draw(self, place: tuple[bytes, int]) -> float:
        digest, number = place
        data = digest + self.seed.to_bytes(16, "big", signed=True) + number.to_bytes(8, "big")
        return int.from_bytes(hashlib.sha256(data).digest()[:8], "big") / 2.0**64


def digest(request: Request) -> bytes:
    """A hash of what is asked, whatever else is asked beside it."""
    asked = repr([[(m.role, m.content) for m in request.messages], request.schema, request.source, request.context])
    return hashlib.sha256(asked.encode("utf-8", "surrogatepass")).digest()


def _softmax(scores: Scores) -> Scores:
    weights = np.exp(scores - scores.max())
    found: Scores = weights / weights.sum()
    return found
