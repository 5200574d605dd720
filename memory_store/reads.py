"""From rows to what a caller sees.  Pure functions of a view."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from .errors import UnknownRecord
from .model import (
    Decision,
    DecisionKind,
    Episode,
    Evidence,
    Explanation,
    Fact,
    Hold,
    Key,
    Quarantined,
    QuarantineReason,
    Reason,
    Receipt,
)
from .records import CandidateRow, DecisionRow, EpisodeRow, FactRecord, QuarantineRow, StatusRow
from .schema import Attribute
from .store import View


def receipt_of(view: View, row: EpisodeRow) -> Receipt:
    """The account of an episode as it was given when it was decided."""
    made = [c for c in view.candidates_of_episode(row.episode_no) if c.known_at == row.known_at]
    lost = [q for q in view.quarantine(row.episode_no) if q.known_at == row.known_at]
    decisions = [decision_of(c, view.decisions(c.candidate_id)[0]) for c in made]
    return receipt(row, decisions, [quarantined_of(q, row.episode_id) for q in lost])


def receipt(row: EpisodeRow, decisions: Iterable[Decision], quarantined: Iterable[Quarantined]) -> Receipt:
    """The account of an episode from its parts."""
    return Receipt(
        episode_id=row.episode_id or "",
        status=row.status,
        known_at=row.known_at,
        decisions=tuple(decisions),
        quarantined=tuple(quarantined),
        extractor=row.extractor,
        prompt_hash=row.prompt_hash,
        error=row.error,
        usage=json.loads(row.usage),
    )


def decision_of(candidate: CandidateRow, row: DecisionRow) -> Decision:
    """A decision row with the candidate that it is about."""
    return Decision(
        candidate_id=row.candidate_id,
        key=candidate.key,
        value=candidate.value,
        decision=DecisionKind(row.decision),
        reason=Reason(row.reason),
        known_at=row.known_at,
        current_value=row.current_value,
        agreed=row.agreed,
        policy_version=row.policy_version,
        by=row.by,
    )


def quarantined_of(row: QuarantineRow, episode_id: str | None) -> Quarantined:
    """A quarantine row with the id of its episode."""
    return Quarantined(
        reason=QuarantineReason(row.reason),
        message=row.message,
        raw=row.raw,
        quarantine_id=row.quarantine_id,
        episode_id=episode_id,
        known_at=row.known_at,
    )


def fact_of(record: FactRecord, attribute: Attribute[Any]) -> Fact[Any]:
    """A fact with its typed value."""
    row = record.fact
    return Fact(
        fact_id=row.fact_id,
        memory_type=row.memory_type,
        subject=row.subject,
        attribute=row.attribute,
        item=(record.item_text or row.item) if row.item else None,
        value=attribute.value(row.value),
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        known_from=row.known_from,
        known_to=row.known_to,
        expires_at=row.expires_at,
        assertion_id=row.assertion_id,
        episode_id=record.episode_id,
        speaker=record.speaker,
        source=record.source,
        quote=record.quote,
        supersedes_fact_id=record.supersedes,
    )


def hold_of(view: View, status: StatusRow) -> Hold:
    """A waiting candidate with what a person needs to settle it."""
    row, waits = status.candidate, status.waits
    if waits is None:
        raise ValueError(f"candidate {row.candidate_id} does not wait")
    episode = view.episode_by_no(row.episode_no)
    spans = view.evidence(row.candidate_id)
    return Hold(
        hold_id=row.candidate_id,
        key=row.key,
        value=row.value,
        reason=Reason(waits.reason),
        valid_from=row.valid_from,
        since=waits.known_from,
        episode_id=episode.episode_id if episode else None,
        source=row.source,
        quote=spans[0].quote if spans else None,
    )


def evidence_of(view: View, candidate_id: int) -> tuple[Evidence, ...]:
    """The spans that prove a candidate, in order."""
    return tuple(
        Evidence(
            episode_id=episode.episode_id if (episode := view.episode_by_no(row.episode_no)) else None,
            start=row.start,
            end=row.end,
            quote=row.quote,
            role=row.role,
            match=row.match,
            occurrences=row.occurrences,
        )
        for row in view.evidence(candidate_id)
    )


def episode_of(row: EpisodeRow) -> Episode:
    """The episode of a row that was not erased."""
    if row.text is None or row.episode_id is None:
        raise UnknownRecord(f"episode {row.episode_no} was erased")
    return Episode(
        text=row.text,
        observed_at=row.observed_at,
        episode_id=row.episode_id,
        source=row.source,
        speaker=row.speaker,
        session_id=row.session_id,
        zone=row.zone,
        retention=row.retention,
    )


def explanation_of(view: View, record: FactRecord, fact: Fact[Any]) -> Explanation:
    """Everything that a person asks about a fact."""
    status = view.candidate(fact.assertion_id)
    if status is None:
        raise UnknownRecord(f"no assertion {fact.assertion_id}")
    candidate = status.candidate
    episode = view.episode_by_no(candidate.episode_no)
    settled = [row for row in view.settlements(candidate.key) if row.candidate_id == candidate.candidate_id]
    return Explanation(
        fact=fact,
        episode=episode_of(episode) if episode and episode.text is not None else None,
        evidence=evidence_of(view, candidate.candidate_id),
        supports=_supports(view, record),
        decisions=tuple(decision_of(candidate, row) for row in view.decisions(candidate.candidate_id)),
        settlements=tuple(f"{row.kind} {row.known_at.isoformat()} by {row.by or 'nobody named'}" for row in settled),
        extractor=candidate.extractor,
        prompt_hash=candidate.prompt_hash,
        time_rule=candidate.time_rule,
    )


def _supports(view: View, record: FactRecord) -> tuple[int, ...]:
    fact = record.fact
    key = Key(fact.memory_type, fact.subject, fact.attribute, fact.item)
    live = [row.candidate for row in view.key_status(key) if row.precedence is not None]
    return tuple(
        row.candidate_id
        for row in live
        if row.identity == fact.identity
        and row.candidate_id != fact.assertion_id
        and fact.valid_from <= row.valid_from
        and (fact.valid_to is None or row.valid_from < fact.valid_to)
    )
