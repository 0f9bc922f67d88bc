"""Special values of programs that write: assignment in every spelling, methods of arrays, ``out=``, plain arrays in place.

A row is one way to write a program whose derivative is known by hand.
"""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest

import autograd.numpy as np
from autograd import checkpoint, grad, jacobian, make_jvp
from autograd import operators as op
from autograd.errors import NotTrackedError
from tests.special_values.table import Row, each_row

E = math.e
TWO, THREE = numpy.array([2.0, 3.0]), numpy.array([2.0, 3.0, 5.0])
SQUARE = numpy.array([[2.0, 1.0], [1.0, 3.0]])


def program(steps: Any, make: Any = np.zeros_like, result: Any = lambda c: c * c) -> Any:
    """A function of x: run ``steps(c, x)`` on the array ``c = make(x)``, and return ``result(c)``, its squares by default."""

    def f(x: Any) -> Any:
        c = make(x)
        steps(c, x)
        return result(c)

    return f


# ------------------------------------------------------------------------------------------------ assignment


def slices(c, x):
    c[0] = x[0] * x[1]
    c[1:] = x[1:] ** 2


def view_of_view(c, x):
    v = c[1:]
    v[0] = x[0]
    w = v[::-1]
    w[0] = x[1] * x[2]


def augmented(c, x):
    c += 1
    c *= x


def quotient(c, x):
    c += 1
    c /= x
    c **= 2


def masked(c, x):
    c += 1
    c[x > 2.5] *= x[x > 2.5]


def remainder(c, x):
    c += 7
    c %= x


def matrix_product(c, x):
    c[0, 0] = c[1, 1] = 1.0
    c @= x


def rows(c, x):
    for row, each in zip(c, x, strict=True):
        row[:] = each
        row[0] *= each


def columns(c, x):
    first, second = c.T
    first[:] = x
    second[1:] = first[:1] * x[1]


def both_parts(c, x):
    c.real = x
    c.imag = x**2


def held_part(c, x):
    imaginary = c.imag
    imaginary[1:] = x[:1]


def numpys_views(c, x):
    numpy.reshape(c, -1)[1] = x[0]
    numpy.transpose(c)[0] = x


def views_of_a_written_view(c, x):
    w = c[1:]
    w[0] = x
    numpy.ravel(w)[1] = x[0]
    w.T[0] *= x[1]


def writers(c, x):
    np.fill_diagonal(c, x)
    np.put(c, [1], x[0] ** 2)
    np.copyto(c[1], x, where=[True, False])


def parts_of_a_tensor(x):
    y = x * (1.0 + 1.0j)
    y.real = x**2
    y.imag = x
    return squared_distance(y)


def flat_of_a_tensor(x):
    y = np.outer(x, x)
    y.flat = x
    return y * y


def overwritten(x):
    c = np.zeros(2)
    c[0] = x[0]
    before = c * c
    c[0] = x[1]
    return before + c


def shifted(x):
    y = x * 1.0
    y[1:] = y[:-1]
    return y * y


def filled(x):  # (x0 ** 2, x0 x1)
    c = np.zeros(2)
    c[0] = x[0] ** 2
    c[1] = x[0] * x[1]
    return c


def matrix(x):
    return np.zeros((2, 2))


def complex_vector(x):
    return np.zeros(2, complex)


def squared_distance(c):  # from -1: the two parts count differently
    return np.abs(c + 1) ** 2


def reshaped_view_of_a_view(x):
    y = np.zeros((2, 2))
    w = y[1:]
    w[0] = x
    np.reshape(w, -1)[0] = 5.0
    return np.sum(y * y)


def used_before_it_is_written(x):
    h = np.ones(2)
    total = np.sum(x * h)
    h[0] = x[1]
    return total + h[0] * h[1]


def copied_and_written(x):
    x = x * 1.0
    y = x[:, [2, 0]]  # a copy, though NumPy keeps it as the base of what it returns
    y[0, 0] = 77.0
    return np.sum(x) + np.sum(y)


