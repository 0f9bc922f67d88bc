"""Calls that write: in-place, out and mutable variants, on plain arrays and on tapes."""

from __future__ import annotations

import numpy as np
import pytest

import autograd.numpy as anp
from autograd import GradtapeError, NotTrackedError, Tape, TapeError, Tensor, grad, jacobian, jvp, run_kernel
from autograd import operators as op
from registry import (
    OutArrayError,
)

X = np.array([1.0, 2.0, 4.0])


def fresh():
    return X.copy()


@pytest.fixture
def tape():
    with Tape(persistent=True) as opened:
        yield opened
    opened._free()


# -------------------------------------------------------------------------------------------------- plain arrays


def test_out_and_in_place_write_and_return_what_was_given():
    x, out = fresh(), np.empty(3)
    assert op.add(x, 1.0, out=out) is out
    assert out.tolist() == [2.0, 3.0, 5.0]
    assert x.tolist() == X.tolist()
    assert op.multiply_(x, x) is x
    assert x.tolist() == [1.0, 4.0, 16.0]
    assert run_kernel("subtract.out", {"x1": x, "x2": out, "out": out}) is out
    assert out.tolist() == [-1.0, 1.0, 11.0]
    assert run_kernel("negative_", [x]) is x
    assert x.tolist() == [-1.0, -4.0, -16.0]


def test_a_list_as_operand_is_an_array():
    assert op.add_(fresh(), [1, 1, 1]).tolist() == [2.0, 3.0, 5.0]
    assert op.concatenate([[1.0], [2.0]], out=np.empty(2)).tolist() == [1.0, 2.0]


def test_several_results_go_to_several_arrays():
    logits, labels = np.array([[1.0, 2.0], [0.0, 3.0]]), np.array([0, 1])
    loss, gradient = op.softmax_cross_entropy(logits, labels=labels)
    out = np.empty(()), np.empty((2, 2))
    returned = op.softmax_cross_entropy(logits, labels=labels, out=out)
    assert returned[0] is out[0]
    assert returned[1] is out[1]
    assert out[0] == loss
    assert np.array_equal(out[1], gradient)
    with pytest.raises(OutArrayError, match="got out= with 1 arrays, expected 2"):
        op.softmax_cross_entropy(logits, labels=labels, out=out[0])
    with pytest.raises(OutArrayError, match="out1 overlaps"):
        op.softmax_cross_entropy(logits[:1, :1], labels=labels[1:] * 0, out=(out[1][0, :1].reshape(()), out[1][:1, :1][:, ::-1]))


