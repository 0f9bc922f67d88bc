"""Solutions of differential equations: gradients in state, times and parameters, against closed forms and differences."""

import math

import numpy as np
import pytest

import autograd.numpy as anp
from autograd import Tape, errors, grad, hessian, jacfwd, jacobian, jvp

pytest.importorskip("scipy", reason="SciPy is not installed: pip install 'gradtape[scipy]'")

import scipy.integrate

from autograd.scipy import integrate
from tests.gradients.differences import central_gradient, richardson

TIGHT = {"rtol": 1e-10, "atol": 1e-10}
TIMES = np.array([0.0, 0.5, 1.3, 2.0])
START = np.array([1.0, 0.3])
WEIGHTS = np.arange(1.0, 9.0).reshape(4, 2)


def swing(y, t, stiffness, drive):
    """A driven pendulum."""
    return anp.array([y[1], -stiffness * anp.sin(y[0]) + drive["size"] * anp.sin(t) * y[1]])


def solution(y0, t, stiffness, size):
    return integrate.odeint(swing, y0, t, (stiffness, {"size": size}), **TIGHT)


def weighted(*arguments):
    return anp.sum(solution(*arguments) * WEIGHTS)


ARGUMENTS = (START, TIMES, 2.0, 0.7)


def test_gradients_in_all_arguments():
    got = grad(weighted, (0, 1, 2, 3))(*ARGUMENTS)
    expected = central_gradient(lambda *x: float(weighted(*x)), ARGUMENTS)
    for one, other, each in zip(got, expected, ARGUMENTS, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7)
        assert np.shape(one) == np.shape(each)


def test_forward_mode_is_the_same():
    for number in range(4):
        forward, backward = jacfwd(solution, number)(*ARGUMENTS), jacobian(solution, number)(*ARGUMENTS)
        np.testing.assert_allclose(forward, backward, atol=1e-8)
    tangents = (np.array([1.0, -2.0]), np.array([0.3, 1.0, -1.0, 0.5]), 2.0, -1.0)
    _, along = jvp(weighted, ARGUMENTS, tangents)
    gradients = grad(weighted, (0, 1, 2, 3))(*ARGUMENTS)
    assert along == pytest.approx(sum(float(np.sum(g * v)) for g, v in zip(gradients, tangents, strict=True)), rel=1e-8)


def test_second_derivatives():
    def f(p):
        return weighted(p[:2], TIMES, p[2], p[3])

    at = np.array([1.0, 0.3, 2.0, 0.7])
    H = hessian(f)(at)
    np.testing.assert_allclose(H, H.T, rtol=1e-6, atol=1e-6)
    direction = np.array([0.5, -1.0, 0.3, 0.8])
    numeric = richardson(lambda step: float(grad(f)(at + step * direction) @ direction))
    assert direction @ H @ direction == pytest.approx(numeric, rel=1e-6)
    mixed = grad(lambda a: grad(weighted, 1)(START, TIMES, a, 0.7)[2])(2.0)  # a time and a parameter
    numeric = richardson(lambda step: float(grad(weighted, 1)(START, TIMES, 2.0 + step, 0.7)[2]))
    assert mixed == pytest.approx(numeric, rel=1e-6)


def test_growth_by_hand():
    # y = y0 exp(r (t - s)) from time s on
    def f(y0, t, rate):
        return integrate.odeint(lambda y, t, rate: rate * y, y0, t, rate, **TIGHT)[1, 0]

    e = math.exp(0.5 * 2)
    dy0, dt, drate = grad(f, (0, 1, 2))(3.0, np.array([1.0, 3.0]), 0.5)
    assert dy0 == pytest.approx(e, rel=1e-8)
    np.testing.assert_allclose(dt, [-1.5 * e, 1.5 * e], rtol=1e-8)
    assert drate == pytest.approx(2 * 3 * e, rel=1e-8)
    assert grad(grad(lambda rate: f(3.0, np.array([1.0, 3.0]), rate)))(0.5) == pytest.approx(4 * 3 * e, rel=1e-7)


