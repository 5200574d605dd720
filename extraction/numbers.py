"""Number phrases -> numbers: digits with or without thousands separators, and English number words (`text2num`).

`to_number` reads the whole phrase or nothing: "38", "-4", "1,200.50", "twenty-five", "three point five", "a dozen".
No units ("5 km"), no fractions in words ("half"), no ordinals ("third"), no scientific notation.  A comma separates
thousands and a point the decimals, as English writes them.  An integer has the type `int`, anything with decimals is
a `Decimal`, so that nothing is rounded.  What it cannot read is None.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Final, cast

MAX_LENGTH: Final = 200
"""Code points that a phrase may have."""

_DIGITS = re.compile(r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?")
_SIGN_WORD = re.compile(r"^(?:minus|negative)\s+")
_ONE = re.compile(r"^(?:a|an)\s+(?=hundred|thousand|million|billion|dozen)")


def to_number(phrase: str) -> int | Decimal | None:
    """Read the whole phrase as one number; None when it is not one."""
    text = tidy(phrase)
    if text is None:
        return None
    sign, rest = (-1, _SIGN_WORD.sub("", text)) if _SIGN_WORD.match(text) else (1, text)
    if sign < 0 and rest[:1] in {"+", "-"}:
        return None
    number = _number(rest)
    return None if number is None else sign * number


def words_to_digits(text: str) -> str:
    """Write the number words and ordinals of an English text in digits: "the fifth of May" -> "the 5th of May"."""
    return _library()(text, "en", 0.0)


def tidy(phrase: str) -> str | None:
    """Fold case, width, white space and invisible marks; None for what is too long or holds control characters."""
    if len(phrase) > MAX_LENGTH:
        return None
    text = "".join(c for c in unicodedata.normalize("NFKC", phrase) if unicodedata.category(c) != "Cf")
    text = " ".join(text.casefold().split()).replace("\u2212", "-").replace("\u2019", "'")
    if not text or len(text) > MAX_LENGTH or any(unicodedata.category(c) in {"Cc", "Cs"} for c in text):
        return None
    return text


def _number(text: str) -> int | Decimal | None:
    if text == "a dozen":
        return 12
    digits = text if _DIGITS.fullmatch(text) else words_to_digits(_ONE.sub("one ", text))
    if not _DIGITS.fullmatch(digits):
        return None
    plain = digits.replace(",", "")
    return Decimal(plain) if "." in plain else int(plain)


@cache
def _library() -> Callable[[str, str, float], str]:
    """Load the library on first use; it ships no types, so they are declared here."""
    from text_to_num import alpha2digit  # type: ignore[import-untyped]

    return cast("Callable[[str, str, float], str]", alpha2digit)
