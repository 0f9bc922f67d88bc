"""Survival models of ``lifelines``: one sample, regressions, and Cox models whose baseline or penalty is differentiated."""

from __future__ import annotations

import lifelines
import numpy
import scipy.optimize
import scipy.stats
from lifelines.datasets import load_rossi, load_waltons

WALTONS, ROSSI = load_waltons(), load_rossi()
T, DIED = WALTONS["T"].to_numpy(), WALTONS["E"].to_numpy()
COVARIATES = ["fin", "age", "race", "wexp", "mar", "paro", "prio"]


def weibull(quick):
    """Weibull model of the waltons data."""

    def slope_of_profile(rho):
        return (T**rho * numpy.log(T)).sum() / (T**rho).sum() - 1 / rho - numpy.log(T)[DIED == 1].mean()

    rho = scipy.optimize.brentq(slope_of_profile, 0.1, 20, xtol=1e-13)
    scale = ((T**rho).sum() / DIED.sum()) ** (1 / rho)
    hazard, logs = (T / scale) ** rho, numpy.log(T / scale)
    mixed = (hazard.sum() - DIED.sum() + rho * (hazard * logs).sum()) / scale
    information = [
        [(rho * (rho + 1) * hazard.sum() - DIED.sum() * rho) / scale**2, -mixed],
        [-mixed, DIED.sum() / rho**2 + (hazard * logs**2).sum()],
    ]
    covariance = numpy.linalg.inv(information)

    model = lifelines.WeibullFitter().fit(T, DIED)
    source = "the root of the profile likelihood's derivative, by scipy.optimize.brentq"
    yield "scale and shape", [model.lambda_, model.rho_], [scale, rho], source, 1e-5
    source = "the inverse of the observed information, derived by hand"
    yield "standard errors", model.summary["se(coef)"].to_numpy(), numpy.diag(covariance) ** 0.5, source, 1e-5
    published = [55.73, 3.45, -672.062]
    found = [round(model.lambda_, 2), round(model.rho_, 2), round(model.log_likelihood_, 3)]
    yield "as printed", found, published, "lifelines' documentation", 1e-9

    time = 40.0
    cumulative = (time / scale) ** rho
    gradient = numpy.array([-rho / scale * cumulative, cumulative * numpy.log(time / scale)])
    spread = 1.959963984540054 * (gradient @ covariance @ gradient) ** 0.5
    limits = model.fit(T, DIED, timeline=[time]).confidence_interval_cumulative_hazard_.to_numpy()[0]
    yield "limits of the hazard", limits, [cumulative - spread, cumulative + spread], "the delta method, by hand", 1e-5


def closed_forms(quick):
    """Models whose estimates have closed forms."""
    model = lifelines.PiecewiseExponentialFitter([30.0, 50.0]).fit(T, DIED)
    edges = numpy.array([0, 30.0, 50.0, numpy.inf])
    lived = numpy.clip(T[:, None], edges[:-1], edges[1:]) - edges[:-1]
    deaths = numpy.histogram(T[DIED == 1] - 0.5, edges)[0]  # whole times: one at an edge belongs to the piece before it
    known = lived.sum(0) / deaths
    yield "mean lives by pieces", model.summary["coef"].to_numpy(), known, "time lived over deaths", 1e-4
    yield "their errors", model.summary["se(coef)"].to_numpy(), known / deaths**0.5, "mean life over root of deaths", 1e-4

    model = lifelines.LogNormalFitter().fit(T)
    known = [numpy.log(T).mean(), numpy.log(T).std()]
    yield "log-normal, no censoring", [model.mu_, model.sigma_], known, "mean and deviation of the logarithms", 1e-5
    errors = [known[1] / len(T) ** 0.5, known[1] / (2 * len(T)) ** 0.5]
    yield "its errors", model.summary["se(coef)"].to_numpy(), errors, "s / sqrt(n) and s / sqrt(2 n)", 1e-5


def generalized_gamma(quick):
    """Generalized gamma model, over autograd_gamma."""
    model = lifelines.GeneralizedGammaFitter().fit(T, DIED)
    found = numpy.array([model.mu_, model.ln_sigma_, model.lambda_])

    def log_likelihood(parameters):
        mu, log_sigma, shape = parameters
        sigma, power = numpy.exp(log_sigma), 1 / shape**2
        law = scipy.stats.gengamma(power, shape / sigma, scale=numpy.exp(mu) * power ** (-sigma / shape))
        return law.logpdf(T)[DIED == 1].sum() + law.logsf(T)[DIED == 0].sum()

    yield "log-likelihood", model.log_likelihood_, log_likelihood(found), "scipy.stats.gengamma at the estimate", 1e-8
    steps = 1e-4 * numpy.eye(3)
    slope = [(log_likelihood(found + step) - log_likelihood(found - step)) / 2e-4 for step in steps]
    yield "its slope there", slope, numpy.zeros(3), "zero at a maximum; scipy.stats.gengamma, by differences", 2e-2


