"""The reference store: tables as dictionaries, queries as comprehensions.  Nothing survives the process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar, cast

from .model import Key
from .records import (
    AssertionRow,
    CandidateRow,
    DecisionRow,
    EpisodeRow,
    EpisodeStatus,
    ErasureRow,
    EvidenceRow,
    FactRecord,
    FactRow,
    HoldRow,
    QuarantineRow,
    Row,
    SettlementRow,
    StatusRow,
    TombstoneRow,
)
from .store import Belief, FactFilter, Residue, Transaction, View, Window

R = TypeVar("R")
AnyRow = TypeVar("AnyRow", bound=Row)

_PRIMARY_KEYS: dict[type, Callable[[Any], object]] = {
    EpisodeRow: lambda row: row.episode_no,
    CandidateRow: lambda row: row.candidate_id,
    EvidenceRow: lambda row: (row.candidate_id, row.ordinal),
    DecisionRow: lambda row: row.decision_id,
    AssertionRow: lambda row: (row.assertion_id, row.known_from),
    HoldRow: lambda row: (row.hold_id, row.known_from),
    SettlementRow: lambda row: row.settlement_id,
    FactRow: lambda row: row.fact_id,
    QuarantineRow: lambda row: row.quarantine_id,
    ErasureRow: lambda row: row.erasure_id,
    TombstoneRow: lambda row: (row.erasure_id, row.digest),
}


@dataclass(slots=True)
class _Tenant:
    last_known: datetime | None = None
    last_id: int = 0
    tables: dict[type, dict[object, Row]] = field(default_factory=lambda: {kind: {} for kind in _PRIMARY_KEYS})

    def copy(self) -> _Tenant:
        return _Tenant(self.last_known, self.last_id, {kind: dict(rows) for kind, rows in self.tables.items()})


class InMemoryStore:
    """A store that lives as long as the object.  Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._tenants: dict[str, _Tenant] = {}
        self._schemas: dict[tuple[str, int], str] = {}

    def write(self, tenant: str, now: datetime, work: Callable[[Transaction], R]) -> R:
        """See `Store.write`."""
        with self._lock:
            draft = self._tenants.get(tenant, _Tenant()).copy()
            result = work(_MemoryTransaction(draft, now))
            self._tenants[tenant] = draft
            return result

    def read(self, tenant: str, work: Callable[[View], R]) -> R:
        """See `Store.read`."""
        with self._lock:
            return work(_MemoryView(self._tenants.get(tenant, _Tenant())))

    def add_schema(self, name: str, version: int, text: str) -> None:
        """See `Store.add_schema`."""
        with self._lock:
            self._schemas.setdefault((name, version), text)

    def schema(self, name: str, version: int) -> str | None:
        """See `Store.schema`."""
        return self._schemas.get((name, version))

    def schemas(self) -> list[tuple[str, int, str]]:
        """See `Store.schemas`."""
        return [(name, version, text) for (name, version), text in self._schemas.items()]

    def tenants(self) -> list[str]:
        """See `Store.tenants`."""
        return sorted(self._tenants)

    def cells(self) -> Iterator[str]:
        """See `Store.cells`."""
        with self._lock:
            rows = [
                row for tenant in self._tenants.values() for table in tenant.tables.values() for row in table.values()
            ]
        return (value for row in rows for value in astuple(row) if isinstance(value, str))

    def purge(self, *, rewrite: bool = False) -> None:
        """Nothing to do: a deleted row is gone."""

    def residue(self, needles: Iterable[str]) -> Residue:
        """See `Store.residue`."""
        cells = list(self.cells())
        found = tuple(needle for needle in needles if any(needle in cell for cell in cells))
        return Residue(found=found, scanned_bytes=sum(len(cell.encode()) for cell in cells))

    def close(self) -> None:
        """Nothing to do."""


