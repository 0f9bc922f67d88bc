"""Tensors inside xarray's arrays, gradients for SciPy's optimisers, and what code does with the namespace as a whole."""

from __future__ import annotations

import subprocess
import sys

import numpy as onp
import pytest

import autograd.numpy as np
from autograd import grad, hessian, hessian_vector_product, jacobian, value_and_grad
from autograd.errors import GradientError, NotTrackedError
from autograd.tensor import Tensor

# ---------------------------------------------------------------------------------------------------------- xarray

X = onp.array([[1.0, 2, 3], [4, 5, 6]])
ARANGE = onp.arange(3.0)


def labelled(x):
    import xarray

    return xarray.DataArray(x, dims=("row", "column"), coords={"row": [10, 20]})


def column(values):
    import xarray

    return xarray.DataArray(values, dims="column")


def module():
    import xarray

    return xarray


XARRAY = [  # name, what is computed from the labelled array, its gradient by hand
    ("sum", lambda a: a.sum(), onp.ones((2, 3))),
    ("sum over one dimension", lambda a: (a.sum("column") ** 2).sum(), [[12.0] * 3, [30.0] * 3]),
    ("mean", lambda a: a.mean(), onp.full((2, 3), 1 / 6)),
    ("var", lambda a: a.var("column").sum(), [[-2 / 3, 0, 2 / 3]] * 2),
    ("std", lambda a: a.std("row").sum(), [[-0.5] * 3, [0.5] * 3]),
    ("max", lambda a: a.max(), [[0, 0, 0], [0, 0, 1.0]]),
    ("prod", lambda a: a.prod(), 720 / X),
    ("cumsum", lambda a: a.cumsum("column").sum(), [[3.0, 2, 1]] * 2),
    ("diff", lambda a: (a.diff("column") ** 2).sum(), [[-2.0, 0, 2]] * 2),
    ("times itself", lambda a: (a * a).sum(), 2 * X),
    ("with numbers", lambda a: (1 + 2 * a - a / 4).sum(), onp.full((2, 3), 1.75)),
    ("power", lambda a: (a**3).sum(), 3 * X**2),
    ("absolute value", lambda a: abs(-a).sum(), onp.ones((2, 3))),
    ("times a plain array", lambda a: (a * column(ARANGE)).sum(), [[0.0, 1, 2]] * 2),
    ("plain array times it", lambda a: (column(ARANGE) * a).sum(), [[0.0, 1, 2]] * 2),
    ("transposed times a plain array", lambda a: (a.transpose("column", "row") * column(ARANGE)).sum(), [[0.0, 1, 2]] * 2),
    ("matmul", lambda a: (a @ column(ARANGE)).sum(), [[0.0, 1, 2]] * 2),
    ("dot", lambda a: module().dot(a, a), 2 * X),
    ("sin by NumPy", lambda a: onp.sin(a).sum(), onp.cos(X)),
    ("exp by apply_ufunc", lambda a: module().apply_ufunc(np.exp, a).sum(), onp.exp(X)),
    ("isel", lambda a: a.isel(column=1).sum(), [[0, 1.0, 0]] * 2),
    ("sel", lambda a: a.sel(row=20).sum(), [[0.0] * 3, [1.0] * 3]),
    ("roll", lambda a: a.roll(column=1)[0, 0], [[0, 0, 1.0], [0, 0, 0]]),
    ("stack", lambda a: (a.stack(both=("row", "column")) * onp.arange(6.0)).sum(), onp.arange(6.0).reshape(2, 3)),
    ("concat", lambda a: module().concat([a, 2 * a], "row").sum(), onp.full((2, 3), 3.0)),
    ("where", lambda a: a.where(a > 2).sum(), [[0, 0, 1.0], [1, 1, 1]]),
    ("where of two", lambda a: module().where(a > 2, a, 5 * a).sum(), [[5, 5, 1.0], [1, 1, 1]]),
    ("clip", lambda a: a.clip(1.5, 5.5).sum(), [[0, 1, 1.0], [1, 1, 0]]),
    ("groupby", lambda a: (a.groupby("row").mean() ** 2).sum(), 2 * X),
    ("dataset", lambda a: (module().Dataset({"a": a, "b": 3 * a})["b"]).sum(), onp.full((2, 3), 3.0)),
    ("printed on the way", lambda a: (repr(a), a.sum())[1], onp.ones((2, 3))),
]


