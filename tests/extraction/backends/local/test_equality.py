"""However requests are decoded, the answers are those of the plain loop."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from sgam.extraction.backends.base import Budget, Completion, Message, Request
from sgam.extraction.backends.local import LocalBackend

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("xgrammar")

QUOTE = {"type": "string", "x-substring": True}
NULL = {"type": "null"}
TIME = {"anyOf": [QUOTE, NULL]}
WORDS = [
    "my",
    "deadline",
    "is",
    "July",
    "15",
    "and",
    "she",
    "said",
    '"yes"',
    "to",
    "Zoé",
    "in",
    "Bergen",
    "since",
    "2020",
    "😀",
    "not",
    "until\nMonday,",
    "I'd",
    "say",
    "no",
]
VALUES: list[dict[str, Any]] = [
    QUOTE,
    {"type": "boolean"},
    {"enum": ["concise", "detailed"]},
    {"type": "integer"},
    NULL,
]
CASES = 20
MANY = 240


def record(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def member(rng: random.Random, name: str) -> dict[str, Any]:
    changes: list[dict[str, Any]] = [{"const": "new"}, {"enum": ["new", "revoke"]}]
    return record(
        evidence=QUOTE,
        attribute={"const": name},
        change=rng.choice(changes),
        value=rng.choice(VALUES),
        when=TIME,
        until=TIME,
    )


def schema(rng: random.Random) -> dict[str, Any]:
    names = rng.sample(["deadline", "city", "style", "children", "mood"], rng.randint(1, 4))
    items = {"anyOf": [member(rng, name) for name in names]}
    return record(
        updates={"type": "array", "minItems": rng.randint(0, 1), "maxItems": rng.randint(1, 3), "items": items}
    )


def requests(count: int, **budget: Any) -> list[Request]:
    rng = random.Random(5)
    schemas = [schema(rng) for _ in range(12)]
    found = []
    for _ in range(count):
        chosen, source = rng.choice(schemas), " ".join(rng.choices(WORDS, k=rng.randint(1, 14)))
        system = f"Extract {len(str(chosen))} facts. " * rng.choice([1, 1, 12])
        messages = (Message(role="system", content=system), Message(role="user", content=source))
        limits = Budget(**{"tokens": rng.choice([90, 40, 200]), **budget})
        found.append(Request(messages=messages, schema=chosen, source=source, budget=limits))
    return found


def answers(model: Path, asked: list[Request], **settings: Any) -> list[Completion]:
    return LocalBackend(model, dtype="float64", **settings).complete(asked)


def told(found: list[Completion]) -> list[tuple[Any, ...]]:
    """All of an answer but the seconds; probabilities to nine places."""
    return [
        (
            answer.text,
            answer.finish,
            answer.usage.completion_tokens,
            round(answer.another, 9),
            [(round(one.update, 9), round(one.change, 9), round(one.value, 9)) for one in answer.confidence],
        )
        for answer in found
    ]


@pytest.fixture(scope="module")
def plain(tiny_model: Path) -> list[Completion]:
    return answers(tiny_model, requests(CASES), batch_size=1, drafts=False, reuse_prefix=False)


@pytest.mark.parametrize(
    "settings",
    [
        {"batch_size": 1},
        {"batch_size": 4},
        {"batch_size": 16},
        {"batch_size": 16, "drafts": False},
        {"batch_size": 3, "reuse_prefix": False},
    ],
    ids=str,
)
def test_batches_drafts_and_kept_prefixes_change_no_answer(
    tiny_model: Path, plain: list[Completion], settings: dict[str, Any]
) -> None:
    assert told(answers(tiny_model, requests(CASES), **settings)) == told(plain)


@pytest.mark.slow
def test_nor_do_they_over_many_cases(tiny_model: Path) -> None:
    plain = answers(tiny_model, requests(MANY), batch_size=1, drafts=False, reuse_prefix=False)

    assert told(answers(tiny_model, requests(MANY), batch_size=16)) == told(plain)


def test_the_cases_end_in_every_way(plain: list[Completion]) -> None:
    assert {answer.finish for answer in plain} == {"complete", "closed", "length"}


def test_sampling_depends_on_the_request_and_the_seed_alone(tiny_model: Path) -> None:
    asked = requests(10)
    one = answers(tiny_model, asked, batch_size=1, drafts=False, temperature=1.5, seed=3)

    assert told(answers(tiny_model, asked[::-1], batch_size=16, temperature=1.5, seed=3)) == told(one)[::-1]
    assert told(answers(tiny_model, asked, temperature=1.5, seed=4)) != told(one)
    assert told(answers(tiny_model, asked, temperature=0.0, seed=3)) != told(one)
