"""What a model is asked about one episode: the prompt and the request.  Pure.

A compact model is asked in the form that it was trained on, any other with instructions and worked examples.
"""

from __future__ import annotations

from typing import Any

from ..memory_store.model import Episode, Key, subject_id
from ..memory_store.schema import Attribute
from ..prompts import Described, Known, Prompt, Turn, ask, render, render_compact
from .backends.base import Budget, Message, Request
from .response import Offer, Stored, response_schema
from .shots import shots


def prompt_for(offer: Offer) -> Prompt:
    """The prompt about an offer; its constant part depends on the attributes alone."""
    named = [(offer.name(attr), attr) for attr in offer.attributes]
    described = [_described(*pair) for pair in named]
    if offer.compact:
        return render_compact(described, _question(offer))
    return render(described, shots(named), _question(offer))


def request_for(offer: Offer, prompt: Prompt, budget: Budget) -> Request:
    """The request to a backend."""
    return Request(
        messages=tuple(Message(role=part.role, content=part.content) for part in prompt.parts),
        schema=response_schema(offer),
        source=offer.text,
        context=tuple(turn.text for turn in offer.context) if offer.quotes_context else (),
        budget=budget,
    )


def _question(offer: Offer) -> str:
    return ask(
        Turn(_speaker(offer.episode), offer.text),
        context=[Turn(_speaker(turn), turn.text) for turn in offer.context],
        known=[_known(offer, attr, *row) for attr in offer.attributes for row in offer.on_record(attr)],
        subjects=offer.subjects,
    )


def _described(name: str, attr: Attribute[Any]) -> Described:
    kind = " | ".join(attr.type.values) or attr.type.name
    many = {"set": "several, ", "map": "several, by item, "}.get(attr.many or "", "")
    return Described(name=name, kind=many + kind, description=attr.description)


def _speaker(episode: Episode) -> str:
    return subject_id(episode.speaker or episode.source)


def _known(offer: Offer, attr: Attribute[Any], key: Key, stored: Stored) -> Known:
    value = None if attr.many == "set" else stored.json
    return Known(key.subject, offer.name(attr), value, stored.item if attr.many else None)
