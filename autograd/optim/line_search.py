"""A line search for the strong Wolfe conditions (Nocedal and Wright, Numerical Optimization, 2006, algorithms 3.5 and 3.6)."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, sqrt
from typing import Any, NamedTuple


class Point(NamedTuple):
    """A point on the line: how far it is, value and slope there, and what else the function returned."""

    t: float
    value: float
    slope: float
    more: Any = None

    @property
    def is_finite(self) -> bool:
        """Whether the function has a value and a slope there."""
        return isfinite(self.value) and isfinite(self.slope)


def strong_wolfe(
    function: Callable[[float], Point],
    start: Point,
    t: float,
    *,
    decrease: float = 1e-4,
    curvature: float = 0.9,
    rounding: float = 0.0,
    evaluations: int = 25,
) -> Point | None:
    """A point along a direction of descent where, with value f and slope s at 0::

        value <= f + decrease t s        |slope| <= curvature |s|

    ``t`` is tried first. ``rounding`` is how much values may be off, beside f: values within it count as equal, or the search
    would fail near a minimum. Where the function is not finite it counts as too far. After so many evaluations the lowest point
    that satisfies the first condition is returned; None if there is none below f.

    >>> quartic = lambda t: Point(t, (t - 1) ** 4, 4 * (t - 1) ** 3)
    >>> found = strong_wolfe(quartic, quartic(0.0), 3.0, curvature=0.1)
    >>> bool(abs(found.slope) <= 0.4 and found.value < 1)
    True
    """
    slack = rounding * abs(start.value)

    def too_high(point: Point, lowest: Point) -> bool:
        above = point.value > start.value + decrease * point.t * start.slope + slack
        return not point.is_finite or above or (lowest.t > 0 and point.value > lowest.value + slack)

    before, left = start, evaluations
    while left > 0:
        point = function(t)
        left -= 1
        if too_high(point, before):
            return _zoom(function, start, before, point, too_high, curvature, left)
        if abs(point.slope) <= -curvature * start.slope:
            return point
        if point.slope >= 0:
            return _zoom(function, start, point, before, too_high, curvature, left)
        t = _within(_cubic(before, point), point.t + 0.01 * (point.t - before.t), 10 * point.t, 10 * point.t)
        before = point
    return before if before.value < start.value else None


def _zoom(
    function: Callable[[float], Point],
    start: Point,
    low: Point,
    high: Point,
    too_high: Callable[[Point, Point], bool],
    curvature: float,
    left: int,
) -> Point | None:
    """Narrow the interval between the lowest point that is good so far and one beyond a minimum."""
    while left > 0 and abs(high.t - low.t) * max(1.0, abs(low.slope)) > 1e-15 * abs(high.t):
        width = high.t - low.t
        middle = low.t + 0.5 * width
        nearest, farthest = sorted((low.t + 0.1 * width, high.t - 0.1 * width))
        point = function(_within(_cubic(low, high), nearest, farthest, middle))
        left -= 1
        if too_high(point, low):
            high = point
            continue
        if abs(point.slope) <= -curvature * start.slope:
            return point
        if point.slope * (high.t - low.t) >= 0:
            high = low
        low = point
    return low if low.value < start.value else None


def _cubic(first: Point, second: Point) -> float | None:
    """Where the cubic through both points with their slopes has its minimum; None if it has none, or a point is not finite."""
    width = second.t - first.t
    if width == 0:
        return None
    d1 = first.slope + second.slope - 3 * (second.value - first.value) / width
    square = d1 * d1 - first.slope * second.slope
    if not (isfinite(square) and square >= 0):
        return None
    d2 = sqrt(square) * (1 if width > 0 else -1)
    below = second.slope - first.slope + 2 * d2
    return second.t - width * (second.slope + d2 - d1) / below if below else None


def _within(t: float | None, nearest: float, farthest: float, otherwise: float) -> float:
    """``t`` brought between two bounds, or what else there is if there is none."""
    return min(max(t, nearest), farthest) if t is not None and isfinite(t) else otherwise
