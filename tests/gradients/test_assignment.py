"""Assignment: ``a[index] = v`` on tensors, on arrays made inside a traced function, through views, and by NumPy's writers."""

from __future__ import annotations

import numpy
import pytest

import autograd
import autograd.numpy as np
from autograd import NotTrackedError, Tape, TapeError, Tensor, grad, hessian, jacfwd, jacobian, value_and_grad
from autograd import operators as op
from autograd.tensor import AssignableArray
from tests.gradients.differences import assert_close, central_gradient
from tests.gradients.harness import Case, each_case

A = numpy.array([[0.3, -1.2, 2.0], [1.5, 0.7, -0.4]])
INDICES = {
    "element": (1, 2),
    "row": 1,
    "column": (slice(None), 1),
    "slice": (slice(None), slice(0, 2)),
    "negative step": (slice(None, None, -1), slice(2, 0, -1)),
    "ellipsis": ...,
    "new axis": (None, 1),
    "list": [1, 0],
    "repeated": [1, 1],
    "pairs": (numpy.array([0, 1, 0]), numpy.array([2, 0, 2])),
    "apart": (numpy.array([1, 0]), None, numpy.array([0, 0])),
    "mask": A > 0,
    "row mask": numpy.array([True, False]),
    "empty": (slice(0, 0),),
}


def assign(v, a, index):
    y = numpy.array(a)
    y[index] = v
    return y


def fits(shape, index):
    try:
        assign(numpy.zeros(shape), A, index)
    except (ValueError, TypeError):  # NumPy itself refuses some, such as two axes for a mask
        return False
    return True


CASES = [
    Case(
        "setitem",
        call=lambda np, v, a, index=index: op.setitem(v, a, index=index),
        reference=lambda v, a, index=index: assign(v, a, index),
        shapes=[(shape or float, (2, 3))],
        complex_domain=(-1, 1),
        label=f"{name} {shape}",
    )
    for name, index in INDICES.items()
    for shape in sorted({A[index].shape, A[index].shape[-1:], (1,) * A[index].ndim, (1, *A[index].shape), ()})
    if fits(shape, index)
]


@each_case(CASES)
def test_rule(case, check):
    check(case)


# ------------------------------------------------------------------------------------ functions that assign, as people write them


def element_by_element(np, x):
    c = np.zeros(3)
    c[0] = x[0] * x[1]
    c[1] = c[0] + x[2]
    c[-1] += c[1] ** 2
    return np.sum(c * x)


def masked(np, x):
    c = np.ones(3)
    c[x > 0] *= 3.0
    c[x > 0] += x[x > 0]
    return np.sum(c**2)


def rows(np, x):
    m = np.zeros((2, 3))
    m[0] = x
    m[1, ::-1] = x * x
    m[:, 1] = m[0, 1] + m[1, 1]
    return np.sum(m * m.T[:2, :1])


def into_an_expression(np, x):
    c = np.ones(3) * 2.0
    c[1:] = x[:2]
    return np.prod(c + x)


def into_the_argument(np, x):
    x = np.array(x)
    y = x * x
    x[0] = x[1]
    x[1:] = y[1:] * x[0]
    return np.sum(x * y)


def through_views(np, x):
    m = np.zeros((3, 3))
    row, column, corner = m[1], m[:, 2], m[1:, 1:]
    row[:] = x
    column[1:] += row[0]
    corner[0, 0] = x[0] * corner[1, 1]
    m.T[0, 2] = x[2]
    m.reshape(-1)[1] = row[1]
    m.ravel()[0] -= x[1]
    return np.sum(m**2) + np.sum(row * x) + np.sum(corner)


def views_of_a_tensor(np, x):
    y = x * 1.0
    head, back = y[:2], y[::-1]
    back[0] = x[0] ** 2
    head += x[1]
    y[1] = head[0] * back[2]
    return np.sum(y * back) + head[1]


