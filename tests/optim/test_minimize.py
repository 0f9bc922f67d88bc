"""SciPy's minimisers over containers: known minima by each method, exact derivatives, bounds, constraints, errors."""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from autograd import numpy as anp
from autograd.errors import OptimiserError
from autograd.optim.minimize import _TAKES, minimize

optimize = pytest.importorskip("scipy.optimize")

DERIVATIVE_FREE = ["nelder-mead", "powell", "cobyqa"]
WITH_GRADIENT = ["cg", "bfgs", "l-bfgs-b", "tnc", "slsqp"]
WITH_PRODUCTS = ["newton-cg", "trust-ncg", "trust-krylov", "trust-constr"]
WITH_HESSIAN = ["trust-exact"]


@dataclass
class Pair:
    """A container of the user's."""

    first: Any
    second: Any


def rosenbrock(p):
    """Its minimum is 0 at (1, 1)."""
    return (1 - p["x"]) ** 2 + 100 * (p["y"] - p["x"] ** 2) ** 2


def test_the_table_has_every_method_of_scipy():
    assert set(_TAKES) == set(optimize._minimize.MINIMIZE_METHODS)


@pytest.mark.parametrize("method", [None, *DERIVATIVE_FREE, *WITH_GRADIENT, *WITH_PRODUCTS, *WITH_HESSIAN])
def test_minimum_of_rosenbrock(method):
    result = minimize(rosenbrock, {"x": -1.2, "y": 1.0}, method=method)
    assert result.success
    assert result.x == {"x": pytest.approx(1.0, abs=2e-3), "y": pytest.approx(1.0, abs=2e-3)}
    assert [type(each) for each in result.x.values()] == [float, float]


def test_dogleg_and_cobyla_on_a_bowl():
    """They need a convex function, or many evaluations."""
    for method in ("dogleg", "cobyla"):
        result = minimize(lambda p: ((p[0] - 2) ** 2).sum() + (p[1] + 1) ** 2, [np.zeros(3), 0.0], method=method)
        np.testing.assert_allclose(result.x[0], 2.0, atol=1e-3)
        assert result.x[1] == pytest.approx(-1.0, abs=1e-3)


@pytest.mark.parametrize("method", [*WITH_GRADIENT, *WITH_PRODUCTS, *WITH_HESSIAN])
def test_the_path_is_that_of_scipy_with_derivatives_by_hand(method):
    """The same starts, values and derivatives must give the same points, to rounding: none is a finite difference."""

    def value(v):
        return (1 - v[0]) ** 2 + 100 * (v[1] - v[0] ** 2) ** 2

    def gradient(v):
        return np.array([-2 * (1 - v[0]) - 400 * v[0] * (v[1] - v[0] ** 2), 200 * (v[1] - v[0] ** 2)])

    def hessian(v):
        return np.array([[2 - 400 * v[1] + 1200 * v[0] ** 2, -400 * v[0]], [-400 * v[0], 200.0]])

    by_hand = {"jac": gradient}
    if method in WITH_PRODUCTS:
        by_hand["hessp"] = lambda v, direction: hessian(v) @ direction
    if method in WITH_HESSIAN:
        by_hand["hess"] = hessian
    options = {"maxfun" if method == "tnc" else "maxiter": 5}
    expected = optimize.minimize(value, np.array([-1.2, 1.0]), method=method, **by_hand, options=options)
    result = minimize(rosenbrock, {"x": -1.2, "y": 1.0}, method=method, options=options)
    np.testing.assert_allclose([result.x["x"], result.x["y"]], expected.x, rtol=1e-7)
    assert result.nfev == expected.nfev


def test_structures_shapes_and_dtypes_stay():
    x0 = Pair({"w": np.zeros((2, 3), np.float32), "n": 3}, [np.float64(4.0), 1.0, 2.0 + 1j])

    def function(p):
        assert p.first["w"].dtype == np.float32
        assert p.second[2].dtype == np.complex128 if hasattr(p.second[2], "dtype") else type(p.second[2]) is complex
        numbers = p.second[0] ** 2 + (p.second[1] - 5) ** 2 + abs(p.second[2] - 1j) ** 2
        return ((p.first["w"] - p.first["n"]) ** 2).sum() + numbers

    for method in ("bfgs", "newton-cg", "trust-exact", "powell"):
        result = minimize(function, x0, method=method)
        assert type(result.x) is Pair
        assert result.x.first["n"] == 3
        np.testing.assert_allclose(result.x.first["w"], 3.0, atol=1e-4)
        assert result.x.first["w"].dtype == np.float32
        assert [type(each) for each in result.x.second] == [np.float64, float, complex]
        np.testing.assert_allclose(result.x.second, [0.0, 5.0, 1j], atol=1e-4)
        if method != "powell":
            assert result.jac.first["w"].shape == (2, 3)
    np.testing.assert_array_equal(x0.first["w"], 0.0)


