from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sgam.extraction.candidates import candidate_from_proposal
from sgam.memory_store.errors import InvalidInput
from sgam.memory_store.model import Candidate, Evidence, Key, Proposal, Quarantined

from .conftest import MORNING, SCHEMA, key, said

EPISODE = said("I live in Oslo. Nuts and milk are not for me.", episode_id="e1")


def propose(attribute: str, value: object, *, quote: str = "I live in Oslo", **more: Any) -> Candidate | Quarantined:
    proposal = Proposal(subject="Mira", attribute=attribute, value=value, quote=quote, **more)
    return candidate_from_proposal(proposal, EPISODE, SCHEMA)


def made(attribute: str, value: object, **more: Any) -> Candidate:
    got = propose(attribute, value, **more)

    assert isinstance(got, Candidate), got
    return got


def refused(attribute: str, value: object, **more: Any) -> str:
    got = propose(attribute, value, **more)

    assert isinstance(got, Quarantined), got
    return got.reason


class TestGood:
    def test_it_is_typed_grounded_and_keyed(self) -> None:
        assert made("city", " Oslo ") == Candidate(
            key=Key("traveller", "mira", "city"),
            value='"Oslo"',
            valid_from=MORNING,
            source="user",
            evidence=(Evidence(episode_id="e1", start=0, end=14, quote="I live in Oslo"),),
        )

    @pytest.mark.parametrize(
        ("attribute", "value", "canonical"),
        [
            ("deadline", date(2026, 6, 30), '"2026-06-30"'),
            ("deadline", "2026-06-30", '"2026-06-30"'),
            ("budget", Decimal("80.50"), '"80.5"'),
            ("children", "3", "3"),
            ("vegetarian", True, "true"),
            ("style", "concise", '"concise"'),
        ],
    )
    def test_the_value_is_canonical(self, attribute: str, value: object, canonical: str) -> None:
        assert made(attribute, value).value == canonical

    def test_none_revokes(self) -> None:
        assert made("city", None, change="revoke").value is None

    def test_times_are_taken_as_given(self) -> None:
        begin, end = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC)
        got = made("city", "Oslo", valid_from=begin, valid_until=end)

        assert (got.valid_from, got.valid_until, got.valid_from_end, got.time_rule) == (begin, end, None, "given")

    def test_a_coarse_time_ends_with_its_stretch_in_the_zone_of_the_episode(self) -> None:
        got = made("city", "Oslo", valid_from=datetime(2025, 12, 31, 23, tzinfo=UTC), precision="year")

        assert got.valid_from_end == datetime(2026, 12, 31, 23, tzinfo=UTC)


class TestMany:
    def test_an_entry_of_a_set_is_its_own_item(self) -> None:
        got = made("allergies", "Nuts  and milk")

        assert (got.key, got.item_text, got.value) == (
            key("allergies", "nuts and milk"),
            "Nuts  and milk",
            '"Nuts  and milk"',
        )

    def test_an_entry_of_a_set_is_revoked_by_its_item(self) -> None:
        got = made("allergies", None, item="MILK")

        assert (got.key.item, got.value) == ("milk", None)

    def test_an_item_beside_the_value_must_name_the_same(self) -> None:
        assert made("allergies", "milk", item="Milk").key.item == "milk"
        assert refused("allergies", "milk", item="nuts") == "outside_schema"

    def test_an_entry_that_is_no_text_is_keyed_by_its_canonical_form(self) -> None:
        assert made("lucky", "07").key.item == "7"
        assert made("lucky", None, item="7").key.item == "7"
        assert refused("lucky", None, item="seven") == "wrong_type"

    def test_an_entry_of_a_map_is_keyed_by_its_folded_item(self) -> None:
        got = made("ratings", "like", item=" Green  Tea ")

        assert (got.key.item, got.item_text) == ("green tea", "Green  Tea")

    @pytest.mark.parametrize("item", [None, "", "  "])
    def test_without_an_item_it_is_unknown_which_entry_is_meant(self, item: str | None) -> None:
        assert refused("ratings", "like", item=item) == "missing_field"
        assert refused("allergies", None, item=item) in {"missing_field", "wrong_type"}

    def test_an_attribute_with_one_value_has_no_items(self) -> None:
        assert refused("city", "Oslo", item="home") == "outside_schema"


class TestQuarantine:
    @pytest.mark.parametrize("quote", ["", " ", "I live in Rome", "i live in oslo", "I  live in Oslo", "\ud800"])
    def test_a_quote_that_does_not_stand_there_exactly(self, quote: str) -> None:
        assert refused("city", "Oslo", quote=quote) == "ungrounded"

    @pytest.mark.parametrize("value", ["July", "2026-02-30", 7, datetime(2026, 1, 1, tzinfo=UTC)])
    def test_a_value_of_another_type(self, value: object) -> None:
        assert refused("deadline", value) == "wrong_type"

    def test_an_integer_that_cannot_be_written_down(self) -> None:
        assert refused("children", 10**5_000) == "wrong_type"

    def test_an_unknown_attribute(self) -> None:
        assert refused("shoe_size", "38") == "outside_schema"

    def test_a_subject_that_is_no_name(self) -> None:
        proposal = Proposal(subject=" ", attribute="city", value="Oslo", quote="Oslo")

        assert isinstance(candidate_from_proposal(proposal, EPISODE, SCHEMA), Quarantined)

    def test_what_is_too_long(self) -> None:
        assert refused("city", "x" * 4_001) == "too_long"
        assert refused("allergies", "x" * 501) == "too_long"

    def test_an_interval_without_a_moment(self) -> None:
        assert refused("city", "Oslo", valid_until=MORNING) == "empty_interval"
        assert refused("city", "Oslo", valid_from=MORNING, valid_until=datetime(2020, 1, 1, tzinfo=UTC)) == (
            "empty_interval"
        )

    def test_a_stretch_beyond_the_calendar(self) -> None:
        last = datetime(9999, 12, 31, 12, tzinfo=UTC)

        assert refused("city", "Oslo", valid_from=last, precision="year") == "unresolved_time"

    @pytest.mark.parametrize("more", [{"precision": "week"}, {"change": "forget"}, {"item": 7}])
    def test_a_malformed_proposal(self, more: dict[str, Any]) -> None:
        assert refused("city", "Oslo", **more) == "malformed"

    def test_the_raw_text_tells_what_was_proposed(self) -> None:
        got = propose("deadline", "July")

        assert isinstance(got, Quarantined)
        assert got.raw == (
            '{"quote": "I live in Oslo", "subject": "Mira", "attribute": "deadline", "value": "July", '
            '"precision": "exact"}'
        )

    @given(quote=st.text(), value=st.text() | st.integers() | st.floats() | st.none(), item=st.none() | st.text())
    def test_no_proposal_raises_and_every_row_can_be_stored(self, quote: str, value: object, item: str | None) -> None:
        for attr in SCHEMA.attributes():
            got = propose(attr.name, value, quote=quote, item=item)

            assert isinstance(got, Candidate | Quarantined)
            if isinstance(got, Quarantined):
                (got.raw + got.message).encode()
                assert "\x00" not in got.raw + got.message


def test_a_naive_time_is_an_error_of_the_caller() -> None:
    with pytest.raises(InvalidInput, match="valid_from"):
        propose("city", "Oslo", valid_from=datetime(2026, 1, 1))  # noqa: DTZ001
