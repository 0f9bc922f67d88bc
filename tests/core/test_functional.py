"""``grad`` and its relatives: structures, types, pickling."""

from __future__ import annotations

import math
import pickle
from typing import NamedTuple

import numpy as np
import pytest

import autograd
from autograd import (
    GradientError,
    Tape,
    elementwise_grad,
    grad,
    grad_and_aux,
    hessian,
    hessian_vector_product,
    holomorphic_grad,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    make_hvp,
    make_jvp,
    make_vjp,
    run_kernel,
    stop_gradient,
    value_and_grad,
    vjp,
)
from autograd import operators as op

X = np.array([0.3, 0.7, 1.1])


def sine_of_product(a, b, *, scale=1.0):
    """A function of a module, so that it can be pickled."""
    return op.sum(op.sin(a * b) * scale)


def cubes(x):
    return op.sum(x * x * x)


class Pair(NamedTuple):
    first: object
    second: object


# ------------------------------------------------------------------------------------------------ grad


def test_argnum_is_a_number_or_a_sequence():
    a, b = X, 2 * X
    expected = (np.cos(a * b) * b, np.cos(a * b) * a)
    np.testing.assert_allclose(grad(sine_of_product)(a, b), expected[0])
    np.testing.assert_allclose(grad(sine_of_product, 1)(a, b), expected[1])
    np.testing.assert_allclose(grad(sine_of_product, -1)(a, b), expected[1])
    np.testing.assert_allclose(grad(sine_of_product, np.int64(1))(a, b), expected[1])
    both = grad(sine_of_product, (0, 1))(a, b)
    assert type(both) is tuple
    for got, want in zip(both, expected, strict=True):
        np.testing.assert_allclose(got, want)
    (alone,) = grad(sine_of_product, [1])(a, b)
    np.testing.assert_allclose(alone, expected[1])
    swapped = grad(sine_of_product, (1, 0))(a, b)
    np.testing.assert_allclose(swapped[0], expected[1])


def test_an_argnum_that_is_not_there():
    with pytest.raises(GradientError, match=r"argnum is 2.*2 positional"):
        grad(sine_of_product, 2)(X, X)
    with pytest.raises(GradientError, match=r"argnum is 0.*0 positional"):
        grad(cubes)(x=X)


def test_keywords_go_to_the_function_and_are_not_watched():
    np.testing.assert_allclose(grad(sine_of_product)(X, X, scale=3.0), 3 * np.cos(X * X) * X)
    np.testing.assert_allclose(value_and_grad(sine_of_product)(X, X, scale=3.0)[0], 3 * np.sin(X * X).sum())


def test_containers_in_containers_out():
    p = {"w": X, "rest": [2.0, Pair(np.float32(3.0), (4.0,))]}

    def f(p):
        w, (s, pair) = p["w"], p["rest"]
        return op.sum(w * w) * s * pair.first * pair.second[0]

    value, g = value_and_grad(f)(p)
    total = (X * X).sum()
    assert value == pytest.approx(24 * total)
    assert list(g) == ["w", "rest"]
    np.testing.assert_allclose(g["w"], 48 * X)
    s, pair = g["rest"]
    assert type(s) is float
    assert s == pytest.approx(12 * total)
    assert type(pair) is Pair
    assert pair.first == pytest.approx(8 * total, rel=1e-6)
    assert np.asarray(pair.first).dtype == np.float32
    assert type(pair.second) is tuple
    np.testing.assert_array_equal(p["w"], X)


def test_types_of_results():
    assert type(grad(lambda x: x * x)(3.0)) is float
    assert type(grad(lambda z: op.real(z * z))(1.0 + 2.0j)) is complex
    for dtype in (np.float32, np.float64, np.longdouble):
        g = grad(cubes)(X.astype(dtype))
        assert g.dtype == dtype
        value, g = value_and_grad(lambda x: 2.0 * x * x + 1)(dtype(3))
        assert np.asarray(value).dtype == dtype
        assert np.asarray(g).dtype == dtype
        assert np.shape(g) == ()
    assert type(value_and_grad(lambda x: 0.5 * x * x)(3.0)[0]) is float
    assert grad(cubes)(np.ones((2, 0))).shape == (2, 0)


def test_complex_gradients_are_df_dx_minus_i_df_dy():
    z = 1.5 - 0.5j
    f = lambda z: op.real(z * z * z) + op.imag(z) * 3.0  # noqa: E731
    step = 1e-6
    dx = (f(z + step) - f(z - step)) / (2 * step)
    dy = (f(z + 1j * step) - f(z - 1j * step)) / (2 * step)
    assert grad(f)(z) == pytest.approx(dx - 1j * dy, rel=1e-8)


