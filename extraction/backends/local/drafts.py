"""Guesses of how an answer goes on.

A guess costs little when it is right and changes nothing when it is wrong: the decode loop feeds it to the model and
keeps what the model would have chosen itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from .grammar import json_text

_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_LAST_KEY: Final = re.compile(r'"(\w+)":"?\Z')
_NULLABLE: Final = ("when", "until", "item", "current_value")
_EVIDENCE: Final = re.compile(r'"evidence":"((?:[^"\\]|\\.)*)"', re.DOTALL)
_TRAILING: Final = " .!?,;:"

Force = Callable[[str], str | None]
"""What must follow the answer so far plus a guess, by the grammar; None when the guess is not allowed."""


def guess(text: str, source: str) -> str:
    """How an answer that begins with `text` may go on, or "" where there is nothing to go by.

    Quotes go on as the source does, values as the evidence does, times are null.  `text` is the beginning of a JSON
    answer with compact separators.
    """
    opened = _open_string(text)
    if opened is None:
        return _outside(text)
    key, begun = opened
    return _in_quote(key, begun, text, json_text(source))


def draft(text: str, source: str, force: Force, *, rounds: int = 4) -> tuple[str, str]:
    """What must follow `text`, and what may follow that: guesses, with what each of them forces in turn."""
    must = force("") or ""
    may = ""
    for _ in range(rounds):
        more = guess(text + must + may, source)
        forced = force(must + may + more) if more else None
        if forced is None:
            break
        may += more + forced
    return must, may


def retokenised(before: Sequence[int], text: str, encode: Callable[[str], list[int]], tail: str) -> list[int]:
    """The tokens of `text` after the tokens `before`, whose text is `tail`, as they would stand in one text."""
    together = encode(tail + text)
    return together[len(before) :] if together[: len(before)] == list(before) else encode(text)


def _open_string(text: str) -> tuple[str, str] | None:
    """The key and the beginning of the string value that `text` breaks off in."""
    end = 0
    for found in _STRING.finditer(text):
        end = found.end()
    start = text.find('"', end)
    if start < 0:
        return None
    key = _LAST_KEY.search(text[: start + 1])
    return (key[1] if key else "", text[start + 1 :])


def _outside(text: str) -> str:
    key = _LAST_KEY.search(text)
    if key and key[1] in _NULLABLE:
        return "null"
    return ""


def _in_quote(key: str, begun: str, text: str, source: str) -> str:
    if key == "evidence":
        return _rest(source, begun, after=_evidence(text)) + '"' if begun or not _evidence(text) else ""
    evidence = _evidence(text)
    if not begun:
        return ""
    if begun in evidence:
        return _rest(evidence, begun).rstrip(_TRAILING) + '"'
    return _rest(source, begun)


def _rest(text: str, begun: str, after: str = "") -> str:
    """What follows `begun` in `text`, preferably behind `after`."""
    at = text.find(begun, max(text.find(after), 0) + len(after) if after in text else 0)
    at = at if at >= 0 else text.find(begun)
    return text[at + len(begun) :] if at >= 0 else ""


def _evidence(text: str) -> str:
    """The evidence of the last update, as it is spelled in JSON."""
    found = ""
    for match in _EVIDENCE.finditer(text):
        found = match[1]
    return found
