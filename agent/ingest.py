"""Reading episodes from JSON Lines, and the loop that feeds them to a memory.

Memory use does not grow with the number of lines: a file is read once to be checked and once to be ingested.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from ..memory_store.errors import (
    BackendError,
    BackendUnavailable,
    EpisodeConflict,
    EpisodeDecided,
    EpisodeForgotten,
    InvalidEpisode,
    InvalidInput,
    SgamError,
)
from ..memory_store.model import DecisionKind, Episode, Receipt
from ..memory_store.schema import MemorySchema

if TYPE_CHECKING:
    from .memory import Memory

MAX_LINE_BYTES: Final = 2 << 20
"""Longest line; the longest text takes 1.2 MB when every character of it is escaped."""
MAX_ROWS: Final = 40
"""Decisions that a tally keeps one by one; beyond that it only counts."""
MAX_FAILURES_IN_A_ROW: Final = 5
CONFIRMED_SOURCE: Final = "user_confirmed"
FATES: Final = (*(kind.value for kind in DecisionKind), "quarantined")
STATUSES: Final = ("complete", "partial", "failed", "context", "captured", "refused")


@dataclass(frozen=True, kw_only=True, slots=True)
class Gate:
    """What an episode must be to come in: of this tenant, and from a source that the schema knows and we trust."""

    schema: MemorySchema
    tenant: str
    all_tenants: bool = False
    trust_source: bool = False

    def check(self, episode: Episode) -> None:
        """Raise InvalidEpisode, which names the field."""
        if episode.tenant_id not in {None, self.tenant} and not self.all_tenants:
            message = f"{episode.tenant_id!r} is not the tenant {self.tenant!r}"
            raise InvalidEpisode(message, field="tenant_id", hint="give --tenant, or --all-tenants for all of them")
        if episode.source == CONFIRMED_SOURCE and not self.trust_source:
            hint = "give --trust-source if the file comes from your own application"
            raise InvalidEpisode(f"{CONFIRMED_SOURCE} is not taken from a file", field="source", hint=hint)
        if episode.source not in self.schema.sources:
            names = ", ".join(self.schema.sources)
            raise InvalidEpisode(f"{episode.source!r} is none of {names}", field="source")

    def tenant_of(self, episode: Episode) -> str:
        """The tenant whose memory the episode enters."""
        return self.tenant if episode.tenant_id is None else episode.tenant_id


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """An episode and where it stands."""

    number: int
    tenant: str
    episode: Episode


def read_lines(stream: BinaryIO, name: str, gate: Gate) -> Iterator[Line]:
    """The episodes of a JSON Lines stream in order; blank lines are skipped, a byte order mark too.

    Raises InvalidInput, which names line and field, at the first line that is no episode or may not come in, and at the
    end when there was none at all.
    """
    number = found = 0
    while raw := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        try:
            episode = _episode(raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw)
            if episode is None:
                continue
            gate.check(episode)
        except SgamError as error:
            raise InvalidInput(f"{name} line {number}: {error}", hint=error.hint) from error
        found += 1
        yield Line(number=number, tenant=gate.tenant_of(episode), episode=episode)
    if not found:
        raise InvalidInput(f"{name}: holds no episode", hint="give one JSON object a line")


def _episode(raw: bytes) -> Episode | None:
    if len(raw) > MAX_LINE_BYTES:
        raise InvalidInput(f"longer than {MAX_LINE_BYTES} bytes", hint="give one JSON object a line")
    try:
        text = raw.rstrip(b"\r\n").decode()
    except UnicodeDecodeError as error:
        what = f"invalid UTF-8 at byte {error.start + 1} (0x{raw[error.start]:02x})"
        raise InvalidInput(what, hint="save the file as UTF-8") from error
    return Episode.from_json(_object(text)) if text.strip() else None


def _object(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"not JSON: {error.msg} at column {error.colno}") from error
    except RecursionError:
        raise InvalidInput("not JSON that we read: nested too deeply") from None
    except ValueError as error:  # a number with thousands of digits
        raise InvalidInput(f"not JSON that we read: {error}") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    for key, value in pairs:
        if key in seen:
            raise InvalidEpisode("stands twice", field=key)
        seen[key] = value
    return seen


def _no_constant(name: str) -> Any:
    raise InvalidInput(f"not JSON: {name} is no JSON number")


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One thing that a model returned, and its fate."""

    episode_id: str
    about: str
    value: str
    fate: str
    reason: str


