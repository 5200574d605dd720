import asyncio
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
from sgam import AsyncMemory, Attribute, Episode, Memory, MemorySchema, MemoryType, Proposal, ScriptedBackend, attribute
from sgam.agent.async_memory import AsyncTenant
from sgam.agent.memory import Tenant
from sgam.memory_store.errors import (
    BackendError,
    BackendUnavailable,
    EpisodeDecided,
    InvalidInput,
    SchemaError,
    UnknownAttribute,
    UnknownRecord,
)
from sgam.memory_store.model import DecisionKind

JUNE = datetime(2026, 6, 1, 9, tzinfo=UTC)


class Traveller(MemoryType):
    """A person we book travel for."""

    passport_deadline: Attribute[date] = attribute("Day by which the passport must be renewed")
    answer_style: Attribute[Literal["concise", "detailed"]] = attribute("How long answers should be")
    allergies: Attribute[set[str]] = attribute("Foods the person cannot eat")
    rating: Attribute[dict[str, Literal["like", "dislike"]]] = attribute("Opinion of a thing")
    iban: Attribute[str] = attribute("Account", confirm=True)


SCHEMA = MemorySchema("travel", version=1, types=[Traveller])


def update(text: str, attr: str, value: Any, *, current: Any = None, change: str = "new") -> dict[str, Any]:
    fields = {"evidence": text, "subject": "mira", "attribute": attr, "current_value": current}
    return {"updates": [{**fields, "change": change, "value": value, "when": None, "until": None}]}


def opened(*answers: Any, now: datetime = JUNE + timedelta(days=30)) -> Memory:
    return Memory.open("memory:", schema=SCHEMA, backend=ScriptedBackend(answers), clock=lambda: now)


DEADLINE = "My passport deadline is July 15."
MOVED = "My passport deadline moved to June 30."
TWICE = (
    update(DEADLINE, "passport_deadline", "July 15"),
    update(MOVED, "passport_deadline", "June 30", current="2026-07-15", change="update"),
)


class TestRemember:
    def test_a_correction_replaces_the_value_and_keeps_the_history(self) -> None:
        acme = opened(*TWICE).tenant("acme")
        acme.remember(DEADLINE, speaker="Mira", observed_at=JUNE)
        receipt = acme.remember(MOVED, speaker="Mira", observed_at=JUNE + timedelta(days=2))
        now = acme.current("mira", Traveller.passport_deadline)
        then = acme.at("mira", "passport_deadline", valid_at=JUNE + timedelta(days=1))

        assert [decision.decision for decision in receipt.decisions] == [DecisionKind.SUPERSEDE]
        assert now is not None
        assert then is not None
        assert (now.value, now.quote, now.speaker) == (date(2026, 6, 30), MOVED, "Mira")
        assert (then.value, now.supersedes_fact_id) == (date(2026, 7, 15), then.fact_id)

    def test_the_same_episode_again_asks_no_model(self) -> None:
        memory = opened(TWICE[0])
        acme = memory.tenant("acme")
        first = acme.remember(DEADLINE, speaker="mira", observed_at=JUNE)
        again = acme.remember(DEADLINE, speaker="mira", observed_at=JUNE)

        assert again == first

    def test_another_tenant_sees_nothing(self) -> None:
        memory = opened(TWICE[0])
        memory.tenant("acme").remember(DEADLINE, speaker="mira", observed_at=JUNE)

        assert memory.tenant("acm").current("mira", "passport_deadline") is None

    def test_a_failed_episode_is_kept_and_can_be_tried_again(self) -> None:
        acme = opened(BackendError("the server is away"), TWICE[0]).tenant("acme")
        failed = acme.remember(DEADLINE, speaker="mira", observed_at=JUNE)
        again = acme.retry(failed.episode_id)

        assert (failed.status, again.status) == ("failed", "complete")
        assert acme.current("mira", "passport_deadline") is not None

    def test_a_captured_episode_waits_for_a_model(self) -> None:
        acme = opened(TWICE[0]).tenant("acme")
        episode_id = acme.capture(Episode(text=DEADLINE, observed_at=JUNE, speaker="mira"))
        before = acme.current("mira", "passport_deadline")
        acme.retry(episode_id)

        assert before is None
        assert acme.current("mira", "passport_deadline") is not None

    def test_without_a_model_it_says_so(self) -> None:
        acme = Memory.open("memory:", schema=SCHEMA).tenant("acme")

        with pytest.raises(BackendUnavailable):
            acme.remember(DEADLINE)

    def test_a_callers_candidates_are_final(self) -> None:
        acme = opened(TWICE[0]).tenant("acme")
        episode = Episode(text=DEADLINE, observed_at=JUNE, speaker="mira")
        acme.commit(episode, [Proposal(subject="mira", attribute="iban", value="July", quote="July")])

        with pytest.raises(EpisodeDecided):
            acme.remember(episode)


