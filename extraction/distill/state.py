"""What a case has said so far: for each key the values over time, in the order in which they were said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ...memory_store.values import fold

Key = tuple[str, str, str]
"""Subject, attribute, folded item (empty for attributes that hold one value)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stay:
    """A value, none for a revocation, from one instant until another or for ever."""

    value: Any
    start: datetime
    stop: datetime | None = None
    item: str | None = None
    words: str = ""
    settled: datetime | None = None


@dataclass(slots=True)
class State:
    """The stays of all keys."""

    stays: dict[Key, list[Stay]] = field(default_factory=dict)

    def add(self, key: Key, stay: Stay) -> None:
        """Say one more thing about a key."""
        self.stays.setdefault(key, []).append(stay)

    def holds(self, key: Key, at: datetime) -> Stay | None:
        """What holds at an instant: of the stays that contain it, the one that begins last; None without a value."""
        stay = self._over(key, at)
        return stay if stay is not None and stay.value is not None else None

    def _over(self, key: Key, at: datetime) -> Stay | None:
        over = [s for s in self.stays.get(key, ()) if s.start <= at and (s.stop is None or at < s.stop)]
        return max(reversed(over), key=_start, default=None)  # of those that begin together, the last that was said

    def quiet(self, key: Key, at: datetime) -> bool:
        """Whether nothing about the key is open at an instant: no later start, no vague one, and no end at all.

        After an end the older value resumes, which who reads a case may not expect: such a key is left alone.
        """
        return all(
            stay.start < at and stay.stop is None and (stay.settled is None or stay.settled <= at)
            for stay in self.stays.get(key, ())
        )

    def latest(self, key: Key) -> datetime | None:
        """The latest instant at which anything about the key begins or ends."""
        ends = [end for stay in self.stays.get(key, ()) for end in (stay.start, stay.stop, stay.settled) if end]
        return max(ends, default=None)

    def held(self, at: datetime) -> Iterator[tuple[Key, Stay]]:
        """The keys that have a value at an instant, in the order in which they were first spoken of."""
        for key in self.stays:
            stay = self.holds(key, at)
            if stay is not None:
                yield key, stay

    def since(self, key: Key, at: datetime) -> datetime:
        """When the value that holds at an instant began to."""
        value, begun = self.holds(key, at), at
        edges = {edge for stay in self.stays[key] for edge in (stay.start, stay.stop) if edge and edge <= at}
        for edge in sorted(edges, reverse=True):
            stay = self.holds(key, edge)
            if stay is None or value is None or not same(stay.value, value.value):
                break
            begun = edge
        return begun


def same(a: Any, b: Any) -> bool:
    """Whether two canonical values are equal."""
    if isinstance(a, str) and isinstance(b, str):
        return fold(a) == fold(b)
    return json.dumps(a) == json.dumps(b)


def item_key(item: str | None) -> str:
    """An item as it is keyed."""
    return fold(item) if item else ""


def _start(stay: Stay) -> datetime:
    return stay.start
