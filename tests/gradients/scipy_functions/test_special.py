"""Special functions: the table of rules, points where formulas break down, and SciPy's own ufuncs on tensors."""

import math
import subprocess
import sys

import numpy as np
import pytest

from autograd import Tape, errors, grad, hessian, jacobian

pytest.importorskip("scipy", reason="SciPy is not installed: pip install 'gradtape[scipy]'")

import scipy.special

from autograd.scipy import special
from tests.gradients.harness import Case, each_case
from tests.gradients.scipy_functions.cases import scipy_case

inf, nan = math.inf, math.nan


def one(name, low, high, **fields):
    return scipy_case(f"special.{name}", domain=(low, high), **fields)


def two(name, *domains, **fields):
    return scipy_case(f"special.{name}", 2, domain=list(domains), **fields)


UNIT = (-1.0, 1.0)

CASES = [
    one("erf", -2, 2, complex_domain=UNIT),
    one("erfc", -2, 2, complex_domain=UNIT),
    one("erfcx", -2, 2, complex_domain=UNIT),
    one("erfcx", 15, 40, label="far"),
    one("erfi", -1, 1, complex_domain=UNIT),
    one("dawsn", -2, 2, complex_domain=UNIT),
    one("erfinv", -0.9, 0.9),
    one("erfcinv", 0.1, 1.9),
    one("ndtr", -3, 3, complex_domain=UNIT),
    one("log_ndtr", -6, 3),
    one("ndtri", 0.05, 0.95),
    one("gamma", 0.5, 4, complex_domain=None),
    one("gamma", -1.9, -1.1, label="negative"),
    one("gammaln", 0.5, 6),
    one("gammasgn", -1.9, -1.1, orders=0),
    one("rgamma", 0.6, 4),
    one("rgamma", -2.9, 0.4, label="negative"),
    one("psi", 0.5, 5),
    one("digamma", -1.9, -1.1),
    scipy_case("special.polygamma", 1, 0, domain=(0.5, 4), dtypes=("float64",)),
    scipy_case("special.polygamma", 1, 2, domain=(0.5, 4), dtypes=("float64",)),
    scipy_case("special.polygamma", 1, np.array([0, 1, 3]), domain=(0.7, 4), shapes=[((2, 3),), ((),), ((1,),)],
               dtypes=("float64",), label="orders"),
    *[
        scipy_case("special.multigammaln", domain=(2.5, 6), dtypes=("float64",), label=f"{d}", shapes=[((2, 3),), ((),)],
                   attrs={"d": d}) for d in (1, 3)
    ],
    two("beta", (0.5, 4), (0.5, 4)),
    two("betaln", (0.5, 4), (0.5, 4)),
    one("expit", -4, 4),
    one("log_expit", -4, 4),
    one("logit", 0.1, 0.9),
    one("entr", 0.2, 3),
    two("xlogy", (-2, 2), (0.3, 3)),
    two("xlog1py", (-2, 2), (-0.6, 2)),
    two("rel_entr", (0.3, 2), (0.3, 2)),
    two("kl_div", (0.3, 2), (0.3, 2)),
    *[
        scipy_case("special.logsumexp", attrs={"axis": axis, "keepdims": keepdims}, shapes=[((2, 3, 2),)], complex_domain=UNIT)
        for axis, keepdims in [(None, False), (0, False), (-1, True), ((0, 2), False), ((-1, 0), True)]
    ],
    scipy_case("special.logsumexp", shapes=[((),), (float,), ((3,),)], label="few axes"),
    *[
        Case(
            "special.logsumexp",
            call=lambda _, a, b, axis=axis: special.logsumexp(a, axis, b),
            reference=lambda a, b, axis=axis: scipy.special.logsumexp(a, axis, b),
            shapes=[shapes],
            domain=[(-2, 2), (0.3, 2)],
            complex_domain=[UNIT, (0.3, 2)],
            label=f"weights {shapes} {axis}",
        )
        for axis, *shapes in [
            (None, (2, 3), (2, 3)),
            (0, (2, 3), (3,)),
            (1, (2, 3), (2, 1)),
            (-1, (1,), (2, 3)),
            (0, (2, 1), (3,)),
        ]
    ],
    Case(
        "special.logsumexp",
        call=lambda _, a, b: special.logsumexp(a, 0, b, return_sign=True)[0],
        reference=lambda a, b: scipy.special.logsumexp(a, 0, b, return_sign=True)[0],
        shapes=[((2, 3), (2, 3))],
        domain=[(-2, 2), (-2, -0.3)],
        label="a negative sum",
    ),
    Case(
        "special.logsumexp",
        call=lambda _, a: special.logsumexp((1 + 0.5j) * a, 0, return_sign=True),
        reference=lambda a: scipy.special.logsumexp((1 + 0.5j) * a, 0, return_sign=True),
        shapes=[((2, 3),)],
        complex_domain=UNIT,
        label="complex sign",
    ),
]  # fmt: skip


