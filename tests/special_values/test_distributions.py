"""Special values of the distributions: whole and fractional parameters, ends of the support and what is beyond, limits.

The derivatives follow from the densities on paper; ``psi(1) = -EULER``, ``psi(1/2) = -EULER - 2 log 2``, ``psi'(1) = pi^2/6``.
"""

from __future__ import annotations

import math

import numpy
import pytest

import autograd.numpy as np
from autograd import grad
from tests.special_values.table import Row, each_row

pytest.importorskip("scipy", reason="SciPy is not installed")

import autograd.scipy.stats as stats

E, PI, EULER, LOG2 = math.e, math.pi, 0.5772156649015329, math.log(2.0)
PHI = math.exp(-0.5) / (2 * PI) ** 0.5  # at 1
chi2, gamma, beta, t, norm, poisson = stats.chi2, stats.gamma, stats.beta, stats.t, stats.norm, stats.poisson
POINTS = numpy.array([[-1.0], [2.0]])

PARAMETERS = [
    # (log x - log 2 - psi(df / 2)) / 2
    Row("parameters", "chi2.logpdf, df = 1", lambda df: chi2.logpdf(2.0, df), 1.0, first=EULER / 2 + LOG2, second=-(PI**2) / 8),
    Row("parameters", "chi2.logpdf, x", lambda x: chi2.logpdf(x, 3), 2.0, first=-0.25, second=-0.125),
    Row("parameters", "chi2.cdf, df = 2", lambda x: chi2.cdf(x, 2), 2.0, first=1 / (2 * E), second=-1 / (4 * E)),
    Row("parameters", "gamma.logpdf, a = 1", lambda a: gamma.logpdf(E, a), 1.0, first=1 + EULER, second=-(PI**2) / 6),
    # log x - psi(a) + psi(a + b), and psi'(2) - psi'(1) = -1
    Row("parameters", "beta.logpdf, a = 1", lambda a: beta.logpdf(1 / E, a, 1.0), 1.0, first=0.0, second=-1.0),
    # x ** a
    Row("parameters", "beta.cdf, b = 1", lambda a: beta.cdf(1 / E, a, 1), 2.0, first=-(E**-2), second=E**-2),
    # q ** (1 / a)
    Row("parameters", "beta.ppf, b = 1", lambda a: beta.ppf(1 / E, a, 1), 1.0, first=1 / E, second=-1 / E),
    Row("parameters", "t.cdf, df = 1", lambda x: t.cdf(x, 1), 1.0, first=1 / (2 * PI), second=-1 / (2 * PI)),
    # -1 / s + x ** 2 / s ** 3
    Row("parameters", "norm.logpdf, scale", lambda s: norm.logpdf(1.0, 0.0, s), 2.0, first=-0.375, second=0.0625),
    Row("parameters", "norm.cdf, loc", lambda m: norm.cdf(1.0, loc=m), 1.0, first=-1 / (2 * PI) ** 0.5, second=0.0),
    Row("parameters", "norm.logcdf", norm.logcdf, 0.0, first=(2 / PI) ** 0.5, second=-2 / PI),
    Row("parameters", "norm.isf", norm.isf, 0.5, first=-((2 * PI) ** 0.5), second=0.0),
    Row("parameters", "poisson.logpmf", lambda mu: poisson.logpmf(3, mu), 2.0, first=0.5, second=-0.75),
    # (1 + mu) exp(-mu)
    Row("parameters", "poisson.cdf", lambda mu: poisson.cdf(1, mu), 2.0, first=-2 * E**-2, second=E**-2),
    Row("parameters", "poisson.sf, shifted", lambda mu: poisson.sf(3, mu, loc=2), 2.0, first=2 * E**-2, second=-(E**-2)),
    # log x - psi(a) + psi(sum); the second derivative is 2 psi'(2) - psi'(1) each
    Row(
        "parameters", "dirichlet.logpdf", lambda a: stats.dirichlet.logpdf([1 / E, 1 - 1 / E], a), numpy.ones(2),
        first=[0.0, 1 + math.log(1 - 1 / E)], second=[PI**2 / 6 - 2] * 2,
    ),
    Row(
        "parameters", "multivariate_normal.entropy",
        lambda c: stats.multivariate_normal.entropy(None, c), numpy.array([2.0, 4.0]),
        first=[1 / 4, 1 / 8], second=[-1 / 8, -1 / 32],
    ),
    # at x = 2 and df = 2, 4 both log 2 cancel: -psi(1) / 2 and -psi(2) / 2; at x = -1 nothing
    Row(
        "parameters", "chi2.logpdf, broadcast", lambda df: chi2.logpdf(POINTS, df), numpy.array([2.0, 4.0]),
        first=[EULER / 2, (EULER - 1) / 2], second=[-(PI**2) / 24, 0.25 - PI**2 / 24],
    ),
]  # fmt: skip

