"""``checkpoint`` and ``custom_gradient``: functions that are one record on the tape."""

from __future__ import annotations

import numpy as np
import pytest

from autograd import GradientError, Tape, checkpoint, custom_gradient, grad, hessian, jacobian, jvp, value_and_grad
from autograd import operators as op

X = np.array([0.3, 0.7, 1.1])


# ------------------------------------------------------------------------------------------------ checkpoint


def work(x, factor=1.0):
    y = op.sin(x) * x
    return op.cos(y * y) * factor


def test_checkpoint_gives_the_same_values_and_derivatives():
    f, g = (lambda x: op.sum(work(x))), (lambda x: op.sum(checkpoint(work)(x)))
    for transform in (value_and_grad, hessian, lambda f: grad(lambda x: op.sum(grad(f)(x) * X))):
        for got, want in zip(transform(g)(X), transform(f)(X), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12)
    np.testing.assert_allclose(jacobian(checkpoint(work))(X), jacobian(work)(X), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(jvp(checkpoint(work), (X,), (X,))[1], jvp(work, (X,), (X,))[1], rtol=1e-12)


def test_checkpoint_is_one_record_that_saves_its_inputs_only():
    with Tape() as tape:
        x = tape.watch(np.ones(100))
        y = op.sum(checkpoint(work)(x * 1.0))
    assert [node.kernel_name for node in tape.nodes] == ["multiply", "checkpoint", "sum"]
    assert tape.saved_bytes() == 800
    tape.gradient(y, x)


def test_checkpoint_runs_the_function_twice():
    runs = []
    grad(lambda x: op.sum(checkpoint(lambda x: runs.append(1) or op.sin(x) * x)(x)))(X)
    assert len(runs) == 2
    runs.clear()
    checkpoint(lambda x: runs.append(1) or x)(X)
    assert len(runs) == 1


def test_checkpoint_takes_containers_plain_arguments_and_keywords():
    def f(params, data, *, scale):
        return {"y": params["w"] * data * scale, "n": params["b"] * 2.0}

    def loss(w, b, s):
        out = checkpoint(f)({"w": w, "b": b}, X, scale=s)
        return op.sum(out["y"]) * out["n"]

    gw, gb, gs = grad(loss, (0, 1, 2))(2 * X, 3.0, 0.5)
    np.testing.assert_allclose(gw, X * 0.5 * 6)
    assert gb == pytest.approx((2 * X * X).sum() * 0.5 * 2)
    assert gs == pytest.approx((2 * X * X).sum() * 6)


def test_checkpoint_of_complex_values():
    f = lambda z: op.sum(op.real(z * z * z))  # noqa: E731
    z = np.array([1.0 + 2.0j, 0.5 - 1.0j])
    np.testing.assert_allclose(grad(lambda z: op.sum(op.real(checkpoint(lambda z: z * z * z)(z))))(z), grad(f)(z))


@pytest.mark.parametrize(
    "wrap", [checkpoint, lambda f: custom_gradient(lambda x: (f(x), lambda dy: dy))], ids=["checkpoint", "custom"]
)
def test_a_tensor_of_a_closure_is_an_error_and_no_lost_gradient(wrap):
    with pytest.raises(GradientError, match="not among its arguments"):
        grad(lambda w: op.sum(wrap(lambda x: x * w)(w * 2.0)))(X)
    with pytest.raises(GradientError, match="not among its arguments"):
        grad(lambda v: grad(lambda w: op.sum(wrap(lambda x: x * w)(v * 2.0)))(X)[0])(X)


def test_a_tensor_of_an_outer_closure_is_followed():
    f = lambda w: op.sum(grad(lambda x: op.sum(checkpoint(lambda x: x * x * w)(x)))(X) * X)  # noqa: E731  # 2 w X^2
    np.testing.assert_allclose(grad(f)(np.ones(3)), 2 * X * X)


# ------------------------------------------------------------------------------------------------ custom_gradient


def test_the_gradient_of_your_own_is_used_for_the_whole_function():
    f = custom_gradient(lambda x: (op.sin(x) * x, lambda dy: dy * 100.0))
    np.testing.assert_array_equal(f(X), np.sin(X) * X)
    np.testing.assert_array_equal(grad(lambda x: op.sum(f(x)))(X), np.full(3, 100.0))
    np.testing.assert_array_equal(jacobian(f)(X), 100 * np.eye(3))
    np.testing.assert_array_equal(jvp(f, (X,), (X,))[1], 100 * X)


def test_it_is_one_record_and_its_gradient_function_is_called_once():
    calls = []

    def pull_back(dy):
        calls.append(1)
        return dy * 1.0, dy * 2.0

    f = custom_gradient(lambda a, b: (a + b, pull_back))
    with Tape() as tape:
        a, b = tape.watch(X), tape.watch(2 * X)
        y = op.sum(f(a, b))
    assert [node.kernel_name for node in tape.nodes] == ["custom_gradient", "sum"]
    ga, gb = tape.gradient(y, [a, b])
    np.testing.assert_array_equal(ga, np.ones(3))
    np.testing.assert_array_equal(gb, np.full(3, 2.0))
    assert calls == [1]


def test_second_derivatives_go_through_the_gradient_function():
    cube = custom_gradient(lambda x: (x * x * x, lambda dy: dy * x * x * 3.0))
    assert grad(cube)(2.0) == 12.0
    assert grad(grad(cube))(2.0) == 12.0
    assert grad(grad(grad(cube)))(2.0) == 6.0
    wrong_on_purpose = custom_gradient(lambda x: (x * x, lambda dy: dy * op.sin(x)))
    assert grad(grad(wrong_on_purpose))(0.5) == pytest.approx(np.cos(0.5))


def test_the_value_has_the_custom_derivative_on_an_outer_tape_too():
    f = custom_gradient(lambda x: (op.sin(x), lambda dy: dy * 100.0))
    assert grad(lambda x: value_and_grad(f)(x)[0])(0.5) == 100.0
    assert grad(lambda x: value_and_grad(lambda y: value_and_grad(f)(y)[0])(x)[0])(0.5) == 100.0


def test_containers_nones_and_several_arguments():
    @custom_gradient
    def f(params, flag, data):
        return {"out": params["w"] * data}, lambda dy: ({"w": dy["out"] * data}, None, None)

    np.testing.assert_array_equal(grad(lambda w: op.sum(f({"w": w}, True, 2 * X)["out"]))(X), 2 * X)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x * 2.0, "Tensor|ndarray|float64"),
        (lambda x: (x * 2.0, 3.0), "tuple"),
        (lambda x: (x, lambda dy: dy, 1), "tuple"),
        (lambda x: None, "NoneType"),
    ],
)
def test_a_function_that_does_not_return_a_value_and_a_function(function, message):
    with pytest.raises(GradientError, match=rf"custom_gradient.*({message}).*value, gradient function"):
        grad(lambda x: op.sum(custom_gradient(function)(x)))(X)


