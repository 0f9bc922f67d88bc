"""Distributions: every function in every parameter against SciPy, edges of supports, far tails, and singular covariances."""

import math

import numpy as np
import pytest

import autograd.numpy as anp
from autograd import Tape, errors, grad, hessian, jacobian, jvp

pytest.importorskip("scipy", reason="SciPy is not installed: pip install 'gradtape[scipy]'")

import scipy.special
import scipy.stats

from autograd import scipy as ours
from autograd.scipy import stats
from autograd.scipy.stats import beta, chi2, dirichlet, gamma, multivariate_normal, norm, poisson, t
from tests.gradients.harness import Case, each_case
from tests.gradients.scipy_functions.cases import scipy_case

inf, nan = math.inf, math.nan

LOC, SCALE = (-0.1, 0.1), (0.8, 1.5)
FUNCTIONS = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf")
QUANTILES = ("ppf", "isf")


def continuous(name, x, *shapes):
    """The rows of one distribution: alone, and with location and scale, in all of which it is differentiated."""
    arity = 1 + len(shapes)
    for function in FUNCTIONS:
        yield scipy_case(f"stats.{name}.{function}", arity, domain=[x, *shapes], tolerance=3e-6, **_shaped(arity))
        yield scipy_case(f"stats.{name}.{function}", arity + 2, domain=[x, *shapes, LOC, SCALE], tolerance=3e-6, label="moved",
                         **_shaped(arity + 2))  # fmt: skip
    for function in QUANTILES:
        yield scipy_case(f"stats.{name}.{function}", arity + 2, domain=[(0.1, 0.9), *shapes, LOC, SCALE], tolerance=3e-6,
                         label="moved", **_shaped(arity + 2))  # fmt: skip


def _shaped(arity):
    return {
        "shapes": [((3,),) * arity, (float,) * arity, ((2, 1), *((3,),) * (arity > 1), *((),) * (arity - 2))],
        "dtypes": ("float64",),
    }


COUNTS = np.array([0.0, 1.0, 4.0, 2.5, -1.0])


def of_poisson(function):
    theirs, mine = getattr(scipy.stats.poisson, function), getattr(poisson, function)
    counts = COUNTS[:3] if function.startswith("log") else COUNTS
    return Case(
        function,
        call=lambda _, mu: mine(counts, mu, 0),
        reference=lambda mu: theirs(counts, mu),
        shapes=[((5 if len(counts) == 5 else 3,),), ((2, 1),), ((),), (float,)],
        domain=(0.5, 4),
        dtypes=("float64",),
        tolerance=1e-6,
    )


def log_dirichlet(x, alpha):
    """The density for components that are free."""
    from scipy.special import gammaln, xlogy

    return gammaln(alpha.sum()) - gammaln(alpha).sum() + xlogy(alpha - 1, x.T).T.sum(0)


def a_covariance(a):
    return a @ a.T + 0.5 * np.eye(len(a))


ROOT = np.array([[1.0, 0.2, 0.1], [-0.3, 0.8, 0.2], [0.4, 0.1, 0.9]])
POINTS = np.random.default_rng(0).uniform(-1, 1, (4, 3))


def of_normal(function, label, *inputs, cov=a_covariance, **options):
    theirs, mine = getattr(scipy.stats.multivariate_normal, function), getattr(multivariate_normal, function)
    return Case(
        function,
        call=lambda _, *x: mine(*x[:-1], cov(x[-1]), **options),
        reference=lambda *x: np.asarray(theirs(*x[:-1], cov(x[-1]), **options))[()],
        inputs=list(inputs),
        dtypes=("float64",),
        tolerance=1e-6,
        label=label,
    )


CASES = [
    *continuous("norm", (-2, 2)),
    *continuous("gamma", (0.5, 4), (0.8, 4)),
    *continuous("chi2", (0.5, 4), (1.5, 6)),
    *continuous("beta", (0.2, 0.7), (0.8, 4), (0.8, 4)),
    *continuous("t", (-2, 2), (1.5, 8)),
    *[of_poisson(function) for function in ("pmf", "logpmf", "cdf", "logcdf", "sf", "logsf")],
    *[of_normal(function, f"{np.shape(x)}", x, np.array([0.1, -0.2, 0.3]), ROOT)
      for function in ("logpdf", "pdf") for x in (POINTS[0], POINTS, POINTS.reshape(2, 2, 3))],
    of_normal("logpdf", "no mean", POINTS, None, ROOT),
    of_normal("logpdf", "a diagonal", POINTS, POINTS[1], np.array([0.5, 1.0, 2.0]), cov=lambda d: d),
    of_normal("logpdf", "one number", POINTS, POINTS[1], np.float64(0.7), cov=lambda d: d),
    of_normal("logpdf", "one variable", POINTS[:, 0], np.float64(0.1), np.float64(0.7), cov=lambda d: d),
    of_normal("logpdf", "a number of one variable", np.float64(0.3), np.float64(0.1), np.float64(0.7), cov=lambda d: d),
    of_normal("logpdf", "singular allowed", POINTS, POINTS[1], ROOT, allow_singular=True),
    of_normal("entropy", "", None, ROOT),
]  # fmt: skip


