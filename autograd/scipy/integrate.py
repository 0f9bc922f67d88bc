"""SciPy's solver of ordinary differential equations over tensors: ``import autograd.scipy.integrate as integrate``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as _np
import scipy.integrate as _integrate

from autograd import operators as op
from autograd.containers import Structure, flatten
from autograd.engine import innermost_tape, resolve
from autograd.errors import NotTrackedError
from autograd.gradients.scipy import integrate as _rules  # noqa: F401  # operators and rules come first
from autograd.scipy.fallback import as_array, holds_tensors, refuse, without_tensors
from autograd.tensor import Tensor

__all__ = ["odeint"]


def odeint(func: Callable[..., Any], y0: Any, t: Any, args: Any = (), *positional: Any, **options: Any) -> Any:
    """``scipy.integrate.odeint``: the solution of ``dy/dt = func(y, t, *args)`` at the times ``t``, with ``y0`` at the first.

    Differentiable in ``y0``, in ``t``, and in the tensors among ``args``, nested or not. ``func`` is written with
    ``autograd.numpy``. Options are SciPy's; gradients are solutions too, with the same tolerances, so set ``rtol`` and ``atol``
    to the accuracy that they need.

    Raises NotTrackedError for a tensor that ``func`` uses without getting it in ``args``, and for ``full_output`` with a tensor.

    >>> from autograd import grad
    >>> import numpy as np
    >>> growth = lambda rate: odeint(lambda y, t, rate: rate * y, 1.0, np.array([0.0, 2.0]), (rate,))[1, 0]
    >>> round(grad(growth)(0.5), 4), round(2.0 * float(np.exp(1.0)), 4)
    (5.4366, 5.4366)
    """
    if not isinstance(args, tuple):
        args = (args,)
    leaves, structure = flatten(args)
    leaves = [resolve(each) for each in leaves]
    given = {**dict(zip(_POSITIONAL, positional, strict=False)), **options}
    for name, each in given.items():
        if holds_tensors(each):  # SciPy would never free it
            refuse("scipy.integrate.odeint", name, "pass its value")
    if not holds_tensors(y0, t, leaves):
        return _integrate.odeint(_followed(func), y0, t, args, *positional, **options)
    if given.pop("full_output", False):
        raise NotTrackedError("scipy.integrate.odeint: got full_output together with a tensor, expected none; call it without")
    first_time = given.pop("tfirst", False)
    places = [place for place, each in enumerate(leaves) if type(each) is Tensor]
    bare = structure.without_leaves()
    rest = [None if type(each) is Tensor else each for each in leaves]
    if given.get("Dfun") is not None:
        given["Dfun"] = partial(_called, given["Dfun"], first_time, bare, rest, [])
        if places:
            del given["Dfun"]  # it would need the values of the tensors; the solver estimates the Jacobian
    y0 = as_array("odeint", y0)
    y0 = op.reshape(y0, shape=(-1,)) if not _np.shape(y0 if type(y0) is not Tensor else y0.shape) else y0
    function = partial(_called, func, first_time, bare, rest, places)
    inputs = [y0, as_array("odeint", t), *[leaves[place] for place in places]]
    return op.scipy_odeint(inputs, function=function, options=given)


_POSITIONAL = (
    "Dfun", "col_deriv", "full_output", "ml", "mu", "rtol", "atol", "tcrit", "h0", "hmax", "hmin", "ixpr", "mxstep", "mxhnil",
    "mxordn", "mxords", "printmessg", "tfirst",
)  # fmt: skip


def _called(
    func: Callable[..., Any],
    first_time: bool,
    structure: Structure,
    rest: list[Any],
    places: list[int],
    y: Any,
    t: Any,
    *parameters: Any,
) -> Any:
    """``func`` with its arguments put together again: tensors, or their values, at their places."""
    leaves = list(rest)
    for place, each in zip(places, parameters, strict=True):
        leaves[place] = each
    first = (t, y) if first_time else (y, t)
    return _followed(func)(*first, *structure.rebuild(leaves))


def _followed(func: Callable[..., Any]) -> Callable[..., Any]:
    """``func``, which may not return a tensor unless it gets one."""

    def checked(*args: Any) -> Any:
        dy = func(*args)
        if holds_tensors(dy):
            tape, reached = innermost_tape([dy]), innermost_tape([flatten(args)[0]])
            if reached is None or (tape is not None and tape._serial > reached._serial):
                raise NotTrackedError(
                    "scipy.integrate.odeint: func uses a tensor that it does not get (of a closure or a global), whose gradient"
                    " would be lost; pass it in args"
                )
        return dy

    return checked


def __getattr__(name: str) -> Any:
    return without_tensors(getattr(_integrate, name), f"scipy.integrate.{name}")
