"""Errors of derived observables, fits, matrices, roots and integrals by ``pyerrors``, which propagates them by gradients."""

from __future__ import annotations

import numpy
import pyerrors
import scipy.optimize
import scipy.special

import autograd.numpy as np

RANDOM = numpy.random.default_rng(3)


def observable(value, error, name, size=400):
    """An observable of independent samples, with its error known."""
    made = pyerrors.Obs([RANDOM.normal(value, error, size)], [name])
    made.gamma_method()
    return made


FIRST, SECOND = observable(1.0, 0.1, "o"), observable(2.0, 0.1, "p")


def with_errors(observables):
    """Values and errors of observables, one row each."""
    for each in observables:
        each.gamma_method()
    return numpy.array([(each.value, each.dvalue) for each in observables], dtype=float)


def propagated(function):
    """Value and error of a function of the two observables, by NumPy and differences."""
    step = 1e-4
    at = numpy.array([FIRST.value, SECOND.value])
    slopes = [(function(*(at + d)) - function(*(at - d))) / (2 * step) for d in step * numpy.eye(2)]
    return numpy.array([function(*at), numpy.hypot(slopes[0] * FIRST.dvalue, slopes[1] * SECOND.dvalue)]).T


def derived(quick):
    """Functions of two observables."""
    sine, power = numpy.sin(FIRST.value), SECOND.value**2
    slopes = numpy.array([numpy.cos(FIRST.value) * power, sine * 2 * SECOND.value])
    known = [[sine * power, numpy.hypot(*(slopes * [FIRST.dvalue, SECOND.dvalue]))]]
    source = "Gaussian propagation of independent errors, by hand"
    made = pyerrors.derived_observable(lambda x, **kwargs: np.sin(x[0]) * x[1] ** 2, [FIRST, SECOND])
    yield "sin(o) p^2, by autograd", with_errors([made]), known, source, 1e-12
    yield "sin(o) p^2, by arithmetic", with_errors([numpy.sin(FIRST) * SECOND**2]), known, source, 1e-12
    bessel = pyerrors.derived_observable(lambda x, **kwargs: pyerrors.special.kn(0, x[0]), [FIRST])
    known = [[scipy.special.kn(0, FIRST.value), scipy.special.kn(1, FIRST.value) * FIRST.dvalue]]
    yield "K0(o)", with_errors([bessel]), known, "the derivative of K0 is -K1", 1e-10


def fits(quick):
    """Least-squares fits to observables."""
    x = numpy.arange(1, 8.0)
    y = [observable(1.5 - 0.2 * t, 0.5, f"line {t}") for t in x]
    values, errors = with_errors(y).T
    design = numpy.stack([numpy.ones(7), x], 1) / errors[:, None]
    covariance = numpy.linalg.inv(design.T @ design)
    known = numpy.stack([covariance @ design.T @ (values / errors), numpy.diag(covariance) ** 0.5], 1)
    line = pyerrors.fits.least_squares(x, y, lambda a, x: a[0] + a[1] * x, silent=True)
    yield "a line", with_errors(line.fit_parameters), known, "the normal equations", 1e-6

    y = [observable(2 * numpy.exp(-0.3 * t), 0.5, f"curve {t}") for t in x]
    values, errors = with_errors(y).T

    def refit(values):
        return scipy.optimize.least_squares(
            lambda a: (a[0] * numpy.exp(-a[1] * x) - values) / errors, [2, 0.3], xtol=1e-15, ftol=1e-15, gtol=1e-15
        ).x

    steps = 1e-4 * numpy.eye(7)
    slopes = numpy.array([(refit(values + step) - refit(values - step)) / 2e-4 for step in steps])
    known = numpy.stack([refit(values), ((slopes * errors[:, None]) ** 2).sum(0) ** 0.5], 1)
    curve = pyerrors.fits.least_squares(x, y, lambda a, x: a[0] * np.exp(-a[1] * x), silent=True)
    yield "a decay", with_errors(curve.fit_parameters), known, "scipy's fits to shifted data, by differences", 1e-5
    total = pyerrors.fits.total_least_squares(
        [observable(t, 1e-6, f"x {t}") for t in x], y, lambda a, x: a[0] * np.exp(-a[1] * x), silent=True
    )
    yield "a decay with errors of x", with_errors(total.fit_parameters), known, "the same, as the errors of x vanish", 1e-4


def matrices(quick):
    """Functions of a matrix of observables."""

    def matrix(o, p):
        return numpy.array([[o, 0.1 * p], [0.1 * p, p]])

    made, source = matrix(FIRST, SECOND), "numpy.linalg, by differences"
    inverse = pyerrors.linalg.inv(made)
    known = numpy.stack([propagated(lambda o, p, i=i: numpy.linalg.inv(matrix(o, p)).flat[i]) for i in range(4)])
    yield "inverse", with_errors(list(inverse.flat)), known, source, 1e-8
    determinant = pyerrors.linalg.det(made)
    yield "determinant", with_errors([determinant]), [propagated(lambda o, p: numpy.linalg.det(matrix(o, p)))], source, 1e-8
    known = numpy.stack([propagated(lambda o, p, i=i: numpy.linalg.eigvalsh(matrix(o, p))[i]) for i in range(2)])
    yield "eigenvalues", with_errors(pyerrors.linalg.eigh(made)[0]), known, source, 1e-8
    known = numpy.stack([propagated(lambda o, p, i=i: numpy.linalg.cholesky(matrix(o, p)).flat[i]) for i in (0, 2, 3)])
    factor = pyerrors.linalg.cholesky(made)
    yield "Cholesky factor", with_errors([factor[0, 0], factor[1, 0], factor[1, 1]]), known, source, 1e-8
    known = numpy.stack([propagated(lambda o, p, i=i: numpy.linalg.svd(matrix(o, p))[1][i]) for i in range(2)])
    yield "singular values", with_errors(pyerrors.linalg.svd(made)[1]), known, source, 1e-8


def roots_and_integrals(quick):
    """Roots and integrals that depend on observables."""
    root = pyerrors.roots.find_root(SECOND, lambda x, a: x**2 - a, guess=1.0)
    known = [[SECOND.value**0.5, SECOND.dvalue / (2 * SECOND.value**0.5)]]
    yield "root of x^2 = p", with_errors([root]), known, "by hand", 1e-7
    integral = pyerrors.integrate.quad(lambda a, x: np.exp(-a[0] * x), [SECOND], 0, 1)[0]
    shrunk = numpy.exp(-SECOND.value)
    slope = (1 - shrunk) / SECOND.value**2 - shrunk / SECOND.value
    known = [[(1 - shrunk) / SECOND.value, slope * SECOND.dvalue]]
    yield "integral of exp(-p x)", with_errors([integral]), known, "by hand", 1e-8


CHECKS = (derived, fits, matrices, roots_and_integrals)
