"""A schema from typed classes and from JSON, what is refused, and what a store says to a changed one."""

from __future__ import annotations

import enum
import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import pytest
from sgam.memory_store.errors import SchemaConflict, SchemaError, UnknownAttribute
from sgam.memory_store.in_memory import InMemoryStore
from sgam.memory_store.ledger import Ledger
from sgam.memory_store.schema import Attribute, MemorySchema, MemoryType, TypeDefinition, attribute, differences
from sgam.memory_store.store import open_store


class Style(enum.Enum):
    CONCISE = "concise"
    DETAILED = "detailed"


class FrequentTraveller(MemoryType):
    """A person
    we book travel for."""

    deadline: Attribute[date] = attribute("Day by which the passport must be renewed")
    style: Attribute[Literal["concise", "detailed"]] = attribute("How long answers should be")
    tone: Attribute[Style] = attribute("The same as an Enum", confirm=True)
    allergies: Attribute[set[str]] = attribute("Foods the person cannot eat", retention="health")
    rating: Attribute[dict[str, Literal["like", "dislike"]]] = attribute("Opinion of a thing")
    home: Attribute[str] = attribute("City", on_equal_time="source_rank", ttl=timedelta(days=7), verbatim=False)
    budget: Attribute[Decimal] = attribute("Money per trip", promote_after=2, min_source="tool")
    trips: Attribute[int] = attribute("Trips a year", ttl="P1D")
    height: Attribute[float] = attribute("In metres", on_equal_time="last_recorded")
    member: Attribute[bool] = attribute("Whether in the programme")
    wakes: Attribute[time] = attribute("When the alarm rings")
    departs: Attribute[datetime] = attribute("Next departure")
    note: Attribute[str]


TYPED = MemorySchema("travel", version=3, types=[FrequentTraveller])
JSON: dict[str, Any] = {
    "name": "travel",
    "version": 3,
    "types": {
        "frequent_traveller": {
            "description": "A person we book travel for.",
            "attributes": {
                "deadline": {"type": "date", "description": "Day by which the passport must be renewed"},
                "style": {
                    "type": "enum",
                    "description": "How long answers should be",
                    "values": ["concise", "detailed"],
                },
                "tone": {
                    "type": "enum",
                    "description": "The same as an Enum",
                    "values": ["concise", "detailed"],
                    "confirm": True,
                },
                "allergies": {
                    "type": "text",
                    "description": "Foods the person cannot eat",
                    "many": "set",
                    "retention": "health",
                },
                "rating": {
                    "type": "enum",
                    "description": "Opinion of a thing",
                    "values": ["like", "dislike"],
                    "many": "map",
                },
                "home": {
                    "type": "text",
                    "description": "City",
                    "on_equal_time": "source_rank",
                    "ttl": "P7D",
                    "verbatim": False,
                },
                "budget": {
                    "type": "decimal",
                    "description": "Money per trip",
                    "promote_after": 2,
                    "min_source": "tool",
                },
                "trips": {"type": "integer", "description": "Trips a year", "ttl": "P1D"},
                "height": {"type": "number", "description": "In metres", "on_equal_time": "last_recorded"},
                "member": {"type": "boolean", "description": "Whether in the programme"},
                "wakes": {"type": "time", "description": "When the alarm rings"},
                "departs": {"type": "datetime", "description": "Next departure"},
                "note": {"type": "text", "description": ""},
            },
        }
    },
}


def minimal(**changes: Any) -> dict[str, Any]:
    """A schema of one attribute, with changes to it."""
    return {"name": "s", "version": 1, "types": {"person": {"attributes": {"home": {"type": "text", **changes}}}}}


class TestForms:
    def test_typed_classes_and_json_give_the_same_schema(self) -> None:
        assert MemorySchema.from_json(JSON) == TYPED

    def test_the_json_form_leaves_out_defaults(self) -> None:
        assert TYPED.to_dict() == JSON

    def test_a_schema_survives_the_way_to_json_and_back(self) -> None:
        assert MemorySchema.from_json(TYPED.to_json(indent=2)) == TYPED
        assert hash(MemorySchema.from_json(TYPED.to_json().encode())) == hash(TYPED)

    def test_it_is_read_from_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "schema.json").write_text(TYPED.to_json(), encoding="utf-8")

        assert MemorySchema.from_json(tmp_path / "schema.json") == TYPED

    def test_it_may_list_sources_of_its_own(self) -> None:
        data = {**minimal(min_source="press"), "sources": ["registry", "press", "blog"]}
        schema = MemorySchema.from_json(data)

        assert [schema.rank(name) for name in ("registry", "press", "blog")] == [3, 2, 1]
        assert schema.to_dict()["sources"] == ["registry", "press", "blog"]

    def test_a_source_that_it_does_not_list_has_no_rank(self) -> None:
        with pytest.raises(SchemaError, match="source 'gossip' is none of user_confirmed, user"):
            TYPED.rank("gossip")

    def test_definitions_and_classes_may_stand_together(self) -> None:
        definition = TypeDefinition(
            name="pet", description="", attributes={"name": Attribute(name="name", memory_type="pet")}
        )
        schema = MemorySchema("s", types=[FrequentTraveller, definition])

        assert list(schema.types) == ["frequent_traveller", "pet"]

    def test_a_class_may_be_named_otherwise(self) -> None:
        class Person(MemoryType, name="client"):
            home: Attribute[str]

        assert Person.memory_type == "client"
        assert str(Person.home) == "client.home"


