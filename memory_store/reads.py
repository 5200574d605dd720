"""From rows to what a caller sees.  Pure functions of a view."""

from __future__ import annotations

import json
from typing import Any

from .model import Decision, DecisionKind, Evidence, Fact, Hold, Quarantined, QuarantineReason, Reason, Receipt
from .records import CandidateRow, DecisionRow, EpisodeRow, FactRecord, QuarantineRow, StatusRow
from .schema import Attribute
from .store import View


def receipt_of(view: View, row: EpisodeRow) -> Receipt:
    """The account of an episode as it was given when it was decided."""
    made = [c for c in view.candidates_of_episode(row.episode_no) if c.known_at == row.known_at]
    lost = [q for q in view.quarantine(row.episode_no) if q.known_at == row.known_at]
    return Receipt(
        episode_id=row.episode_id or "",
        status=row.status,
        known_at=row.known_at,
        decisions=tuple(decision_of(c, view.decisions(c.candidate_id)[0]) for c in made),
        quarantined=tuple(quarantined_of(q, row.episode_id) for q in lost),
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
