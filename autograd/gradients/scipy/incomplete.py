"""Gradients of incomplete gamma and beta functions, Student's distribution function, and the inverses of these.

In the argument the derivative is the density. In the parameters it is an operator of its own (``gammainc_derivative``, ...), with
an order: in a parameter the next order follows, and in the argument the derivative of the density in the parameters, so there
are derivatives of any order. The inverses follow by the implicit function theorem.
"""

import math
from functools import partial
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.tensor import innermost_value
from registry.gradients import gradient
from registry.numpy_backend.scipy import special as _needed  # noqa: F401  # the operators come first
from registry.numpy_backend.scipy.densities import density_ratio
from registry.numpy_backend.scipy.incomplete import STIRLING_FROM, log_t_derivative, stirling_derivative


def _polygamma(n, x):
    return op.psi(x) if n == 0 else op.scipy_polygamma(x, n=n)


def _inside(mask, x, otherwise):
    """``x``, with a harmless number where the mask says no."""
    return x if mask.all() else op.where(mask, x, otherwise)


def _moved(change, density, x, ends):
    """How far a quantile moves to make up for a change of the probability: not at all from an end of the support."""
    plain = np.asarray(innermost_value(x))
    inside = (plain != ends[0]) & (plain != ends[1])
    moved = op.divide(change, _inside(inside, density, 1.0))
    return moved if inside.all() else op.where(inside, moved, 0.0)


# -------------------------------------------------------------------------------------------------- gamma


def gamma_density(a: Any, x: Any) -> Any:
    """``x ** (a - 1) * exp(-x) / gamma(a)``, by logarithms but for 0, where the power has the right derivatives."""
    plain = innermost_value(x)
    inside = (np.asarray(plain) > 0) & (plain < np.inf)
    t = _inside(inside, x, 1.0)
    density = op.exp(op.subtract(op.multiply(op.subtract(a, 1.0), op.log(t)), op.add(t, op.gammaln(a))))
    if inside.all():
        return density
    zero = np.equal(plain, 0)
    at = op.where(zero, x, 1.0)
    edge = op.multiply(op.multiply(op.power(at, op.subtract(a, 1.0)), op.exp(-at)), op.rgamma(a))
    return op.where(inside, density, op.where(zero, edge, op.where(np.isnan(plain), np.nan, 0.0)))


def _gamma_ratio(a, x, order):
    """The derivative of the density in ``a``, divided by the density; at 0, where it has a limit, that is 0."""
    inside = np.asarray(innermost_value(x)) > 0
    centred = op.subtract(op.log(_inside(inside, x, 1.0)), op.psi(a))
    ratio = density_ratio(lambda k, _: centred if k == 1 else -_polygamma(k - 1, a), order)
    return ratio if inside.all() else op.where(inside, ratio, 0.0)


@gradient("gammainc", inputs_to_save=("a", "x"), elementwise=True)
def gammainc(dy, saved, attrs):
    a, x = saved
    return {"a": lambda: dy * op.gammainc_derivative(a, x, order=1), "x": lambda: dy * gamma_density(a, x)}


@gradient("gammaincc", inputs_to_save=("a", "x"), elementwise=True)
def gammaincc(dy, saved, attrs):
    a, x = saved
    return {"a": lambda: -(dy * op.gammainc_derivative(a, x, order=1)), "x": lambda: -(dy * gamma_density(a, x))}


@gradient("gammainc_derivative", inputs_to_save=("a", "x"), elementwise=True)
def gammainc_derivative(dy, saved, attrs):
    (a, x), order = saved, attrs["order"]
    return {
        "a": lambda: dy * op.gammainc_derivative(a, x, order=order + 1),
        "x": lambda: dy * (gamma_density(a, x) * _gamma_ratio(a, x, order)),
    }


@gradient("gammaincinv", inputs_to_save=("a",), outputs_to_save=True, elementwise=True)
def gammaincinv(dy, saved, attrs):
    a, x = saved
    return {
        "a": lambda: -(dy * _moved(op.gammainc_derivative(a, x, order=1), gamma_density(a, x), x, (0.0, np.inf))),
        "y": lambda: op.divide(dy, gamma_density(a, x)),
    }


