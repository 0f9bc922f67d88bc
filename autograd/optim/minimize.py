"""``minimize``: SciPy's minimisers for functions of any container, with exact derivatives.

The container becomes one vector of float64 (of a complex number the real and the imaginary part), and the function one of that
vector, written in operators; so its gradient, its Hessian and its products with vectors are those of the tape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.containers import flatten
from autograd.errors import OptimiserError
from autograd.functional import hessian, jacobian, make_hvp, value_and_grad
from autograd.optim.vector import Array, Vector
from autograd.tensor import Tensor
from registry.errors import close_matches

_TAKES: dict[str, tuple[str, ...]] = {
    "nelder-mead": (),
    "powell": (),
    "cobyla": (),
    "cobyqa": (),
    "cg": ("jac",),
    "bfgs": ("jac",),
    "l-bfgs-b": ("jac",),
    "tnc": ("jac",),
    "slsqp": ("jac",),
    "newton-cg": ("jac", "hessp"),
    "trust-ncg": ("jac", "hessp"),
    "trust-krylov": ("jac", "hessp"),
    "trust-constr": ("jac", "hessp"),
    "dogleg": ("jac", "hess"),
    "trust-exact": ("jac", "hess"),
}
"""What each of SciPy's methods can use: the gradient, and products of the Hessian with vectors or the Hessian itself."""


