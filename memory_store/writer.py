"""What happens inside one write transaction: rulings, settlements, and the beliefs that follow from them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Literal, NamedTuple

from .beliefs import BeliefWriter, TermsOf, is_local
from .errors import UnknownRecord
from .model import Candidate, Change, Decision, DecisionKind, Key, Outcome, Quarantined, Reason, Receipt
from .policy import (
    POLICY_VERSION,
    Event,
    EventKind,
    KeyState,
    Ruling,
    Waiting,
    by_hand,
    chronicle,
    confirm,
    decide,
    drop,
    enact,
    promotions,
    replay,
)
from .reads import decision_of, quarantined_of, receipt
from .records import (
    CandidateRow,
    DecisionRow,
    EpisodeRow,
    EvidenceRow,
    QuarantineRow,
    SettlementRow,
    StatusRow,
)
from .schema import MemorySchema
from .store import Transaction, Window
from .values import identity


def key_state(rows: Sequence[StatusRow]) -> KeyState:
    """What is live and what waits, from the rows of one key."""
    live = tuple(row.candidate.assertion(row.precedence) for row in rows if row.precedence is not None)
    held = [(row.candidate.assertion(row.waits.precedence), Reason(row.waits.reason)) for row in rows if row.waits]
    return KeyState(live=live, waiting=tuple(Waiting(assertion=a, reason=reason) for a, reason in held))


def _agrees(change: Change | None, ruling: Ruling, value: str | None) -> bool | None:
    truth = {DecisionKind.NEW: "new", DecisionKind.NO_CHANGE: "no_change", DecisionKind.SUPERSEDE: "update"}
    if change is None or ruling.decision not in truth:
        return None
    expected = truth[ruling.decision]
    return change == ("revoke" if expected == "update" and value is None else expected)


NEARBY: Final = 32
"""A key with more candidates than this is read in the neighbourhood of a change only."""


class _Draft(NamedTuple):
    """A key in this transaction: as it was found, and as it is to be; `window` bounds what was read of it."""

    found: KeyState
    state: KeyState
    window: Window | None = None


@dataclass(slots=True)
class Writer:
    """The work inside one transaction: keys are read once, decided on in order, and written back by `flush`."""

    tx: Transaction
    schema: MemorySchema
    terms: TermsOf
    keys: dict[Key, _Draft] = field(default_factory=dict)
    beliefs: BeliefWriter = field(init=False)

    def __post_init__(self) -> None:
        self.beliefs = BeliefWriter(self.tx, self.terms)

    def commit(self, episode: EpisodeRow, outcome: Outcome) -> Receipt:
        """Complete an episode: decide its candidates in order.  An earlier outcome of it is taken back."""
        done = _completed(episode, outcome, self.tx.known_at)
        self.tx.save_episode(done)
        if episode.status != "captured":
            self._take_back(self.tx.candidates_of_episode(episode.episode_no), by="re-extraction")
        often = {key for key, count in Counter(c.key for c in outcome.candidates).items() if count > 1}
        decisions = [self._decide(done, candidate, whole=candidate.key in often) for candidate in outcome.candidates]
        quarantined = [self._quarantine(done, item) for item in outcome.quarantined]
        self._flush()
        return receipt(done, decisions, quarantined)

    def confirm(self, status: StatusRow, by: str | None) -> Decision:
        """Make a waiting candidate live, above all others."""
        row = status.candidate
        self._settle(row, "confirm", by)
        state = self._state(row.key)
        decision = self._record(by_hand(state, row.assertion()), row)
        self._becomes(row.key, confirm(state, row.assertion()))
        self._flush()
        return decision_of(row, decision)

    def dismiss(self, status: StatusRow, by: str | None) -> None:
        """Make a waiting candidate never count."""
        row = status.candidate
        self._settle(row, "dismiss", by)
        self._becomes(row.key, drop(self._state(row.key), frozenset({row.candidate_id})))
        self._flush()

    def retract(self, rows: Sequence[CandidateRow], by: str | None) -> list[Decision]:
        """Take candidates back and decide what remains of their keys again; the decisions that changed."""
        changed = self._take_back(rows, by=by)
        self._flush()
        return changed

    def rebuild(self, key: Key) -> None:
        """Write all that was ever believed about a key anew from its remaining history."""
        before = KeyState()
        for step in chronicle(self._events(key)):
            self.beliefs.write(key, before, step.state, step.known_at)
            for ruling in {ruling.id: ruling for ruling in step.rulings}.values():
                if self._differs(ruling):
                    self._record(ruling, self._row(ruling.id), known_at=step.known_at)
            before = step.state

    def _state(self, key: Key) -> KeyState:
        """All that is known of a key."""
        if key not in self.keys:
            found = key_state(self.tx.key_status(key))
            self.keys[key] = _Draft(found, found)
        return self.keys[key].state

    def _state_near(self, row: CandidateRow) -> KeyState:
        """What is known of a key, of a long one near the candidate only, where that is all that can matter."""
        local = row.key not in self.keys and is_local(row, self.terms(row))
        if local and self.tx.has_many(row.key, NEARBY):
            window = self.tx.window(row.key, row.valid_from, row.valid_until or row.valid_from)
            if all(fact.expires_at is None for fact in self.tx.facts_between(row.key, window)):
                found = key_state(self.tx.live_between(row.key, window))
                self.keys[row.key] = _Draft(found, found, window)
        return self._state(row.key)

    def _becomes(self, key: Key, state: KeyState) -> None:
        self._state(key)
        self.keys[key] = self.keys[key]._replace(state=state)

    def _decide(self, episode: EpisodeRow, candidate: Candidate, *, whole: bool) -> Decision:
        self.schema.rank(candidate.source)  # raises SchemaError for one that the schema does not list
        row = self._candidate_row(episode, candidate)
        self.tx.insert(row)
        self._insert_evidence(row, episode, candidate)
        state, assertion = self._state(row.key) if whole else self._state_near(row), row.assertion()
        ruling = decide(state, assertion, self.terms(row))
        self._becomes(row.key, enact(state, assertion, ruling))
        decision = decision_of(row, self._record(ruling, row))
        for promotion in promotions(state, ruling):
            self._record(promotion, self._row(promotion.id))
        return decision

    def _candidate_row(self, episode: EpisodeRow, candidate: Candidate) -> CandidateRow:
        key = candidate.key
        return CandidateRow(
            candidate_id=self.tx.next_id(),
            episode_no=episode.episode_no,
            memory_type=key.memory_type,
            subject=key.subject,
            attribute=key.attribute,
            item=key.item,
            item_text=candidate.item_text,
            value=candidate.value,
            identity=None if candidate.value is None else identity(candidate.value),
            valid_from=candidate.valid_from,
            valid_from_end=candidate.valid_from_end,
            precision=candidate.precision,
            valid_until=candidate.valid_until,
            source=candidate.source,
            observed_at=episode.observed_at,
            change=candidate.change,
            time_rule=candidate.time_rule,
            from_memory=candidate.from_memory,
            confidence=candidate.confidence,
            schema_name=self.schema.name,
            schema_version=self.schema.version,
            known_at=self.tx.known_at,
            extractor=episode.extractor,
            prompt_hash=episode.prompt_hash,
        )

    def _insert_evidence(self, row: CandidateRow, episode: EpisodeRow, candidate: Candidate) -> None:
        for ordinal, span in enumerate(candidate.evidence):
            own = span.episode_id == episode.episode_id
            home = episode if own else self.tx.episode(span.episode_id or "")
            if home is None:
                raise UnknownRecord(f"evidence lies in episode {span.episode_id!r}, which is not in the store")
            self.tx.insert(
                EvidenceRow(
                    candidate_id=row.candidate_id,
                    ordinal=ordinal,
                    episode_no=home.episode_no,
                    start=span.start,
                    end=span.end,
                    quote=span.quote,
                    role=span.role,
                    match=span.match,
                    occurrences=span.occurrences,
                )
            )

    def _quarantine(self, episode: EpisodeRow, item: Quarantined) -> Quarantined:
        row = QuarantineRow(
            quarantine_id=self.tx.next_id(),
            episode_no=episode.episode_no,
            reason=item.reason.value,
            message=item.message,
            raw=item.raw,
            known_at=self.tx.known_at,
        )
        self.tx.insert(row)
        return quarantined_of(row, episode.episode_id)

    def _record(self, ruling: Ruling, candidate: CandidateRow, *, known_at: datetime | None = None) -> DecisionRow:
        row = DecisionRow(
            decision_id=self.tx.next_id(),
            candidate_id=ruling.id,
            known_at=known_at or self.tx.known_at,
            decision=ruling.decision.value,
            reason=ruling.reason.value,
            current_value=ruling.current_value,
            agreed=_agrees(candidate.change, ruling, candidate.value),
            policy_version=POLICY_VERSION,
            by=self._confirmed_by(candidate) if ruling.reason is Reason.CONFIRMED else None,
        )
        self.tx.insert(row)
        return row

    def _confirmed_by(self, row: CandidateRow) -> str | None:
        settled = self.tx.settlements(row.key)
        return next((s.by for s in settled if s.candidate_id == row.candidate_id and s.kind == "confirm"), None)

    def _row(self, candidate_id: int) -> CandidateRow:
        status = self.tx.candidate(candidate_id)
        if status is None:
            raise UnknownRecord(f"no candidate {candidate_id}")
        return status.candidate

    def _take_back(self, rows: Sequence[CandidateRow], *, by: str | None) -> list[Decision]:
        for row in rows:
            if not self._is_retracted(row):
                self._settle(row, "retract", by)
        return [decision for key in dict.fromkeys(row.key for row in rows) for decision in self._decide_again(key)]

    def _is_retracted(self, row: CandidateRow) -> bool:
        return any(s.candidate_id == row.candidate_id and s.kind == "retract" for s in self.tx.settlements(row.key))

    def _decide_again(self, key: Key) -> list[Decision]:
        state, rulings = replay(self._events(key))
        self._becomes(key, state)
        last = {ruling.id: ruling for ruling in rulings}
        changed = [(ruling, self._row(ruling.id)) for ruling in last.values() if self._differs(ruling)]
        return [decision_of(row, self._record(ruling, row)) for ruling, row in changed]

    def _differs(self, ruling: Ruling) -> bool:
        before = self.tx.decisions(ruling.id)
        return not before or (before[-1].decision, before[-1].reason) != (ruling.decision.value, ruling.reason.value)

    def _settle(self, row: CandidateRow, kind: Literal["confirm", "dismiss", "retract"], by: str | None) -> None:
        self.tx.insert(
            SettlementRow(
                settlement_id=self.tx.next_id(),
                candidate_id=row.candidate_id,
                kind=kind,
                known_at=self.tx.known_at,
                by=by,
            )
        )

    def _events(self, key: Key) -> list[Event]:
        """Everything that happened to a key, in order; ids of one tenant are drawn from one sequence."""
        rows = {row.candidate.candidate_id: row.candidate for row in self.tx.key_status(key)}
        happened: list[tuple[int, EventKind, datetime, CandidateRow]] = [
            (row.candidate_id, "candidate", row.known_at, row) for row in rows.values()
        ]
        happened += [(s.settlement_id, s.kind, s.known_at, rows[s.candidate_id]) for s in self.tx.settlements(key)]
        happened.sort(key=lambda entry: entry[0])
        return [
            Event(kind=kind, known_at=known_at, assertion=row.assertion(), terms=self.terms(row))
            for _, kind, known_at, row in happened
        ]

    def _flush(self) -> None:
        for key, draft in self.keys.items():
            if draft.found != draft.state:  # a write that changes nothing draws no known time
                self.beliefs.write(key, draft.found, draft.state, self.tx.known_at, draft.window)
        self.keys.clear()


def _completed(episode: EpisodeRow, outcome: Outcome, known_at: datetime) -> EpisodeRow:
    return replace(
        episode,
        status=outcome.status,
        fingerprint=outcome.fingerprint,
        extractor=outcome.extractor,
        prompt_hash=outcome.prompt_hash,
        known_at=known_at,
        error=outcome.error,
        usage=json.dumps(dict(outcome.usage)),
    )
