"""The values that pass between the layers: episodes, proposals, candidates, facts, decisions, receipts.

All of them are immutable.  Every datetime is aware; a naive one is refused where it enters.
"""

from __future__ import annotations

import enum
import hashlib
import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Generic, Literal, NamedTuple, TypeVar
from zoneinfo import ZoneInfo

from .errors import InvalidEpisode, InvalidInput
from .values import check_text

T_co = TypeVar("T_co", covariant=True)
Change = Literal["new", "update", "revoke", "no_change"]
Precision = Literal["exact", "day", "month", "year"]

MAX_EPISODE_LENGTH: Final = 100_000
"""Code points that the text of an episode may have."""
MAX_ID_LENGTH: Final = 500


class DecisionKind(enum.StrEnum):
    """What the policy did with a candidate."""

    NEW = "new"
    SUPERSEDE = "supersede"
    NO_CHANGE = "no_change"
    HOLD = "hold"
    REJECT = "reject"


class Reason(enum.StrEnum):
    """Why the policy decided so.

    `hold`: needs_confirmation (the attribute asks for it), low_confidence (the model was less sure than the attribute's
    `min_confidence`), needs_recurrence (too few episodes assert it so far),
    equal_time (another value holds from the same instant), imprecise_order (a coarse time leaves open which came
    first).  `reject`: source_not_trusted (below `min_source`), from_memory (the text came out of memory itself).
    `no_change`: repeated (the value in force, said again), without_effect (nothing in the timeline changes).
    `new`: no_value_then.  `supersede`: other_value_then, revoked, end_learned (a value ends), end_lifted (a bounded
    value goes on).  Any of these three also: confirmed (by hand) and promoted (enough episodes assert it now).
    """

    NEEDS_CONFIRMATION = "needs_confirmation"
    LOW_CONFIDENCE = "low_confidence"
    NEEDS_RECURRENCE = "needs_recurrence"
    EQUAL_TIME = "equal_time"
    IMPRECISE_ORDER = "imprecise_order"
    SOURCE_NOT_TRUSTED = "source_not_trusted"
    FROM_MEMORY = "from_memory"
    REPEATED = "repeated"
    WITHOUT_EFFECT = "without_effect"
    NO_VALUE_THEN = "no_value_then"
    OTHER_VALUE_THEN = "other_value_then"
    REVOKED = "revoked"
    END_LEARNED = "end_learned"
    END_LIFTED = "end_lifted"
    CONFIRMED = "confirmed"
    PROMOTED = "promoted"


FAILURES: Final = "failures."
"""What the names of counted failures begin with, in the usage of an outcome or a receipt."""


class QuarantineReason(enum.StrEnum):
    """Why output could not become a candidate."""

    MALFORMED = "malformed"
    WRONG_ORDER = "wrong_order"
    MISSING_FIELD = "missing_field"
    UNGROUNDED = "ungrounded"
    WRONG_TYPE = "wrong_type"
    OUTSIDE_SCHEMA = "outside_schema"
    TOO_LONG = "too_long"
    EMPTY_INTERVAL = "empty_interval"
    UNRESOLVED_TIME = "unresolved_time"
    DUPLICATE = "duplicate"
    CUT = "cut"
    REFUSAL = "refusal"
    CONTENT_FILTER = "content_filter"
    SCHEMA_ECHO = "schema_echo"
    FEW_SHOT_LEAK = "few_shot_leak"
    EARLY_QUOTE_CLOSE = "early_quote_close"


class Key(NamedTuple):
    """What a timeline is about, within a tenant; `item` is empty for an attribute that holds one value."""

    memory_type: str
    subject: str
    attribute: str
    item: str = ""

    def __str__(self) -> str:
        return f"{self.subject}.{self.attribute}" + (f"[{self.item}]" if self.item else "")


def subject_id(name: str) -> str:
    """The normalised id of an entity: NFKC, case folded, white space runs as `_`.  Raises InvalidInput if empty."""
    normal = "_".join(unicodedata.normalize("NFKC", name).casefold().split())
    if not normal or len(normal) > MAX_ID_LENGTH or not normal.isprintable():
        raise InvalidInput(f"subject: {name[:60]!r} is no id", hint="an id has 1 to 500 printable characters")
    return normal


