"""The rows that a store keeps, one class a table.

Ids are drawn per tenant from one increasing sequence, so they also give the order of events.  A row belongs to the
tenant of the transaction that wrote it.  Only `known_to` and the state of an episode are ever changed; `forget` is the
one thing that deletes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from .model import Change, Key, Precision
from .timeline import Assertion

EpisodeStatus = Literal["captured", "complete", "partial", "failed", "context"]


@dataclass(frozen=True, kw_only=True, slots=True)
class EpisodeRow:
    """An episode and how far it got.  An erased one keeps neither id nor words."""

    episode_no: int
    episode_id: str | None
    text: str | None
    observed_at: datetime
    source: str
    speaker: str | None
    speaker_id: str | None
    session_id: str | None
    zone: str
    retention: str | None
    content_hash: str | None
    captured_at: datetime
    status: EpisodeStatus = "captured"
    fingerprint: str | None = None
    extractor: str = ""
    prompt_hash: str | None = None
    known_at: datetime | None = None
    error: str | None = None
    usage: str = "{}"


@dataclass(frozen=True, kw_only=True, slots=True)
class CandidateRow:
    """A candidate as it was committed; `value` and `identity` are None for a revocation."""

    candidate_id: int
    episode_no: int
    memory_type: str
    subject: str
    attribute: str
    item: str
    item_text: str | None
    value: str | None
    identity: str | None
    valid_from: datetime
    valid_from_end: datetime | None
    precision: Precision
    valid_until: datetime | None
    source: str
    observed_at: datetime
    change: Change | None
    time_rule: str
    from_memory: bool
    confidence: float | None
    schema_name: str
    schema_version: int
    known_at: datetime
    extractor: str = ""
    prompt_hash: str | None = None

    @property
    def key(self) -> Key:
        """The key that the candidate is about."""
        return Key(self.memory_type, self.subject, self.attribute, self.item)

    def assertion(self, precedence: int = 0) -> Assertion:
        """What timeline and policy see of it."""
        return Assertion(
            id=self.candidate_id,
            valid_from=self.valid_from,
            value=self.value,
            identity=self.identity,
            episode=self.episode_no,
            source=self.source,
            observed_at=self.observed_at,
            valid_until=self.valid_until,
            valid_from_end=self.valid_from_end,
            precision=self.precision,
            precedence=precedence,
            confidence=self.confidence,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceRow:
    """A span that proves a candidate; erased ones keep no words."""

    candidate_id: int
    ordinal: int
    episode_no: int
    start: int
    end: int
    quote: str | None
    role: Literal["evidence", "value", "when", "until"]
    match: Literal["exact", "folded"]
    occurrences: int


@dataclass(frozen=True, kw_only=True, slots=True)
class DecisionRow:
    """A ruling on a candidate; a later row for the same candidate replaces an earlier one."""

    decision_id: int
    candidate_id: int
    known_at: datetime
    decision: str
    reason: str
    current_value: str | None
    agreed: bool | None
    policy_version: int
    by: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class AssertionRow:
    """A candidate counted with this precedence during `[known_from, known_to)`."""

    assertion_id: int
    known_from: datetime
    known_to: datetime | None
    precedence: int


@dataclass(frozen=True, kw_only=True, slots=True)
class HoldRow:
    """A candidate waited for this reason during `[known_from, known_to)`."""

    hold_id: int
    known_from: datetime
    known_to: datetime | None
    reason: str
    precedence: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SettlementRow:
    """Something that happened to a candidate after it was committed."""

    settlement_id: int
    candidate_id: int
    kind: Literal["confirm", "dismiss", "retract"]
    known_at: datetime
    by: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class FactRow:
    """One interval of a timeline as it was believed during `[known_from, known_to)`."""

    fact_id: int
    memory_type: str
    subject: str
    attribute: str
    item: str
    value: str
    identity: str
    valid_from: datetime
    valid_to: datetime | None
    known_from: datetime
    known_to: datetime | None
    expires_at: datetime | None
    assertion_id: int


@dataclass(frozen=True, kw_only=True, slots=True)
class QuarantineRow:
    """Output that could not become a candidate."""

    quarantine_id: int
    episode_no: int
    reason: str
    message: str
    raw: str
    known_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class ErasureRow:
    """An act of forgetting: the key of its tombstones and the counts of what went."""

    erasure_id: int
    known_at: datetime
    hmac_key: bytes
    removed: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TombstoneRow:
    """Keyed digest of the id of an episode that may not come back."""

    erasure_id: int
    digest: bytes


Row = (
    EpisodeRow
    | CandidateRow
    | EvidenceRow
    | DecisionRow
    | AssertionRow
    | HoldRow
    | SettlementRow
    | FactRow
    | QuarantineRow
    | ErasureRow
    | TombstoneRow
)


@dataclass(frozen=True, kw_only=True, slots=True)
class StatusRow:
    """A candidate and what it is now: live with a precedence, on hold for a reason, or neither."""

    candidate: CandidateRow
    precedence: int | None
    waits: HoldRow | None


@dataclass(frozen=True, kw_only=True, slots=True)
class FactRecord:
    """A fact with who said it, and the fact that it supersedes in the belief that was read."""

    fact: FactRow
    schema_name: str
    schema_version: int
    item_text: str | None
    source: str
    episode_id: str | None
    speaker: str | None
    quote: str | None
    supersedes: int | None