def views_of_views(np, x):
    y = x * 1.0
    tail = y[1:]
    back = tail[::-1]
    y[2] = x[0] * x[1]
    back[1] = back[0] * x[2]
    m = np.zeros((2, 3))
    row = m[1]
    end = row[1:]
    m[1, 2] = x[0]
    end[0] = end[1] * x[1]
    return np.sum(back * tail) + np.sum(row * x) + end[0] * y[1]


def read_twice_then_written(np, x):
    y = x * 1.0
    read = y[numpy.array([0, 0, 1])]
    y[2] = x[0] * x[1]
    y[0] = y[2]
    return np.sum(read**2) + np.sum(y * x)


def numbers_are_replaced(np, x):
    first = x[0]
    second = first
    first += x[1]
    first *= first
    return first * second


def augmented(np, x):
    total = np.zeros(3)
    for k in range(3):
        total += x**k
    total *= x
    total -= 1.0
    total /= 2.0
    return np.sum(total**2)


def augmented_with_plain_numpy(np, x):
    total = numpy.zeros(3)
    total += x
    total *= x
    return np.sum(total)


def recurrence(np, x):
    y = np.empty(6)
    y[0] = x[0]
    for k in range(1, 6):
        y[k] = y[k - 1] * x[1] + x[2]
    return np.sum(y[::2])


def old_values_stay(np, x):
    c = np.zeros(3)
    c[:] = x
    y = c * c
    c[0] = 5.0
    return np.sum(y * c)


def writers(np, x):
    m = np.zeros((3, 3))
    np.fill_diagonal(m, x)
    np.put(m, [1, -1], x[:2] * 2.0)
    np.place(m, numpy.eye(3)[::-1] > 0, x[1:])
    np.putmask(m, numpy.tri(3, k=-2) > 0, m + 1.0)
    np.copyto(m[0], x, where=[False, True, True])
    np.put_along_axis(m, numpy.array([[0], [2], [1]]), x[:, None] ** 2, axis=1)
    np.add.at(m, ([0, 0, 1], [1, 1, 2]), x)
    np.multiply.at(m, (2, 2), x[0])
    return np.sum(m**2)


def makers(np, x):
    total = 0.0
    for c in (
        np.empty(3), np.ones(3), np.full(3, 2.0), np.arange(3.0), np.linspace(0, 1, 3), np.eye(3)[0], np.array([1.0, 2.0, 3.0]),
        np.zeros_like(x), np.full(3, x[0]), np.copy(x), np.logspace(0, 1, 3), np.identity(3)[1], np.tri(3)[1],
    ):  # fmt: skip
        c[:2] = x[:2]
        c[2] = x[0]
        total = total + np.sum(c * x)
    return total


FUNCTIONS = [
    element_by_element, masked, rows, into_an_expression, into_the_argument, through_views, views_of_a_tensor, views_of_views,
    read_twice_then_written, numbers_are_replaced, augmented,
    augmented_with_plain_numpy, recurrence, old_values_stay, writers, makers,
]  # fmt: skip
X = numpy.array([0.8, 1.3, -0.6])


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_functions_that_assign(f):
    """Value, gradient, forward mode and second derivative against the same code run by NumPy, and its differences."""
    plain = lambda x: f(numpy, numpy.array(x))  # noqa: E731
    ours = lambda x: f(np, x)  # noqa: E731
    value, gradient = value_and_grad(ours)(X)
    assert value == pytest.approx(plain(X), rel=1e-14)
    assert_close(gradient, central_gradient(plain, [X])[0], 1e-7, f.__name__)
    assert_close(jacfwd(ours)(X), gradient, 1e-12, f.__name__)
    second = hessian(ours)(X)
    for k in range(3):
        assert_close(second[k], central_gradient(lambda x, k=k: grad(ours)(x)[k], [X])[0], 1e-6, f.__name__)


