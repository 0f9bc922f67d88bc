"""Compiled plans: the straight-line walk gives what the walk step by step gives, bit by bit, and the same errors."""

from __future__ import annotations

import weakref

import numpy as np
import pytest

from autograd import Tape, backprop, dag, grad, hessian, jacobian
from autograd import operators as op
from autograd.errors import GradientError

X = np.array([0.5, -2.0, 3.0])
M = np.arange(1.0, 10.0).reshape(3, 3)

FUNCTIONS = {
    "a chain": lambda x: op.sin(x * x + 1.0),
    "many contributions": lambda x: x * x + x * 2.0 + op.exp(x) - x,
    "broadcast": lambda x: M * x + x[0],
    "a product of matrices": lambda x: op.tanh(M @ x) @ M,
    "one read": lambda x: x[1] * 2.0,
    "many reads": lambda x: x[0] * x[1] + x[2] * x[0],
    "reads and dense": lambda x: x[0] * x + x * x[1],
    "dense, reads": lambda x: (x * x)[:2] + x[1:] * x[0],
    "a list": lambda x: op.concatenate([x, x * x, X, x[:1]], axis=0),
    "a list after a sum": lambda x: op.stack([x + x, x], axis=0) * x,
    "two outputs with zeros": lambda x: op.operator_function("fake_parts")(x * x)[1] * x,
    "a list of outputs": lambda x: op.multiply(*op.operator_function("fake_list")(x * x)),
    "two outputs": lambda x: op.softmax_cross_entropy(M * x, labels=np.array([0, 2, 1]))[0] * x,
    "both outputs": lambda x: op.multiply(*op.softmax_cross_entropy(x, labels=np.array(1))),
    "three inputs": lambda x: op.where(X > 0.0, x, x * x),
    "a constant on the way": lambda x: x * op.floor(x * 3.0),
    "attributes": lambda x: op.sum(M * x, axis=0) * x,
    "a Python scalar": lambda x: op.sum(x) * 2.0,
    "the target itself": lambda x: x,
}


@pytest.fixture(autouse=True)
def _operators_of_several_outputs(fake):
    def rule(dy, saved, attrs):
        return {"x": lambda: 3.0 * dy[0] - dy[1]}

    fake("fake_parts(Tensor x) -> (Tensor a, Tensor b)", lambda x: (3.0 * x, -x), rule, linear=("x",))
    fake("fake_list(Tensor x) -> Tensor[]", lambda x: [3.0 * x, -x], rule, linear=("x",))


@pytest.fixture(params=["as it is", "compiled"])
def way(request, monkeypatch):
    """How plans are walked; the cache is empty at first, so that no plan has been compiled yet."""
    dag.clear_plan_cache()
    monkeypatch.setattr(backprop, "COMPILE_AFTER", 1 if request.param == "compiled" else 1000)
    return request.param


def _both_ways(monkeypatch, derivative):
    """What a function gives on its third call, step by step and compiled (the first call shows the walk the rules)."""
    results = []
    for after in (1000, 1):
        dag.clear_plan_cache()
        monkeypatch.setattr(backprop, "COMPILE_AFTER", after)
        results.append([derivative() for _ in range(3)][-1])
        with_steps = [plan for plan in dag._cache.values() if len(plan)]
        assert any(plan.compiled for plan in with_steps) == (after == 1 and with_steps != [])
    return results


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_gradient_is_the_same(monkeypatch, name):
    f = FUNCTIONS[name]
    expected, got = _both_ways(monkeypatch, lambda: grad(lambda x: op.sum(f(x) * 1.5))(X))
    np.testing.assert_array_equal(got, expected, strict=True)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_batch_of_cotangents_is_the_same(monkeypatch, name):
    f = FUNCTIONS[name]
    expected, got = _both_ways(monkeypatch, lambda: jacobian(f)(X))
    np.testing.assert_array_equal(got, expected, strict=True)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_second_derivative_is_the_same(monkeypatch, name):
    f = FUNCTIONS[name]
    expected, got = _both_ways(monkeypatch, lambda: hessian(lambda x: op.sum(f(x) * f(x)))(X))
    np.testing.assert_array_equal(got, expected, strict=True)