def minimize(
    function: Callable[..., Any],
    x0: Any,
    *,
    method: str | Callable[..., Any] | None = None,
    args: tuple[Any, ...] = (),
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    callback: Callable[[Any], Any] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Any:
    """``scipy.optimize.minimize`` for a function of any container of arrays and numbers, with exact derivatives.

    function      ``function(x, *args)``, a real number; ``x`` has the structure, shapes and dtypes of ``x0``
    x0            where it begins; leaves that are neither floats nor complex numbers stay as they are
    method        one of SciPy's, or None for the one that SciPy takes: BFGS, L-BFGS-B with bounds, SLSQP with constraints. Those
                  that use a gradient are given it; Newton-CG, trust-ncg, trust-krylov and trust-constr products of the Hessian
                  with vectors; dogleg and trust-exact the Hessian. A function of your own is given gradient and products
    bounds        ``(lower, upper)``; each is None, a number, or a container like ``x0`` whose leaves are None, numbers or arrays.
                  Or ``scipy.optimize.Bounds`` for the vector
    constraints   ``{"type": "eq" or "ineq", "fun": function of x}``, ``scipy.optimize.NonlinearConstraint`` of a function of x,
                  or a list of them; they are given exact derivatives too. ``LinearConstraint`` is one of the vector
    callback      called with ``x`` after each iteration; ``StopIteration`` in it ends the search
    tol, options  as for SciPy

    Returns SciPy's ``OptimizeResult``, in which ``x``, and the gradient ``jac`` (trust-constr calls it ``grad``) where there is
    one, have the structure of ``x0``; what else is in it is of the vector, in the order of ``containers.flatten``.
    Needs SciPy: ``pip install "gradtape[scipy]"``. Raises OptimiserError for a method, bounds or constraints that do not fit.

    >>> def rosenbrock(p):
    ...     return ((1 - p["x"]) ** 2 + 100 * (p["y"] - p["x"] ** 2) ** 2)
    >>> result = minimize(rosenbrock, {"x": -1.2, "y": 1.0}, method="trust-exact")
    >>> {name: round(value, 6) for name, value in result.x.items()}, result.success
    ({'x': 1.0, 'y': 1.0}, True)
    """
    scipy_optimize = _scipy_optimize()
    if not callable(function):
        raise OptimiserError(f"minimize: got {function!r} of type {type(function).__name__}, expected a function of x")
    vector = Vector("minimize", x0)
    of_vector = _OfVector(function, vector, args)
    takes = _takes(method)
    derivatives: dict[str, Any] = {}
    if "jac" in takes:
        derivatives["jac"] = True
    if "hessp" in takes:
        derivatives["hessp"] = of_vector.hessian_product
    if "hess" in takes:
        derivatives["hess"] = of_vector.hessian
    result = scipy_optimize.minimize(
        of_vector.value_and_gradient if "jac" in takes else of_vector.value,
        vector.values(),
        method=method,
        bounds=_bounds(scipy_optimize, bounds, vector),
        constraints=_constraints(scipy_optimize, constraints, vector, method),
        tol=tol,
        callback=None if callback is None else _callback(callback, vector),
        options=None if options is None else dict(options),
        **derivatives,
    )
    result.x = vector.container(np.asarray(result.x, np.float64))
    for name in ("jac", "grad"):  # trust-constr has the gradient as grad, and as jac those of its constraints
        if name in result and np.shape(result[name]) == (vector.size,):
            result[name] = vector.gradient_container(np.asarray(result[name], np.float64))
    return result


def _scipy_optimize() -> Any:
    try:
        import scipy.optimize
    except ImportError as error:
        raise ImportError('minimize needs SciPy, which is missing: pip install "gradtape[scipy]"') from error
    return scipy.optimize


def _takes(method: Any) -> tuple[str, ...]:
    if method is None:
        return ("jac",)
    if callable(method):
        return ("jac", "hessp")
    found = _TAKES.get(method.lower()) if isinstance(method, str) else None
    if found is None:
        near = close_matches(str(method).lower(), _TAKES)
        raise OptimiserError(f"minimize: got method {method!r}, expected one of {list(_TAKES)}, a function, or None.{near}")
    return found


class _OfVector:
    """A function of a container as one of a vector, with its derivatives.

    The last point is kept, because methods ask for several products with the Hessian at one.
    """

    def __init__(self, function: Callable[..., Any], vector: Vector, args: tuple[Any, ...] = ()) -> None:
        self._function, self._vector, self._args = function, vector, args
        self._last: tuple[Array, Callable[[Array], Array]] | None = None

    def __call__(self, x: Any) -> Any:
        """The function of a vector: an array or a tensor."""
        return self._function(_taken_apart(x, self._vector), *self._args)

    def value(self, x: Array) -> float:
        return _number(self._function(self._vector.container(x), *self._args))

    def value_and_gradient(self, x: Array) -> tuple[float, Array]:
        value, gradient = value_and_grad(self)(x)
        return float(value), gradient

    def hessian(self, x: Array) -> Array:
        return hessian(self)(x)  # type: ignore[no-any-return]

    def hessian_product(self, x: Array, direction: Array) -> Array:
        if self._last is None or not np.array_equal(self._last[0], x):
            self._last = np.array(x), make_hvp(self)(np.array(x))[0]
        return self._last[1](np.asarray(direction, np.float64))


def _taken_apart(x: Any, vector: Vector) -> Any:
    """The container with the numbers of a vector, by operators that a tape records."""
    if type(x) is not Tensor:
        return vector.container(x)
    parts = {}
    for place, stretch in zip(vector.places, vector.stretches, strict=True):
        leaf = vector.leaf(place)
        part = x[stretch]
        if np.iscomplexobj(leaf):
            part = part[::2] + 1j * part[1::2]
        part = op.reshape(part, shape=np.shape(leaf))
        dtype = np.asarray(leaf).dtype
        parts[place] = part if part.dtype == dtype else op.astype(part, dtype=dtype)
    return vector.with_leaves(parts)


def _number(value: Any) -> float:
    plain = np.asarray(value)
    if plain.shape != () or plain.dtype.kind not in "fiub":
        raise OptimiserError(f"minimize: the function returned {_spelled(value)}, expected one real number")
    return float(plain)


def _spelled(value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    return f"{value!r:.60} of type {type(value).__name__}"


def _callback(callback: Callable[[Any], Any], vector: Vector) -> Callable[..., Any]:
    def called(xk: Array, *_: Any) -> Any:
        return callback(vector.container(np.asarray(xk, np.float64)))

    return called


# -------------------------------------------------------------------------------------------------- bounds


def _bounds(scipy_optimize: Any, bounds: Any, vector: Vector) -> Any:
    if bounds is None or isinstance(bounds, scipy_optimize.Bounds):
        return bounds
    if not (isinstance(bounds, tuple | list) and len(bounds) == 2):
        raise OptimiserError(f"minimize: bounds is {bounds!r:.60}, expected (lower, upper), or scipy.optimize.Bounds")
    lower, upper = (
        _bound(name, each, vector, inf) for name, each, inf in zip(("lower", "upper"), bounds, (-np.inf, np.inf), strict=True)
    )
    if not np.all(lower <= upper):
        raise OptimiserError("minimize: a lower bound is above the upper one, expected lower <= upper for every number")
    return scipy_optimize.Bounds(lower, upper)


def _bound(which: str, bound: Any, vector: Vector, inf: float) -> Array:
    """One side of the bounds as a vector, infinite where there is none."""
    filled = np.full(vector.size, inf)
    if bound is None:
        return filled
    if any(np.iscomplexobj(vector.leaf(place)) for place in vector.places):
        raise OptimiserError(
            "minimize: bounds of complex numbers have no meaning, expected real ones; hold both parts as real arrays"
        )
    if isinstance(bound, int | float | np.number):
        filled[:] = bound
        return filled
    leaves = vector.leaves_like(f"the {which} bounds", bound)
    for place, stretch in zip(vector.places, vector.stretches, strict=True):
        each = leaves[place]
        if each is None:
            continue
        shape = np.shape(vector.leaf(place))
        try:
            filled[stretch] = np.broadcast_to(np.asarray(each, np.float64), shape).reshape(-1)
        except (TypeError, ValueError):
            raise OptimiserError(
                f"minimize: the {which} bound of {vector.path(place)} is {_spelled(each)}, expected None, a number, or an"
                f" array of shape {shape}"
            ) from None
    return filled


# -------------------------------------------------------------------------------------------------- constraints


def _constraints(scipy_optimize: Any, constraints: Any, vector: Vector, method: Any) -> Any:
    """The same constraints of the vector, with their derivatives; those of second order for the one method that takes them."""
    kinds = (Mapping, scipy_optimize.NonlinearConstraint, scipy_optimize.LinearConstraint)
    given: Sequence[Any] = [constraints] if isinstance(constraints, kinds) else list(constraints)
    with_hessian = isinstance(method, str) and method.lower() == "trust-constr"
    return [_constraint(scipy_optimize, each, vector, with_hessian) for each in given]


def _constraint(scipy_optimize: Any, constraint: Any, vector: Vector, with_hessian: bool) -> Any:
    if isinstance(constraint, scipy_optimize.LinearConstraint):
        return constraint
    if isinstance(constraint, scipy_optimize.NonlinearConstraint):
        of_vector = _Flat(_OfVector(constraint.fun, vector))
        given: dict[str, Any] = {"lb": constraint.lb, "ub": constraint.ub, "keep_feasible": constraint.keep_feasible}
    else:
        _check_constraint(constraint)
        of_vector = _Flat(_OfVector(constraint["fun"], vector, tuple(constraint.get("args", ()))))
        if not with_hessian:
            return {"type": constraint["type"], "fun": of_vector, "jac": jacobian(of_vector)}
        given = {"lb": 0.0, "ub": 0.0 if constraint["type"] == "eq" else np.inf}
    if with_hessian:
        given["hess"] = of_vector.weighted_hessian
    return scipy_optimize.NonlinearConstraint(of_vector, jac=jacobian(of_vector), **given)


def _check_constraint(constraint: Any) -> None:
    if not isinstance(constraint, Mapping) or constraint.get("type") not in ("eq", "ineq") or not callable(constraint.get("fun")):
        raise OptimiserError(
            f"minimize: got a constraint {constraint!r:.80}, expected {{'type': 'eq' or 'ineq', 'fun': a function of x}}, or"
            " scipy.optimize.NonlinearConstraint"
        )
    unknown = set(constraint) - {"type", "fun", "args"}
    if unknown:
        raise OptimiserError(
            f"minimize: a constraint has {sorted(unknown)}, expected type, fun and args; derivatives are computed"
        )


class _Flat:
    """A function of a vector whose value is an array of any shape, a number, or a list of numbers, as one to a vector."""

    def __init__(self, function: _OfVector) -> None:
        self._function = function

    def __call__(self, x: Any) -> Any:
        value = self._function(x)
        if isinstance(value, list | tuple):
            value = op.concatenate([_line(each) for each in flatten(value)[0]], axis=0)
        return _line(value)

    def weighted_hessian(self, x: Array, weights: Array) -> Array:
        """The Hessian of the sum of the values times these weights."""
        return hessian(lambda each: op.sum(self(each) * np.asarray(weights, np.float64)))(x)  # type: ignore[no-any-return]


def _line(value: Any) -> Any:
    return op.reshape(value if isinstance(value, Tensor) else np.asarray(value, np.float64), shape=(-1,))
