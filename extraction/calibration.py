"""From the probability that a model states to how often it is right (Platt scaling).  Pure.

Source: J. Platt, "Probabilistic outputs for support vector machines", 1999; with his smoothed targets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_EDGE: Final = 1e-6
_STEPS: Final = 50
_HALVINGS: Final = 30
_PRIOR: Final = 1.0
"""Weight of the belief that nothing needs mending; it keeps a fit on few or extreme points finite."""

Point = tuple[float, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Calibration:
    """Maps a stated probability p to `1 / (1 + exp(-(slope * logit(p) + offset)))`; the default leaves it as it is."""

    slope: float = 1.0
    offset: float = 0.0

    def __call__(self, probability: float) -> float:
        """The calibrated probability, 0 to 1."""
        if (self.slope, self.offset) == (1.0, 0.0):
            return probability
        return _sigmoid(self.slope * _logit(probability) + self.offset)


NONE: Final = Calibration()


def fit(stated: Sequence[float], right: Sequence[bool]) -> Calibration:
    """The calibration under which `right` is likeliest, by Newton's method.

    Raises ValueError unless there are both right and wrong ones.
    """
    hits = sum(right)
    if len(stated) != len(right) or not 0 < hits < len(right):
        raise ValueError("a calibration needs some that are right and some that are wrong")
    yes, no = (hits + 1) / (hits + 2), 1 / (len(right) - hits + 2)
    points = [(_logit(p), yes if r else no) for p, r in zip(stated, right, strict=True)]
    found = (1.0, 0.0)
    for _ in range(_STEPS):
        found = _better(points, found)
    return Calibration(slope=found[0], offset=found[1])


def _better(points: Sequence[Point], at: Point) -> Point:
    """One step of Newton's method, halved until it is a descent (else it runs away where all points are alike)."""
    d0, d1 = _direction(points, *at)
    now = _cost(points, *at)
    for _ in range(_HALVINGS):
        there = at[0] - d0, at[1] - d1
        if _cost(points, *there) <= now:
            return there
        d0, d1 = d0 / 2, d1 / 2
    return at


def _cost(points: Sequence[Point], slope: float, offset: float) -> float:
    """Negative log likelihood, with the prior."""
    total = _PRIOR * ((slope - 1) ** 2 + offset**2) / 2
    for x, target in points:
        z = slope * x + offset
        total += max(z, 0) - target * z + math.log1p(math.exp(-abs(z)))
    return total


def _direction(points: Sequence[Point], slope: float, offset: float) -> Point:
    g0, g1 = _PRIOR * (slope - 1), _PRIOR * offset
    h00, h01, h11 = _PRIOR, 0.0, _PRIOR
    for x, target in points:
        p = _sigmoid(slope * x + offset)
        error, weight = p - target, p * (1 - p)
        g0, g1 = g0 + error * x, g1 + error
        h00, h01, h11 = h00 + weight * x * x, h01 + weight * x, h11 + weight
    det = h00 * h11 - h01 * h01
    return (h11 * g0 - h01 * g1) / det, (h00 * g1 - h01 * g0) / det


def expected_error(stated: Sequence[float], right: Sequence[bool], *, bins: int = 10) -> float:
    """Expected calibration error: the mean gap between stated and observed, over `bins` bins of equal width.

    Source: Naeini et al., "Obtaining well calibrated probabilities using Bayesian binning", 2015.
    """
    gaps: dict[int, list[float]] = {}
    for p, r in zip(stated, right, strict=True):
        gaps.setdefault(min(int(p * bins), bins - 1), []).append(p - r)
    return sum(abs(sum(gap)) for gap in gaps.values()) / len(stated) if stated else 0.0


def _logit(probability: float) -> float:
    p = min(max(probability, _EDGE), 1 - _EDGE)
    return math.log(p / (1 - p))


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
