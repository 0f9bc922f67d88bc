"""What rules of primitives are written with, under the names that HIPS autograd's users import it by.

Its own rules of NumPy's functions lie in the module of this name too. Here those are in ``autograd.gradients``, in another
form; the old names can be imported, and say so when they are called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.extend import SparseObject, VJPNode, defvjp, defvjp_argnum, primitive, register_notrace, vspace
from autograd.tensor import innermost_value
from autograd.tracer import ArrayBox

__all__ = [
    "ArrayBox", "SparseObject", "VJPNode", "balanced_eq", "defvjp", "defvjp_argnum", "match_complex", "metadata", "primitive",
    "register_notrace", "replace_zero", "unbroadcast", "unbroadcast_f", "vspace",
]  # fmt: skip

Metadata = tuple[tuple[int, ...], int, Any, bool]


def metadata(target: Any) -> Metadata:
    """Shape, number of axes, dtype of a value, and whether it is complex.

    >>> metadata(np.zeros((2, 3), complex))
    ((2, 3), 2, dtype('complex128'), True)
    """
    plain = np.asarray(innermost_value(target))
    return plain.shape, plain.ndim, plain.dtype, plain.dtype.kind == "c"


def unbroadcast(x: Any, target_meta: Metadata, broadcast_idx: int = 0) -> Any:
    """A gradient summed over the axes along which its argument was repeated; real if the argument is.

    ``target_meta`` is ``metadata(argument)``; axes that the argument lacks stand at ``broadcast_idx``.

    >>> unbroadcast(np.ones((4, 3)), metadata(np.ones((1, 3))))
    array([[4., 4., 4.]])
    """
    shape, ndim, _, is_complex = target_meta
    while np.ndim(innermost_value(x)) > ndim:
        x = op.sum(x, axis=broadcast_idx)
    got = np.shape(innermost_value(x))
    axes = tuple([axis for axis, length in enumerate(shape) if length == 1 and got[axis] != 1])
    if axes:
        x = op.sum(x, axis=axes, keepdims=True)
    return op.real(x) if np.iscomplexobj(innermost_value(x)) and not is_complex else x


def unbroadcast_f(target: Any, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """``f``, with what it returns brought to the shape of ``target``: the last touch of a rule of a function that broadcasts.

    >>> from autograd import grad
    >>> scale = primitive(lambda x, y: x * y)
    >>> defvjp(scale, lambda ans, x, y: unbroadcast_f(x, lambda g: g * y))
    >>> grad(lambda x: scale(x, np.ones(3)).sum())(2.0)
    3.0
    """
    meta = metadata(target)
    return lambda g: unbroadcast(f(g), meta)


def match_complex(target: Any, x: Any) -> Any:
    """``x``, real if ``target`` is real and complex if it is complex.

    >>> match_complex(1.0, np.array([2.0 + 1.0j])), match_complex(1.0j, np.array([2.0]))
    (array([2.]), array([2.+0.j]))
    """
    wanted, got = np.iscomplexobj(innermost_value(target)), np.iscomplexobj(innermost_value(x))
    if got and not wanted:
        return op.real(x)
    return op.add(x, 0.0j) if wanted and not got else x


def replace_zero(x: Any, val: Any) -> Any:
    """``x`` with ``val`` in place of zeros.

    >>> replace_zero(np.array([0.0, 2.0]), 1.0)
    array([1., 2.])
    """
    return op.where(np.not_equal(innermost_value(x), 0), x, val)


def balanced_eq(x: Any, z: Any, y: Any) -> Any:
    """1 where ``x`` equals ``z`` and ``y`` does not, 1/2 where both do, 0 elsewhere.

    >>> balanced_eq(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]), np.array([0.0, 2.0, 4.0]))
    array([1. , 0.5, 0. ])
    """
    x, z, y = innermost_value(x), innermost_value(z), innermost_value(y)
    return np.equal(x, z) / (1.0 + np.equal(x, y))


_RULES = {
    "array_from_args_gradmaker", "array_from_scalar_or_array_gradmaker", "dot_adjoint_0", "dot_adjoint_1", "dot_vjp_0",
    "dot_vjp_1", "grad_broadcast_to", "grad_chooser", "grad_concatenate_args", "grad_diff", "grad_einsum", "grad_gradient",
    "grad_inner", "grad_kron", "grad_np_cumsum", "grad_np_mean", "grad_np_prod", "grad_np_std", "grad_np_sum", "grad_np_var",
    "grad_partition", "grad_repeat", "grad_reshape_list", "grad_rollaxis", "grad_sort", "grad_tile", "grad_transpose",
    "matmul_adjoint_0", "matmul_adjoint_1", "matmul_vjp_0", "matmul_vjp_1", "np_abs_vjp", "np_conj_vjp", "pad_vjp",
    "repeat_to_match_shape", "reverse_axis", "tensordot_adjoint_0", "tensordot_adjoint_1", "tensordot_vjp_0",
    "tensordot_vjp_1", "unbroadcast_einsum", "unpermuter", "untake", "wrapped_reshape",
}  # fmt: skip
"""Rules and their parts that HIPS autograd keeps in this module."""


def not_here(name: str) -> Callable[..., Any]:
    """A function that stands for an internal of HIPS autograd: it raises NotImplementedError that says what to use."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"{name} is a part of HIPS autograd's own rules, which are not used here; take the gradient of the function with"
            " autograd.make_vjp, or read its rule in autograd.gradients"
        )

    refuse.__name__ = refuse.__qualname__ = name
    return refuse


def __getattr__(name: str) -> Any:
    if name in _RULES:
        return not_here(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
