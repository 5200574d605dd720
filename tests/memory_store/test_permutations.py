"""What a ledger believes now does not depend on the order in which it learned it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sgam.memory_store.in_memory import InMemoryStore
from sgam.memory_store.timeline import Assertion, timeline

from .histories import histories
from .ledgers import Claim, Interval, Notebook, cases, day, episode, notebook


@st.composite
def distinct(draw: st.DrawFn) -> list[Assertion]:
    """Values, revocations and bounded facts that begin at different times."""
    drawn = {entry.valid_from: replace(entry, precedence=0) for entry in draw(histories())}
    return list(drawn.values())


def told(book: Notebook, history: Sequence[Assertion]) -> list[Interval]:
    """The timeline of a tenant that was told a history in this order, each assertion as an episode."""
    for entry in history:
        claim = Claim(value=entry.value, since=entry.valid_from, until=entry.valid_until)
        book.commit(episode(f"e{entry.id}"), claim)
    return [(start, end, value.lower()) for start, end, value in book.timeline()]


def pure(history: Sequence[Assertion]) -> list[Interval]:
    return [(stretch.start, stretch.end, stretch.identity) for stretch in timeline(history)]


@cases(60)
@given(distinct(), st.data())
def test_in_memory_any_order_gives_the_same_timeline(history: list[Assertion], data: st.DataObject) -> None:
    order = data.draw(st.permutations(history))

    assert told(notebook(InMemoryStore()), order) == pure(history)


@cases(60)
@given(history=distinct(), data=st.data())
def test_in_a_file_any_order_gives_the_same_timeline(
    sqlite_book: Notebook, history: list[Assertion], data: st.DataObject
) -> None:
    sqlite_book.written += 1
    book = replace(sqlite_book, tenant=f"tenant {sqlite_book.written}")
    order = data.draw(st.permutations(history))

    assert told(book, order) == pure(history)


@pytest.mark.parametrize("order", ["abc", "acb", "bac", "bca", "cab", "cba"])
def test_three_moves_in_any_order(book: Notebook, order: str) -> None:
    moves = {"a": ("Lisbon", 1.0, None), "b": ("Paris", 3.0, 5.0), "c": (None, 8.0, None)}
    for name in order:
        value, since, until = moves[name]
        book.tell(value, since=since, until=until)

    assert book.timeline() == [
        (day(1), day(3), "Lisbon"),
        (day(3), day(5), "Paris"),
        (day(5), day(8), "Lisbon"),
    ]
