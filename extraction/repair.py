"""Asking again for one field of an update that cannot be used as it is.  Pure.

The question names the update, the field and what is wrong with it, each of bounded length, so its size does not grow
with the attempts.  What the field may be is narrowed by the fields that stand before it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from ..prompts import repair
from .backends.base import Budget, Message, Request
from .response import FIELDS, Offer, members

MAX_TOKENS: Final = 200
_MAX_TEXT: Final = 300
Json = dict[str, Any]


def choices(offer: Offer, fields: Mapping[str, Any], name: str) -> Json | None:
    """What a field may be after the fields before it, as a JSON Schema; None where those fit no offered update."""
    before = [field for field in FIELDS[: FIELDS.index(name)] if field in fields]
    fitting = [
        member["properties"]
        for member in members(offer)
        if name in member["properties"]
        and all(field in member["properties"] and _fits(fields[field], member["properties"][field]) for field in before)
    ]
    kinds = list({json.dumps(part[name], sort_keys=True): part[name] for part in fitting}.values())
    if not kinds:
        return None
    return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}


def only_choice(schema: Json) -> tuple[Any] | None:
    """The value, where a schema leaves no choice."""
    if "const" in schema:
        return (schema["const"],)
    return (None,) if schema.get("type") == "null" else None


def repair_request(asked: Request, fields: Mapping[str, Any], name: str, problem: str, budget: Budget) -> Request:
    """The request for one field: the same prompt, then what is wrong with the update."""
    update = json.dumps({key: _short(value) for key, value in fields.items()}, ensure_ascii=False)
    said = json.dumps({"updates": [{key: _short(value) for key, value in fields.items()}]}, ensure_ascii=False)
    answer = Message(role="assistant", content=said)
    ask = Message(role="user", content=repair(name, update, json.dumps(problem[:_MAX_TEXT], ensure_ascii=False)))
    return replace(
        asked,
        messages=(*asked.messages, answer, ask),
        budget=replace(budget, tokens=min(budget.tokens, MAX_TOKENS)),
        on_text=None,
    )


def with_schema(request: Request, name: str, schema: Json) -> Request:
    """The request for an object with that field alone."""
    form = {"type": "object", "properties": {name: schema}, "required": [name], "additionalProperties": False}
    return replace(request, schema=form)


def read_field(text: str, name: str) -> tuple[Any] | None:
    """The value in an answer; None for what is no object with that field alone."""
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return (answer[name],) if isinstance(answer, dict) and list(answer) == [name] else None


def mended(fields: Mapping[str, Any], name: str, value: Any) -> dict[str, Any]:
    """The fields with another value for one of them, in the order in which a model fills them."""
    changed = {**fields, name: value}
    return {field: changed[field] for field in FIELDS if field in changed}


def _fits(value: Any, schema: Json) -> bool:
    import jsonschema

    return bool(jsonschema.Draft202012Validator(schema).is_valid(value))


def _short(value: Any) -> Any:
    return value[:_MAX_TEXT] if isinstance(value, str) else value
