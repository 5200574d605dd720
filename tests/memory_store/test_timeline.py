"""The timeline of a key against a definition that looks at one instant at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sgam.memory_store.timeline import Assertion, Stretch, at, timeline

from .histories import histories, said
from .ledgers import cases, day
from .oracle import in_force, value_at


def plain(stretches: Sequence[Stretch]) -> list[tuple[datetime, datetime | None, str]]:
    return [(stretch.start, stretch.end, stretch.value) for stretch in stretches]


def shape(stretches: Sequence[Stretch]) -> list[tuple[datetime, datetime | None, str]]:
    return [(stretch.start, stretch.end, stretch.identity) for stretch in stretches]


def instants(history: Sequence[Assertion]) -> list[datetime]:
    """Every instant at which anything may change."""
    ends = {entry.valid_until for entry in history if entry.valid_until is not None}
    return sorted({entry.valid_from for entry in history} | ends)


@cases(600)
@given(histories())
def test_the_value_at_every_instant_is_that_of_the_definition(history: list[Assertion]) -> None:
    moments = [when for known in instants(history) for when in (known, known + (day(0.5) - day(0)))]
    found = [(stretch.identity if (stretch := at(timeline(history), when)) else None) for when in moments]

    assert found == [value_at(history, when) for when in moments]


@cases(150)
@given(histories(), st.randoms(use_true_random=False))
def test_the_order_of_the_argument_does_not_matter(history: list[Assertion], chance: Random) -> None:
    shuffled = list(history)
    chance.shuffle(shuffled)

    assert timeline(shuffled) == timeline(history)


@cases(150)
@given(histories())
def test_stretches_come_in_order_and_never_overlap(history: list[Assertion]) -> None:
    found = timeline(history)

    assert all(first.end is not None and first.end <= second.start for first, second in pairwise(found))
    assert all(stretch.end is None or stretch.start < stretch.end for stretch in found)


@cases(150)
@given(histories())
def test_stretches_are_as_long_as_they_can_be(history: list[Assertion]) -> None:
    touching = [
        (first.identity, second.identity) for first, second in pairwise(timeline(history)) if first.end == second.start
    ]

    assert all(before != after for before, after in touching)


@cases(150)
@given(histories())
def test_what_supports_a_stretch_is_its_opener_and_what_repeats_it_inside(history: list[Assertion]) -> None:
    for stretch in timeline(history):
        inside = {
            entry.id
            for entry in history
            if entry.identity == stretch.identity
            and stretch.start <= entry.valid_from
            and (stretch.end is None or entry.valid_from < stretch.end)
        }
        observed = [entry.observed_at for entry in history if entry.id in inside | {stretch.opener}]

        assert set(stretch.supports) == inside | {stretch.opener}
        assert len(set(stretch.supports)) == len(stretch.supports)
        assert stretch.supports[0] == stretch.opener
        assert stretch.last_observed == max(observed)


@cases(150)
@given(histories())
def test_the_opener_asserts_the_value_and_is_in_force_where_the_stretch_begins(history: list[Assertion]) -> None:
    by_id = {entry.id: entry for entry in history}
    for stretch in timeline(history):
        opener = by_id[stretch.opener]
        run = in_force(history, stretch.start)

        assert (opener.value, opener.identity) == (stretch.value, stretch.identity)
        assert run is not None
        assert opener.id in {member.id for member in run}


@cases(150)
@given(histories())
def test_a_repetition_without_end_of_what_has_none_changes_no_stretch(history: list[Assertion]) -> None:
    for stretch in timeline(history)[-1:]:
        if stretch.end is not None:
            continue
        again = replace(said(99, stretch.value, 0), valid_from=stretch.start, precedence=9)

        assert shape(timeline([*history, again])) == shape(timeline(history))


def test_nothing_said_is_an_empty_timeline() -> None:
    assert timeline([]) == ()


def test_one_value_holds_for_ever() -> None:
    assert plain(timeline([said(1, "a", 1)])) == [(day(1), None, "a")]


def test_a_value_that_comes_back_gets_a_stretch_of_its_own() -> None:
    history = [said(1, "a", 1), said(2, "b", 2), said(3, "a", 3)]

    assert plain(timeline(history)) == [(day(1), day(2), "a"), (day(2), day(3), "b"), (day(3), None, "a")]


def test_a_value_learned_late_takes_its_place_in_the_middle() -> None:
    history = [said(1, "a", 1), said(2, "c", 9), said(3, "b", 5)]

    assert plain(timeline(history)) == [(day(1), day(5), "a"), (day(5), day(9), "b"), (day(9), None, "c")]


def test_a_repetition_keeps_its_value_right_when_another_arrives_before_it() -> None:
    history = [said(1, "a", 1), said(2, "a", 5), said(3, "b", 3)]

    assert plain(timeline(history)) == [(day(1), day(3), "a"), (day(3), day(5), "b"), (day(5), None, "a")]


def test_a_bounded_value_lies_over_an_open_one_which_resumes() -> None:
    history = [said(1, "lisbon", 1), said(2, "paris", 3, 5)]

    assert plain(timeline(history)) == [
        (day(1), day(3), "lisbon"),
        (day(3), day(5), "paris"),
        (day(5), None, "lisbon"),
    ]


def test_a_stretch_that_resumes_is_opened_by_the_last_word_on_its_value() -> None:
    history = [said(1, "lisbon", 1), said(2, "lisbon", 2), said(3, "paris", 3, 5)]

    assert [(stretch.opener, stretch.supports) for stretch in timeline(history)] == [(1, (1, 2)), (3, (3,)), (2, (2,))]


def test_a_value_said_under_a_bounded_one_resumes_after_it() -> None:
    history = [said(1, "lisbon", 1), said(2, "paris", 3, 7), said(3, "rome", 5)]

    assert plain(timeline(history)) == [(day(1), day(3), "lisbon"), (day(3), day(5), "paris"), (day(5), None, "rome")]


def test_the_end_of_the_value_in_force_ends_it_and_nothing_older_resumes() -> None:
    history = [said(1, "old", 0), said(2, "new", 2), said(3, "new", 4, 6)]

    assert plain(timeline(history)) == [(day(0), day(2), "old"), (day(2), day(6), "new")]


def test_of_two_ends_the_one_told_from_the_later_time_counts() -> None:
    told = [said(1, "a", 1), said(2, "a", 2, 9), said(3, "a", 3, 6)]

    assert plain(timeline(told)) == [(day(1), day(6), "a")]


def test_an_end_told_from_an_earlier_time_does_not_count_though_it_is_learned_last() -> None:
    told = [said(1, "a", 1), said(2, "a", 3, 6), said(3, "a", 2, 9)]

    assert plain(timeline(told)) == [(day(1), day(6), "a")]


def test_a_repetition_without_an_end_makes_a_bounded_stay_go_on() -> None:
    history = [said(1, "lisbon", 1), said(2, "paris", 3, 5), said(3, "paris", 4)]

    assert plain(timeline(history)) == [(day(1), day(3), "lisbon"), (day(3), None, "paris")]


def test_a_repetition_without_an_end_does_not_move_an_end_that_an_open_value_was_told() -> None:
    history = [said(1, "lisbon", 1), said(2, "lisbon", 3, 5), said(3, "lisbon", 4)]

    assert plain(timeline(history)) == [(day(1), day(5), "lisbon")]


def test_a_bounded_stay_with_a_new_end_still_lets_the_older_value_resume() -> None:
    history = [said(1, "lisbon", 1), said(2, "paris", 3, 5), said(3, "paris", 4, 8)]

    assert plain(timeline(history)) == [
        (day(1), day(3), "lisbon"),
        (day(3), day(8), "paris"),
        (day(8), None, "lisbon"),
    ]


def test_a_revocation_ends_the_value() -> None:
    assert plain(timeline([said(1, "a", 1), said(2, None, 4)])) == [(day(1), day(4), "a")]


def test_a_bounded_revocation_is_a_gap() -> None:
    history = [said(1, "a", 1), said(2, None, 4, 6)]

    assert plain(timeline(history)) == [(day(1), day(4), "a"), (day(6), None, "a")]


def test_the_greater_precedence_wins_from_an_equal_time() -> None:
    history = [said(1, "a", 1, precedence=1), said(2, "b", 1)]

    assert plain(timeline(history)) == [(day(1), None, "a")]


def test_what_lost_an_equal_time_comes_forth_when_the_winner_ends() -> None:
    history = [said(1, "a", 1, 4, precedence=1), said(2, "b", 1)]

    assert plain(timeline(history)) == [(day(1), day(4), "a"), (day(4), None, "b")]


def test_adjacent_stretches_of_equal_values_are_one() -> None:
    history = [said(1, "Paris", 1, 4), said(2, "paris", 4)]

    assert plain(timeline(history)) == [(day(1), None, "Paris")]


@pytest.mark.parametrize(
    ("when", "value"), [(0.9, None), (1, "a"), (1.9, "a"), (2, None), (3, "b"), (9_999, "b")], ids=str
)
def test_a_stretch_holds_from_its_start_to_before_its_end(when: float, value: str | None) -> None:
    stretch = at(timeline([said(1, "a", 1, 2), said(2, "b", 3)]), day(when))

    assert (stretch.value if stretch else None) == value


def test_many_assertions_take_little_time() -> None:
    bounds = [number + 3 if number % 3 else None for number in range(20_000)]
    history = [said(number, f"v{number % 7}", number, bounds[number]) for number in range(20_000)]

    assert timeline(history)[-1].end is None