def utc(when: datetime, name: str) -> datetime:
    """`when` in UTC.  Raises InvalidInput for what is no time, or a naive or unrepresentable one."""
    if not isinstance(when, datetime):
        raise InvalidInput(f"{name}: {when!r} is no time", hint="give an aware datetime, e.g. in UTC")
    if when.tzinfo is None or when.utcoffset() is None:
        raise InvalidInput(f"{name}: {when.isoformat()} has no offset", hint="give an aware datetime, e.g. in UTC")
    try:
        return when.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(f"{name}: {when.isoformat()} is out of the calendar's range") from None


@dataclass(frozen=True, kw_only=True, slots=True)
class Episode:
    """One immutable input: a message, a tool result, a business event.

    `observed_at` is aware; `zone` is the IANA zone in which its phrases about time are read; `source` is a kind of
    source that the schema lists; the default id is a hash of session, time, speaker and text.  Raises InvalidEpisode,
    which names the field.
    """

    text: str
    observed_at: datetime
    episode_id: str = ""
    source: str = "user"
    speaker: str | None = None
    session_id: str | None = None
    zone: str = "UTC"
    retention: str | None = None
    tenant_id: str | None = None

    def __post_init__(self) -> None:
        _check_episode(self)
        object.__setattr__(self, "observed_at", self.observed_at.astimezone(UTC))
        if not self.episode_id:
            object.__setattr__(self, "episode_id", self._default_id())

    def _default_id(self) -> str:
        parts = [self.session_id, self.observed_at.isoformat(), self.speaker, self.text]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]

    @property
    def content_hash(self) -> str:
        """Hash of all that makes the episode what it is; the tenant and the id are not part of it."""
        names = ("text", "source", "speaker", "session_id", "zone", "retention")
        parts = [self.observed_at.isoformat(), *(getattr(self, name) for name in names)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Episode:
        """Read the JSON Lines form.  Raises InvalidEpisode, which names the field."""
        if not isinstance(data, Mapping):
            raise InvalidEpisode("expected an object", field="episode")
        known = {entry.name for entry in fields(cls)}
        for name in data:
            if name not in known:
                raise InvalidEpisode("unknown field", field=str(name), hint=f"fields are {', '.join(sorted(known))}")
        for name in ("text", "observed_at"):
            if name not in data:
                raise InvalidEpisode("missing", field=name)
        values = {name: value for name, value in data.items() if value is not None or name in {"text", "observed_at"}}
        return cls(**{**values, "observed_at": _observed_at(data["observed_at"])})


def _observed_at(raw: object) -> datetime:
    if isinstance(raw, str):
        try:
            return datetime.fromisoformat(raw)
        except ValueError:
            pass
    hint = "for example 2026-06-01T09:00:00Z"
    raise InvalidEpisode(f"expected an ISO 8601 time with offset, got {raw!r}"[:200], field="observed_at", hint=hint)


def _check_episode(episode: Episode) -> None:
    for name in ("text", "episode_id", "source", "speaker", "session_id", "zone", "retention", "tenant_id"):
        _check_field(name, getattr(episode, name))
    if not episode.text.strip():
        raise InvalidEpisode("is empty", field="text")
    if len(episode.text) > MAX_EPISODE_LENGTH:
        message = f"has {len(episode.text)} characters, more than {MAX_EPISODE_LENGTH}"
        raise InvalidEpisode(message, field="text", hint="split it into several episodes")
    try:
        utc(episode.observed_at, "observed_at")
    except InvalidInput as error:
        raise InvalidEpisode(str(error).partition(": ")[2], field="observed_at", hint=error.hint) from None
    try:
        if episode.speaker is not None:
            subject_id(episode.speaker)
    except InvalidInput as error:
        raise InvalidEpisode(f"{episode.speaker!r} is no name", field="speaker", hint=error.hint) from None
    try:
        ZoneInfo(episode.zone)
    except (KeyError, ValueError, OSError):
        raise InvalidEpisode(f"{episode.zone!r} is no IANA time zone", field="zone") from None


def _check_field(name: str, value: object) -> None:
    optional = name in {"speaker", "session_id", "retention", "tenant_id"}
    if value is None and optional:
        return
    if not isinstance(value, str):
        raise InvalidEpisode(f"expected text, got {type(value).__name__}", field=name)
    if name != "text" and len(value) > MAX_ID_LENGTH:
        raise InvalidEpisode(f"longer than {MAX_ID_LENGTH} characters", field=name)
    try:
        check_text(value)
    except ValueError as error:
        raise InvalidEpisode(str(error), field=name) from None


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """A span of an episode, `episode.text[start:end] == quote` in code points, that proves a candidate.

    `occurrences` counts how often the quote stands in the episode; `match` is `exact`, or `folded` for a weaker match
    (case, white space, typographic quotes, NFC) that the attribute allows.  An erased span keeps no words.
    """

    episode_id: str | None
    start: int
    end: int
    quote: str | None
    role: Literal["evidence", "value", "when", "until"] = "evidence"
    match: Literal["exact", "folded"] = "exact"
    occurrences: int = 1

    @property
    def erased(self) -> bool:
        """True when the episode was forgotten for the sake of somebody else."""
        return self.quote is None


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    """One update as a model or a caller proposes it, before it is typed and grounded.

    `quote` must stand in the episode.  `value` is raw; None revokes.  `valid_from` defaults to the episode's
    `observed_at`; `precision` says how exact it is.  `item` names the entry of an attribute that holds many.
    """

    subject: str
    attribute: str
    value: object
    quote: str
    item: str | None = None
    change: Change | None = None
    valid_from: datetime | None = None
    precision: Precision = "exact"
    valid_until: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """One proposed update from one episode, typed and grounded, not yet decided.

    `value` is canonical text, None for a revocation.  `valid_from` may be as late as `valid_from_end` (exclusive), the
    end of the day, month or year that was named; None when it is exact.  `source` is the kind of source whose words
    count.  `time_rule` names how `valid_from` was found.  `confidence` is the probability that a model gave the update
    (None where nothing states one).  Times are kept in UTC; a naive one raises InvalidInput.
    """

    key: Key
    value: str | None
    valid_from: datetime
    source: str
    evidence: tuple[Evidence, ...]
    item_text: str | None = None
    precision: Precision = "exact"
    valid_from_end: datetime | None = None
    valid_until: datetime | None = None
    change: Change | None = None
    time_rule: str = "default"
    from_memory: bool = False
    confidence: float | None = None

    def __post_init__(self) -> None:
        for name in ("valid_from", "valid_from_end", "valid_until"):
            when: datetime | None = getattr(self, name)
            if when is not None:
                object.__setattr__(self, name, utc(when, name))


@dataclass(frozen=True, kw_only=True, slots=True)
class Quarantined:
    """Output that could not become a candidate, kept with its raw text."""

    reason: QuarantineReason
    message: str
    raw: str
    quarantine_id: int = 0
    episode_id: str | None = None
    known_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What extraction made of one episode.

    `extractor` identifies model, prompt and schema version; the empty string stands for a caller's own candidates.
    `status` is `complete`, `partial` (some output was lost; may be retried), `failed` (no usable answer; may be
    retried) or `context` (not a source, so nothing was asked).  `usage` holds counts and seconds, among them
    `failures.NAME`: how often an answer, or an attempt to get one, failed in that way.
    """

    candidates: tuple[Candidate, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()
    extractor: str = ""
    prompt_hash: str | None = None
    status: Literal["complete", "partial", "failed", "context"] = "complete"
    error: str | None = None
    usage: Mapping[str, float] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """Hash of the extractor, or of the candidates when a caller gave them."""
        if self.extractor:
            return fingerprint_of(self.extractor)
        parts = [_candidate_parts(c) for c in self.candidates] + [[q.reason, q.raw] for q in self.quarantined]
        return "candidates:" + hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def fingerprint_of(extractor: str) -> str:
    """The fingerprint of whatever an extractor of this identity makes of an episode."""
    return f"extractor:{extractor}"


def _candidate_parts(c: Candidate) -> list[Any]:
    times = [when and when.isoformat() for when in (c.valid_from, c.valid_from_end, c.valid_until)]
    return [c.key, c.value, times, c.source, [(e.episode_id, e.start, e.end) for e in c.evidence]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact(Generic[T_co]):
    """One interval of a timeline as the store believed it: `[valid_from, valid_to)` by `[known_from, known_to)`.

    `episode_id`, `speaker`, `source` and `quote` tell who said it; they are None when the episode was erased.
    `supersedes_fact_id` is the fact that ends where this one begins, in the belief that was read.
    """

    fact_id: int
    memory_type: str
    subject: str
    attribute: str
    item: str | None
    value: T_co
    valid_from: datetime
    valid_to: datetime | None
    known_from: datetime
    known_to: datetime | None
    expires_at: datetime | None
    assertion_id: int
    episode_id: str | None
    speaker: str | None
    source: str
    quote: str | None
    supersedes_fact_id: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What was done with one candidate, why, and on what grounds.

    `current_value` is the canonical text of the value in force at the candidate's `valid_from`.  `agreed` says whether
    the candidate's own `change` matched, None when it gave none or the candidate waits.
    """

    candidate_id: int
    key: Key
    value: str | None
    decision: DecisionKind
    reason: Reason
    known_at: datetime
    current_value: str | None = None
    agreed: bool | None = None
    policy_version: int = 1
    by: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Hold:
    """A candidate that waits.  `hold_id` is the candidate's id."""

    hold_id: int
    key: Key
    value: str | None
    reason: Reason
    valid_from: datetime
    since: datetime
    episode_id: str | None
    source: str
    quote: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """The account of one episode: every candidate and its fate.  `str(receipt)` is a short table."""

    episode_id: str
    status: str
    known_at: datetime | None
    decisions: tuple[Decision, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()
    extractor: str = ""
    prompt_hash: str | None = None
    error: str | None = None
    usage: Mapping[str, float] = field(default_factory=dict)

    @property
    def failures(self) -> dict[str, int]:
        """How often an answer, or an attempt to get one, failed in each way."""
        names = (name for name in self.usage if name.startswith(FAILURES))
        return {name.removeprefix(FAILURES): int(self.usage[name]) for name in names}

    @property
    def counts(self) -> dict[str, int]:
        """How many candidates there were and how each kind of fate was met; the kinds add up to `candidates`."""
        tally = {"candidates": len(self.decisions) + len(self.quarantined)}
        for kind in DecisionKind:
            tally[kind.value] = sum(decision.decision is kind for decision in self.decisions)
        return {**tally, "quarantined": len(self.quarantined)}

    def __str__(self) -> str:
        lines = [f"episode {self.episode_id}: {self.status}" + (f" ({self.error})" if self.error else "")]
        for d in self.decisions:
            value = "(no value)" if d.value is None else d.value
            hold = f", hold {d.candidate_id}" if d.decision is DecisionKind.HOLD else ""
            lines.append(f"  {d.decision.value:<10} {d.key} = {value}  ({d.reason.value}{hold})")
        lines += [f"  quarantined {q.raw[:60]}  ({q.reason.value}: {q.message})" for q in self.quarantined]
        return "\n".join(lines)


@dataclass(frozen=True, kw_only=True, slots=True)
class ErasureReceipt:
    """What `forget` removed, by table, and the scan that looked for it in the bytes of the store afterwards.

    `needles` strings of six characters and more that stood only in what was forgotten were looked for in
    `scanned_bytes` bytes; none was found.
    """

    erasure_id: int
    known_at: datetime
    removed: Mapping[str, int]
    erased_evidence: int
    needles: int
    scanned_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """Where a fact comes from: the words that prove it, what was decided about it and who said it with what.

    `episode` is None when it was erased.  `evidence` are the spans of the assertion that opens the fact, `supports` the
    ids of the other assertions of its value that count now.
    """

    fact: Fact[Any]
    episode: Episode | None
    evidence: tuple[Evidence, ...]
    supports: tuple[int, ...]
    decisions: tuple[Decision, ...]
    settlements: tuple[str, ...]
    extractor: str
    prompt_hash: str | None
    time_rule: str


def end_of_stretch(start: datetime, precision: Precision, zone: str = "UTC") -> datetime | None:
    """Exclusive end of the day, month or year of `zone` that begins at `start`; None for an exact instant."""
    if precision == "exact":
        return None
    local = start.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    if precision == "day":
        end = local + timedelta(days=1)
    elif precision == "month":
        end = local.replace(year=local.year + local.month // 12, month=local.month % 12 + 1, day=1)
    else:
        end = local.replace(year=local.year + 1, month=1, day=1)
    return end.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
