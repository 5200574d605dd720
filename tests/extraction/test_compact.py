"""The form of prompt and schema for a very small model."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sgam import Episode, MemorySchema
from sgam.extraction.backends.base import Completion, Request
from sgam.extraction.extractor import ExtractionTask, Extractor

SCHEMA = MemorySchema.from_json(
    {
        "name": "small",
        "version": 1,
        "types": {"person": {"attributes": {"city": {"type": "text"}, "nothing": {"type": "boolean"}}}},
    }
)
TASK = ExtractionTask(
    episode=Episode(text="I live in Oslo.", observed_at=datetime(2026, 6, 1, tzinfo=UTC), speaker="Mira")
)


class Small:
    """A compact model that gives one answer."""

    name = "small"
    compact = True

    def __init__(self, *updates: dict[str, Any]) -> None:
        self.answer = json.dumps({"updates": updates})
        self.requests: list[Request] = []

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        self.requests += requests
        return [Completion(text=self.answer) for _ in requests]


DECLINES = {"evidence": "I live in Oslo.", "subject": "mira", "attribute": "nothing"}


def test_that_there_is_nothing_to_say_is_neither_an_update_nor_a_loss() -> None:
    outcome = Extractor(SCHEMA, Small(DECLINES)).extract(TASK)

    assert (outcome.status, outcome.candidates, outcome.quarantined) == ("complete", (), ())


def test_a_model_that_was_not_offered_to_decline_may_not() -> None:
    backend = Small(DECLINES)
    backend.compact = False
    outcome = Extractor(SCHEMA, backend).extract(TASK)

    assert [row.reason.value for row in outcome.quarantined] == ["missing_field"]


def test_it_is_asked_for_one_update_or_a_refusal() -> None:
    backend = Small(DECLINES)
    Extractor(SCHEMA, backend).extract(TASK)
    updates = backend.requests[0].schema["properties"]["updates"]

    assert (updates["minItems"], updates["maxItems"]) == (1, 1)
    assert updates["items"]["anyOf"][-1]["required"] == ["evidence", "subject", "attribute"]


def test_an_attribute_called_nothing_is_named_with_its_type() -> None:
    backend = Small(DECLINES)
    Extractor(SCHEMA, backend).extract(TASK)
    members = backend.requests[0].schema["properties"]["updates"]["items"]["anyOf"]
    names = {member["properties"]["attribute"]["const"] for member in members[:-1]}

    assert names == {"city", "person.nothing"}


def test_the_examples_are_about_the_speaker_and_come_before_the_bare_message() -> None:
    backend = Small(DECLINES)
    Extractor(SCHEMA, backend).extract(TASK)
    messages = backend.requests[0].messages
    answers = [json.loads(message.content) for message in messages if message.role == "assistant"]

    assert messages[-1].content == "I live in Oslo."
    assert {update["subject"] for answer in answers for update in answer["updates"]} == {"mira"}
