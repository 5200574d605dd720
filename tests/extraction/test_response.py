from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from sgam.extraction.backends.local.grammar import translate
from sgam.extraction.response import FIELDS, NEW_SUBJECT, Stored, response_schema
from sgam.memory_store.model import Key
from sgam.memory_store.schema import MemorySchema

from .conftest import SCHEMA, key, offer, said

QUOTE = {"type": "string", "x-substring": True}
NULL = {"type": "null"}


def full_members(attribute: str, **more: Any) -> list[dict[str, Any]]:
    """The properties of the members of one attribute."""
    text = more.pop("text", "I live in Oslo.")
    schema = response_schema(offer(said(text), attributes=(SCHEMA.attribute(attribute),), **more))
    return [member["properties"] for member in schema["properties"]["updates"]["items"]["anyOf"]]


def members(attribute: str, **more: Any) -> list[dict[str, Any]]:
    """The same without what would stand there for any store."""
    return [without_state(member) for member in full_members(attribute, **more)]


def without_state(schema: Any) -> Any:
    if isinstance(schema, list):
        return [without_state(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: without_state(part) for name, part in schema.items() if name != "x-state"}


class TestShape:
    def test_every_member_lists_its_fields_in_order_and_requires_them_all(self) -> None:
        stored = {key("city"): Stored(value='"Oslo"'), key("allergies", "nuts"): Stored(value='"nuts"', item="nuts")}
        schema = response_schema(offer(said("Hi"), stored=stored))

        for member in schema["properties"]["updates"]["items"]["anyOf"]:
            names = list(member["properties"])
            assert names == member["required"] == [name for name in FIELDS if name in names]
            assert set(FIELDS) - set(names) <= {"item"}
            assert member["additionalProperties"] is False

    def test_the_number_of_updates_is_bounded(self) -> None:
        updates = response_schema(offer(said("Hi"), max_updates=3))["properties"]["updates"]

        assert (updates["type"], updates["maxItems"]) == ("array", 3)

    def test_equal_offers_give_equal_text(self) -> None:
        stored = {key("city"): Stored(value='"Oslo"'), key("ratings", "tea"): Stored(value='"like"', item="tea")}
        turned = dict(reversed(list(stored.items())))
        one, other = (response_schema(offer(said("Hi"), stored=rows)) for rows in (stored, turned))

        assert json.dumps(one) == json.dumps(other)

    @pytest.mark.parametrize("text", ["Hi", "Yes."])
    def test_a_local_model_can_be_held_to_it(self, text: str) -> None:
        stored = {
            key("height"): Stored(value="1.7"),
            key("vegetarian"): Stored(value="true"),
            key("ratings", "tea"): Stored(value='"like"', item="Tea"),
        }
        made = offer(said(text), stored=stored, context=[said("Rome?")], subjects=("mira", "leo"), new_subjects=True)

        assert translate(response_schema(made), text)


class TestNothingOnRecord:
    def test_a_value_comes_with_new_and_null_with_revoke(self) -> None:
        new, revoke = members("city")

        assert (new["current_value"], new["change"], new["value"]) == (NULL, {"const": "new"}, QUOTE)
        assert (revoke["current_value"], revoke["change"], revoke["value"]) == (NULL, {"const": "revoke"}, NULL)
        assert new["subject"] == {"enum": ["mira"]}

    @pytest.mark.parametrize(
        ("attribute", "value"),
        [
            ("style", {"enum": ["concise", "detailed"]}),
            ("vegetarian", {"type": "boolean"}),
            ("mood", {"type": "string"}),
            ("city", QUOTE),
            ("deadline", QUOTE),
            ("children", QUOTE),
        ],
    )
    def test_closed_sets_are_chosen_and_everything_else_is_quoted(self, attribute: str, value: object) -> None:
        assert members(attribute)[0]["value"] == value

    def test_an_entry_of_a_set_is_its_own_value(self) -> None:
        [entry] = members("allergies")

        assert (entry["item"], entry["value"], entry["change"]) == (QUOTE, NULL, {"enum": ["new", "revoke"]})

    def test_an_entry_of_a_map_has_a_name_and_a_value(self) -> None:
        new, _ = members("ratings")

        assert (new["item"], new["value"]) == (QUOTE, {"enum": ["like", "dislike"]})

    def test_a_new_subject_is_offered_on_demand(self) -> None:
        [new, _] = members("city", new_subjects=True)

        assert new["subject"] == {"anyOf": [{"enum": ["mira"]}, {"type": "string", "pattern": NEW_SUBJECT}]}


class TestOnRecord:
    def test_the_value_on_record_is_a_constant(self) -> None:
        update, rest = members("city", stored={key("city"): Stored(value='"Oslo"')})

        assert update["current_value"] == rest["current_value"] == {"const": "Oslo"}
        assert (update["change"], update["value"]) == ({"const": "update"}, QUOTE)
        assert (rest["change"], rest["value"]) == ({"enum": ["revoke", "no_change"]}, NULL)

    def test_other_subjects_keep_a_member_for_nothing_on_record(self) -> None:
        stored = {key("city"): Stored(value='"Oslo"')}
        got = members("city", stored=stored, subjects=("mira", "leo"))

        assert [member["subject"] for member in got] == [{"const": "mira"}] * 2 + [{"enum": ["leo"]}] * 2

    def test_each_entry_of_many_has_a_member_of_its_own_beside_that_for_new_ones(self) -> None:
        stored = {key("allergies", "nuts"): Stored(value='"Nuts"', item="Nuts")}
        old, new = members("allergies", stored=stored)

        assert (old["item"], old["current_value"], old["value"]) == ({"const": "Nuts"}, {"const": "Nuts"}, NULL)
        assert old["change"] == {"enum": ["revoke", "no_change"]}
        assert new["item"] == QUOTE


class TestAnyStore:
    def general(self, attribute: str, **more: Any) -> set[str]:
        """The members as they would be for any store."""
        return {
            json.dumps({name: part.get("x-state", part) for name, part in member.items() if name != "value"})
            for member in full_members(attribute, **more)
        }

    @pytest.mark.parametrize("attribute", ["city", "allergies", "ratings"])
    def test_what_depends_on_the_store_says_what_it_is_without_it(self, attribute: str) -> None:
        stored = {key(attribute, "x" if attribute != "city" else ""): Stored(value='"x"', item="x")}

        assert self.general(attribute, stored=stored) == self.general(attribute)
        assert self.general(attribute, subjects=("mira", "leo")) == self.general(attribute)


class TestSubjects:
    SCHEMA = MemorySchema.from_json(
        {
            "name": "trip",
            "version": 1,
            "types": {
                "traveller": {"attributes": {"name": {"type": "text"}, "city": {"type": "text"}}},
                "hotel": {"attributes": {"name": {"type": "text"}, "stars": {"type": "integer"}}},
            },
        }
    )

    def test_a_subject_is_offered_for_attributes_of_its_type_and_the_speaker_for_all(self) -> None:
        types = {"mira": frozenset({"traveller"}), "ritz": frozenset({"hotel"})}
        made = replace(offer(said("Hi"), subjects=("mira", "ritz", "leo"), types=types), schema=self.SCHEMA)

        assert made.subjects_of(self.SCHEMA.attribute("stars")) == ["mira", "ritz", "leo"]
        assert made.subjects_of(self.SCHEMA.attribute("city")) == ["mira", "leo"]

    def test_an_attribute_is_named_alone_where_that_is_unique(self) -> None:
        made = replace(offer(said("Hi")), schema=self.SCHEMA)

        assert made.name(self.SCHEMA.attribute("city")) == "city"
        assert made.name(self.SCHEMA.attribute("hotel.name")) == "hotel.name"


class TestContext:
    def test_what_is_affirmed_may_be_quoted_from_a_turn_before(self) -> None:
        context = [said("Is Oslo your home?", source="assistant", speaker="bot")]

        assert members("city", text="Yes.", context=context)[0]["value"] == {"type": "string", "x-substring": "turns"}
        assert members("city", text="Thanks.", context=context)[0]["value"] == QUOTE
        assert members("city", text="Yes.")[0]["value"] == QUOTE

    def test_evidence_is_always_quoted_from_the_episode(self) -> None:
        context = [said("Is Oslo your home?", source="assistant", speaker="bot")]

        assert members("city", text="Yes.", context=context)[0]["evidence"] == QUOTE


def test_a_key_with_the_name_of_another_type_is_not_on_record() -> None:
    other = {Key("hotel", "mira", "city"): Stored(value='"Rome"')}

    assert len(members("city", stored=other)) == 2
