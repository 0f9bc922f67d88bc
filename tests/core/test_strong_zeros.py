"""Strong zeros: in an elementwise operator a cotangent of exactly 0 gives a gradient of exactly 0, whatever the derivative."""

from __future__ import annotations

import numpy as np
import pytest

from autograd import Tape, grad, jacobian
from autograd import operators as op

X = np.array([1.0, 2.0, 3.0])


@pytest.fixture
def root(fake):
    """A square root whose derivative at 0 is inf, and NaN below; written to give 0 * inf."""
    return fake(
        "fake_root(Tensor x) -> Tensor",
        lambda x: np.sqrt(np.abs(x)) * np.where(np.less(x, 0), np.nan, 1.0),
        lambda dy, s, a: {"x": lambda: dy * op.power(s[0] * 4.0, -0.5)},
        inputs_to_save=("x",),
        elementwise=True,
    )


def test_p01_the_branch_that_where_did_not_take(root):
    assert grad(lambda x: op.where(x >= 0, x, root(-x)))(1.0) == 1.0
    assert grad(lambda x: op.where(x >= 0, x, root(x)))(0.0) == 1.0


def test_p03_an_infinite_entry_that_is_masked_out(root):
    inf = np.inf
    with np.errstate(invalid="ignore"):
        g = grad(lambda x: op.sum(op.where(x < 1.0, op.cos(x), 0.0)))(np.array([0.0, inf]))
    np.testing.assert_array_equal(g, [0.0, 0.0])


def test_p05_zero_divided_by_zero_replaced_by_a_constant():
    d = np.array([0.0, 2.0])
    with np.errstate(invalid="ignore"):
        g = grad(lambda x: op.sum(op.where(d == 0, 0.0, op.divide(x, d))))(np.array([0.0, 1.0]))
    np.testing.assert_array_equal(g, [0.0, 0.5])


def test_p07_one_undefined_entry_does_not_poison_other_rows_of_a_jacobian(root):
    J = jacobian(lambda a: a * root(a))(np.array([4.0, -1.0, 9.0]))
    assert np.isnan(J[1, 1])
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_array_equal(J[off], 0.0)
    np.testing.assert_allclose([J[0, 0], J[2, 2]], [1.5 * 2, 1.5 * 3])


def test_p08_x_times_its_root_at_a_python_zero():
    assert grad(lambda x: x * x**0.5)(0.0) == 0.0


def test_a_cotangent_of_zero_annihilates_but_a_nonzero_one_does_not(root):
    dy = np.array([0.0, 1.0, 0.0])
    with Tape() as tape:
        x = tape.watch(np.array([0.0, 0.0, 4.0]))
        y = root(x)
    np.testing.assert_array_equal(tape.gradient(y, x, dy=dy), [0.0, np.inf, 0.0])


def test_strong_zeros_keep_float32_and_broadcasting(root):
    def f(s, x):
        return op.sum(op.where(np.array([True, False, True]), root(s * x), 1.0))

    s, x = grad(f, (0, 1))(np.float32(1.0), np.array([1.0, 0.0, 4.0], np.float32))
    assert np.asarray(s).dtype == np.float32
    assert x.dtype == np.float32
    np.testing.assert_allclose(s, 0.5 + 1.0)
    np.testing.assert_allclose(x, [0.5, 0.0, 0.25])


def test_strong_zeros_of_an_elementwise_operator_with_two_outputs(fake):
    f = fake(
        "fake_two(Tensor x) -> (Tensor a, Tensor b)",
        lambda x: (np.sqrt(x), np.sqrt(x) * 2),
        lambda dy, s, a: {"x": lambda: (dy[0] + 2 * dy[1]) * 0.5 / np.sqrt(s[0])},
        inputs_to_save=("x",),
        elementwise=True,
    )
    mask = np.array([False, True, True])

    def product(x):
        a, b = f(x)
        return op.sum(op.where(mask, a * b, 1.0))

    g = grad(product)(np.array([0.0, 1.0, 4.0]))
    np.testing.assert_allclose(g, [0.0, 2.0, 2.0])


def test_zeros_are_not_strong_where_an_operator_is_not_elementwise(fake):
    """A matrix that mixes: a zero in dy says nothing about the entries of the gradient."""
    f = fake(
        "fake_mixing(Tensor x) -> Tensor", lambda x: x[::-1] * 1.0, lambda dy, s, a: {"x": lambda: np.array([np.inf, 1.0, 0.0])}
    )
    with Tape() as tape:
        x = tape.watch(X)
        y = f(x)
    np.testing.assert_array_equal(tape.gradient(y, x, dy=np.array([0.0, 0.0, 0.0])), [np.inf, 1.0, 0.0])


def test_second_order_through_strong_zeros_leaves_nothing_on_the_outer_tape(root):
    """f = where(True, x^3, root(x)): f'' = 6x, and the records of the discarded first walk are gone."""
    c = np.array([0.0, 2.0])
    taken = np.array([True, True])

    def run(take_root):
        with Tape() as outer:
            x = outer.watch(c)
            with Tape() as inner:
                xi = inner.watch(x)
                other = root(xi) if take_root else xi * 1.0
                y = op.sum(op.where(taken, xi * xi * xi, other))
            g = inner.gradient(y, xi)
            z = op.sum(g)
        return outer.gradient(z, x), outer

    np.testing.assert_array_equal(run(False)[0], [0.0, 12.0])
    second, outer = run(True)
    np.testing.assert_array_equal(second, [0.0, 12.0])
    kernels = [node.kernel_name for node in outer.nodes]
    assert kernels.count("power") == 1, f"the discarded walk left its records: {kernels}"
    ids = [node.id for node in outer.nodes]
    assert ids == sorted(set(ids))
    assert set(outer._attrs) <= set(range(len(outer._bindings)))


def test_strong_zeros_of_an_inner_tape_that_meets_the_outer_one_by_closure_only(root):
    """f(y) = where(True, x y^2, x root(y)) at y = [0, 2]: d/dx sum f' = sum 2y, with one walk left on the outer tape."""
    taken = np.array([True, True])
    with Tape() as outer:
        x = outer.watch(3.0)
        with Tape() as inner:
            y = inner.watch(np.array([0.0, 2.0]))
            z = op.sum(op.where(taken, y * y * x, root(y * 1.0) * x))
        before = len(outer)
        g = inner.gradient(z, y)
        walked = [node.kernel_name for node in outer.nodes[before:]]
        total = op.sum(g)
    assert outer.gradient(total, x) == 4.0
    assert walked.count("add") <= 2, f"the discarded walk left its records: {walked}"


def test_third_order_through_strong_zeros(root):
    f = lambda x: op.where(x > 0, x * x * x * x, root(x))  # noqa: E731
    assert grad(grad(grad(f)))(2.0) == 48.0
    assert grad(grad(f))(2.0) == 48.0


def test_an_overflow_of_the_finite_check_changes_nothing():
    big = np.full(3, 1e200)
    np.testing.assert_array_equal(grad(lambda x: op.sum(x * big))(X), big)
    big = np.full(3, 3e38, np.float32)
    np.testing.assert_array_equal(grad(lambda x: op.sum(x * big))(np.full(3, 1e-3, np.float32)), big)


def test_a_gradient_that_is_really_not_finite_stays_so():
    assert grad(lambda x: op.power(x, 0.5))(0.0) == np.inf
    g = grad(lambda x: op.sum(op.power(x, 0.5)))(np.array([0.0, 4.0]))
    np.testing.assert_array_equal(g, [np.inf, 0.25])