@each_case(CASES)
def test_rule(case, check):
    check(case)


@pytest.mark.parametrize("shape", [(3,), (3, 2)])
def test_dirichlet(shape):
    rng = np.random.default_rng(1)
    x = rng.uniform(0.2, 1, shape)
    x, alpha = x / x.sum(0), np.array([0.7, 2.0, 3.5])
    np.testing.assert_allclose(dirichlet.logpdf(x, alpha), log_dirichlet(x, alpha))
    # by hand: (alpha - 1) / x, and psi(sum) - psi(alpha) + log(x)
    dx, dalpha = grad(lambda x, alpha: anp.sum(dirichlet.logpdf(x, alpha)), (0, 1))(x, alpha)
    psi = scipy.special.psi
    np.testing.assert_allclose(dx, ((alpha - 1) / x.T).T)
    columns = x.reshape(3, -1)
    np.testing.assert_allclose(dalpha, np.sum((psi(alpha.sum()) - psi(alpha))[:, None] + np.log(columns), axis=1))
    dx, dalpha = grad(lambda x, alpha: anp.sum(dirichlet.pdf(x, alpha)), (0, 1))(x, alpha)
    np.testing.assert_allclose(dx, dirichlet.pdf(x, alpha) * ((alpha - 1) / x.T).T)
    H = hessian(lambda alpha: anp.sum(dirichlet.logpdf(x, alpha)))(alpha)
    trigamma = scipy.special.polygamma
    np.testing.assert_allclose(H, columns.shape[1] * (trigamma(1, alpha.sum()) - np.diag(trigamma(1, alpha))))


def test_dirichlet_with_the_last_component_left_out():
    alpha = np.array([2.0, 3.0])
    got = grad(lambda x: dirichlet.logpdf(x, alpha))(np.array([0.3]))
    assert got[0] == pytest.approx(1 / 0.3 - 2 / 0.7)
    with Tape() as tape, pytest.raises(ValueError, match="simplex"):
        dirichlet.logpdf(np.array([0.3, 0.9]), tape.watch(alpha))


# ------------------------------------------------------------------------------------------------ by hand

HALF_LOG_2_PI = 0.5 * math.log(2 * math.pi)
HAZARD_40 = 40 + 40**-1 - 2 * 40**-3 + 10 * 40**-5 - 74 * 40**-7

EDGES = [
    # function, arguments, value, gradient in each
    # the hazard of the normal density at x is x + 1 / x - 2 / x**3 + 10 / x**5 - ..., and its logarithm that of the density less
    (norm.logcdf, (-40.0,), -800 - HALF_LOG_2_PI - math.log(HAZARD_40), (HAZARD_40,)),
    (norm.logsf, (40.0,), -800 - HALF_LOG_2_PI - math.log(HAZARD_40), (-HAZARD_40,)),
    (norm.logcdf, (40.0,), 0, (0,)),
    (norm.pdf, (inf,), 0, (0,)),
    (norm.cdf, (-inf,), 0, (0,)),
    (norm.ppf, (0.0,), -inf, (inf,)),
    (gamma.pdf, (0.0, 2.0), 0, (1, 0)),
    (gamma.pdf, (0.0, 1.0), 1, (-1, np.euler_gamma)),  # 0**0 counts as constant in its exponent
    (gamma.pdf, (-1.0, 2.0), 0, (0, 0)),
    (gamma.logpdf, (-1.0, 2.0), -inf, (0, 0)),
    (gamma.cdf, (-1.0, 2.0), 0, (0, 0)),
    (gamma.logsf, (-1.0, 2.0), 0, (0, 0)),
    (gamma.cdf, (0.0, 2.0), 0, (0, 0)),
    (chi2.logpdf, (0.8, 3.2), math.log(0.8) * 0.6 - 0.4 - math.lgamma(1.6) - 1.6 * math.log(2),
     (0.25, 0.5 * (math.log(0.4) - scipy.special.psi(1.6)))),
    (chi2.pdf, (0.0, 4.0), 0, (0.25, 0)),
    (beta.pdf, (0.0, 2.0, 3.0), 0, (12, 0, 0)),
    (beta.pdf, (1.0, 2.0, 2.0), 0, (-6, 0, 0)),
    (beta.logpdf, (1.5, 2.0, 3.0), -inf, (0, 0, 0)),
    (beta.pdf, (1.5, 2.0, 3.0), 0, (0, 0, 0)),
    (beta.cdf, (1.5, 2.0, 3.0), 1, (0, 0, 0)),
    (beta.sf, (1.5, 2.0, 3.0), 0, (0, 0, 0)),
    (t.logpdf, (0.0, 1.0), -math.log(math.pi), (0, (2 * math.log(2) - 1) / 2)),
    (t.cdf, (0.0, 3.0), 0.5, (t.pdf(0.0, 3.0), 0)),
    (t.logpdf, (1.0, inf), norm.logpdf(1.0), (-1, 0)),
    (t.cdf, (1.0, inf), norm.cdf(1.0), (norm.pdf(1.0), 0)),
]  # fmt: skip


