"""Special functions: the table of rules, and special points."""

import math

import numpy
import pytest

import autograd.numpy as np
from autograd import Tape, grad
from autograd import operators as op
from tests.gradients.harness import Case, each_case

inf, nan = numpy.inf, numpy.nan

CASES = [
    Case("sigmoid", domain=(-5, 5), reference=lambda x: 1 / (1 + numpy.exp(-x)), complex_domain=(-1, 1)),
    Case("relu", domain=(-3, 2.7), reference=lambda x: numpy.maximum(x, 0)),
    Case("softplus", domain=(-5, 5), reference=lambda x: numpy.logaddexp(x, 0)),
    Case("i0", domain=(-9, 9)),
    Case("kaiser", call=lambda np, beta: np.kaiser(5, beta), shapes=[(float,), ((),)], domain=(1, 9), dtypes=("float64",)),
]


@each_case(CASES)
def test_rule(case, check):
    check(case)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    ("function", "values", "derivatives"),
    [
        (np.sigmoid, [0, 0, 0.5, 0.5, 1, 1], [0, 0, 0.25, 0.25, 0, 0]),
        (np.softplus, [0, 0, math.log(2), math.log(2), 2000, inf], [0, 0, 0.5, 0.5, 1, 1]),
        (np.relu, [0, 0, 0, 0, 2000, inf], [0, 0, 0, 0, 1, 1]),
    ],
    ids=["sigmoid", "softplus", "relu"],
)
def test_special_points(function, values, derivatives, dtype):
    x = numpy.array([-inf, -2000.0, -0.0, 0.0, 2000.0, inf], dtype)
    numpy.testing.assert_allclose(function(x), numpy.array(values, dtype), rtol=1e-6)
    slopes = grad(lambda x: np.sum(function(x)))(x)
    assert slopes.dtype == dtype
    numpy.testing.assert_array_equal(slopes, derivatives)
    for position, each in enumerate(x):
        assert grad(function)(each) == derivatives[position]
        assert grad(function)(each).dtype == dtype
        assert grad(function)(float(each)) == derivatives[position]


def test_sigmoid_and_softplus_keep_their_digits_far_to_the_left():
    # Both tend to exp(x), and so do their derivatives.
    assert np.sigmoid(-700.0) == pytest.approx(math.exp(-700), rel=1e-13)
    assert np.softplus(-700.0) == pytest.approx(math.exp(-700), rel=1e-13)
    assert grad(np.sigmoid)(-700.0) == pytest.approx(math.exp(-700), rel=1e-13)
    assert grad(np.softplus)(-700.0) == pytest.approx(math.exp(-700), rel=1e-13)
    assert grad(grad(np.softplus))(-300.0) == pytest.approx(math.exp(-300), rel=1e-13)


@pytest.mark.parametrize("kind", ["int64", "uint8", "int8"])
def test_integers_are_numbers(kind):
    x = numpy.array([0, 1, 100], kind)
    numpy.testing.assert_allclose(np.sigmoid(x), 1 / (1 + numpy.exp(-x.astype(float))), rtol=2e-3)
    numpy.testing.assert_allclose(np.softplus(x), numpy.logaddexp(x.astype(float), 0), rtol=2e-3)
    assert np.relu(x).dtype == x.dtype


def test_relu_of_an_infinite_cotangent_is_zero_where_it_is_flat():
    # sqrt(relu(x)) is constant for x < 0, though the derivative of the root at 0 is infinite.
    x = numpy.array([-1.0, 4.0])
    assert grad(lambda x: np.sum(np.sqrt(np.relu(x))))(x).tolist() == [0.0, 0.25]


def test_relu_keeps_its_output_alone():
    with Tape() as tape:
        np.relu(tape.watch(numpy.ones((10, 10))))
    assert [name for node in tape.nodes for name in node.kernel_name.split()] == ["relu"]
    assert sum(each.nbytes for each in tape._saved) == 800


def test_nan_stays_nan():
    assert numpy.isnan(np.relu(nan))
    assert numpy.isnan(np.sigmoid(nan))
    assert numpy.isnan(np.softplus(nan))


# ---------------------------------------------------------------------------------------------------- Bessel functions

SERIES = {
    order: lambda x, order=order: math.fsum(
        (x / 2) ** (2 * k + order) / (math.factorial(k) * math.factorial(k + order)) for k in range(60)
    )
    for order in range(5)
}
"""The power series, all of whose terms have one sign, so that it loses no digits."""


@pytest.mark.parametrize("order", SERIES)
@pytest.mark.parametrize("x", [0.0, 0.3, 0.999, 1.0, 2.5, 7.9, 8.1, 20.0, -3.0])
def test_bessel_functions_of_whole_order(order, x):
    assert op.bessel_i(x, order=order) == pytest.approx(SERIES[order](x), rel=5e-14, abs=1e-15)
    if order:
        several = op.bessel_i(numpy.array([x, 700.0, -x]), order=order)
        numpy.testing.assert_allclose(several[[0, 2]], [SERIES[order](x), SERIES[order](-x)], rtol=5e-13, atol=1e-14)


def test_derivatives_of_the_bessel_function():
    # I0' = I1, I0'' = (I0 + I2) / 2 and, by Bessel's equation, I0'' = I0 - I0' / x
    for x in (0.4, 3.0, 50.0, 600.0):
        first, second = grad(np.i0)(x), grad(grad(np.i0))(x)
        assert second == pytest.approx(np.i0(x) - first / x, rel=1e-12)
    assert grad(np.i0)(0.0) == 0.0
    assert grad(np.i0)(1e-9) == pytest.approx(5e-10, rel=1e-12)
    assert grad(grad(np.i0))(0.0) == 0.5
    assert grad(np.i0)(-3.0) == -grad(np.i0)(3.0)


def test_bessel_functions_at_the_ends_of_the_line():
    numpy.testing.assert_array_equal(op.bessel_i(numpy.array([inf, -inf, nan]), order=1), [inf, -inf, nan])
    numpy.testing.assert_array_equal(op.bessel_i(numpy.array([inf, -inf]), order=2), [inf, inf])
    assert math.isfinite(op.bessel_i(712.0, order=1))
    assert op.bessel_i(numpy.zeros((2, 0)), order=1).shape == (2, 0)
    with Tape() as tape, pytest.raises(TypeError, match="complex"):
        np.i0(tape.watch(1j))


def test_windows():
    assert np.kaiser(3, 0.0).tolist() == [1, 1, 1]
    with Tape() as tape:
        beta = tape.watch(2.0)
        assert [np.kaiser(n, beta).tolist() for n in (0, 1)] == [[], [1.0]]
    # the middle is 1 and the ends are 1 / I0(beta), with the slope -I1 / I0^2
    slope = grad(lambda beta: np.kaiser(3, beta)[0])(2.0)
    assert slope == pytest.approx(-SERIES[1](2.0) / SERIES[0](2.0) ** 2, rel=1e-13)
    assert grad(lambda beta: np.kaiser(3, beta)[1])(2.0) == pytest.approx(0.0, abs=1e-15)
