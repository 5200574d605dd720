"""What the tests of the ledger share: a schema with every rule, a clock that stands still, claims, and plain reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from hypothesis import HealthCheck, settings
from sgam.memory_store.ledger import Ledger
from sgam.memory_store.model import (
    Candidate,
    Episode,
    Evidence,
    Key,
    Outcome,
    Precision,
    Quarantined,
    Receipt,
    end_of_stretch,
)
from sgam.memory_store.records import FactRecord, StatusRow
from sgam.memory_store.schema import MemorySchema
from sgam.memory_store.sqlite import SqliteStore
from sgam.memory_store.store import Belief, FactFilter, Store
from sgam.memory_store.values import encode, fold

SCHEMA: Final = MemorySchema.from_json(
    {
        "name": "people",
        "version": 1,
        "types": {
            "person": {
                "attributes": {
                    "home": {"type": "text"},
                    "city": {"type": "text", "on_equal_time": "last_recorded"},
                    "employer": {"type": "text", "on_equal_time": "source_rank"},
                    "diet": {"type": "text", "confirm": True},
                    "mood": {"type": "text", "ttl": "P30D"},
                    "habit": {"type": "text", "promote_after": 2},
                    "rumour": {"type": "text", "min_source": "assistant"},
                    "allergies": {"type": "text", "many": "set"},
                    "rating": {"type": "text", "many": "map"},
                }
            }
        },
    }
)
START: Final = datetime(2026, 1, 1, tzinfo=UTC)


def cases(number: int) -> settings:
    """The same `number` of random cases in every run, however slow the machine."""
    unhurried = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
    return settings(max_examples=number, deadline=None, derandomize=True, suppress_health_check=unhurried)


def day(number: float) -> datetime:
    """An instant, in days after the first of January 2026."""
    return START + timedelta(days=number)


@dataclass
class Clock:
    """A clock that moves when it is told to."""

    now: datetime = field(default_factory=lambda: day(1000))

    def __call__(self) -> datetime:
        return self.now


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A candidate of an episode, in short; `also_in` is an earlier episode in which a second span lies."""

    value: str | None
    attribute: str = "home"
    subject: str = "mira"
    item: str = ""
    since: datetime | None = None
    until: datetime | None = None
    precision: Precision = "exact"
    source: str | None = None
    from_memory: bool = False
    also_in: str | None = None

    @property
    def key(self) -> Key:
        return Key("person", self.subject, self.attribute, fold(self.item))

    def candidate(self, episode: Episode) -> Candidate:
        since = self.since or episode.observed_at
        own = Evidence(episode_id=episode.episode_id, start=0, end=len(episode.text), quote=episode.text)
        other = Evidence(episode_id=self.also_in, start=0, end=1, quote="s", role="value")
        return Candidate(
            key=self.key,
            value=None if self.value is None else encode(self.value),
            valid_from=since,
            source=self.source or episode.source,
            evidence=(own, other) if self.also_in else (own,),
            item_text=self.item or None,
            precision=self.precision,
            valid_from_end=end_of_stretch(since, self.precision),
            valid_until=self.until,
            from_memory=self.from_memory,
        )


def episode(
    episode_id: str,
    *,
    at: datetime | None = None,
    source: str = "user",
    speaker: str | None = None,
    text: str | None = None,
) -> Episode:
    """An episode whose text is its id, observed on the first day unless told otherwise."""
    return Episode(
        text=text or f"said in {episode_id}",
        observed_at=at or day(0),
        episode_id=episode_id,
        source=source,
        speaker=speaker,
    )


Interval = tuple[datetime, datetime | None, str]


@dataclass
class Notebook:
    """One tenant of a ledger, with its clock."""

    ledger: Ledger
    clock: Clock
    tenant: str = "t"
    written: int = 0

    def commit(
        self, said: Episode, *claims: Claim, extractor: str = "", quarantined: tuple[Quarantined, ...] = ()
    ) -> Receipt:
        candidates = tuple(claim.candidate(said) for claim in claims)
        outcome = Outcome(candidates=candidates, quarantined=quarantined, extractor=extractor)
        return self.ledger.commit(self.tenant, said, outcome)

    def tell(
        self,
        value: str | None,
        attribute: str = "home",
        *,
        since: float | None = None,
        until: float | None = None,
        at: float = 0,
        source: str = "user",
        precision: Precision = "exact",
        subject: str = "mira",
        from_memory: bool = False,
    ) -> str:
        """Commit one claim as an episode of its own; the decision and its reason, as one word each."""
        claim = Claim(
            value=value,
            attribute=attribute,
            subject=subject,
            since=None if since is None else day(since),
            until=None if until is None else day(until),
            precision=precision,
            from_memory=from_memory,
        )
        self.written += 1
        receipt = self.commit(episode(f"e{self.written}", at=day(at), source=source), claim)
        (decision,) = receipt.decisions
        return f"{decision.decision.value} {decision.reason.value}"

    def records(self, where: FactFilter | None = None, belief: Belief | None = None) -> list[FactRecord]:
        """Facts; without arguments all that are believed now."""
        return self.ledger.store.read(self.tenant, lambda view: view.facts(where or FactFilter(), belief or Belief()))

    def timeline(
        self, attribute: str = "home", subject: str = "mira", item: str = "", known_at: datetime | None = None
    ) -> list[Interval]:
        where = FactFilter(subject=subject, attribute=attribute, item=item)
        found = [record.fact for record in self.records(where, Belief(known_at=known_at))]
        return sorted((fact.valid_from, fact.valid_to, fact.value.strip('"')) for fact in found)

    def current(
        self,
        attribute: str = "home",
        subject: str = "mira",
        at: datetime | None = None,
        known_at: datetime | None = None,
    ) -> str | None:
        where = FactFilter(memory_type="person", subject=subject, attribute=attribute, item="")
        found = self.records(where, Belief(valid_at=at or self.clock.now, known_at=known_at))
        return found[0].fact.value.strip('"') if found else None

    def holds(self) -> list[StatusRow]:
        return self.ledger.store.read(self.tenant, lambda view: view.holds())

    def known(self) -> datetime:
        """Known time of the newest transaction."""
        last = self.ledger.store.read(self.tenant, lambda view: view.last_known())
        assert last is not None
        return last


def notebook(store: Store, *, tenant: str = "t", schema: MemorySchema = SCHEMA) -> Notebook:
    """A notebook of an empty store."""
    clock = Clock()
    return Notebook(ledger=Ledger(store, schema, clock=clock), clock=clock, tenant=tenant)


def sqlite_notebooks(folder: Path) -> Iterator[Callable[[], Notebook]]:
    """Gives a maker of notebooks, each in a file of its own; closes them all at the end."""
    made: list[Notebook] = []

    def make() -> Notebook:
        made.append(notebook(SqliteStore(folder / f"{len(made)}.db")))
        return made[-1]

    yield make
    for entry in made:
        entry.ledger.store.close()