def test_time_first_and_options():
    def f(rate, **options):
        return integrate.odeint(lambda t, y, rate: [-rate * y[0] * t], [1.0], [0.0, 1.0], (rate,), tfirst=True, **options)[1, 0]

    # y = exp(-rate t**2 / 2)
    for options in ({}, {"rtol": [1e-9], "atol": np.array([1e-9])}, {"hmax": 0.1, "mxstep": 1000}, {"Dfun": None}):
        assert grad(lambda rate: f(rate, **options))(1.0) == pytest.approx(-0.5 * math.exp(-0.5), rel=1e-5)  # noqa: B023
    assert f(1.0) == pytest.approx(math.exp(-0.5), rel=1e-6)


def test_the_jacobian_that_is_given():
    def f(y0, **options):
        return integrate.odeint(lambda y, t, k: -k * y, y0, [0.0, 1.0], (2.0,), **options)[1].sum()

    g = grad(f)(np.ones(2), Dfun=lambda y, t, k: -k * np.eye(2))
    np.testing.assert_allclose(g, np.full(2, math.exp(-2)), rtol=1e-6)


def test_backwards_in_time_and_repeated_times():
    def f(y0):
        return integrate.odeint(lambda y, t: y, y0, [1.0, 0.0, 0.0, -1.0], **TIGHT).sum(0)[0]

    assert grad(f)(2.0) == pytest.approx(1 + 2 * math.exp(-1) + math.exp(-2), rel=1e-8)


def test_one_time_only():
    g = grad(lambda y0: integrate.odeint(lambda y, t: y, y0, [1.0]).sum())(START)
    np.testing.assert_array_equal(g, [1, 1])


def test_a_right_side_that_ignores_the_state():
    # y = y0 + (t**2 / 2, 0)
    g = jacobian(lambda y0: integrate.odeint(lambda y, t: np.array([t, 0.0]), y0, [0.0, 1.0])[1])(START)
    np.testing.assert_allclose(g, np.eye(2), atol=1e-12)
    forward = jacfwd(lambda y0: integrate.odeint(lambda y, t: np.array([t, 0.0]), y0, [0.0, 1.0])[1])(START)
    np.testing.assert_allclose(forward, np.eye(2), atol=1e-12)


def test_assignment_in_the_right_side():
    def field(y, t, k):
        dy = anp.zeros(2)
        dy[0] = y[1]
        dy[1] = -k * y[0]
        return dy

    g = grad(lambda k: integrate.odeint(field, START, TIMES, (k,), **TIGHT)[-1, 0])(2.0)
    numeric = central_gradient(lambda k: scipy.integrate.odeint(field, START, TIMES, (float(k),), **TIGHT)[-1, 0], [2.0])
    assert g == pytest.approx(float(numeric[0]), rel=1e-6)


def test_plain_values_are_scipys():
    args = (2.0, {"size": 0.7})
    np.testing.assert_array_equal(integrate.odeint(swing, START, TIMES, args), scipy.integrate.odeint(swing, START, TIMES, args))
    _, info = integrate.odeint(swing, START, TIMES, args, full_output=True)
    assert info["message"] == "Integration successful."


def test_what_cannot_be_followed_says_so():
    for scale in (1.0, None):  # the tensor of a closure, with and without another among the arguments
        with pytest.raises(errors.NotTrackedError, match="pass it in args"):
            grad(lambda a, scale=scale: integrate.odeint(lambda y, t: a * y, START * (scale or a), TIMES)[1, 0])(2.0)
    with Tape() as tape, pytest.raises(errors.NotTrackedError, match="full_output"):
        integrate.odeint(lambda y, t: y, tape.watch(START), TIMES, full_output=True)
    with Tape() as tape, pytest.raises(errors.NotTrackedError, match=r"scipy\.integrate\.solve_ivp has no gradient rule"):
        integrate.solve_ivp(lambda t, y: y, (0, 1), tape.watch(START))