@gradient("gammainccinv", inputs_to_save=("a",), outputs_to_save=True, elementwise=True)
def gammainccinv(dy, saved, attrs):
    a, x = saved
    return {
        "a": lambda: -(dy * _moved(op.gammainc_derivative(a, x, order=1), gamma_density(a, x), x, (0.0, np.inf))),
        "y": lambda: -(op.divide(dy, gamma_density(a, x))),
    }


# -------------------------------------------------------------------------------------------------- beta


def beta_density(a: Any, b: Any, x: Any) -> Any:
    """``x ** (a - 1) * (1 - x) ** (b - 1) / beta(a, b)``, by logarithms but for 0 and 1, where the powers are right."""
    plain = np.asarray(innermost_value(x))
    edge = (plain == 0) | (plain == 1)
    t = _inside(~edge, x, 0.5)
    logarithm = op.add(op.multiply(op.subtract(a, 1.0), op.log(t)), op.multiply(op.subtract(b, 1.0), op.log1p(-t)))
    density = op.exp(op.subtract(logarithm, op.betaln(a, b)))
    if not edge.any():
        return density
    at = op.where(edge, x, 0.5)
    powers = op.multiply(op.power(at, op.subtract(a, 1.0)), op.power(op.subtract(1.0, at), op.subtract(b, 1.0)))
    return op.where(edge, op.divide(powers, op.beta(a, b)), density)


def _beta_ratio(a, b, x, i, j):
    """The derivative of the density of order ``i`` in ``a`` and ``j`` in ``b``, divided by the density."""
    plain = np.asarray(innermost_value(x))
    inside = (plain > 0) & (plain < 1)
    t = _inside(inside, x, 0.5)
    both = op.add(a, b)

    def log_derivative(k, m):
        common = _polygamma(k + m - 1, both)
        if k and m:
            return common
        if k:
            own = op.subtract(common, _polygamma(k - 1, a))
            return op.add(own, op.log(t)) if k == 1 else own
        own = op.subtract(common, _polygamma(m - 1, b))
        return op.add(own, op.log1p(-t)) if m == 1 else own

    ratio = density_ratio(log_derivative, i, j)
    return ratio if inside.all() else op.where(inside, ratio, 0.0)


@gradient("betainc", inputs_to_save=("a", "b", "x"), elementwise=True)
def betainc(dy, saved, attrs):
    a, b, x = saved
    return {
        "a": lambda: dy * op.betainc_derivative(a, b, x, order_a=1, order_b=0),
        "b": lambda: dy * op.betainc_derivative(a, b, x, order_a=0, order_b=1),
        "x": lambda: dy * beta_density(a, b, x),
    }


@gradient("betaincc", inputs_to_save=("a", "b", "x"), elementwise=True)
def betaincc(dy, saved, attrs):
    a, b, x = saved
    return {
        "a": lambda: -(dy * op.betainc_derivative(a, b, x, order_a=1, order_b=0)),
        "b": lambda: -(dy * op.betainc_derivative(a, b, x, order_a=0, order_b=1)),
        "x": lambda: -(dy * beta_density(a, b, x)),
    }


@gradient("betainc_derivative", inputs_to_save=("a", "b", "x"), elementwise=True)
def betainc_derivative(dy, saved, attrs):
    (a, b, x), i, j = saved, attrs["order_a"], attrs["order_b"]
    return {
        "a": lambda: dy * op.betainc_derivative(a, b, x, order_a=i + 1, order_b=j),
        "b": lambda: dy * op.betainc_derivative(a, b, x, order_a=i, order_b=j + 1),
        "x": lambda: dy * (beta_density(a, b, x) * _beta_ratio(a, b, x, i, j)),
    }


