"""Functions that NumPy does not have: the table of rules, and special points."""

import math

import numpy
import pytest

import autograd.numpy as np
from autograd import Tape, grad
from tests.gradients.harness import Case, each_case

inf, nan = numpy.inf, numpy.nan

CASES = [
    Case("sigmoid", domain=(-5, 5), reference=lambda x: 1 / (1 + numpy.exp(-x)), complex_domain=(-1, 1)),
    Case("relu", domain=(-3, 2.7), reference=lambda x: numpy.maximum(x, 0)),
    Case("softplus", domain=(-5, 5), reference=lambda x: numpy.logaddexp(x, 0)),
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