@each_case(CASES)
def test_rule(case, check):
    check(case)


# -------------------------------------------------------------------------------------------------- special points

ROOT_PI = math.sqrt(math.pi)

POINTS = [
    # function, x, f(x), f'(x)
    (special.erf, [-inf, 0.0, inf], [-1, 0, 1], [0, 2 / ROOT_PI, 0]),
    (special.erfc, [-inf, 0.0, 30.0, inf], [2, 1, 2.564656203756e-393, 0], [0, -2 / ROOT_PI, 0, 0]),
    (special.erfinv, [-1.0, 0.0, 1.0], [-inf, 0, inf], [inf, ROOT_PI / 2, inf]),
    (special.erfcinv, [0.0, 1.0, 2.0], [inf, 0, -inf], [-inf, -ROOT_PI / 2, -inf]),
    # log_ndtr(x) is about -x**2 / 2 - log(-x) far to the left, with derivative -x - 1 / x + 2 / x**3
    (special.log_ndtr, [-1e8, 40.0, inf, -inf], [-5e15, 0, 0, -inf], [1e8, 0, 0, inf]),
    (special.ndtr, [-inf, 0.0, inf], [0, 0.5, 1], [0, 1 / math.sqrt(2 * math.pi), 0]),
    (special.expit, [-1e4, 0.0, 1e4, inf, -inf], [0, 0.5, 1, 1, 0], [0, 0.25, 0, 0, 0]),
    # the derivative is exp(-40) to 17 digits, where 1 - expit(40) is 0
    (special.expit, [40.0], [1], [math.exp(-40)]),
    (special.log_expit, [-1e4, 1e4], [-1e4, 0], [1, 0]),
    (special.logit, [0.0, 0.5, 1.0], [-inf, 0, inf], [inf, 4, inf]),
    # 1 / gamma is entire: at -n its derivative is (-1)**n n!
    (special.rgamma, [0.0, -1.0, -2.0, -3.0, 200.0], [0, 0, 0, 0, 0], [1, -1, 2, -6, 0]),
    (special.gamma, [0.0, 1.0, 171.7], [inf, 1, inf], [-inf, -np.euler_gamma, inf]),
    # log gamma(x) is about -log(x) near 0
    (special.gammaln, [0.0, 1e-300, 1.0, 1e300], [inf, 300 * math.log(10), 0, 689.7755278982137e300],
     [-inf, -1e300, -np.euler_gamma, 300 * math.log(10)]),
    (special.entr, [0.0, 1.0], [0, 0], [inf, -1]),
    # psi'(x) by reflection (DLMF 5.15.6) at -1/2: pi**2 / 2 + 4
    (special.psi, [-0.5, inf], [2 - np.euler_gamma - 2 * math.log(2), inf], [math.pi**2 / 2 + 4, 0]),
]  # fmt: skip


@pytest.mark.parametrize(("function", "x", "values", "slopes"), POINTS)
def test_special_points(function, x, values, slopes):
    for at, value, slope in zip(x, values, slopes, strict=True):
        np.testing.assert_allclose(function(at), value, rtol=1e-12)
        np.testing.assert_allclose(grad(function)(at), slope, rtol=1e-12, err_msg=f"{function.__name__} at {at}")
    with np.errstate(invalid="ignore"):  # of the sum alone, inf - inf
        np.testing.assert_allclose(grad(lambda x: function(x).sum())(np.array(x)), slopes, rtol=1e-12)


