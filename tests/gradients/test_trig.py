"""Trigonometric and hyperbolic functions: the table of rules, and special points."""

import math

import numpy
import pytest

import autograd.numpy as np
from autograd import grad, jacobian
from registry import get_kernel
from tests.gradients.harness import Case, each_case

inf = numpy.inf

CASES = [
    Case("sin", complex_domain=(-1, 1)),
    Case("cos", complex_domain=(-1, 1)),
    Case("tan", domain=(-1, 1), complex_domain=(-0.7, 0.7)),
    Case("arcsin", domain=(-0.8, 0.8), complex_domain=(-0.6, 0.6)),
    Case("arccos", domain=(-0.8, 0.8), complex_domain=(-0.6, 0.6)),
    Case("arctan", complex_domain=(-0.6, 0.6)),
    Case("arctan2"),
    Case("arctan2", label="left half plane", shapes=[((6,), (6,))], domain=[(-2, -0.3), (-2, -0.3)]),
    Case("sinh", complex_domain=(-1, 1)),
    Case("cosh", complex_domain=(-1, 1)),
    Case("tanh", complex_domain=(-0.7, 0.7)),
    Case("arcsinh", complex_domain=(-0.6, 0.6)),
    Case("arccosh", domain=(1.3, 4), complex_domain=(1.2, 2)),
    Case("arccosh", label="left half plane", shapes=[((4,),)], domain=(1.3, 4), complex_domain=(-2, -0.5)),
    Case("arctanh", domain=(-0.8, 0.8), complex_domain=(-0.6, 0.6)),
    Case("degrees"),
    Case("radians"),
    Case("rad2deg"),
    Case("deg2rad"),
    Case("sinc", complex_domain=(-1, 1)),
    Case("sinc", label="near 0", domain=(-0.01, 0.01), shapes=[((5,),)]),
    Case("sinc", label="wide", domain=(-9, 9), shapes=[((8,),)]),
    *[Case(name, shapes=[((3,),)], domain=(0.1, 0.9)) for name in ("asin", "acos", "atan", "asinh", "atanh")],
    Case("acosh", shapes=[((3,),)], domain=(1.3, 4)),
    Case("atan2", shapes=[((3,), (3,))]),
]


@each_case(CASES)
def test_rule(case, check):
    check(case)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_tanh_is_flat_far_out(dtype):
    x = numpy.array([190.0, 400.0, 1000.0, -1000.0, inf, -inf], dtype)
    assert grad(lambda x: np.sum(np.tanh(x)))(x).tolist() == [0.0] * 6
    assert jacobian(grad(np.tanh))(1000.0) == 0.0


def test_sinc_is_flat_at_zero_and_its_derivatives_are_those_of_its_series():
    # sinc(x) = 1 - (pi x)^2 / 6 + (pi x)^4 / 120 - ...
    assert grad(np.sinc)(0.0) == 0.0
    assert grad(np.sinc)(-0.0) == 0.0
    numpy.testing.assert_allclose(grad(np.sinc)(1e-9), -(math.pi**2) / 3 * 1e-9, rtol=1e-15)
    numpy.testing.assert_allclose(grad(grad(np.sinc))(0.0), -(math.pi**2) / 3, rtol=1e-15)
    numpy.testing.assert_allclose(grad(grad(np.sinc))(1e-9), -(math.pi**2) / 3, rtol=1e-15)
    assert grad(grad(grad(np.sinc)))(0.0) == 0.0
    numpy.testing.assert_allclose(grad(grad(grad(grad(np.sinc))))(0.0), math.pi**4 / 5, rtol=1e-14)


def test_sinc_at_an_array_with_a_zero():
    x = numpy.array([0.0, 0.5, 1.0])
    expected = [0.0, -4 / math.pi, -1.0]  # (cos(pi x) - sinc(x)) / x
    numpy.testing.assert_allclose(grad(lambda x: np.sum(np.sinc(x)))(x), expected, rtol=1e-14)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 7])
def test_sinc_derivative_is_an_integral(order):
    # sin(u)/u is the integral of cos(u t) over t from 0 to 1; differentiated under the integral, by Gauss-Legendre.
    nodes, weights = numpy.polynomial.legendre.leggauss(60)
    t, w = (nodes + 1) / 2, weights / 2
    x = numpy.concatenate([numpy.linspace(-6, 6, 97), [1e-8, (order + 1) / math.pi]])
    expected = [numpy.sum(w * (math.pi * t) ** order * numpy.cos(math.pi * a * t + order * math.pi / 2)) for a in x]
    computed = get_kernel("sinc_derivative", "numpy").kernel_func(x, order=order)
    numpy.testing.assert_allclose(computed, expected, rtol=0, atol=1e-13 * math.pi**order)


@pytest.mark.parametrize(
    ("x1", "x2", "expected"),
    [
        (0.0, 1.0, (1.0, -0.0)),
        (1.0, 0.0, (0.0, -1.0)),
        (0.0, -2.0, (-0.5, -0.0)),
        (3e200, 4e200, (4 / 25 * 1e-200, -3 / 25 * 1e-200)),
        (3e-200, 4e-200, (4 / 25 * 1e200, -3 / 25 * 1e200)),
    ],
)
def test_arctan2_at_special_points(x1, x2, expected):
    numpy.testing.assert_allclose(grad(np.arctan2, (0, 1))(x1, x2), expected, rtol=1e-14)


def test_arctan2_at_the_origin_is_not_a_number_unless_it_does_not_count():
    assert numpy.isnan(grad(np.arctan2, (0, 1))(0.0, 0.0)).all()
    y, x = numpy.array([0.0, 1.0]), numpy.array([0.0, 1.0])
    polar = lambda y, x: np.sum(np.where((x == 0) & (y == 0), 0.0, np.arctan2(y, x)))  # noqa: E731
    numpy.testing.assert_allclose(grad(polar, (0, 1))(y, x), ([0.0, 0.5], [0.0, -0.5]))


@pytest.mark.parametrize("function", [np.arcsin, np.arccos, np.arctanh])
def test_inverse_functions_keep_their_digits_near_one(function):
    # With x = 1 - e, 1 - x^2 is e (2 - e), where e is exact.
    e = 2.0**-40
    square = e * (2 - e)
    expected = {"arcsin": square**-0.5, "arccos": -(square**-0.5), "arctanh": 1 / square}[function.__name__]
    numpy.testing.assert_allclose(grad(function)(1 - e), expected, rtol=1e-15)
    assert numpy.isinf(grad(np.arcsin)(1.0))


def test_list_of_tensors_is_an_array():
    assert grad(lambda x: np.sum(np.sin([x, 2 * x])))(0.0) == 3.0
