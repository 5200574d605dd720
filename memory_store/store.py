"""The seams behind which a store lives, and `open_store`.

A store does three things: it runs a piece of work in one serialised, durable transaction of a tenant (`Store.write`),
it runs one against a consistent snapshot (`Store.read`), and it keeps memory schemas.  What the work is, is the
ledger's business: it sees a `View` or a `Transaction`, which speak in rows and never in SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from .errors import InvalidUrl
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
)

R = TypeVar("R")


@dataclass(frozen=True, kw_only=True, slots=True)
class FactFilter:
    """Which facts; None does not restrict."""

    memory_type: str | None = None
    subject: str | None = None
    attribute: str | None = None
    item: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Belief:
    """Which belief: as of `known_at` (None: now), about `valid_at` (None: all of time); or `ever` believed."""

    valid_at: datetime | None = None
    known_at: datetime | None = None
    ever: bool = False


class Window(NamedTuple):
    """Two instants of a key's timeline between which, both inclusive, a change can matter; None means no bound.

    At either one an assertion without an end begins and no bounded one reaches over it, so what lies before it cannot
    matter after it.
    """

    start: datetime | None
    end: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Residue:
    """Result of a scan of all the bytes of a store: the strings that were found and how many bytes were read."""

    found: tuple[str, ...]
    scanned_bytes: int


class View(Protocol):
    """A consistent snapshot of one tenant."""

    def last_known(self) -> datetime | None:
        """Known time of the newest transaction."""
        ...

    def episode(self, episode_id: str) -> EpisodeRow | None: ...

    def episode_by_no(self, episode_no: int) -> EpisodeRow | None: ...

    def episodes(self, status: EpisodeStatus | None = None) -> list[EpisodeRow]:
        """In order of capture."""
        ...

    def episodes_of_speaker(self, subject: str) -> list[EpisodeRow]: ...

    def turns_before(self, episode: EpisodeRow, limit: int) -> list[EpisodeRow]:
        """The last `limit` episodes of the same session before this one, oldest first."""
        ...

    def candidate(self, candidate_id: int) -> StatusRow | None: ...

    def candidates_of_episode(self, episode_no: int) -> list[CandidateRow]: ...

    def candidates_resting_on(self, episode_no: int) -> list[CandidateRow]:
        """Those of the episode and those with a span in it."""
        ...

    def candidates_of_subject(self, subject: str) -> list[CandidateRow]: ...

    def key_status(self, key: Key) -> list[StatusRow]:
        """Every candidate of the key in commit order."""
        ...

    def has_many(self, key: Key, limit: int) -> bool:
        """Whether the key has more than `limit` candidates."""
        ...

    def window(self, key: Key, start: datetime, end: datetime) -> Window:
        """The neighbourhood of a change between `start` and `end`."""
        ...

    def live_between(self, key: Key, window: Window) -> list[StatusRow]:
        """The candidates that count and begin inside a window."""
        ...

    def facts_between(self, key: Key, window: Window) -> list[FactRow]:
        """The facts believed now that touch a window, in order."""
        ...

    def settlements(self, key: Key) -> list[SettlementRow]:
        """In the order in which they happened."""
        ...

    def decisions(self, candidate_id: int) -> list[DecisionRow]:
        """In the order in which they were taken."""
        ...

    def evidence(self, candidate_id: int) -> list[EvidenceRow]: ...

    def holds(self) -> list[StatusRow]:
        """Candidates that wait, the oldest first."""
        ...

    def quarantine(self, episode_no: int | None = None) -> list[QuarantineRow]: ...

    def open_facts(self, key: Key) -> list[FactRow]:
        """The timeline of a key as it is believed now."""
        ...

    def facts(self, where: FactFilter, belief: Belief) -> list[FactRecord]:
        """By key, then by `known_from`, then by `valid_from`.  Expired ones are left out where `valid_at` is given."""
        ...

    def fact(self, fact_id: int) -> FactRecord | None: ...

    def subjects(self, memory_type: str | None = None) -> list[tuple[str, str]]:
        """Pairs of subject and memory type of which something is believed now."""
        ...

    def erasures(self) -> list[ErasureRow]: ...

    def has_tombstone(self, erasure_id: int, digest: bytes) -> bool: ...


class Transaction(View, Protocol):
    """One serialised write of a tenant; all of it happens or none of it."""

    @property
    def known_at(self) -> datetime:
        """The known time of this transaction: later than that of every earlier one of the tenant."""
        ...

    def next_id(self) -> int: ...

    def live_rows(self, ids: Sequence[int]) -> list[AssertionRow]:
        """The open assertion rows of some candidates."""
        ...

    def hold_rows(self, ids: Sequence[int]) -> list[HoldRow]:
        """The open hold rows of some candidates."""
        ...

    def insert(self, row: Row) -> None: ...

    def end(self, row: AssertionRow | HoldRow | FactRow, known_to: datetime) -> None:
        """Close a row in known time."""
        ...

    def save_episode(self, row: EpisodeRow) -> None:
        """Insert an episode, or replace the row of its number."""
        ...

    def erase_evidence(self, episode_no: int) -> int:
        """Take the words out of the spans that lie in an episode; how many there were."""
        ...

    def delete_beliefs(self, key: Key) -> dict[str, int]:
        """Delete what was concluded about a key (decisions, assertions, holds, facts); counts by table."""
        ...

    def delete_candidates(self, ids: Sequence[int]) -> dict[str, int]:
        """Delete candidates with their evidence and settlements, after `delete_beliefs` of their keys."""
        ...

    def delete_quarantine(self, episode_no: int) -> int: ...

    def delete_episode(self, episode_no: int) -> None: ...


class Store(Protocol):
    """Where a ledger lives."""

    def write(self, tenant: str, now: datetime, work: Callable[[Transaction], R]) -> R:
        """Run `work` in a durable transaction, anew as a whole when a lock or a conflict stopped it.

        Writers of one tenant come one after the other.  An exception from `work` undoes everything.  Raises StoreError.
        """
        ...

    def read(self, tenant: str, work: Callable[[View], R]) -> R:
        """Run `work` against a snapshot.  Never waits for a writer."""
        ...

    def add_schema(self, name: str, version: int, text: str) -> None:
        """Keep a schema; does nothing when the version is there already."""
        ...

    def schema(self, name: str, version: int) -> str | None: ...

    def schemas(self) -> list[tuple[str, int, str]]:
        """Name, version and JSON of all, in the order in which they came."""
        ...

    def tenants(self) -> list[str]: ...

    def cells(self) -> Iterator[str]:
        """Every text that stands in a table, of all tenants, and in the description of the tables."""
        ...

    def purge(self, *, rewrite: bool = False) -> None:
        """Empty the write-ahead log of what was deleted; `rewrite` also copies the whole database anew.

        Raises ErasureIncomplete when a reader still needs the log.
        """
        ...

    def residue(self, needles: Iterable[str]) -> Residue:
        """Look for strings in all the bytes of the store: files and write-ahead log, or rows in memory."""
        ...

    def close(self) -> None: ...


def open_store(url: str) -> Store:
    """Open `memory:`, `sqlite:///relative.db` or `sqlite:////absolute.db`.

    Creates the database where there is none and brings an older one up to date.  Raises InvalidUrl or StoreError.
    """
    scheme, _, rest = url.partition(":")
    opener = _OPENERS.get(scheme)
    if opener is None:
        raise InvalidUrl(f"store {redacted(url)!r}: unknown scheme", hint="use memory: or sqlite:///FILE")
    return opener(rest)


def redacted(url: str) -> str:
    """A store URL that may be shown: of one that can hold a password only the scheme."""
    scheme, colon, _ = url.partition(":")
    return url if not colon or scheme in {"memory", "sqlite"} else f"{scheme}:..."


def _open_memory(rest: str) -> Store:
    from .in_memory import InMemoryStore

    if rest.strip("/"):
        raise InvalidUrl(f"store memory:{rest}: a store in memory has no name")
    return InMemoryStore()


def _open_sqlite(rest: str) -> Store:
    from .sqlite import SqliteStore

    if not rest.startswith("///") or len(rest) == 3:
        hint = "use sqlite:///relative.db or sqlite:////absolute.db"
        raise InvalidUrl(f"store sqlite:{rest}: no file is named", hint=hint)
    return SqliteStore(Path(rest[3:]))


def _open_postgres(rest: str) -> Store:
    raise InvalidUrl(f"store {redacted(f'postgresql:{rest}')}: not supported yet", hint="use sqlite:///FILE")


_OPENERS: dict[str, Callable[[str], Store]] = {
    "memory": _open_memory,
    "sqlite": _open_sqlite,
    "postgresql": _open_postgres,
}
