"""The walk: thunks, sums of contributions, shapes and dtypes, several outputs, batches, strong zeros, backends."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from autograd import GradientError, Tape, grad, hessian, jacobian
from autograd import operators as op
from autograd.indexed import IndexedGradient
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

X = np.array([1.0, 2.0, 3.0])


def walked(build, *sources, dy=None, times=2):
    """The gradients from the careful walk (first) and the fast one (after it); checks that they agree."""
    results = []
    for _ in range(times):
        with Tape() as tape:
            watched = [tape.watch(each) for each in sources]
            y = build(*watched)
        results.append(tape.gradient(y, watched, dy=dy))
    for each in results[1:]:
        for first, other in zip(results[0], each, strict=True):
            np.testing.assert_array_equal(first, other)
    return results[0]


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
def test_gradients_have_the_shape_of_their_inputs(shape1, shape2):
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


def test_one_input_broadcast_against_itself():
    (g,) = walked(lambda x: op.reshape(x, shape=(3, 1)) * x, X, dy=np.ones((3, 3)))
    np.testing.assert_array_equal(g, np.full(3, 2 * X.sum()))


# ------------------------------------------------------------------------------------------------ sums of contributions


def test_no_cotangent_and_no_dy_is_changed_in_place(fake):
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
def test_a_gradient_has_the_dtype_of_its_source(dtype):
    x = np.array([1.0, 2.0], dtype)
    g, h = walked(lambda a, b: op.sum(op.real(a * b)), x, np.array([3.0, 4.0], np.float64))
    assert g.dtype == dtype
    assert h.dtype == np.float64
    np.testing.assert_allclose(g, [3.0, 4.0])


def test_mixed_precision_is_cast_where_it_meets():
    low, high = np.ones(3, np.float32), np.full(3, 2.0)
    g_low, g_high = walked(lambda a, b: op.sum(op.sin(a) * b * a), low, high)
    assert g_low.dtype == np.float32
    assert g_high.dtype == np.float64


def test_a_real_input_of_a_complex_function_gets_a_real_gradient():
    (g,) = walked(lambda x: op.sum(op.real(x * np.array([1j, 2.0, 3 - 1j]))), X)
    assert g.dtype == np.float64
    np.testing.assert_array_equal(g, [0.0, 2.0, 3.0])


# ------------------------------------------------------------------------------------------------ wrong rules

WRONG = [
    (lambda dy: np.ones(4), r"shape \(4,\).*\(3,\)"),
    (lambda dy: np.ones((3, 1)), r"shape \(3, 1\).*\(3,\)"),
    (lambda dy: np.float64(1.0), r"shape \(\).*\(3,\)"),
    (lambda dy: np.ones(3, int), "int64.*float64"),
    (lambda dy: np.ones(3, bool), "bool.*float64"),
    (lambda dy: np.array([None] * 3), "object.*float64"),
    (lambda dy: None, "NoneType"),
    (lambda dy: "text", "str"),
    (lambda dy: [1.0, 2.0, 3.0], "list"),
    (lambda dy: IndexedGradient(dy, slice(None), (7,), np.float64), r"\(7,\).*\(3,\)"),
]


@pytest.mark.parametrize("elementwise", [False, True])
@pytest.mark.parametrize("walk", ["careful", "fast"])
@pytest.mark.parametrize(("wrong", "message"), WRONG, ids=[m for _, m in WRONG])
def test_a_rule_that_returns_what_does_not_fit(fake, wrong, message, elementwise, walk):
    good = [walk == "fast"]

    def rule(dy, saved, attrs):
        return {"first": lambda: dy, "second": lambda: dy if good[0] else wrong(dy)}

    f = fake("fake_wrong(Tensor first, Tensor second) -> Tensor", lambda a, b: a + b, rule, elementwise=elementwise)
    array = X.copy()
    if good[0]:
        walked(lambda x: f(x, x * 1.0), array, dy=np.ones(3), times=1)
        good[0] = False
    with Tape() as tape:
        x = tape.watch(array)
        y = f(x, x * 1.0)
    with pytest.raises(GradientError, match=f"'fake_wrong' for input 'second'.*{message}"):
        tape.gradient(y, x, dy=np.ones(3))
    assert array.flags.writeable
    np.testing.assert_array_equal(grad(lambda v: op.sum(v * v))(array), 2 * X)


def test_an_elementwise_gradient_that_does_not_sum_to_its_input(fake):
    f = fake("fake_wide(Tensor x) -> Tensor", lambda x: x * 1, lambda dy, s, a: {"x": lambda: np.ones((3, 4))}, elementwise=True)
    with pytest.raises(GradientError, match=r"'fake_wide' for input 'x'.*\(3, 4\).*\(3,\)"):
        grad(lambda x: op.sum(f(x)))(X)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ({"y": lambda: 1.0}, "'y', which is not an input.*'x'"),
        ({"xx": lambda: 1.0, "x": lambda: 1.0}, "'xx', which is not an input.*Did you mean.*x"),
        ({}, "none for input 'x'"),
        ({"x": X}, "'x' is ndarray, expected a function"),
        (None, "NoneType, expected a mapping"),
        (X, "ndarray, expected a mapping"),
    ],
    ids=["other name", "extra name", "missing name", "value", "None", "array"],
)
def test_a_rule_that_does_not_return_a_gradient_map(fake, result, message):
    f = fake("fake_map(Tensor x) -> Tensor", lambda x: x * 1, lambda dy, s, a: result)
    with pytest.raises(GradientError, match=f"(?s)'fake_map'.*{message}"):
        grad(lambda x: op.sum(f(x)))(X)


def test_a_rule_for_a_list_gives_a_list_of_functions(fake):
    answers = [lambda: 1.0, [lambda: np.ones(3)], X]
    f = fake("fake_list(Tensor[] parts) -> Tensor", lambda parts: parts[0] + parts[1], lambda dy, s, a: {"parts": answers[0]})
    for got in ("a function", "list of length 1", "ndarray of length 3|is float64|function"):
        with pytest.raises(GradientError, match=f"'fake_list'.*'parts'.*({got})"):
            grad(lambda x: op.sum(f([x, x])))(X)
        answers.pop(0)


# ------------------------------------------------------------------------------------------------ several outputs


def test_several_outputs_get_zeros_where_no_cotangent_arrived(fake):
    seen = []

    def rule(dy, saved, attrs):
        seen.append(dy)
        return {"x": lambda: 2 * dy[0] + 3 * dy[1] + np.sum(dy[2])}

    f = fake("fake_three(Tensor x) -> (Tensor a, Tensor b, Tensor c)", lambda x: (2 * x, 3 * x, np.sum(x)), rule)
    (g,) = walked(lambda x: op.sum(f(x)[1]), X, times=1)
    np.testing.assert_array_equal(g, np.full(3, 3.0))
    a, b, c = seen[0]
    np.testing.assert_array_equal(a, np.zeros(3))
    np.testing.assert_array_equal(b, np.ones(3))
    assert np.shape(c) == ()
    assert c == 0.0
    (g,) = walked(lambda x: op.sum(f(x)[0] * X) + f(x)[2] * 5.0, X)
    np.testing.assert_array_equal(g, 2 * X + 5)


def test_several_outputs_get_none_where_the_rule_asks_for_it(fake):
    seen = []

    def rule(dy, saved, attrs):
        seen.append(dy)
        return {"x": lambda: sum(factor * each for factor, each in zip((2, 3), dy, strict=True) if each is not None)}

    f = fake("fake_two(Tensor x) -> (Tensor a, Tensor b)", lambda x: (2 * x, 3 * x), rule, accepts_none=True)
    (g,) = walked(lambda x: op.sum(f(x)[1]), X, times=1)
    np.testing.assert_array_equal(g, np.full(3, 3.0))
    assert seen[0][0] is None
    (g,) = walked(lambda x: op.sum(f(x)[0]) + op.sum(f(x)[1]), X)
    np.testing.assert_array_equal(g, np.full(3, 5.0))


def test_outputs_in_a_list(fake):
    f = fake("fake_unstack(Tensor x) -> Tensor[]", list, lambda dy, s, a: {"x": lambda: np.array(dy)})
    (g,) = walked(lambda x: f(x)[0] * 2.0 + f(x)[2] * f(x)[1], X)
    np.testing.assert_array_equal(g, [2.0, 3.0, 2.0])


def test_the_target_and_a_source_may_be_further_outputs(fake):
    f = fake(
        "fake_two(Tensor x) -> (Tensor a, Tensor b)",
        lambda x: (2 * x, 3 * x),
        lambda dy, s, a: {"x": lambda: 2 * dy[0] + 3 * dy[1]},
    )
    with Tape(persistent=True) as tape:
        x = tape.watch(X)
        a, b = f(x)
        y = op.sum(b * b)
    np.testing.assert_array_equal(tape.gradient(b, x, dy=np.ones(3)), np.full(3, 3.0))
    gb, gx = tape.gradient(y, [b, x])
    np.testing.assert_array_equal(gb, 6 * X)
    np.testing.assert_array_equal(gx, 18 * X)
    np.testing.assert_array_equal(tape.gradient(y, a), np.zeros(3))


def test_an_integer_output_beside_a_float_one_is_a_constant(fake):
    f = fake(
        "fake_with_count(Tensor x) -> (Tensor y, Tensor count)",
        lambda x: (x * 2, np.arange(3)),
        lambda dy, s, a: {"x": lambda: 2 * dy[0]},
        accepts_none=True,
    )
    with Tape() as tape:
        x = tape.watch(X)
        y, count = f(x)
        z = op.sum(y)
    assert type(count) is np.ndarray
    np.testing.assert_array_equal(tape.gradient(z, x), np.full(3, 2.0))


# ------------------------------------------------------------------------------------------------ what a rule is given


def test_saved_comes_as_declared_inputs_then_outputs_then_infos(fake):
    seen = []

    def rule(dy, saved, attrs):
        seen.append((saved, attrs))
        return {"a": lambda: dy, "b": lambda: dy}

    f = fake(
        "fake_saving(Tensor a, Tensor b, *, int power=2) -> Tensor",
        lambda a, b, power: a + b,
        rule,
        inputs_to_save=("b", "a"),
        outputs_to_save=True,
        infos_to_save=("b",),
    )
    walked(lambda a, b: f(a, b, power=5), X, 2 * X, dy=np.ones(3))
    for (b, a, y, info), attrs in seen:
        np.testing.assert_array_equal(b, 2 * X)
        np.testing.assert_array_equal(a, X)
        np.testing.assert_array_equal(y, 3 * X)
        assert info == ((3,), np.float64)
        assert attrs == {"power": 5}
    assert len(seen) == 2


def test_the_rule_is_called_once_a_record_and_not_at_all_where_no_cotangent_arrives(fake):
    calls = []

    def rule(dy, saved, attrs):
        calls.append(1)
        return {"a": lambda: dy, "b": lambda: dy}

    f = fake("fake_count(Tensor a, Tensor b) -> Tensor", np.add, rule)
    walked(lambda x: op.sum(f(x, x)), X)
    assert len(calls) == 2


def test_warnings_of_numpy_are_quiet_in_the_walk_and_loud_in_the_kernel():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g = grad(lambda x: op.power(x, 0.5))(0.0)
        assert g == np.inf
        with pytest.raises(RuntimeWarning) as caught, Tape() as tape:
            op.log(tape.watch(np.zeros(2)))
    assert any("'log'" in note for note in caught.value.__notes__)


# ------------------------------------------------------------------------------------------------ batches


def test_a_batch_of_cotangents_is_one_walk(fake):
    calls = []

    def rule(dy, saved, attrs):
        calls.append(np.shape(dy))
        (x,) = saved
        return {"x": lambda: dy * 2 * x}

    f = fake("fake_square(Tensor x) -> Tensor", lambda x: x * x, rule, inputs_to_save=("x",), elementwise=True)
    np.testing.assert_array_equal(jacobian(f)(X), np.diag(2 * X))
    assert calls == [(3, 3)]


def test_a_rule_that_cannot_follow_a_batch_is_called_for_each_cotangent(fake):
    calls = []

    def rule(dy, saved, attrs):
        calls.append(np.shape(dy))
        return {"x": lambda: 2 * dy, "y": lambda: IndexedGradient(dy, slice(None), (3,), np.float64)}

    f = fake("fake_single(Tensor x, Tensor y) -> Tensor", lambda x, y: 2 * x + y, rule, batched=False)
    with Tape(persistent=True) as tape:
        x = tape.watch(X)
        z = f(x, x * 1.0)
    np.testing.assert_array_equal(tape.jacobian(z, x), 3 * np.eye(3))
    assert calls == [(3,)] * 3


def test_a_rule_without_batches_and_with_several_outputs(fake):
    f = fake(
        "fake_single(Tensor x) -> (Tensor a, Tensor b)",
        lambda x: (2 * x, 3 * x),
        lambda dy, s, a: {"x": lambda: 2 * dy[0] + 3 * dy[1]},
        batched=False,
    )
    np.testing.assert_array_equal(jacobian(lambda x: f(x)[1])(X), 3 * np.eye(3))


def test_unbroadcasting_keeps_the_batch():
    jacobian_of_scalar = jacobian(lambda s: s * X)(2.0)
    np.testing.assert_array_equal(jacobian_of_scalar, X)
    row = jacobian(lambda r: r * X)(np.array([2.0]))
    np.testing.assert_array_equal(row, X.reshape(3, 1))
    # a batch whose length is that of the broadcast axis must not be summed away
    np.testing.assert_array_equal(jacobian(lambda c: c + np.ones((3, 3)))(np.ones((3, 1))).sum(), 9.0)


@pytest.mark.parametrize("wrong", [np.ones((1, 3)), np.ones(3), np.ones((3, 1)), np.ones((2, 3, 3))], ids=lambda g: str(g.shape))
def test_an_elementwise_rule_that_loses_the_batch(fake, wrong):
    f = fake("fake_lost(Tensor x) -> Tensor", lambda x: x * 1, lambda dy, s, a: {"x": lambda: wrong}, elementwise=True)
    with pytest.raises(GradientError, match=r"'fake_lost' for input 'x'.*\(3, 3\)"):
        jacobian(f)(X)


# ------------------------------------------------------------------------------------------------ indexing


def test_n_reads_of_an_n_vector_are_one_scatter(monkeypatch):
    from autograd import indexed

    scatters = []
    original = indexed.op.scatter_add
    monkeypatch.setattr(indexed.op, "scatter_add", lambda *a, **k: scatters.append(1) or original(*a, **k))
    x0 = np.arange(200.0)

    def f(x):
        total = x[0] * 0.0
        for position in range(200):
            total = total + x[position] * x[position]
        return total

    for _ in range(2):
        scatters.clear()
        np.testing.assert_array_equal(grad(f)(x0), 2 * x0)
        assert len(scatters) == 1


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


# ------------------------------------------------------------------------------------------------ strong zeros


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