def test_holomorphic_grad():
    assert holomorphic_grad(lambda z: z * z * z)(1.0 + 2.0j) == pytest.approx(3 * (1 + 2j) ** 2)
    assert holomorphic_grad(op.sin)(0.3 + 0.2j) == pytest.approx(np.cos(0.3 + 0.2j))
    with pytest.raises(GradientError, match="float64, expected a complex"):
        holomorphic_grad(lambda x: x * 1j)(2.0)
    with pytest.raises(GradientError, match="holomorphic_grad"):
        grad(lambda z: z * z)(1.0 + 2.0j)


def test_grad_and_aux():
    g, aux = grad_and_aux(lambda x: (op.sum(x * x), {"twice": x * 2.0, "note": "text"}))(X)
    np.testing.assert_allclose(g, 2 * X)
    assert type(aux["twice"]) is np.ndarray
    np.testing.assert_allclose(aux["twice"], 2 * X)
    assert aux["note"] == "text"
    for wrong in (lambda x: op.sum(x), lambda x: (op.sum(x), 1, 2), lambda x: [op.sum(x), 1]):
        with pytest.raises(GradientError, match=r"expected \(value, aux\)"):
            grad_and_aux(wrong)(X)


def test_aux_stays_on_the_outer_tape():
    def f(x):
        g, aux = grad_and_aux(lambda y: (y * y * x, y * x))(3.0)
        return g * aux  # 6x * 3x

    assert grad(f)(2.0) == 72.0


def test_elementwise_grad():
    np.testing.assert_allclose(elementwise_grad(op.sin)(X), np.cos(X))
    np.testing.assert_allclose(elementwise_grad(elementwise_grad(op.sin))(X), -np.sin(X))
    assert elementwise_grad(op.sin)(X.astype(np.float32)).dtype == np.float32
    assert elementwise_grad(lambda x: x * x)(3.0) == 6.0
    np.testing.assert_array_equal(elementwise_grad(elementwise_grad(lambda x: 3.0 * x))(X), np.zeros(3))


# ------------------------------------------------------------------------------------------------ products


def test_vjp_and_make_vjp():
    y, pull_back = vjp(lambda a, b: a * b, X, 2.0)
    np.testing.assert_allclose(y, 2 * X)
    for _ in range(2):
        a, b = pull_back(np.array([1.0, 10.0, 100.0]))
        np.testing.assert_allclose(a, [2, 20, 200])
        assert type(b) is float
        assert b == pytest.approx(X @ [1, 10, 100])
    y[...] = 0.0
    np.testing.assert_allclose(pull_back(np.ones(3))[0], [2, 2, 2], err_msg="the value was the caller's own")
    pull_back, y = make_vjp(lambda p: (p["a"] * 2.0, [p["a"] * X]))({"a": X})
    g = pull_back((np.ones(3), [np.ones(3)]))
    np.testing.assert_allclose(g["a"], 2 + X)


def test_a_cotangent_of_another_structure_or_shape():
    pull_back, _ = make_vjp(lambda x: (x, x * 2.0))(X)
    with pytest.raises(GradientError, match="1 leaves, expected 2"):
        pull_back((X,))
    with pytest.raises(GradientError, match=r"\(2,\), expected.*\(3,\)"):
        pull_back((np.ones(2), X))
    np.testing.assert_allclose(pull_back((X, X)), 3 * X)


def test_an_output_that_is_constant_has_no_part_in_the_vjp():
    pull_back, y = make_vjp(lambda x: (x * 2.0, 7.0, "text"))(X)
    assert y[1:] == (7.0, "text")
    np.testing.assert_allclose(pull_back((np.ones(3), 1.0, None)), np.full(3, 2.0))


