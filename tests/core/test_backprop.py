"""The walk: un-broadcasting, sums of contributions, dtypes, indexing, backends."""

from __future__ import annotations

import numpy as np
import pytest

from autograd import Tape, grad, hessian
from autograd import operators as op
from registry import (
    KernelConfig,
    get_backend,
    get_kernel,
    register_backend,
    register_kernel,
    remove_backend,
    unregister_kernel,
    use_backend,
)
from registry.kernels import get_kernels_for_backend
from tests.gradients.counting import counted_kernels

X = np.array([1.0, 2.0, 3.0])


# ------------------------------------------------------------------------------------------------ un-broadcasting


@pytest.mark.parametrize(
    ("shape1", "shape2"),
    [
        ((), (3,)),
        ((3,), ()),
        ((1,), (3,)),
        ((2, 3), (3,)),
        ((2, 1), (1, 3)),
        ((4, 1, 3), (2, 1)),
        ((1, 1), (2, 3)),
        ((0,), (1,)),
        ((2, 0), (1,)),
    ],
)
def test_gradients_have_the_shape_of_their_inputs(walked, shape1, shape2):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=shape1), rng.normal(size=shape2)
    shape = np.broadcast_shapes(shape1, shape2)
    dy = rng.normal(size=shape)

    def summed(values, to):
        extra = values.ndim - len(to)
        values = values.sum(axis=tuple(range(extra)))
        return values.sum(axis=tuple(i for i, n in enumerate(to) if n == 1 and values.shape[i] != 1), keepdims=True).reshape(to)

    ga, gb = walked(lambda x1, x2: x1 * x2, a, b, dy=dy)
    assert np.shape(ga) == shape1
    assert np.shape(gb) == shape2
    np.testing.assert_allclose(ga, summed(dy * b, shape1))
    np.testing.assert_allclose(gb, summed(dy * a, shape2))


def test_one_input_broadcast_against_itself(walked):
    (g,) = walked(lambda x: op.reshape(x, shape=(3, 1)) * x, X, dy=np.ones((3, 3)))
    np.testing.assert_array_equal(g, np.full(3, 2 * X.sum()))


# ------------------------------------------------------------------------------------------------ sums of contributions


def test_no_cotangent_and_no_dy_is_changed_in_place(walked, fake):
    """Rules keep the very arrays that they were given and gave; the walk may add into its own buffers only."""
    seen = []

    def rule(dy, saved, attrs):
        seen.append((dy, dy.copy()))

        def thunk():
            seen.append((dy, dy.copy()))
            return dy  # the same array goes on as the gradient of the input

        return {"x": thunk}

    same = fake("fake_same(Tensor x) -> Tensor", lambda x: x * 1.0, rule)
    for dy in (np.arange(3.0), np.arange(3.0)):
        before = dy.copy()

        def build(x):
            a = same(x)
            b = same(a) + same(a) + same(a) + a + x
            return same(b) + b + same(a) + x

        (g,) = walked(build, X, dy=dy, times=1)
        # b = 3a + a + x = 5x; result = 2b + a + x = 12x
        np.testing.assert_array_equal(g, 12 * before)
        np.testing.assert_array_equal(dy, before)
        for array, was in seen:
            np.testing.assert_array_equal(array, was)


def test_contributions_are_added_in_place_once_the_buffer_is_the_walks_own(fake):
    """Eleven uses of one value: the first sum is a new array, and it is the result too."""
    import tracemalloc

    n = 200_000

    def build(x):
        y = x
        for _ in range(10):
            y = y + x
        return y

    tracemalloc.start()
    try:
        with Tape() as tape:
            x = tape.watch(np.ones(n))
            y = build(x)
        tape.gradient(y, x, dy=np.ones(n))
        with Tape() as tape:
            x = tape.watch(np.ones(n))
            y = build(x)
        dy = np.ones(n)
        tracemalloc.reset_peak()
        start = tracemalloc.get_traced_memory()[0]
        g = tape.gradient(y, x, dy=dy)
        peak = tracemalloc.get_traced_memory()[1] - start
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(g, np.full(n, 11.0))
    assert peak < 1.5 * 8 * n


def test_a_gradient_that_is_also_a_cotangent_of_something_else():
    with Tape() as tape:
        x = tape.watch(X)
        y = x + 0.0
        z = y + y + x
    gx, gy, gz = tape.gradient(z, [x, y, z], dy=np.ones(3))
    np.testing.assert_array_equal(gx, np.full(3, 3.0))
    np.testing.assert_array_equal(gy, np.full(3, 2.0))
    np.testing.assert_array_equal(gz, np.ones(3))


