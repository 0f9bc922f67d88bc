"""Exponentials and logarithms: the table of rules, and special points."""

import numpy
import pytest

import autograd.numpy as np
from autograd import grad
from tests.gradients.harness import Case, each_case

inf = numpy.inf

CASES = [
    Case("exp", domain=(-3, 3), complex_domain=(-1, 1)),
    Case("exp2", domain=(-3, 3), complex_domain=(-1, 1)),
    Case("expm1", domain=(-3, 3), complex_domain=(-1, 1)),
    Case("log", domain=(0.3, 3), complex_domain=(0.3, 1)),
    Case("log2", domain=(0.3, 3), complex_domain=(0.3, 1)),
    Case("log10", domain=(0.3, 3), complex_domain=(0.3, 1)),
    Case("log1p", domain=(-0.6, 3), complex_domain=(-0.5, 1)),
    Case("logaddexp"),
    Case("logaddexp2"),
]


@each_case(CASES)
def test_rule(case, check):
    check(case)


# The weights are exp(x1) / (exp(x1) + exp(x2)) and its complement, in the limit.
@pytest.mark.parametrize("function", [np.logaddexp, np.logaddexp2])
@pytest.mark.parametrize(
    ("x1", "x2", "expected"),
    [
        (-inf, -inf, (0.0, 0.0)),  # by convention
        (inf, inf, (0.5, 0.5)),
        (-inf, 1.0, (0.0, 1.0)),
        (inf, 1.0, (1.0, 0.0)),
        (3.0, 3.0, (0.5, 0.5)),
        (1e5, -1e5, (1.0, 0.0)),
        (0.0, -0.0, (0.5, 0.5)),
    ],
)
def test_logaddexp_at_special_points(function, x1, x2, expected):
    assert grad(function, (0, 1))(x1, x2) == expected
    arrays = grad(lambda a, b: np.sum(function(a, b)), (0, 1))(numpy.array([x1, 0.0]), numpy.array([x2, 0.0]))
    assert [each[0] for each in arrays] == list(expected)


def test_logaddexp_of_infinities_does_not_disturb_its_neighbours_at_second_order():
    x1, x2 = numpy.array([-inf, 0.0]), numpy.array([-inf, 1.0])
    second = grad(lambda a: np.sum(grad(lambda a: np.sum(np.logaddexp(a, x2)))(a)))(x1)
    sigmoid = 1 / (1 + numpy.exp(1.0))
    numpy.testing.assert_allclose(second, [0.0, sigmoid * (1 - sigmoid)], rtol=1e-14)


def test_log_at_zero_has_an_infinite_derivative_and_none_where_its_cotangent_is_zero():
    with numpy.errstate(divide="ignore"):
        assert grad(np.log)(0.0) == inf
        x = numpy.array([0.0, 2.0])
        mask = numpy.array([False, True])
        assert grad(lambda x: np.sum(np.where(mask, np.log(x), 0.0)))(x).tolist() == [0.0, 0.5]


@pytest.mark.parametrize("function", [np.exp, np.exp2, np.expm1])
def test_exponentials_at_infinities(function):
    assert grad(function)(-inf) == 0.0
    assert grad(function)(inf) == inf


@pytest.mark.parametrize("x", [1e-12, 1e-300])
def test_log1p_and_expm1_keep_their_digits_near_zero(x):
    assert grad(np.log1p)(x) == 1 / (1 + x)
    assert grad(np.expm1)(x) == numpy.exp(x)