@pytest.mark.parametrize(
    ("pull_back", "message"),
    [
        (lambda dy: (dy, dy, dy), "3 gradients, expected 2"),
        (lambda dy: (dy,), "1 gradients, expected 2"),
        (lambda dy: (dy, np.ones(7)), r"\(7,\).*\(3,\)"),
        (lambda dy: (dy, None), "NoneType"),
        (lambda dy: (dy, np.ones(3, int)), "int64"),
    ],
)
def test_a_gradient_function_that_returns_what_does_not_fit(pull_back, message):
    f = custom_gradient(lambda a, b: (a * b, pull_back))
    with pytest.raises(GradientError, match=f"custom_gradient.*{message}"):
        grad(lambda a, b: op.sum(f(a, b)), (0, 1))(X, X)
    np.testing.assert_array_equal(grad(lambda x: op.sum(x * x))(X), 2 * X)


def test_a_tensor_by_keyword_has_no_place_in_the_gradients():
    f = custom_gradient(lambda x, *, k=1.0: (x * k, lambda dy: dy * k))
    np.testing.assert_array_equal(grad(lambda x: op.sum(f(x, k=3.0)))(X), np.full(3, 3.0))
    with pytest.raises(GradientError, match=r"keyword.*position"):
        grad(lambda k: op.sum(f(X * k, k=k)))(2.0)


def test_plain_values_pass_straight_through():
    assert custom_gradient(lambda x: (x * 2.0, lambda dy: dy))(3.0) == 6.0
    assert checkpoint(lambda x: x * 2.0)(3.0) == 6.0


def test_names_are_those_of_the_function():
    assert checkpoint(work).__name__ == "work"
    assert custom_gradient(work).__name__ == "work"
