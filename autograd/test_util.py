"""HIPS autograd's checks of gradients by name. ``autograd.check`` holds the judge, and says more of what it finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from autograd.check import check_gradient
from autograd.containers import flatten
from autograd.core import make_jvp, make_vjp
from autograd.errors import GradientError
from autograd.tensor import innermost_value
from autograd.vspaces import vspace
from autograd.wrap_util import get_name, unary_to_nary

__all__ = [
    "EPS", "RTOL", "TOL", "GradientCheckError", "check_equivalent", "check_grads", "check_jvp", "check_vjp", "combo_check",
    "get_name", "make_jvp", "make_numerical_jvp", "make_vjp", "scalar_close",
]  # fmt: skip

EPS = 1e-6
TOL = 1e-6
RTOL = 1e-6

Function = Callable[..., Any]
MODES = ("fwd", "rev")

PASSED = ("kink", "vacuous")
"""Verdicts that these checks let pass, as HIPS autograd's do: a slope between those of a kink, and a constant."""


class GradientCheckError(GradientError, AssertionError):
    """A gradient is not what differences of the function say."""


@unary_to_nary
def check_grads(f: Function, x: Any, modes: Sequence[str] = MODES, order: int = 2) -> None:
    """``check_grads(f, argnum=0, modes=["fwd", "rev"], order=2)(*args)``: compare derivatives of ``f`` with differences.

    Each order checks the gradient of the one before along random directions; all derivatives up to ``order`` are checked, in
    forward mode, reverse mode and every mixture of those named. Arguments in less than double precision are checked as doubles.
    Raises GradientCheckError, an AssertionError too, for a derivative that is wrong.

    >>> check_grads(lambda x: x**3, order=3)(2.0)
    """
    unknown = [each for each in modes if each not in MODES]
    if unknown or not modes or order < 1:
        raise GradientError(f"check_grads: got modes={list(modes)}, order={order}; expected of {list(MODES)}, and order >= 1")
    _check(f, x, [name for short, name in (("rev", "reverse"), ("fwd", "forward")) if short in modes])
    if order > 1:
        for mode in modes:
            derivative, direction = _derivative(f, x, mode)
            check_grads(derivative, (0, 1), modes, order=order - 1)(x, direction)


def _derivative(f: Function, x: Any, mode: str) -> tuple[Function, Any]:
    """The derivative of ``f`` as a function of the point and a direction, and a direction."""
    if mode == "fwd":
        return (lambda point, v: make_jvp(f, point)(v)[1]), vspace(x).randn()
    return (lambda point, v: make_vjp(f, point)[0](v)), vspace(f(x)).randn()


def _check(f: Function, x: Any, modes: Sequence[str]) -> None:
    report = check_gradient(f, x, n_directions=2, max_elements=2, modes=modes, raise_error=False)
    if not report.ok and report.verdict not in PASSED:
        raise GradientCheckError(f"{get_name(f)}: {report}")


def check_vjp(f: Function, x: Any) -> None:
    """Compare the gradient of a function of one argument, in reverse mode, with differences.

    >>> check_vjp(lambda x: x * x, 2.0)
    """
    _check(f, x, ["reverse"])


def check_jvp(f: Function, x: Any) -> None:
    """Compare the derivative of a function of one argument, in forward mode, with differences.

    >>> check_jvp(lambda x: x * x, 2.0)
    """
    _check(f, x, ["forward"])


def make_numerical_jvp(f: Function, x: Any) -> Function:
    """A function of a direction that gives the derivative of ``f`` along it by a central difference of step ``EPS``.

    >>> round(float(make_numerical_jvp(lambda x: x * x, 3.0)(1.0)), 6)
    6.0
    """
    point, results = vspace(x), vspace(f(x))

    def push(v: Any) -> Any:
        up = f(point.add(x, point.scalar_mul(v, EPS / 2)))
        down = f(point.add(x, point.scalar_mul(v, -EPS / 2)))
        return results.scalar_mul(results.add(up, results.scalar_mul(down, -1.0)), 1.0 / EPS)

    return push


def check_equivalent(x: Any, y: Any) -> None:
    """Raise GradientCheckError unless two values have one vector space and agree, to ``RTOL`` or to ``TOL``."""
    if vspace(x) != vspace(y):
        raise GradientCheckError(f"the values lie in different spaces, {vspace(x)!r} and {vspace(y)!r}")
    for one, other in zip(flatten(x)[0], flatten(y)[0], strict=True):
        if not np.allclose(innermost_value(one), innermost_value(other), rtol=RTOL, atol=TOL):
            raise GradientCheckError(f"the values differ: {x!r} and {y!r}")


def scalar_close(a: Any, b: Any) -> bool:
    """Whether two numbers agree, to ``RTOL`` or to ``TOL``.

    >>> scalar_close(1.0, 1.0 + 1e-7), scalar_close(1.0, 1.1)
    (True, False)
    """
    return bool(abs(a - b) < TOL or abs(a - b) < RTOL * abs(a + b))


def combo_check(fun: Function, *args: Any, **kwargs: Any) -> Function:
    """``combo_check(f, ...)(xs, ys, option=[...])``: ``check_grads(f, ...)`` at every combination of what the lists hold.

    >>> from autograd import numpy as np
    >>> combo_check(np.sum, order=1)([np.ones(3), np.ones((2, 2))], axis=[None, 0])
    """

    def check_all(*columns: Any, **options: Any) -> None:
        for values in product(*columns):
            for chosen in product(*options.values()):
                check_grads(fun, *args, **kwargs)(*values, **dict(zip(options, chosen, strict=True)))

    return check_all