class TestRead:
    def test_many_values_are_read_by_item_or_all(self) -> None:
        acme = opened().tenant("acme")
        acme.set("mira", Traveller.allergies, "Nuts")
        acme.set("mira", Traveller.rating, "like", item="Jazz")
        acme.set("mira", Traveller.rating, "dislike", item="Opera", observed_at=JUNE)
        acme.set("mira", Traveller.rating, None, item="opera", observed_at=JUNE + timedelta(days=30, minutes=-1))
        jazz = acme.current("mira", "rating", item="jazz")

        assert [fact.value for fact in acme.values("mira", Traveller.allergies)] == ["Nuts"]
        assert [(fact.item, fact.value) for fact in acme.values("mira", Traveller.rating)] == [("Jazz", "like")]
        assert jazz is not None
        assert jazz.item == "Jazz"

    def test_an_attribute_that_holds_many_wants_an_item(self) -> None:
        with pytest.raises(InvalidInput):
            opened().tenant("acme").current("mira", Traveller.allergies)

    def test_a_naive_time_is_refused(self) -> None:
        with pytest.raises(InvalidInput):
            opened().tenant("acme").at("mira", "iban", valid_at=datetime(2026, 6, 1))  # noqa: DTZ001

    def test_an_unknown_attribute_is_named(self) -> None:
        with pytest.raises(UnknownAttribute, match="shoe_size"):
            opened().tenant("acme").current("mira", "shoe_size")

    def test_context_cites_the_current_facts_of_a_subject(self) -> None:
        acme = opened(*TWICE).tenant("acme")
        acme.remember(DEADLINE, speaker="mira", observed_at=JUNE)
        acme.remember(MOVED, speaker="mira", observed_at=JUNE + timedelta(days=2))
        text = str(acme.context("When is Mira's deadline?"))

        assert "mira.passport_deadline = 2026-06-30" in text
        assert "2026-07-15" not in text

    def test_a_fact_is_explained_by_its_words_and_decisions(self) -> None:
        acme = opened(TWICE[0]).tenant("acme")
        acme.remember(DEADLINE, speaker="mira", observed_at=JUNE)
        fact = acme.current("mira", "passport_deadline")
        assert fact is not None
        told = acme.explain(fact.fact_id)

        assert told.episode is not None
        assert told.episode.text == DEADLINE
        assert next(span.quote for span in told.evidence) == DEADLINE
        assert [decision.reason.value for decision in told.decisions] == ["no_value_then"]
        assert told.extractor.startswith("scripted@")

    def test_nothing_is_explained_that_is_not_there(self) -> None:
        with pytest.raises(UnknownRecord):
            opened().tenant("acme").explain(7)


class TestSettle:
    def test_a_sensitive_value_counts_once_it_is_confirmed(self) -> None:
        acme = opened().tenant("acme")
        acme.set("mira", "iban", "XX12")
        [hold] = acme.holds(subject="Mira")
        before = acme.current("mira", "iban")
        acme.confirm(hold.hold_id, by="mira")
        after = acme.current("mira", "iban")

        assert before is None
        assert after is not None
        assert after.value == "XX12"
        assert acme.holds() == []

    def test_what_was_retracted_is_still_read_at_an_earlier_known_time(self) -> None:
        acme = opened().tenant("acme")
        receipt = acme.set("mira", "answer_style", "concise")
        mark = acme.known_now()
        acme.retract(episode_id=receipt.episode_id)
        then = acme.at("mira", "answer_style", known_at=mark)

        assert acme.current("mira", "answer_style") is None
        assert then is not None
        assert then.value == "concise"

    def test_what_was_forgotten_is_read_at_no_known_time(self) -> None:
        acme = opened().tenant("acme")
        acme.set("mira", "answer_style", "concise")
        mark = acme.known_now()
        receipt = acme.forget(subject="mira")

        assert acme.at("mira", "answer_style", known_at=mark) is None
        assert receipt.removed["facts"] == 1


class TestOpen:
    def test_a_store_remembers_its_schema(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path / 'memory.db'}"
        with Memory.open(url, schema=SCHEMA) as memory:
            memory.tenant("acme").set("mira", "answer_style", "concise")
        with Memory.open(url) as memory:
            fact = memory.tenant("acme").current("mira", "answer_style")

        assert fact is not None
        assert fact.value == "concise"

    def test_an_empty_store_wants_a_schema(self) -> None:
        with pytest.raises(SchemaError):
            Memory.open("memory:")


class TestAsync:
    def test_the_same_calls_can_be_awaited(self, tmp_path: Path) -> None:
        async def talk() -> object:
            url = f"sqlite:///{tmp_path / 'memory.db'}"
            async with await AsyncMemory.open(url, schema=SCHEMA, backend=ScriptedBackend(TWICE)) as memory:
                acme = memory.tenant("acme")
                await acme.remember(DEADLINE, speaker="mira", observed_at=JUNE)
                fact = await acme.current("mira", "passport_deadline")
                return fact.value if fact else None

        assert asyncio.run(talk()) == date(2026, 7, 15)

    def test_every_call_is_there(self) -> None:
        calls = {name for name in vars(Tenant) if not name.startswith("_")}

        assert calls <= set(vars(AsyncTenant)) | {"tenant_id"}
