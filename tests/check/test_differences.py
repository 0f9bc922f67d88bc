"""Slopes by differences are right within their own bounds, and kinks, jumps and noise are seen as such."""

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograd.check import slopes

INF = numpy.inf


def of(f, **options):
    """The slopes of one function of a number."""

    def as_array(t):
        with numpy.errstate(all="ignore"):
            return numpy.array([float(f(t))])

    return slopes(as_array, as_array(0.0), **options)


SMOOTH = [
    ("exp", numpy.exp, 1.0),
    ("steep", lambda t: numpy.exp(50 * t), 50.0),
    ("fast oscillation", lambda t: numpy.sin(1000 * t), 1000.0),
    ("edge of the domain nearby", lambda t: numpy.log(1e-6 + t), 1e6),
    ("kink nearby", lambda t: abs(t - 1e-4), -1.0),
    ("kink very near", lambda t: abs(t - 1e-7), -1.0),
    ("narrow smooth bend", lambda t: numpy.sqrt(t * t + 1e-12), 0.0),
    ("flat", lambda t: t**5, 0.0),
    ("half power on both sides", lambda t: abs(t) ** 1.5, 0.0),
    ("half power at the edge", lambda t: t**1.5 if t >= 0 else numpy.nan, 0.0),
    ("a slope at the edge", lambda t: 3 * t + t * t if t >= 0 else numpy.nan, 3.0),
    ("small beside a large constant", lambda t: 1e10 + t, 1.0),
    ("constant", lambda t: 3.0, 0.0),
    ("vertical", numpy.cbrt, INF),
    ("vertical at the edge", numpy.sqrt, INF),
]


@pytest.mark.parametrize(("f", "expected"), [row[1:] for row in SMOOTH], ids=[row[0] for row in SMOOTH])
def test_a_slope_is_right_within_its_margin(f, expected):
    found = of(f)
    assert not found.kinked[0]
    if numpy.isinf(expected):
        assert found.value[0] == expected
    else:
        assert abs(found.value[0] - expected) <= found.margin[0] + 1e-9 * abs(expected)
        assert found.margin[0] <= 3e-3 * max(abs(expected), 1e-3)


KINKED = [
    ("abs", abs, -1.0, 1.0),
    ("relu", lambda t: max(t, 0.0), 0.0, 1.0),
    ("a small kink on a slope", lambda t: t + 1e-3 * abs(t), 0.999, 1.001),
    ("a curved kink", lambda t: numpy.exp(t) if t < 0 else 1 + 3 * numpy.sin(t), 1.0, 3.0),
    ("a cusp", lambda t: numpy.sqrt(abs(t)), -INF, INF),
    ("a step up", lambda t: float(t > 0), 0.0, INF),
    ("a step down before", lambda t: float(t < 0), -INF, 0.0),
    ("sign", numpy.sign, INF, INF),
]


@pytest.mark.parametrize(("f", "left", "right"), [row[1:] for row in KINKED], ids=[row[0] for row in KINKED])
def test_a_kink_is_seen_with_both_slopes(f, left, right):
    found = of(f)
    assert found.kinked[0]
    numpy.testing.assert_allclose([found.left[0], found.right[0]], [left, right], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("noise", [1e-12, 1e-9, 1e-7, 1e-5, 1e-3])
def test_hidden_noise_widens_the_margin(noise):
    """An oscillation far below the steps is noise for differences: they must not be surer than they can be."""
    found = of(lambda t: numpy.sin(1 + t) + noise * numpy.sin(1e12 * t + 0.3))
    error = abs(found.value[0] - numpy.cos(1.0))
    assert error <= found.margin[0]
    assert found.margin[0] <= 2e4 * noise + 1e-9
    assert not found.kinked[0]


def test_what_is_never_finite_has_no_slope():
    found = of(lambda t: numpy.nan)
    assert numpy.isnan(found.value[0])
    assert numpy.isinf(found.uncertainty[0])


def test_a_smooth_function_is_asked_four_times():
    asked = []

    def exp(t):
        asked.append(t)
        return numpy.exp([t])

    found = slopes(exp, numpy.ones(1), goal=1e-6, scale=1.0)
    assert abs(found.value[0] - 1) < 1e-12
    assert len(asked) == 4


def test_a_component_that_never_changes_is_told_apart():
    found = slopes(lambda t: numpy.array([1.0, t]), numpy.array([1.0, 0.0]), goal=numpy.array([0.0, 1e-6]), scale=1.0)
    assert found.constant.tolist() == [True, False]


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(-100, 100).map(lambda n: n / 16), min_size=2, max_size=6), st.booleans())
def test_polynomials_have_their_slope(coefficients, quick):
    f = lambda t: numpy.array([numpy.polyval(coefficients, t)])  # noqa: E731
    options = {"goal": 1e-7 * abs(coefficients[-2]), "scale": abs(coefficients[-2])} if quick else {}
    found = slopes(f, f(0.0), **options)
    assert abs(found.value[0] - coefficients[-2]) <= found.margin[0] + 1e-7 * abs(coefficients[-2])
    assert not found.kinked[0]