def test_second_derivatives_of_the_reciprocal_gamma_at_its_zeros():
    # 1 / gamma(x) = x + euler x**2 + ..., so the second derivative at 0 is 2 euler
    assert grad(grad(special.rgamma))(0.0) == pytest.approx(2 * np.euler_gamma, rel=1e-12)


def test_curvature_of_the_normal_logarithm_far_away():
    # the hazard h has h' = -h (x + h), which tends to -1 - its series is -1 + 3 / x**2 - ... in this form: -(1 - 1/x**2 + 6/x**4)
    for x in (-30.0, -300.0, -1e6):
        assert grad(grad(special.log_ndtr))(x) == pytest.approx(-(1 - x**-2 + 6 * x**-4), rel=60 * x**-6 + 1e-12)


PAIRS = [
    # function of two, at, derivatives in both
    (special.xlogy, (0.0, 0.0), (-inf, 0)),
    (special.xlogy, (0.0, 2.0), (math.log(2), 0)),
    (special.xlogy, (2.0, 0.5), (math.log(0.5), 4)),
    (special.xlog1py, (0.0, -1.0), (-inf, 0)),
    (special.rel_entr, (0.0, 2.0), (-inf, 0)),
    (special.kl_div, (0.0, 2.0), (-inf, 1)),
    (special.betaln, (1.0, 3.0), (-(1 + 1 / 2 + 1 / 3), -1 / 3)),
]


@pytest.mark.parametrize(("function", "at", "slopes"), PAIRS)
def test_special_points_of_two(function, at, slopes):
    np.testing.assert_allclose(grad(function, (0, 1))(*at), slopes, rtol=1e-13)


LOGSUMEXPS = [
    # a, b, gradient in a
    ([-inf, -inf], None, [0, 0]),
    ([-inf, 0.0], None, [0, 1]),
    ([inf, 0.0], None, [1, 0]),
    ([inf, inf], None, [0.5, 0.5]),
    ([1000.0, 1000.0], None, [0.5, 0.5]),
    ([-1000.0, -1000.0, -1000.0], None, [1 / 3] * 3),
    ([0.0, 0.0], [2.0, 0.0], [1, 0]),
    ([0.0, 0.0], [2.0, -1.0], [2, -1]),
    ([0.0, 500.0], [1.0, 0.0], [1, 0]),
    ([-inf, 1.0], [3.0, 1.0], [0, 1]),
]


@pytest.mark.parametrize(("a", "b", "expected"), LOGSUMEXPS)
@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": -1, "keepdims": True}])
def test_logsumexp_where_elements_are_infinite(a, b, expected, options):
    b = None if b is None else np.array(b)
    g = grad(lambda a: special.logsumexp(a, b=b, **options).sum())(np.array(a))
    np.testing.assert_allclose(g, expected, rtol=1e-12)


def test_logsumexp_differentiates_a_weight_of_zero():
    # d/db log(b1 + b2 e) at b = (1, 0) is (1, e)
    g = grad(lambda b: special.logsumexp(np.array([0.0, 1.0]), b=b))(np.array([1.0, 0.0]))
    np.testing.assert_allclose(g, [1, math.e], rtol=1e-14)


def test_logsumexp_of_a_negative_sum():
    with Tape() as tape:
        a = tape.watch(np.zeros(2))
        assert np.isnan(special.logsumexp(a, b=np.array([1.0, -2.0])).value)
        y, sign = special.logsumexp(a, b=np.array([1.0, -3.0]), return_sign=True)
    assert y.value == pytest.approx(math.log(2))
    assert sign == -1.0
    assert type(sign) is np.float64