# With many degrees of freedom log p = log phi + (x ** 4 - 2 x ** 2 - 1) / (4 df) + ..., so at 1 the derivative is 1 / (2 df ** 2)
EDGES = [
    Row("limits", "t.logpdf, df = 1e8", lambda df: t.logpdf(1.0, df), 1e8, first=5e-17, second=-1e-24, tolerance=1e-7),
    # Phi - phi(x) (x ** 3 + x) / (4 df)
    Row("limits", "t.cdf, df = 1e8", lambda df: t.cdf(1.0, df), 1e8, first=PHI / 2e16, second=-PHI / 1e24, tolerance=1e-7),
    Row("limits", "t.pdf, df = inf", lambda df: t.pdf(1.0, df), math.inf, first=0.0),
    Row("limits", "t.cdf, df = inf", lambda x: t.cdf(x, math.inf), 0.0, first=1 / (2 * PI) ** 0.5, second=0.0),
    Row("limits", "norm.logsf far out", norm.logsf, 1e9, first=-1e9, second=-1.0),
    Row("ends of the support", "chi2.pdf, df = 2", lambda x: chi2.pdf(x, 2), 0.0, first=-0.25, second=0.125),
    Row("ends of the support", "chi2.cdf in df", lambda df: chi2.cdf(0.0, df), 3.2, first=0.0, second=0.0),
    Row("ends of the support", "gamma.pdf, a = 3", lambda x: gamma.pdf(x, 3), 0.0, first=0.0, second=1.0),
    Row("ends of the support", "beta.pdf, a = 2", lambda x: beta.pdf(x, 2, 3), 0.0, first=12.0, second=-48.0),
    Row("ends of the support", "beta.logpdf, uniform", lambda x: beta.logpdf(x, 1, 1), 1.0, first=0.0, second=0.0),
    Row("ends of the support", "gamma.ppf in a", lambda a: gamma.ppf([0.0, 1.0], a), 2.0, first=0.0, second=0.0),
    Row("ends of the support", "chi2.isf in df", lambda df: chi2.isf([0.0, 1.0], df), 3.2, first=0.0, second=0.0),
    Row("ends of the support", "beta.ppf in a", lambda a: beta.ppf([0.0, 1.0], a, 3.0), 2.0, first=0.0, second=0.0),
    Row("ends of the support", "beta.isf in b", lambda b: beta.isf([0.0, 1.0], 2.0, b), 3.0, first=0.0, second=0.0),
    Row("ends of the support", "t.ppf in df", lambda df: t.ppf([0.0, 0.5, 1.0], df), 4.0, first=0.0, second=0.0),
    Row("ends of the support", "poisson.pmf, mu = 0", lambda mu: poisson.pmf(0, mu), 0.0, first=-1.0, second=1.0),
    Row("ends of the support", "poisson.pmf of 1, mu = 0", lambda mu: poisson.pmf(1, mu), 0.0, first=1.0, second=-2.0),
    Row("beyond the support", "chi2.logpdf in df", lambda df: chi2.logpdf(-1.0, df), 3.0, value=-math.inf, first=0.0, second=0.0),
    Row("beyond the support", "beta.cdf in x", lambda x: beta.cdf(x, 2.0, 3.0), 1.5, value=1.0, first=0.0, second=0.0),
    Row("beyond the support", "gamma.logsf in loc", lambda m: gamma.logsf(1.0, 2.0, m), 3.0, value=0.0, first=0.0, second=0.0),
    Row("beyond the support", "poisson.pmf of 3/2", lambda mu: poisson.pmf(1.5, mu), 2.0, value=0.0, first=0.0, second=0.0),
    Row(
        "beyond the support", "some of many", lambda x: gamma.pdf(x, 1), numpy.array([-1.0, 0.0, 1.0, math.inf]),
        first=[0.0, -1.0, -1 / E, 0.0], second=[0.0, 1.0, 1 / E, 0.0],
    ),
    Row("counts", "poisson, a count on a tape", lambda k: poisson.logpmf(k, 2.0), 3.0, error="the count k is a tensor"),
    Row("others", "norm.entropy", lambda s: norm.entropy(0.0, s), 2.0, error=r"scipy\.stats\.norm\.entropy has no gradient rule"),
    Row("others", "uniform.logpdf", lambda s: stats.uniform.logpdf(0.5, 0.0, s), 2.0, error="uniform.logpdf has no gradient"),
]  # fmt: skip


@each_row(PARAMETERS + EDGES)
def test_special_value(row, check):
    check(row)


def test_single_precision_stays():
    x, df = numpy.array([1.0, 2.0], "float32"), numpy.float32(3.0)
    assert grad(lambda x: np.sum(chi2.logpdf(x, df)))(x).dtype == numpy.float32
    assert type(grad(lambda df: np.sum(chi2.logpdf(x, df)))(df)) is numpy.float32
