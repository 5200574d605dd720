"""Assertions in, intervals out: what one key's value was, and when.  A pure function of its argument.

Assertions are read in the order of (`valid_from`, `precedence`, `id`).  Each takes over at its `valid_from` from the
value in force there, and holds until its `valid_until`, or for ever; when it ends, what it lay over resumes.  So at any
time the last one that has begun and has not ended counts.

An assertion of the value that is in force already joins it instead of lying over it:

* with an end it tells when the value ends, and of two such ends the one told from the later `valid_from` counts.  A
  value that had no end of its own is over then, and nothing older resumes; a bounded one keeps its way of ending;
* without an end it makes a bounded value go on for ever.  Of a value that began without an end it is a repetition:
  evidence, and no opinion on the end that was told since.

An assertion without a value is a revocation.  The result does not depend on the order of the argument.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import zip_longest
from typing import NamedTuple

from .model import Precision


@dataclass(frozen=True, kw_only=True, slots=True)
class Assertion:
    """One accepted candidate, as far as timeline and policy care.

    `value` is canonical text and `identity` equal for equal values; both are None for a revocation.  `episode` numbers
    the episode that asserted it; `valid_from_end` is set when `valid_from` is only known to the day, month or year;
    `confidence` is how sure the model was, if it said so.
    """

    id: int
    valid_from: datetime
    value: str | None
    identity: str | None
    episode: int
    source: str
    observed_at: datetime
    valid_until: datetime | None = None
    valid_from_end: datetime | None = None
    precision: Precision = "exact"
    precedence: int = 0
    confidence: float | None = None

    @property
    def order(self) -> tuple[datetime, int, int]:
        """Place in the order in which assertions take over."""
        return (self.valid_from, self.precedence, self.id)


@dataclass(frozen=True, kw_only=True, slots=True)
class Stretch:
    """A maximal interval `[start, end)` of one value; `end` None means open.

    `opener` is the id of the assertion that opens it.  `supports` are the ids of the assertions of this value that
    begin inside it, and the opener; `last_observed` is the newest `observed_at` among them.
    """

    start: datetime
    end: datetime | None
    value: str
    identity: str
    opener: int
    supports: tuple[int, ...]
    last_observed: datetime

    def covers(self, when: datetime) -> bool:
        """Whether the value holds at `when`."""
        return self.start <= when and (self.end is None or when < self.end)


@dataclass(slots=True)
class _Run:
    """One value in force, or lain over, with the assertions that joined it so far."""

    identity: str | None
    last: Assertion | None
    end: datetime | None
    resumes: bool  # whether what lies under it comes back at its end

    @classmethod
    def of(cls, assertion: Assertion) -> _Run:
        bounded = assertion.valid_until is not None
        return cls(assertion.identity, assertion, assertion.valid_until, resumes=bounded)

    def join(self, assertion: Assertion) -> None:
        self.last = assertion
        if assertion.valid_until is not None:
            self.end = assertion.valid_until
        elif self.resumes:
            self.end, self.resumes = None, False


class _Turn(NamedTuple):
    """From `start` on, what `opener` asserts is in force; None: nothing is."""

    start: datetime
    opener: Assertion | None


@dataclass(slots=True)
class _Sweep:
    """Walks through the assertions in order; `stack` holds the runs, the one in force last."""

    stack: list[_Run] = field(default_factory=list)
    turns: list[_Turn] = field(default_factory=list)

    def begin(self, assertion: Assertion) -> None:
        self.expire(assertion.valid_from)
        top = self.stack[-1] if self.stack else None
        if top is not None and top.identity == assertion.identity:
            top.join(assertion)
        else:
            self.stack.append(_Run.of(assertion))
            self.turns.append(_Turn(assertion.valid_from, assertion))

    def expire(self, now: datetime | None) -> None:
        """End what ends at or before `now`; None stands for the end of time."""
        while self.stack:
            end = self.stack[-1].end
            if end is None or (now is not None and end > now):
                return
            self._pop(end)

    def _pop(self, end: datetime) -> None:
        while self.stack and (top := self.stack[-1]).end is not None and top.end <= end:
            self.stack.pop()
            if not top.resumes:
                self.stack.append(_Run(None, None, None, resumes=False))
        self.turns.append(_Turn(end, self.stack[-1].last if self.stack else None))


def timeline(assertions: Iterable[Assertion]) -> tuple[Stretch, ...]:
    """The intervals of one key in order, without those that have no value.  O(n log n)."""
    ordered = sorted(assertions, key=lambda assertion: assertion.order)
    sweep = _Sweep()
    for assertion in ordered:
        sweep.begin(assertion)
    sweep.expire(None)
    return _support(_stretches(_effective(sweep.turns)), ordered)


def _effective(turns: list[_Turn]) -> list[_Turn]:
    """Turns without those that last no time and those that change nothing."""
    kept: list[_Turn] = []
    for turn, after in zip_longest(turns, turns[1:]):
        lasts = after is None or after.start > turn.start
        if lasts and (not kept or _identity(kept[-1]) != _identity(turn)):
            kept.append(turn)
    return kept


def _identity(turn: _Turn) -> str | None:
    return None if turn.opener is None else turn.opener.identity


def _stretches(turns: list[_Turn]) -> list[Stretch]:
    return [
        Stretch(
            start=turn.start,
            end=after.start if after else None,
            value=turn.opener.value,
            identity=turn.opener.identity,
            opener=turn.opener.id,
            supports=(turn.opener.id,),
            last_observed=turn.opener.observed_at,
        )
        for turn, after in zip_longest(turns, turns[1:])
        if turn.opener is not None and turn.opener.value is not None and turn.opener.identity is not None
    ]


def _support(stretches: list[Stretch], ordered: list[Assertion]) -> tuple[Stretch, ...]:
    starts = [stretch.start for stretch in stretches]
    inside: list[list[Assertion]] = [[] for _ in stretches]
    for assertion in ordered:
        at = bisect_right(starts, assertion.valid_from) - 1
        if at >= 0 and stretches[at].covers(assertion.valid_from) and stretches[at].identity == assertion.identity:
            inside[at].append(assertion)
    return tuple(map(_supported, stretches, inside))


def _supported(stretch: Stretch, inside: list[Assertion]) -> Stretch:
    others = [assertion.id for assertion in inside if assertion.id != stretch.opener]
    newest = max([stretch.last_observed, *(assertion.observed_at for assertion in inside)])
    return replace(stretch, supports=(stretch.opener, *others), last_observed=newest)


def at(stretches: Iterable[Stretch], when: datetime) -> Stretch | None:
    """The stretch that holds at `when`."""
    return next((stretch for stretch in stretches if stretch.covers(when)), None)
