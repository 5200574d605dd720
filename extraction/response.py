"""What a model may say about one episode, and the JSON Schema that holds it to that (schema-guided reasoning).

The fields of an update stand in a fixed order, so that the model has its evidence and its comparison before it commits
to a change:

    evidence        exact quote from the episode
    subject         a known subject, or where that is allowed a new id
    attribute       one of those that the episode's source may write
    item            only for attributes that hold many; the entry, which for a set is the value itself
    current_value   the value on record for that key: a constant, or null
    change          on record: update, revoke, no_change; else: new, revoke
    value           for new and update; null otherwise, and always null for a set
    when, until     exact quotes of the phrases that say since and until when, or null

`x-state` beside a part of the schema that depends on the store says what it would be for any store.

The updates are a union with one member for each value on record and one for each attribute without, each of them
twice where a value depends on the change.  All fields are required and nothing has a default.  Dates, times, numbers
and verbatim texts are quotes, which code reads; enums and booleans are chosen; a paraphrase is free text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..memory_store.model import Episode, Key
from ..memory_store.schema import Attribute, MemorySchema
from . import grounding
from .chunks import Chunk

FIELDS: Final = ("evidence", "subject", "attribute", "item", "current_value", "change", "value", "when", "until")
"""Fields of an update in the order in which a model fills them."""
NEW_SUBJECT: Final = "^[a-z][a-z0-9_]{0,63}$"
"""The shape of the id of a subject that was not known before."""

Json = dict[str, Any]
_QUOTE: Final[Json] = {"type": "string", "x-substring": True}
_QUOTE_OF_TURNS: Final[Json] = {"type": "string", "x-substring": "turns"}
_TEXT: Final[Json] = {"type": "string"}
_NULL: Final[Json] = {"type": "null"}
_CHANGES: Final = ("new", "update", "revoke", "no_change")
_ANY_SUBJECT: Final[Json] = {"type": "string"}
_ANY_VALUE: Final[Json] = {"anyOf": [_TEXT, {"type": "number"}, {"type": "boolean"}, _NULL]}


@dataclass(frozen=True, kw_only=True, slots=True)
class Stored:
    """A value on record: its canonical text, and the item as it was said."""

    value: str
    item: str | None = None

    @property
    def json(self) -> Any:
        """The JSON form of the value."""
        return json.loads(self.value)


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """What a model may say about one episode, or about the `chunk` of it that it is shown.

    `attributes` are those that the episode's source may write, `subjects` the known ones with the speaker first,
    `types` the memory types of those of which something is stored, `stored` the values in play.
    """

    schema: MemorySchema
    episode: Episode
    attributes: tuple[Attribute[Any], ...]
    subjects: tuple[str, ...]
    context: tuple[Episode, ...] = ()
    types: Mapping[str, frozenset[str]] = field(default_factory=dict)
    stored: Mapping[Key, Stored] = field(default_factory=dict)
    max_updates: int = 8
    new_subjects: bool = False
    compact: bool = False
    chunk: Chunk | None = None

    @property
    def text(self) -> str:
        """The text that the model is asked about."""
        return self.episode.text if self.chunk is None else self.episode.text[self.chunk.start : self.chunk.end]

    @property
    def place(self) -> tuple[int, int] | None:
        """Where in the episode that is, unless it is the whole."""
        return None if self.chunk is None else (self.chunk.start, self.chunk.end)

    def name(self, attr: Attribute[Any]) -> str:
        """How the attribute is called: by its name where that is unique in the schema, else `type.attribute`."""
        namesakes = sum(other.name == attr.name for other in self.schema.attributes())
        return attr.name if namesakes == 1 else str(attr)

    def subjects_of(self, attr: Attribute[Any]) -> list[str]:
        """The known subjects that may have the attribute: those of its type or of none yet, and the speaker."""
        return [
            subject
            for subject in self.subjects
            if subject == self.subjects[0] or attr.memory_type in self.types.get(subject, {attr.memory_type})
        ]

    def on_record(self, attr: Attribute[Any]) -> list[tuple[Key, Stored]]:
        """The values in play of an attribute, by key."""
        where = (attr.memory_type, attr.name)
        return sorted((key, stored) for key, stored in self.stored.items() if (key.memory_type, key.attribute) == where)

    @property
    def quotes_context(self) -> bool:
        """Whether a value may be quoted from a turn before, since the episode affirms something."""
        return bool(self.context) and grounding.affirms(self.text)


def response_schema(offer: Offer) -> Json:
    """The JSON Schema of an answer; the same offer gives the same schema, key by key."""
    items = {"anyOf": members(offer)}
    return _object({"updates": {"type": "array", "items": items, "maxItems": offer.max_updates}})


def members(offer: Offer) -> list[Json]:
    """The JSON Schemas of the updates that an offer admits."""
    return [member for attr in offer.attributes for member in _members(offer, attr)]


def _members(offer: Offer, attr: Attribute[Any]) -> Iterator[Json]:
    for key, stored in offer.on_record(attr):
        yield from _on_record(offer, attr, key, stored)
    taken = set() if attr.many else {key.subject for key, _ in offer.on_record(attr)}
    subjects = [subject for subject in offer.subjects_of(attr) if subject not in taken]
    if subjects or offer.new_subjects:
        yield from _nothing_on_record(offer, attr, subjects)


def _on_record(offer: Offer, attr: Attribute[Any], key: Key, stored: Stored) -> Iterator[Json]:
    subject = {"const": key.subject, "x-state": _ANY_SUBJECT}
    head: Json = {"subject": subject, "attribute": {"const": offer.name(attr)}}
    if attr.many:
        head["item"] = {"const": stored.item, "x-state": _any_item(offer, attr)}
    head["current_value"] = {"const": stored.json, "x-state": _ANY_VALUE}
    if attr.many != "set":
        yield _member(head, ["update"], _value(offer, attr))
    yield _member(head, ["revoke", "no_change"], _NULL)


def _nothing_on_record(offer: Offer, attr: Attribute[Any], subjects: list[str]) -> Iterator[Json]:
    head: Json = {"subject": _subject(offer, subjects), "attribute": {"const": offer.name(attr)}}
    if attr.many:
        head["item"] = _any_item(offer, attr)
    head["current_value"] = {**_NULL, "x-state": _ANY_VALUE}
    if attr.many == "set":
        yield _member(head, ["new", "revoke"], _NULL)
        return
    yield _member(head, ["new"], _value(offer, attr))
    yield _member(head, ["revoke"], _NULL)


def _member(head: Json, changes: list[str], value: Json) -> Json:
    chosen: Json = {"const": changes[0]} if len(changes) == 1 else {"enum": changes}
    change = {**chosen, "x-state": {"enum": list(_CHANGES)}}
    time = {"anyOf": [_QUOTE, _NULL]}
    return _object({"evidence": _QUOTE, **head, "change": change, "value": value, "when": time, "until": time})


def _subject(offer: Offer, subjects: list[str]) -> Json:
    new: Json = {"type": "string", "pattern": NEW_SUBJECT, "x-state": _ANY_SUBJECT}
    if not subjects:
        return new
    known = {"enum": subjects, "x-state": _ANY_SUBJECT}
    return {"anyOf": [known, new]} if offer.new_subjects else known


def _any_item(offer: Offer, attr: Attribute[Any]) -> Json:
    return _value(offer, attr) if attr.many == "set" else _text(offer, attr)


def _value(offer: Offer, attr: Attribute[Any]) -> Json:
    if attr.type.name == "enum":
        return {"enum": list(attr.type.values)}
    if attr.type.name == "boolean":
        return {"type": "boolean"}
    return _text(offer, attr)


def _text(offer: Offer, attr: Attribute[Any]) -> Json:
    if attr.type.name == "text" and not attr.rules.verbatim:
        return _TEXT
    return _QUOTE_OF_TURNS if offer.quotes_context else _QUOTE


def _object(properties: Json) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
