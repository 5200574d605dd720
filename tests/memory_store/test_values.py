"""Canonical forms and equality of each type, and what is refused."""

from __future__ import annotations

import enum
import json
import math
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sgam.memory_store.values import (
    MAX_VALUE_LENGTH,
    TypeName,
    ValueType,
    check_text,
    fold,
    identity,
    to_json,
)

from .ledgers import cases

EAST = timezone(timedelta(hours=2))


class Style(enum.Enum):
    CONCISE = "concise"
    DETAILED = "detailed"


def kind(name: TypeName) -> ValueType:
    return ValueType(name=name, values=("concise", "detailed") if name == "enum" else ())


@pytest.mark.parametrize(
    ("name", "raw", "canonical"),
    [
        ("text", "  Porto \n", '"Porto"'),
        ("text", "Zürich", '"Zürich"'),
        ("text", 'said "no"', '"said \\"no\\""'),
        ("text", "e\u0301", '"e\u0301"'),
        ("integer", 42, "42"),
        ("integer", " 42 ", "42"),
        ("integer", 42.0, "42"),
        ("integer", -0, "0"),
        ("integer", 10**30, str(10**30)),
        ("number", 1, "1.0"),
        ("number", "0.1", "0.1"),
        ("number", Decimal("2.50"), "2.5"),
        ("number", 1e300, "1e+300"),
        ("decimal", "1.50", '"1.5"'),
        ("decimal", "1E+3", '"1000"'),
        ("decimal", Decimal("-0.00"), '"0"'),
        ("decimal", "0.0000001", '"0.0000001"'),
        ("decimal", 1.1, '"1.1"'),
        ("decimal", "123456789012345678901234567890.12", '"123456789012345678901234567890.12"'),
        ("boolean", True, "true"),
        ("boolean", "False", "false"),
        ("date", date(2026, 6, 30), '"2026-06-30"'),
        ("date", " 2026-06-30 ", '"2026-06-30"'),
        ("time", "09:05", '"09:05"'),
        ("time", time(9, 5, 7), '"09:05:07"'),
        ("time", time(9, 5, 0, 1), '"09:05:00.000001"'),
        ("datetime", "2026-06-01T09:00:00+02:00", '"2026-06-01T07:00:00Z"'),
        ("datetime", datetime(2026, 6, 1, 9, 0, 0, 5, tzinfo=UTC), '"2026-06-01T09:00:00.000005Z"'),
        ("enum", "concise", '"concise"'),
        ("enum", Style.DETAILED, '"detailed"'),
    ],
)
def test_a_value_has_one_canonical_text(name: TypeName, raw: object, canonical: str) -> None:
    assert kind(name).canonical(raw) == canonical


@pytest.mark.parametrize(
    ("name", "raw", "value"),
    [
        ("text", " Porto ", "Porto"),
        ("integer", "7", 7),
        ("number", 7, 7.0),
        ("decimal", "7.10", Decimal("7.1")),
        ("boolean", "TRUE", True),
        ("date", "2026-06-30", date(2026, 6, 30)),
        ("time", "23:59:59", time(23, 59, 59)),
        ("datetime", datetime(2026, 6, 1, 9, tzinfo=EAST), datetime(2026, 6, 1, 7, tzinfo=UTC)),
        ("enum", Style.CONCISE, "concise"),
    ],
)
def test_a_canonical_text_reads_back_as_the_python_value(name: TypeName, raw: object, value: object) -> None:
    back = kind(name).decode(kind(name).canonical(raw))

    assert back == value
    assert type(back) is type(value)


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("text", "New  York", "new york"),
        ("text", "Straße", "STRASSE"),
        ("text", "é", "e\u0301"),
        ("text", "a\u00a0b", "a b"),
        ("integer", 7, "7"),
        ("number", 0.0, -0.0),
        ("number", "1e2", 100),
        ("decimal", "1.0", "1.000"),
        ("decimal", "0", "-0"),
        ("decimal", "1E+2", 100),
        ("boolean", True, "true"),
        ("time", "09:05", "09:05:00"),
        ("datetime", "2026-06-01T09:00:00+02:00", "2026-06-01T07:00:00Z"),
    ],
)
def test_equal_values_share_their_identity(name: TypeName, one: object, other: object) -> None:
    assert identity(kind(name).canonical(one)) == identity(kind(name).canonical(other))


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("text", "Porto", "Port"),
        ("text", "resume", "résumé"),
        ("text", "1", "1.0"),
        ("integer", 7, 8),
        ("integer", 2**53, 2**53 + 1),
        ("number", 0.1, 0.1000001),
        ("decimal", "0.1", "0.10000000000000000001"),
        ("boolean", True, False),
        ("date", "2026-06-30", "2026-07-30"),
        ("time", "09:05", "09:05:00.000001"),
        ("datetime", "2026-06-01T09:00:00Z", "2026-06-01T09:00:00.000001Z"),
        ("enum", "concise", "detailed"),
    ],
)
def test_unequal_values_differ_in_identity(name: TypeName, one: object, other: object) -> None:
    assert identity(kind(name).canonical(one)) != identity(kind(name).canonical(other))