MISTAKES = {
    "a list": (lambda: op.add(X, 1.0, out=[0.0] * 3), "is a list, expected a plain NumPy array"),
    "a scalar in place": (lambda: op.add_(1.0, 2.0), r"x1 is the scalar 1.0, expected a plain NumPy array"),
    "a NumPy scalar in place": (lambda: op.add_(np.float64(1.0), 2.0), "x1 is the scalar"),
    "shape": (lambda: op.add(X, 1.0, out=np.empty(4)), r"array to write has shape \(4,\), expected \(3,\)"),
    "a shape that NumPy would fill": (lambda: op.add(X, 1.0, out=np.empty((2, 3))), r"has shape \(2, 3\), expected \(3,\)"),
    "a matrix product that NumPy would repeat": (
        lambda: op.matmul(np.ones((2, 2)), np.ones((2, 2)), out=np.empty((3, 2, 2))),
        r"has shape \(3, 2, 2\), expected \(2, 2\)",
    ),
    "dtype": (lambda: op.add(X, 1.0, out=np.empty(3, np.float32)), "has dtype float32, expected float64"),
    "a wider dtype": (lambda: op.sum(np.ones(3, np.float32), out=np.empty(())), "has dtype float64, expected float32"),
    "integers in place": (lambda: op.divide_(np.array([1, 2]), 2), "has dtype int64, expected float64"),
    "a larger result in place": (lambda: op.add_(fresh(), np.ones((2, 3))), r"has shape \(3,\), expected \(2, 3\)"),
    "a reduction in place": (lambda: op.sum_(fresh()), r"has shape \(3,\), expected \(\)"),
    "a constant in place": (lambda: op.less_(fresh(), 2.0), "has dtype float64, expected bool"),
    "read-only": (lambda: op.add(X, 1.0, out=np.broadcast_to(0.0, 3)), "is read-only"),
    "a part of an input": (lambda: (lambda x: op.add(x[1:], 1.0, out=x[:-1]))(fresh()), "overlaps an input in part"),
    "an input reversed": (lambda: (lambda x: op.add_(x, x[::-1]))(fresh()), "overlaps an input in part"),
    "itself": (lambda: op.add(X, 1.0, out=np.lib.stride_tricks.as_strided(np.zeros(1), (3,), (0,))), "overlaps itself"),
    "a subclass": (lambda: op.add(X, 1.0, out=np.ma.zeros(3)), "is a MaskedArray"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_does_not_fit_raises_before_anything_is_written(mistake):
    call, message = MISTAKES[mistake]
    with pytest.raises(OutArrayError, match=message) as caught:
        call()
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, GradtapeError)


def test_nothing_is_written_by_a_call_that_fails():
    x = np.array([1.0, 2.0])
    for call in (op.add_, op.matmul_, op.logaddexp_):
        with pytest.raises(OutArrayError):
            call(x, np.ones((2, 2)) if call is not op.matmul_ else np.ones(2))
    with pytest.raises(OutArrayError):
        op.softmax_(np.array([1, 2]))
    assert x.tolist() == [1.0, 2.0]


def test_an_input_may_be_the_target():
    x = fresh()
    assert op.power(2.0, x, out=x) is x
    assert x.tolist() == [2.0, 4.0, 16.0]
    m = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert op.matmul(m, m, out=m).tolist() == [[7.0, 10.0], [15.0, 22.0]]
    assert op.dot_(m, np.eye(2)[::-1].copy()).tolist() == [[10.0, 7.0], [22.0, 15.0]]
    assert op.cumsum_(x).tolist() == [2.0, 6.0, 22.0]
    assert op.flip_(x).tolist() == [22.0, 6.0, 2.0]


def test_an_out_argument_that_the_operator_does_not_have():
    with pytest.raises(TypeError, match="out"):
        run_kernel("add", {"x1": X, "x2": X, "out": fresh()})
    with pytest.raises(TypeError, match="missing out argument 'out'"):
        run_kernel("add.out", {"x1": X, "x2": X})
    with pytest.raises(AttributeError, match="sums_"):
        op.sums_  # noqa: B018


# -------------------------------------------------------------------------------------------------- on a tape


def test_in_place_on_a_tensor_is_recorded_as_the_functional_form_and_rebinds_it(tape):
    w = tape.watch(fresh())
    u = w * 2.0
    assert op.add_(u, 1.0) is u
    assert u.value.tolist() == [3.0, 5.0, 9.0]
    assert [node.kernel_name for node in tape.nodes] == ["multiply", "add"]
    y = op.sum(u * u)
    np.testing.assert_array_equal(tape.gradient(y, w), 4 * (2 * X + 1))  # d/dw (2w + 1)**2
    np.testing.assert_array_equal(tape.gradient(y, u), 2 * (2 * X + 1))  # u is the new value


def in_place(w):
    """(w**2 + 1)**2, summed, with two writes."""
    op.multiply_(w, w)
    op.add_(w, 1.0)
    return op.sum(w * w)


def test_the_gradient_in_a_rebound_source_is_that_in_what_was_watched():
    x = fresh()
    expected = 4 * X * (X**2 + 1)
    np.testing.assert_allclose(grad(in_place)(x), expected, rtol=1e-15)
    np.testing.assert_array_equal(x, X)
    with Tape(persistent=True) as tape:
        params = {"w": tape.watch(x), "unused": tape.watch(1.0)}
        y = in_place(params["w"])
    np.testing.assert_allclose(tape.gradient(y, params)["w"], expected, rtol=1e-15)
    np.testing.assert_allclose(tape.jacobian(y, params["w"]), expected, rtol=1e-15)
    assert tape.graph().nodes[0]["kernel_name"] == "source"
    tape._free()


def test_higher_orders_and_forward_mode_of_a_function_that_writes():
    second = 12 * X**2 + 4  # of (x**2 + 1)**2
    np.testing.assert_allclose(grad(lambda x: op.sum(grad(in_place)(x)))(fresh()), second, rtol=1e-15)
    np.testing.assert_allclose(jacobian(grad(in_place))(fresh()), np.diag(second), rtol=1e-15)
    y, dy = jvp(in_place, (fresh(),), (np.ones(3),))
    np.testing.assert_allclose(dy, np.sum(4 * X * (X**2 + 1)), rtol=1e-15)
    np.testing.assert_allclose(y, np.sum((X**2 + 1) ** 2), rtol=1e-15)


def test_a_scalar_source():
    def cube(x):
        y = x * 1.0
        op.multiply_(y, x)
        op.multiply_(y, x)
        return y

    assert grad(cube)(3.0) == 27.0
    assert grad(grad(cube))(3.0) == 18.0


def test_out_a_tensor_rebinds_it(tape):
    w = tape.watch(fresh())
    t = w * 0.0
    assert op.exp(w, out=t) is t
    np.testing.assert_allclose(tape.gradient(op.sum(t), w), np.exp(X), rtol=1e-15)
    assert np.add(w, 1.0, out=t) is t
    assert t.value.tolist() == [2.0, 3.0, 5.0]
    assert anp.multiply(w, w, out=t) is t
    np.testing.assert_array_equal(tape.gradient(op.sum(t), w), 2 * X)


def test_a_result_without_a_tape_makes_a_tensor_constant(tape):
    w = tape.watch(fresh())
    t = w * 3.0
    op.exp(X, out=t)
    y = op.sum(t * w)
    np.testing.assert_array_equal(t.value, np.exp(X))
    np.testing.assert_array_equal(tape.gradient(y, w), np.exp(X))
    np.testing.assert_array_equal(tape.gradient(y, t), X)
    op.add_(t, w)
    np.testing.assert_array_equal(tape.gradient(op.sum(t * t), t), 2 * (np.exp(X) + X))


def test_a_watched_tensor_may_be_made_constant(tape):
    w = tape.watch(fresh())
    op.exp(X, out=w)
    np.testing.assert_array_equal(tape.gradient(op.sum(w * w), w), np.zeros(3))


def test_a_plain_target_gets_nan_and_the_tensor_is_returned(tape):
    w, a = tape.watch(fresh()), fresh()
    y = op.multiply_(a, w)
    assert isinstance(y, Tensor)
    assert np.isnan(a).all()
    np.testing.assert_array_equal(tape.gradient(op.sum(y), w), X)  # the old value of a, which the rule saved
    y = op.exp(w, out=a)
    np.testing.assert_array_equal(tape.gradient(op.sum(y), w), np.exp(X))
    a = fresh()
    old = a
    a *= w
    assert isinstance(a, Tensor)
    assert np.isnan(old).all()
    np.testing.assert_array_equal(tape.gradient(op.sum(a), w), X)


def test_constants_go_into_plain_arrays(tape):
    w, mask = tape.watch(fresh()), np.zeros(3, bool)
    assert op.less(w, 2.0, out=mask) is mask
    assert mask.tolist() == [True, False, False]
    assert np.greater(w, 2.0, out=mask) is mask
    assert mask.tolist() == [False, False, True]
    assert op.floor(w * 1.5, out=np.empty(3)).tolist() == [1.0, 3.0, 6.0]
    with pytest.raises(NotTrackedError, match="dtype int64"):
        op.add(w, 1.0, out=np.zeros(3, int))


def test_numpy_casts_where_the_operator_does_not(tape):
    w, a = tape.watch(fresh()), np.ones(3, np.float32)
    with pytest.raises(OutArrayError, match="has dtype float32, expected float64"):
        op.add_(a, w)
    a += w
    assert a.dtype == np.float32
    np.testing.assert_array_equal(tape.gradient(op.sum(a * a), w), 2 * (1 + X))
    with pytest.raises(OutArrayError, match="cannot be cast"):
        np.add(w, 1j, out=np.empty(3))


ALIASES = {
    "getitem": lambda w: w[1:],
    "reshape": lambda w: w.reshape(3, 1),
    "transpose": lambda w: w.T,
    "expand_dims": lambda w: op.expand_dims(w, axis=0),
    "real": op.real,
    "flip": op.flip,
    "broadcast_to": lambda w: op.broadcast_to(w, shape=(2, 3)),
}


@pytest.mark.parametrize("name", ALIASES)
def test_a_view_sees_what_is_written_to_its_base(tape, name):
    w = tape.watch(fresh())
    t = w * 1.0
    view = ALIASES[name](t)
    op.multiply_(t, w)
    np.testing.assert_array_equal(view.value, ALIASES[name](np.square(X)))
    op.multiply_(t, w)
    np.testing.assert_array_equal(view.value, ALIASES[name](X**3))
    y = op.sum(view * view)
    expected = np.zeros(3)
    np.add.at(expected, ALIASES[name](np.arange(3)).ravel(), 1.0)
    np.testing.assert_allclose(tape.gradient(y, w), expected * 6 * X**5, rtol=1e-14)  # d/dw of w**6, for each time it is seen


@pytest.mark.parametrize("name", [each for each in ALIASES if each != "broadcast_to"])
def test_what_is_written_to_a_view_is_in_its_base(tape, name):
    w = tape.watch(fresh())
    t = w * 1.0
    view = ALIASES[name](t)
    op.multiply_(view, view)
    written, plain = fresh(), ALIASES[name](np.arange(3)).ravel()
    written[plain] **= 2
    np.testing.assert_array_equal(t.value, written)
    expected = np.ones(3)
    expected[plain] = 2 * X[plain]
    np.testing.assert_array_equal(tape.gradient(op.sum(t), w), expected)


def test_through_some_views_nothing_can_be_written(tape):
    w = tape.watch(fresh())
    c = tape.watch(fresh() + 1j)
    for view in (op.broadcast_to(w, shape=(2, 3)), op.imag(c), op.real(c)):
        with pytest.raises(NotTrackedError, match=r"made by '\w+' in record \d, through which nothing can be written"):
            op.add_(view, 1.0)
        op.add_(op.copy(view), 1.0)
    np.testing.assert_array_equal(tape.gradient(op.sum(w * w), w), 2 * X)


def test_a_mistake_on_a_tape_leaves_everything_as_it_was(tape):
    w = tape.watch(fresh())
    u = w * 2.0
    for call in (
        lambda: op.add_(u, np.ones((2, 3))),
        lambda: op.sum(w, out=u),
        lambda: op.add(u, 1.0, out=np.empty(3, np.float32)),
        lambda: op.add(u, 1.0, out=np.broadcast_to(1.0, 3)),
        lambda: op.multiply_(u, 1j),
    ):
        with pytest.raises(OutArrayError):
            call()
    np.testing.assert_array_equal(u.value, 2 * X)
    np.testing.assert_array_equal(tape.gradient(op.sum(u * w), w), 4 * X)


def test_a_saved_array_is_not_overwritten(tape):
    w, a = tape.watch(fresh()), fresh()
    y = op.sum(w * a)
    with pytest.raises(OutArrayError, match="read-only"):
        op.add_(a, 1.0)
    with pytest.raises(OutArrayError, match="read-only"):
        op.exp(w, out=a)
    np.testing.assert_array_equal(tape.gradient(y, w), X)


def test_tapes_that_cannot_be_written_to():
    with Tape() as outer:
        x = outer.watch(fresh())
        y = x * 1.0
        with Tape() as inner:
            t = inner.watch(x)
            with pytest.raises(TapeError, match="watched on an outer tape, but the result is on one that was opened inside"):
                op.add_(x, t)
            v = y * 1.0
            op.multiply_(v, t)
            assert v.tape is inner
            u = t * 2.0
            op.add(y, y, out=u)  # what comes from outside is a constant of the inner tape
            z = op.sum(u * t)
        inner_gradient = inner.gradient(z, t)
        np.testing.assert_array_equal(v.value.value, X**2)  # a tensor of the tape outside
        np.testing.assert_array_equal(outer.gradient(op.sum(inner_gradient * y), x), 4 * X)  # of 2x * x
    with pytest.raises(TapeError, match="does not record"):
        op.add_(y, 1.0)