def test_jacobians():
    f = lambda x: op.sin(x) * x[0]  # noqa: E731
    expected = np.diag(np.cos(X) * X[0])
    expected[:, 0] += np.sin(X)
    for way in (jacobian, jacrev, jacfwd):
        np.testing.assert_allclose(way(f)(X), expected)
    assert jacrev is jacobian
    nested = jacobian(lambda p: p["a"] * p["b"])({"a": X, "b": 2.0})
    np.testing.assert_allclose(nested["a"], 2 * np.eye(3))
    np.testing.assert_allclose(nested["b"], X)
    first, second = jacobian(lambda x: (x * 2.0, op.sum(x)))(X)
    np.testing.assert_allclose(first, 2 * np.eye(3))
    np.testing.assert_allclose(second, np.ones(3))
    matrix = np.arange(6.0).reshape(2, 3)
    j = jacobian(lambda m: op.transpose(m))(matrix)
    assert j.shape == (3, 2, 2, 3)
    np.testing.assert_array_equal(j.reshape(6, 6) @ matrix.ravel(), matrix.T.ravel())
    a, b = jacobian(lambda a, b: a * b, (0, 1))(X, X)
    np.testing.assert_allclose(a, np.diag(X))
    np.testing.assert_allclose(b, np.diag(X))


@pytest.mark.parametrize("way", [jacobian, jacfwd])
def test_jacobians_of_scalars_and_of_nothing(way):
    assert type(way(lambda x: x * x)(3.0)) is float
    assert way(lambda x: x * x)(3.0) == 6.0
    assert way(lambda x: x * x)(np.float32(3.0)).dtype == np.float32
    assert way(lambda x: x * X)(2.0).shape == (3,)
    assert way(lambda x: x * x)(np.zeros((0, 2))).shape == (0, 2, 0, 2)
    assert way(lambda x: op.sum(x))(np.zeros(0)).shape == (0,)
    assert way(lambda x: x * 2.0)(X.astype(np.float32)).dtype == np.float32


def test_hessians():
    f = lambda x: op.sum(x * x * x) + x[0] * x[1] * 5.0  # noqa: E731
    expected = np.diag(6 * X)
    expected[0, 1] = expected[1, 0] = 5
    h = hessian(f)(X)
    np.testing.assert_allclose(h, expected)
    np.testing.assert_array_equal(h, h.T)
    np.testing.assert_allclose(jacfwd(grad(f))(X), expected)
    np.testing.assert_allclose(jacobian(grad(f))(X), expected)
    np.testing.assert_allclose(hessian(lambda a, x: a * f(x), 1)(2.0, X), 2 * expected)
    shaped = hessian(lambda m: op.sum(m * m))(np.ones((2, 2)))
    np.testing.assert_array_equal(shaped, 2 * np.eye(4).reshape(2, 2, 2, 2))


@pytest.mark.parametrize("x", [3.0, np.float32(3.0), np.ones(3), np.ones((2, 2), np.float32), np.zeros(0)])
def test_the_hessian_of_a_linear_function_is_zeros(x):
    h = hessian(lambda x: op.sum(x * 3.0))(x)
    assert np.shape(h) == np.shape(x) * 2
    assert np.asarray(h).dtype == np.asarray(x).dtype
    assert isinstance(x, float) == isinstance(h, float)
    np.testing.assert_array_equal(h, 0.0)


def test_hessian_of_scalars():
    assert hessian(lambda x: x * x * x)(2.0) == 12.0
    assert type(hessian(lambda x: x * x * x)(2.0)) is float


def test_a_random_hessian_is_symmetric():
    rng = np.random.default_rng(0)
    W = rng.normal(size=(4, 4))
    f = lambda x: op.sum(op.sin(op.matmul(W, op.cos(x) * x)) * x[::-1])  # noqa: E731
    h = hessian(f)(rng.normal(size=4))
    np.testing.assert_allclose(h, h.T, rtol=1e-12, atol=1e-12)


def test_hessian_vector_products():
    f = lambda x: op.sum(x * x * x) + x[0] * x[1]  # noqa: E731
    h, v = hessian(f)(X), np.array([1.0, -2.0, 3.0])
    np.testing.assert_allclose(hessian_vector_product(f)(X, v), h @ v)
    product, g = make_hvp(f)(X)
    for factor in (1.0, 2.0):
        np.testing.assert_allclose(product(factor * v), factor * (h @ v))
    np.testing.assert_allclose(g, grad(f)(X))
    container = lambda p: p["a"] * p["a"] * p["b"]  # noqa: E731
    assert hessian_vector_product(container)({"a": 2.0, "b": 3.0}, {"a": 1.0, "b": 10.0}) == {"a": 6.0 + 40.0, "b": 4.0}
    np.testing.assert_array_equal(hessian_vector_product(lambda x: op.sum(x))(X, v), np.zeros(3))
    linear = lambda p: p["a"] * 2.0 + p["b"]  # noqa: E731
    assert hessian_vector_product(linear)({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 1.0}) == {"a": 0.0, "b": 0.0}
    with pytest.raises(GradientError, match="1 leaves, expected 2"):
        make_hvp(container)({"a": 2.0, "b": 3.0})[0]([1.0])


