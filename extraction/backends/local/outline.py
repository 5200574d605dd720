"""Where the updates of an answer begin and end, followed byte by byte."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

Event = Literal["more", "end"]
Span = tuple[int, int]

_DECODER = json.JSONDecoder()


@dataclass(slots=True)
class Outline:
    """A position in a JSON text: open brackets, inside a string or not, and items of the outer list that have begun."""

    open: bytes = b""
    quoted: bool = False
    escaped: bool = False
    last: int = 0
    begun: int = 0

    def read(self, data: bytes) -> Event | None:
        """Read on; whether another item of the outer list begins first in `data`, or the list ends."""
        event: Event | None = None
        for byte in data:
            event = event or self._event(byte)
            self._step(byte)
        return event

    def peek(self, data: bytes) -> Event | None:
        """The same, without moving."""
        return Outline(self.open, self.quoted, self.escaped, self.last).read(data)

    def closes(self, data: bytes) -> bool:
        """Whether `data` ends an item of the outer list, and stops there."""
        there = Outline(self.open, self.quoted, self.escaped, self.last)
        return there.read(data) is None and there.between and not self.between

    @property
    def between(self) -> bool:
        """Whether an item of the outer list has just ended."""
        return self.open == b"{[" and self.last == ord("}")

    def _event(self, byte: int) -> Event | None:
        if self.quoted or self.open != b"{[":
            return None
        if byte == ord("]"):
            return "end"
        return "more" if byte == ord(",") or (byte == ord("{") and self.last == ord("[")) else None

    def _step(self, byte: int) -> None:
        if self.escaped:
            self.escaped = False
        elif self.quoted:
            self.escaped = byte == ord("\\")
            self.quoted = byte != ord('"')
        else:
            self._structure(byte)
        self.last = byte

    def _structure(self, byte: int) -> None:
        if byte == ord('"'):
            self.quoted = True
        elif byte in b"{[":
            self.begun += self.open == b"{[" and byte == ord("{")
            self.open += bytes([byte])
        elif byte in b"}]":
            self.open = self.open[:-1]


@dataclass(frozen=True, slots=True)
class Item:
    """A whole item of the outer list: its span and those of its fields' values, in characters of the answer."""

    span: Span
    fields: dict[str, Span]


def items(text: str) -> list[Item]:
    """The whole items of the list that is the first field of the answer `text`, which may be cut."""
    start = text.find(":[")
    found, at = [], start + 2
    while start >= 0 and text[at : at + 1] == "{":
        item = _item(text, at)
        if item is None:
            break
        found.append(item)
        at = item.span[1] + 1
    return found


def _item(text: str, start: int) -> Item | None:
    fields: dict[str, Span] = {}
    at = start
    try:
        while text[at] in "{," and text[at : at + 2] != "{}":
            key, at = _value(text, at + 1)
            _, end = _value(text, at + 1)
            fields[str(key)] = (at + 1, end)
            at = end
        at += text[at] == "{"
        return Item((start, at + 1), fields) if text[at] == "}" else None
    except (IndexError, ValueError):
        return None


def _value(text: str, at: int) -> tuple[Any, int]:
    return _DECODER.raw_decode(text, at)


def bytes_before(text: str) -> list[int]:
    """For each character the number of UTF-8 bytes before it, and the total at the end."""
    sizes = [len(char.encode()) for char in text]
    total, before = 0, [0]
    for size in sizes:
        total += size
        before.append(total)
    return before


def overlapping(ends: list[int], start: int, end: int) -> list[int]:
    """Which of the tokens that end at the byte offsets `ends` have a byte in [start, end)."""
    return [index for index, (low, high) in enumerate(pairwise([0, *ends])) if low < end and high > start]
