"""Reliability models of ``surpyval``: distributions fitted to censored data, their bounds, regressions, recurrent events."""

from __future__ import annotations

import warnings

import numpy
import scipy.optimize
import scipy.stats
import surpyval

warnings.simplefilter("ignore")

RANDOM = numpy.random.default_rng(5)
X = 10 * RANDOM.weibull(3, 100)
C = (numpy.arange(100) % 4 == 0).astype(int)  # 1: censored from the right
DIED = C == 0
Z = (numpy.arange(100) % 2).reshape(-1, 1).astype(float)


def most_likely(log_likelihood, start):
    """Where a log-likelihood is greatest, and the inverse of its curvature there, by SciPy and differences."""
    rough = scipy.optimize.minimize(lambda p: -log_likelihood(p), start, method="Nelder-Mead", options={"maxiter": 10_000})
    found = scipy.optimize.minimize(lambda p: -log_likelihood(p), rough.x, method="BFGS", options={"gtol": 1e-6}).x
    steps = 2e-4 * numpy.diag(numpy.maximum(numpy.abs(found), 0.1))

    def bend(a, b):
        corners = [log_likelihood(found + s * a + t * b) * s * t for s in (1, -1) for t in (1, -1)]
        return sum(corners) / (4 * a.sum() * b.sum())

    return found, numpy.linalg.inv([[-bend(a, b) for a in steps] for b in steps])


def weibull(quick):
    """Weibull model of censored data."""

    def slope_of_profile(beta):
        return (X**beta * numpy.log(X)).sum() / (X**beta).sum() - 1 / beta - numpy.log(X)[DIED].mean()

    beta = scipy.optimize.brentq(slope_of_profile, 0.1, 20, xtol=1e-13)
    alpha = ((X**beta).sum() / DIED.sum()) ** (1 / beta)
    hazard, logs = (X / alpha) ** beta, numpy.log(X / alpha)
    mixed = (hazard.sum() - DIED.sum() + beta * (hazard * logs).sum()) / alpha
    information = [
        [(beta * (beta + 1) * hazard.sum() - DIED.sum() * beta) / alpha**2, -mixed],
        [-mixed, DIED.sum() / beta**2 + (hazard * logs**2).sum()],
    ]
    covariance = numpy.linalg.inv(information)

    model = surpyval.Weibull.fit(X, c=C)
    source = "the root of the profile likelihood's derivative, by scipy.optimize.brentq"
    yield "scale and shape", model.params, [alpha, beta], source, 1e-5
    yield "covariance", model.covariance(), covariance, "the inverse of the observed information, by hand", 1e-5

    cumulative = (8.0 / alpha) ** beta
    gradient = numpy.array([-beta / alpha, numpy.log(8.0 / alpha)])
    spread = scipy.stats.norm.ppf(0.975) * (gradient @ covariance @ gradient) ** 0.5
    limits = numpy.exp(-cumulative * numpy.exp([spread, -spread]))
    yield "bounds of the survival", model.cb(8.0).ravel(), limits, "the delta method for log H, by hand", 1e-5


def distributions(quick):
    """Distributions fitted to censored data."""
    laws = {
        "Normal": (lambda p: scipy.stats.norm(p[0], p[1]), [9, 3]),
        "LogNormal": (lambda p: scipy.stats.lognorm(p[1], scale=numpy.exp(p[0])), [2, 0.5]),
        "Gamma": (lambda p: scipy.stats.gamma(p[0], scale=1 / p[1]), [5, 0.5]),
        "Logistic": (lambda p: scipy.stats.logistic(p[0], p[1]), [9, 2]),
        "Gumbel": (lambda p: scipy.stats.gumbel_l(p[0], p[1]), [11, 3]),
        "ExpoWeibull": (lambda p: scipy.stats.exponweib(p[2], p[1], scale=p[0]), [10, 3, 1]),
    }
    for name, (law, start) in list(laws.items())[: 3 if quick else None]:

        def log_likelihood(p, law=law):
            if min(p[1:]) <= 0:
                return -numpy.inf
            return law(p).logpdf(X)[DIED].sum() + law(p).logsf(X)[~DIED].sum()

        known, covariance = most_likely(log_likelihood, start)
        model = getattr(surpyval, name).fit(X, c=C)
        source = f"scipy.stats.{law(start).dist.name}, by scipy.optimize.minimize"
        yield name, model.params, known, source, 1e-3
        yield f"{name}, covariance", model.covariance(), covariance, source + " and differences", 1e-2


