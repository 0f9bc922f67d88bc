"""``autograd.misc``: flattening, optimizers, fixed points."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as onp
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd.numpy as np
from autograd import GradientError, NotTrackedError, containers, grad, hessian, jacobian, make_jvp
from autograd.misc import const_graph, flatten
from autograd.misc.fixed_points import fixed_point
from autograd.misc.flatten import flatten_func
from autograd.misc.optimizers import adam, rmsprop, sgd
from autograd.misc.tracers import ConstGraphNode, full_graph

X = onp.array([0.3, 1.2, -0.7])

# -------------------------------------------------------------------------------------------------- flatten

FLAT = [
    ("a scalar", 2.0, [2.0]),
    ("a matrix", onp.array([[1.0, 2.0], [3.0, 4.0]]), [1.0, 2.0, 3.0, 4.0]),
    ("a list", [1.0, onp.array([2.0, 3.0])], [1.0, 2.0, 3.0]),
    ("nested", ((1.0, [onp.array([2.0])]), 3.0), [1.0, 2.0, 3.0]),
    ("a dictionary by its keys", {"b": 1.0, "a": onp.array([2.0, 3.0])}, [2.0, 3.0, 1.0]),
    ("nested dictionaries", {"b": {"z": 1.0, "y": 2.0}, "a": [{"k": 3.0}]}, [3.0, 2.0, 1.0]),
    ("complex", [1.0, onp.array([2.0 + 1.0j])], [1.0, 2.0 + 1.0j]),
    ("nothing", [], []),
    ("empty parts", {"a": [], "b": onp.zeros((0, 2)), "c": 1.0}, [1.0]),
]


def equal_trees(one, other):
    leaves, others = containers.flatten(one)[0], containers.flatten(other)[0]
    assert len(leaves) == len(others)
    for a, b in zip(leaves, others, strict=True):
        assert onp.shape(a) == onp.shape(b)
        assert onp.asarray(a).dtype == onp.asarray(b).dtype
        onp.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("value", "vector"), [row[1:] for row in FLAT], ids=[row[0] for row in FLAT])
def test_flatten_there_and_back(value, vector):
    flat, unflatten = flatten(value)
    onp.testing.assert_array_equal(flat, onp.asarray(vector))
    assert flat.ndim == 1
    equal_trees(unflatten(flat), value)


leaf = st.one_of(
    st.floats(-10, 10),
    st.complex_numbers(max_magnitude=10),
    st.lists(st.floats(-10, 10), max_size=3).map(onp.array),
    st.lists(st.floats(-10, 10, width=32), min_size=2, max_size=2).map(lambda x: onp.array([x], "float32")),
)
tree = st.recursive(
    leaf,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3) | st.tuples(inner, inner),
)


@given(tree)
def test_any_tree_comes_back(value):
    flat, unflatten = flatten(value)
    back = unflatten(flat)
    equal_trees(back, value)
    assert type(back) is type(value) or not containers.is_container(value)


def test_other_containers_are_known():
    @dataclass
    class Layer:
        weight: Any
        bias: Any

    flat, unflatten = flatten([Layer(X, 1.0)])
    onp.testing.assert_array_equal(flat, [*X, 1.0])
    assert unflatten(2 * flat)[0].bias == 2.0


def test_integers_become_floats_when_the_vector_is_moved():
    flat, unflatten = flatten([1, 2])
    assert unflatten(flat + 0.5) == [1.5, 2.5]


def test_flatten_and_unflatten_can_be_differentiated():
    gradient = grad(lambda t: np.sum(flatten(t)[0] ** 2))({"b": 2.0, "a": X})
    assert gradient["b"] == 4.0
    onp.testing.assert_allclose(gradient["a"], 2 * X)
    flat, unflatten = flatten((1.0, X))
    onp.testing.assert_allclose(grad(lambda v: unflatten(v)[0] * np.sum(unflatten(v)[1] ** 2))(flat), [X @ X, *(2 * X)])
    assert hessian(lambda v: unflatten(v)[0] ** 2)(flat)[0, 0] == 2.0


def test_a_vector_of_another_length_is_refused():
    with pytest.raises(GradientError, match=r"shape \(3,\), expected \(1,\)"):
        flatten(1.0)[1](X)


def test_flatten_func():
    on_vectors, unflatten, start = flatten_func(lambda d, k: {"q": k * d["a"], "p": d["b"]}, {"a": 1.0, "b": X})
    onp.testing.assert_array_equal(start, [1.0, *X])
    onp.testing.assert_allclose(on_vectors(start, 5.0), [*X, 5.0])
    assert unflatten(start)["a"] == 1.0


# -------------------------------------------------------------------------------------------------- optimizers

TARGET = onp.array([1.0, 2.0])


def slope(x, i):
    """The gradient of half the squared distance to the target."""
    return x - TARGET


def sgd_by_hand(x, steps, rate, mass):
    velocity = onp.zeros(2)
    for _ in range(steps):
        velocity = mass * velocity - (1 - mass) * slope(x, 0)
        x = x + rate * velocity
    return x


def rmsprop_by_hand(x, steps, rate, gamma, eps):
    mean = onp.ones(2)
    for _ in range(steps):
        g = slope(x, 0)
        mean = gamma * mean + (1 - gamma) * g * g
        x = x - rate * g / (onp.sqrt(mean) + eps)
    return x


def adam_by_hand(x, steps, rate, b1, b2, eps):
    m = v = onp.zeros(2)
    for t in range(1, steps + 1):
        g = slope(x, 0)
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        x = x - rate * (m / (1 - b1**t)) / (onp.sqrt(v / (1 - b2**t)) + eps)
    return x


OPTIMIZERS = [
    (sgd, sgd_by_hand, {"step_size": 0.05, "mass": 0.8}, {"rate": 0.05, "mass": 0.8}),
    (sgd, sgd_by_hand, {}, {"rate": 0.1, "mass": 0.9}),
    (rmsprop, rmsprop_by_hand, {"step_size": 0.05, "gamma": 0.8, "eps": 1e-4}, {"rate": 0.05, "gamma": 0.8, "eps": 1e-4}),
    (rmsprop, rmsprop_by_hand, {}, {"rate": 0.1, "gamma": 0.9, "eps": 1e-8}),
    (
        adam,
        adam_by_hand,
        {"step_size": 0.05, "b1": 0.7, "b2": 0.9, "eps": 1e-4},
        {"rate": 0.05, "b1": 0.7, "b2": 0.9, "eps": 1e-4},
    ),
    (adam, adam_by_hand, {}, {"rate": 0.001, "b1": 0.9, "b2": 0.999, "eps": 1e-8}),
]


@pytest.mark.parametrize(("optimize", "by_hand", "options", "same"), OPTIMIZERS)
def test_optimizers_follow_their_formulas(optimize, by_hand, options, same):
    start = onp.array([0.5, -1.0])
    onp.testing.assert_allclose(optimize(slope, start, num_iters=7, **options), by_hand(start, 7, **same), rtol=1e-12)


@pytest.mark.parametrize(("optimize", "steps"), [(sgd, 200), (rmsprop, 100), (adam, 100)])
def test_the_number_of_steps_that_is_taken_when_none_is_given(optimize, steps):
    numbers = []
    optimize(slope, onp.zeros(2), lambda x, i, g: numbers.append(i))
    assert numbers == list(range(steps))


@pytest.mark.parametrize("optimize", [sgd, rmsprop, adam])
def test_optimizers_take_containers_and_call_back(optimize):
    log = []
    start = {"w": [onp.array([1.0, 2.0], "float32")], "b": 3.0}
    result = optimize(
        lambda p, i: {"w": [2 * p["w"][0]], "b": p["b"]},
        start,
        callback=lambda p, i, g: log.append((i, float(p["b"]), float(g["b"]), g["w"][0].dtype)),
        num_iters=2,
        step_size=0.1,
    )
    assert log[0] == (0, 3.0, 3.0, onp.float32)
    assert len(log) == 2
    assert result["b"] < 3.0
    assert result["w"][0].dtype == onp.float32
    assert start["b"] == 3.0


def test_what_an_optimizer_returns_can_be_differentiated():
    """Two steps of x - rate x from 1 give (1 - rate)^2."""
    after = lambda rate: sgd(lambda x, i: x, np.array([1.0]), num_iters=2, step_size=rate, mass=0.0)[0]  # noqa: E731
    assert grad(after)(0.25) == pytest.approx(-1.5)


# -------------------------------------------------------------------------------------------------- fixed points


def gap(x, y):
    return np.max(np.abs(x - y))


def newton_root(a):
    return lambda x: 0.5 * (x + a / x)


def root(a):
    return fixed_point(newton_root, a, 1.0, gap, 1e-13)


def test_the_derivatives_of_a_fixed_point():
    assert root(2.0) == pytest.approx(sqrt(2.0), rel=1e-12)
    assert grad(root)(2.0) == pytest.approx(0.5 / sqrt(2.0), rel=1e-10)
    assert grad(grad(root))(2.0) == pytest.approx(-0.25 / sqrt(8.0), rel=1e-9)
    assert make_jvp(root)(2.0)(1.0)[1] == pytest.approx(0.5 / sqrt(2.0), rel=1e-10)


M = onp.array([[0.2, 0.1], [0.3, -0.4]])


def test_the_gradient_of_an_affine_fixed_point():
    """x = M x + a b has the solution a (1 - M)^-1 b."""
    b = onp.array([1.0, 2.0])
    inverse = onp.linalg.inv(onp.eye(2) - M)

    def solve(parameters):
        return fixed_point(lambda p: lambda x: M @ x + p["a"] * p["b"], parameters, onp.zeros(2), gap, 1e-14)

    derivative = jacobian(lambda a: solve({"a": a, "b": b}))(3.0)
    onp.testing.assert_allclose(derivative, inverse @ b, rtol=1e-10)
    gradient = grad(lambda p: np.sum(solve(p)))({"a": 3.0, "b": b})
    assert gradient["a"] == pytest.approx((inverse @ b).sum(), rel=1e-10)
    onp.testing.assert_allclose(gradient["b"], 3.0 * inverse.sum(0), rtol=1e-10)


def test_a_fixed_point_does_not_depend_on_where_it_began():
    assert grad(lambda x0: fixed_point(newton_root, 2.0, x0, gap, 1e-13))(1.5) == 0.0


# -------------------------------------------------------------------------------------------------- graphs


def test_const_graph_is_the_function():
    calls = []

    def f(k, x, y=1.0):
        calls.append(k)
        return k * np.where(x > 0, x * x, 0.0) + y

    cached = const_graph(f, 3.0, y=2.0)
    assert [float(cached(x)) for x in (2.0, -1.0)] == [14.0, 2.0]
    assert [grad(cached)(x) for x in (2.0, -1.0)] == [12.0, 0.0]
    assert cached.__name__ == "f"


def test_graphs_are_the_tapes():
    with pytest.raises(NotTrackedError, match=r"tape\.graph\(\)"):
        full_graph(np.sin, 1.0)
    with pytest.raises(NotTrackedError, match="ConstGraphNode"):
        ConstGraphNode(1.0, None, (), {}, (), ())
