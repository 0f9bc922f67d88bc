"""Bessel functions: the table of rules, points where formulas break down, and orders, in which there is no gradient."""

import math

import numpy as np
import pytest

from autograd import Tape, elementwise_grad, errors, grad, jvp

pytest.importorskip("scipy", reason="SciPy is not installed: pip install 'gradtape[scipy]'")

import scipy.special

from autograd.scipy import special
from tests.gradients.harness import each_case
from tests.gradients.scipy_functions.cases import scipy_case

RIGHT = (0.5, 1.5)
LEFT = (-1.5, -0.4)


def one(name, **fields):
    return scipy_case(f"special.{name}", domain=fields.pop("domain", (0.4, 5)), **fields)


def of_order(name, order, **fields):
    if name == "yn":  # SciPy computes it in double precision for a whole order
        fields["dtypes"] = ("float64",)
    return scipy_case(f"special.{name}", 1, order, domain=fields.pop("domain", (0.4, 4)), **fields)


CASES = [
    *[one(name, domain=(-4, 5)) for name in ("j0", "j1", "i0", "i1")],
    *[one(name, domain=domain) for name in ("i0e", "i1e") for domain in ((0.3, 5), (-5, -0.3))],
    *[one(name) for name in ("y0", "y1", "k0", "k1", "k0e", "k1e")],
    *[of_order(name, order, complex_domain=RIGHT)
      for name in ("jv", "jn", "yv", "iv", "ive", "kv", "kve") for order in (0, 1.5, 3)],
    of_order("ive", 2, domain=(-3, -0.4), complex_domain=LEFT, label="negative"),
    *[of_order("yn", order) for order in (0, 2)],
    scipy_case("special.iv", 1, np.array([0.0, 1.0, 2.5]), domain=(0.4, 4), shapes=[((2, 3),), ((2, 1),), ((),)], label="orders"),
]  # fmt: skip


@each_case(CASES)
def test_rule(case, check):
    check(case)


AT_ZERO = [
    # function, derivative at 0
    (special.j0, 0),
    (special.j1, 0.5),
    (special.i0, 0),
    (special.i1, 0.5),
    (lambda x: special.jv(2, x), 0),
    (lambda x: special.iv(1, x), 0.5),
    (special.i0e, 0),  # a kink: the mean of -1 and 1
    (special.i1e, 0.5),
    (special.y0, math.inf),
    (special.k0, -math.inf),
]


@pytest.mark.parametrize(("function", "slope"), AT_ZERO)
def test_at_zero(function, slope):
    assert grad(function)(0.0) == slope


def test_far_away():
    # iv(v, x) exp(-x) is about 1 / sqrt(2 pi x), with derivative -1 / (2 x) of itself; iv alone overflows
    x = 1e4
    for function in (special.i0e, lambda x: special.ive(0, x)):
        assert grad(function)(x) == pytest.approx(-0.5 / x / math.sqrt(2 * math.pi * x), rel=1e-3)
    assert grad(special.k1)(1e4) == 0
    assert grad(special.i0)(1e4) == math.inf


@pytest.mark.parametrize("name", ["jv", "yv", "iv", "ive", "kv", "kve", "yn"])
def test_an_order_has_no_gradient(name):
    function = getattr(special, name)
    order = 2.0 if name == "yn" else 1.5
    argument = "'n'" if name == "yn" else "'v'"
    with pytest.raises(errors.NotTrackedError, match=rf"{name}: .*order {argument}"):
        grad(lambda v: function(v, 2.0))(order)
    with pytest.raises(errors.NotTrackedError, match=rf"{name}: .*order"):
        jvp(lambda v: function(v, 2.0), (order,), (1.0,))
    with pytest.raises(errors.NotTrackedError, match=rf"{name}: .*order"):
        grad(lambda v: getattr(scipy.special, name)(v, 2.0))(order)
    with Tape() as tape:  # a tensor that gives the order is no harm where its gradient is not asked for
        v, x = tape.watch(2.0), tape.watch(1.5)
        y = function(v, x)
    assert tape.gradient(y, x) == pytest.approx(grad(lambda x: function(2.0, x))(1.5))


def test_a_fractional_order_of_yn():
    with Tape() as tape, pytest.raises(ValueError, match=r"yn: got the order 1\.5, expected whole numbers; use yv"):
        special.yn(1.5, tape.watch(2.0))
    with pytest.warns(RuntimeWarning, match="truncated"):  # SciPy's own way
        assert special.yn(1.5, 2.0) == scipy.special.yn(1, 2.0)


def test_the_equation_of_bessel():
    # x**2 f'' + x f' + (x**2 - v**2) f = 0, with derivatives of both orders from here
    x, v = np.linspace(0.5, 9, 7), 1.3
    for function in (special.jv, special.yv):
        f, df, ddf = (lambda x: function(v, x)), None, None  # noqa: B023
        df = elementwise_grad(f)
        ddf = elementwise_grad(df)
        np.testing.assert_allclose(x**2 * ddf(x) + x * df(x) + (x**2 - v**2) * f(x), 0, atol=1e-11)
