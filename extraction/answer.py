"""The raw text of an answer, taken apart: each item is well formed, or quarantined with its raw text.

Items are read one by one, so that a cut or a broken one costs no other.  Nothing that a model can write raises.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final, Literal

from ..memory_store.model import Quarantined, QuarantineReason
from .backends.base import Finish
from .response import FIELDS

_OPENING: Final = re.compile(r'\s*\{\s*"updates"\s*:\s*\[\s*')
_NEXT: Final = re.compile(r"\s*(?:,\s*|(\]))")
_CLOSING: Final = re.compile(r"\s*\}\s*\Z")
_SCALARS: Final = (str, int, float, bool, type(None))
_MAX_DIGITS: Final = 400

Status = Literal["complete", "partial", "failed"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One update with its fields in order, and the text that it was read from."""

    fields: dict[str, Any]
    raw: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The items in the order of the answer, and whether it is whole.

    `partial`: it breaks off after some items, `failed`: it holds no list of updates that could be used.
    """

    entries: tuple[Item | Quarantined, ...]
    status: Status


class _Object(list[tuple[str, Any]]):
    """The pairs of a JSON object, repeated keys and all."""


class _Unreadable:
    """A number that JSON or Python does not know."""

    def __init__(self, _text: str) -> None:
        pass


def _integer(text: str) -> int | _Unreadable:
    return int(text) if len(text) <= _MAX_DIGITS else _Unreadable(text)


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_Object, parse_int=_integer, parse_constant=_Unreadable)


def parse(text: str, finish: Finish = "complete", *, max_updates: int = 8) -> Answer:
    """Take an answer apart.  Items above `max_updates` are quarantined; so is whatever is no item, as one row."""
    opening = _OPENING.match(text)
    if opening is None:
        return Answer(entries=(_lost(text, *_why_none(text, finish), text),), status="failed")
    items, at, closed = _items(text, opening.end())
    entries = [_bounded(entry, index, max_updates) for index, entry in enumerate(items)]
    if not (closed and _CLOSING.match(text, at)):
        entries.append(_lost(text[at:], *_why_broken(finish), text))
    return Answer(entries=tuple(entries), status="complete" if closed else "partial" if items else "failed")


def _items(text: str, at: int) -> tuple[list[Item | Quarantined], int, bool]:
    """The complete items from `at` on, where they end, and whether the list was closed there."""
    items: list[Item | Quarantined] = []
    if text.startswith("]", at):
        return items, at + 1, True
    while True:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return items, at, False
        following = _NEXT.match(text, end)
        if following is None and not isinstance(value, _Object):
            return items, at, False  # the rest of a number may be missing
        items.append(_item(value, text[at:end]))
        if following is None:
            return items, end, False
        if following[1]:
            return items, following.end(), True
        at = following.end()


def _bounded(entry: Item | Quarantined, index: int, max_updates: int) -> Item | Quarantined:
    if index < max_updates or isinstance(entry, Quarantined):
        return entry
    message = f"there are more than {max_updates} updates"
    return Quarantined(reason=QuarantineReason.OUTSIDE_SCHEMA, message=message, raw=entry.raw)


def _item(value: Any, raw: str) -> Item | Quarantined:
    problem = _problem(value)
    if problem is None:
        return Item(fields=dict(value), raw=storable(raw))
    return Quarantined(reason=problem[0], message=problem[1][:300], raw=storable(raw))


def _problem(value: Any) -> tuple[QuarantineReason, str] | None:
    if not isinstance(value, _Object):
        return QuarantineReason.MALFORMED, "an update is an object"
    names = [name for name, _ in value]
    if len(set(names)) < len(names):
        return QuarantineReason.MALFORMED, "a field stands twice"
    if not all(isinstance(entry, _SCALARS) for _, entry in value):
        return QuarantineReason.MALFORMED, "a field is no text, number, boolean or null"
    return _wrong_names(names)


def _wrong_names(names: list[str]) -> tuple[QuarantineReason, str] | None:
    unknown = [name for name in names if name not in FIELDS]
    if unknown:
        return QuarantineReason.OUTSIDE_SCHEMA, f"unknown field {unknown[0]!r}"
    missing = [name for name in FIELDS if name not in names and name != "item"]
    if missing:
        return QuarantineReason.MISSING_FIELD, f"lacks {', '.join(missing)}"
    if names != [name for name in FIELDS if name in names]:
        return QuarantineReason.WRONG_ORDER, f"the fields stand as {', '.join(names)}"
    return None


def _why_none(text: str, finish: Finish) -> tuple[QuarantineReason, str]:
    """Why there is no list of updates at all."""
    if finish == "complete" and _is_schema(text):
        return QuarantineReason.SCHEMA_ECHO, "the answer is the schema that was to be filled"
    if finish == "complete":
        return QuarantineReason.MALFORMED, "the answer is no object with a list of updates"
    return _why_broken(finish)


def _why_broken(finish: Finish) -> tuple[QuarantineReason, str]:
    reasons = {
        "complete": (QuarantineReason.MALFORMED, "the answer goes on as no list of updates"),
        "refused": (QuarantineReason.REFUSAL, "the model refused to answer"),
        "filtered": (QuarantineReason.CONTENT_FILTER, "a content filter stopped the answer"),
    }
    return reasons.get(finish, (QuarantineReason.CUT, "the answer was cut"))


def _is_schema(text: str) -> bool:
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if not isinstance(answer, dict):
        return False
    return isinstance(answer.get("updates"), dict) or bool({"properties", "$defs", "$schema"} & answer.keys())


def _lost(rest: str, reason: QuarantineReason, why: str, text: str) -> Quarantined:
    return Quarantined(reason=reason, message=why, raw=storable(rest if rest.strip() else text))


def storable(raw: str) -> str:
    r"""`raw` with what no store takes, NUL and lone surrogates, written as `\x00` and `\ud800`."""
    return raw.encode("utf-8", "backslashreplace").decode().replace("\x00", "\\x00")