@pytest.mark.parametrize(("function", "at", "value", "slopes"), EDGES)
def test_edges_and_tails(function, at, value, slopes):
    assert function(*at) == pytest.approx(value, rel=1e-9)
    got = grad(function, tuple(range(len(at))))(*at)
    np.testing.assert_allclose(got, slopes, rtol=1e-9)
    with Tape() as tape:
        np.testing.assert_allclose(function(*[tape.watch(each) for each in at]).value, value, rtol=1e-9)


def test_the_edges_are_seen_element_by_element():
    x = np.array([-1.0, 0.5, nan, 3.0])
    values = jacobian(lambda scale: gamma.logpdf(x, 2.0, 0.0, scale))(2.0)
    np.testing.assert_allclose(values, [0, -2 / 2 + 0.5 / 4, 0, -2 / 2 + 3 / 4])
    with Tape() as tape:
        y = gamma.logpdf(tape.watch(x), 2.0).value
    np.testing.assert_allclose(y, scipy.stats.gamma.logpdf(x, 2.0))


def test_outside_the_support_nothing_moves_in_any_mode_or_order():
    for function in (gamma.logpdf, gamma.pdf, beta.logpdf, beta.cdf, chi2.logsf):
        at = (-0.5, 2.0, 3.0) if function.__module__.endswith("beta") else (-0.5, 2.0)
        _, moved = jvp(function, at, (1.0,) * len(at))
        assert moved == 0
        np.testing.assert_array_equal(hessian(lambda p: function(*p))(np.array(at)), 0)  # noqa: B023  # called at once


@pytest.mark.parametrize("function", [norm.logpdf, gamma.cdf, beta.pdf, t.sf, chi2.logcdf])
def test_parameters_out_of_range_give_nan(function):
    n = {norm.logpdf: 0, beta.pdf: 2}.get(function, 1)
    with Tape() as tape:
        scale = tape.watch(-1.0)
        assert math.isnan(function(0.5, *(1.0,) * n, 0.0, scale).value)
        if n:
            assert math.isnan(function(0.5, *(-1.0,) * n, 0.0, tape.watch(1.0)).value)


def test_poisson_at_its_edges():
    assert grad(poisson.pmf, 1)(1, 0.0) == 1
    assert grad(poisson.pmf, 1)(0, 0.0) == -1
    assert grad(poisson.logpmf, 1)(2.5, 3.0) == 0
    assert grad(poisson.cdf, 1)(-1, 3.0) == 0
    assert grad(poisson.cdf, 1)(2.7, 3.0) == pytest.approx(-poisson.pmf(2, 3.0))
    assert grad(lambda mu: poisson.logpmf(3, mu, loc=1))(2.0) == pytest.approx(2 / 2 - 1)
    with Tape() as tape:
        k = tape.watch(2.0)
        with pytest.raises(errors.NotTrackedError, match=r"poisson\.pmf: the count k is a tensor"):
            poisson.pmf(k, 3.0)
        with pytest.raises(errors.NotTrackedError, match=r"poisson\.cdf: the shift loc is a tensor"):
            poisson.cdf(2, 3.0, loc=k)
        assert math.isnan(poisson.pmf(2, k * -1.0).value)


def test_keywords_and_defaults():
    assert grad(lambda s: norm.logpdf(1.0, scale=s))(2.0) == pytest.approx(-1 / 2 + 1 / 8)
    assert grad(lambda a: gamma.logpdf(x=1.0, a=a))(2.0) == pytest.approx(-scipy.special.psi(2.0))
    with Tape() as tape, pytest.raises(TypeError, match="missing a required argument: 'a'"):
        gamma.logpdf(tape.watch(1.0))


def test_single_precision_and_integers_are_computed_in_double():
    x = np.float32(0.5)
    with Tape() as tape:
        each = tape.watch(x)
        assert norm.logpdf(each, 0, 2).value.dtype == np.float64
    assert grad(lambda x: norm.logpdf(x, 0, 2))(x).dtype == np.float32
    assert grad(lambda s: norm.logpdf(1, 0, s))(2.0) == pytest.approx(-1 / 2 + 1 / 8)


