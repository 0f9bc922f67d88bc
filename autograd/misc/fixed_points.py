"""Fixed points of a parametrised map, differentiable without the steps that led there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd.core import make_vjp
from autograd.extend import defvjp, primitive
from autograd.vspaces import vspace

__all__ = ["fixed_point"]


@primitive
def fixed_point(
    f: Callable[[Any], Callable[[Any], Any]], a: Any, x0: Any, distance: Callable[[Any, Any], Any], tol: float
) -> Any:
    """Where ``x = f(a)(x)``, by repeating the map from ``x0`` until ``distance`` between two steps is at most ``tol``.

    It can be differentiated in ``a``, to any order: by the implicit function theorem the gradient for a cotangent ``g`` is that
    of ``f`` in ``a`` for the cotangent ``w`` that solves ``w = g + w df/dx``, itself a fixed point (Christianson, "Reverse
    accumulation and attractive fixed points", Optimization Methods and Software 3, 1994). The map must contract.

    >>> from autograd import grad
    >>> def newton_root(a):
    ...     return lambda x: 0.5 * (x + a / x)
    >>> root = lambda a: fixed_point(newton_root, a, 1.0, lambda x, y: abs(x - y), 1e-12)
    >>> round(grad(root)(4.0), 9)
    0.25
    """
    step = f(a)
    before, x = x0, step(x0)
    while distance(x, before) > tol:
        before, x = x, step(x)
    return x


def _adjoint_step(f: Callable[[Any], Callable[[Any], Any]]) -> Callable[[Any], Callable[[Any], Any]]:
    """The map whose fixed point is the cotangent of ``f(a)(x)``, given ``(a, x, g)``."""

    def with_parameters(parameters: Any) -> Callable[[Any], Any]:
        a, x, g = parameters
        pull_back, _ = make_vjp(f(a), x)
        return lambda w: vspace(x).add(g, pull_back(w))

    return with_parameters


def _gradient(ans: Any, f: Any, a: Any, x0: Any, distance: Any, tol: float) -> Callable[[Any], Any]:
    pull_back, _ = make_vjp(lambda parameters: f(parameters)(ans), a)
    return lambda g: pull_back(fixed_point(_adjoint_step(f), (a, ans, g), vspace(ans).zeros(), distance, tol))


defvjp(fixed_point, _gradient, None, argnums=(1, 2))
