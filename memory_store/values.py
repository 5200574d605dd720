"""Value types: how a raw value is read, what its canonical form is, and when two values are equal.

Three forms of one value:

* the Python value that a caller sees (`date(2026, 6, 30)`),
* its canonical text, which is JSON and is what a store keeps (`"2026-06-30"` with the quotes),
* its identity, a string that is equal exactly for equal values.

| type | Python | canonical | equal when |
|---|---|---|---|
| text | str | as said, outer white space removed | equal after NFC, case folding and collapsing white space |
| integer | int | JSON integer | numerically equal |
| number | float | shortest JSON number, finite | numerically equal |
| decimal | Decimal | JSON string without exponent or trailing zeros | numerically equal |
| boolean | bool | `true` / `false` | same |
| date | date | `YYYY-MM-DD` | same day |
| time | time | `HH:MM[:SS[.ffffff]]`, no offset | same time |
| datetime | datetime | UTC, `YYYY-MM-DDTHH:MM:SS[.ffffff]Z` | same instant |
| enum | str | the member | same member |
"""

from __future__ import annotations

import enum
import json
import math
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation, localcontext
from typing import Final, Literal

TypeName = Literal["text", "integer", "number", "decimal", "boolean", "date", "time", "datetime", "enum"]
Scalar = str | int | float | Decimal | bool | date | time | datetime

MAX_VALUE_LENGTH: Final = 4_000
"""Code points that a value may have."""
_MAX_EXPONENT: Final = 100
_MAX_BITS: Final = 4_096


@dataclass(frozen=True, kw_only=True, slots=True)
class ValueType:
    """Type of one attribute's values; `values` lists the members of an enum in order."""

    name: TypeName
    values: tuple[str, ...] = ()

    def parse(self, raw: object) -> Scalar:
        """Read `raw`, a Python value or its JSON form.  Raises ValueError that says what was expected."""
        if isinstance(raw, enum.Enum):
            raw = raw.value
        if isinstance(raw, str) and len(raw) > MAX_VALUE_LENGTH:
            raise ValueError(f"longer than {MAX_VALUE_LENGTH} characters")
        if self.name == "enum":
            return self._member(raw)
        return _PARSERS[self.name](raw)

    def _member(self, raw: object) -> str:
        if isinstance(raw, str) and raw in self.values:
            return raw
        raise ValueError(f"expected one of {', '.join(self.values)}; got {raw!r}")

    def canonical(self, raw: object) -> str:
        """The canonical text of `raw`.  Raises ValueError as `parse` does."""
        return encode(self.parse(raw))

    def decode(self, canonical: str) -> Scalar:
        """The Python value of a canonical text."""
        return self.parse(json.loads(canonical))


def encode(value: Scalar) -> str:
    """The canonical text of a parsed value."""
    return json.dumps(to_json(value), ensure_ascii=False)


def to_json(value: Scalar) -> str | int | float | bool:
    """The JSON form of a parsed value."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, time):
        return value.isoformat("auto" if value.second or value.microsecond else "minutes")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return _plain(value)
    return value


def identity(canonical: str) -> str:
    """A string that two canonical texts of one type share exactly when their values are equal."""
    value = json.loads(canonical)
    if isinstance(value, str):
        return fold(value)
    if isinstance(value, float):
        return repr(value + 0.0)  # -0.0 and 0.0 are equal
    return canonical


def fold(text: str) -> str:
    """Text reduced to what counts for equality: NFC, case folded, white space collapsed."""
    folded = unicodedata.normalize("NFC", text).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())


def _text(raw: object) -> str:
    if not isinstance(raw, str):
        raise ValueError(f"expected text, got {type(raw).__name__}")
    check_text(raw)
    stripped = raw.strip()
    if not stripped:
        raise ValueError("expected text, got nothing")
    return stripped


def check_text(text: str) -> None:
    """Raise ValueError for text that cannot be stored: lone surrogates and NUL."""
    if "\x00" in text:
        raise ValueError("contains a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("contains a lone surrogate, which is no character") from None


def _integer(raw: object) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int | str | float):
        raise ValueError(f"expected an integer, got {raw!r}")
    try:
        value = int(raw)
    except (ValueError, OverflowError):
        raise ValueError(f"expected an integer, got {raw!r}") from None
    if value.bit_length() > _MAX_BITS:
        raise ValueError(f"expected an integer of at most {_MAX_BITS} bits")
    if isinstance(raw, float) and value != raw:
        raise ValueError(f"expected an integer, got {raw!r}")
    return value


def _number(raw: object) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float | str | Decimal):
        raise ValueError(f"expected a number, got {raw!r}")
    try:
        value = float(raw)
    except (ValueError, OverflowError):
        raise ValueError(f"expected a number, got {raw!r}") from None
    if not math.isfinite(value):
        raise ValueError(f"expected a finite number, got {raw!r}")
    return value


def _decimal(raw: object) -> Decimal:
    if isinstance(raw, bool) or not isinstance(raw, int | float | str | Decimal):
        raise ValueError(f"expected a decimal, got {raw!r}")
    try:
        value = Decimal(str(raw))
    except InvalidOperation:
        raise ValueError(f"expected a decimal, got {raw!r}") from None
    if not value.is_finite() or abs(value.adjusted()) > _MAX_EXPONENT:
        raise ValueError(f"expected a finite decimal of a sane size, got {raw!r}")
    return value


def _plain(value: Decimal) -> str:
    with localcontext(prec=max(len(value.as_tuple().digits), 1)):
        return format(abs(value.normalize()) if value.is_zero() else value.normalize(), "f")


def _boolean(raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, str) and raw.casefold() in {"true", "false"}:
        return raw.casefold() == "true"
    raise ValueError(f"expected true or false, got {raw!r}")


def _date(raw: object) -> date:
    if isinstance(raw, date) and not isinstance(raw, datetime):
        return raw
    if isinstance(raw, str):
        try:
            return date.fromisoformat(raw.strip())
        except ValueError:
            pass
    raise ValueError(f"expected a date as YYYY-MM-DD, got {raw!r}")


def _time(raw: object) -> time:
    value = raw
    if isinstance(raw, str):
        try:
            value = time.fromisoformat(raw.strip())
        except ValueError:
            value = None
    if isinstance(value, time) and value.tzinfo is None:
        return value
    raise ValueError(f"expected a time of day as HH:MM without an offset, got {raw!r}")


def _datetime(raw: object) -> datetime:
    value = raw
    if isinstance(raw, str):
        try:
            value = datetime.fromisoformat(raw.strip())
        except ValueError:
            value = None
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise ValueError(f"expected a date and time with an offset, got {raw!r}")
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"out of the calendar's range: {raw!r}") from None


_PARSERS: Final[dict[str, Callable[[object], Scalar]]] = {
    "text": _text,
    "integer": _integer,
    "number": _number,
    "decimal": _decimal,
    "boolean": _boolean,
    "date": _date,
    "time": _time,
    "datetime": _datetime,
}
