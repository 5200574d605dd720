"""Views and transactions of the SQLite store: the row-wise seam, spoken in named statements."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from ..model import Key
from ..records import (
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
from ..store import Belief, FactFilter, Window
from .codec import AnyRow, Cell, cell, load, load_record, load_status, parameters, stamp
from .queries import queries

_INSERTS: Final[dict[type, str]] = {
    EpisodeRow: "insert_episode",
    CandidateRow: "insert_candidate",
    EvidenceRow: "insert_evidence",
    DecisionRow: "insert_decision",
    AssertionRow: "insert_assertion",
    HoldRow: "insert_hold",
    SettlementRow: "insert_settlement",
    FactRow: "insert_fact",
    QuarantineRow: "insert_quarantine",
    ErasureRow: "insert_erasure",
    TombstoneRow: "insert_tombstone",
}
_BEGINNING: Final = datetime.min.replace(tzinfo=UTC)
_END: Final = datetime.max.replace(tzinfo=UTC)
_ENDS: Final[dict[type, str]] = {AssertionRow: "end_assertion", HoldRow: "end_hold", FactRow: "end_fact"}


class SqliteView:
    """See `View`."""

    def __init__(self, connection: sqlite3.Connection, tenant: str) -> None:
        self._connection = connection
        self._tenant = tenant

    def _run(self, name: str, **values: Cell) -> sqlite3.Cursor:
        return self._connection.execute(queries()[name], {"tenant": self._tenant, **values})

    def _all(self, kind: type[AnyRow], name: str, **values: Cell) -> list[AnyRow]:
        return [load(kind, row[1:]) for row in self._run(name, **values)]

    def _one(self, kind: type[AnyRow], name: str, **values: Cell) -> AnyRow | None:
        row = self._run(name, **values).fetchone()
        return None if row is None else load(kind, row[1:])

    def last_known(self) -> datetime | None:
        row = self._run("tenant").fetchone()
        return None if row is None or row[0] is None else datetime.fromisoformat(row[0])

    def episode(self, episode_id: str) -> EpisodeRow | None:
        return self._one(EpisodeRow, "episode", episode_id=episode_id)

    def episode_by_no(self, episode_no: int) -> EpisodeRow | None:
        return self._one(EpisodeRow, "episode_by_no", episode_no=episode_no)

    def episodes(self, status: EpisodeStatus | None = None) -> list[EpisodeRow]:
        return self._all(EpisodeRow, "episodes", status=status)

    def episodes_of_speaker(self, subject: str) -> list[EpisodeRow]:
        return self._all(EpisodeRow, "episodes_of_speaker", subject=subject)

    def turns_before(self, episode: EpisodeRow, limit: int) -> list[EpisodeRow]:
        turns = self._all(
            EpisodeRow,
            "turns_before",
            session_id=episode.session_id,
            observed_at=stamp(episode.observed_at),
            episode_no=episode.episode_no,
            limit=limit,
        )
        return turns[::-1]

    def candidate(self, candidate_id: int) -> StatusRow | None:
        row = self._run("candidate", candidate_id=candidate_id).fetchone()
        return None if row is None else load_status(row[1:])

    def candidates_of_episode(self, episode_no: int) -> list[CandidateRow]:
        return self._all(CandidateRow, "candidates_of_episode", episode_no=episode_no)

    def candidates_resting_on(self, episode_no: int) -> list[CandidateRow]:
        return self._all(CandidateRow, "candidates_resting_on", episode_no=episode_no)

    def candidates_of_subject(self, subject: str) -> list[CandidateRow]:
        return self._all(CandidateRow, "candidates_of_subject", subject=subject)

    def key_status(self, key: Key) -> list[StatusRow]:
        return [load_status(row[1:]) for row in self._run("key_status", **key._asdict())]

    def has_many(self, key: Key, limit: int) -> bool:
        return self._run("has_many", **key._asdict(), limit=limit).fetchone() is not None

    def window(self, key: Key, start: datetime, end: datetime) -> Window:
        times = {"start": stamp(start), "end": stamp(end)}
        (before,) = self._run("clean_before", **key._asdict(), start=times["start"]).fetchone() or (None,)
        (after,) = self._run("clean_after", **key._asdict(), **times).fetchone() or (None,)
        return Window(before and datetime.fromisoformat(before), after and datetime.fromisoformat(after))

    def live_between(self, key: Key, window: Window) -> list[StatusRow]:
        rows = self._run("live_between", **key._asdict(), **_bounds(window))
        return [load_status(row[1:]) for row in rows]

    def facts_between(self, key: Key, window: Window) -> list[FactRow]:
        return self._all(FactRow, "facts_between", **key._asdict(), **_bounds(window))

    def settlements(self, key: Key) -> list[SettlementRow]:
        return self._all(SettlementRow, "settlements", **key._asdict())

    def decisions(self, candidate_id: int) -> list[DecisionRow]:
        return self._all(DecisionRow, "decisions", candidate_id=candidate_id)

    def evidence(self, candidate_id: int) -> list[EvidenceRow]:
        return self._all(EvidenceRow, "evidence", candidate_id=candidate_id)

    def holds(self) -> list[StatusRow]:
        return [load_status(row[1:]) for row in self._run("holds")]

    def quarantine(self, episode_no: int | None = None) -> list[QuarantineRow]:
        if episode_no is None:
            return self._all(QuarantineRow, "quarantine")
        return self._all(QuarantineRow, "quarantine_of_episode", episode_no=episode_no)

    def open_facts(self, key: Key) -> list[FactRow]:
        return self._all(FactRow, "open_facts", **key._asdict())

    def facts(self, where: FactFilter, belief: Belief) -> list[FactRecord]:
        rows = self._run(_fact_query(where, belief), **_fact_parameters(where, belief)).fetchall()
        return [self._record(row[1:], belief) for row in rows]

    def fact(self, fact_id: int) -> FactRecord | None:
        row = self._run("fact", fact_id=fact_id).fetchone()
        return None if row is None else self._record(row[1:], Belief(ever=True))

    def _record(self, cells: Sequence[Any], belief: Belief) -> FactRecord:
        fact = load(FactRow, cells[: len(cells) - 7])
        known_at = fact.known_from if belief.ever else belief.known_at
        key = {name: getattr(fact, name) for name in Key._fields}
        key["valid_from"] = stamp(fact.valid_from)
        if known_at is None:
            before = self._run("superseded_now", **key).fetchone()
        else:
            before = self._run("superseded_then", **key, known_at=stamp(known_at)).fetchone()
        return load_record(fact, cells[-7:], None if before is None else before[0])

    def subjects(self, memory_type: str | None = None) -> list[tuple[str, str]]:
        return self._run("subjects", memory_type=memory_type).fetchall()

    def erasures(self) -> list[ErasureRow]:
        return self._all(ErasureRow, "erasures")

    def has_tombstone(self, erasure_id: int, digest: bytes) -> bool:
        return self._run("has_tombstone", erasure_id=erasure_id, digest=digest).fetchone() is not None


def _bounds(window: Window) -> dict[str, Cell]:
    return {"start": stamp(window.start or _BEGINNING), "end": stamp(window.end or _END)}


def _fact_query(where: FactFilter, belief: Belief) -> str:
    whole_key = None not in {where.memory_type, where.subject, where.attribute, where.item}
    if where.subject is not None and belief.valid_at is not None and belief.known_at is None and not belief.ever:
        return "fact_now" if whole_key else "facts_of_subject_now"
    return "facts_of_tenant" if where.subject is None else "facts_of_subject"


def _fact_parameters(where: FactFilter, belief: Belief) -> dict[str, Cell]:
    return {
        "memory_type": where.memory_type,
        "subject": where.subject,
        "attribute": where.attribute,
        "item": where.item,
        "valid_at": cell(belief.valid_at),
        "known_at": cell(belief.known_at),
        "ever": int(belief.ever),
    }


class SqliteTransaction(SqliteView):
    """See `Transaction`."""

    def __init__(self, connection: sqlite3.Connection, tenant: str, now: datetime) -> None:
        super().__init__(connection, tenant)
        self._now = now
        row = self._run("tenant").fetchone()
        self._is_new = row is None
        self._last_id: int = 0 if row is None else row[1]
        self._last_known = None if row is None or row[0] is None else datetime.fromisoformat(row[0])
        self._known_at: datetime | None = None

    @property
    def known_at(self) -> datetime:
        if self._known_at is None:
            last = self._last_known
            self._known_at = self._now if last is None else max(self._now, last + timedelta(microseconds=1))
            if self._is_new:
                self.save()  # the rows of the tenant refer to it
                self._is_new = False
        return self._known_at

    def save(self) -> None:
        """Keep the tenant's clock and counter, if this transaction wrote anything."""
        if self._known_at is not None:
            self._run("save_tenant", last_known=stamp(self._known_at), last_id=self._last_id)

    def next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def live_rows(self, ids: Sequence[int]) -> list[AssertionRow]:
        return [row for number in ids for row in self._all(AssertionRow, "live_row", assertion_id=number)]

    def hold_rows(self, ids: Sequence[int]) -> list[HoldRow]:
        return [row for number in ids for row in self._all(HoldRow, "hold_row", hold_id=number)]

    def insert(self, row: Row) -> None:
        self._run(_INSERTS[type(row)], **parameters(row))

    def end(self, row: AssertionRow | HoldRow | FactRow, known_to: datetime) -> None:
        self._run(_ENDS[type(row)], **{**parameters(row), "known_to": stamp(known_to)})

    def save_episode(self, row: EpisodeRow) -> None:
        self._run("save_episode", **parameters(row))

    def erase_evidence(self, episode_no: int) -> int:
        return self._run("erase_evidence", episode_no=episode_no).rowcount

    def delete_beliefs(self, key: Key) -> dict[str, int]:
        counts = dict.fromkeys(("decisions", "assertions", "holds"), 0)
        counts["facts"] = self._run("delete_facts", **key._asdict()).rowcount
        for status in self.key_status(key):
            number = status.candidate.candidate_id
            counts["decisions"] += self._run("delete_decisions", candidate_id=number).rowcount
            counts["assertions"] += self._run("delete_assertions", candidate_id=number).rowcount
            counts["holds"] += self._run("delete_holds", candidate_id=number).rowcount
        return counts

    def delete_candidates(self, ids: Sequence[int]) -> dict[str, int]:
        counts = {"evidence": 0, "settlements": 0, "candidates": 0}
        for number in ids:
            counts["evidence"] += self._run("delete_evidence", candidate_id=number).rowcount
            counts["settlements"] += self._run("delete_settlements", candidate_id=number).rowcount
            counts["candidates"] += self._run("delete_candidate", candidate_id=number).rowcount
        return counts

    def delete_quarantine(self, episode_no: int) -> int:
        return self._run("delete_quarantine", episode_no=episode_no).rowcount

    def delete_episode(self, episode_no: int) -> None:
        self._run("delete_episode", episode_no=episode_no)