ASSIGNMENT = [
    Row("assignment", "a reshaped view of a view", reshaped_view_of_a_view, TWO, first=[0.0, 6.0]),
    # x0 + x1 + x1 * 1
    Row("assignment", "numbers used before a tensor is written", used_before_it_is_written, TWO, first=[1.0, 2.0]),
    Row("assignment", "a copy by index", copied_and_written, numpy.ones((2, 3)), first=[[2.0, 1.0, 1.0], [2.0, 1.0, 2.0]]),
    Row("assignment", "slices", program(slices, result=np.sum), THREE, first=[3.0, 8.0, 10.0], second=[1.0, 3.0, 2.0]),
    # x0 ** 2 + (x1 x2) ** 2
    Row("assignment", "view of a view", program(view_of_view), THREE, first=[4.0, 150.0, 90.0], second=[2.0, 110.0, 78.0]),
    Row("assignment", "c *= x of numbers", program(augmented), TWO, first=[4.0, 6.0], second=[2.0, 2.0]),
    Row("assignment", "c /= x, c **= 2", program(quotient, result=np.sum), TWO, first=[-1 / 4, -2 / 27], second=[3 / 8, 2 / 27]),
    Row("assignment", "c[mask] *= x[mask]", program(masked), TWO, first=[0.0, 6.0], second=[0.0, 2.0]),
    # 7 - 3 x and 7 - 2 x
    Row(
        "assignment", "c %= x", program(remainder, result=np.sum), numpy.array([2.0, 3.1]),
        first=[-3.0, -2.0], second=[0.0, 0.0],
    ),
    Row("assignment", "c @= x", program(matrix_product), SQUARE, first=2 * SQUARE, second=2 * numpy.ones((2, 2))),
    Row("assignment", "rows in a loop", program(rows, matrix, np.sum), TWO, first=[5.0, 7.0], second=[2.0, 2.0]),
    Row("assignment", "unpacked columns", program(columns, matrix, np.sum), TWO, first=[4.0, 3.0], second=[1.0, 1.0]),
    # (x + 1) ** 2 + x ** 4
    Row(
        "assignment", "c.real = x", program(both_parts, complex_vector, squared_distance), TWO,
        first=[38.0, 116.0], second=[50.0, 110.0],
    ),
    Row(
        "assignment", "a held imaginary part", program(held_part, complex_vector, squared_distance), TWO,
        first=[4.0, 0.0], second=[2.0, 0.0],
    ),
    Row("assignment", "views of plain NumPy", program(numpys_views, matrix), TWO, first=[8.0, 6.0], second=[4.0, 2.0]),
    # (x0 x1) ** 2 + x0 ** 2
    Row(
        "assignment", "views of a written view", program(views_of_a_written_view, matrix), TWO,
        first=[40.0, 24.0], second=[20.0 + 24.0, 24.0 + 8.0],
    ),
    # x0 ** 2 + x0 ** 4 + x0 ** 2 + x1 ** 2
    Row("assignment", "functions that write", program(writers, matrix), TWO, first=[40.0, 6.0], second=[52.0, 2.0]),
    Row("assignment", "t.real = x ** 2, t.imag = x", parts_of_a_tensor, TWO, first=[44.0, 126.0], second=[54.0, 114.0]),
    Row("assignment", "t.flat = x", flat_of_a_tensor, TWO, first=[8.0, 12.0], second=[4.0, 4.0]),
    Row("assignment", "used, then overwritten", overwritten, TWO, first=[4.0, 1.0], second=[2.0, 0.0]),
    Row("assignment", "y[1:] = y[:-1]", shifted, THREE, first=[8.0, 6.0, 0.0], second=[4.0, 2.0, 0.0]),
    Row("assignment", "in a jacobian", lambda x: jacobian(filled)(x), TWO, first=[3.0, 1.0], second=[0.0, 0.0]),
    Row("assignment", "in make_jvp", lambda x: make_jvp(filled)(x)(x)[1], TWO, first=[4 * 2.0 + 2 * 3.0, 4.0], second=[6.0, 2.0]),
    Row(
        "assignment", "in checkpoint", lambda x: checkpoint(lambda y: np.sum(filled(y)))(x), TWO,
        first=[7.0, 2.0], second=[3.0, 1.0],
    ),
    # 2 x0 ** 2 + x1 ** 2 + x0 x1
    Row("assignment", "in grad", lambda x: grad(lambda y: np.sum(filled(y) * x))(x), TWO, first=[11.0, 8.0], second=[5.0, 3.0]),
]  # fmt: skip

# ------------------------------------------------------------------------------------------------ methods, out=, plain arrays


def out_of_parts(x):
    whole = x * 0.0
    fraction, _ = np.modf(x * x, out=(np.empty(2), whole))
    return fraction * x


def operators_own_out(x):
    a = np.ones(2)
    op.multiply(a, x, out=a)
    op.multiply(a, a, out=a)
    return a


def in_place(name: str, start: float) -> Any:
    def f(x: Any) -> Any:
        a = numpy.full(2, start)
        a = getattr(a, name)(x)
        return a * x

    return f


def product_in_place(x):
    a = numpy.eye(2)
    a @= x
    return a * a