@pytest.mark.parametrize(("compute", "known"), [row[1:] for row in XARRAY], ids=[row[0] for row in XARRAY])
def test_gradient_through_a_labelled_array(compute, known):
    pytest.importorskip("xarray", reason="xarray is not installed")
    onp.testing.assert_allclose(grad(lambda x: compute(labelled(x)).data)(X), known, rtol=1e-12, atol=1e-15)


def test_labels_stay_with_a_tensor():
    pytest.importorskip("xarray", reason="xarray is not installed")
    seen = []

    def f(x):
        a = labelled(x)
        seen.append((type(a.data), a.dims, list(a.row.values), a.shape, a.dtype))
        return (2 * a).isel(row=1).sum().data

    grad(f)(X)
    assert seen == [(Tensor, ("row", "column"), [10, 20], (2, 3), onp.dtype(float))]


def test_labelled_arrays_in_jacobians_second_derivatives_and_float32():
    pytest.importorskip("xarray", reason="xarray is not installed")
    onp.testing.assert_allclose(jacobian(lambda x: labelled(x).sum("row").data)(X), onp.eye(3)[:, None].repeat(2, 1))
    bent = hessian(lambda x: (labelled(x) ** 3).sum().data)(X)
    onp.testing.assert_allclose(bent.reshape(6, 6), onp.diag(6 * X.ravel()))
    slope = grad(lambda x: (labelled(x) ** 2).mean("row").sum().data)(X.astype(onp.float32))
    assert slope.dtype == onp.float32
    onp.testing.assert_allclose(slope, X)


@pytest.mark.parametrize("leave", [lambda a: a.values.sum(), lambda a: float(a.sum()), lambda a: a.interp(row=15.0).sum().data])
def test_leaving_a_labelled_array_is_refused(leave):
    pytest.importorskip("xarray", reason="xarray is not installed")
    pytest.importorskip("scipy", reason="SciPy is not installed")
    with pytest.raises(NotTrackedError):
        grad(lambda x: leave(labelled(x)))(X)


def test_returning_a_labelled_array_is_refused():
    pytest.importorskip("xarray", reason="xarray is not installed")
    with pytest.raises(GradientError, match="DataArray"):
        grad(lambda x: labelled(x).sum())(X)


# ------------------------------------------------------------------------------------------------ scipy.optimize


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


START = onp.array([1.3, 0.7, 0.8, 1.9])
WAYS = [
    ("CG", {}),
    ("BFGS", {}),
    ("L-BFGS-B", {}),
    ("TNC", {}),
    ("SLSQP", {}),
    ("Newton-CG", {"hessp": hessian_vector_product(rosenbrock)}),
    ("trust-ncg", {"hessp": hessian_vector_product(rosenbrock)}),
    ("trust-ncg", {"hess": hessian(rosenbrock)}),
    ("trust-exact", {"hess": hessian(rosenbrock)}),
    ("trust-krylov", {"hessp": hessian_vector_product(rosenbrock)}),
]


@pytest.mark.parametrize(("method", "options"), WAYS, ids=[f"{method} {'-'.join(options)}".strip() for method, options in WAYS])
def test_minimize_finds_the_minimum(method, options):
    optimize = pytest.importorskip("scipy.optimize", reason="SciPy is not installed")
    slack = {"options": {"maxfun": 5000}} if method == "TNC" else {}
    found = optimize.minimize(value_and_grad(rosenbrock), START, jac=True, method=method, tol=1e-9, **options, **slack)
    assert rosenbrock(found.x) < 1e-8
    onp.testing.assert_allclose(found.x, onp.ones(4), atol=1e-3)


def test_minimize_within_bounds_and_constraints():
    """The nearest point of a plane to a point (its projection), and the corner of a box."""
    optimize = pytest.importorskip("scipy.optimize", reason="SciPy is not installed")
    normal, away = onp.array([1.0, 2.0, 2.0]), onp.array([3.0, 0.0, 1.0])
    plane = {"type": "eq", "fun": lambda x: np.dot(normal, x) - 1.0, "jac": grad(lambda x: np.dot(normal, x) - 1.0)}
    squares = value_and_grad(lambda x: np.sum((x - away) ** 2))
    found = optimize.minimize(squares, onp.zeros(3), jac=True, method="SLSQP", constraints=plane, tol=1e-12)
    onp.testing.assert_allclose(found.x, away - normal * (normal @ away - 1) / 9, atol=1e-7)
    found = optimize.minimize(squares, onp.zeros(3), jac=True, method="L-BFGS-B", bounds=[(0, 1)] * 3)
    onp.testing.assert_allclose(found.x, [1, 0, 1], atol=1e-7)


