"""The decode loop over the rows of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from .choice import Chooser, Scores
from .forward import Session
from .head import Head
from .row import Row

CHUNK = 512
"""Tokens of prompts, of all rows together, that go through the model in one pass."""
WIDTH = 12
"""Guessed tokens, of all rows together, that go through the model in one pass beside those that the grammar forces."""
_MIN_CHUNK = 16


@dataclass(slots=True)
class Passes:
    """How often the model ran, over how many tokens, and how many were drafted; some right, some of those forced."""

    passes: int = 0
    fed: int = 0
    drafted: int = 0
    right: int = 0
    forced: int = 0


class Batch:
    """Rows that are decoded together; those that are finished leave."""

    def __init__(self, rows: Sequence[Row], session: Session, head: Head, chooser: Chooser, *, drafts: bool) -> None:
        self._rows: list[Row] = list(rows)
        self._session = session
        self._head = head
        self._chooser = chooser
        self._drafts = drafts
        self.passes = Passes()

    def decode(self) -> None:
        """Decode until every row has a `finish`."""
        while self._left():
            if not self._feed_long():
                self._step()

    def _left(self) -> list[Row]:
        """The rows that are not finished; the others leave the batch once they are half of it."""
        for row in self._rows:
            row.absorb(forced=self._drafts)
        left = [index for index, row in enumerate(self._rows) if row.finish is None]
        if left and 2 * len(left) <= len(self._rows):
            self._session.keep(left)
            self._rows = [self._rows[index] for index in left]
        return [row for row in self._rows if row.finish is None]

    def _feed_long(self) -> bool:
        """Feed one piece of each prompt that is too long for one pass; whether there was any."""
        left = [row for row in self._rows if row.finish is None]
        size = max(CHUNK // len(left), _MIN_CHUNK)
        pieces = [row.pending[:size] if row.finish is None and len(row.pending) > size else [] for row in self._rows]
        if not any(pieces):
            return False
        self._run(pieces)
        for index, (row, piece) in enumerate(zip(self._rows, pieces, strict=True)):
            self._session.commit(index, len(piece))
            row.pending = row.pending[len(piece) :]
        return True

    def _step(self) -> None:
        """One pass: the pending tokens and a draft of each row, then the decisions on them."""
        left = [row for row in self._rows if row.finish is None]
        for row in left:
            row.propose(max(WIDTH // len(left), 1) if self._drafts else 0)
        features = self._run([[] if row.finish else [*row.pending, *row.draft] for row in self._rows])
        places, start = list[int](), 0
        for row in left:
            first = start + len(row.pending) - 1
            places += range(first, first + len(row.allowed))
            start += len(row.pending) + len(row.draft)
        scores = iter(self._head.scores(features[places], [ids for row in left for ids in row.allowed]))
        for index, row in enumerate(self._rows):
            if row.finish is None:
                self._settle(index, row, [next(scores) for _ in row.allowed])

    def _settle(self, index: int, row: Row, scores: Sequence[Scores]) -> None:
        pending, drafted, forced = len(row.pending), len(row.draft), row.forced
        kept = row.settle(scores, self._chooser)
        self.passes.drafted += drafted
        self.passes.right += kept - pending
        self.passes.forced += min(forced, kept - pending)
        self._session.commit(index, kept)

    def _run(self, tokens: Sequence[Sequence[int]]) -> Tensor:
        self.passes.passes += 1
        self.passes.fed += sum(map(len, tokens))
        return self._session.feed(tokens)