class _MemoryView:
    def __init__(self, tenant: _Tenant) -> None:
        self._tenant = tenant

    def _rows(self, kind: type[AnyRow]) -> list[AnyRow]:
        return cast("list[AnyRow]", list(self._tenant.tables[kind].values()))

    def last_known(self) -> datetime | None:
        return self._tenant.last_known

    def episode(self, episode_id: str) -> EpisodeRow | None:
        return next((row for row in self._rows(EpisodeRow) if row.episode_id == episode_id), None)

    def episode_by_no(self, episode_no: int) -> EpisodeRow | None:
        return cast("EpisodeRow | None", self._tenant.tables[EpisodeRow].get(episode_no))

    def episodes(self, status: EpisodeStatus | None = None) -> list[EpisodeRow]:
        return [row for row in self._rows(EpisodeRow) if status in {None, row.status}]

    def episodes_of_speaker(self, subject: str) -> list[EpisodeRow]:
        return [row for row in self._rows(EpisodeRow) if row.speaker_id == subject]

    def turns_before(self, episode: EpisodeRow, limit: int) -> list[EpisodeRow]:
        mark = (episode.observed_at, episode.episode_no)
        session = [row for row in self._rows(EpisodeRow) if row.session_id == episode.session_id is not None]
        earlier = [row for row in session if row.text is not None and (row.observed_at, row.episode_no) < mark]
        return sorted(earlier, key=lambda row: (row.observed_at, row.episode_no))[max(len(earlier) - limit, 0) :]

    def _status(self, row: CandidateRow) -> StatusRow:
        live = [a for a in self._rows(AssertionRow) if a.assertion_id == row.candidate_id and a.known_to is None]
        waits = [h for h in self._rows(HoldRow) if h.hold_id == row.candidate_id and h.known_to is None]
        precedence = live[0].precedence if live else None
        return StatusRow(candidate=row, precedence=precedence, waits=waits[0] if waits else None)

    def candidate(self, candidate_id: int) -> StatusRow | None:
        row = cast("CandidateRow | None", self._tenant.tables[CandidateRow].get(candidate_id))
        return None if row is None else self._status(row)

    def candidates_of_episode(self, episode_no: int) -> list[CandidateRow]:
        return [row for row in self._rows(CandidateRow) if row.episode_no == episode_no]

    def candidates_resting_on(self, episode_no: int) -> list[CandidateRow]:
        spans = {row.candidate_id for row in self._rows(EvidenceRow) if row.episode_no == episode_no}
        rows = self._rows(CandidateRow)
        return [row for row in rows if row.episode_no == episode_no or row.candidate_id in spans]

    def candidates_of_subject(self, subject: str) -> list[CandidateRow]:
        return [row for row in self._rows(CandidateRow) if row.subject == subject]

    def key_status(self, key: Key) -> list[StatusRow]:
        return [self._status(row) for row in self._rows(CandidateRow) if row.key == key]

    def has_many(self, key: Key, limit: int) -> bool:
        return sum(row.key == key for row in self._rows(CandidateRow)) > limit

    def window(self, key: Key, start: datetime, end: datetime) -> Window:
        live = [row.candidate for row in self.key_status(key) if row.precedence is not None]
        clean = [c.valid_from for c in live if c.valid_until is None and not any(_spans(b, c.valid_from) for b in live)]
        before, after = [at for at in clean if at < start], [at for at in clean if at > start and at >= end]
        return Window(max(before, default=None), min(after, default=None))

    def live_between(self, key: Key, window: Window) -> list[StatusRow]:
        rows = (row for row in self.key_status(key) if row.precedence is not None)
        return [row for row in rows if _inside(row.candidate.valid_from, window)]

    def facts_between(self, key: Key, window: Window) -> list[FactRow]:
        return [row for row in self.open_facts(key) if _touches(row, window)]

    def settlements(self, key: Key) -> list[SettlementRow]:
        ids = {row.candidate_id for row in self._rows(CandidateRow) if row.key == key}
        return [row for row in self._rows(SettlementRow) if row.candidate_id in ids]

    def decisions(self, candidate_id: int) -> list[DecisionRow]:
        return [row for row in self._rows(DecisionRow) if row.candidate_id == candidate_id]

    def evidence(self, candidate_id: int) -> list[EvidenceRow]:
        return [row for row in self._rows(EvidenceRow) if row.candidate_id == candidate_id]

    def holds(self) -> list[StatusRow]:
        rows = [self._status(row) for row in self._rows(CandidateRow)]
        return [row for row in rows if row.waits is not None]

    def quarantine(self, episode_no: int | None = None) -> list[QuarantineRow]:
        return [row for row in self._rows(QuarantineRow) if episode_no in {None, row.episode_no}]

    def open_facts(self, key: Key) -> list[FactRow]:
        rows = [row for row in self._rows(FactRow) if _fact_key(row) == key and row.known_to is None]
        return sorted(rows, key=lambda row: row.valid_from)

    def facts(self, where: FactFilter, belief: Belief) -> list[FactRecord]:
        rows = [row for row in self._rows(FactRow) if _matches(row, where) and _believed(row, belief)]
        rows.sort(key=lambda row: (_fact_key(row), row.known_from, row.valid_from))
        return [self._record(row, row.known_from if belief.ever else belief.known_at) for row in rows]

    def fact(self, fact_id: int) -> FactRecord | None:
        row = cast("FactRow | None", self._tenant.tables[FactRow].get(fact_id))
        return None if row is None else self._record(row, row.known_from)

    def _record(self, row: FactRow, known_at: datetime | None) -> FactRecord:
        candidate = cast("CandidateRow", self._tenant.tables[CandidateRow][row.assertion_id])
        episode = self.episode_by_no(candidate.episode_no)
        spans = self.evidence(row.assertion_id)
        return FactRecord(
            fact=row,
            schema_name=candidate.schema_name,
            schema_version=candidate.schema_version,
            item_text=candidate.item_text,
            source=candidate.source,
            episode_id=episode.episode_id if episode else None,
            speaker=episode.speaker if episode else None,
            quote=spans[0].quote if spans else None,
            supersedes=self._superseded(row, known_at),
        )

    def _superseded(self, row: FactRow, known_at: datetime | None) -> int | None:
        belief = Belief(known_at=known_at)
        before = (
            other for other in self._rows(FactRow) if _fact_key(other) == _fact_key(row) and _believed(other, belief)
        )
        return next((other.fact_id for other in before if other.valid_to == row.valid_from), None)

    def subjects(self, memory_type: str | None = None) -> list[tuple[str, str]]:
        rows = [row for row in self._rows(FactRow) if row.known_to is None and memory_type in {None, row.memory_type}]
        return sorted({(row.subject, row.memory_type) for row in rows})

    def erasures(self) -> list[ErasureRow]:
        return self._rows(ErasureRow)

    def has_tombstone(self, erasure_id: int, digest: bytes) -> bool:
        return (erasure_id, digest) in self._tenant.tables[TombstoneRow]


