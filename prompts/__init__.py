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
    """A value on record, in its JSON form, and the item of an attribute that holds many."""

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


def render_compact(examples: Sequence[tuple[str, str]], question: str) -> Prompt:
    """The prompt for a very small model, which learns from the examples alone."""
    return _chat(_template("compact.md").template, examples, question)


def _chat(system: str, examples: Sequence[tuple[str, str]], question: str) -> Prompt:
    shots = [part for asked, answer in examples for part in (Part("user", asked), Part("assistant", answer))]
    return Prompt(constant=(Part("system", system.strip()), *shots), question=Part("user", question))


def ask(message: Turn, *, context: Sequence[Turn] = (), known: Sequence[Known] = ()) -> str:
    """The question about one message, after what is on record and the turns before it."""
    earlier = [f"Earlier, {turn.speaker} said: {_quoted(turn.text)}" for turn in context]
    return "\n".join([*map(_record, known), *earlier, f"{message.speaker} says: {_quoted(message.text)}"])


def _describe(attribute: Described) -> str:
    return " ".join(f"- {attribute.name} ({attribute.kind}): {attribute.description}".split())


def _record(known: Known) -> str:
    item = "" if known.item is None else f"[{_quoted(known.item)}]"
    return f"On record: {known.subject} {known.attribute}{item} = {_quoted(known.value)}"


def _quoted(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text.translate(_LINE_BREAKS)


@cache
def _template(name: str) -> Template:
    return Template((files(__name__) / name).read_text(encoding="utf-8"))
