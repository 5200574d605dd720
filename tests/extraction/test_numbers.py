from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sgam.extraction.numbers import to_number


@pytest.mark.parametrize(
    ("phrase", "number"),
    [
        ("38", 38),
        ("-4", -4),
        ("1,200", 1200),
        ("12,345,678", 12345678),
        ("two", 2),
        ("Twenty-Five", 25),
        ("one hundred and five", 105),
        ("a hundred", 100),
        ("a dozen", 12),
        ("minus five", -5),
        ("two million", 2000000),
        ("zero", 0),
    ],
)
def test_digits_and_words_are_read_as_integers(phrase: str, number: int) -> None:
    found = to_number(phrase)

    assert found == number
    assert type(found) is int


@pytest.mark.parametrize(
    ("phrase", "number"), [("1,200.50", "1200.50"), ("0.1", "0.1"), ("three point five", "3.5"), ("-0.25", "-0.25")]
)
def test_decimals_are_kept_to_the_digit(phrase: str, number: str) -> None:
    assert str(to_number(phrase)) == number
    assert isinstance(to_number(phrase), Decimal)


@pytest.mark.parametrize(
    "phrase",
    ["", " ", "soon", "5 km", "five km", "half", "third", "one two", "1e5", "1,20", "--5", "minus -5", "12:30", "0x10"],
)
def test_what_is_not_one_number_is_none(phrase: str) -> None:
    assert to_number(phrase) is None


@pytest.mark.parametrize("phrase", ["9" * 201, "5\x00", "\ud800", "٣", "²"])
def test_hostile_digits_are_none_or_plain_numbers(phrase: str) -> None:
    assert to_number(phrase) in {None, 2}


@given(st.integers(min_value=-(10**30), max_value=10**30))
def test_an_integer_survives_being_written_with_separators(number: int) -> None:
    assert to_number(f"{number:,}") == number


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**9), max_value=10**9))
def test_a_decimal_survives_being_written(number: Decimal) -> None:
    assert to_number(f"{number:,f}") == number


@given(st.text(max_size=300))
def test_no_text_raises(phrase: str) -> None:
    to_number(phrase)
