"""Choices between values, and functions called for each part of an array."""

import numpy
import pytest

import autograd.numpy as np
from autograd import NotTrackedError, Tape, grad, hessian, jacobian
from tests.gradients.harness import Case, each_case

inf, nan = numpy.inf, numpy.nan
PARTS = (-1.0, 1.0)
LEFT = numpy.array([[True, False, True], [False, False, True]])
MIDDLE = numpy.array([[True, True, False], [False, True, True]])
NUMBERS = numpy.array([[0, 1, 1], [1, 0, 0]])


def row(name, label, function, **fields):
    return Case(name, call=function, label=label, **fields)


CASES = [
    row("select", "usual", lambda np, a, b: np.select([LEFT, MIDDLE], [a, b]), shapes=[((2, 3), (2, 3)), ((3,), (2, 1))],
        complex_domain=PARTS),
    row("select", "default", lambda np, a, d: np.select([LEFT, MIDDLE], [a, 2.0], d), shapes=[((2, 3), ()), ((), (3,))]),
    row("choose", "usual", lambda np, a, b: np.choose(NUMBERS, [a, b]), shapes=[((2, 3), (2, 3)), ((3,), ())],
        complex_domain=PARTS),
    *[row("choose", mode, lambda np, a, mode=mode: np.choose(NUMBERS + 1, [a, 2 * a], mode=mode), shapes=[((3,),)])
      for mode in ("wrap", "clip")],
    row("extract", "usual", lambda np, a: np.extract(LEFT, a), shapes=[((2, 3),)], complex_domain=PARTS),
    row("piecewise", "usual", lambda np, x: np.piecewise(x, [x < 0, x >= 0], [lambda x: -x, lambda x: x * x]),
        shapes=[((2, 3),), ((),)]),
    row("piecewise", "otherwise", lambda np, x: np.piecewise(x, [LEFT], [lambda x: x**3, 4.0]), shapes=[((2, 3),)],
        complex_domain=PARTS),
    row("piecewise", "overlap", lambda np, x: np.piecewise(x, [LEFT, MIDDLE], [lambda x: x**3, lambda x: np.sin(x)]),
        shapes=[((2, 3),)]),
    row("piecewise", "whole parts", lambda np, x: np.piecewise(x, [LEFT, MIDDLE], [lambda x: x / x.sum(), lambda x: x.sum()]),
        shapes=[((2, 3),)], domain=(0.5, 2)),
    row("piecewise", "arguments", lambda np, x: np.piecewise(x, [LEFT], [lambda x, k: k * x], 3.0), shapes=[((2, 3),)]),
    *[row("apply_along_axis", f"axis={axis}", lambda np, a, axis=axis: np.apply_along_axis(lambda r: r[:2] * r.sum(), axis, a),
          shapes=[((2, 3, 2),)], complex_domain=PARTS)
      for axis in (0, 1, -1)],
    row("apply_along_axis", "scalars", lambda np, a: np.apply_along_axis(lambda r: (r * r).sum(), 0, a), shapes=[((2, 3),)]),
    row("apply_along_axis", "matrices", lambda np, a: np.apply_along_axis(lambda r, k: k * r[:, None] * r, 0, a, 2.0),
        shapes=[((2, 3),)]),
    row("apply_over_axes", "usual", lambda np, a: np.apply_over_axes(np.sum, a, [0, -1]), shapes=[((2, 3, 2),)]),
]  # fmt: skip


@each_case(CASES)
def test_rule(case, check):
    check(case)


# ---------------------------------------------------------------------------------------------------- values by hand


def test_what_is_not_chosen_has_gradient_zero_also_where_it_is_infinite():
    x = numpy.array([0.0, 4.0])
    assert grad(lambda x: np.sum(np.select([x > 0], [np.sqrt(x)])))(x).tolist() == [0, 0.25]
    assert grad(lambda x: np.sum(np.choose([1, 0], [np.sqrt(x), 2 * x])))(x).tolist() == [2, 0.25]
    assert grad(lambda x: np.sum(np.extract(x > 0, np.sqrt(x))))(x).tolist() == [0, 0.25]


