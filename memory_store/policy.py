"""What becomes of a candidate: (what is known of its key, candidate, rules) -> ruling.  Pure, and versioned.

The state of a key is what is live (accepted, not retracted) and what waits.  `decide` rules on one candidate against a
state and `enact` gives the state after a ruling.  `replay` decides a whole history of a key again, as happens after
something was taken back; `chronicle` gives all the states on the way.  The model's own idea of the change is no
argument.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from .model import DecisionKind, Reason
from .neighbourhood import Neighbourhood
from .schema import CONFIRMATION, Rules
from .timeline import Assertion, Stretch, at, timeline

POLICY_VERSION: Final = 1
BY_HAND: Final = 1_000_000_000
"""Precedence of the first value that a person confirmed; each later one has one more."""

EventKind = Literal["candidate", "confirm", "dismiss", "retract"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """A candidate on hold, and why."""

    assertion: Assertion
    reason: Reason


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyState:
    """What is live and what waits for one key, both in commit order."""

    live: tuple[Assertion, ...] = ()
    waiting: tuple[Waiting, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """What a candidate is judged by: the rules of its attribute and the sources that its schema trusts, best first."""

    rules: Rules
    sources: tuple[str, ...]
    from_memory: bool = False

    def rank(self, source: str) -> int:
        """Trust in a source; greater is more, and a source that the schema does not list has none."""
        return len(self.sources) - self.sources.index(source) if source in self.sources else 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Ruling:
    """What is done with the candidate `id`.

    `precedence` is what it counts with if it becomes live; `promoted` are waiting candidates that become live with it;
    `current_value` is the canonical value in force at its `valid_from` before.
    """

    id: int
    decision: DecisionKind
    reason: Reason
    precedence: int = 0
    promoted: tuple[int, ...] = ()
    current_value: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """Something that happened to a key: a candidate was committed, or one was settled by hand."""

    kind: EventKind
    known_at: datetime
    assertion: Assertion
    terms: Terms


def decide(state: KeyState, candidate: Assertion, terms: Terms) -> Ruling:
    """Rule on a candidate; the first case that applies counts (see the table in the README)."""
    before = timeline(state.live)
    current = at(before, candidate.valid_from)
    ruling = _Court(state, candidate, terms, before, current).ruling()
    return replace(ruling, current_value=current.value if current else None)


@dataclass(frozen=True, slots=True)
class _Court:
    state: KeyState
    candidate: Assertion
    terms: Terms
    before: tuple[Stretch, ...]
    current: Stretch | None

    def ruling(self) -> Ruling:
        rejected = self._rejected()
        if rejected:
            return self._rule(DecisionKind.REJECT, rejected)
        conflict, precedence = self._rival()
        if self._is_doubtful():
            return self._rule(DecisionKind.HOLD, Reason.LOW_CONFIDENCE, precedence)
        if conflict is None and (reason := self._no_change(precedence)):
            return self._rule(DecisionKind.NO_CHANGE, reason, precedence)
        signals = self._signals()
        wait = self._must_wait(signals) or conflict or self._imprecise()
        if wait:
            return self._rule(DecisionKind.HOLD, wait, precedence)
        return self._accept(precedence, signals)

    def _rule(self, decision: DecisionKind, reason: Reason, precedence: int = 0) -> Ruling:
        return Ruling(id=self.candidate.id, decision=decision, reason=reason, precedence=precedence)

    def _is_doubtful(self) -> bool:
        """Whether the model was less sure than is asked; even a repetition would bear on what is learned later."""
        stated = self.candidate.confidence
        return stated is not None and stated < self.terms.rules.min_confidence

    def _rejected(self) -> Reason | None:
        if self.terms.from_memory:
            return Reason.FROM_MEMORY
        if self.terms.rank(self.candidate.source) < self.terms.rank(self.terms.rules.min_source):
            return Reason.SOURCE_NOT_TRUSTED
        return None

    def _rival(self) -> tuple[Reason | None, int]:
        """Whether another value from the same instant makes it wait, and the precedence that it gets."""
        equals = [other for other in self.state.live if other.valid_from == self.candidate.valid_from]
        rank = self.terms.rank(self.candidate.source)
        if not equals:
            return None, rank if self.terms.rules.on_equal_time == "source_rank" else 0
        winner = max(equals, key=lambda other: other.order)
        if winner.identity == self.candidate.identity:
            own = rank if self.terms.rules.on_equal_time == "source_rank" else 0
            return None, max(own, winner.precedence)
        if self.terms.rules.on_equal_time == "last_recorded":
            return None, winner.precedence + 1
        best = max(self._rank_of(other) for other in equals if other.identity == winner.identity)
        if self.terms.rules.on_equal_time == "hold" or rank == best:
            return Reason.EQUAL_TIME, 0
        return None, rank

    def _rank_of(self, other: Assertion) -> int:
        return self.terms.rank(CONFIRMATION if other.precedence >= BY_HAND else other.source)

    def _no_change(self, precedence: int) -> Reason | None:
        after = timeline([*self.state.live, replace(self.candidate, precedence=precedence)])
        if _shape(after) != _shape(self.before):
            return None
        repeats = self.current is not None and self.current.identity == self.candidate.identity
        return Reason.REPEATED if repeats and self.candidate.valid_until is None else Reason.WITHOUT_EFFECT

    def _signals(self) -> tuple[int, ...]:
        """Waiting candidates that assert the same since the value in force began."""
        return tuple(
            waiting.assertion.id
            for waiting in self.state.waiting
            if waiting.reason is Reason.NEEDS_RECURRENCE
            and waiting.assertion.identity == self.candidate.identity
            and (self.current is None or self.current.covers(waiting.assertion.valid_from))
        )

    def _free(self, ids: tuple[int, ...]) -> tuple[int, ...]:
        """Those of the waiting that no other live value contests from the same instant, where that makes them wait."""
        if self.terms.rules.on_equal_time != "hold":
            return ids
        taken = {other.valid_from for other in self.state.live if other.identity != self.candidate.identity}
        contested = {w.assertion.id for w in self.state.waiting if w.assertion.valid_from in taken}
        return tuple(number for number in ids if number not in contested)

    def _must_wait(self, signals: tuple[int, ...]) -> Reason | None:
        if self.terms.rules.confirm and self.candidate.source != CONFIRMATION:
            return Reason.NEEDS_CONFIRMATION
        if self._episodes(signals) < self.terms.rules.promote_after:
            return Reason.NEEDS_RECURRENCE
        return None

    def _episodes(self, signals: tuple[int, ...]) -> int:
        since = self.current.start if self.current else None
        live = {
            other.episode
            for other in self.state.live
            if other.identity == self.candidate.identity and (since is None or other.valid_from >= since)
        }
        waiting = {w.assertion.episode for w in self.state.waiting if w.assertion.id in signals}
        return len(live | waiting | {self.candidate.episode})

    def _imprecise(self) -> Reason | None:
        if self.candidate.valid_from_end is None:
            return None
        rivals = (other for other in self.state.live if other.identity != self.candidate.identity)
        return Reason.IMPRECISE_ORDER if any(map(self._overlaps, rivals)) else None

    def _overlaps(self, other: Assertion) -> bool:
        start, end = self.candidate.valid_from, self.candidate.valid_from_end
        covers = end is not None and start < other.valid_from < end
        lies_in = other.valid_from_end is not None and other.valid_from < start < other.valid_from_end
        return covers or lies_in

    def _accept(self, precedence: int, signals: tuple[int, ...]) -> Ruling:
        decision = DecisionKind.NEW if self.current is None else DecisionKind.SUPERSEDE
        reason = Reason.NO_VALUE_THEN if self.current is None else Reason.OTHER_VALUE_THEN
        if self.current is not None and self.current.identity == self.candidate.identity:
            reason = Reason.END_LIFTED if self.candidate.valid_until is None else Reason.END_LEARNED
        if self.candidate.identity is None:
            decision, reason = DecisionKind.SUPERSEDE, Reason.REVOKED
        promoted = self._free(signals) if self.terms.rules.promote_after > 1 else ()
        return replace(self._rule(decision, reason, precedence), promoted=promoted)


def _shape(stretches: Iterable[Stretch]) -> list[tuple[datetime, datetime | None, str]]:
    return [(stretch.start, stretch.end, stretch.identity) for stretch in stretches]


def enact(state: KeyState, candidate: Assertion, ruling: Ruling) -> KeyState:
    """The state after a ruling."""
    if ruling.decision is DecisionKind.REJECT:
        return state
    if ruling.decision is DecisionKind.HOLD:
        held = Waiting(assertion=replace(candidate, precedence=ruling.precedence), reason=ruling.reason)
        waiting = (*state.waiting, held)
        return KeyState(live=state.live, waiting=waiting)
    promoted = [w.assertion for w in state.waiting if w.assertion.id in ruling.promoted]
    live = (*state.live, *promoted, replace(candidate, precedence=ruling.precedence))
    return KeyState(live=live, waiting=tuple(w for w in state.waiting if w.assertion.id not in ruling.promoted))


def confirm(state: KeyState, candidate: Assertion) -> KeyState:
    """The state after a person confirmed a candidate: live, above all that is live."""
    top = max([BY_HAND - 1, *(other.precedence for other in state.live)])
    others = drop(state, frozenset({candidate.id}))
    return replace(others, live=(*others.live, replace(candidate, precedence=top + 1)))


def drop(state: KeyState, ids: frozenset[int]) -> KeyState:
    """The state without some candidates; nothing is decided again."""
    live = tuple(other for other in state.live if other.id not in ids)
    return KeyState(live=live, waiting=tuple(w for w in state.waiting if w.assertion.id not in ids))


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """The state of a key after the events of one transaction, and what was ruled in it, in order."""

    known_at: datetime
    state: KeyState
    rulings: tuple[Ruling, ...]


def is_local(candidate: Assertion, terms: Terms) -> bool:
    """Whether a candidate can be judged by its neighbourhood alone.

    A coarse time is compared with far ones, and recurrence counts over a whole fact.
    """
    return candidate.valid_from_end is None and terms.rules.promote_after == 1


def replay(events: Sequence[Event]) -> tuple[KeyState, list[Ruling]]:
    """The state that a key comes to when its history is decided again, and the rulings on the way.

    Dismissed and retracted candidates never count; confirmed ones stand.
    """
    gone = frozenset(event.assertion.id for event in events if event.kind in {"dismiss", "retract"})
    history = _History()
    rulings = [ruling for event in events if event.assertion.id not in gone for ruling in history.happen(event)]
    return history.state, rulings


def chronicle(events: Sequence[Event]) -> Iterator[Step]:
    """The states that a key went through, one for each transaction, as `replay` would have them at the time."""
    history, done = _History(), 0
    for known_at, group in itertools.groupby(events, key=lambda event: event.known_at):
        rulings: list[Ruling] = []
        for event in group:
            done += 1
            if event.kind == "retract":
                state, made = replay(events[:done])
                history = _History(state)
            else:
                made = history.happen(event)
            rulings += made
        yield Step(known_at=known_at, state=history.state, rulings=tuple(rulings))


class _History:
    """The state of a key as events happen to it."""

    def __init__(self, state: KeyState | None = None) -> None:
        self.state = state or KeyState()
        self._live = Neighbourhood(self.state.live)

    def happen(self, event: Event) -> list[Ruling]:
        if event.kind == "candidate":
            return self._decide(event)
        made = [by_hand(self.state, event.assertion)] if event.kind == "confirm" else []
        if event.kind == "confirm":
            self.state = confirm(self.state, event.assertion)
        else:
            self.state = drop(self.state, frozenset({event.assertion.id}))
        self._live = Neighbourhood(self.state.live)
        return made

    def _decide(self, event: Event) -> list[Ruling]:
        local = is_local(event.assertion, event.terms)
        seen = KeyState(live=self._live.of(event.assertion)) if local else self.state
        ruling = decide(seen, event.assertion, event.terms)
        made = [ruling, *promotions(self.state, ruling)]
        before = len(self.state.live)
        self.state = enact(self.state, event.assertion, ruling)
        for added in self.state.live[before:]:
            self._live.add(added)
        return made


def promotions(state: KeyState, ruling: Ruling) -> list[Ruling]:
    """The rulings on the waiting candidates that a ruling promotes, given the state before it."""
    if not ruling.promoted:
        return []
    before = timeline(state.live)
    promoted = [w.assertion for w in state.waiting if w.assertion.id in ruling.promoted]
    return [_promotion(at(before, assertion.valid_from), assertion, Reason.PROMOTED) for assertion in promoted]


def by_hand(state: KeyState, candidate: Assertion) -> Ruling:
    """The ruling that a person's confirmation amounts to."""
    before = timeline(state.live)
    after = timeline(confirm(state, candidate).live)
    ruling = _promotion(at(before, candidate.valid_from), candidate, Reason.CONFIRMED)
    return replace(ruling, decision=DecisionKind.NO_CHANGE) if _shape(before) == _shape(after) else ruling


def _promotion(current: Stretch | None, candidate: Assertion, reason: Reason) -> Ruling:
    decision = DecisionKind.NEW if current is None and candidate.value is not None else DecisionKind.SUPERSEDE
    value = current.value if current else None
    return Ruling(id=candidate.id, decision=decision, reason=reason, current_value=value)
