"""A case of two turns that matter, as a public data set would label it."""

from __future__ import annotations

from typing import Any


def episode(number: int, text: str, source: str = "user") -> dict[str, Any]:
    """A line of an episode."""
    return {
        "episode_id": f"e{number}",
        "observed_at": f"2026-06-01T09:0{number}:00+00:00",
        "speaker": source,
        "source": source,
        "session_id": "s",
        "text": text,
    }


def update(number: int, attribute: str, value: Any, said: str, line: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A gold update told by episode `number`, with its evidence in `line`."""
    start = line["text"].index(said)
    kind = "user_span" if line["source"] == "user" else "system_span"
    evidence = {"episode_id": line["episode_id"], "text": said, "start": start, "end": start + len(said), "kind": kind}
    return {
        "episode_id": f"e{number}",
        "subject": "hotel_1",
        "attribute": attribute,
        "change": "new",
        "current_value": None,
        "value": value,
        "accept": [value],
        "raw_value": said,
        "valid_from": None,
        "evidence": evidence,
        **more,
    }


def hotel_case() -> dict[str, Any]:
    """A booking: two values said, one changed, one read back and affirmed, and thanks."""
    lines = [
        episode(0, "Please find me a cheap hotel in Oslo, for two nights."),
        episode(1, "You want the Grand Hotel in Oslo for 2 nights?", "assistant"),
        episode(2, "Yes, that's right."),
        episode(3, "Booked.", "assistant"),
        episode(4, "Sorry, make it three nights."),
        episode(5, "Done.", "assistant"),
        episode(6, "Thanks a lot!"),
    ]
    return {
        "case_id": "hotel",
        "source": "test",
        "tenant": "hotel",
        "schema": {
            "name": "booking",
            "version": 1,
            "types": {
                "hotel": {
                    "description": "A hotel",
                    "attributes": {
                        "city": {"type": "text", "description": "City"},
                        "name": {"type": "text", "description": "Name of the hotel"},
                        "nights": {"type": "integer", "description": "Number of nights"},
                        "price": {"type": "enum", "values": ["low", "high"], "description": "Price range"},
                    },
                }
            },
        },
        "subjects": {"hotel_1": "hotel"},
        "episodes": lines,
        "updates": [
            update(0, "nights", 2, "two", lines[0]),
            update(0, "city", "Oslo", "Oslo", lines[0]),
            update(0, "price", "low", "cheap", lines[0]),
            update(2, "name", "Grand Hotel", "Grand Hotel", lines[1]),
            update(2, "city", "Oslo", "Oslo", lines[1], change="no_change", current_value="Oslo"),
            update(4, "nights", 3, "three", lines[4], change="update", current_value=2),
        ],
        "end_state": [],
        "checkpoints": [],
    }