def test_plain_arrays_stay_plain_and_fast():
    x = np.zeros(3)
    assert type(x) is numpy.ndarray
    with Tape():
        c = np.zeros((2, 3))
        assert isinstance(c, numpy.ndarray)
        c[0] = 1.0
        c[0, 1:] += 2.0
        assert type(numpy.asarray(c)) is numpy.ndarray
        assert c.tolist() == [[1.0, 3.0, 3.0], [0.0, 0.0, 0.0]]
        assert repr(c) == repr(numpy.asarray(c))
        assert numpy.linalg.norm(c) == pytest.approx(19**0.5)
        assert type(np.zeros(2, int)) is numpy.ndarray


def test_an_array_with_a_tensor_in_it_stands_for_one():
    with Tape() as tape:
        x = tape.watch(X)
        c = np.zeros(3)
        c[1] = x[0]
        assert numpy.isnan(c.view(numpy.ndarray)).all(), "its memory holds nothing that could be taken for a value"
        assert isinstance(c[0], Tensor)
        assert isinstance(c + 1, Tensor)
        assert isinstance(1.0 - c, Tensor)
        assert isinstance(numpy.sum(c), Tensor)
        assert isinstance(c.sum(axis=0), Tensor)
        assert [float(each.value) for each in c] == [0.0, X[0], 0.0]
        assert isinstance(np.concatenate([c, X]), Tensor)
        assert isinstance(np.array([c, c]), Tensor)
        assert isinstance(np.asarray(c), Tensor)
        assert isinstance(tape.watch(c), Tensor)
        assert len(c) == 3
        assert "Tensor" in repr(c)
        with pytest.raises(NotTrackedError, match="float"):
            float(c[1])
        with pytest.raises(NotTrackedError, match="has no gradient rule"):
            numpy.lib.stride_tricks.sliding_window_view(c, 2)
        numpy.testing.assert_array_equal(tape.gradient(c, x, dy=numpy.ones(3)), [1.0, 0.0, 0.0])
    assert c.tolist() == [0.0, X[0], 0.0]
    assert type(c + 1) is not Tensor


def test_what_a_function_returns():
    def f(x):
        c = np.zeros(2)
        c[0] = x
        return {"c": c, "plain": np.ones(2)}

    result = jacobian(lambda x: f(x)["c"])(3.0)
    numpy.testing.assert_array_equal(result, [1.0, 0.0])
    _, aux = autograd.grad_and_aux(lambda x: (x * x, f(x)))(3.0)
    numpy.testing.assert_array_equal(aux["c"], [3.0, 0.0])
    assert type(aux["plain"]) in (numpy.ndarray, AssignableArray)


def test_the_argument_of_the_caller_is_left_alone():
    x = X.copy()

    def f(x):
        x[0] = x[1] * x[2]
        return np.sum(x**2)

    numpy.testing.assert_allclose(grad(f)(x), [0.0, 2 * X[1] + 2 * X[1] * X[2] ** 2, 2 * X[2] + 2 * X[1] ** 2 * X[2]])
    numpy.testing.assert_array_equal(x, X)


def test_what_cannot_be_followed_raises_and_says_what_to_write():
    outside, whole = numpy.zeros(3), numpy.zeros(3, int)
    with Tape() as tape:
        x = tape.watch(X)
        with pytest.raises(NotTrackedError, match=r"autograd\.numpy"):
            outside[:] = x
        with pytest.raises(ValueError, match="sequence") as caught:  # what NumPy makes of ours
            outside[0] = x[0]
        assert "make that with autograd.numpy" in str(caught.value.__cause__)
        for write in (np.put, np.putmask):
            with pytest.raises(NotTrackedError, match=f"{write.__name__}: got a plain array to write to"):
                write(outside, [0, 1, 2], x)
        with pytest.raises(NotTrackedError, match=r"add\.at: got a plain array to write to"):
            np.add.at(outside, [0, 0, 1], x)
        with pytest.raises(NotTrackedError, match=r"multiply\.at: the indices name an element more than once"):
            np.multiply.at(x, [0, 0, 1], x)
        with pytest.raises((NotTrackedError, TypeError, ValueError)):
            whole[0] = x[0]
        with pytest.raises(TypeError, match="complex128 is assigned into an array of dtype float64"):
            x[0] = x[1] * 1j
        with pytest.raises(IndexError):
            x[3] = 1.0
        with pytest.raises(ValueError, match="broadcast"):
            x[:2] = x
        numpy.testing.assert_array_equal(x.value, X)
    with pytest.raises(TapeError, match="does not record"):
        x[0] = 1.0
    assert outside.tolist() == [0.0] * 3
    tape._free()


