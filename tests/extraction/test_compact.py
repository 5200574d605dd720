"""The form of the question to a model that was trained on it."""

import json
from collections.abc import Sequence

from sgam.extraction.backends.base import Completion, Request
from sgam.extraction.extractor import Extractor

from .conftest import SCHEMA, said, task


class Small:
    """A compact model that has nothing to say."""

    name = "small"
    compact = True
    repairs = False

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        self.requests += requests
        return [Completion(text=json.dumps({"updates": []})) for _ in requests]


def test_it_is_asked_without_instructions_and_examples() -> None:
    backend = Small()
    Extractor(SCHEMA, backend).extract(task("I live in Oslo."))
    system, question = backend.requests[0].messages

    assert system.content.startswith("Facts to remember:\n- deadline (date): Day by which")
    assert question.content == 'mira says: "I live in Oslo."'


def test_one_turn_before_is_shown() -> None:
    backend = Small()
    turns = [said(f"turn {number}", speaker="bot") for number in range(3)]
    Extractor(SCHEMA, backend).extract(task("Hi", context=turns))

    assert backend.requests[0].messages[-1].content == 'Earlier, bot said: "turn 2"\nmira says: "Hi"'
