"""Time phrases in fewer words: one spelling for each idiom, so that the reader of dates meets few shapes.

"Half past eleven in the morning" becomes "11:30 am", "a couple of weeks from today" becomes "in 2 weeks" and "the
twenty-fifth of December" becomes "25th of december".  Nothing is resolved here: no rule knows when the phrase was said.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from .numbers import tidy, words_to_digits

UNIT: Final = "second|sec|minute|min|hour|day|week|fortnight|month|year|decade"
COUNT: Final = rf"\d+(?:\.\d+)? (?:{UNIT})s?"
_CLOCK: Final = r"\d{1,2}(?::\d\d)?"


def _half_hour(match: re.Match[str]) -> str:
    minutes = {"half past": 30, "quarter past": 15, "quarter to": -15}[match[1]]
    hour = int(match[2])
    if minutes < 0:
        hour, minutes = hour - 1 or 12, minutes + 60
    return f"{hour}:{minutes:02}"


def _half_of_day(match: re.Match[str]) -> str:
    clock, part = match["clock"], match["part"]
    hour = int(clock.split(":")[0])
    if not 1 <= hour <= 12:
        return clock
    small = part == "morning" or (part == "night" and (hour == 12 or hour < 5))
    return f"{clock} {'am' if small else 'pm'}"


_Rewrite = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]
_REWRITES: Final[tuple[_Rewrite, ...]] = (
    (re.compile(r"\b(?:the|about|around|approximately|roughly|nearly|almost|circa)\b"), " "),
    (re.compile(r"\s+"), " "),
    (re.compile(r"^ +| +$"), ""),
    (re.compile(r"\b(\d{1,2})\.(\d\d) ?(?=[ap]\.? ?m\b)"), r"\1:\2 "),
    (re.compile(r"\bo ?['\"]?clock\b"), ":00"),
    (re.compile(r"(\d{1,2})(:\d\d)? ?:00\b"), lambda m: f"{m[1]}{m[2] or ':00'}"),
    (re.compile(r"\b(half past|quarter past|quarter to) (\d{1,2})\b(?!:)"), _half_hour),
    (re.compile(r"(\d) ?([ap])\.? ?m\b\.?"), r"\1 \2m"),
    (
        re.compile(rf"\b(?P<part>morning|afternoon|evening|night),?(?: at)? (?P<clock>{_CLOCK})(?! ?[ap]m|\d|/)"),
        _half_of_day,
    ),
    (re.compile(rf"\b(?P<clock>{_CLOCK}) (?:in|at) (?P<part>morning|afternoon|evening|night)\b"), _half_of_day),
    (re.compile(r"\btonight(?: at)? ((?:[5-9]|1[01])(?::\d\d)?)$"), r"today \1 pm"),
    (re.compile(r"(?<!\w)'([0-6]\d)\b"), r"20\1"),
    (re.compile(r"(?<!\w)'([7-9]\d)\b"), r"19\1"),
    (re.compile(r"^(\d{1,2}/\d{1,2}/)([0-6]\d)$"), r"\g<1>20\2"),
    (re.compile(r"^(\d{1,2}/\d{1,2}/)([7-9]\d)$"), r"\g<1>19\2"),
    (re.compile(rf"\b(?:an?|1) (?={UNIT})"), "1 "),
    (re.compile(rf"^({UNIT}) ago$"), r"1 \1 ago"),
    (re.compile(r"\ba? ?couple(?: of)? "), "2 "),
    (re.compile(r"\bhalf 1 hour\b|\bhalf an hour\b|\bhalf hour\b"), "30 minutes"),
    (re.compile(r"\b(\d+) fortnights?\b"), lambda m: f"{2 * int(m[1])} weeks"),
    (re.compile(rf"({COUNT})'?s? time$"), r"\1"),
    (re.compile(rf"({COUNT}) (?:from today|from now|hence|later)$"), r"in \1"),
    (re.compile(rf"({COUNT}) (?:back|earlier|before now)$"), r"\1 ago"),
    (re.compile(r"^(?:later|earlier) today$"), "today"),
    (
        re.compile(
            r"^(?:as of |effective )?(?:right now|just now|currently|current"
            r"|at (?:moment|present|this time|present time)|presently|nowadays|these days|immediately)$"
        ),
        "now",
    ),
    (re.compile(r"\b([1-4])(?:st|nd|rd|th)[ -]quarter\b(?: of)?"), r"q\1"),
    (re.compile(r"\s+"), " "),
)
_ONE_SECOND: Final = re.compile(r"\b(a|one|1) second\b")
_SPOKEN_YEAR: Final = re.compile(r"\b(1[0-9]|20) ([0-9]{2})\b")


def simplify(phrase: str) -> str | None:
    """Write a phrase in fewer words: lower case, digits for number words, no articles, one form for each idiom."""
    text = tidy(phrase)
    if text is None:
        return None
    text = words_to_digits(_ONE_SECOND.sub("1 sec", text.strip(" .,;:!?()[]'\"")))
    if not any(c.isdigit() for c in phrase):
        text = _SPOKEN_YEAR.sub(r"\1\2", text)
    for pattern, new in _REWRITES:
        text = pattern.sub(new, text)
    return text.strip(" ,")