# ------------------------------------------------------------------------------------------------ shaping


def test_stop_gradient():
    assert grad(lambda x: x * stop_gradient(x))(3.0) == 3.0
    np.testing.assert_allclose(grad(lambda x: op.sum(x * stop_gradient({"a": [x]})["a"][0]))(X), X)
    assert stop_gradient(2.0) == 2.0
    assert stop_gradient("text") == "text"
    assert grad(grad(lambda x: x * x * stop_gradient(x)))(3.0) == 6.0, "a constant for every tape"


def test_run_kernel_by_name_and_by_order():
    with Tape() as tape:
        x = tape.watch(X)
        y = run_kernel("sum", {"a": run_kernel("multiply", [x, 2.0])}, {"axis": 0})
    assert [node.kernel_name for node in tape.nodes] == ["multiply", "sum"]
    np.testing.assert_array_equal(tape.gradient(y, x), np.full(3, 2.0))
    assert run_kernel("sum", [X]) == pytest.approx(X.sum())


# ------------------------------------------------------------------------------------------------ objects


ALL_FUNCTIONS = [
    autograd.grad,
    autograd.value_and_grad,
    autograd.elementwise_grad,
    autograd.jacobian,
    autograd.jacfwd,
    autograd.hessian,
]


@pytest.mark.parametrize("transform", ALL_FUNCTIONS, ids=lambda t: t.__name__)
def test_what_they_return_can_be_pickled(transform, monkeypatch):
    import sys
    import types

    home = types.ModuleType("module_of_cubes")
    home.cubes = cubes
    monkeypatch.setitem(sys.modules, "module_of_cubes", home)
    monkeypatch.setattr(cubes, "__module__", "module_of_cubes")
    function = transform(cubes)
    again = pickle.loads(pickle.dumps(function))
    got, want = again(X), function(X)
    for each, other in zip(*[r if isinstance(r, tuple) else (r,) for r in (got, want)], strict=True):
        np.testing.assert_array_equal(each, other)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(jacobian(grad(cubes))))(X), np.diag(6 * X))


def test_names_and_docstrings_say_what_they_are():
    assert grad(cubes).__name__ == "cubes"
    assert "gradient of cubes" in grad(cubes).__doc__
    assert hessian(cubes).__module__ == cubes.__module__


# ------------------------------------------------------------------------------------------------ any order


@pytest.mark.parametrize("order", range(1, 6))
def test_orders_one_to_five(order):
    polynomial = np.polynomial.Polynomial([0, 1, -3, 0, 0, 0, 2])

    def p(x):
        return 2.0 * x * x * x * x * x * x - 3.0 * x * x + x

    f, s, cube = p, op.sin, lambda x: x * x * x
    for _ in range(order):
        f, s, cube = grad(f), grad(s), grad(cube)
    assert f(1.5) == pytest.approx(polynomial.deriv(order)(1.5), rel=1e-13)
    assert s(0.7) == pytest.approx(math.sin(0.7 + order * math.pi / 2), rel=1e-13)
    assert cube(3.0) == [27.0, 18.0, 6.0, 0.0, 0.0][order - 1]


def test_a_gradient_that_is_constant_can_be_differentiated_again_in_any_structure():
    f = lambda p: op.sum(p["w"] * X) + p["b"] * 2.0  # noqa: E731
    g = lambda p: grad(f)(p)["b"] * p["b"]  # noqa: E731  # 2 b
    got = grad(g)({"w": X, "b": 3.0})
    np.testing.assert_array_equal(got["w"], np.zeros(3))
    assert got["b"] == 2.0
    np.testing.assert_array_equal(jacobian(jacobian(lambda x: x * 2.0))(X), np.zeros((3, 3, 3)))
    assert jvp(grad(lambda x: 3.0 * x), (2.0,), (1.0,)) == (3.0, 0.0)
    assert make_jvp(lambda x: grad(lambda y: y * x)(1.0))(2.0)(1.0) == (2.0, 1.0)


def test_a_function_that_does_not_depend_on_its_argument_is_still_an_error():
    with pytest.raises(GradientError, match="does not depend"):
        grad(lambda x: 3.0)(2.0)
    with pytest.raises(GradientError, match="does not depend"):
        grad(grad(lambda x: 3.0))(2.0)
    with pytest.raises(GradientError, match="does not depend"):
        grad(lambda x: grad(lambda y: x * 2.0)(1.0))(2.0)
