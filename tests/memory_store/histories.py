"""Assertions in short, and random histories of one key."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from sgam.memory_store.model import Precision, end_of_stretch
from sgam.memory_store.timeline import Assertion

from .ledgers import day


def said(
    number: int,
    value: str | None,
    since: float,
    until: float | None = None,
    *,
    precedence: int = 0,
    observed: float = 0,
    source: str = "user",
    precision: Precision = "exact",
    episode: int | None = None,
) -> Assertion:
    """An assertion; values are equal when their lower case is."""
    return Assertion(
        id=number,
        valid_from=day(since),
        value=value,
        identity=None if value is None else value.lower(),
        episode=number if episode is None else episode,
        source=source,
        observed_at=day(observed),
        valid_until=None if until is None else day(until),
        valid_from_end=end_of_stretch(day(since), precision),
        precision=precision,
        precedence=precedence,
    )


@dataclass(frozen=True)
class _Draft:
    value: str | None
    since: int
    lasts: int | None
    precedence: int
    observed: int


DRAFTS = st.lists(
    st.builds(
        _Draft,
        value=st.sampled_from(["a", "A", "b", "c", None]),
        since=st.integers(0, 8),
        lasts=st.one_of(st.none(), st.integers(1, 6)),
        precedence=st.integers(0, 2),
        observed=st.integers(0, 20),
    ),
    max_size=8,
)


@st.composite
def histories(draw: st.DrawFn) -> list[Assertion]:
    """Assertions with many collisions of time, value and precedence."""
    return [
        said(
            number,
            entry.value,
            entry.since,
            None if entry.lasts is None else entry.since + entry.lasts,
            precedence=entry.precedence,
            observed=entry.observed,
        )
        for number, entry in enumerate(draw(DRAFTS), start=1)
    ]