def weibull_regression(quick):
    """Weibull regression of the rossi data."""
    model = lifelines.WeibullAFTFitter().fit(ROSSI, "week", "arrest")
    found = model.summary["coef"]["lambda_"][COVARIATES].round(3)
    source = "lifelines' documentation, and survreg of R's survival"
    yield "coefficients", found.to_numpy(), [0.272, 0.041, -0.225, 0.107, 0.311, 0.059, -0.066], source, 1e-9
    errors = model.summary["se(coef)"]["lambda_"][COVARIATES].round(3)
    yield "standard errors", errors.to_numpy(), [0.138, 0.016, 0.220, 0.152, 0.273, 0.140, 0.021], source, 1e-9
    yield "log-likelihood", round(model.log_likelihood_, 3), -679.917, source, 1e-9


def cox(quick):
    """Cox model of the rossi data."""
    model = lifelines.CoxPHFitter().fit(ROSSI, "week", "arrest")
    known = [-0.37942, -0.05744, 0.31390, -0.14980, -0.43370, -0.08487, 0.09150]
    source = "R's coxph, in Fox and Weisberg (2018)"
    yield "coefficients", model.params_[COVARIATES].to_numpy(), known, source, 6e-6
    errors = model.standard_errors_[COVARIATES].to_numpy()
    yield "standard errors", errors, [0.19138, 0.02200, 0.30799, 0.21222, 0.38187, 0.19576, 0.02865], source, 6e-6
    yield "log-likelihood", round(model.log_likelihood_, 2), -658.75, source, 1e-9


def cox_by_pieces(quick):
    """Cox model with a baseline hazard that is constant by pieces."""
    edge = 26.5  # between weeks: at a week, the derivative of the cumulative hazard would have a tie
    model = lifelines.CoxPHFitter(baseline_estimation_method="piecewise", breakpoints=[edge]).fit(ROSSI, "week", "arrest")
    table = model.summary["coef"]
    names = [name for name in table.index if name[0] == "beta_"]
    found = numpy.array([table[name] for name in names if name[1] in COVARIATES])
    covariates = ROSSI[[name[1] for name in names if name[1] in COVARIATES]].to_numpy()

    weeks, arrested = ROSSI["week"].to_numpy(), ROSSI["arrest"].to_numpy()
    early, late = weeks <= edge, weeks > edge
    lived = numpy.concatenate([numpy.minimum(weeks, edge), weeks[late] - edge])
    events = numpy.concatenate([arrested * early, arrested[late]])
    pieces = numpy.concatenate([numpy.tile([1.0, 0.0], (len(weeks), 1)), numpy.tile([0.0, 1.0], (late.sum(), 1))])
    rows = numpy.hstack([pieces, numpy.concatenate([covariates, covariates[late]])])
    coefficients = numpy.zeros(rows.shape[1])
    coefficients[:2] = numpy.log(events.sum() / lived.sum())
    for _ in range(30):
        expected = lived * numpy.exp(rows @ coefficients)
        coefficients += numpy.linalg.solve((rows.T * expected) @ rows, rows.T @ (events - expected))
    source = "Poisson regression on split records (Holford 1980), by Newton's method"
    yield "coefficients", found, coefficients[2:], source, 1e-4
    errors = numpy.diag(numpy.linalg.inv((rows.T * expected) @ rows))[2:] ** 0.5
    given = numpy.array([model.summary["se(coef)"][name] for name in names if name[1] in COVARIATES])
    yield "standard errors", given, errors, source, 1e-4


def cox_with_penalty(quick):
    """Cox model with an elastic net, whose penalty is differentiated twice."""
    penalizer, share = 0.05, 0.5
    model = lifelines.CoxPHFitter(penalizer=penalizer, l1_ratio=share).fit(ROSSI, "week", "arrest")
    covariates = ROSSI[COVARIATES].to_numpy()
    covariates = (covariates - covariates.mean(0)) / covariates.std(0, ddof=1)
    found = model.params_[COVARIATES].to_numpy() * ROSSI[COVARIATES].to_numpy().std(0, ddof=1)
    weights, slope = numpy.exp(covariates @ found), numpy.zeros(len(COVARIATES))
    weeks, arrested = ROSSI["week"].to_numpy(), ROSSI["arrest"].to_numpy() == 1
    for week in numpy.unique(weeks[arrested]):
        at_risk, tied = weeks >= week, (weeks == week) & arrested
        for part in numpy.arange(tied.sum()) / tied.sum():
            each = weights * at_risk - part * weights * tied
            slope += covariates[tied].sum(0) / tied.sum() - each @ covariates / each.sum()
    kept = numpy.abs(found) > 1e-3
    penalty = penalizer * (share * numpy.sign(found) + (1 - share) * found)
    source = "its slope is the likelihood's (Efron 1977), by hand"
    yield f"slope of the penalty, {kept.sum()} kept", penalty[kept], slope[kept] / len(ROSSI), source, 1e-4
    yield "coefficients left out", numpy.abs(slope[~kept]) / len(ROSSI) <= penalizer * share, numpy.ones((~kept).sum()), source, 0


CHECKS = (weibull, closed_forms, generalized_gamma, weibull_regression, cox, cox_by_pieces, cox_with_penalty)