def intervals(quick):
    """Normal model of data known by intervals, and by other methods than likelihood."""
    low, high = numpy.floor(X), numpy.floor(X) + 1

    def log_likelihood(p):
        law = scipy.stats.norm(p[0], p[1])
        return numpy.log(law.cdf(high) - law.cdf(low)).sum() if p[1] > 0 else -numpy.inf

    known, covariance = most_likely(log_likelihood, [9, 3])
    model = surpyval.Normal.fit(numpy.stack([low, high], 1))
    yield "mean and deviation", model.params, known, "scipy.stats.norm, by scipy.optimize.minimize", 1e-4
    yield "covariance", model.covariance(), covariance, "scipy.stats.norm, by differences", 1e-3

    def log_spacings(p):
        if min(p) <= 0:
            return -numpy.inf
        steps = scipy.stats.weibull_min(p[1], scale=p[0]).cdf(numpy.sort(X))
        return numpy.log(numpy.diff(steps, prepend=0, append=1)).sum()

    known, _ = most_likely(log_spacings, [10, 3])
    model = surpyval.Weibull.fit(X, how="MPS")
    yield "Weibull by product of spacings", model.params, known, "scipy.stats.weibull_min, by scipy.optimize.minimize", 1e-4


def regressions(quick):
    """Regressions on one covariate."""
    rates = [DIED[Z[:, 0] == group].sum() / X[Z[:, 0] == group].sum() for group in (0, 1)]
    model = surpyval.ExponentialPH.fit(X, Z, c=C)
    yield "exponential", model.params, [rates[0], numpy.log(rates[1] / rates[0])], "deaths over time lived, by group", 1e-5

    def log_likelihood(p):
        alpha, beta, effect = p
        if min(alpha, beta) <= 0:
            return -numpy.inf
        hazard = (X / alpha) ** beta * numpy.exp(effect * Z[:, 0])
        return numpy.log(beta / X * hazard)[DIED].sum() - hazard.sum()

    known, _ = most_likely(log_likelihood, [10, 3, 0])
    model = surpyval.WeibullPH.fit(X, Z, c=C)
    yield "Weibull", model.params, known, "the likelihood by hand, by scipy.optimize.minimize", 1e-4

    def slope(effect):
        weights = numpy.exp(effect * Z[:, 0])
        at_risk = X[None, :] >= X[DIED][:, None]
        return (Z[DIED, 0] - (at_risk * weights * Z[:, 0]).sum(1) / (at_risk * weights).sum(1)).sum()

    known = scipy.optimize.brentq(slope, -5, 5, xtol=1e-13)
    yield "Cox", surpyval.CoxPH.fit(X, Z, c=C).params, [known], "the root of the partial likelihood's slope, by hand", 1e-6


def recurrent_events(quick):
    """Power-law process of recurrent events."""
    times = numpy.sort(X)
    beta = len(times) / numpy.log(times[-1] / times).sum()
    alpha = times[-1] / len(times) ** (1 / beta)
    model = surpyval.CrowAMSAA.fit(times)
    yield "scale and shape", model.params, [alpha, beta], "n / sum log(T / t), T / n^(1 / b) (Crow 1975)", 1e-5


CHECKS = (weibull, distributions, intervals, regressions, recurrent_events)
