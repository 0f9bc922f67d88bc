"""Levels: gradients inside gradients never mix what belongs to different tapes."""

from __future__ import annotations

import numpy as np
import pytest

from autograd import Tape, Tensor, grad, hessian, jacobian, jvp, stop_gradient, value_and_grad
from autograd import operators as op

X = np.array([0.3, 0.7, 1.1])


def test_p71_nested_gradients_do_not_mix_levels():
    assert grad(lambda x: x * grad(lambda y: x + y)(2.0))(5.0) == 1.0


def test_the_classic_confusion_with_the_same_value_inside_and_out():
    # d/dx (x * d/dy (x y) at y = x) = d/dx (x * x) = 2x
    assert grad(lambda x: x * grad(lambda y: x * y)(x))(3.0) == 6.0
    # d/dx (x * d/dy (x y y) at y = x) = d/dx (2 x^3) = 6x^2
    assert grad(lambda x: x * grad(lambda y: x * y * y)(x))(3.0) == 54.0


def test_p67_higher_order_through_lists():
    def objective(y, xs):
        return xs[0] * y + xs[1]

    def outer(y):
        g = grad(objective, 1)(y, [1.0, 3.0])
        return objective(y, [1.0 - 0.1 * g[0], 3.0 - 0.1 * g[1]])

    assert grad(outer)(2.0) == pytest.approx(0.6)


def test_three_levels_with_closures_over_each():
    def f(x):
        def g(y):
            def h(z):
                return x * y * z * z

            return grad(h)(2.0) * y  # 4 x y^2

        return grad(g)(3.0) * x  # 24 x^2

    assert grad(f)(5.0) == 240.0


def test_a_gradient_step_inside_a_loss_that_is_differentiated():
    """Learning to learn: d/d(rate) of the loss after one step, worked out by hand."""
    w0 = 3.0

    def after_a_step(rate):
        w = w0 - rate * grad(lambda w: w * w)(w0)  # w0 (1 - 2 rate)
        return w * w

    rate = 0.1
    assert grad(after_a_step)(rate) == pytest.approx(2 * w0 * (1 - 2 * rate) * w0 * -2)


def test_values_are_tensors_of_the_outer_tape_and_operations_land_on_the_innermost():
    with Tape() as outer:
        x = outer.watch(X)
        with Tape() as inner:
            y = inner.watch(x)
            z = y * 2.0
            assert z.tape is inner
            assert type(z.value) is Tensor
            assert z.value.tape is outer
            assert (x * 2.0).tape is outer
            assert (x * y).tape is inner
        assert len(inner) == 2
        assert type(y * x) is Tensor, "a closed inner tape is unwrapped one level"
        assert (y * x).tape is outer


def test_an_operation_with_a_list_of_both_levels():
    # f(x) = sum over [x, y, x*y] at y = 2 of squares; the inner derivative in y: 2y + 2 x^2 y
    def f(x):
        return grad(lambda y: op.sum(op.stack([x, y, x * y]) * op.stack([x, y, x * y])))(2.0)

    assert f(3.0) == 2 * 2 + 2 * 9 * 2
    assert grad(f)(3.0) == 4 * 3 * 2


def test_nested_lists_of_tensors_where_an_array_is_expected():
    assert grad(lambda x: op.sum(op.sin([x, 2 * x])))(0.0) == 3.0
    h = hessian(lambda x: op.sum(op.matmul(x, [[1.0, 2.0], [3.0, 4.0]]) * x))(np.array([1.0, 2.0]))
    np.testing.assert_allclose(h, [[2.0, 5.0], [5.0, 8.0]])
    assert grad(grad(lambda x: op.sum(op.sin([x, [2 * x][0]]) * [x, 1.0])))(0.5) == pytest.approx(
        2 * np.cos(0.5) - 0.5 * np.sin(0.5) - 4 * np.sin(1.0)
    )


def test_a_constant_of_the_outer_tape_in_an_inner_gradient():
    # d/dx of d/dy (y^2 x) at y = 3: 2y
    assert grad(lambda x: grad(lambda y: y * y * x)(3.0))(7.0) == 6.0


def test_the_gradient_in_a_value_of_the_outer_tape_used_by_closure_only():
    value, g = value_and_grad(lambda x: grad(lambda y: x * op.sin(y) * y)(1.0) * x)(2.0)
    inner = np.sin(1) + np.cos(1)
    assert value == pytest.approx(4 * inner)
    assert g == pytest.approx(4 * inner)


def test_interleaved_tapes_in_generators():
    """No global stack: two runs may take turns."""

    def run(scale):
        with Tape() as tape:
            x = tape.watch(scale)
            yield
            y = x * x
            yield
            z = y * x
            yield
        yield tape.gradient(z, x)

    first, second = run(2.0), run(3.0)
    results = [next(each) for _ in range(4) for each in (first, second)]
    assert results[-2:] == [12.0, 27.0]


def test_mixed_forward_reverse_and_jacobian_at_three_levels():
    f = lambda x: op.sum(op.sin(x) * x)  # noqa: E731
    third = jacobian(hessian(f))(X)
    at = np.arange(3)
    diagonal = third[at, at, at]
    np.testing.assert_allclose(diagonal, -3 * np.sin(X) - X * np.cos(X))
    assert np.count_nonzero(np.abs(third) > 1e-12) == 3
    directional = jvp(lambda x: jvp(grad(f), (x,), (np.ones(3),))[1], (X,), (np.ones(3),))[1]
    np.testing.assert_allclose(directional, -3 * np.sin(X) - X * np.cos(X))


def test_stop_gradient_inside_takes_off_every_level():
    assert grad(lambda x: grad(lambda y: stop_gradient(x * y) * y * x)(2.0))(3.0) == 6.0


def test_float32_survives_two_levels():
    x = X.astype(np.float32)
    assert grad(lambda x: op.sum(grad(lambda y: op.sum(2.0 * op.sin(y) * y))(x) * 0.5))(x).dtype == np.float32
    assert hessian(lambda x: op.sum(x * x * 3.0))(x).dtype == np.float32
    assert np.asarray(grad(grad(lambda x: x * x * x))(np.float32(2.0))).dtype == np.float32


def test_an_exception_at_an_inner_level_leaves_the_outer_one_usable():
    def f(x):
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                grad(lambda y: y * x / (1 // 0))(2.0)
        return x * x

    assert grad(f)(3.0) == 6.0
