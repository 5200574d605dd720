"""When an answer has to end early, and how."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from .outline import Outline, items

MAX_REPEATS: Final = 6
_LOOP: Final = re.compile(rf"(.{{1,40}}?)\1{{{MAX_REPEATS - 1},}}\Z", re.DOTALL)
_LOOKED_AT: Final = 400
_MIN_LOOP: Final = 48
_CLOSERS: Final = ("]", "}", '"', "null")
_STEPS: Final = 64

Force = Callable[[str], str | None]
"""What must follow a text by the grammar, "" if there is a choice or the text is whole; None if it is not allowed."""


def repeats_item(text: str) -> bool:
    """Whether the last whole item of the answer has stood there before."""
    raw = [text[slice(*item.span)] for item in items(text)]
    return len(raw) > 1 and raw[-1] in raw[:-1]


def loops(text: str) -> bool:
    """Whether the text ends in a passage that repeats itself at least `MAX_REPEATS` times, over 48 characters."""
    found = _LOOP.search(text[-_LOOKED_AT:])
    return found is not None and len(found[0]) >= _MIN_LOOP


def closed(text: str, force: Force, is_whole: Callable[[str], bool]) -> str | None:
    """The answer `text` closed early, or None when it cannot be closed without making something up.

    Whole items stay, without repetitions; an item that is not whole is dropped.  Where there is none, the list is not
    closed: an empty one would say that there was nothing to say.  An answer that is no list keeps what it has: an open
    string ends where it is, and fields that are missing become null if they may.
    """
    for candidate in _without_the_rest(text):
        if is_whole(candidate):
            return candidate
    if not text or ":[" in text:
        return None
    return _closed_by_force(text, force, is_whole)


def _without_the_rest(text: str) -> Iterator[str]:
    found = items(text)
    raw = [text[slice(*item.span)] for item in found]
    unique = list(dict.fromkeys(raw))
    opening = text.find(":[") + 2
    if opening < 2:
        return
    for count in range(len(unique), 0, -1):
        yield text[:opening] + ",".join(unique[:count]) + "]}"


def _closed_by_force(text: str, force: Force, is_whole: Callable[[str], bool]) -> str | None:
    for _ in range(_STEPS):
        text += force(text) or ""
        if is_whole(text):
            return text
        outline = Outline()
        outline.read(text.encode())
        closers = ('"',) if outline.quoted else _CLOSERS
        following = next((closer for closer in closers if force(text + closer) is not None), None)
        if following is None:
            return None
        text += following
    return None