@pytest.mark.parametrize(
    ("name", "raw", "message"),
    [
        ("text", "", "expected text, got nothing"),
        ("text", " \t\n", "expected text, got nothing"),
        ("text", 7, "expected text, got int"),
        ("text", None, "expected text, got NoneType"),
        ("text", "a\x00b", "NUL"),
        ("text", "a\ud800b", "lone surrogate"),
        ("text", "x" * (MAX_VALUE_LENGTH + 1), "longer than 4000 characters"),
        ("integer", True, "expected an integer"),
        ("integer", "seven", "expected an integer"),
        ("integer", 1.5, "expected an integer"),
        ("integer", math.nan, "expected an integer"),
        ("integer", math.inf, "expected an integer"),
        ("integer", "1.0", "expected an integer"),
        ("integer", None, "expected an integer"),
        pytest.param("integer", 10**5000, "bits", id="integer of 5001 digits"),
        ("number", True, "expected a number"),
        ("number", "nan", "expected a finite number"),
        ("number", "1e999", "expected a finite number"),
        ("number", 10**400, "expected a number"),
        ("number", [], "expected a number"),
        ("decimal", True, "expected a decimal"),
        ("decimal", "NaN", "expected a finite decimal"),
        ("decimal", "sNaN", "expected a finite decimal"),
        ("decimal", "Infinity", "expected a finite decimal"),
        ("decimal", "1e999999999", "expected a finite decimal of a sane size"),
        ("decimal", "1e-999999999", "expected a finite decimal of a sane size"),
        ("decimal", "one", "expected a decimal"),
        ("boolean", 1, "expected true or false"),
        ("boolean", "yes", "expected true or false"),
        ("date", "30/06/2026", "expected a date as YYYY-MM-DD"),
        ("date", "2026-02-30", "expected a date"),
        ("date", datetime(2026, 6, 30, tzinfo=UTC), "expected a date"),
        ("time", "09:05+02:00", "without an offset"),
        ("time", time(9, 5, tzinfo=UTC), "without an offset"),
        ("time", "25:00", "expected a time of day"),
        ("datetime", "2026-06-01T09:00:00", "with an offset"),
        ("datetime", datetime(2026, 6, 1), "with an offset"),  # noqa: DTZ001 - a naive one is the point
        ("datetime", date(2026, 6, 1), "with an offset"),
        ("datetime", "0001-01-01T00:00:00+02:00", "out of the calendar's range"),
        ("enum", "Concise", "expected one of concise, detailed"),
        ("enum", True, "expected one of concise, detailed"),
        ("enum", None, "expected one of concise, detailed"),
    ],
)
def test_what_is_no_value_of_the_type_is_refused(name: TypeName, raw: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kind(name).canonical(raw)


def test_an_enum_need_not_hold_text() -> None:
    class Level(enum.Enum):
        LOW = 1

    with pytest.raises(ValueError, match="expected one of 1; got 1"):
        ValueType(name="enum", values=("1",)).parse(Level.LOW)


VALUES: dict[TypeName, st.SearchStrategy[Any]] = {
    "text": st.text(max_size=40).filter(lambda text: bool(text.strip()) and "\x00" not in text),
    "integer": st.integers(),
    "number": st.floats(allow_nan=False, allow_infinity=False),
    "decimal": st.decimals(
        allow_nan=False, allow_infinity=False, min_value=Decimal("-1e50"), max_value=Decimal("1e50")
    ),
    "boolean": st.booleans(),
    "date": st.dates(),
    "time": st.times(),
    "datetime": st.datetimes(
        min_value=datetime(2, 1, 1),  # noqa: DTZ001 - the zone comes apart
        max_value=datetime(9998, 1, 1),  # noqa: DTZ001 - the zone comes apart
        timezones=st.just(EAST),
    ),
    "enum": st.sampled_from(["concise", "detailed"]),
}


@pytest.mark.parametrize("name", VALUES)
def test_the_canonical_text_of_a_canonical_text_is_itself(name: TypeName) -> None:
    @cases(60)
    @given(VALUES[name])
    def law(raw: object) -> None:
        canonical = kind(name).canonical(raw)

        assert kind(name).canonical(json.loads(canonical)) == canonical
        assert kind(name).decode(canonical) == kind(name).parse(raw)

    law()


@pytest.mark.parametrize("name", [name for name in VALUES if name != "text"])
def test_identity_is_equality(name: TypeName) -> None:
    @cases(60)
    @given(VALUES[name], VALUES[name])
    def law(one: object, other: object) -> None:
        equal = kind(name).parse(one) == kind(name).parse(other)

        assert (identity(kind(name).canonical(one)) == identity(kind(name).canonical(other))) == equal

    law()


@cases(200)
@given(st.text(max_size=30))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def outcome(name: TypeName, raw: object) -> str:
    try:
        return kind(name).canonical(raw)
    except ValueError as error:
        return str(error)


@cases(200)
@given(st.one_of(st.text(), st.integers(), st.floats(), st.none(), st.booleans(), st.lists(st.integers(), max_size=2)))
def test_whatever_comes_is_a_value_or_a_value_error_of_one_line(raw: object) -> None:
    assert not any("\n" in outcome(name, raw) for name in VALUES)


def test_text_of_any_script_can_be_stored() -> None:
    check_text("日本語 עברית 👩‍👩‍👧 \u200b \U0010ffff")


def test_json_of_a_time_leaves_out_what_is_zero() -> None:
    assert to_json(time(7)) == "07:00"
