"""Incomplete gamma and beta functions and Student's distribution: rules in all arguments, and parameter derivatives by hand.

Finite differences of SciPy's functions in their parameters serve the table; the points below have exact values.
"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograd import grad, hessian, jvp

pytest.importorskip("scipy", reason="SciPy is not installed: pip install 'gradtape[scipy]'")

import scipy.special

from autograd import operators as op
from autograd.scipy import special
from registry.numpy_backend.scipy.densities import density_ratio, tail_mean
from tests.gradients.differences import richardson
from tests.gradients.harness import each_case
from tests.gradients.scipy_functions.cases import scipy_case


def two(name, first, second, **fields):
    return scipy_case(f"special.{name}", 2, domain=[first, second], tolerance=3e-7, **fields)


def three(name, *domains, **fields):
    return scipy_case(f"special.{name}", 3, domain=list(domains), tolerance=3e-7, **fields)


CASES = [
    *[two(name, (0.5, 5), (0.3, 6)) for name in ("gammainc", "gammaincc")],
    two("gammainc", (20, 40), (15, 45), label="large"),
    *[two(name, (0.7, 5), (0.1, 0.9)) for name in ("gammaincinv", "gammainccinv")],
    *[three(name, (0.5, 5), (0.5, 5), (0.05, 0.95)) for name in ("betainc", "betaincc")],
    *[three(name, (0.7, 5), (0.7, 5), (0.1, 0.9)) for name in ("betaincinv", "betainccinv")],
    two("stdtr", (0.8, 9), (-3, 3)),
    two("stdtrit", (1.5, 9), (0.1, 0.9), dtypes=("float64",)),
]


@each_case(CASES)
def test_rule(case, check):
    check(case)


def test_derivatives_are_operators_of_their_own():
    a, x = 1.5, 2.0
    assert grad(lambda a: special.gammainc(a, x))(a) == op.gammainc_derivative(a, x, order=1)
    assert grad(lambda a: special.betainc(a, 2.0, 0.3))(a) == op.betainc_derivative(a, 2.0, 0.3, order_a=1, order_b=0)
    assert grad(lambda df: special.stdtr(df, x))(a) == op.stdtr_derivative(a, x, order=1)


# ------------------------------------------------------------------------------------------------ exact values


def test_incomplete_beta_with_one_parameter_of_one():
    # I_x(a, 1) = x**a and I_x(1, b) = 1 - (1 - x)**b: derivatives log(x) x**a and so on, of every order
    for a, x in itertools.product([1e-3, 0.3, 1.0, 4.0, 300.0], [1e-12, 0.1, 0.5, 0.9, 0.999]):
        expected = math.log(x) * x**a
        for got in (
            grad(lambda a: special.betainc(a, 1.0, x))(a),  # noqa: B023
            -grad(lambda a: special.betaincc(a, 1.0, x))(a),  # noqa: B023
            grad(lambda b: special.betaincc(1.0, b, 1 - x))(a) if x == 0.5 else expected,  # noqa: B023
        ):
            assert got == pytest.approx(expected, rel=1e-11, abs=1e-290)
        second = grad(grad(lambda a: special.betainc(a, 1.0, x)))(a)  # noqa: B023
        assert second == pytest.approx(math.log(x) ** 2 * x**a, rel=1e-9, abs=1e-290)
        third = op.betainc_derivative(np.array([a]), 1.0, x, order_a=3, order_b=0)
        assert a < 0.1 or third[0] == pytest.approx(math.log(x) ** 3 * x**a, rel=1e-7, abs=1e-280)


def test_incomplete_gamma_at_one():
    # d/da Q(a, x) at a = 1 is exp(-x) (log(x) + euler) + E1(x), by parts
    for x in (1e-8, 0.01, 0.5, 1.0, 3.0, 30.0, 300.0):
        expected = math.exp(-x) * (math.log(x) + np.euler_gamma) + float(scipy.special.exp1(x))
        assert grad(lambda a: special.gammaincc(a, x))(1.0) == pytest.approx(expected, rel=2e-12)  # noqa: B023


def test_incomplete_gamma_of_next_to_nothing():
    # Q(a, x) is about a E1(x) for a -> 0, and E1(x) is -log(x) - euler for x -> 0
    for power in (50, 300):
        got = grad(lambda a: special.gammaincc(a, 10.0**-power))(1e-302)  # noqa: B023  # called at once
        assert got == pytest.approx(power * math.log(10) - np.euler_gamma, rel=1e-13)


def test_cauchy_and_the_next():
    # F(t; 2) = 1/2 + t / (2 sqrt(2 + t**2)); central differences in df for others, on both sides of |t| = 1
    for df, t in itertools.product([0.3, 1.0, 2.0, 9.0], [-40.0, -1.5, -0.2, 0.7, 3.0]):
        numeric = richardson(lambda h: float(scipy.special.stdtr(df + h, t)), 1e-3)  # noqa: B023
        assert grad(lambda df: special.stdtr(df, t))(df) == pytest.approx(numeric, rel=1e-5, abs=1e-10)  # noqa: B023


def test_student_of_many_degrees_of_freedom():
    # F = Phi(t) - phi(t) (t**3 + t) / (4 df) + ..., so that dF/d(df) is about phi(t) (t**3 + t) / (4 df**2)
    for df, t in itertools.product([1e4, 1e8], [-2.0, 0.5, 1.5]):
        leading = math.exp(-t * t / 2) / math.sqrt(2 * math.pi) * (t**3 + t) / (4 * df**2)
        assert grad(lambda df: special.stdtr(df, t))(df) == pytest.approx(leading, rel=20 / df, abs=0)  # noqa: B023


def test_smooth_at_the_middle_of_student():
    # F(t; df) - 1/2 is odd in t, and its slope at 0 is the density there: 1 / pi for Cauchy, whose derivative in df is
    # (psi(1) - psi(1/2) - 1) / 2 times that, by its gamma functions
    slope = (2 * math.log(2) - 1) / 2 / math.pi
    assert grad(lambda t: special.stdtr(1.0, t))(0.0) == pytest.approx(1 / math.pi)
    assert grad(lambda df: special.stdtr(df, 0.0))(1.0) == 0
    both = grad(lambda df: grad(lambda t: special.stdtr(df, t))(0.0))(1.0)
    assert both == pytest.approx(slope, rel=1e-12)
    assert grad(lambda t: grad(lambda df: special.stdtr(df, t))(1.0))(0.0) == pytest.approx(slope, rel=1e-12)


EDGES = [
    # function, arguments, gradient in each
    (special.gammainc, (2.0, 0.0), (0, 0)),
    (special.gammainc, (1.0, 0.0), (0, 1)),
    (special.gammainc, (0.5, 0.0), (0, math.inf)),
    (special.gammainc, (2.0, math.inf), (0, 0)),
    (special.gammaincc, (1.0, 0.0), (0, -1)),
    (special.gammaincc, (3.0, 1e5), (0, 0)),
    (special.betainc, (2.0, 3.0, 0.0), (0, 0, 0)),
    (special.betainc, (1.0, 3.0, 0.0), (0, 0, 3)),
    (special.betainc, (2.0, 1.0, 1.0), (0, 0, 2)),
    (special.betainc, (0.5, 0.5, 1.0), (0, 0, math.inf)),
    (special.betainc, (2.0, 3.0, 1.0), (0, 0, 0)),
    (special.stdtr, (3.0, math.inf), (0, 0)),
    (special.stdtr, (3.0, -math.inf), (0, 0)),
]


@pytest.mark.parametrize(("function", "at", "slopes"), EDGES)
def test_edges(function, at, slopes):
    np.testing.assert_allclose(grad(function, tuple(range(len(at))))(*at), slopes, rtol=1e-13)


def test_second_derivatives_at_an_edge():
    # P(2, x) = 1 - (1 + x) exp(-x): P'' = 1 at 0; I_x(2, 1) = x**2, I_x(2, 2) = 3 x**2 - 2 x**3
    assert grad(grad(lambda x: special.gammainc(2.0, x)))(0.0) == pytest.approx(1)
    assert grad(grad(lambda x: special.betainc(2.0, 1.0, x)))(0.0) == pytest.approx(2)
    assert grad(grad(lambda x: special.betainc(2.0, 2.0, x)))(0.0) == pytest.approx(6)
    assert grad(grad(lambda x: special.betainc(2.0, 2.0, x)))(1.0) == pytest.approx(-6)


def test_outside_the_domain_is_nan_not_an_exception():
    for function, *at in [(special.gammainc, -1.0, 2.0), (special.betainc, -1.0, 2.0, 0.5), (special.stdtr, -1.0, 2.0)]:
        assert math.isnan(function(*at))
        assert math.isnan(grad(function)(*at))
    assert math.isnan(op.betainc_derivative(1.0, 2.0, 1.5, order_a=1, order_b=0))


@given(a=st.floats(1e-3, 1e6), spread=st.floats(-6, 6))
def test_tails_far_and_near_are_finite_and_of_one_sign(a, spread):
    # a larger a moves the mass to the right, so that P(a, x) falls
    x = max(a + spread * math.sqrt(a), a / 100)
    assert grad(lambda a: special.gammainc(a, x))(a) < 0
    _, moved = jvp(lambda a: special.gammaincc(a, x), (a,), (1.0,))
    assert 0 < moved < math.inf


@given(st.lists(st.floats(0.01, 1000), min_size=2, max_size=2), st.floats(0.01, 0.99))
def test_parameters_of_beta_push_in_opposite_directions(parameters, x):
    a, b = parameters
    da, db = grad(special.betainc, (0, 1))(a, b, x)
    assert da <= 0 <= db
    # I_x(a, b) = 1 - I_{1-x}(b, a)
    mirrored = grad(special.betainc, (0, 1))(b, a, 1 - x)
    np.testing.assert_allclose((da, db), (-mirrored[1], -mirrored[0]), rtol=1e-6, atol=1e-13)


def test_mixed_second_derivatives_are_symmetric():
    def f(p):
        return special.betainc(p[0], p[1], p[2])

    H = hessian(f)(np.array([1.5, 0.7, 0.4]))
    np.testing.assert_allclose(H, H.T, rtol=1e-9)


def test_many_elements_at_once():
    a = np.linspace(0.1, 50, 5000)
    whole = op.gammainc_derivative(a, 3.0, order=1)
    for at in (0, 4095, 4096, 4999):
        assert whole[at] == pytest.approx(op.gammainc_derivative(float(a[at]), 3.0, order=1), rel=1e-13)
    assert op.gammainc_derivative(np.float32(1.5), np.float32(2.0), order=1).dtype == np.float32
    assert op.gammainc_derivative(np.zeros((0, 3)) + 1, 2.0, order=1).shape == (0, 3)


# ------------------------------------------------------------------------------------------------ the parts


def test_density_ratio_by_hand():
    first, second, third = 2.0, 3.0, 5.0
    values = {1: first, 2: second, 3: third}
    assert density_ratio(lambda k, _: values[k], 0) == 1
    assert density_ratio(lambda k, _: values[k], 2) == first**2 + second
    assert density_ratio(lambda k, _: values[k], 3) == first**3 + 3 * first * second + third
    mixed = {(1, 0): 2.0, (0, 1): 3.0, (1, 1): 5.0, (0, 2): 7.0, (1, 2): 11.0}
    # d/da d2/db2: third + fa fbb + 2 fb fab + fa fb**2
    assert density_ratio(lambda k, m: mixed[k, m], 1, 2) == 11 + 2 * 7 + 2 * 3 * 5 + 2 * 9


def test_tail_mean_of_known_densities():
    rates = np.array([[1e-4], [1.0], [1e4]])
    np.testing.assert_allclose(tail_mean(lambda v: rates * v, lambda v: v**2, 3), 2 / rates[:, 0] ** 2, rtol=1e-12)
    np.testing.assert_allclose(tail_mean(lambda v: v * v / 2, lambda v: v * v, 1), 1, rtol=1e-12)