def test_sources_that_nothing_reaches_or_that_appear_twice(way):
    for _ in range(3):
        with Tape() as tape:
            x, y = tape.watch([X, X])
            z = op.sum(x * 2.0)
        gx, gy, again = tape.gradient(z, [x, y, x])
        np.testing.assert_array_equal(gx, [2.0, 2.0, 2.0])
        np.testing.assert_array_equal(gy, np.zeros(3))
        np.testing.assert_array_equal(again, gx)
        assert gx is not again


def test_one_structure_with_other_shapes_and_dtypes(way):
    for shape, dtype in (((3,), float), ((2, 3), np.float32), ((), float), ((1,), np.complex64)) * 2:
        x0 = np.full(shape, 2.0, dtype)
        with Tape() as tape:
            x = tape.watch(x0)
            y = op.real(op.sum(x * x * X))
        g = tape.gradient(y, x)
        np.testing.assert_allclose(g, 2.0 * x0 * (X if shape[-1:] == (3,) else X.sum()), rtol=1e-6)
        assert g.dtype == dtype
        assert g.shape == shape


def test_zeros_stay_zeros(way):
    for _ in range(3):
        g = grad(lambda x: op.sum(op.where(X > 0.0, op.sqrt(x), 0.0)))(np.array([4.0, 0.0, 1.0]))
        np.testing.assert_array_equal(g, [0.25, 0.0, 0.5])


def test_zeros_stay_zeros_where_one_walk_has_to_do(way):
    roots = np.array([4.0, 0.0, 1.0])
    first, second = [0.25, 0.0, 0.5], [-1 / 32, 0.0, -0.25]

    def f(x):
        return op.sum(op.relu(op.sqrt(x) - 0.5))

    for _ in range(3):
        np.testing.assert_array_equal(grad(f)(roots), first)
        np.testing.assert_array_equal(grad(lambda x: op.sum(grad(f)(x)))(roots), second)
    kinds = [plan.guarded for plan in dag._cache.values() if plan.compiled is not None]
    assert any(kinds) == (way == "compiled")


def test_no_guard_where_a_rule_goes_the_long_way(way, fake):
    """A rule that does not give all its inputs is never known, and leaves NaN behind a zero here."""
    partly = fake(
        "fake_partly(Tensor x1, Tensor x2) -> Tensor", lambda x1, x2: x1 * x2, lambda dy, s, a: {"x2": lambda: dy * np.inf},
        elementwise=True,
    )  # fmt: skip
    for _ in range(3):
        g = grad(lambda x: op.sum(op.relu(partly(1.0, x))))(np.array([1.0, -1.0]))
        np.testing.assert_array_equal(g, [np.inf, 0.0])


def test_a_wrong_shape_is_named(way, fake):
    twice = fake("fake_twice(Tensor x) -> Tensor", lambda x: 2 * x, lambda dy, s, a: {"x": lambda: wrong(dy)})
    wrong = np.copy
    assert grad(lambda x: op.sum(twice(x)))(X).shape == (3,)
    grad(lambda x: op.sum(twice(x)))(X)
    wrong = np.sum
    with pytest.raises(GradientError, match=r"'fake_twice' for input 'x' has shape \(\), expected \(3,\)"):
        grad(lambda x: op.sum(twice(x)))(X)


def test_a_missing_gradient_is_named(way, fake):
    product = fake("fake_product(Tensor x1, Tensor x2) -> Tensor", np.multiply, lambda dy, s, a: {"x1": lambda: dy})
    for _ in range(3):
        with pytest.raises(GradientError, match="'fake_product' returned none for input 'x2'"):
            grad(lambda x: op.sum(product(1.0, x)))(X)


def test_cotangents_are_let_go_on_the_way(way, fake):
    made, alive = [], []

    def rule(dy, saved, attrs):
        alive.append([each() is not None for each in made])
        g = dy * 1.0
        made.append(weakref.ref(g))
        return {"x": lambda: g}

    step = fake("fake_step(Tensor x) -> Tensor", lambda x: x + 0.0, rule)
    for _ in range(3):
        made.clear()
        alive.clear()
        grad(lambda x: op.sum(step(step(step(x)))))(X)
    assert alive == [[], [True], [False, True]]
