"""Anomaly mode: which kernel is named, forward and back, and that nothing else is."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd.numpy as anp
from autograd import (
    AnomalyError,
    GradientError,
    checkpoint,
    custom_gradient,
    detect_anomaly,
    grad,
    hessian,
    jacobian,
    jvp,
    stop_gradient,
)
from autograd import operators as op
from autograd.extend import defvjp, primitive

INF = np.inf


def a(*values, dtype=float):
    return np.array(values, dtype)


def total(y):
    """A real number that every element of ``y`` counts in."""
    return anp.sum(anp.real(y))


def found(program, *args, **options):
    """What anomaly mode finds in a program."""
    try:  # not pytest.raises, whose record of the frames would keep the tape
        with np.errstate(all="ignore"), detect_anomaly(**options):
            program(*args)
    except AnomalyError as error:
        return error.anomaly
    raise AssertionError("nothing was found")


def without_line(anomaly):
    """The message without the source line, which is the row of the table with the text that is expected."""
    assert anomaly.source_line in anomaly.text
    return anomaly.text.replace(anomaly.source_line, "")


def gradient_of(f):
    return grad(lambda x: total(f(x)))


# -------------------------------------------------------------------------------------------------- forward

FORWARD = [
    # function, argument, kernel, first elements of the output that are not finite, part of the message
    (anp.log, a([1, 0], [-1, 2]), "log", [(0, 1), (1, 0)], "output[0, 1] = -inf, from\n    x[0, 1] = 0.0\n"),
    (np.log, a(1, 0), "log", [(1,)], "x[1] = 0.0"),
    (anp.log2, a(0, 1), "log2", [(0,)], "log2(where(mask, x, 1.0))"),
    (anp.log1p, a(-1, 1), "log1p", [(0,)], "x[0] = -1.0"),
    (lambda x: 1 / x, a(0, 1), "divide", [(0,)], "x1 = 1\n    x2[0] = 0.0"),
    (lambda x: x / a([1], [0]), a(1, 2), "divide", [(1, 0), (1, 1)], "x1[1] = 2.0\n    x2[1, 0] = 0.0"),
    (lambda x: x / 1e-300, a(1, 1e10), "divide", [(1,)], "beyond the largest float64"),
    (anp.reciprocal, a(0, 1), "reciprocal", [(0,)], "divided by 0"),
    (anp.sqrt, a(4, -4), "sqrt", [(1,)], "output[1] = nan, from\n    x[1] = -4.0"),
    (lambda x: x**-1.0, a(2, 0), "power", [(1,)], "x1[1] = 0.0\n    x2 = -1.0"),
    (lambda x: x**0.5, a(2, -2), "power", [(1,)], "a negative number to a fraction"),
    (anp.exp, a(1, 1000), "exp", [(1,)], "x[1] = 1000.0"),
    (anp.exp, a(1, 100, dtype=np.float32), "exp", [(1,)], "beyond the largest float32, 3.4e+38"),
    (anp.sinh, a(1, 1000), "sinh", [(1,)], "subtract the largest exponent"),
    (anp.arcsin, a(0, 2), "arcsin", [(1,)], "from -1 to 1 alone"),
    (anp.arctanh, a(0, 1), "arctanh", [(1,)], "output[1] = inf"),
    (anp.arccosh, a(0.5, 2), "arccosh", [(0,)], "from 1 on"),
    (lambda x: x * 1e200, a(1, 1e200), "multiply", [(1,)], "x1[1] = 1e+200\n    x2 = 1e+200"),
    (lambda x: x + x, a(1, 1e308), "add", [(1,)], "output[1] = inf"),
    (lambda x: x @ x, a([1, 0], [0, 1e200]), "matmul", [(1, 1)], None),
    (lambda x: x @ a([1], [1e200]), a([1, 0], [0, 1e200]), "matmul", [(1, 0)], "x1[1, :] = [0.0, 1e+200]\n    x2[:, 0] = [1.0"),
    (lambda x: anp.sum(x, axis=1), a([1, 1], [1e308, 1e308]), "sum", [(1,)], "[1e+308, 1e+308]\n  attributes: axis=1\n"),
    (lambda x: x.sum(axis=0, keepdims=True), a([1, 1e308], [1, 1e308]), "sum", [(0, 1)], "a[:, 1] = [1e+308, 1e+308]"),
    (anp.prod, a(1e200, 1e200), "prod", [()], "output = inf, from\n    a = [1e+200, 1e+200]"),
    (anp.prod, np.full(9, 1e200), "prod", [()], "a of shape (9,): smallest 1e+200 at [0], largest 1e+200 at [0]"),
    (anp.cumsum, a(1e308, 1e308), "cumsum", [(1,)], "a = [1e+308, 1e+308]"),
    (anp.linalg.det, np.diag([1e200, 1e200]), "det", [()], "use slogdet"),
    (lambda x: anp.linalg.slogdet(x)[1], np.diag([1.0, 0.0]), "slogdet", [()], "(logabsdet) made 1 of 1"),
    (lambda x: x.astype(np.float32), a(1, 1e300), "astype", [(1,)], "stay with the wider dtype"),
    (lambda x: anp.stack([x, x * 1e300]), a(1, 1e300), "multiply", [(1,)], None),
    (anp.log, a(1, 0, dtype=complex), "log", [(1,)], "x[1] = 0j"),
    (anp.log, 0.0, "log", [()], "output = -inf, from\n    x = 0.0"),
    (lambda x: x // 0.0, a(1, 2), "floor_divide", [(0,), (1,)], "divided by 0"),
    (lambda x: anp.log(x + a(0, -INF)), a(0, 1), "log", [(0,)], "made 1 of 2 elements"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "x", "kernel", "places", "part"), FORWARD, ids=[f"{n}-{row[2]}" for n, row in enumerate(FORWARD)])
def test_forward(f, x, kernel, places, part):
    anomaly = found(gradient_of(f), x)
    assert (anomaly.kernel_name, anomaly.mode, anomaly.input_name) == (kernel, "forward", "")
    assert list(anomaly.indices) == places
    assert anomaly.text.startswith(f"forward: kernel {kernel!r} on backend 'numpy'")
    assert part is None or part in without_line(anomaly)


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:Degrees of freedom")
@pytest.mark.parametrize("f", [anp.mean, anp.var])
def test_statistics_of_nothing_are_not_a_number(f):
    anomaly = found(gradient_of(f), np.zeros(0))
    assert (anomaly.kernel_name, anomaly.indices) == (f.__name__, ((),))
    assert "there are too few elements" in anomaly.text


def test_the_first_few_of_many_are_shown():
    anomaly = found(gradient_of(anp.log), np.zeros(50))
    assert (anomaly.indices, anomaly.count) == (((0,), (1,), (2,)), 50)
    assert "made 50 of 50 elements" in anomaly.text
    assert "... and 47 more" in anomaly.text


def test_what_several_elements_are_made_of_is_shown_once():
    text = found(gradient_of(anp.cumsum), a(1e308, 1e308, 1e308)).text
    assert "output[1] = inf\n  output[2] = inf, from\n    a = [1e+308, 1e+308, 1e+308]\n" in text


def test_a_whole_message():
    def loss(x):
        return anp.sum(anp.log(x))  # here

    line = loss.__code__.co_firstlineno + 1
    assert found(grad(loss), a(1, 0)).text.splitlines() == [
        "forward: kernel 'log' on backend 'numpy' made 1 of 2 elements not finite, out of finite input",
        "  output[1] = -inf, from",
        "    x[1] = 0.0",
        f"  recorded at {__file__}:{line}: return anp.sum(anp.log(x))  # here",
        "  next step: log is -inf at 0 and undefined below: clip(x, smallest, None) first, or use log1p(x) for log(1 +",
        "    x), xlogy(a, x) for a * log(x), logsumexp or log_softmax for the log of a sum of exponentials; where()",
        "    computes both of its branches: choose the argument first, log(where(mask, x, 1.0)), then the result",
        "  where this is meant to happen, detect_anomaly(forward=False) looks at gradients alone",
    ]


# -------------------------------------------------------------------------------------------------- backward


@custom_gradient
def halved(x):
    return x / 2, lambda dy: dy / (x - x)


rooted = primitive(anp.sqrt)
defvjp(rooted, lambda ans, x: lambda g: g * grad(anp.sqrt)(x))

cubed = primitive(lambda x: x**3)
defvjp(cubed, lambda ans, x: lambda g: g * x**2 / 0.0)

BACKWARD = [
    # function, argument, kernel, input, first elements of its gradient that are not finite, part of the message
    (anp.sqrt, a(1, 0), "sqrt", "x", [(1,)], "x[1] = inf, from\n    dy[1] = 1.0\n    x[1] = 0.0\n    output[1] = 0.0"),
    (anp.cbrt, a(1, 0), "cbrt", "x", [(1,)], "slope of a root is infinite at 0"),
    (lambda x: x**0.5, a(0, 1), "power", "x1", [(0,)], "x1[0] = 0.0\n    x2 = 0.5"),
    (lambda x: a(-2, 1) ** x, a(2, 2), "power", "x2", [(0,)], "gradient of x2[0] = nan"),
    (anp.arcsin, a(0, 1), "arcsin", "x", [(1,)], "clip the argument a little inside"),
    (anp.arccosh, a(2, 1), "arccosh", "x", [(1,)], "infinite at 1"),
    (lambda x: (x * 1e200) * 1e200, a(0, 0), "multiply", "x1", [(0,), (1,)], "dy[0] = 1e+200\n    x1[0] = 0.0\n    x2 = 1e+200"),
    (lambda x: anp.matmul(a([1e200, 0]), x) * 1e200, a([0], [0]), "matmul", "x2", [(0, 0)], "gradient of x2[0, 0] = inf"),
    (lambda x: anp.sqrt(x + a(0, 1, 2)), 0.0, "sqrt", "x", [(0,)], "made 1 of 3 elements"),
    (lambda x: x * a(1e308, 1e308), 0.0, "multiply", "x1", [()], "backward: the sum over broadcast axes, or cast to float64"),
    (lambda x: x * 1e308 + x * 1e308, 0.0, "multiply", "x1", [()], "backward: the sum with other gradients"),
    (lambda x: anp.stack([x, x])[1] ** 0.5, a(0, 1), "power", "x1", [(0,)], None),
    (halved, 2.0, "custom_gradient", "inputs[0]", [()], "look at its value and at the gradient that it returns"),
    (cubed, 2.0, "primitive", "inputs[0]", [()], "(function <lambda>)"),
    (rooted, 0.0, "sqrt", "x", [()], None),
    (checkpoint(lambda x: anp.sqrt(x) * 2), a(1, 0), "sqrt", "x", [(1,)], None),
    (lambda x: anp.sqrt(x.astype(complex)), a(1, 0), "sqrt", "x", [(1,)], None),
]  # fmt: skip
NAMES = [f"{n}-{row[2]}" for n, row in enumerate(BACKWARD)]


@pytest.mark.parametrize(("f", "x", "kernel", "name", "places", "part"), BACKWARD, ids=NAMES)
def test_backward(f, x, kernel, name, places, part):
    anomaly = found(gradient_of(f), x)
    assert (anomaly.kernel_name, anomaly.mode, anomaly.input_name) == (kernel, "backward", name)
    assert list(anomaly.indices) == places
    assert anomaly.text.startswith("backward: ")
    assert part is None or part in without_line(anomaly)


@pytest.mark.parametrize(
    ("f", "x", "kernel", "name"),
    [(anp.log, a(0, 1), "log", "x"), (lambda x: 1 / x, a(0, 1), "divide", "x2"), (anp.exp, a(1, 1000), "exp", "x")],
)
def test_the_way_back_alone(f, x, kernel, name):
    anomaly = found(gradient_of(f), x, forward=False)
    assert (anomaly.kernel_name, anomaly.mode, anomaly.input_name) == (kernel, "backward", name)


def test_a_gradient_cast_to_the_dtype_of_its_input(fake):
    widened = fake(
        "fake_widened(Tensor x) -> Tensor", lambda x: np.asarray(x, float), lambda dy, s, at: {"x": lambda: dy}, elementwise=True
    )
    anomaly = found(grad(lambda x: op.sum(widened(x) * 1e300)), np.zeros(2, np.float32))
    assert (anomaly.kernel_name, anomaly.count) == ("fake_widened", 2)
    assert "cast to float32" in anomaly.text


def test_the_anomaly_that_reaches_the_gradient_is_told_of():
    def f(x):
        dropped = anp.sum(anp.sqrt(anp.where(x > 0, x, 0.0)))  # its infinite slope stops at where
        return dropped + anp.sum(anp.cbrt(x - 1))

    anomaly = found(grad(f), a(-1, 1))
    assert (anomaly.kernel_name, anomaly.indices) == ("cbrt", ((1,),))


def test_a_jacobian_names_its_row():
    anomaly = found(jacobian(lambda x: anp.sqrt(x[::-1])), a(1, 4, 0))
    assert (anomaly.kernel_name, anomaly.indices, anomaly.count) == ("sqrt", ((0,),), 1)  # 0 comes first, backwards
    assert "gradient of x[0] in row [0] = inf, from\n    dy[0, 0] = 1.0\n    x[0] = 0.0" in anomaly.text


def test_a_second_derivative_names_the_rule_that_recorded_it():
    # x**1.5 has the slope 1.5 x**0.5, whose own slope is infinite at 0
    anomaly = found(grad(grad(lambda x: x**1.5)), 0.0)
    assert (anomaly.kernel_name, anomaly.mode, anomaly.input_name) == ("power", "backward", "x1")
    assert anomaly.source_line.startswith(f"{__file__}:")
    assert anomaly.source_line.endswith("(backward of 'power')")


def test_an_inner_gradient_is_found_where_it_is_taken():
    anomaly = found(grad(lambda x: x * grad(anp.sqrt)(x)), 0.0)
    assert (anomaly.kernel_name, anomaly.mode) == ("sqrt", "backward")
    assert not anomaly.source_line.endswith("(backward of 'sqrt')")


@pytest.mark.parametrize(
    ("f", "x", "kernel", "places"),
    [
        (anp.sqrt, a(1, 0), "sqrt", ((1,),)),
        (lambda x: (x * 1e200) * 1e200, a(0, 0), "multiply", ((0,), (1,))),
        (lambda x: anp.sum(anp.cbrt(x)), a(1, 0), "cbrt", ((1,),)),
        (lambda x: anp.log(x), a(1, 5e-324), "log", ((1,),)),
    ],
)
def test_forward_mode(f, x, kernel, places):
    anomaly = found(jvp, f, (x,), (np.ones(2),))
    assert (anomaly.kernel_name, anomaly.mode, anomaly.indices) == (kernel, "forward mode", places)


def test_a_rule_that_cannot_take_what_is_not_finite(fake):
    def strict(dy, saved, attrs):
        if not np.isfinite(dy).all():
            raise ValueError("array must not contain infs or NaNs")
        return {"x": lambda: dy}

    same = fake("fake_same(Tensor x) -> Tensor", lambda x: x * 1, strict)
    with detect_anomaly(), pytest.raises(AnomalyError) as caught:
        grad(lambda x: op.sum(op.sqrt(same(x))))(a(0, 1))
    assert caught.value.anomaly.kernel_name == "sqrt"
    assert type(caught.value.__cause__) is ValueError


def test_an_error_that_says_why_is_left_alone(fake):
    def refusing(dy, saved, attrs):
        raise GradientError("write it otherwise")

    same = fake("fake_refusing(Tensor x) -> Tensor", lambda x: x * 1, refusing)
    with detect_anomaly(), pytest.raises(GradientError, match="write it otherwise"):
        grad(lambda x: op.sum(op.sqrt(same(x))))(a(0, 1))


# -------------------------------------------------------------------------------------------------- no false alarm


@custom_gradient
def safe_root(x):
    y = anp.sqrt(x)
    return y, lambda dy: dy * anp.where(y > 0, 0.5 / anp.where(y > 0, y, 1.0), 0.0)


MASK = a(0, -INF, 0)

FINE = [
    (lambda x: anp.where(x > 0, anp.sqrt(anp.maximum(x, 0.0)), x), a(1, 0, -2)),  # strong zeros
    (lambda x: anp.where(x >= 0, x, anp.sqrt(x * x - x)), a(0, 1, 2)),
    (lambda x: anp.sqrt(anp.where(x > 0, x, 0.0)), a(1, -1, 2)),  # where drops the infinite slope
    (lambda x: anp.linalg.norm(x) ** 2, a(0, 0, 0)),
    (lambda x: x * anp.sqrt(x), a(0, 1, 2)),
    (lambda x: anp.exp(x + MASK), a(1, 2, 3)),  # not finite from the start
    (lambda x: x * a(INF, 1, 1), a(1, 2, 3)),
    (lambda x: anp.exp(anp.where(x > 1, x, -INF)), a(1, 2, 3)),
    (lambda x: anp.max(x, initial=-INF), a(1, 2, 3)),
    (lambda x: anp.max(anp.pad(x, 1, constant_values=-INF)), a(1, 2, 3)),
    (lambda x: anp.linalg.norm(x, INF), a(1, -2, 3)),
    (lambda x: anp.linalg.norm(x, -INF), a(1, -2, 3)),
    (lambda x: anp.maximum(x, -INF), a(1, 2, 3)),
    (lambda x: anp.log(x), a(1, INF, 3)),
    (lambda x: anp.log(x), a(1, np.nan, 3)),
    (lambda x: anp.isnan(x / 0.0 if False else x) * x, a(1, 2, 3)),
    (lambda x: anp.argmax(x) * x, a(1, 2, 3)),
    (lambda x: anp.sum(x), np.zeros(0)),
    (lambda x: op.logsumexp(x, axis=-1), np.zeros((2, 0))),
    (lambda x: anp.exp(x), np.zeros((0, 3))),
    (lambda x: x[2] * x, a(1, 2, 3)),
    (lambda x: x * np.conj(x), a(1 + 2j, 0, 3, dtype=complex)),
    (lambda x: anp.abs(x), a(0, 1, 2, dtype=complex)),
    (safe_root, a(0, 1, 4)),
    (checkpoint(lambda x: anp.where(x > 0, anp.sqrt(anp.maximum(x, 0.0)), x)), a(1, 0, -2)),
    (checkpoint(lambda x: anp.exp(x + MASK)), a(1, 2, 3)),
    (lambda x: checkpoint(anp.sqrt)(anp.where(x > 0, x, 0.0)), a(1, -1, 2)),
    (primitive(lambda x, mask: x + mask), None),
    (lambda x: stop_gradient(anp.sqrt(x)) * x, a(0, 1, 2)),
    (lambda x: anp.linalg.svd(x)[1], np.ones((2, 2))),
    (lambda x: anp.exp(-x) / (1 + anp.exp(-x)), a(700, 0, -700)),
]


@pytest.mark.parametrize(("f", "x"), FINE, ids=[str(n) for n in range(len(FINE))])
def test_no_false_alarm(f, x):
    if x is None:
        defvjp(f, lambda ans, x, mask: lambda g: g, None)
        f, x = (lambda x, masked=f: anp.exp(masked(x, MASK))), a(1, 2, 3)
    with np.errstate(all="ignore"):
        expected = gradient_of(f)(x)
        with detect_anomaly():
            np.testing.assert_array_equal(gradient_of(f)(x), expected)


def test_a_nan_forward_that_where_drops_is_found_unless_gradients_alone_count():
    f = gradient_of(lambda x: anp.where(x > 0, anp.sqrt(x), x))
    assert found(f, a(4, -1)).kernel_name == "sqrt"
    with np.errstate(all="ignore"), detect_anomaly(forward=False):
        np.testing.assert_array_equal(f(a(4, -1)), [0.25, 1])


def test_derivatives_of_any_kind_stay_what_they_are():
    def f(x):
        return anp.sum(x * anp.exp(x)) + anp.prod(x[1:])

    x = a(0, 1, 2)
    with detect_anomaly():
        # (2 + x) exp(x) on the diagonal, also where the first derivative passes a cotangent of 0; x1 x2 beside it
        expected = np.diag((2 + x) * np.exp(x))
        expected[1, 2] = expected[2, 1] = 1
        np.testing.assert_allclose(hessian(f)(x), expected)
        np.testing.assert_allclose(jacobian(grad(f))(x), expected)
        np.testing.assert_allclose(jvp(grad(f), (x,), (a(1, 0, 0),))[1], expected[0])
        np.testing.assert_allclose(jvp(checkpoint(f), (x,), (a(1, 0, 0),))[1], 1.0)


@pytest.mark.parametrize("block", [nullcontext, detect_anomaly])
def test_a_tangent_that_a_slope_of_zero_annihilates(block):
    with block():
        assert jvp(lambda x: anp.cbrt(x) ** 2.0, (0.0,), (1.0,))[1] == 0
        # x**2 + y, whose y is the square of a root with an infinite slope: the curvature in x, at its slope of 0, stays 2
        slope = grad(lambda x: jvp(lambda x, y: op.sum(op.square(op.stack([x, op.sqrt(y)]))), (x, 0.0), (1.0, 1.0))[1])
        assert slope(0.0) == 2


@given(st.lists(st.floats(0.1, 3), min_size=1, max_size=5), st.lists(st.sampled_from("elsdpmn"), max_size=8))
def test_programs_that_are_finite_run_on(values, steps):
    kinds = {
        "e": lambda x: anp.exp(-x),
        "l": lambda x: anp.log(x * x + 0.1),
        "s": lambda x: anp.sqrt(x * x + 0.1),
        "d": lambda x: x / (1 + x * x),
        "p": lambda x: (x * x + 0.1) ** 0.7,
        "m": lambda x: x - anp.max(x),
        "n": lambda x: anp.where(x > 0.5, anp.log(anp.where(x > 0.5, x, 1.0)), x),
    }

    def f(x):
        for each in steps:
            x = kinds[each](x)
        return x

    x = np.array(values)
    expected = gradient_of(f)(x)
    with detect_anomaly():
        np.testing.assert_array_equal(gradient_of(f)(x), expected)
