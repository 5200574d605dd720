"""Random lives of a ledger: both stores side by side, and each against what it would be without what was taken back."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule
from sgam.memory_store import writer
from sgam.memory_store.erasure import forget
from sgam.memory_store.errors import EpisodeDecided, EpisodeForgotten, SgamError
from sgam.memory_store.in_memory import InMemoryStore
from sgam.memory_store.ledger import Ledger
from sgam.memory_store.model import Episode, ErasureReceipt, Quarantined, QuarantineReason, subject_id
from sgam.memory_store.reads import hold_of, receipt_of
from sgam.memory_store.records import CandidateRow
from sgam.memory_store.sqlite import SqliteStore
from sgam.memory_store.store import Belief, FactFilter, View
from sgam.memory_store.timeline import Assertion, timeline
from sgam.memory_store.values import identity
from sgam.memory_store.writer import key_state

from .ledgers import SCHEMA, Claim, Clock, Notebook, day, episode
from .oracle import value_at

TENANTS: Final = ("acme", "acme2")
SUBJECTS: Final = ("mira", "noor")
MOMENTS: Final = tuple(day(number) for number in (0, 1, 2.5, 4, 7, 33, 1000))

CLAIMS = st.lists(
    st.builds(
        Claim,
        value=st.sampled_from(["alpha", "Alpha", "beta", "gamma", None]),
        attribute=st.sampled_from(["home", "city", "city", "employer", "diet", "mood", "habit", "rumour"]),
        subject=st.sampled_from(SUBJECTS),
        since=st.sampled_from([None, *(day(number) for number in range(5))]),
        until=st.sampled_from([None, None, None, day(6), day(9)]),
        precision=st.sampled_from(["exact", "exact", "exact", "day"]),
        from_memory=st.sampled_from([False] * 9 + [True]),
    )
    | st.builds(
        Claim,
        value=st.sampled_from(["like", "dislike", None]),
        attribute=st.sampled_from(["allergies", "rating"]),
        item=st.sampled_from(["Nuts", "sushi"]),
        subject=st.sampled_from(SUBJECTS),
        since=st.sampled_from([None, day(1), day(2)]),
    ),
    max_size=3,
)
RAW = Quarantined(reason=QuarantineReason.UNGROUNDED, message="the quote is not in the text", raw='{"quote": "lost"}')


def exact(claim: Claim) -> Claim:
    """The oracle has no opinion on holds: what it follows is exact."""
    return replace(claim, precision="exact") if claim.attribute == "city" else claim


@dataclass
class Told:
    """An episode as a tenant was told it; `claims` are those of its last extraction."""

    said: Episode
    claims: list[tuple[int, Claim]]  # with the id that the ledger gave
    extractor: str = ""


@dataclass
class Life:
    """All that happened to one tenant, so that it can be lived again without some of it."""

    steps: list[tuple[str, Any]] = field(default_factory=list)  # ("commit", Told) | ("confirm" | "dismiss", id)
    told: dict[str, Told] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)  # retracted, dismissed or forgotten
    retracted: dict[int, datetime] = field(default_factory=dict)
    forgotten: set[int] = field(default_factory=set)
    marks: list[datetime] = field(default_factory=list)
    taken_back: bool = False

    def claims(self) -> Iterable[tuple[int, Claim, Told]]:
        return (
            (number, claim, entry) for kind, entry in self.steps if kind == "commit" for number, claim in entry.claims
        )


def only(subject: str, attribute: str) -> FactFilter:
    return FactFilter(memory_type="person", subject=subject, attribute=attribute, item="")


def everything(view: View, marks: Iterable[datetime]) -> dict[str, Any]:
    """Every read there is, at every mark."""
    beliefs = [Belief(valid_at=when, known_at=mark) for when in (None, *MOMENTS) for mark in (None, *marks)]
    episodes = view.episodes()
    candidates = [row for entry in episodes for row in view.candidates_of_episode(entry.episode_no)]
    return {
        "facts": [view.facts(FactFilter(), belief) for belief in (*beliefs, Belief(ever=True))],
        "of a subject": [
            view.facts(FactFilter(subject=name), belief)
            for name in SUBJECTS
            for belief in beliefs[:: len(MOMENTS) // 2]
        ],
        "now": [
            view.facts(
                FactFilter(memory_type="person", subject=name, attribute=attribute, item=""), Belief(valid_at=when)
            )
            for name in SUBJECTS
            for attribute in ("home", "city", "mood")
            for when in MOMENTS
        ],
        "holds": [hold_of(view, status) for status in view.holds()],
        "episodes": episodes,
        "candidates": [view.candidate(row.candidate_id) for row in candidates],
        "decisions": [view.decisions(row.candidate_id) for row in candidates],
        "evidence": [view.evidence(row.candidate_id) for row in candidates],
        "settlements": [view.settlements(row.key) for row in candidates],
        "quarantine": view.quarantine(),
        "receipts": [receipt_of(view, entry) for entry in episodes if entry.status != "captured"],
        "subjects": view.subjects(),
        "last known": view.last_known(),
    }


def believed(view: View) -> tuple[object, object]:
    """What is believed now and what waits, without ids and known times."""
    facts = [
        (fact.subject, fact.attribute, fact.item, fact.value, fact.valid_from, fact.valid_to, fact.expires_at)
        for fact in (record.fact for record in view.facts(FactFilter(), Belief()))
    ]
    holds = [(hold.key, hold.value, hold.reason, hold.valid_from) for hold in (hold_of(view, s) for s in view.holds())]
    return sorted(facts, key=str), sorted(holds, key=str)


class Ledgers(RuleBasedStateMachine):
    """One life in two stores."""

    NEARBY = (1_000_000, 0)  # one computes whole timelines, the other only what lies near a change
    episodes = Bundle("episodes")

    @initialize()
    def begin(self) -> None:
        self.clock = Clock()
        self.folder = tempfile.TemporaryDirectory()
        self.file = SqliteStore(Path(self.folder.name) / "ledger.db", synchronous="normal")
        self.ledgers = [Ledger(store, SCHEMA, clock=self.clock) for store in (InMemoryStore(), self.file)]
        self.lives = {tenant: Life() for tenant in TENANTS}
        self.count = 0
        self.seen: dict[str, tuple[datetime | None, int]] = {}
        self.usual = writer.NEARBY

    def teardown(self) -> None:
        vars(writer).update(NEARBY=self.usual)
        self.file.close()
        self.folder.cleanup()

    def both(self, call: Any) -> Any:
        """The same call to both ledgers must come out the same, whatever it is."""
        outcomes = []
        for ledger, nearby in zip(self.ledgers, self.NEARBY, strict=True):
            vars(writer).update(NEARBY=nearby)
            try:
                outcomes.append(call(ledger))
            except SgamError as error:
                outcomes.append((type(error), str(error)))
        assert outcomes[0] == outcomes[1]
        self.clock.now += timedelta(seconds=1)
        return outcomes[0]

    # -- what may happen

    @rule(
        target=episodes,
        tenant=st.sampled_from(TENANTS),
        claims=CLAIMS,
        source=st.sampled_from(["user", "user", "tool", "assistant", "user_confirmed"]),
        speaker=st.sampled_from([None, None, None, "Mira"]),
        observed=st.integers(0, 5),
        extractor=st.sampled_from(["", "small"]),
        lost=st.booleans(),
        rests_on=st.integers(0, 9),
    )
    def commit(
        self,
        tenant: str,
        claims: list[Claim],
        source: str,
        speaker: str | None,
        observed: int,
        extractor: str,
        lost: bool,
        rests_on: int,
    ) -> tuple[str, str]:
        self.count += 1
        life = self.lives[tenant]
        earlier = [name for name in life.told if name in self.known_episodes(tenant)]
        spans = earlier[rests_on] if rests_on < len(earlier) else None
        claims = [exact(replace(claim, also_in=spans)) for claim in claims]
        said = episode(f"e{self.count}", at=day(observed), source=source, speaker=speaker)
        self.told(tenant, said, claims, extractor, (RAW,) if lost else ())
        return tenant, said.episode_id

    def known_episodes(self, tenant: str) -> set[str | None]:
        return self.ledgers[0].store.read(tenant, lambda view: {row.episode_id for row in view.episodes()})

    def told(
        self, tenant: str, said: Episode, claims: list[Claim], extractor: str, lost: tuple[Quarantined, ...] = ()
    ) -> None:
        life = self.lives[tenant]
        books = {id(ledger): Notebook(ledger, self.clock, tenant) for ledger in self.ledgers}
        receipt = self.both(lambda led: books[id(led)].commit(said, *claims, extractor=extractor, quarantined=lost))
        assert (
            sum(count for name, count in receipt.counts.items() if name != "candidates") == receipt.counts["candidates"]
        )
        numbered = [(made.candidate_id, claim) for made, claim in zip(receipt.decisions, claims, strict=True)]
        life.told[said.episode_id] = Told(said, numbered, extractor)
        life.steps.append(("commit", life.told[said.episode_id]))
        if len(life.steps) % 4 == 3:
            life.marks.append(receipt.known_at)

    @rule(entry=episodes, claims=CLAIMS, extractor=st.sampled_from(["large", "larger"]))
    def extract_anew(self, entry: tuple[str, str], claims: list[Claim], extractor: str) -> None:
        tenant, name = entry
        life = self.lives[tenant]
        old = life.told.get(name)
        assume(old is not None and old.extractor not in {"", extractor})
        assert old is not None
        self.lose(life, [number for number, _ in old.claims])
        self.told(tenant, old.said, [exact(claim) for claim in claims], extractor)

    def lose(self, life: Life, numbers: Iterable[int]) -> None:
        for number in numbers:
            life.gone.add(number)
            life.retracted.setdefault(number, self.clock.now)
        life.taken_back = True

    @rule(entry=episodes)
    def commit_again(self, entry: tuple[str, str]) -> None:
        tenant, name = entry
        told = self.lives[tenant].told.get(name)
        before = self.ledgers[0].store.read(tenant, lambda view: view.last_known())
        said = told.said if told else episode(name, at=day(0))
        claims = [claim for _, claim in told.claims] if told else []
        books = {id(ledger): Notebook(ledger, self.clock, tenant) for ledger in self.ledgers}
        extractor = told.extractor if told else ""
        outcome = self.both(lambda led: books[id(led)].commit(said, *claims, extractor=extractor))
        after = self.ledgers[0].store.read(tenant, lambda view: view.last_known())

        assert told is not None or outcome[0] is EpisodeForgotten
        assert told is None or isinstance(outcome, tuple) is False or outcome[0] is EpisodeDecided
        assert before == after

    @rule(tenant=st.sampled_from(TENANTS), pick=st.integers(0, 5), kind=st.sampled_from(["confirm", "dismiss"]))
    def settle(self, tenant: str, pick: int, kind: str) -> None:
        pending = self.ledgers[0].store.read(tenant, lambda view: view.holds())
        assume(pick < len(pending))
        number = pending[pick].candidate.candidate_id
        self.both(lambda ledger: getattr(ledger, kind)(tenant, number, by="ana"))
        self.lives[tenant].steps.append((kind, number))
        if kind == "dismiss":
            self.lives[tenant].gone.add(number)

    @rule(entry=episodes)
    def retract_episode(self, entry: tuple[str, str]) -> None:
        tenant, name = entry
        life = self.lives[tenant]
        assume(name in life.told and name in self.known_episodes(tenant))
        resting = [number for number, claim, told in life.claims() if name in (told.said.episode_id, claim.also_in)]
        self.lose(life, [number for number in resting if number not in life.forgotten])
        self.both(lambda ledger: ledger.retract(tenant, episode_id=name))

    @rule(tenant=st.sampled_from(TENANTS), pick=st.integers(0, 9))
    def retract_assertion(self, tenant: str, pick: int) -> None:
        life = self.lives[tenant]
        numbers = [number for number, _, _ in life.claims() if number not in life.forgotten]
        assume(pick < len(numbers))
        self.lose(life, [numbers[pick]])
        self.both(lambda ledger: ledger.retract(tenant, assertion_id=numbers[pick]))

    @rule(entry=consumes(episodes))
    def forget_episode(self, entry: tuple[str, str]) -> None:
        tenant, name = entry
        life = self.lives[tenant]
        self.forget(tenant, episode_id=name)
        resting = {number for number, claim, told in life.claims() if name in (told.said.episode_id, claim.also_in)}
        if name in life.told:
            life.forgotten |= resting
        life.told.pop(name, None)

    @rule(tenant=st.sampled_from(TENANTS), subject=st.sampled_from(SUBJECTS))
    def forget_subject(self, tenant: str, subject: str) -> None:
        life = self.lives[tenant]
        theirs = [(number, claim, told) for number, claim, told in life.claims() if number not in life.forgotten]
        doomed = {told.said.episode_id for _, claim, told in theirs if claim.subject == subject}
        doomed |= {claim.also_in for _, claim, _ in theirs if claim.subject == subject and claim.also_in}
        doomed |= {n for n, told in life.told.items() if told.said.speaker and subject_id(told.said.speaker) == subject}
        self.forget(tenant, subject=subject)
        life.forgotten |= {number for number, claim, _ in theirs if claim.subject == subject}
        for name in doomed:
            life.told.pop(name, None)

    @rule(tenant=st.sampled_from(TENANTS))
    def forget_everything(self, tenant: str) -> None:
        life = self.lives[tenant]
        self.forget(tenant, everything=True)
        life.forgotten |= {number for number, _, _ in life.claims()}
        life.told.clear()
        assert self.ledgers[1].store.read(tenant, lambda view: view.facts(FactFilter(), Belief(ever=True))) == []

    def forget(self, tenant: str, **what: Any) -> None:
        self.lives[tenant].taken_back = True
        self.both(lambda ledger: forgotten(ledger, tenant, what))

    @rule(tenant=st.sampled_from(TENANTS))
    def mark(self, tenant: str) -> None:
        last = self.ledgers[0].store.read(tenant, lambda view: view.last_known())
        assume(last is not None and last not in self.lives[tenant].marks)
        assert last is not None
        self.lives[tenant].marks.append(last)

    @rule()
    def time_passes(self) -> None:
        self.clock.now += timedelta(days=1)

    @rule()
    def the_clock_is_set_back(self) -> None:
        self.clock.now -= timedelta(hours=1)

    # -- what must hold

    def changed(self) -> list[tuple[str, Life]]:
        """The tenants of whom anything became known, or was marked, since they were looked at last."""
        return [(tenant, life) for tenant, life in self.lives.items() if self.seen.get(tenant) != self.moment(tenant)]

    def moment(self, tenant: str) -> tuple[datetime | None, int]:
        last = self.ledgers[0].store.read(tenant, lambda view: view.last_known())
        return last, len(self.lives[tenant].marks)

    @invariant()
    def every_promise_is_kept(self) -> None:
        self.both_stores_give_every_read_alike()
        self.the_rows_keep_the_promises()
        self.what_was_taken_back_might_never_have_been()
        self.the_value_at_every_mark_is_that_of_the_definition()
        self.seen = {tenant: self.moment(tenant) for tenant in TENANTS}

    def both_stores_give_every_read_alike(self) -> None:
        for tenant, life in self.changed():
            one, two = (
                ledger.store.read(tenant, lambda view: everything(view, life.marks))  # noqa: B023 - called at once
                for ledger in self.ledgers
            )
            for name in one:
                assert one[name] == two[name], name

    def the_rows_keep_the_promises(self) -> None:
        for tenant, _ in self.changed():
            self.ledgers[0].store.read(tenant, check_rows)

    def what_was_taken_back_might_never_have_been(self) -> None:
        for tenant, life in self.changed():
            again = relive(life) if life.taken_back else None
            if again is not None:
                expected = again.ledger.store.read(again.tenant, believed)
                assert self.ledgers[0].store.read(tenant, believed) == expected

    def the_value_at_every_mark_is_that_of_the_definition(self) -> None:
        for tenant, life in self.changed():
            for mark in (None, *life.marks):
                self.check_cities(tenant, life, mark)

    def check_cities(self, tenant: str, life: Life, mark: datetime | None) -> None:
        rows = self.ledgers[0].store.read(tenant, all_candidates)
        settled = self.ledgers[0].store.read(tenant, lambda view: retractions(view, rows))
        for subject in SUBJECTS:
            history = [
                replace(row.assertion(), precedence=row.candidate_id)
                for row in rows
                if (row.subject, row.attribute) == (subject, "city")
                and row.source != "assistant"
                and not row.from_memory
                and (mark is None or row.known_at <= mark)
                and not (row.candidate_id in settled and (mark is None or settled[row.candidate_id] <= mark))
            ]
            self.compare(tenant, subject, history, mark)

    def compare(self, tenant: str, subject: str, history: list[Assertion], mark: datetime | None) -> None:
        for when in MOMENTS:
            where = only(subject, "city")
            found = self.ledgers[1].store.read(
                tenant,
                lambda view: view.facts(where, Belief(valid_at=when, known_at=mark)),  # noqa: B023 - called at once
            )
            assert [record.fact.identity for record in found] == [
                value for value in [value_at(history, when)] if value is not None
            ]


def forgotten(ledger: Ledger, tenant: str, what: dict[str, Any]) -> ErasureReceipt:
    """The receipt without what differs between stores: how much they scanned, and for what."""
    return replace(forget(ledger, tenant, **what), scanned_bytes=0, needles=0)


def all_candidates(view: View) -> list[CandidateRow]:
    return [row for entry in view.episodes() for row in view.candidates_of_episode(entry.episode_no)]


def retractions(view: View, rows: Iterable[CandidateRow]) -> dict[int, datetime]:
    found = [settled for row in rows for settled in view.settlements(row.key)]
    return {settled.candidate_id: settled.known_at for settled in found if settled.kind == "retract"}


def check_rows(view: View) -> None:
    """Section 4 of the design, read off the rows."""
    rows = all_candidates(view)
    for row in rows:
        assert view.decisions(row.candidate_id), "a candidate without a decision"
        assert row.identity == (None if row.value is None else identity(row.value))
    for key in {row.key for row in rows}:
        facts = view.open_facts(key)
        assert all(one.valid_to is not None and one.valid_to <= two.valid_from for one, two in pairwise(facts))
        assert sum(fact.valid_to is None for fact in facts) <= 1
        wanted = timeline(key_state(view.key_status(key)).live)
        assert [(f.valid_from, f.valid_to, f.value, f.assertion_id) for f in facts] == [
            (s.start, s.end, s.value, s.opener) for s in wanted
        ]
    for record in view.facts(FactFilter(), Belief(ever=True)):
        fact = record.fact
        assert fact.known_to is None or fact.known_from < fact.known_to


def relive(life: Life) -> Notebook | None:
    """A fresh ledger that was told only what remains; None where a hold that was confirmed would not arise."""
    book = Notebook(Ledger(InMemoryStore(), SCHEMA, clock=Clock()), Clock(), "fresh")
    out = life.gone | life.forgotten
    numbers: dict[int, int] = {}
    for position, (kind, entry) in enumerate(life.steps):
        if kind == "commit":
            remaining = [(number, replace(claim, also_in=None)) for number, claim in entry.claims if number not in out]
            said = replace(entry.said, episode_id=f"step {position}")
            receipt = book.commit(said, *(claim for _, claim in remaining))
            made = zip(remaining, receipt.decisions, strict=True)
            numbers.update({number: decision.candidate_id for (number, _), decision in made})
        elif entry not in out:
            if kind == "confirm" and numbers[entry] not in {hold.candidate.candidate_id for hold in book.holds()}:
                return None
            getattr(book.ledger, kind)(book.tenant, numbers[entry])
    return book


UNHURRIED: Final = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

TestLedgers = Ledgers.TestCase
TestLedgers.settings = settings(
    max_examples=25, stateful_step_count=15, deadline=None, derandomize=True, suppress_health_check=UNHURRIED
)


class ManyLedgers(Ledgers):
    """The same, more often and longer, and with the neighbourhoods computed by the other store."""

    NEARBY = (0, 1_000_000)


TestManyLedgers = pytest.mark.slow(ManyLedgers.TestCase)
TestManyLedgers.settings = settings(
    max_examples=300, stateful_step_count=40, deadline=None, suppress_health_check=UNHURRIED
)
