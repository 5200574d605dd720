"""What happens to facts when schemas change, episodes are read anew and subjects are forgotten."""

from datetime import UTC, datetime
from typing import Any

from sgam import Episode, Memory, MemorySchema, ScriptedBackend
from sgam.memory_store.in_memory import InMemoryStore

JUNE = datetime(2026, 6, 1, 9, tzinfo=UTC)


def schema(version: int, **attributes: dict[str, Any]) -> MemorySchema:
    return MemorySchema.from_json({"name": "life", "version": version, "types": {"person": {"attributes": attributes}}})


def says(value: str, *, current: Any = None, change: str = "new", subject: str = "ana") -> dict[str, Any]:
    update = {"evidence": f"I live in {value}.", "subject": subject, "attribute": "city", "current_value": current}
    return {"updates": [{**update, "change": change, "value": value, "when": None, "until": None}]}


CITY = {"type": "text"}
OSLO = Episode(text="I live in Oslo.", observed_at=JUNE, speaker="ana", episode_id="e1")


def test_a_fact_is_read_with_the_schema_that_it_was_written_under() -> None:
    store = InMemoryStore()
    old = Memory(store, schema(1, city=CITY, age={"type": "integer"}, mood=CITY)).tenant("t")
    old.set("ana", "age", 4)
    old.set("ana", "mood", "great")
    new = Memory(store, schema(2, city=CITY, age={"type": "text"})).tenant("t")

    assert [(fact.attribute, fact.value) for fact in new.facts(subject="ana")] == [("age", 4), ("mood", "great")]


def test_an_episode_that_is_read_anew_is_not_shown_its_own_facts() -> None:
    store, one = InMemoryStore(), schema(1, city=CITY)
    Memory(store, one, backend=ScriptedBackend([says("Oslo")])).tenant("t").remember(OSLO)
    again = Memory(store, one, backend=ScriptedBackend([says("Oslo"), "another script"])).tenant("t")
    receipt = again.remember(OSLO)
    fact = again.current("ana", "city")

    assert [decision.reason.value for decision in receipt.decisions] == ["no_value_then"]
    assert fact is not None
    assert fact.value == "Oslo"


def test_a_fact_names_the_model_that_it_came_from_though_another_read_the_episode_since() -> None:
    store, one = InMemoryStore(), schema(1, city=CITY)
    first = Memory(store, one, backend=ScriptedBackend([says("Oslo")])).tenant("t")
    receipt = first.remember(OSLO)
    [fact] = first.facts(subject="ana")
    second = Memory(store, one, backend=ScriptedBackend([{"updates": []}])).tenant("t")
    second.remember(OSLO)

    assert second.current("ana", "city") is None
    assert second.explain(fact.fact_id).extractor == receipt.extractor


def test_forgetting_a_subject_takes_what_is_in_quarantine_about_it() -> None:
    memory = Memory(
        InMemoryStore(), schema(1, city=CITY), backend=ScriptedBackend([says("Bergen", subject="margaret")])
    )
    tenant = memory.tenant("t")
    tenant.remember("Margaret Thatcherson told me: I live in Bergen.", speaker="bob", observed_at=JUNE)
    before = len(tenant.quarantined())
    tenant.forget(subject="Margaret")

    assert before == 1
    assert tenant.quarantined() == []
    assert memory.ledger.store.residue(["Thatcherson"]).found == ()
