"""The line search: the strong Wolfe conditions hold for what it finds, whatever the function and the first try."""

from __future__ import annotations

from math import cos, exp, inf, log, nan, sin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograd.optim.line_search import Point, strong_wolfe

FUNCTIONS = {
    "parabola": (lambda t: (t - 2) ** 2, lambda t: 2 * (t - 2)),
    "quartic": (lambda t: (t - 1) ** 4, lambda t: 4 * (t - 1) ** 3),
    "steep, then flat": (lambda t: exp(-5 * t) + 0.01 * t, lambda t: -5 * exp(-5 * t) + 0.01),
    "wavy": (lambda t: -t + 0.1 * sin(8 * t) + 0.1 * t * t, lambda t: -1 + 0.8 * cos(8 * t) + 0.2 * t),
    "wall": (lambda t: -t - 0.1 * log(3 - t) if t < 3 else inf, lambda t: -1 + 0.1 / (3 - t) if t < 3 else nan),
    "far": (lambda t: (t / 1000 - 1) ** 2, lambda t: 2 * (t / 1000 - 1) / 1000),
}


class Counted:
    """A function of the table, which counts its calls."""

    def __init__(self, name: str) -> None:
        self.value, self.slope = FUNCTIONS[name]
        self.calls = 0

    def __call__(self, t: float) -> Point:
        self.calls += 1
        return Point(t, self.value(t), self.slope(t), t)


@pytest.mark.parametrize("name", FUNCTIONS)
@given(first=st.floats(1e-3, 1e3), curvature=st.sampled_from([0.9, 0.5, 0.1]))
def test_what_is_found_satisfies_the_conditions(name, first, curvature):
    function = Counted(name)
    start = Point(0.0, function.value(0.0), function.slope(0.0))
    assert start.slope < 0, "the table begins downhill"
    found = strong_wolfe(function, start, first, curvature=curvature, evaluations=60)
    assert found is not None
    assert found.value <= start.value + 1e-4 * found.t * start.slope
    assert abs(found.slope) <= curvature * abs(start.slope)
    assert found.more == found.t
    assert function.calls <= 60


def test_the_first_try_is_taken_where_it_will_do():
    function = Counted("parabola")
    found = strong_wolfe(function, Point(0.0, 4.0, -4.0), 1.0)
    assert (found.t, function.calls) == (1.0, 1)


def test_a_parabola_needs_one_interpolation():
    """(t - 2)^2 at 0 and 5: the cubic through both is the parabola itself, whose minimum is at 2."""
    function = Counted("parabola")
    found = strong_wolfe(function, Point(0.0, 4.0, -4.0), 5.0, curvature=0.1)
    assert function.calls == 2
    assert found.t == pytest.approx(2.0, abs=1e-12)


def test_uphill_everywhere_finds_nothing():
    assert strong_wolfe(lambda t: Point(t, 1 + t, 1.0), Point(0.0, 1.0, -1.0), 1.0) is None
    assert strong_wolfe(lambda t: Point(t, nan, nan), Point(0.0, 1.0, -1.0), 1.0) is None


def test_no_more_evaluations_than_allowed():
    calls = []

    def function(t: float) -> Point:
        calls.append(t)
        return Point(t, -t, -1.0)

    found = strong_wolfe(function, Point(0.0, 0.0, -1.0), 1.0, evaluations=7)
    assert len(calls) == 7
    assert found.t == max(calls), "the lowest point of a slope without end"


def test_noise_within_the_rounding_is_no_rise():
    """Near a minimum the value cannot become smaller any more, but the slope can."""
    start = Point(0.0, 1.0, -1e-12)

    def function(t: float) -> Point:
        return Point(t, 1.0 + 4e-16, 0.5e-12)

    assert strong_wolfe(function, start, 1.0) is None
    assert strong_wolfe(function, start, 1.0, rounding=1e-15).t == 1.0


def test_what_is_only_not_higher_is_nothing():
    """A slope that goes down where the values stay: a wrong gradient, not a lower point."""
    assert strong_wolfe(lambda t: Point(t, 1.0, -1.0), Point(0.0, 1.0, -1.0), 1.0, rounding=1.0, evaluations=5) is None


def test_a_rise_behind_a_lower_point_turns_the_search_back():
    """The second try is higher than the first one, though lower than the start by enough, and still steep."""
    tried = []

    def function(t: float) -> Point:
        tried.append(t)
        return [Point(t, -1.0, -1.0), Point(t, -0.9, -1.0), Point(t, -1.1, 0.0)][len(tried) - 1]

    found = strong_wolfe(function, Point(0.0, 0.0, -1.0), 1.0)
    assert tried[0] < tried[2] < tried[1]
    assert found.value == -1.1