def test_logsumexp_takes_lists_and_integers():
    assert grad(lambda x: special.logsumexp([x, 0.0]))(0.0) == 0.5
    with Tape() as tape:
        b = tape.watch(np.ones(2))
        y = special.logsumexp([0, 0], b=b)
    np.testing.assert_allclose(tape.gradient(y, b), [0.5, 0.5])


def test_a_small_term_beside_a_large_one_is_seen():
    assert special.logsumexp([0.0, -50.0]) == pytest.approx(math.exp(-50), rel=1e-12)
    with Tape() as tape:
        assert special.logsumexp(tape.watch(np.array([0.0, -50.0]))).value == pytest.approx(math.exp(-50), rel=1e-12)


# -------------------------------------------------------------------------------------------------- SciPy's own ufuncs


def test_ufuncs_of_scipy_find_ours():
    x = np.array([0.3, 0.7])
    for name in special.__all__:
        theirs = getattr(scipy.special, name)
        if isinstance(theirs, np.ufunc) and theirs.nin == 1 and name != "gammasgn":
            got = grad(lambda x: theirs(x).sum())(x)  # noqa: B023  # called at once
            np.testing.assert_array_equal(got, grad(lambda x: getattr(special, name)(x).sum())(x))  # noqa: B023
    got = grad(lambda a: scipy.special.betainc(a, 2.0, 0.3))(1.5)
    assert got == grad(lambda a: special.betainc(a, 2.0, 0.3))(1.5)


def test_what_has_no_gradient_names_itself():
    with Tape() as tape:
        x = tape.watch(0.3)
        with pytest.raises(errors.NotTrackedError, match=r"struve"):
            scipy.special.struve(1.0, x)
        with pytest.raises(errors.NotTrackedError, match=r"scipy\.special\.struve"):
            special.struve(1.0, x)
        with pytest.raises(errors.NotTrackedError, match=r"scipy\.special\.softmax"):
            special.softmax([x, 1.0])
        with pytest.raises(errors.NotTrackedError, match=r"polygamma.*order n"):
            special.polygamma(x, 1.0)
        with pytest.raises(errors.NotTrackedError, match=r"multigammaln.*dimension d"):
            special.multigammaln(3.0, x)
        with pytest.raises(ValueError, match="condition"):
            special.multigammaln(x, 3)
    assert special.struve(1.0, 0.5) == scipy.special.struve(1.0, 0.5)
    with pytest.raises(AttributeError):
        special.no_such_function  # noqa: B018


def test_functions_on_plain_values_are_scipys():
    x = np.linspace(0.1, 0.9, 5)
    out = np.empty(5)
    assert special.erf(x, out) is out
    np.testing.assert_array_equal(out, scipy.special.erf(x))
    np.testing.assert_array_equal(special.gammainc(2.0, x, out=np.zeros(5)), scipy.special.gammainc(2.0, x))
    np.testing.assert_array_equal(special.erf(x, dtype="float32"), scipy.special.erf(x, dtype="float32"))
    assert type(special.multigammaln(3.0, 2)) is type(scipy.special.multigammaln(3.0, 2))
    with pytest.raises(TypeError, match="gammainc: got 1 inputs, expected 2"):
        special.gammainc(x)
    with pytest.raises(TypeError, match="not supported"), Tape() as tape:
        special.erfinv(tape.watch(1j))


def test_whole_matrices_of_second_derivatives():
    # the Hessian of sum(gammaln) is diagonal with psi', which is pi**2 / 6 at 1
    np.testing.assert_allclose(hessian(lambda x: special.gammaln(x).sum())(np.ones(2)), np.eye(2) * math.pi**2 / 6)
    J = jacobian(lambda b: special.beta(2.0, b))(np.array([1.0, 2.0]))
    np.testing.assert_allclose(np.diag(J), [-3 / 4 + 0.0, -5 / 36], rtol=1e-12)  # beta(2, b) = 1 / (b (b + 1))


def test_scipys_own_ufuncs_are_followed_before_anybody_imports_our_form_of_them():
    code = "import scipy.special; from autograd import grad;print(grad(scipy.special.erf)(0.0))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert float(out) == pytest.approx(2 / np.sqrt(np.pi), rel=1e-15)
