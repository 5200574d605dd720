"""Long texts in pieces that a model can attend to, cut between sentences; each begins with the end of the last one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_CLOSING: Final = r"[\"'\u201d\u2019)\]]*"
_SENTENCE: Final = re.compile(rf"(?:[^.!?\n]|[.!?](?!{_CLOSING}(?:\s|$)))*(?:[.!?]{_CLOSING}|\n|$)\s*")
"""A stop that is no end, as in "3.5", is part of its sentence."""


class Chunk(NamedTuple):
    """The stretch `[start, end)` of a text, in code points; `fresh` is where it goes beyond the chunk before."""

    start: int
    end: int
    fresh: int


def chunks(text: str, limit: int, overlap: int) -> list[Chunk]:
    """Stretches of at most `limit` code points that cover the text, each with up to `overlap` of the one before.

    A border lies between sentences where it can, else between words, else anywhere.  Takes linear time.
    Raises ValueError unless `0 <= overlap < limit / 2`.
    """
    if not 0 <= overlap < limit / 2:
        raise ValueError(f"an overlap of {overlap} does not fit into chunks of {limit}")
    if len(text) <= limit:
        return [Chunk(0, len(text), 0)]
    return list(_packed(list(_pieces(text, limit - overlap)), limit, overlap))


def _packed(borders: list[int], limit: int, overlap: int) -> Iterator[Chunk]:
    """Chunks of as many pieces as fit; `borders` are the ends of the pieces."""
    start = fresh = end = 0
    first = 0
    for index, border in enumerate(borders):
        if border - start > limit:
            yield Chunk(start, end, fresh)
            fresh = end
            while borders[first] < end - overlap or border - borders[first] > limit:
                first += 1
            start = min(borders[first], end) if first < index else end
        end = border
    yield Chunk(start, end, fresh)


def _pieces(text: str, limit: int) -> Iterator[int]:
    """The ends of the sentences; a sentence that is too long ends at a word, or where it must."""
    at = 0
    for match in _SENTENCE.finditer(text):
        while match.end() - at > limit:
            space = text.rfind(" ", at + 1, at + limit)
            at = space + 1 if space > 0 else at + limit
            yield at
        if match.end() > at:
            at = match.end()
            yield at
