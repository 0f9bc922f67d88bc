"""HIPS autograd's ``core`` by name: its tables of rules, its vector spaces, and derivatives of functions of one argument."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any

from autograd.primitive_rules import (
    SparseObject,
    def_linear,
    defjvp,
    defjvp_argnum,
    defjvp_argnums,
    defvjp,
    defvjp_argnum,
    defvjp_argnums,
    primitive_jvps,
    primitive_vjps,
)
from autograd.tracer import Box, JVPNode, Node, VJPNode, getval, isbox, make_jvp, make_vjp, toposort, trace
from autograd.tracer import primitive as primitive_
from autograd.util import func, subval
from autograd.vspaces import VSpace, vspace

__all__ = [
    "Box", "JVPNode", "Node", "SparseBox", "SparseObject", "VJPNode", "VSpace", "add_outgrads", "backward_pass", "def_linear",
    "defjvp", "defjvp_argnum", "defjvp_argnums", "defvjp", "defvjp_argnum", "defvjp_argnums", "deprecated_defgrad",
    "deprecated_defvjp", "deprecated_defvjp_is_zero", "func", "getval", "identity_jvp", "identity_vjp", "isbox", "make_jvp",
    "make_vjp", "primitive", "primitive_", "primitive_jvps", "primitive_vjps", "primitive_with_deprecation_warnings",
    "sparse_add", "sparse_object_types", "subval", "sum_outgrads", "toposort", "trace", "vspace",
]  # fmt: skip

VSpace.register(SparseObject, lambda sparse: sparse.vs)
sparse_object_types = {SparseObject}


class SparseBox(Box):
    """A sparse gradient while it is traced; here gradients of indexing are kept by the walk, and there is none."""

    @staticmethod
    def holds(value: Any) -> bool:
        return False


def backward_pass(g: Any, end_node: Any) -> Any:
    """The gradient of the root of a trace for the cotangent of its end, which ``trace`` returned.

    >>> _, end = trace(VJPNode.new_root(), lambda x: x * x, 3.0)
    >>> backward_pass(1.0, end)
    6.0
    """
    return end_node.vjp(g)


def add_outgrads(prev_g_flagged: tuple[Any, bool] | None, g: Any) -> tuple[Any, bool]:
    """The sum of a gradient with what came before, None or ``(sum, whether it may be changed in place)``, in that form.

    >>> add_outgrads(add_outgrads(None, 1.0), 2.0)
    (3.0, True)
    """
    if type(g) is SparseObject:
        return sparse_add(g.vs, None if prev_g_flagged is None else prev_g_flagged[0], g), True
    if prev_g_flagged is None:
        return g, False
    space = vspace(g)
    previous, mutable = prev_g_flagged
    return (space.mut_add if mutable else space.add)(previous, g), True


def sum_outgrads(gs: Iterable[Any]) -> Any:
    """The sum of gradients."""
    total: Any = reduce(add_outgrads, gs, None)
    return total[0]


def sparse_add(vs: Any, x_prev: Any, x_new: Any) -> Any:
    """A sparse gradient as an array, added to what came before (None: zeros)."""
    return x_new.mut_add(vs.zeros() if x_prev is None else vs.add(vs.zeros(), x_prev))


def identity_vjp(argnums: Any, *args: Any) -> Callable[[Any], Any]:
    """The rule whose gradient is the cotangent."""
    return lambda g: g


def identity_jvp(g: Any, *args: Any, **kwargs: Any) -> Any:
    """The forward rule whose tangent is that of the argument."""
    return g


# -------------------------------------------------------------------------------------------------- older forms

_OLD = "{} is the form of HIPS autograd before 1.2; use autograd.extend.defvjp"


def deprecated_defvjp(primitive_fun: Callable[..., Any]) -> Callable[..., None]:
    """A function that gives the primitive a rule ``(g, ans, space of argument, space of value, *args) -> gradient``; it warns."""
    makers: dict[int, Callable[..., Any]] = {}

    def defvjp_unstaged(vjpmaker: Callable[..., Any], argnum: int = 0) -> None:
        warnings.warn(_OLD.format("defvjp as a method"), DeprecationWarning, stacklevel=2)

        def staged(ans: Any, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
            return lambda g: vjpmaker(g, ans, vspace(args[argnum]), vspace(g), *args, **kwargs)

        makers[argnum] = staged
        defvjp(primitive_fun, *makers.values(), argnums=tuple(makers))

    return defvjp_unstaged


def deprecated_defvjp_is_zero(primitive_fun: Callable[..., Any]) -> Callable[..., None]:
    """A function that says in which arguments the gradient of the primitive is zero; it warns."""
    zeros: set[int] = set()

    def defvjp_is_zero(argnums: Sequence[int] = (0,)) -> None:
        warnings.warn(_OLD.format("defvjp_is_zero"), DeprecationWarning, stacklevel=2)
        zeros.update(argnums)
        defvjp(primitive_fun, *[None] * len(zeros), argnums=sorted(zeros))

    return defvjp_is_zero


def deprecated_defgrad(primitive_fun: Callable[..., Any]) -> Callable[..., None]:
    """A function that gives the primitive a rule ``(ans, *args) -> (g -> gradient)`` for one argument; it warns."""
    makers: dict[int, Callable[..., Any]] = {}

    def defgrad(gradfun: Callable[..., Any], argnum: int = 0) -> None:
        warnings.warn(_OLD.format("defgrad"), DeprecationWarning, stacklevel=2)
        makers[argnum] = gradfun
        defvjp(primitive_fun, *makers.values(), argnums=tuple(makers))

    return defgrad


def primitive(f_raw: Callable[..., Any]) -> Callable[..., Any]:
    """``autograd.extend.primitive`` with the older methods ``defvjp``, ``defvjp_is_zero`` and ``defgrad``."""
    function: Any = primitive_(f_raw)
    function.defvjp = deprecated_defvjp(function)
    function.defvjp_is_zero = deprecated_defvjp_is_zero(function)
    function.defgrad = deprecated_defgrad(function)
    return function  # type: ignore[no-any-return]


primitive_with_deprecation_warnings = primitive
