from __future__ import annotations

import json
import re

from sgam.extraction.answer import Item, parse
from sgam.extraction.response import FIELDS
from sgam.extraction.shots import MAX_SHOTS, shots
from sgam.memory_store.schema import MemorySchema

from .conftest import SCHEMA

SHOTS = shots([(attr.name, attr) for attr in SCHEMA.attributes()])


def test_every_answer_is_a_good_answer_to_its_question() -> None:
    for question, answer in SHOTS:
        got = parse(answer)

        assert got.status == "complete"
        for entry in got.entries:
            assert isinstance(entry, Item)
            assert entry.fields["evidence"] in question
            assert list(entry.fields) == [name for name in FIELDS if name in entry.fields]


def test_each_kind_of_value_is_shown_before_one_is_shown_twice() -> None:
    names = {update["attribute"] for _, answer in SHOTS for update in json.loads(answer)["updates"]}

    assert names == {"deadline", "style", "city", "children"}
    assert len(names) == MAX_SHOTS


def test_some_questions_have_nothing_to_say() -> None:
    assert '{"updates": []}' in [answer for _, answer in SHOTS]


def test_nothing_in_them_is_a_number_or_a_date() -> None:
    assert not re.search(r"\d", json.dumps(SHOTS))


def test_a_schema_of_sets_alone_has_examples_too() -> None:
    types = {"person": {"attributes": {"allergies": {"type": "text", "many": "set"}}}}
    [(_, attr)] = attributes = [
        (attr.name, attr) for attr in MemorySchema.from_json({"name": "one", "version": 1, "types": types}).attributes()
    ]
    [update] = json.loads(shots(attributes)[0][1])["updates"]

    assert attr.many == "set"
    assert (update["item"], update["value"], update["change"]) == ("that place", None, "new")
