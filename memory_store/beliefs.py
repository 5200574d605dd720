"""Writing down what follows from a change of a key's state: who counts, who waits, and the facts.

Only the difference to what was believed before is written.  Where the change can only matter nearby, only the
neighbourhood is read and compared; `splice` then puts the pieces together with the facts that reach out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from . import policy
from .model import Key
from .policy import KeyState, Terms
from .records import AssertionRow, CandidateRow, FactRow, HoldRow
from .store import Transaction, Window
from .timeline import Stretch, timeline

TermsOf = Callable[[CandidateRow], Terms]


class FactBody(NamedTuple):
    """What makes two beliefs about a key the same."""

    value: str
    identity: str
    valid_from: datetime
    valid_to: datetime | None
    expires_at: datetime | None
    assertion_id: int


def is_local(row: CandidateRow, terms: Terms) -> bool:
    """Whether a candidate can be judged and its effect written by its neighbourhood alone; expiry looks further."""
    return policy.is_local(row.assertion(), terms) and terms.rules.ttl is None


def splice(stretches: Sequence[Stretch], window: Window, facts: Sequence[FactRow]) -> list[FactBody]:
    """The facts that take the place of `facts`, those that touch the window, given the stretches inside it.

    At both ends of the window the value is what it was; a fact that reaches out keeps its start, source and end.
    """
    left = next((fact for fact in facts if window.start is not None and _holds(fact, window.start)), None)
    right = next((fact for fact in facts if window.end is not None and _holds(fact, window.end)), None)
    bodies = [_body(stretch) for stretch in stretches]
    if left is not None and bodies:
        bodies[0] = bodies[0]._replace(value=left.value, valid_from=left.valid_from, assertion_id=left.assertion_id)
    if right is not None and bodies:
        bodies[-1] = bodies[-1]._replace(valid_to=right.valid_to)
    return bodies


def _holds(fact: FactRow, when: datetime) -> bool:
    return fact.valid_from <= when and (fact.valid_to is None or when < fact.valid_to)


def _body(stretch: Stretch, expires_at: datetime | None = None) -> FactBody:
    return FactBody(stretch.value, stretch.identity, stretch.start, stretch.end, expires_at, stretch.opener)


def _body_of(row: FactRow) -> FactBody:
    return FactBody(row.value, row.identity, row.valid_from, row.valid_to, row.expires_at, row.assertion_id)


@dataclass(frozen=True, slots=True)
class BeliefWriter:
    """Writes the difference between two states of a key at one known time; serves one transaction."""

    tx: Transaction
    terms: TermsOf
    ttls: dict[int, timedelta | None] = field(default_factory=dict)

    def write(
        self, key: Key, before: KeyState, after: KeyState, known_at: datetime, window: Window | None = None
    ) -> None:
        """Close what no longer holds and insert what does; the states may cover a window of the key only."""
        self._live(before, after, known_at)
        self._waiting(before, after, known_at)
        if before.live == after.live:
            return
        if window is None:
            self._facts(key, self.tx.open_facts(key), self._bodies(after), known_at)
        else:
            touched = self.tx.facts_between(key, window)
            self._facts(key, touched, splice(timeline(after.live), window, touched), known_at)

    def _live(self, before: KeyState, after: KeyState, known_at: datetime) -> None:
        old = {assertion.id: assertion.precedence for assertion in before.live}
        new = {assertion.id: assertion.precedence for assertion in after.live}
        for row in self.tx.live_rows([number for number in old if new.get(number) != old[number]]):
            self.tx.end(row, known_at)
        for number, precedence in new.items():
            if old.get(number) != precedence:
                row = AssertionRow(assertion_id=number, known_from=known_at, known_to=None, precedence=precedence)
                self.tx.insert(row)

    def _waiting(self, before: KeyState, after: KeyState, known_at: datetime) -> None:
        old = {waiting.assertion.id: waiting for waiting in before.waiting}
        new = {waiting.assertion.id: waiting for waiting in after.waiting}
        for row in self.tx.hold_rows([number for number in old if new.get(number) != old[number]]):
            self.tx.end(row, known_at)
        for number, waiting in new.items():
            if old.get(number) != waiting:
                precedence, reason = waiting.assertion.precedence, waiting.reason.value
                self.tx.insert(
                    HoldRow(hold_id=number, known_from=known_at, known_to=None, reason=reason, precedence=precedence)
                )

    def _facts(self, key: Key, found: Iterable[FactRow], bodies: Iterable[FactBody], known_at: datetime) -> None:
        wanted = dict.fromkeys(bodies)
        for row in found:
            if _body_of(row) in wanted:
                del wanted[_body_of(row)]
            else:
                self.tx.end(row, known_at)
        for body in wanted:
            number = self.tx.next_id()
            self.tx.insert(
                FactRow(fact_id=number, **key._asdict(), **body._asdict(), known_from=known_at, known_to=None)
            )

    def _bodies(self, state: KeyState) -> list[FactBody]:
        return [_body(stretch, self._expiry(stretch)) for stretch in timeline(state.live)]

    def _expiry(self, stretch: Stretch) -> datetime | None:
        ttl = self._ttl(max(stretch.supports))
        try:
            return None if ttl is None else stretch.last_observed + ttl
        except OverflowError:
            return None  # beyond the calendar is never

    def _ttl(self, candidate_id: int) -> timedelta | None:
        if candidate_id not in self.ttls:
            status = self.tx.candidate(candidate_id)
            self.ttls[candidate_id] = None if status is None else self.terms(status.candidate).rules.ttl
        return self.ttls[candidate_id]
