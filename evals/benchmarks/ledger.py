"""What the SQLite ledger costs over hand-written `sqlite3`, as ratios measured in turn in one run.

* commit: `Tenant.commit` of an episode with two candidates, against the same rows inserted by hand in one transaction
  (same file layout, same settings, prepared parameters);
* read: `Tenant.current`, against a hand-written select of the row;
* long key: a commit on a key that has many assertions, against one on a fresh key.

Both sides of a ratio alternate, so that the disk and the other load of the machine meet both alike.
"""

from __future__ import annotations

import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Self

from ...agent.memory import Memory
from ...memory_store.model import Episode, Proposal
from ...memory_store.schema import MemorySchema

_START: Final = datetime(2026, 1, 1, tzinfo=UTC)
_TABLES: Final = ("episodes", "candidates", "evidence", "decisions", "assertions", "facts")
_SCHEMA: Final = MemorySchema.from_json(
    {
        "name": "bench",
        "version": 1,
        "types": {"person": {"attributes": {"city": {"type": "text"}, "food": {"type": "text"}}}},
    }
)
_BY_HAND: Final = """
    select value, valid_from, valid_to, known_from, assertion_id from facts
    where tenant = ? and subject = ? and memory_type = ? and attribute = ? and item = ? and known_to is null
        and valid_from <= ? and (valid_to is null or valid_to > ?)
"""


def _episode(number: int, subject: str) -> tuple[Episode, list[Proposal]]:
    city, food = f"City{number}", f"Food{number}"
    text = f"I live in {city} now and I like {food} best."
    when = _START + timedelta(minutes=number)
    episode = Episode(text=text, observed_at=when, episode_id=f"{subject}-{number}", speaker=subject)
    pairs = (("city", city), ("food", food))
    return episode, [Proposal(subject=subject, attribute=name, value=value, quote=value) for name, value in pairs]


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _ratio(ours: list[float], theirs: list[float]) -> dict[str, float]:
    """Medians in microseconds and the median of the paired ratios."""
    paired = [a / b for a, b in zip(ours, theirs, strict=True)]
    return {
        "ours_us": statistics.median(ours) * 1e6,
        "by_hand_us": statistics.median(theirs) * 1e6,
        "ratio": statistics.median(paired),
    }


def commit_ratio(folder: Path, rounds: int = 300) -> dict[str, float]:
    """A durable commit against the same rows by hand."""
    with Memory.open(f"sqlite:///{folder / 'ours.db'}", schema=_SCHEMA) as memory:
        tenant = memory.tenant("bench")
        tenant.commit(*_episode(0, "warm"))
        with _ByHand(folder) as copy:
            ours, theirs = [], []
            for number in range(1, rounds + 1):
                episode, proposals = _episode(number, f"s{number}")
                ours.append(_seconds(lambda e=episode, p=proposals: tenant.commit(e, p)))  # type: ignore[misc]
                rows = list(copy.rows_of(episode.episode_id))
                theirs.append(_seconds(lambda r=rows: copy.insert(r)))  # type: ignore[misc]
    return _ratio(ours, theirs)


class _ByHand:
    """A second file of the same layout, written by plain statements."""

    def __init__(self, folder: Path) -> None:
        self.source = sqlite3.connect(folder / "ours.db", isolation_level=None)
        self.target = sqlite3.connect(folder / "by_hand.db", isolation_level=None)
        layout = "select sql from sqlite_master where sql is not null and name not like 'sqlite_%' order by rowid"
        for pragma in ("journal_mode = wal", "synchronous = full", "foreign_keys = on", "secure_delete = on"):
            self.target.execute(f"pragma {pragma}")
        for (statement,) in self.source.execute(layout).fetchall():
            self.target.execute(statement)
        self.target.execute("insert into tenants values ('bench', null, 0)")
        self.target.execute("insert into schemas values (1, 'bench', 1, '{}')")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.source.close()
        self.target.close()

    def rows_of(self, episode_id: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
        (number,) = self.source.execute(
            "select episode_no from episodes where episode_id = ?", (episode_id,)
        ).fetchone()
        mine = f"(select candidate_id from candidates where episode_no = {number:d})"  # noqa: S608 - a number of ours
        where = {
            "episodes": f"episode_no = {number:d}",
            "candidates": f"episode_no = {number:d}",
            "evidence": f"candidate_id in {mine}",
            "decisions": f"candidate_id in {mine}",
            "assertions": f"assertion_id in {mine}",
            "facts": f"assertion_id in {mine}",
        }
        for table in _TABLES:
            for row in self.source.execute(f"select * from {table} where {where[table]}"):  # noqa: S608
                yield f"insert into {table} values ({', '.join('?' * len(row))})", row  # noqa: S608

    def insert(self, rows: list[tuple[str, tuple[Any, ...]]]) -> None:
        self.target.execute("begin immediate")
        for statement, row in rows:
            self.target.execute(statement, row)
        self.target.execute("update tenants set last_known = '2026', last_id = 1 where tenant = 'bench'")
        self.target.execute("commit")


def read_ratio(folder: Path, facts: int = 2_000, rounds: int = 2_000) -> dict[str, float]:
    """A current read against a hand-written select of the row."""
    with Memory.open(f"sqlite:///{folder / 'read.db'}", schema=_SCHEMA) as memory:
        tenant = memory.tenant("bench")
        for number in range(facts // 2):
            tenant.commit(*_episode(number, f"s{number}"))
        connection = sqlite3.connect(folder / "read.db", isolation_level=None)
        now = "2027-01-01T00:00:00.000000Z"
        ours, theirs = [], []
        for number in range(rounds):
            subject = f"s{number * 7 % (facts // 2)}"
            parameters = ("bench", subject, "person", "city", "", now, now)
            ours.append(_seconds(lambda s=subject: tenant.current(s, "city")))  # type: ignore[misc]
            theirs.append(_seconds(lambda p=parameters: connection.execute(_BY_HAND, p).fetchone()))  # type: ignore[misc]
        connection.close()
    return _ratio(ours, theirs)


def long_key_ratio(folder: Path, assertions: int = 10_000, rounds: int = 200) -> dict[str, float]:
    """A commit into the middle of a key that has many assertions, against one on a fresh key."""
    with Memory.open(f"sqlite:///{folder / 'long.db'}", schema=_SCHEMA) as memory:
        tenant = memory.tenant("bench")
        for number in range(assertions):
            _commit_city(tenant, number, "long", float(number))
        ours, theirs = [], []
        for number in range(rounds):
            day = (number * 37) % assertions + 0.5
            ours.append(_seconds(lambda n=number, d=day: _commit_city(tenant, n + assertions, "long", d)))  # type: ignore[misc]
            theirs.append(_seconds(lambda n=number: _commit_city(tenant, n, f"fresh{n}", 0.0)))  # type: ignore[misc]
    return _ratio(ours, theirs)


def _commit_city(tenant: Any, number: int, subject: str, minute: float) -> None:
    episode = Episode(text=f"City{number}", observed_at=_START, episode_id=f"{subject}-{number}")
    when = _START + timedelta(minutes=minute)
    value = f"City{number}"
    tenant.commit(episode, [Proposal(subject=subject, attribute="city", value=value, quote=value, valid_from=when)])
