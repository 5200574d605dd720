"""Connections to the file: settings, migrations, and the one place where the driver's errors are translated."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, TypeVar

from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_random_exponential

from ..errors import NotAStore, StoreBusy, StoreError, StoreFull, StoreReadOnly, StoreTooNew
from .queries import Migration, migrations

APPLICATION_ID: Final = 0x5347414D
"""`SGAM`; tells our files from those of other programs."""
BUSY_TIMEOUT: Final = 5.0
"""Seconds that one attempt waits for a lock."""
PATIENCE: Final = 60.0
"""Seconds after which a transaction is not tried again."""
Synchronous = Literal["full", "normal"]
R = TypeVar("R")


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn the driver's errors into ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translate(error, path) from error


def _translate(error: sqlite3.Error, path: Path) -> StoreError:
    code = getattr(error, "sqlite_errorcode", None)
    kind = _KINDS.get(code & 0xFF, StoreError) if isinstance(code, int) else StoreError
    if code == sqlite3.SQLITE_CANTOPEN and not path.parent.is_dir():
        return StoreError(f"{path}: the folder does not exist", hint=f"create {path.parent}")
    return kind(f"{path}: {error}")


_KINDS: Final[dict[int, type[StoreError]]] = {
    sqlite3.SQLITE_BUSY: StoreBusy,
    sqlite3.SQLITE_LOCKED: StoreBusy,
    sqlite3.SQLITE_FULL: StoreFull,
    sqlite3.SQLITE_READONLY: StoreReadOnly,
    sqlite3.SQLITE_CANTOPEN: StoreReadOnly,
    sqlite3.SQLITE_PERM: StoreReadOnly,
    sqlite3.SQLITE_NOTADB: NotAStore,
    sqlite3.SQLITE_CORRUPT: NotAStore,
}


def persistently(once: Callable[[], R]) -> R:
    """Run `once`, and when a lock stopped it run it anew until it passes or the patience is at its end."""
    try:
        return once()
    except StoreBusy:
        return Retrying(
            retry=retry_if_exception_type(StoreBusy),
            stop=stop_after_delay(PATIENCE),
            wait=wait_random_exponential(multiplier=0.01, max=0.5),
            reraise=True,
        )(once)


def connect(path: Path, synchronous: Synchronous) -> sqlite3.Connection:
    """A connection to a file that is ours and up to date; creates and migrates it if need be."""
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)
    try:
        _recognise(connection, path)
        _configure(connection, synchronous)
        if pending(connection):
            _migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _recognise(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse what is not ours before anything is changed."""
    (tables,) = connection.execute("select count(*) from sqlite_master").fetchone()
    (application,) = connection.execute("pragma application_id").fetchone()  # after: another process may make both
    if application != APPLICATION_ID and (application or tables):
        raise NotAStore(f"{path}: this database belongs to another program")
    (version,) = connection.execute("pragma user_version").fetchone()
    if version > migrations()[-1].number:
        raise StoreTooNew(
            f"{path}: written by a newer sgam (layout {version}, this one knows {migrations()[-1].number})"
        )


def _configure(connection: sqlite3.Connection, synchronous: Synchronous) -> None:
    (mode,) = connection.execute("pragma journal_mode").fetchone()
    if mode != "wal":
        connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = full" if synchronous == "full" else "pragma synchronous = normal")
    connection.execute("pragma foreign_keys = on")
    connection.execute("pragma secure_delete = on")
    connection.execute("pragma temp_store = memory")  # a rewrite must not leave copies in the temporary folder


def pending(connection: sqlite3.Connection) -> list[Migration]:
    """The steps that the file lacks."""
    (version,) = connection.execute("pragma user_version").fetchone()
    return [step for step in migrations() if step.number > version]


def _migrate(connection: sqlite3.Connection) -> None:
    with transaction(connection, "begin immediate"):
        for step in pending(connection):  # asked again: another process may have been faster
            for statement in step.statements:
                connection.execute(statement)
            connection.execute(f"pragma user_version = {step.number:d}")  # takes no parameter
        connection.execute(f"pragma application_id = {APPLICATION_ID:d}")


@contextmanager
def transaction(connection: sqlite3.Connection, begin: Literal["begin", "begin immediate"]) -> Iterator[None]:
    """Commit at the end, roll back on any error."""
    connection.execute(begin)
    try:
        yield
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:
            connection.execute("rollback")
        raise