def test_functions_see_their_own_part_alone():
    x = numpy.array([-1.0, 0.0, 4.0])  # log is not asked for numbers below zero, so nothing warns
    g = grad(lambda x: np.sum(np.piecewise(x, [x <= 0], [0.0, np.log])))(x)
    assert g.tolist() == [0, 0, 0.25]
    assert hessian(lambda x: np.sum(np.piecewise(x, [x <= 0], [0.0, np.log])))(x)[2].tolist() == [0, 0, -1 / 16]


def test_the_last_condition_that_holds_wins():
    x = numpy.array([1.0, 2.0])
    assert grad(lambda x: np.sum(np.piecewise(x, [x > 0, x > 1], [lambda x: 3 * x, lambda x: 5 * x])))(x).tolist() == [3, 5]


def test_scalars_in_pieces():
    f = lambda x: np.piecewise(x, [x < 0, x >= 0], [lambda x: -x, lambda x: x * x])  # noqa: E731
    assert grad(f)(3.0) == 6.0
    assert grad(f)(-3.0) == -1.0


def test_functions_may_use_tensors_from_outside():
    x = numpy.array([1.0, 2.0])
    assert grad(lambda t: np.sum(np.piecewise(x, [x > 1], [lambda x: t * x, lambda x: 0 * x])))(3.0) == 2.0
    assert grad(lambda t: np.sum(np.piecewise(x, [x > 1], [t, 1.0])))(3.0) == 1.0
    assert grad(lambda t: np.sum(np.apply_along_axis(lambda row: row * t, 0, x)))(3.0) == 3.0
    with pytest.raises(NotTrackedError, match="x has dtype int64"):
        grad(lambda t: np.sum(np.piecewise(numpy.arange(3), [True], [t])))(3.0)


def test_pieces_that_do_not_depend_on_a_tensor_are_plain():
    with Tape() as tape:
        y = np.piecewise(tape.watch(numpy.ones(2)), [numpy.zeros(2, bool)], [lambda x: x])
    assert type(y) is numpy.ndarray
    assert y.tolist() == [0, 0]
    assert np.piecewise(numpy.arange(4), [numpy.arange(4) > 1], [lambda x: x * 2, -1]).tolist() == [-1, -1, 4, 6]


def test_rows_of_plain_arrays_are_joined_by_numpys_rules():
    calls = []

    def first(row):
        calls.append(row)
        return row[0]

    a = numpy.arange(6).reshape(2, 3)
    result = np.apply_along_axis(first, 1, a)
    numpy.testing.assert_array_equal(result, numpy.apply_along_axis(lambda row: row[0], 1, a))
    assert result.dtype == int
    assert len(calls) == 2
    with pytest.raises(ValueError, match="iteration dimensions are 0"):
        np.apply_along_axis(first, 1, a[:0])


def test_plain_numpy_arrives_here():
    a = numpy.array([[3.0, 1.0], [4.0, 2.0]])
    for f in (
        lambda module, a: module.select([a > 2], [a]),
        lambda module, a: module.choose([0, 1], [a, 2 * a]),
        lambda module, a: module.extract(a.value > 2, a),
        lambda module, a: module.piecewise(a, [a > 2], [lambda x: x * x, 1.0]),
        lambda module, a: module.apply_along_axis(lambda r: r * r, 0, a),
        lambda module, a: module.apply_over_axes(np.sum, a, 0),
    ):
        by_numpy = jacobian(lambda a: f(numpy, a))(a)  # noqa: B023
        numpy.testing.assert_array_equal(by_numpy, jacobian(lambda a: f(np, a))(a))  # noqa: B023
        assert by_numpy.any()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: np.select([True], [x, x]), ValueError, "got 1 conditions and 2 choices"),
        (lambda x: np.select([1], [x]), TypeError, "expected bool"),
        (lambda x: np.choose([0, 5, 1], [x, x]), ValueError, "invalid entry"),
        (lambda x: np.choose(x, [x, x]), NotTrackedError, "choose: a is a tensor"),
        (lambda x: np.piecewise(x, [x > 0], [1.0, 2.0, 3.0]), ValueError, "got 1 conditions and 3 functions"),
        (lambda x: np.apply_over_axes(lambda a, axis: a[0, 0], np.reshape(x, (1, 3, 1)), 0), ValueError, "returned 1 axes"),
    ],
)
def test_errors(call, error, message):
    with Tape() as tape, pytest.raises(error, match=message):
        call(tape.watch(numpy.ones(3)))