class _MemoryTransaction(_MemoryView):
    def __init__(self, tenant: _Tenant, now: datetime) -> None:
        super().__init__(tenant)
        self._now = now
        self._known_at: datetime | None = None

    @property
    def known_at(self) -> datetime:
        if self._known_at is None:
            last = self._tenant.last_known
            self._known_at = self._now if last is None else max(self._now, last + timedelta(microseconds=1))
            self._tenant.last_known = self._known_at
        return self._known_at

    def next_id(self) -> int:
        self._tenant.last_id += 1
        return self._tenant.last_id

    def live_rows(self, ids: Sequence[int]) -> list[AssertionRow]:
        return [row for row in self._rows(AssertionRow) if row.assertion_id in ids and row.known_to is None]

    def hold_rows(self, ids: Sequence[int]) -> list[HoldRow]:
        return [row for row in self._rows(HoldRow) if row.hold_id in ids and row.known_to is None]

    def insert(self, row: Row) -> None:
        self._tenant.tables[type(row)][_PRIMARY_KEYS[type(row)](row)] = row

    def end(self, row: AssertionRow | HoldRow | FactRow, known_to: datetime) -> None:
        self.insert(replace(row, known_to=known_to))

    def save_episode(self, row: EpisodeRow) -> None:
        self.insert(row)

    def erase_evidence(self, episode_no: int) -> int:
        spans = [row for row in self._rows(EvidenceRow) if row.episode_no == episode_no]
        for row in spans:
            self.insert(replace(row, quote=None))
        return len(spans)

    def _delete(self, kind: type[AnyRow], doomed: Callable[[AnyRow], bool]) -> int:
        rows = [row for row in self._rows(kind) if doomed(row)]
        for row in rows:
            del self._tenant.tables[kind][_PRIMARY_KEYS[kind](row)]
        return len(rows)

    def delete_beliefs(self, key: Key) -> dict[str, int]:
        ids = {row.candidate_id for row in self._rows(CandidateRow) if row.key == key}
        return {
            "decisions": self._delete(DecisionRow, lambda row: row.candidate_id in ids),
            "assertions": self._delete(AssertionRow, lambda row: row.assertion_id in ids),
            "holds": self._delete(HoldRow, lambda row: row.hold_id in ids),
            "facts": self._delete(FactRow, lambda row: _fact_key(row) == key),
        }

    def delete_candidates(self, ids: Sequence[int]) -> dict[str, int]:
        doomed = set(ids)
        return {
            "evidence": self._delete(EvidenceRow, lambda row: row.candidate_id in doomed),
            "settlements": self._delete(SettlementRow, lambda row: row.candidate_id in doomed),
            "candidates": self._delete(CandidateRow, lambda row: row.candidate_id in doomed),
        }

    def delete_quarantine(self, episode_no: int) -> int:
        return self._delete(QuarantineRow, lambda row: row.episode_no == episode_no)

    def delete_episode(self, episode_no: int) -> None:
        self._delete(EpisodeRow, lambda row: row.episode_no == episode_no)


def _spans(bounded: CandidateRow, when: datetime) -> bool:
    return bounded.valid_until is not None and bounded.valid_from <= when < bounded.valid_until


def _inside(when: datetime, window: Window) -> bool:
    return (window.start is None or window.start <= when) and (window.end is None or when <= window.end)


def _touches(row: FactRow, window: Window) -> bool:
    begins = window.end is None or row.valid_from <= window.end
    return begins and (window.start is None or row.valid_to is None or row.valid_to > window.start)


def _fact_key(row: FactRow) -> Key:
    return Key(row.memory_type, row.subject, row.attribute, row.item)


def _matches(row: FactRow, where: FactFilter) -> bool:
    wanted = (where.memory_type, where.subject, where.attribute, where.item)
    return all(want in {None, have} for want, have in zip(wanted, _fact_key(row), strict=True))


def _believed(row: FactRow, belief: Belief) -> bool:
    if belief.ever:
        return True
    if belief.known_at is None:
        known = row.known_to is None
    else:
        known = row.known_from <= belief.known_at and (row.known_to is None or belief.known_at < row.known_to)
    return known and (belief.valid_at is None or _valid(row, belief.valid_at))


def _valid(row: FactRow, when: datetime) -> bool:
    ended = row.valid_to is not None and row.valid_to <= when
    expired = row.expires_at is not None and row.expires_at <= when
    return row.valid_from <= when and not ended and not expired
