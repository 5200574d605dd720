"""Worked examples for a prompt, made from the schema itself.

What they say are placeholders, never a name, a date or a number, so that nothing of them can stand in an episode and be
taken for a memory.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from ..memory_store.schema import Attribute
from ..prompts import Known, Turn, ask

MAX_SHOTS: Final = 4
"""Attributes that get an example of their own."""
_SPEAKER: Final = "someone"
_WORDS: Final = {
    "text": ("that place", "another place"),
    "date": ("that day", "another day"),
    "time": ("that hour", "another hour"),
    "datetime": ("that moment", "another moment"),
    "integer": ("that many", "as many again"),
    "number": ("that much", "as much again"),
    "decimal": ("that much", "as much again"),
}

Named = tuple[str, Attribute[Any]]


def shots(attributes: Sequence[Named]) -> list[tuple[str, str]]:
    """Pairs of a question and its answer about some attributes, by name: new values, another value, nothing to say."""
    shown = _varied(attributes)
    pairs = [_new(*named) for named in shown] + [_changed(*named) for named in shown[:1] if not named[1].many]
    return [*pairs[:2], _nothing("Hello there!"), *pairs[2:], _nothing("What time is it?")]


def _varied(attributes: Sequence[Named]) -> list[Named]:
    """At most `MAX_SHOTS` attributes, each type of value once before any comes twice."""
    seen: dict[tuple[str, str | None], int] = {}
    ranks = []
    for place, (_, attr) in enumerate(attributes):
        kind = (attr.type.name, attr.many)
        seen[kind] = seen.get(kind, 0) + 1
        ranks.append((seen[kind], place))
    return [attributes[place] for place in sorted(place for _, place in sorted(ranks)[:MAX_SHOTS])]


def _nothing(text: str) -> tuple[str, str]:
    return ask(Turn(_SPEAKER, text)), json.dumps({"updates": []})


def _new(name: str, attr: Attribute[Any]) -> tuple[str, str]:
    words, value = _value(attr, 0)
    text = f"My {_spoken(attr)}: {words}."
    item = {"item": words} if attr.many else {}
    return ask(Turn(_SPEAKER, text)), _answer(
        _SPEAKER, text, name, item, None, "new", None if attr.many == "set" else value
    )


def _changed(name: str, attr: Attribute[Any]) -> tuple[str, str]:
    (_, old), (words, value) = _value(attr, 0), _value(attr, 1)
    text = f"My {_spoken(attr)} is now {words}."
    question = ask(Turn(_SPEAKER, text), known=[Known(_SPEAKER, name, old)])
    return question, _answer(_SPEAKER, text, name, {}, old, "update", value)


def _value(attr: Attribute[Any], index: int) -> tuple[str, Any]:
    """The words of a placeholder and the value that an answer gives for them."""
    if attr.type.name == "enum":
        member = attr.type.values[index % len(attr.type.values)]
        return member, member
    if attr.type.name == "boolean":
        return ("yes", True) if index == 0 else ("no", False)
    words = _WORDS[attr.type.name][index]
    return words, words


def _spoken(attr: Attribute[Any]) -> str:
    return attr.name.replace("_", " ")


def _answer(subject: str, text: str, name: str, item: dict[str, Any], current: Any, change: str, value: Any) -> str:
    head = {"evidence": text, "subject": subject, "attribute": name, **item}
    update = {**head, "current_value": current, "change": change, "value": value, "when": None, "until": None}
    return json.dumps({"updates": [update]}, ensure_ascii=False)
