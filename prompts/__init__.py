"""Prompt templates and their renderer.

The constant part of a prompt, instructions and worked examples, comes first, so that its cache can be shared by all
calls about the same attributes.  Then come the data of one call.  All text in them stands as a JSON string, which has
no line breaks: nothing that was said can forge a line of its own.  A prompt names no date, and time is never looked up:
phrases about time are quoted and are resolved in code.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any, Final, Literal, NamedTuple

_LINE_BREAKS: Final = {ord(mark): f"\\u{ord(mark):04x}" for mark in "\u0085\u2028\u2029"}
"""What ends a line for some readers and not for JSON."""


class Described(NamedTuple):
    """An attribute as a model sees it; `kind` says what its values are."""

    name: str
    kind: str
    description: str


class Turn(NamedTuple):
    """Something that was said, and the id of who said it."""

    speaker: str
    text: str


class Known(NamedTuple):
    """A value on record, in its JSON form; of a map with its item, of a set the item alone."""

    subject: str
    attribute: str
    value: Any
    item: str | None = None


class Part(NamedTuple):
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """A rendered prompt: the constant parts, and the question of one call."""

    constant: tuple[Part, ...]
    question: Part

    @property
    def parts(self) -> tuple[Part, ...]:
        """All parts in order."""
        return (*self.constant, self.question)

    @property
    def hash(self) -> str:
        """SHA-256 of the constant parts, the first 16 hexadecimal digits."""
        return hashlib.sha256(json.dumps(self.constant).encode()).hexdigest()[:16]


def render(attributes: Sequence[Described], examples: Sequence[tuple[str, str]], question: str) -> Prompt:
    """The prompt about `attributes`; `examples` are pairs of a question and its answer."""
    system = _template("extract.md").substitute(attributes="\n".join(map(_describe, attributes)))
    return _chat(system, examples, question)


def render_compact(attributes: Sequence[Described], question: str) -> Prompt:
    """The prompt for a model that was trained on this form: the attributes, no instructions and no examples."""
    return _chat(_template("compact.md").substitute(attributes="\n".join(map(_describe, attributes))), [], question)


def _chat(system: str, examples: Sequence[tuple[str, str]], question: str) -> Prompt:
    shots = [part for asked, answer in examples for part in (Part("user", asked), Part("assistant", answer))]
    return Prompt(constant=(Part("system", system.strip()), *shots), question=Part("user", question))


def ask(
    message: Turn, *, context: Sequence[Turn] = (), known: Sequence[Known] = (), subjects: Sequence[str] = ()
) -> str:
    """The question about one message, after the subjects (if several), what is on record and the turns before."""
    several = [f"Subjects: {', '.join(subjects)}"] if len(subjects) > 1 else []
    earlier = [f"Earlier, {turn.speaker} said: {_quoted(turn.text)}" for turn in context]
    return "\n".join([*several, *_records(known), *earlier, f"{message.speaker} says: {_quoted(message.text)}"])


def repair(field: str, update: str, problem: str) -> str:
    """The question for one field of an update, both as JSON, that has a problem."""
    return _template("repair.md").substitute(field=field, update=update, problem=problem).strip()


def again() -> str:
    """What is said after an answer that is none."""
    return _template("again.md").template.strip()


def _describe(attribute: Described) -> str:
    return " ".join(f"- {attribute.name} ({attribute.kind}): {attribute.description}".split())


def _records(known: Sequence[Known]) -> list[str]:
    """A line for each subject: `On record about mira: {"city":"Oslo","allergies":["nuts"],"tea":{"oolong":"like"}}`."""
    subjects: dict[str, dict[str, Any]] = {}
    for row in known:
        values = subjects.setdefault(row.subject, {})
        if row.item is None:
            values[row.attribute] = row.value
        elif row.value is None:
            values.setdefault(row.attribute, []).append(row.item)
        else:
            values.setdefault(row.attribute, {})[row.item] = row.value
    return [f"On record about {subject}: {_quoted(values)}" for subject, values in subjects.items()]


def _quoted(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_LINE_BREAKS)


@cache
def _template(name: str) -> Template:
    return Template((files(__name__) / name).read_text(encoding="utf-8"))
