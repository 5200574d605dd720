"""The assertions of a key that can matter to one candidate, found without looking at the others.  Pure.

At an assertion without an end that no bounded one reaches over, a timeline starts anew: what lies before cannot matter
after it.  So the neighbourhood of a candidate runs from the last such assertion before it to the first one after it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable
from datetime import datetime

from .timeline import Assertion


class Neighbourhood:
    """Live assertions of one key in order."""

    def __init__(self, assertions: Iterable[Assertion] = ()) -> None:
        self._ordered = sorted(assertions, key=_order)
        self._bounded = [assertion for assertion in self._ordered if assertion.valid_until is not None]

    def add(self, assertion: Assertion) -> None:
        """Take in one more."""
        insort(self._ordered, assertion, key=_order)
        if assertion.valid_until is not None:
            self._bounded.append(assertion)

    def of(self, candidate: Assertion) -> tuple[Assertion, ...]:
        """Those that decide what a candidate changes, and all that it can change."""
        first = bisect_left(self._ordered, candidate.valid_from, key=_start)
        while first > 0 and not self._is_clean(self._ordered[first - 1]):
            first -= 1
        start = self._ordered[first - 1].valid_from if first else None
        after = max(candidate.valid_until or candidate.valid_from, candidate.valid_from)
        last = bisect_right(self._ordered, candidate.valid_from, key=_start)
        while last < len(self._ordered) and not (
            self._ordered[last].valid_from >= after and self._is_clean(self._ordered[last])
        ):
            last += 1
        end = self._ordered[last].valid_from if last < len(self._ordered) else None
        low = 0 if start is None else bisect_left(self._ordered, start, key=_start)
        high = len(self._ordered) if end is None else bisect_right(self._ordered, end, key=_start)
        return tuple(self._ordered[low:high])

    def _is_clean(self, assertion: Assertion) -> bool:
        start = assertion.valid_from
        reaches = (b.valid_from <= start < b.valid_until for b in self._bounded if b.valid_until is not None)
        return assertion.valid_until is None and not any(reaches)


def _order(assertion: Assertion) -> tuple[datetime, int, int]:
    return assertion.order


def _start(assertion: Assertion) -> datetime:
    return assertion.valid_from
