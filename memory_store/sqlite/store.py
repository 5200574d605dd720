"""The store in one SQLite file.

Writers take the file's one write lock at the start of their transaction (`begin immediate`), which also serialises the
tenants' clocks; the whole transaction is tried anew when a lock stopped it.  Readers see a snapshot and never wait.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Final, TypeVar

from ..errors import ErasureIncomplete
from ..store import Residue, Transaction, View
from .connection import Synchronous, connect, persistently, transaction, translated
from .queries import queries
from .transaction import SqliteTransaction, SqliteView

R = TypeVar("R")
_CHUNK: Final = 1 << 20


class SqliteStore:
    """A store in the file `path`.  Threads may share it; each gets a connection of its own.

    `synchronous="normal"` may lose the last commits when the power fails, and never damages the file.
    """

    def __init__(self, path: Path, *, synchronous: Synchronous = "full") -> None:
        self.path = path
        self._synchronous: Synchronous = synchronous
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._connection()

    def _connection(self) -> sqlite3.Connection:
        existing: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if existing is not None:
            return existing

        def once() -> sqlite3.Connection:
            with translated(self.path):
                return connect(self.path, self._synchronous)

        fresh = persistently(once)
        self._local.connection = fresh
        self._connections.append(fresh)
        return fresh

    def write(self, tenant: str, now: datetime, work: Callable[[Transaction], R]) -> R:
        """See `Store.write`."""
        connection = self._connection()

        def once() -> R:
            with translated(self.path), transaction(connection, "begin immediate"):
                tx = SqliteTransaction(connection, tenant, now)
                result = work(tx)
                tx.save()
            return result

        return persistently(once)

    def read(self, tenant: str, work: Callable[[View], R]) -> R:
        """See `Store.read`."""
        connection = self._connection()
        with translated(self.path), transaction(connection, "begin"):
            return work(SqliteView(connection, tenant))

    def add_schema(self, name: str, version: int, text: str) -> None:
        """See `Store.add_schema`."""
        connection = self._connection()

        def once() -> None:
            with translated(self.path), transaction(connection, "begin immediate"):
                connection.execute(queries()["add_schema"], {"name": name, "version": version, "text": text})

        persistently(once)

    def schema(self, name: str, version: int) -> str | None:
        """See `Store.schema`."""
        with translated(self.path):
            found = self._connection().execute(queries()["schema"], {"name": name, "version": version}).fetchone()
        return None if found is None else str(found[0])

    def schemas(self) -> list[tuple[str, int, str]]:
        """See `Store.schemas`."""
        with translated(self.path):
            return self._connection().execute(queries()["schemas"]).fetchall()

    def tenants(self) -> list[str]:
        """See `Store.tenants`."""
        with translated(self.path):
            return [tenant for (tenant,) in self._connection().execute(queries()["tenants"])]

    def cells(self) -> Iterator[str]:
        """See `Store.cells`."""
        connection = self._connection()
        with translated(self.path), transaction(connection, "begin"):
            tables = connection.execute("select name from sqlite_master where type = 'table'").fetchall()
            for (table,) in (*tables, ("sqlite_master",)):
                for row in connection.execute(f'select * from "{table}"'):  # noqa: S608 - the names are the file's own
                    yield from (value for value in row if isinstance(value, str))

    def purge(self, *, rewrite: bool = False) -> None:
        """See `Store.purge`."""
        connection = self._connection()
        with translated(self.path):
            if rewrite:
                connection.execute("vacuum")
            (busy, *_) = connection.execute("pragma wal_checkpoint(truncate)").fetchone()
        if busy:
            raise ErasureIncomplete(
                f"{self.path}: a reader still needs the write-ahead log, with what was erased in it"
            )

    def residue(self, needles: Iterable[str]) -> Residue:
        """See `Store.residue`."""
        wanted = {needle.encode(): needle for needle in needles}
        found: set[bytes] = set()
        total = 0
        for suffix in ("", "-wal", "-shm", "-journal"):
            file = self.path.with_name(self.path.name + suffix)
            if file.exists():
                total += file.stat().st_size
                found |= _search(file, list(wanted))
        if found:
            found -= self._by_chance(found)
        return Residue(found=tuple(wanted[needle] for needle in sorted(found)), scanned_bytes=total)

    def _by_chance(self, needles: set[bytes]) -> set[bytes]:
        """Those that also stand in a copy made anew of the rows that are there: across two values that meet."""
        with translated(self.path), closing(sqlite3.connect(":memory:")) as copy:
            self._connection().backup(copy)
            copy.execute("vacuum")
            content = copy.serialize()
        return {needle for needle in needles if needle in content}

    def close(self) -> None:
        """Close every connection."""
        for connection in self._connections:
            connection.close()
        self._connections.clear()
        self._local = threading.local()


def _search(file: Path, needles: list[bytes]) -> set[bytes]:
    if not needles:
        return set()
    longest = max(map(len, needles))
    found: set[bytes] = set()
    with file.open("rb") as stream:
        tail = b""
        while chunk := stream.read(_CHUNK):
            block = tail + chunk
            found.update(needle for needle in needles if needle not in found and needle in block)
            tail = block[-longest:]
    return found