def test_the_gradient_of_the_result_is_that_of_grad():
    """f = |z - i|^2 + 3 r at the first point: df/dx - i df/dy = 2 - (-2i) at z = 1, and 3."""
    result = minimize(lambda p: abs(p["z"] - 1j) ** 2 + 3 * p["r"], {"z": 1 + 0j, "r": 2.0}, options={"maxiter": 0})
    assert result.jac == {"z": pytest.approx(2 + 2j), "r": pytest.approx(3.0)}
    constrained = minimize(lambda p: (p["a"] - 1) ** 2, {"a": 2.0}, method="trust-constr", options={"maxiter": 1})
    assert set(constrained.grad) == {"a"}


def test_complex_hessian():
    """On |z^2 - (3 + 4i)|^2, whose minimum is 0 at 2 + i, Newton's steps need the mixed second derivatives."""
    for method in ("trust-exact", "trust-ncg"):
        result = minimize(lambda z: anp.abs(z**2 - (3 + 4j)) ** 2, 1.5 + 0.5j, method=method, options={"gtol": 1e-10})
        assert result.x == pytest.approx(2 + 1j, abs=1e-6)
        assert result.nit <= 12


def test_arguments_are_passed_on():
    result = minimize(lambda x, a, b: (x - a) ** 2 + b, 0.0, args=(2.0, 7.0))
    assert result.x == pytest.approx(2.0)
    assert result.fun == pytest.approx(7.0)


def test_tolerance_is_passed_on():
    rough, fine = (minimize(rosenbrock, {"x": -1.2, "y": 1.0}, method="bfgs", tol=tol) for tol in (1.0, 1e-8))
    assert rough.nit < fine.nit


def test_callback_sees_the_container_and_may_end_it():
    seen = []

    def callback(x):
        seen.append(x)
        if len(seen) == 3:
            raise StopIteration

    for method in ("bfgs", "trust-constr"):
        seen.clear()
        result = minimize(rosenbrock, {"x": -1.2, "y": 1.0}, method=method, callback=callback)
        assert len(seen) == 3
        assert not result.success
        assert set(seen[0]) == {"x", "y"}


# -------------------------------------------------------------------------------------------------- bounds


@pytest.mark.parametrize("method", [None, "l-bfgs-b", "tnc", "slsqp", "trust-constr", "powell", "nelder-mead", "cobyqa"])
def test_bounds_by_container(method):
    """Of (a - 2)^2 + (b + 1)^2 with a <= (1, 5) and b >= 0 the minimum is at a = (1, 2), b = 0."""
    result = minimize(
        lambda p: ((p["a"] - 2) ** 2).sum() + (p["b"] + 1) ** 2,
        {"a": np.array([0.5, 0.5]), "b": 3.0},
        method=method,
        bounds=({"a": None, "b": 0.0}, {"a": np.array([1.0, 5.0]), "b": None}),
    )
    np.testing.assert_allclose(result.x["a"], [1.0, 2.0], atol=1e-3)
    assert result.x["b"] == pytest.approx(0.0, abs=1e-3)


def test_bounds_by_numbers_and_by_scipy():
    def function(p):
        return ((p["a"] - 2) ** 2).sum()

    x0 = {"a": np.zeros(2)}
    np.testing.assert_allclose(minimize(function, x0, bounds=(None, 1)).x["a"], 1.0)
    np.testing.assert_allclose(minimize(function, x0, bounds=(3.0, None)).x["a"], 3.0)
    bounds = optimize.Bounds([-np.inf, -np.inf], [0.5, 1.5])
    np.testing.assert_allclose(minimize(function, x0, bounds=bounds).x["a"], [0.5, 1.5])


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ((0.0,), r"bounds is \(0.0,\), expected \(lower, upper\)"),
        (({"a": 0.0}, None), r"the lower bounds are a dict with leaves at .*missing are \[\"\['z'\]\"\]"),
        (({"a": 0.0, "z": 0.0, "q": 1.0}, None), r"surplus are \[\"\['q'\]\"\]"),
        (({"a": np.zeros(3), "z": 0.0}, None), r"the lower bound of x\['a'\] is an array of shape \(3,\).*array of shape \(2,\)"),
        ((None, {"a": "high", "z": 0.0}), r"the upper bound of x\['a'\] is 'high'"),
        ((2.0, 1.0), "a lower bound is above the upper one"),
        ((np.nan, 1.0), "a lower bound is above the upper one"),
    ],
)
def test_bounds_that_do_not_fit_are_refused(bounds, message):
    with pytest.raises(OptimiserError, match=message):
        minimize(lambda p: (p["a"] ** 2).sum() + p["z"] ** 2, {"a": np.ones(2), "z": 1.0}, bounds=bounds)