METHODS = [
    Row(
        "array methods", "diagonal, repeat", lambda x: x.diagonal(1).repeat(3) * x.trace(), SQUARE,
        first=[[3.0, 15.0], [0.0, 3.0]], second=[[3.0, 6.0], [0.0, 3.0]],
    ),
    Row(
        "array methods", "take, compress",
        lambda x: x.take([7, 0], mode="wrap") * x.compress([False, True], axis=1).ravel(), SQUARE,
        first=[[3.0, 3.0], [0.0, 1.0 + 2.0]], second=[[1.0, 1.0], [0.0, 1.0 + 1.0]],
    ),
    Row("array methods", "cumprod, min", lambda x: x.cumprod() * x.min(initial=0.5), TWO, first=[2.0, 1.0], second=[0.5, 0.5]),
    Row(
        "array methods", "sum with where", lambda x: (x * x).sum(where=[True, False], initial=1.0, keepdims=True), TWO,
        first=[4.0, 0.0], second=[2.0, 0.0],
    ),
    Row(
        "array methods", "flatten, swapaxes", lambda x: x.flatten("F").reshape(2, 2, order="C").swapaxes(0, -1)[0] ** 2, SQUARE,
        first=[[4.0, 2.0], [0.0, 0.0]], second=[[2.0, 2.0], [0.0, 0.0]],
    ),
    Row("array methods", "byteswap", lambda x: x.byteswap(), TWO, error="swapped bytes have no derivative"),
    Row(
        "out=", "an array of ours", lambda x: np.exp(x, out=np.empty(2)) * x, numpy.zeros(2),
        first=[1.0, 1.0], second=[2.0, 2.0],
    ),
    Row("out=", "an array of NumPy's", lambda x: np.multiply(x, x, out=numpy.empty(2)), TWO, first=2 * TWO, second=[2.0, 2.0]),
    Row("out=", "a tensor, twice", lambda x: (lambda y: np.multiply(y, y, y))(x * x), TWO, first=4 * TWO**3, second=12 * TWO**2),
    # (x ** 2 - n) x
    Row(
        "out=", "a tuple", out_of_parts, numpy.array([1.5, 0.5]),
        first=[3 * 2.25 - 2, 0.75], second=[9.0, 3.0],
    ),
    Row("out=", "of a fold", lambda x: np.multiply.reduce(x, out=np.empty(())), TWO, first=[3.0, 2.0], second=[1.0, 1.0]),
    Row("out=", "of an operator", operators_own_out, TWO, first=2 * TWO, second=[2.0, 2.0]),
    Row(
        "out=", "with where", lambda x: np.exp(x, out=x * x, where=[False, True]), numpy.array([3.0, 0.0]),
        first=[6.0, 1.0], second=[2.0, 1.0],
    ),
    Row("a plain array in place", "+=", in_place("__iadd__", 1.0), TWO, first=[5.0, 7.0], second=[2.0, 2.0]),
    Row("a plain array in place", "-=", in_place("__isub__", 1.0), TWO, first=[-3.0, -5.0], second=[-2.0, -2.0]),
    Row("a plain array in place", "*=", in_place("__imul__", 3.0), TWO, first=6 * TWO, second=[6.0, 6.0]),
    Row("a plain array in place", "/=", in_place("__itruediv__", 3.0), TWO, first=[0.0, 0.0], second=[0.0, 0.0], tolerance=1e-9),
    Row(
        "a plain array in place", "**=", in_place("__ipow__", E), TWO,
        first=numpy.exp(TWO) * (1 + TWO), second=numpy.exp(TWO) * (2 + TWO),
    ),
    Row(
        "a plain array in place", "//=", in_place("__ifloordiv__", 7.0), numpy.array([2.0, 3.0]),
        first=[3.0, 2.0], second=[0.0, 0.0],
    ),
    Row("a plain array in place", "%=", in_place("__imod__", 7.0), TWO, first=[7 - 12.0, 7 - 12.0], second=[-6.0, -4.0]),
    Row("a plain array in place", "@=", product_in_place, SQUARE, first=2 * SQUARE, second=2 * numpy.ones((2, 2))),
]  # fmt: skip


@each_row(ASSIGNMENT + METHODS)
def test_special_value(row, check):
    check(row)


def test_what_plain_numpy_cannot_follow_says_what_to_write():
    with pytest.raises(NotTrackedError, match=r"write block"):
        grad(lambda x: np.sum(np.bmat([[x, x]])))(SQUARE)
    with pytest.raises(NotTrackedError, match=r"autograd\.numpy\.full_like"):
        grad(lambda x: np.sum(numpy.full_like(SQUARE, x)))(2.0)
    with pytest.raises(AttributeError, match=r"t = t\.reshape"):
        grad(lambda x: setattr(x, "shape", (2, 1)))(TWO)
    with pytest.raises(TypeError, match="no imaginary part"):
        grad(lambda x: setattr(x, "imag", 1.0))(TWO)
