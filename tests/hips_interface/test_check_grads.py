"""``autograd.test_util``: what is right passes, what is wrong is found, in both modes and at every order."""

from __future__ import annotations

import numpy as onp
import pytest

import autograd.numpy as np
from autograd import GradientError
from autograd.extend import defjvp, defvjp, getval, primitive
from autograd.test_util import (
    check_equivalent,
    check_grads,
    check_jvp,
    check_vjp,
    combo_check,
    make_numerical_jvp,
    scalar_close,
)

X = onp.array([0.3, 1.2, -0.7])
MODES = [["rev"], ["fwd"], ["fwd", "rev"]]


def cube(vjp=lambda g, x: g * 3 * x**2, jvp=lambda g, x: g * 3 * x**2):
    """A primitive for the cube with rules of one's choice."""
    function = primitive(lambda x: x**3)
    defvjp(function, lambda ans, x: lambda g: vjp(g, x))
    defjvp(function, lambda g, ans, x: jvp(g, x))
    return function


def stop(x):
    """Cuts the second derivative off: a constant of the right value."""
    from autograd import stop_gradient

    return stop_gradient(x)


RIGHT = [
    (np.sin, (X,)),
    (np.sum, (onp.ones((2, 3)),)),
    (lambda x: x["a"] * np.sin(x["b"][0]), ({"a": 2.0, "b": [X]},)),
    (lambda x: [x * x, np.exp(x)], (X,)),
    (lambda z: z * z, (onp.array([1.0 + 2.0j]),)),
    (lambda z: np.real(z) * np.imag(z), (1.0 + 2.0j,)),
    (np.exp, (onp.array([0.3], "float32"),)),
    (cube(), (X,)),
    (lambda x: 1e-9 * np.sin(x), (X,)),
]


@pytest.mark.parametrize("modes", MODES)
@pytest.mark.parametrize(("f", "args"), RIGHT)
def test_right_derivatives_pass(f, args, modes):
    check_grads(f, modes=modes, order=2)(*args)


WRONG = [
    # what is wrong, the function, the modes that see it, from which order
    ("factor", cube(lambda g, x: g * 2 * x**2, lambda g, x: g * 2 * x**2), ["fwd", "rev"], 1),
    (
        "one element",
        cube(lambda g, x: g * (3 * x**2 + [0, 0, 1e-3]), lambda g, x: g * (3 * x**2 + [0, 0, 1e-3])),
        ["fwd", "rev"],
        1,
    ),
    ("reverse alone", cube(vjp=lambda g, x: g * 2 * x**2), ["rev"], 1),
    ("forward alone", cube(jvp=lambda g, x: g * 2 * x**2), ["fwd"], 1),
    ("not a number", cube(lambda g, x: g * np.nan, lambda g, x: g * np.nan), ["fwd", "rev"], 1),
    ("second order", cube(lambda g, x: g * stop(3 * x**2), lambda g, x: g * stop(3 * x**2)), ["fwd", "rev"], 2),
    ("a small function", lambda x: 1e-9 * cube(lambda g, x: g * 2 * x**2, lambda g, x: g * 2 * x**2)(x), ["fwd", "rev"], 1),
]


@pytest.mark.parametrize("mode", ["fwd", "rev"])
@pytest.mark.parametrize(("f", "seen_by", "order"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_wrong_derivatives_are_found(f, seen_by, order, mode):
    if order > 1:
        check_grads(f, modes=[mode], order=1)(X)
    if mode in seen_by:
        with pytest.raises(AssertionError, match=r"wrong|different|gradient"):
            check_grads(f, modes=[mode], order=order)(X)
        with pytest.raises(GradientError):
            check_grads(f, modes=[mode], order=order)(X)
    else:
        check_grads(f, modes=[mode], order=1)(X)


@pytest.mark.parametrize(("f", "order"), [(row[1], row[3]) for row in WRONG], ids=[row[0] for row in WRONG])
def test_a_derivative_wrong_in_one_mode_is_found_by_both(f, order):
    with pytest.raises(AssertionError):
        check_grads(f, order=order)(X)


def test_a_wrong_mixed_derivative_is_found():
    """Right in each mode alone, but the rule of reverse mode loses its own derivative."""
    f = cube(vjp=lambda g, x: g * stop(3 * x**2))
    check_grads(f, modes=["fwd", "rev"], order=1)(X)
    with pytest.raises(AssertionError):
        check_grads(f, modes=["fwd", "rev"], order=2)(X)


def test_several_arguments():
    check_grads(lambda x, k, y: k * x * np.sin(y), (0, 2))(X, 2, X + 1.0)
    wrong = primitive(lambda x, y: x * y)
    defvjp(wrong, lambda ans, x, y: lambda g: g * y, lambda ans, x, y: lambda g: g * (x + 0.1))
    check_grads(wrong, 0, modes=["rev"], order=1)(2.0, 3.0)
    with pytest.raises(AssertionError):
        check_grads(wrong, (0, 1), modes=["rev"], order=1)(2.0, 3.0)


def test_each_check_alone():
    check_vjp(np.sin, X)
    check_jvp(np.sin, X)
    with pytest.raises(AssertionError, match="reverse mode"):
        check_vjp(cube(vjp=lambda g, x: g), X)
    with pytest.raises(AssertionError, match="forward mode"):
        check_jvp(cube(jvp=lambda g, x: g), X)


def test_options_are_checked():
    for options in ({"modes": ["back"]}, {"modes": []}, {"order": 0}):
        with pytest.raises(GradientError, match="check_grads"):
            check_grads(np.sin, **options)(1.0)


def test_combinations():
    seen = []

    def f(x, y, axis=None):
        seen.append((float(getval(np.sum(x))), axis))
        return np.sum(x * y, axis=axis)

    ones = onp.ones((2, 2))
    combo_check(f, (0, 1), order=1)([ones, 2 * ones], [ones], axis=[None, 0])
    assert {(4.0, None), (4.0, 0), (8.0, None), (8.0, 0)} <= set(seen)
    with pytest.raises(AssertionError):
        combo_check(lambda x, k: cube(vjp=lambda g, x: g * k * x**2)(x), order=1)([X], [3, 2])


def test_numerical_jvp():
    onp.testing.assert_allclose(make_numerical_jvp(np.sin, X)(onp.ones(3)), onp.cos(X), rtol=1e-8)
    assert make_numerical_jvp(lambda d: {"y": d["x"] ** 2}, {"x": 3.0})({"x": 1.0})["y"] == pytest.approx(6.0)


def test_equivalence():
    check_equivalent([X, 1.0], [X + 1e-9, 1.0])
    for other in (X + 1e-3, X.astype("float32"), list(X), X * onp.nan):
        with pytest.raises(AssertionError):
            check_equivalent(X, other)
    assert scalar_close(1e9, 1e9 + 1)
    assert not scalar_close(1.0, 1.00001)
    assert not scalar_close(onp.nan, 1.0)
