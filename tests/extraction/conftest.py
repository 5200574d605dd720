"""One schema, one speaker, one morning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sgam.extraction.answer import Item
from sgam.extraction.extractor import ExtractionTask
from sgam.extraction.response import Offer, Stored
from sgam.memory_store.model import Episode, Fact, Key
from sgam.memory_store.schema import MemorySchema

MORNING = datetime(2026, 6, 1, 9, tzinfo=UTC)
SCHEMA = MemorySchema.from_json(
    {
        "name": "travel",
        "version": 1,
        "types": {
            "traveller": {
                "description": "A person we book travel for",
                "attributes": {
                    "deadline": {"type": "date", "description": "Day by which the passport must be renewed"},
                    "style": {"type": "enum", "values": ["concise", "detailed"], "description": "Length of answers"},
                    "city": {"type": "text", "description": "City of residence"},
                    "mood": {"type": "text", "description": "How they feel", "verbatim": False},
                    "children": {"type": "integer", "description": "How many children there are"},
                    "budget": {"type": "decimal", "description": "What a night may cost"},
                    "height": {"type": "number", "description": "Height in metres"},
                    "wakes": {"type": "time", "description": "When to call"},
                    "checkin": {"type": "datetime", "description": "When they arrive"},
                    "vegetarian": {"type": "boolean", "description": "Eats no meat"},
                    "allergies": {"type": "text", "many": "set", "description": "Foods they cannot eat"},
                    "ratings": {"type": "enum", "values": ["like", "dislike"], "many": "map", "description": "Opinion"},
                    "lucky": {"type": "integer", "many": "set", "description": "Numbers they like"},
                },
            }
        },
    }
)


def said(text: str, **more: Any) -> Episode:
    """An episode of mira's."""
    return Episode(**{"text": text, "observed_at": MORNING, "speaker": "mira", "zone": "Europe/Oslo", **more})


def fields(evidence: str, attribute: str, value: object, **more: object) -> dict[str, Any]:
    """The fields of an update, in order."""
    update = {
        "evidence": evidence,
        "subject": "mira",
        "attribute": attribute,
        "item": None,
        "current_value": None,
        "change": "new",
        "value": value,
        "when": None,
        "until": None,
    }
    return {**update, **more}


def item(evidence: str, attribute: str, value: object, **more: object) -> Item:
    return Item(fields=fields(evidence, attribute, value, **more), raw="raw")


def key(attribute: str, entry: str = "", subject: str = "mira") -> Key:
    return Key("traveller", subject, attribute, entry)


def offer(
    episode: Episode,
    *,
    context: Sequence[Episode] = (),
    stored: Mapping[Key, Stored] | None = None,
    subjects: Sequence[str] = ("mira",),
    **more: Any,
) -> Offer:
    """All attributes, about mira, with nothing on record."""
    return Offer(
        schema=SCHEMA,
        episode=episode,
        attributes=more.pop("attributes", tuple(SCHEMA.attributes())),
        subjects=tuple(subjects),
        context=tuple(context),
        stored=stored or {},
        **more,
    )


def fact(attribute: str, value: object, *, item: str | None = None, subject: str = "mira") -> Fact[Any]:
    """Something known since long ago."""
    return Fact(
        fact_id=1,
        memory_type="traveller",
        subject=subject,
        attribute=attribute,
        item=item,
        value=value,
        valid_from=datetime(2020, 1, 1, tzinfo=UTC),
        valid_to=None,
        known_from=datetime(2020, 1, 1, tzinfo=UTC),
        known_to=None,
        expires_at=None,
        assertion_id=1,
        episode_id="e0",
        speaker="mira",
        source="user",
        quote="...",
    )


def task(
    text: str, *, stored: Sequence[Fact[Any]] = (), context: Sequence[Episode] = (), **more: Any
) -> ExtractionTask:
    return ExtractionTask(episode=said(text, **more), stored=tuple(stored), context=tuple(context), subjects=("mira",))