def test_lists_that_hold_tensors():
    assert grad(lambda m: anp.sum(norm.logpdf([m, 1.0])))(0.5) == -0.5


# ------------------------------------------------------------------------------------------------ several variables


def test_gradient_in_the_covariance_by_hand():
    # (P r r' P - P) / 2 with P the inverse and r the residual; at the unit matrix (r r' - 1) / 2
    r = np.array([1.0, -2.0])
    got = grad(lambda cov: multivariate_normal.logpdf(r, np.zeros(2), cov))(np.eye(2))
    np.testing.assert_allclose(got, (np.outer(r, r) - np.eye(2)) / 2, atol=1e-14)
    np.testing.assert_allclose(grad(lambda cov: multivariate_normal.entropy(cov=cov))(2 * np.eye(2)), np.eye(2) / 4)


def test_a_singular_covariance_on_its_subspace():
    # with cov = s * v v' the density is that of one variable along v: of r = c v, -(log(2 pi s |v|**2) + c**2 / s) / 2
    v = np.array([1.0, 2.0])

    def f(s, c):
        return multivariate_normal.logpdf(c * v, np.zeros(2), s * np.outer(v, v), allow_singular=True)

    s, c = 2.0, 0.7
    with Tape() as tape:
        assert f(tape.watch(s), c).value == pytest.approx(-(math.log(2 * math.pi * s * 5) + c * c / s) / 2)
    assert f(s, c) == pytest.approx(-(math.log(2 * math.pi * s * 5) + c * c / s) / 2)
    ds, dc = grad(f, (0, 1))(s, c)
    assert ds == pytest.approx(-1 / (2 * s) + c * c / (2 * s * s))
    assert dc == pytest.approx(-c / s)
    assert grad(grad(f))(s, c) == pytest.approx(1 / (2 * s * s) - c * c / s**3)


def test_singular_by_turning_the_subspace():
    # along v(a) = (cos a, sin a) with unit variance and the point x = v(b) (x is in the subspace at a = b only):
    # there the density does not change to first order, and outside the support SciPy has -inf
    def f(a, x):
        v = anp.stack([anp.cos(a), anp.sin(a)])
        return multivariate_normal.logpdf(x, np.zeros(2), anp.outer(v, v), allow_singular=True)

    x = np.array([math.cos(0.3), math.sin(0.3)])
    assert grad(f)(0.3, x) == pytest.approx(0, abs=1e-12)
    with Tape() as tape:
        assert f(tape.watch(0.9), x).value == -inf


def test_what_a_covariance_may_not_be():
    with Tape() as tape:
        cov = tape.watch(np.ones((2, 2)))
        with pytest.raises(np.linalg.LinAlgError, match=r"singular|positive definite"):
            multivariate_normal.logpdf(np.zeros(2), np.zeros(2), cov)
        with pytest.raises(errors.NotTrackedError, match="Covariance object"):
            multivariate_normal.logpdf(cov[0], np.zeros(2), scipy.stats.Covariance.from_diagonal([1.0, 2.0]))
        with pytest.raises(errors.NotTrackedError, match=r"scipy\.stats\.multivariate_normal\.cdf has no gradient rule"):
            multivariate_normal.cdf(np.zeros(2), np.zeros(2), cov)


# ------------------------------------------------------------------------------------------------ what is SciPy's


def test_what_is_not_here_is_scipys_and_refuses_tensors():
    assert stats.expon.logpdf(1.0) == -1.0
    assert norm.mean(2.0) == 2.0
    assert stats.expon(scale=2.0).mean() == 2.0
    assert isinstance(stats.rv_continuous, type)
    with Tape() as tape:
        x = tape.watch(1.0)
        with pytest.raises(errors.NotTrackedError, match=r"scipy\.stats\.expon\.logpdf has no gradient rule"):
            stats.expon.logpdf(x)
        with pytest.raises(errors.NotTrackedError, match=r"scipy\.stats\.expon has no gradient rule"):
            stats.expon(scale=x)
        with pytest.raises(errors.NotTrackedError, match=r"scipy\.stats\.norm\.mean has no gradient rule"):
            norm.mean(x)
        with pytest.raises(errors.NotTrackedError, match=r"scipy\.optimize\.minimize has no gradient rule"):
            ours.optimize.minimize(lambda x: x, x)
    assert ours.optimize.minimize(lambda x: x @ x, np.ones(2)).success
    with pytest.raises(AttributeError):
        ours.no_such_part  # noqa: B018


def test_complex_arguments_are_refused_with_a_tensor():
    with Tape() as tape:
        z = tape.watch(1.0 + 1.0j)
        with pytest.raises(errors.NotTrackedError, match=r"norm.logpdf: got a complex argument"):
            stats.norm.logpdf(z)
    tape._free()
