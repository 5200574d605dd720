from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sgam.extraction.calibration import Calibration, expected_error, fit

PROBABILITIES = st.floats(0, 1)


def drawn(slope: float, offset: float, count: int = 4000) -> tuple[list[float], list[bool]]:
    """Stated probabilities, and outcomes of a world in which another calibration holds."""
    rng, true = random.Random(7), Calibration(slope=slope, offset=offset)
    stated = [rng.uniform(0.02, 0.98) for _ in range(count)]
    return stated, [rng.random() < true(p) for p in stated]


def test_the_calibration_of_the_world_is_found() -> None:
    found = fit(*drawn(0.5, -0.7))

    assert math.isclose(found.slope, 0.5, abs_tol=0.07)
    assert math.isclose(found.offset, -0.7, abs_tol=0.07)


def test_it_mends_what_is_stated() -> None:
    stated, right = drawn(0.4, -1.0)
    mended = list(map(fit(stated, right), stated))

    assert expected_error(stated, right) > 0.15
    assert expected_error(mended, right) < 0.03


@given(st.lists(st.tuples(PROBABILITIES, st.booleans()), min_size=2, max_size=30))
def test_a_fit_on_few_points_is_finite_and_gives_probabilities(points: list[tuple[float, bool]]) -> None:
    stated, right = [p for p, _ in points], [r for _, r in points]
    if len(set(right)) < 2:
        with pytest.raises(ValueError, match="some that are right and some that are wrong"):
            fit(stated, right)
        return

    assert all(0 <= p <= 1 for p in map(fit(stated, right), stated))


@given(PROBABILITIES)
def test_the_default_leaves_a_probability_as_it_is(probability: float) -> None:
    assert Calibration()(probability) == probability


def test_the_error_is_the_gap_between_stated_and_seen() -> None:
    assert expected_error([0.75, 0.75, 0.75, 0.75], [True, True, False, False]) == 0.25
    assert expected_error([], []) == 0