def _beta_inverse(dy, a, b, x, sign):
    """The inverse of ``betainc`` for ``sign`` 1, of ``betaincc`` for -1: the parameters move it the same way."""

    def in_parameter(i, j):
        derivative, ends = partial(op.betainc_derivative, a, b, x, order_a=i, order_b=j), (0.0, 1.0)
        return lambda: -(dy * _moved(derivative(), beta_density(a, b, x), x, ends))

    return {"a": in_parameter(1, 0), "b": in_parameter(0, 1), "y": lambda: sign * (op.divide(dy, beta_density(a, b, x)))}


@gradient("betaincinv", inputs_to_save=("a", "b"), outputs_to_save=True, elementwise=True)
def betaincinv(dy, saved, attrs):
    a, b, x = saved
    return _beta_inverse(dy, a, b, x, 1.0)


@gradient("betainccinv", inputs_to_save=("a", "b"), outputs_to_save=True, elementwise=True)
def betainccinv(dy, saved, attrs):
    a, b, x = saved
    return _beta_inverse(dy, a, b, x, -1.0)


# -------------------------------------------------------------------------------------------------- Student's t


def _t_growth(df, t):
    return op.log1p(op.divide(op.square(t), df))


def t_density(df: Any, t: Any) -> Any:
    """``(1 + t ** 2 / df) ** (-(df + 1) / 2) / (sqrt(df) * beta(df / 2, 1 / 2))``."""
    exponent = op.multiply(op.multiply(op.add(df, 1.0), -0.5), _t_growth(df, t))
    return op.exp(op.subtract(exponent, t_spread(df)))


def t_spread(df: Any) -> Any:
    """``log(sqrt(df) * beta(df / 2, 1 / 2))``, by a series where the derivatives of its terms cancel."""
    return _by_size(
        df,
        lambda n: op.add(op.betaln(op.divide(n, 2.0), 0.5), op.multiply(op.log(n), 0.5)),
        lambda n: op.subtract(0.5 * math.log(2.0 * math.pi), stirling_derivative(0, n)),
    )


def _by_size(df, of_few, of_many):
    many = np.asarray(innermost_value(df)) > STIRLING_FROM
    if many.all():
        return of_many(df)
    few = of_few(_inside(~many, df, 1.0))
    return op.where(many, of_many(_inside(many, df, STIRLING_FROM)), few) if many.any() else few


def _t_ratio(df, t, order):
    growth = _t_growth(df, t)

    def log_derivative(k, _):
        of_gammas = _by_size(df, partial(of_few, k), partial(stirling_derivative, k))
        return log_t_derivative(k, df, growth, of_gammas, op.expm1)

    def of_few(k, n):
        halves = op.subtract(_polygamma(k - 1, op.divide(op.add(n, 1.0), 2.0)), _polygamma(k - 1, op.divide(n, 2.0)))
        root = (-1.0) ** k * math.factorial(k - 1) / 2.0
        return op.add(op.divide(halves, 2.0**k), op.divide(root, op.power(n, float(k))))

    return density_ratio(log_derivative, order)


@gradient("stdtr", inputs_to_save=("df", "t"), elementwise=True)
def stdtr(dy, saved, attrs):
    df, t = saved
    return {"df": lambda: dy * op.stdtr_derivative(df, t, order=1), "t": lambda: dy * t_density(df, t)}


@gradient("stdtr_derivative", inputs_to_save=("df", "t"), elementwise=True)
def stdtr_derivative(dy, saved, attrs):
    (df, t), order = saved, attrs["order"]
    return {
        "df": lambda: dy * op.stdtr_derivative(df, t, order=order + 1),
        "t": lambda: dy * (t_density(df, t) * _t_ratio(df, t, order)),
    }


@gradient("stdtrit", inputs_to_save=("df",), outputs_to_save=True, elementwise=True)
def stdtrit(dy, saved, attrs):
    df, t = saved
    return {
        "df": lambda: -(dy * _moved(op.stdtr_derivative(df, t, order=1), t_density(df, t), t, (-np.inf, np.inf))),
        "p": lambda: op.divide(dy, t_density(df, t)),
    }
