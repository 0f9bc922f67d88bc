"""Comparison and where: the table of rules, what is not chosen, and constants."""

import numpy
import pytest

import autograd.numpy as np
from autograd import Tape, Tensor, grad, jacobian
from registry import get_kernel
from tests.gradients.harness import Case, each_case

inf, nan = numpy.inf, numpy.nan

MASK = numpy.array([True, False, True])
COLUMN = numpy.array([[True], [False], [True]])

CASES = [
    Case(
        "where",
        call=lambda np, x, y: np.where(MASK, x, y),
        shapes=[((3,), (3,)), ((2, 3), (3,)), ((), (3,)), (float, (3,)), (float, float), ((2, 1), (1, 3))],
        complex_domain=(-1, 1),
    ),
    Case("where", label="mixed", call=lambda np, x, y: np.where(MASK, x, y), shapes=[((3,), ())], complex_domain=[(-1, 1), None]),
    Case("where", label="own condition", call=lambda np, x: np.where(x > 0.05, x * x, -x), shapes=[((2, 3),), (float,)]),
    Case("where", label="broadcasting condition", call=lambda np, x: np.where(COLUMN, x, 0.0), shapes=[((4,),), ((),)]),
    Case("where", label="integer condition", call=lambda np, x: np.where([2, 0, 1], x, 0.0), shapes=[((3,),)]),
    Case("where", label="scalar condition", call=lambda np, x: np.where(True, x, 0.0), shapes=[((3,),), ((),), (float,)]),
    *[
        Case(name, inputs=[numpy.array([1.0, 2.0, nan, inf]), numpy.array([1.0, 3.0, nan, -inf])], orders=0)
        for name in (
            "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor",
            "isclose", "allclose", "array_equal", "array_equiv",
        )
    ],
    *[
        Case(name, inputs=[numpy.array([0.0, -0.0, -1.0, nan, inf, -inf])], orders=0)
        for name in (
            "logical_not", "isnan", "isinf", "isfinite", "signbit", "isreal", "iscomplex", "isrealobj", "iscomplexobj",
            "isposinf", "isneginf",
        )
    ],
]  # fmt: skip


@each_case(CASES)
def test_rule(case, check):
    check(case)


def test_branch_not_taken_leaks_neither_nan_nor_inf():
    with numpy.errstate(invalid="ignore", divide="ignore"):
        assert grad(lambda x: np.where(x >= 0, x, np.sqrt(-x)))(1.0) == 1.0
        assert grad(lambda x: np.sum(np.where(x < 1.0, np.cos(x), 0.0)))(numpy.array([0.0, inf])).tolist() == [0.0, 0.0]
        d = numpy.array([0.0, 2.0])
        assert grad(lambda x: np.sum(np.where(d == 0, 0.0, x / d)))(numpy.array([0.0, 1.0])).tolist() == [0.0, 0.5]


def test_an_infinite_cotangent_does_not_reach_what_was_not_chosen():
    # sqrt(where(x > 0, x, 0)) is constant for x < 0.
    x = numpy.array([-1.0, 4.0])
    assert grad(lambda x: np.sum(np.sqrt(np.where(x > 0, x, 0.0))))(x).tolist() == [0.0, 0.25]


def test_undefined_entries_stay_in_their_row():
    with numpy.errstate(invalid="ignore"):
        rows = jacobian(lambda a: a * np.log(np.cos(a)))(numpy.array([6.0, 7.0, 8.0]))  # cos(8) < 0
    assert [rows[0, 2], rows[1, 2], rows[0, 1]] == [0.0, 0.0, 0.0]
    assert numpy.isnan(rows[2, 2])


def test_a_scalar_choice_gets_the_sum():
    assert grad(lambda a: np.sum(np.where(numpy.array([True, True, False]), a, numpy.ones(3))))(2.0) == 2.0
    assert grad(lambda a: np.sum(np.where([False, True], [a, 2 * a], 5 * a)))(2.0) == 7.0


def test_the_condition_may_be_a_tensor_and_is_a_constant():
    x = numpy.array([0.0, 2.0])
    assert grad(lambda x: np.sum(np.where(x, 3 * x, 5 * x)))(x).tolist() == [5.0, 3.0]
    assert grad(lambda x: np.sum(numpy.where(x, 3 * x, 5 * x)))(x).tolist() == [5.0, 3.0]


def test_one_argument_is_nonzero():
    with Tape() as tape:
        (found,) = np.where(tape.watch(numpy.array([0.0, 2.0, 3.0])))
    assert found.tolist() == [1, 2]
    with pytest.raises(ValueError, match=r"where: got 1 choices, expected two"):
        np.where([True], 1.0)


@pytest.mark.parametrize("name", ["equal", "isnan", "logical_not", "isclose"])
def test_constants_are_plain_for_nested_tapes(name):
    with Tape() as outer, Tape() as inner:
        x = inner.watch(outer.watch(numpy.ones(2)))
        result = getattr(np, name)(*[x] * (2 if name in ("equal", "isclose") else 1))
    assert type(result) is not Tensor


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "complex128", ">f8", "int64"])
@pytest.mark.parametrize("condition", [True, False, numpy.array([[True], [False]]), numpy.array([0.0, 2.0, 0.0])])
def test_where_or_zero_is_where(dtype, condition):
    kernel = get_kernel("where_or_zero", "numpy").kernel_func
    for x in (numpy.array([1.5, -2.5, -0.0]).astype(dtype), numpy.array(1.5).astype(dtype)[()], numpy.zeros((0, 3), dtype)):
        if numpy.shape(x) == (0, 3) and numpy.ndim(condition) == 2:
            continue
        expected = numpy.where(condition, x, 0.0)
        numpy.testing.assert_array_equal(kernel(condition, x), expected)
        assert kernel(condition, x).dtype == expected.dtype


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_where_or_zero_drops_what_is_not_finite(dtype):
    x = numpy.array([nan, inf, -inf, 3.0], dtype)
    kernel = get_kernel("where_or_zero", "numpy").kernel_func
    assert kernel(numpy.zeros(4, bool), x).tolist() == [0.0] * 4
    numpy.testing.assert_array_equal(kernel(numpy.ones(4, bool), x), x)
    assert not numpy.signbit(kernel(numpy.zeros(4, bool), -x)).any()


def test_a_choice_between_python_scalars_stays_weak():
    narrow = numpy.ones(2, "float32")
    assert (np.where(True, 1.0, 2.0) * narrow).dtype == "float32"
    assert type(grad(lambda x: np.where(x > 0, x, -x))(-1.0)) is float
