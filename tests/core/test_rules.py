"""What the walk asks of a rule: what it is given, what it may return, several outputs, batches of cotangents."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from autograd import GradientError, Tape, grad, jacobian
from autograd import operators as op
from autograd.indexed import IndexedGradient

X = np.array([1.0, 2.0, 3.0])


# ------------------------------------------------------------------------------------------------ what a rule is given


def test_saved_comes_as_declared_inputs_then_outputs_then_infos(walked, fake):
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


def test_the_rule_is_called_once_a_record_and_not_at_all_where_no_cotangent_arrives(walked, fake):
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
def test_a_rule_that_returns_what_does_not_fit(walked, fake, wrong, message, elementwise, walk):
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


def test_several_outputs_get_zeros_where_no_cotangent_arrived(walked, fake):
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


def test_several_outputs_get_none_where_the_rule_asks_for_it(walked, fake):
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


def test_outputs_in_a_list(walked, fake):
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


@pytest.mark.parametrize("walk", ["careful", "fast"])
def test_a_rule_that_ignores_the_batch_is_named(fake, walk):
    def rule(dy, saved, attrs):
        return {"x": lambda: np.ones(3)}  # right for one cotangent by luck, wrong for a batch of them

    double = fake("double(Tensor x) -> Tensor", lambda x: 2.0 * x, rule)

    def taped():
        with Tape() as tape:
            x = tape.watch(np.ones(3))
            y = double(x)
        return tape, x, y

    if walk == "fast":  # the rule has been seen, and was right
        tape, x, y = taped()
        tape.gradient(y, x, dy=np.ones(3))
    tape, x, y = taped()
    with pytest.raises(GradientError, match=r"'double'.*'x'.*\(3,\).*\(3, 3\)"):
        tape.jacobian(y, x)