def test_a_saved_value_is_not_touched_by_a_later_assignment():
    with Tape(persistent=True) as tape:
        x = tape.watch(X)
        c = x * 1.0
        squares = c * c
        for k in range(3):
            c[k] = 0.0
        again = c * c
    numpy.testing.assert_array_equal(tape.gradient(squares, x, dy=numpy.ones(3)), 2 * X)
    numpy.testing.assert_array_equal(tape.gradient(again, x, dy=numpy.ones(3)), numpy.zeros(3))
    tape._free()


def test_a_loop_writes_into_one_buffer():
    """The value is copied for the first element alone: nobody else holds the array that is written."""
    with Tape() as tape:
        x = tape.watch(X)
        c = np.zeros(1000)
        c[0] = x[0]
        c[1] = x[1]
        buffer = id(c._tensor._value)
        for k in range(2, 1000):
            c[k] = x[k % 3]
            assert id(c._tensor._value) == buffer
        kept = c[:]
        c[5] = 0.0
        assert id(c._tensor._value) != buffer
        assert kept.value[5] == 0.0
        numpy.testing.assert_allclose(tape.gradient(np.sum(c), x), [334.0, 333.0, 332.0])


def test_nested_tapes_and_assignment():
    def f(x):
        c = np.zeros(2)
        c[0] = x**3
        c[1] = grad(lambda y: g(y, x))(x)
        return c[0] * c[1]

    def g(y, x):
        c = np.zeros(2)
        c[0] = y * y * x
        c[1] = y
        return c[0] + c[1]

    # x^3 (2x^2 + 1)
    assert grad(f)(2.0) == pytest.approx(10 * 2.0**4 + 3 * 2.0**2)


def test_one_array_assigned_into_twice_and_results_on_the_way():
    weights = numpy.array([1.0, 2.0, 4.0])
    with Tape(persistent=True) as tape:
        u = tape.watch(X)
        v = tape.watch(5.0)
        first = op.setitem(v, u, index=0)
        second = op.setitem(v * 2.0, first, index=1)
        other = op.setitem(v * 3.0, u, index=2)
        y = op.sum(second * weights) + op.sum(other * weights)
    gradients = tape.gradient(y, [first, u, v])
    numpy.testing.assert_array_equal(gradients[0], [1.0, 0.0, 4.0])
    numpy.testing.assert_array_equal(gradients[1], [0.0 + 1.0, 0.0 + 2.0, 4.0 + 0.0])
    assert gradients[2] == 1.0 + 2.0 * 2.0 + 3.0 * 4.0
    tape._free()


def test_an_augmented_assignment_after_its_tape_gives_numbers():
    with Tape() as tape:
        t = tape.watch(X) * 2.0
    t += 1.0
    numpy.testing.assert_array_equal(t, 2 * X + 1)
    assert type(t) is numpy.ndarray


def test_a_view_of_another_type_is_refused():
    with Tape() as tape:
        x = tape.watch(X)
        c = np.zeros(4)
        pairs = c.view(complex)
        with pytest.raises(NotTrackedError, match="a view of dtype complex128 on an array of dtype float64"):
            pairs[0] = x[0]
    tape._free()
