"""``differential_operators``: each operator against derivatives by hand."""

from __future__ import annotations

import numpy as onp
import pytest

import autograd
import autograd.numpy as np
from autograd import GradientError, differential_operators, grad
from autograd.differential_operators import (
    deriv,
    grad_named,
    hessian_tensor_product,
    make_ggnvp,
    make_jvp_reversemode,
    multigrad_dict,
    tensor_jacobian_product,
    vector_jacobian_product,
)
from autograd.numpy.numpy_vjps import balanced_eq, match_complex, metadata, replace_zero, unbroadcast
from autograd.wrap_util import unary_to_nary, wrap_nary_f, wraps

X = onp.array([0.3, 1.2, -0.7])
V = onp.array([1.0, 2.0, 3.0])


def curve(x):
    return np.array([x[0] * x[1], np.sin(x[2]), x[0] ** 3])


J = onp.array([[X[1], X[0], 0], [0, 0, onp.cos(X[2])], [3 * X[0] ** 2, 0, 0]])
E = onp.exp([X[0] * X[1], onp.sin(X[2]), X[0] ** 3])
TABLE = onp.arange(6.0).reshape(2, 3)

OPERATORS = [
    ("deriv of a scalar", lambda: deriv(np.sin)(0.3), onp.cos(0.3)),
    ("deriv, each element", lambda: deriv(np.sin)(X), onp.cos(X)),
    ("deriv, second argument", lambda: deriv(lambda a, b: a * b * b, 1)(2.0, 3.0), 12.0),
    ("deriv, several", lambda: deriv(lambda a, b: a * b, (0, 1))(2.0, 3.0), 5.0),
    ("grad_named", lambda: grad_named(lambda x, y, *, z=2.0: x * y * z, "y")(3.0, 4.0), 6.0),
    ("hessian_tensor_product", lambda: hessian_tensor_product(lambda x: np.sum(x**3))(X, V), 6 * X * V),
    ("of a matrix", lambda: hessian_tensor_product(lambda x: np.sum(x**3))(TABLE, TABLE), 6 * TABLE**2),
    ("tensor_jacobian_product", lambda: tensor_jacobian_product(curve)(X, V), V @ J),
    ("with a matrix", lambda: tensor_jacobian_product(lambda x: TABLE * x)(X, TABLE), (TABLE**2).sum(0)),
    ("with a scalar", lambda: tensor_jacobian_product(curve)(X, 2.0), 2 * J),
    ("vector_jacobian_product", lambda: vector_jacobian_product(lambda k, x: k * curve(x), 1)(2.0, X, V), 2 * V @ J),
    ("make_jvp_reversemode", lambda: make_jvp_reversemode(curve)(X)(V), J @ V),
    ("in a second argument", lambda: make_jvp_reversemode(lambda k, x: k * curve(x), 1)(2.0, X)(V), 2 * J @ V),
    ("make_ggnvp", lambda: make_ggnvp(curve)(X)(V), J.T @ J @ V),
    ("with a loss", lambda: make_ggnvp(curve, lambda y: np.sum(np.exp(y)))(X)(V), J.T @ onp.diag(E) @ J @ V),
    ("in the second", lambda: make_ggnvp(lambda k, x: k * curve(x), f_argnum=1)(2.0, X)(V), 4 * J.T @ J @ V),
]


@pytest.mark.parametrize(("compute", "expected"), [row[1:] for row in OPERATORS], ids=[row[0] for row in OPERATORS])
def test_operators(compute, expected):
    onp.testing.assert_allclose(compute(), expected, rtol=1e-12, atol=1e-14)


def test_ggnvp_is_gauss_newton_and_not_the_hessian():
    """For a loss of a linear function both agree; for a curved one they differ by the curvature."""
    v = onp.array([1.0, -1.0])
    linear, curved = (lambda x: np.array([2 * x[0], x[1]])), (lambda x: np.array([x[0] ** 2, x[1]]))
    x = onp.array([3.0, 1.0])
    half = lambda y: 0.5 * np.sum(y * y)  # noqa: E731
    onp.testing.assert_allclose(
        make_ggnvp(linear)(x)(v), autograd.hessian_vector_product(lambda x: half(linear(x)))(x, v), rtol=1e-12
    )
    onp.testing.assert_allclose(make_ggnvp(curved)(x)(v), [36.0, -1.0])  # (2 x0)^2
    onp.testing.assert_allclose(autograd.hessian_vector_product(lambda x: half(curved(x)))(x, v), [54.0, -1.0])  # 6 x0^2