@dataclass(slots=True)
class Tally:
    """The account of an ingest: every episode has one status, every candidate one fate."""

    episodes: Counter[str] = field(default_factory=Counter)
    fates: Counter[str] = field(default_factory=Counter)
    by_attribute: Counter[tuple[str, str]] = field(default_factory=Counter)
    usage: Counter[str] = field(default_factory=Counter)
    rows: list[Row] = field(default_factory=list)
    done_before: int = 0
    problems: int = 0

    @property
    def candidates(self) -> int:
        """How many there were; the fates add up to it."""
        return sum(self.fates.values())

    def add(self, receipt: Receipt, *, done_before: bool) -> None:
        """Count what became of an episode."""
        self.episodes[receipt.status] += 1
        self.done_before += done_before
        if not done_before:
            self.usage.update(receipt.usage)
        for row in _rows(receipt):
            self.fates[row.fate] += 1
            self.by_attribute[row.about.partition("[")[0].rpartition(".")[2], row.fate] += 1
            if len(self.rows) <= MAX_ROWS:
                self.rows.append(row)


def _rows(receipt: Receipt) -> Iterator[Row]:
    for made in receipt.decisions:
        value = "(no value)" if made.value is None else str(json.loads(made.value))
        hold = f" (hold {made.candidate_id})" if made.decision is DecisionKind.HOLD else ""
        reason = made.reason.value + hold
        yield Row(
            episode_id=receipt.episode_id, about=str(made.key), value=value, fate=made.decision.value, reason=reason
        )
    for lost in receipt.quarantined:
        reason = f"{lost.reason.value}: {lost.message}"
        yield Row(episode_id=receipt.episode_id, about="", value=lost.raw[:200], fate="quarantined", reason=reason)


Tell = Callable[[Line, SgamError], None]


@dataclass(slots=True)
class Ingest:
    """Feeds episodes to a memory in order.  Stopped at any point, the next run goes on from there.

    An episode that the store refuses, or that the model fails on, is counted, told to `problem` and passed over; the
    rest is ingested.  A store that fails, a model that cannot be had, and several failures in a row end the run.
    """

    memory: Memory
    problem: Tell
    tally: Tally = field(default_factory=Tally)
    _began: dict[str, datetime | None] = field(default_factory=dict)
    _failures: int = 0

    def run(self, lines: Iterable[Line]) -> Iterator[Line]:
        """Ingest the lines; each is yielded when it is done."""
        for line in lines:
            try:
                self._remember(line)
                self._failures = 0
            except (EpisodeConflict, EpisodeDecided, EpisodeForgotten) as error:
                self._passed_over(line, "refused", error)
            except BackendUnavailable:
                self.tally.episodes["captured"] += 1
                raise
            except BackendError as error:
                self._failed(line, error)
            yield line

    def _failed(self, line: Line, error: BackendError) -> None:
        self._passed_over(line, "captured", error)
        self._failures += 1
        if self._failures == MAX_FAILURES_IN_A_ROW:
            raise BackendError(
                f"the model failed on {self._failures} episodes in a row", hint="run the same command again to go on"
            ) from error

    def _remember(self, line: Line) -> None:
        tenant = self.memory.tenant(line.tenant)
        if line.tenant not in self._began:
            self._began[line.tenant] = tenant.known_now()
        began = self._began[line.tenant]
        receipt = tenant.remember(line.episode)
        earlier = began is not None and receipt.known_at is not None and receipt.known_at <= began
        self.tally.add(receipt, done_before=earlier)

    def _passed_over(self, line: Line, status: str, error: SgamError) -> None:
        self.tally.episodes[status] += 1
        self.tally.problems += 1
        self.problem(line, error)
