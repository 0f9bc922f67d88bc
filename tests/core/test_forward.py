"""Forward mode: every way a tangent can pass an operator, against central differences and the reverse mode."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograd import GradientError, grad, jacfwd, jacobian, jvp, make_jvp, make_vjp
from autograd import operators as op

X = np.array([0.3, 0.7, 1.1])
V = np.array([1.0, -2.0, 0.5])


def difference(f, x, v, step=1e-6):
    return (f(x + step * v) - f(x - step * v)) / (2 * step)


# ------------------------------------------------------------------------------------------------ the four ways


def test_an_elementwise_operator_uses_its_rule_with_broadcasting(fake):
    calls = []

    def rule(dy, saved, attrs):
        a, b = saved
        calls.append(1)
        return {"a": lambda: dy * b, "b": lambda: dy * a}

    product = fake("fake_product(Tensor a, Tensor b) -> Tensor", np.multiply, rule, inputs_to_save=("a", "b"), elementwise=True)
    column = np.array([[2.0], [3.0]])
    y, tangent = jvp(product, (column, X), (np.array([[1.0], [10.0]]), V))
    np.testing.assert_allclose(y, column * X)
    np.testing.assert_allclose(tangent, np.array([[1.0], [10.0]]) * X + column * V)
    assert calls


def test_a_linear_operator_uses_its_kernel(fake):
    ran = []
    weights = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])

    def kernel(x, offset):
        ran.append(offset)
        return weights @ x + offset

    def refuse(dy, saved, attrs):
        raise AssertionError("the rule is not needed")

    affine = fake("fake_affine(Tensor x, *, float offset=0.0) -> Tensor", kernel, refuse, linear=("x",), affine={"offset": 0.0})
    y, tangent = jvp(lambda x: affine(x, offset=7.0), (X,), (V,))
    np.testing.assert_allclose(y, weights @ X + 7)
    np.testing.assert_allclose(tangent, weights @ V, err_msg="the offset has no part in the linear map")
    assert ran == [7.0, 0.0]


def test_a_multilinear_operator_sums_over_its_inputs():
    A, dA = np.arange(6.0).reshape(2, 3), np.ones((2, 3))
    _, tangent = jvp(op.matmul, (A, X), (dA, V))
    np.testing.assert_allclose(tangent, dA @ X + A @ V)
    square = np.arange(9.0).reshape(3, 3)
    _, tangent = jvp(lambda a: op.matmul(a, a), (square,), (np.eye(3),))
    np.testing.assert_allclose(tangent, 2 * square)


def test_a_list_input_of_a_linear_operator_with_tangents_for_some_members():
    _, tangent = jvp(lambda x: op.stack([x, np.ones(3), x * 2.0]), (X,), (V,))
    np.testing.assert_allclose(tangent, [V, np.zeros(3), 2 * V])


def test_any_other_operator_is_transposed(fake):
    f = fake(
        "fake_other(Tensor x) -> Tensor",
        lambda x: x * np.sum(x),
        lambda dy, saved, attrs: {"x": lambda: dy * op.sum(saved[0]) + op.sum(dy * saved[0])},
        inputs_to_save=("x",),
    )
    _, tangent = jvp(f, (X,), (V,))
    np.testing.assert_allclose(tangent, V * X.sum() + X * V.sum())


def test_a_transposed_operator_with_several_outputs(fake):
    f = fake(
        "fake_pair(Tensor x) -> (Tensor a, Tensor b)",
        lambda x: (x * np.sum(x), np.sum(x) ** 2),
        lambda dy, saved, attrs: {
            "x": lambda: dy[0] * op.sum(saved[0]) + op.sum(dy[0] * saved[0]) + 2.0 * op.sum(saved[0]) * dy[1]
        },
        inputs_to_save=("x",),
    )
    (y0, y1), (t0, t1) = jvp(f, (X,), (V,))
    np.testing.assert_allclose(y0, X * X.sum())
    assert y1 == X.sum() ** 2
    np.testing.assert_allclose(t0, V * X.sum() + X * V.sum())
    np.testing.assert_allclose(t1, 2 * X.sum() * V.sum())


def test_a_forward_rule_goes_before_everything_else(fake):
    seen = []

    def forward(tangents, saved, attrs):
        seen.append(tangents)
        return tangents["a"] * 100.0

    f = fake(
        "fake_forward(Tensor a, Tensor b) -> Tensor",
        lambda a, b: a + b,
        lambda dy, s, a: {"a": lambda: dy, "b": lambda: dy},
        elementwise=True,
        jvp_func=forward,
    )
    _, tangent = jvp(lambda a: f(a, X), (X,), (V,))
    np.testing.assert_allclose(tangent, 100 * V)
    assert seen[0]["b"] is None


def test_the_local_derivative_of_a_non_holomorphic_operator_is_transposed():
    z, v = np.array([1.0 + 2.0j, -0.5 + 1.0j]), np.array([0.3 - 0.2j, 1.0 + 1.0j])
    for f in (op.real, lambda z: op.real(z * z), lambda z: op.imag(z * z * z), op.absolute):
        _, tangent = jvp(f, (z,), (v,))
        np.testing.assert_allclose(tangent, difference(lambda z, f=f: f(z), z, v), rtol=1e-6)


def test_an_elementwise_operator_of_complex_numbers_that_is_not_holomorphic(fake):
    """f = z |z|^2: the tangent goes by t df/dz + conj(t) df/dconj(z), which is not what the rule does with a cotangent."""

    def rule(dy, saved, attrs):
        (z,) = saved
        return {"x": lambda: dy * (2.0 * z * op.conjugate(z)) + op.conjugate(dy) * op.conjugate(z * z)}

    f = fake(
        "fake_scaled(Tensor x) -> Tensor",
        lambda z: z * np.abs(z) ** 2,
        rule,
        inputs_to_save=("x",),
        elementwise=True,
        holomorphic=False,
    )
    z, v = np.array([1.0 + 2.0j, -0.5 + 1.0j]), np.array([0.3 - 0.2j, 1.0 + 1.0j])
    _, tangent = jvp(f, (z,), (v,))
    np.testing.assert_allclose(tangent, difference(f, z, v), rtol=1e-7)


def test_a_holomorphic_operator():
    z, v = np.array([1.0 + 2.0j, -0.5 + 1.0j]), np.array([0.3 - 0.2j, 1.0 + 1.0j])
    _, tangent = jvp(lambda z: op.sin(z) * z, (z,), (v,))
    np.testing.assert_allclose(tangent, (np.cos(z) * z + np.sin(z)) * v)


# ------------------------------------------------------------------------------------------------ zeros


def test_a_local_derivative_of_zero_annihilates_a_tangent_that_is_not_finite(fake):
    root = fake(
        "fake_root(Tensor x) -> Tensor",
        np.sqrt,
        lambda dy, s, a: {"x": lambda: dy * op.power(s[0] * 4.0, -0.5)},
        inputs_to_save=("x",),
        elementwise=True,
    )
    x = np.array([0.0, 4.0])
    _, tangent = jvp(lambda x: op.where(np.array([False, True]), root(x), 1.0), (x,), (np.ones(2),))
    np.testing.assert_allclose(tangent, [0.0, 0.25])
    _, tangent = jvp(lambda x: root(x) * np.array([0.0, 1.0]), (x,), (np.ones(2),))
    np.testing.assert_allclose(tangent, [0.0, 0.25])
    _, tangent = jvp(lambda x: x * root(x), (x,), (np.ones(2),))
    np.testing.assert_allclose(tangent, [0.0, 3.0])


def test_a_target_that_no_tangent_reaches_has_the_zero_tangent():
    _, (dy, dz) = jvp(lambda a, b: (a * 2.0, b * 3.0), (X, 1.0), (V, 1.0))
    np.testing.assert_array_equal(dy, 2 * V)
    assert dz == 3.0
    push = make_jvp(lambda a, b: (a * 2.0, b * 3.0), 1)(X, 1.0)
    (_, _), (dy, dz) = push(1.0)
    np.testing.assert_array_equal(dy, np.zeros(3))
    assert dz == 3.0


# ------------------------------------------------------------------------------------------------ against reverse mode

KINDS = ["sin", "cos", "square", "scale", "matmul", "reverse", "sum", "shift", "fan"]
STEPS = st.lists(st.sampled_from(KINDS), min_size=1, max_size=6)
W = np.array([[0.5, -1.0, 0.2], [0.3, 0.8, -0.4], [1.0, 0.1, 0.6]])


def compose(steps):
    def f(x):
        y = x
        for step in steps:
            if step == "square":
                y = y * y
            elif step == "scale":
                y = y * 0.7
            elif step == "matmul":
                y = op.matmul(W, y)
            elif step == "reverse":
                y = y[::-1] * x
            elif step == "sum":
                y = y * op.sum(y) * 0.3
            elif step == "shift":
                y = op.stack([y[1], y[2], y[0]])
            elif step == "fan":
                y = y[np.array([0, 0, 2])] - x
            else:
                y = getattr(op, step)(y)
        return y

    return f


@settings(max_examples=150, deadline=None)
@given(steps=STEPS, seed=st.integers(0, 1000))
def test_dot_test(steps, seed):
    """For every f, x, v, w: (J v) . w == v . (w J)."""
    rng = np.random.default_rng(seed)
    x, v, w = rng.normal(size=(3, 3))
    f = compose(steps)
    y, forward = jvp(f, (x,), (v,))
    pull_back, value = make_vjp(f)(x)
    np.testing.assert_array_equal(y, value)
    assert np.dot(forward, w) == pytest.approx(np.dot(v, pull_back(w)), rel=1e-9, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(steps=STEPS)
def test_forward_and_reverse_jacobians_agree_with_differences(steps):
    f = compose(steps)
    forward, reverse = jacfwd(f)(X), jacobian(f)(X)
    np.testing.assert_allclose(forward, reverse, rtol=1e-9, atol=1e-9)
    columns = np.stack([difference(f, X, unit) for unit in np.eye(3)], axis=-1)
    np.testing.assert_allclose(reverse, columns, rtol=1e-4, atol=1e-4 * (1 + np.abs(columns).max()))


def test_forward_over_reverse_and_reverse_over_forward():
    f = lambda x: op.sum(op.sin(x) * x * x)  # noqa: E731
    expected = difference(grad(f), X, V)
    _, forward_over_reverse = jvp(grad(f), (X,), (V,))
    np.testing.assert_allclose(forward_over_reverse, expected, rtol=1e-6)
    reverse_over_forward = grad(lambda x: jvp(f, (x,), (V,))[1])(X)
    np.testing.assert_allclose(reverse_over_forward, expected, rtol=1e-6)


def test_forward_over_forward():
    f = lambda x: x * x * x  # noqa: E731
    for expected in (12.0, 12.0, 6.0, 0.0, 0.0):
        f = lambda x, f=f: jvp(f, (x,), (1.0,))[1]  # noqa: E731
        assert f(2.0) == expected


def test_perturbations_are_not_confused():
    # d/dx x * (d/dy (x + y)) = 1
    assert jvp(lambda x: x * jvp(lambda y: x + y, (2.0,), (1.0,))[1], (5.0,), (1.0,))[1] == 1.0
    assert jvp(lambda x: x * grad(lambda y: x + y)(2.0), (5.0,), (1.0,))[1] == 1.0
    assert grad(lambda x: x * jvp(lambda y: x + y, (2.0,), (1.0,))[1])(5.0) == 1.0


# ------------------------------------------------------------------------------------------------ dtypes and errors


def test_dtypes_and_python_scalars():
    y, tangent = jvp(lambda x: 2.0 * x * x, (X.astype(np.float32),), (V,))
    assert y.dtype == np.float32
    assert tangent.dtype == np.float32
    y, tangent = jvp(lambda x: x * x, (3.0,), (10.0,))
    assert (type(y), type(tangent)) == (float, float)
    assert (y, tangent) == (9.0, 60.0)


def test_containers_of_tangents_and_of_values():
    push = make_jvp(lambda p: {"y": p["a"] * p["b"]})({"a": 2.0, "b": 3.0})
    assert push({"a": 1.0, "b": 10.0}) == ({"y": 6.0}, {"y": 23.0})


def test_wrong_tangents():
    push = make_jvp(lambda x: x * x)(X)
    with pytest.raises(GradientError, match=r"tangent has shape \(2,\), expected \(3,\)"):
        push(np.ones(2))
    with pytest.raises(GradientError, match="1 leaves, expected 2"):
        make_jvp(lambda p: p[0] * p[1])((X, X))((V,))
    np.testing.assert_allclose(push(V)[1], 2 * X * V)


def test_a_value_can_be_pushed_several_times():
    push = make_jvp(op.sin)(X)
    for v in (V, 2 * V):
        y, tangent = push(v)
        np.testing.assert_allclose(tangent, np.cos(X) * v)
        y[...] = 0.0  # what was handed out is the caller's own
        tangent[...] = 0.0