class TestReferences:
    def test_a_class_attribute_is_a_typed_reference(self) -> None:
        found = TYPED.attribute(FrequentTraveller.deadline)

        assert (found.name, found.memory_type, found.type.name) == ("deadline", "frequent_traveller", "date")

    @pytest.mark.parametrize("name", ["deadline", "frequent_traveller.deadline"])
    def test_a_name_is_one_too(self, name: str) -> None:
        assert TYPED.attribute(name) == TYPED.attribute(FrequentTraveller.deadline)

    def test_an_unknown_name_is_an_error_that_lists_the_known(self) -> None:
        with pytest.raises(UnknownAttribute, match="no attribute 'deadlin'") as caught:
            TYPED.attribute("deadlin")

        assert "frequent_traveller.deadline" in caught.value.hint

    def test_a_name_of_two_types_must_say_which(self) -> None:
        both = MemorySchema.from_json(
            {
                "name": "s",
                "version": 1,
                "types": {kind: {"attributes": {"name": {"type": "text"}}} for kind in ("person", "pet")},
            }
        )

        assert str(both.attribute("pet.name")) == "pet.name"
        with pytest.raises(UnknownAttribute, match="ambiguous"):
            both.attribute("name")

    def test_an_enum_attribute_reads_back_as_its_member(self) -> None:
        assert FrequentTraveller.tone.value('"concise"') is Style.CONCISE
        assert FrequentTraveller.style.value('"concise"') == "concise"


JSON_MISTAKES: list[tuple[Any, str]] = [
    ("{", "schema: Invalid JSON"),
    ("[]", "schema: "),
    ({}, "name: Field required (and 2 more)"),
    ({**minimal(), "name": "two words"}, "name: expected letters"),
    ({**minimal(), "name": ""}, "name: expected letters"),
    ({**minimal(), "version": 0}, "version: expected 1 to 1000000000, got 0"),
    ({**minimal(), "version": "1"}, "version: "),
    ({**minimal(), "types": {}}, "types: a schema needs at least one memory type"),
    ({**minimal(), "typo": 1}, "typo: Extra inputs are not permitted"),
    ({**minimal(), "sources": []}, "min_source is one of"),
    ({"name": "s", "version": 1, "types": {"person": {"attributes": {}}}}, "types.person: a memory type needs"),
    ({"name": "s", "version": 1, "types": {"a b": {"attributes": {"x": {"type": "text"}}}}}, "types: 'a b' is no name"),
    ({"name": "s", "version": 1, "types": {"p": {"attributes": {"a.b": {"type": "text"}}}}}, "p.a.b: an attribute's"),
    (minimal(type="string"), "types.person.attributes.home.type: "),
    (minimal(many="list"), "types.person.attributes.home.many: "),
    (minimal(kind="x"), "types.person.attributes.home.kind: Extra inputs"),
    (minimal(type="enum"), "person.home: an enum needs values"),
    (minimal(type="enum", values=["a", "a"]), "person.home: the values of an enum must differ"),
    (minimal(type="enum", values=["mW", "MW"]), "person.home: the values of an enum must differ"),
    (minimal(values=["a"]), "person.home: only an enum has values"),
    (minimal(promote_after=0), "person.home: promote_after is 1 or more"),
    (minimal(ttl="P0D"), "person.home: ttl must be longer"),
    (minimal(ttl="-P1D"), "person.home: ttl must be longer"),
    (minimal(ttl="a week"), "types.person.attributes.home.ttl: "),
    (minimal(min_source="gossip"), "person.home: min_source is one of"),
    (minimal(on_equal_time="newest"), "types.person.attributes.home.on_equal_time: "),
]