def test_multigrad_dict():
    def f(a, b=3.0, *rest, c=5.0, **more):
        return a * b * sum(rest, 1.0) * c * more.get("d", 1.0)

    assert dict(multigrad_dict(f)(2.0)) == {"a": 15.0, "b": 10.0, "rest": (), "c": 6.0, "more": {}}
    gradients = multigrad_dict(f)(2.0, 3.0, 1.0, 2.0, d=7.0)
    assert list(gradients) == ["a", "b", "rest", "c", "more"]
    assert gradients["rest"] == (210.0, 210.0)
    assert gradients["more"] == {"d": 120.0}


def test_the_argument_must_exist():
    with pytest.raises(GradientError, match="no positional argument 'z'"):
        grad_named(lambda x: x, "z")


def test_names_that_are_the_same_function():
    for name in (
        "grad",
        "jacobian",
        "hessian",
        "checkpoint",
        "make_vjp",
        "make_jvp",
        "make_hvp",
        "value_and_grad",
        "grad_and_aux",
    ):
        assert getattr(differential_operators, name) is getattr(autograd, name)
    for name in ("deriv", "grad_named", "hessian_tensor_product", "make_ggnvp", "multigrad_dict", "tensor_jacobian_product"):
        assert getattr(autograd, name) is getattr(differential_operators, name)


# -------------------------------------------------------------------------------------------------- wrapping


def test_unary_to_nary():
    @unary_to_nary
    def at_twice(f, x, factor=2):
        """Doubles."""
        return f(tuple(factor * each for each in x) if isinstance(x, tuple) else factor * x)

    assert at_twice(lambda a, b: (a, b), 1)(1, 10) == (1, 20)
    assert at_twice(lambda a, b: (a, b), -1, 3)(1, 10) == (1, 30)
    assert at_twice(lambda a, b, c: (a, b, c), (0, 2), factor=5)(1, 10, 100) == (5, 10, 500)
    assert at_twice(lambda a, *, k: (a, k))(1, k=7) == (2, 7)
    assert at_twice.__name__ == "at_twice"
    assert at_twice(len).__name__ == "at_twice_of_len_wrt_argnum_0"
    with pytest.raises(GradientError, match="argnum='a'"):
        at_twice(len, "a")
    with pytest.raises(GradientError, match="1 positional"):
        at_twice(len, 1)(2)


def test_wraps_survives_braces():
    def odd(): ...

    odd.__name__ = "f{x}"
    assert wrap_nary_f(odd, len, 0)(lambda: None).__name__ == "len_of_f{x}_wrt_argnum_0"
    assert wraps(3)(lambda: None).__name__ == "[unknown name]"


# -------------------------------------------------------------------------------------------------- parts of rules

BROADCAST = [
    # shape of the gradient, shape of the argument, the sum of ones that arrives at each element
    ((4, 3), (3,), 4.0),
    ((4, 3), (1, 3), 4.0),
    ((4, 3), (4, 1), 3.0),
    ((4, 3), (), 12.0),
    ((4, 3), (4, 3), 1.0),
    ((2, 4, 3), (4, 1), 6.0),
]


@pytest.mark.parametrize(("got", "shape", "count"), BROADCAST)
def test_unbroadcast(got, shape, count):
    result = unbroadcast(onp.ones(got), metadata(onp.zeros(shape)))
    onp.testing.assert_array_equal(result, onp.full(shape, count))
    traced = grad(lambda t: np.sum(unbroadcast(t * onp.ones(got), metadata(onp.zeros(shape)))))(1.0)
    assert traced == onp.prod(got)


def test_unbroadcast_of_a_complex_gradient():
    assert unbroadcast(onp.array([1.0 + 2.0j]), metadata(onp.ones(1))).dtype == float
    assert unbroadcast(onp.array([1.0 + 2.0j]), metadata(1.0j)).item() == 1 + 2j
    assert unbroadcast(onp.ones((3, 4)), metadata(onp.ones(3)), -1).tolist() == [4.0, 4.0, 4.0]


def test_small_parts():
    onp.testing.assert_array_equal(replace_zero(onp.array([0.0, -0.0, 3.0]), 5.0), [5.0, 5.0, 3.0])
    assert grad(lambda x: replace_zero(x, 1.0))(3.0) == 1.0
    onp.testing.assert_array_equal(balanced_eq(X, X, onp.array([0.3, 0.0, 0.0])), [0.5, 1.0, 1.0])
    assert match_complex(1.0, 2.0 + 1.0j) == 2.0
    assert type(match_complex(1.0j, 2.0)) is complex
