"""Blocks: elementwise steps on large arrays, walked some rows at a time, give what one walk over all rows gives, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

from autograd import Tape, backprop, blocks, dag, grad, jacobian
from autograd import operators as op

SHAPES = [(64,), (9, 7), (5, 2, 3), (40, 1)]

BLOCKED = {
    "a chain": lambda x, y: op.sin(op.exp(x) * y + x),
    "a quotient": lambda x, y: op.log(x) / y - y / x,
    "a constant of the same shape": lambda x, y: np.ones(x.shape) * 3.0 * x * y * y,
    "a row that is broadcast": lambda x, y: x * np.arange(1.0, 1 + x.shape[-1]) * y * y,
    "one row": lambda x, y: x * np.arange(1.0, 1 + x.shape[-1]).reshape((1,) * (x.ndim - 1) + (-1,)) * y * y,
    "scalars": lambda x, y: (2.0 * x + np.float64(3.0)) * (y - 1.0) ** 3,
    "equal values": lambda x, y: op.maximum(x, op.minimum(x, 1.0)) * y * y,
    "a source alone": lambda x, y: x * x * x * x,
}

NOT_BLOCKED = {
    "a column that is broadcast": lambda x, y: op.exp(x[..., :1] * x) * y * y,
    "a broadcast tensor": lambda x, y: op.exp(x) * (y * y)[:1] * x,
    "a sum in between": lambda x, y: x * op.sum(y * y) * x * x * y,
    "reads at the end": lambda x, y: op.exp(x[1:] * y[1:]) * x[1:],
}


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 20 elements, from 30 elements on; ``counted`` collects how many rows the blocks had."""
    counted = []
    real = backprop.walk_in_blocks

    def walk_in_blocks(tape, plan, walk_along, given, n_rows):
        counted.append(n_rows)
        return real(tape, plan, walk_along, given, n_rows)

    dag.clear_plan_cache()
    monkeypatch.setattr(blocks, "SMALLEST", 30)
    monkeypatch.setattr(blocks, "BLOCK", 20)
    monkeypatch.setattr(backprop, "walk_in_blocks", walk_in_blocks)
    yield counted
    dag.clear_plan_cache()


def _gradients(f, shape, dtype=np.float64):
    rng = np.random.default_rng(1)
    with Tape() as tape:
        watched = tape.watch([rng.uniform(0.5, 2.0, shape).astype(dtype) for _ in range(2)])
        y = op.sum(f(*watched))
    return tape.gradient(y, watched)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", [*BLOCKED, *NOT_BLOCKED])
def test_gradients_are_the_same(small_blocks, monkeypatch, name, shape):
    f = {**BLOCKED, **NOT_BLOCKED}[name]
    _gradients(f, shape)  # shows the walk the rules
    small_blocks.clear()
    got = [_gradients(f, shape) for _ in range(2)][-1]
    assert len(small_blocks) == (2 if name in BLOCKED else 0)
    monkeypatch.setattr(blocks, "SMALLEST", 10**9)
    for ours, expected in zip(got, _gradients(f, shape), strict=True):
        np.testing.assert_array_equal(ours, expected, strict=True)
        assert ours.flags.writeable
        assert ours.base is None


def test_gradients_keep_their_precision(small_blocks):
    for each in [_gradients(BLOCKED["a chain"], (64,), np.float32) for _ in range(2)][-1]:
        assert each.dtype == np.float32
    assert small_blocks


def test_a_given_cotangent(small_blocks):
    x0 = np.linspace(0.5, 2.0, 64)
    for _ in range(3):
        with Tape() as tape:
            x = tape.watch(x0)
            y = op.exp(x * x) * x
        np.testing.assert_allclose(tape.gradient(y, x, dy=x0), x0 * np.exp(x0**2) * (1 + 2 * x0**2))
    assert len(small_blocks) >= 2


def test_several_cotangents_to_begin_with(small_blocks):
    x0 = np.linspace(0.5, 2.0, 64)
    for _ in range(3):
        g = grad(lambda x: op.dot(op.exp(x * x), op.sin(x)))(x0)
        np.testing.assert_allclose(g, np.exp(x0**2) * (2 * x0 * np.sin(x0) + np.cos(x0)))
    assert len(small_blocks) >= 2


def test_sources_of_other_shapes_that_are_reached_before(small_blocks):
    x0, w0 = np.linspace(0.5, 2.0, 64).reshape(16, 4), np.arange(4.0)
    for _ in range(3):
        with Tape() as tape:
            x, w = tape.watch([x0, w0])
            y = op.sum((op.exp(x * x) * x) @ w)
        gx, gw = tape.gradient(y, [x, w])
        np.testing.assert_allclose(gx, np.exp(x0**2) * (1 + 2 * x0**2) * w0)
        np.testing.assert_allclose(gw, (np.exp(x0**2) * x0).sum(0))
    assert len(small_blocks) >= 2


def test_zeros_stay_zeros(small_blocks):
    x0 = np.linspace(0.0, 63.0, 64)
    for _ in range(3):
        g = grad(lambda x: op.sum(op.sqrt(x * x) * (x0 > 0) * x * 1.0 * x))(x0)
        np.testing.assert_allclose(g, 3 * x0**2)
    assert small_blocks


def test_a_block_has_more_than_one_row(small_blocks, fake):
    """A rule that holds a whole array of its own would be broadcast against a single row, and summed, without a word."""
    whole = np.arange(1.0, 49.0).reshape(3, 16)
    times = fake(
        "fake_times(Tensor x) -> Tensor", lambda x: x * whole, lambda dy, s, a: {"x": lambda: dy * whole}, elementwise=True
    )
    for _ in range(3):
        np.testing.assert_allclose(grad(lambda x: op.sum(times(x) * 2.0 * 3.0 * x * 0.5))(whole), 6 * whole**2)
    assert not small_blocks


def test_other_walks_are_left_alone(small_blocks):
    x0 = np.linspace(0.5, 2.0, 32)
    for _ in range(3):
        np.testing.assert_allclose(np.diag(jacobian(lambda x: op.exp(x * x) * x * x)(x0)), np.exp(x0**2) * (2 * x0 + 2 * x0**3))
    small_blocks.clear()
    for _ in range(3):
        second = grad(lambda x: op.sum(grad(lambda z: op.sum(op.exp(z) * z * z * z))(x)))(x0)
        np.testing.assert_allclose(second, np.exp(x0) * (x0**3 + 6 * x0**2 + 6 * x0))


def test_the_length_of_the_tape_does_not_matter(small_blocks):
    """One plan serves arrays of any length: too small for blocks, or with a last block that is not full."""
    for length in (4, 64, 33, 40, 5, 64):
        x0 = np.linspace(0.5, 2.0, length)
        np.testing.assert_allclose(grad(lambda x: op.sum(op.exp(x * x) * x * x))(x0), np.exp(x0**2) * (2 * x0 + 2 * x0**3))
    assert len(dag._cache) == 1