def test_bounds_of_complex_numbers_are_refused():
    with pytest.raises(OptimiserError, match="bounds of complex numbers"):
        minimize(lambda z: abs(z) ** 2, 1j, bounds=(0.0, None))


# -------------------------------------------------------------------------------------------------- constraints


@pytest.mark.parametrize("method", [None, "slsqp", "trust-constr", "cobyla", "cobyqa"])
def test_constraints_of_the_container(method):
    """a^2 + b^2 with a + b = 1 has its minimum at (1/2, 1/2); with a b >= 1 from above, at (1, 1)."""

    def function(p):
        return p["a"] ** 2 + p["b"] ** 2

    start = {"a": 2.0, "b": 3.0}
    equal = {"type": "eq", "fun": lambda p: p["a"] + p["b"] - 1}
    assert minimize(function, start, method=method, constraints=equal).x == pytest.approx({"a": 0.5, "b": 0.5}, abs=1e-3)
    above = {"type": "ineq", "fun": lambda p, least: p["a"] * p["b"] - least, "args": (1.0,)}
    assert minimize(function, start, method=method, constraints=[above]).x == pytest.approx({"a": 1.0, "b": 1.0}, abs=1e-3)
    product = optimize.NonlinearConstraint(lambda p: p["a"] * p["b"], 1.0, np.inf)
    assert minimize(function, start, method=method, constraints=product).x == pytest.approx({"a": 1.0, "b": 1.0}, abs=1e-3)
    linear = optimize.LinearConstraint([[1.0, 1.0]], 1.0, 1.0)
    assert minimize(function, start, method=method, constraints=linear).x == pytest.approx({"a": 0.5, "b": 0.5}, abs=1e-3)


@pytest.mark.parametrize("method", ["slsqp", "trust-constr"])
def test_constraints_of_several_values(method):
    """The point of the plane x + y + z = 3, z = 2 nearest to 0 is (1/2, 1/2, 2), whether the values are a list or an array."""
    for both in (lambda x: [x.sum() - 3, x[2:] - 2], lambda x: anp.stack([x.sum() - 3, x[2] - 2])):
        result = minimize(lambda x: (x**2).sum(), np.zeros(3), method=method, constraints={"type": "eq", "fun": both})
        np.testing.assert_allclose(result.x, [0.5, 0.5, 2.0], atol=1e-6)


def test_second_derivatives_of_constraints():
    """The weighted Hessian of (x y, x^2) is w1 [[0, 1], [1, 0]] + w2 [[2, 0], [0, 0]]."""
    from autograd.optim.minimize import _Flat, _OfVector
    from autograd.optim.vector import Vector

    flat = _Flat(_OfVector(lambda p: [p["x"] * p["y"], p["x"] ** 2], Vector("test", {"x": 1.0, "y": 2.0})))
    found = flat.weighted_hessian(np.array([1.0, 2.0]), np.array([10.0, 1.0]))
    np.testing.assert_allclose(found, [[2.0, 10.0], [10.0, 0.0]])


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        ({"type": "equal", "fun": abs}, "got a constraint"),
        ({"type": "eq", "fun": 3}, "got a constraint"),
        ([3], "got a constraint 3"),
        ({"type": "eq", "fun": abs, "jac": abs}, r"a constraint has \['jac'\]"),
    ],
)
def test_constraints_that_do_not_fit_are_refused(constraint, message):
    with pytest.raises(OptimiserError, match=message):
        minimize(lambda x: x**2, 1.0, constraints=constraint)


# -------------------------------------------------------------------------------------------------- errors


def test_errors_say_what_to_do():
    with pytest.raises(OptimiserError, match=r"got method 'bfsg', expected one of .* Did you mean 'bfgs'"):
        minimize(lambda x: x**2, 1.0, method="bfsg")
    with pytest.raises(OptimiserError, match="without any float"):
        minimize(lambda x: x, {"n": 3})
    with pytest.raises(OptimiserError, match=r"returned an array of shape \(2,\)"):
        minimize(lambda x: np.ones(2), 1.0, method="nelder-mead")
    with pytest.raises(OptimiserError, match="expected a function of x"):
        minimize(3, 1.0)


def test_a_method_of_the_users_is_given_derivatives():
    def newton(fun, x0, args=(), jac=None, hessp=None, **_):
        x = x0
        x = x - jac(x) / np.array([hessp(x, unit) @ unit for unit in np.eye(2)])
        return optimize.OptimizeResult(x=x, fun=fun(x), success=True)

    result = minimize(lambda p: 3 * (p["a"] - 2) ** 2 + (p["b"] + 1) ** 2, {"a": 0.0, "b": 0.0}, method=newton)
    assert result.x == {"a": pytest.approx(2.0), "b": pytest.approx(-1.0)}


def test_without_scipy_the_error_names_the_extra(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("scipy"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"gradtape\[scipy\]"):
        minimize(lambda x: x**2, 1.0)