def test_derivatives_for_roots_and_curves():
    optimize = pytest.importorskip("scipy.optimize", reason="SciPy is not installed")

    def on_a_circle_and_a_line(x):
        return np.array([x[0] ** 2 + x[1] ** 2 - 1.0, x[0] - x[1]])

    found = optimize.root(on_a_circle_and_a_line, [1.0, 0.2], jac=jacobian(on_a_circle_and_a_line))
    onp.testing.assert_allclose(found.x, [0.5**0.5] * 2, rtol=1e-10)

    in_a_dictionary = jacobian(lambda p: on_a_circle_and_a_line(p["x"]))
    found = optimize.root(on_a_circle_and_a_line, [1.0, 0.2], jac=lambda x: in_a_dictionary({"x": x})["x"])
    onp.testing.assert_allclose(found.x, [0.5**0.5] * 2, rtol=1e-10)
    found = optimize.fsolve(on_a_circle_and_a_line, [1.0, 0.2], fprime=jacobian(on_a_circle_and_a_line))
    onp.testing.assert_allclose(found, [0.5**0.5] * 2, rtol=1e-10)

    t = onp.linspace(0, 3, 20)
    exact = 2 * onp.exp(-1.3 * t)
    residuals = lambda p: p[0] * np.exp(-p[1] * t) - exact  # noqa: E731
    found = optimize.least_squares(residuals, [1.0, 1.0], jac=jacobian(residuals))
    onp.testing.assert_allclose(found.x, [2, 1.3], rtol=1e-8)
    found = optimize.leastsq(residuals, [1.0, 1.0], Dfun=jacobian(residuals))[0]
    onp.testing.assert_allclose(found, [2, 1.3], rtol=1e-8)

    slope = lambda x: np.cos(x) - x  # noqa: E731
    found = optimize.newton(slope, 1.0, fprime=grad(slope), fprime2=grad(grad(slope)))
    onp.testing.assert_allclose(found, 0.7390851332151607, rtol=1e-14)  # Dottie's number


@pytest.mark.parametrize("method", ["odeint", "Radau", "BDF", "LSODA"])
def test_derivatives_for_stiff_equations(method):
    """Two decays at rates a thousand apart, whose solution is known; compiled code calls the Jacobian with memory of its own."""
    integrate = pytest.importorskip("scipy.integrate", reason="SciPy is not installed")
    rates = onp.array([[-1000.0, 999.0], [0.0, -1.0]])

    def slope(t, y):
        return np.dot(rates, y) * (1 + 0 * t)

    known = onp.exp(-2.0) * onp.ones(2)
    if method == "odeint":
        end = integrate.odeint(slope, [2.0, 1.0], [0, 2], Dfun=jacobian(slope, 1), tfirst=True, rtol=1e-9, atol=1e-12)[-1]
    else:
        found = integrate.solve_ivp(slope, [0, 2], [2.0, 1.0], method, jac=jacobian(slope, 1), rtol=1e-8, atol=1e-10)
        end = found.y[:, -1]
    onp.testing.assert_allclose(end, known, rtol=1e-5)


def test_arrays_for_optimisers_are_plain_and_writable():
    """Optimisers write to the gradients that they are given."""
    value, slope = value_and_grad(rosenbrock)(START)
    assert type(slope) is onp.ndarray
    assert slope.flags.writeable
    assert isinstance(value, float)


# ------------------------------------------------------------------------------------------------ the namespace

WHOLE = """
import numpy
from autograd.numpy import *
import autograd.numpy
missing = [name for name in ("fft", "linalg", "random", "pi", "float64", "ndarray", "newaxis", "einsum", "interp", "median")
           if name not in globals() or name not in vars(autograd.numpy) | {"random": 0}]
print(missing, linalg is autograd.numpy.linalg, pi == numpy.pi, float64 is numpy.float64)
functions = {name for name, each in vars(numpy).items() if name in numpy.__all__ and callable(each)}
print(sorted(functions - set(vars(autograd.numpy))))
"""


def test_all_of_the_namespace_can_be_imported_and_read_as_a_dictionary():
    """As packages do that wrap every function of it in their own."""
    printed = subprocess.run([sys.executable, "-c", WHOLE], capture_output=True, text=True, check=True).stdout
    assert printed == "[] True True True\n[]\n"