class TestMistakes:
    @pytest.mark.parametrize(("data", "message"), JSON_MISTAKES, ids=[message for _, message in JSON_MISTAKES])
    def test_a_mistake_in_json_is_one_line_that_names_the_place(self, data: Any, message: str) -> None:
        with pytest.raises(SchemaError) as caught:
            MemorySchema.from_json(data)

        assert message in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_two_types_of_one_name_are_refused(self) -> None:
        class Person(MemoryType):
            home: Attribute[str]

        class Other(MemoryType, name="person"):
            work: Attribute[str]

        with pytest.raises(SchemaError, match="types: person is declared twice"):
            MemorySchema("s", types=[Person, Other])

    def test_two_sources_of_one_name_are_refused(self) -> None:
        with pytest.raises(SchemaError, match="sources: "):
            MemorySchema.from_json({**minimal(), "sources": ["user", "document", "user"]})

    @pytest.mark.parametrize("missing", ["folder/schema.json", "."])
    def test_a_file_that_cannot_be_read_is_named(self, tmp_path: Path, missing: str) -> None:
        with pytest.raises(SchemaError, match="cannot read the schema"):
            MemorySchema.from_json(tmp_path / missing)

    def test_a_file_in_another_encoding_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "schema.json").write_bytes('{"name": "é"}'.encode("latin-1"))

        with pytest.raises(SchemaError, match="cannot read the schema"):
            MemorySchema.from_json(tmp_path / "schema.json")

    @pytest.mark.parametrize("hint", [list[str], bytes, dict[int, str], str | None, set[bytes]], ids=str)
    def test_a_class_with_a_type_that_is_no_value_type_is_refused(self, hint: Any) -> None:
        with pytest.raises(SchemaError, match=r"^person\.home: "):
            type("Person", (MemoryType,), {"__annotations__": {"home": Attribute[hint]}})

    def test_an_annotation_that_cannot_be_resolved_is_named(self) -> None:
        with pytest.raises(SchemaError, match="Person: cannot resolve an annotation"):
            type("Person", (MemoryType,), {"__annotations__": {"home": "Attribute[Nowhere]"}})

    def test_a_duration_that_is_none_is_refused_where_it_is_written(self) -> None:
        with pytest.raises(SchemaError, match="ttl: expected an ISO 8601 duration"):
            attribute("", ttl="a week")


class TestJsonSchema:
    def test_the_published_json_schema_knows_every_field_of_the_form(self) -> None:
        published = MemorySchema.json_schema()
        fields = published["$defs"]["_AttributeJson"]["properties"]

        assert set(published["properties"]) == {"name", "version", "types", "sources"}
        assert set(fields) == {
            "type",
            "description",
            "values",
            "many",
            "on_equal_time",
            "confirm",
            "promote_after",
            "min_source",
            "ttl",
            "verbatim",
            "retention",
            "min_confidence",
        }

    def test_it_is_json_itself_and_allows_nothing_else(self) -> None:
        published = json.loads(json.dumps(MemorySchema.json_schema()))

        assert published["additionalProperties"] is False
        assert published["required"] == ["name", "version", "types"]


class TestDifferences:
    def test_a_schema_does_not_differ_from_itself(self) -> None:
        assert differences(TYPED, MemorySchema.from_json(JSON)) == []

    def test_descriptions_do_not_count(self) -> None:
        assert differences(MemorySchema.from_json(minimal()), MemorySchema.from_json(minimal(description="x"))) == []

    def test_each_difference_is_a_line(self) -> None:
        new = minimal(type="integer", ttl="P1D", confirm=True)
        new["types"]["pet"] = {"attributes": {"name": {"type": "text"}}}
        new["sources"] = ["user", "document"]

        assert differences(MemorySchema.from_json(minimal()), MemorySchema.from_json(new)) == [
            "person.home: confirm None became True",
            "person.home: ttl None became 'P1D'",
            "person.home: type 'text' became 'integer'",
            "pet.name was added",
            "sources: ['user_confirmed', 'user', 'tool', 'document', 'assistant'] became ['user', 'document']",
            "type pet was added",
        ]

    def test_what_is_gone_is_removed(self) -> None:
        old = minimal()
        old["types"]["pet"] = {"attributes": {"name": {"type": "text"}}}

        assert differences(MemorySchema.from_json(old), MemorySchema.from_json(minimal())) == [
            "pet.name was removed",
            "type pet was removed",
        ]


class TestInAStore:
    @pytest.mark.parametrize("url", ["memory:", "sqlite"])
    def test_other_rules_under_the_same_version_are_a_conflict_that_names_them(self, url: str, tmp_path: Path) -> None:
        store = open_store(f"sqlite:///{tmp_path / 'a.db'}" if url == "sqlite" else url)
        Ledger(store, MemorySchema.from_json(minimal()))

        with pytest.raises(SchemaConflict, match=r"schema s version 1 differs.*person.home: confirm None became True"):
            Ledger(store, MemorySchema.from_json(minimal(confirm=True)))
        store.close()

    def test_other_descriptions_are_fine(self) -> None:
        store = InMemoryStore()
        Ledger(store, MemorySchema.from_json(minimal()))
        Ledger(store, MemorySchema.from_json(minimal(description="Where the person lives")))

        assert len(store.schemas()) == 1

    def test_another_version_is_kept_beside_the_first(self) -> None:
        store = InMemoryStore()
        Ledger(store, MemorySchema.from_json(minimal()))
        Ledger(store, MemorySchema.from_json({**minimal(confirm=True), "version": 2}))

        assert [(name, version) for name, version, _ in store.schemas()] == [("s", 1), ("s", 2)]
