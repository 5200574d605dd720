"""A commit that reads only what lies near a change gives what one that reads the whole key gives."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sgam.memory_store import writer
from sgam.memory_store.in_memory import InMemoryStore
from sgam.memory_store.store import Belief
from sgam.memory_store.timeline import Assertion
from sgam.memory_store.values import identity

from .histories import histories
from .ledgers import Claim, Notebook, cases, episode, notebook

RULES = ["home", "city", "employer", "mood", "habit"]


@contextmanager
def near(limit: int) -> Iterator[None]:
    """Keys with more candidates than `limit` are read in the neighbourhood only."""
    usual = writer.NEARBY
    vars(writer).update(NEARBY=limit)
    yield
    vars(writer).update(NEARBY=usual)


@st.composite
def tales(draw: st.DrawFn) -> list[Assertion]:
    """Random histories of up to sixteen assertions in any order, some of them coarse."""
    told = [*draw(histories()), *draw(histories())]
    coarse = draw(st.sets(st.sampled_from(range(len(told) or 1)), max_size=2))
    return [
        replace(entry, precision="month" if number in coarse else "exact", precedence=0)
        for number, entry in enumerate(told)
    ]


def lived(book: Notebook, tale: list[Assertion], attribute: str, limit: int) -> list[Any]:
    """Every decision, and every fact that was ever believed, of a tenant that was told a tale.

    The value in force is compared, not its spelling: nearby, another repetition may be the first.
    """
    made: list[Any] = []
    with near(limit):
        for number, entry in enumerate(tale):
            claim = Claim(
                value=entry.value,
                attribute=attribute,
                since=entry.valid_from,
                until=entry.valid_until,
                precision=entry.precision,
            )
            receipt = book.commit(episode(f"e{number}", at=entry.observed_at), claim)
            made.append(
                [(d.decision, d.reason, d.current_value and identity(d.current_value)) for d in receipt.decisions]
            )
    facts = [replace(record.fact, fact_id=0) for record in book.records(belief=Belief(ever=True))]
    return [made, facts]


@pytest.mark.parametrize("attribute", RULES)
def test_in_memory(attribute: str) -> None:
    @cases(25)
    @given(tales())
    def law(tale: list[Assertion]) -> None:
        whole, part = notebook(InMemoryStore()), notebook(InMemoryStore())

        assert lived(part, tale, attribute, 0) == lived(whole, tale, attribute, 1_000_000)

    law()


@pytest.mark.parametrize("attribute", RULES)
def test_in_a_file(sqlite_book: Notebook, attribute: str) -> None:
    @cases(30)
    @given(tales())
    def law(tale: list[Assertion]) -> None:
        sqlite_book.written += 1
        part = replace(sqlite_book, tenant=f"tenant {sqlite_book.written}")

        assert lived(part, tale, attribute, 0) == lived(notebook(InMemoryStore()), tale, attribute, 1_000_000)

    law()


def test_a_coarse_time_is_compared_with_values_beyond_its_neighbour(book: Notebook) -> None:
    with near(0):
        book.tell("Porto", since=1)
        book.tell("Lisbon", since=3)

        assert book.tell("Porto", since=0, precision="month") == "hold imprecise_order"
