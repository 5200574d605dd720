"""What holds at one instant, by definition and without a sweep: slow, and independent of the code under test.

An assertion joins the run that is in force at its `valid_from` when their values are equal; otherwise it opens a run of
its own.  A run ends with the end that its last member with an end tells.  At an instant, the youngest run that has
begun and has not ended counts; one that has ended for good, an open run whose end was told later, lets nothing older
through.  A run that began bounded is an open one from the first member on that has no end.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sgam.memory_store.timeline import Assertion

Run = list[Assertion]


def ordered(history: Sequence[Assertion]) -> list[Assertion]:
    return sorted(history, key=lambda entry: (entry.valid_from, entry.precedence, entry.id))


def runs(begun: Sequence[Assertion]) -> list[Run]:
    """The runs of what has begun, which is given in order."""
    if not begun:
        return []
    *before, newest = begun
    made = runs(before)
    holds = _youngest(made, newest.valid_from)
    if holds is not None and holds[0].identity == newest.identity:
        return [[*run, newest] if run is holds else run for run in made]
    return [*made, [newest]]


def _youngest(made: Sequence[Run], when: datetime) -> Run | None:
    for run in reversed(made):
        end, open_run = _end(run)
        if end is None or when < end:
            return run
        if open_run:
            return None
    return None


def _end(run: Run) -> tuple[datetime | None, bool]:
    """When a run ends, and whether it was ever open."""
    opened = next((place for place, member in enumerate(run) if member.valid_until is None), None)
    told = [member.valid_until for member in run[opened or 0 :] if member.valid_until is not None]
    return (told[-1] if told else None), opened is not None


def in_force(history: Sequence[Assertion], when: datetime) -> Run | None:
    """The run that counts at `when`."""
    return _youngest(runs([entry for entry in ordered(history) if entry.valid_from <= when]), when)


def value_at(history: Sequence[Assertion], when: datetime) -> str | None:
    """The identity of the value in force at `when`."""
    run = in_force(history, when)
    return None if run is None else run[0].identity
