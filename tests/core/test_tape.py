"""The tape: sources and gradients by structure, tapes inside tapes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from autograd import Tape
from autograd import operators as op

X = np.array([1.0, 2.0, 3.0])


# ------------------------------------------------------------------------------------------------ sources and structure


@dataclass
class Layer:
    weight: object
    bias: object


class Pair(NamedTuple):
    first: object
    second: object


@pytest.mark.parametrize(
    ("container", "expected"),
    [
        (X, 2 * X),
        (2.0, 4.0),
        ([X, 2.0], [2 * X, 4.0]),
        ((2.0, [3.0]), (4.0, [6.0])),
        ({"w": X, "b": {"inner": 2.0}}, {"w": 2 * X, "b": {"inner": 4.0}}),
        (Pair(1.0, X), Pair(2.0, 2 * X)),
        (Layer(X, 1.0), Layer(2 * X, 2.0)),
        ([], []),
    ],
    ids=["array", "float", "list", "tuple", "dict", "namedtuple", "dataclass", "empty list"],
)
def test_containers_in_and_the_same_containers_out(container, expected):
    from autograd.containers import flatten

    with Tape() as tape:
        extra = tape.watch(0.0)
        watched = tape.watch(container)
        leaves, _ = flatten(watched)
        y = extra * 1.0
        for leaf in leaves:
            y = y + op.sum(leaf * leaf)
    gradients = tape.gradient(y, watched)
    got, structure = flatten(gradients)
    want, wanted_structure = flatten(expected)
    assert type(gradients) is type(expected)
    assert structure.paths("g") == wanted_structure.paths("g")
    for each, other in zip(got, want, strict=True):
        assert type(each) is type(other)
        np.testing.assert_array_equal(each, other)


def test_value_and_gradient():
    with Tape() as tape:
        x = tape.watch(X)
        y = op.sum(x * x)
    value, gradient = tape.value_and_gradient(y, {"x": x})
    assert value == 14.0
    np.testing.assert_array_equal(gradient["x"], 2 * X)


def test_dy_is_the_cotangent_of_the_target():
    dy = np.array([1.0, 10.0, 100.0])
    with Tape() as tape:
        x = tape.watch(X)
        y = x * x
    np.testing.assert_array_equal(tape.gradient(y, x, dy=dy), 2 * X * dy)


def test_a_source_that_the_target_does_not_depend_on_gets_zeros_in_its_own_dtype():
    with Tape() as tape:
        x, unused, scalar = tape.watch(X), tape.watch(np.ones((2, 2), np.float32)), tape.watch(1.0)
        y = op.sum(x)
    _, g, s = tape.gradient(y, [x, unused, scalar])
    np.testing.assert_array_equal(g, np.zeros((2, 2)))
    assert g.dtype == np.float32
    assert type(s) is float
    assert s == 0.0


def test_gradient_in_an_intermediate_value_and_what_made_it():
    with Tape() as tape:
        x = tape.watch(2.0)
        y = x * x
        z = y * y
    assert tape.gradient(z, [x, y, z]) == [32.0, 8.0, 1.0]


def test_a_source_given_twice_gets_its_whole_gradient_twice():
    with Tape() as tape:
        x = tape.watch(X)
        y = op.sum(x * x)
    first, second = tape.gradient(y, [x, x])
    np.testing.assert_array_equal(first, 2 * X)
    np.testing.assert_array_equal(second, 2 * X)
    assert not np.shares_memory(first, second)


def test_the_same_array_watched_twice_is_two_sources():
    with Tape() as tape:
        first, second = tape.watch(X), tape.watch(X)
        y = op.sum(first * first + second)
    for got, want in zip(tape.gradient(y, [first, second]), [2 * X, np.ones(3)], strict=True):
        np.testing.assert_array_equal(got, want)


def test_jacobian_of_arrays_containers_and_scalars():
    matrix = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with Tape(persistent=True) as tape:
        x, s = tape.watch(X), tape.watch(2.0)
        y = op.matmul(matrix, x) * s
        z = s * s
    jacobians = tape.jacobian(y, {"x": x, "s": s})
    np.testing.assert_array_equal(jacobians["x"], 2 * matrix)
    np.testing.assert_array_equal(jacobians["s"], matrix @ X)
    scalar = tape.jacobian(z, s)
    assert type(scalar) is float
    assert scalar == 4.0
    independent = tape.jacobian(z, x)
    np.testing.assert_array_equal(independent, np.zeros(3))


# ------------------------------------------------------------------------------------------------ nesting


def nested_derivative(f, x: float, order: int) -> float:
    """The derivative of any order by tapes opened inside one another, without ``grad``."""
    if order == 0:
        return f(x)
    with Tape() as tape:
        inside = tape.watch(x)
        y = nested_derivative(f, inside, order - 1)
    return tape.gradient(y, inside)


@pytest.mark.parametrize("order", range(6))
def test_polynomial_to_order_five(order):
    def f(x):
        return 2.0 * x * x * x * x * x * x - 3.0 * x * x + x

    at = 1.5
    coefficients = np.polynomial.Polynomial([0, 1, -3, 0, 0, 0, 2])
    expected = coefficients.deriv(order)(at) if order else coefficients(at)
    assert nested_derivative(f, at, order) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("order", range(6))
def test_derivatives_of_a_low_polynomial_end_in_zero(order):
    expected = [27.0, 27.0, 18.0, 6.0, 0.0, 0.0][order]
    got = nested_derivative(lambda x: x * x * x, 3.0, order)
    assert type(got) is float
    assert got == expected


@pytest.mark.parametrize("order", range(6))
def test_sine_to_order_five(order):
    at = 0.7
    assert nested_derivative(op.sin, at, order) == pytest.approx(math.sin(at + order * math.pi / 2), rel=1e-13)


def test_an_inner_tape_that_watches_another_value_does_not_disturb_the_outer_one():
    with Tape() as outer:
        x = outer.watch(5.0)
        with Tape() as inner:
            y = inner.watch(2.0)
            z = x * y * y
        g = inner.gradient(z, y)  # 2xy
        result = x * g  # 2x^2 y
    assert outer.gradient(result, x) == 40.0


def test_an_outer_tape_goes_on_after_an_inner_one_raised():
    with Tape() as outer:
        x = outer.watch(3.0)
        with pytest.raises(ZeroDivisionError), Tape() as inner:  # noqa: PT012
            inner.watch(x) * 2.0
            1 / 0  # noqa: B018
        y = x * x
    assert outer.gradient(y, x) == 6.0