# ------------------------------------------------------------------------------------------------ dtypes


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble, np.complex64, np.complex128])
def test_a_gradient_has_the_dtype_of_its_source(walked, dtype):
    x = np.array([1.0, 2.0], dtype)
    g, h = walked(lambda a, b: op.sum(op.real(a * b)), x, np.array([3.0, 4.0], np.float64))
    assert g.dtype == dtype
    assert h.dtype == np.float64
    np.testing.assert_allclose(g, [3.0, 4.0])


def test_mixed_precision_is_cast_where_it_meets(walked):
    low, high = np.ones(3, np.float32), np.full(3, 2.0)
    g_low, g_high = walked(lambda a, b: op.sum(op.sin(a) * b * a), low, high)
    assert g_low.dtype == np.float32
    assert g_high.dtype == np.float64


def test_a_real_input_of_a_complex_function_gets_a_real_gradient(walked):
    (g,) = walked(lambda x: op.sum(op.real(x * np.array([1j, 2.0, 3 - 1j]))), X)
    assert g.dtype == np.float64
    np.testing.assert_array_equal(g, [0.0, 2.0, 3.0])


# ------------------------------------------------------------------------------------------------ indexing


def test_n_reads_of_an_n_vector_are_one_scatter():
    x0 = np.arange(200.0)

    def f(x):
        total = x[0] * 0.0
        for position in range(200):
            total = total + x[position] * x[position]
        return total

    for _ in range(2):
        with counted_kernels("scatter_add") as calls:
            np.testing.assert_array_equal(grad(f)(x0), 2 * x0)
        assert calls["scatter_add"] == 1


def test_indexed_pieces_meet_a_dense_contribution_in_any_order():
    for f in (
        lambda x: op.sum(x * x) + x[0] * 5.0 + x[1],
        lambda x: x[0] * 5.0 + x[1] + op.sum(x * x),
        lambda x: x[0] * 5.0 + op.sum(x * x) + x[1],
    ):
        for _ in range(2):
            np.testing.assert_array_equal(grad(f)(X), 2 * X + [5.0, 1.0, 0.0])


def test_repeated_indices_accumulate_and_second_derivatives_work():
    f = lambda x: op.sum(x[[0, 0, 1]] * x[np.array([0, 2, 2])])  # noqa: E731  # x0^2 + x0 x2 + x1 x2
    np.testing.assert_array_equal(grad(f)(X), [2 * 1 + 3, 3, 1 + 2])
    np.testing.assert_array_equal(hessian(f)(X), [[2.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]])


# ------------------------------------------------------------------------------------------------ backends


def test_the_walk_runs_on_the_backend_of_the_record():
    ran = []

    def spy(name, kernel):
        def run(*inputs, **attrs):
            ran.append((name, get_backend()))
            return kernel(*inputs, **attrs)

        return run

    register_backend("fake", object, priority=-1)
    for config in get_kernels_for_backend("numpy"):
        register_kernel(KernelConfig(config.kernel_name, "fake", spy(config.kernel_name, config.kernel_func)))
    try:
        assert get_kernel("sin", "fake") is not None
        for _ in range(2):
            ran.clear()
            with use_backend("fake"), Tape() as tape:
                x = tape.watch(X)
                y = op.sum(op.sin(x) * x + x[0])
            assert {name for name, _ in ran} >= {"sin", "multiply", "sum", "add"}
            ran.clear()
            g = tape.gradient(y, x)
            assert get_backend() == "numpy"
            assert {backend for _, backend in ran} == {"fake"}
            assert "cos" in {name for name, _ in ran}
            np.testing.assert_allclose(g, np.sin(X) + X * np.cos(X) + [3.0, 0.0, 0.0])
        assert {node.backend_name for node in tape.nodes} == {"fake"}
        with Tape() as tape:  # one record on each
            x = tape.watch(X)
            with use_backend("fake"):
                y = op.sin(x)
            z = op.sum(op.cos(y))
        np.testing.assert_allclose(tape.gradient(z, x), -np.sin(np.sin(X)) * np.cos(X))
    finally:
        for config in get_kernels_for_backend("fake"):
            unregister_kernel(config.kernel_name, "fake")
        remove_backend("fake")
