"""Prompt templates and their renderer.

A prompt has a constant part, which comes first so that its cache can be shared, and a part with the data of one call.
Data stand as JSON on lines of their own: since JSON has no line breaks inside a text, no text can forge a heading or
the end of a section.  A prompt names no date: phrases about time are quoted and are resolved in code.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

Data = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Described:
    """An attribute as a model sees it; `kind` says what its values are."""

    name: str
    kind: str
    description: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """The instructions, the same for each call about the same attributes, and the data of one call."""

    system: str
    user: str

    @property
    def hash(self) -> str:
        """Identity of the instructions."""
        return prompt_hash(self.system)


def prompt_hash(text: str) -> str:
    """SHA-256 of a prompt, the first 16 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def render(attributes: Sequence[Described], *, message: Data, context: Sequence[Data], known: Sequence[Data]) -> Prompt:
    """The prompt for one message, after the turns before it (`context`) and the values on record (`known`)."""
    sections = [("On record:", known), ("Earlier messages:", context), ("Last message:", [message])]
    lines = [line for heading, rows in sections if rows for line in (heading, *map(_line, rows))]
    return Prompt(system=instructions(attributes), user="\n".join(lines))


def instructions(attributes: Sequence[Described]) -> str:
    """The constant part of the prompt."""
    return _template("extract.md").substitute(attributes="\n".join(map(_describe, attributes))).strip()


def _describe(attribute: Described) -> str:
    return " ".join(f"- {attribute.name} ({attribute.kind}): {attribute.description}".split())


def _line(row: Data) -> str:
    return json.dumps(row, ensure_ascii=False)


@cache
def _template(name: str) -> Template:
    return Template((files(__name__) / name).read_text(encoding="utf-8"))
