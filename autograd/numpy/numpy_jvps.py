"""What forward rules of primitives are written with, under the names that HIPS autograd's users import it by.

Its own forward rules of NumPy's functions have no counterpart: forward mode follows from the rules in ``autograd.gradients``.
Their names can be imported, and say so when they are called.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd import operators as op
from autograd.extend import JVPNode, def_linear, defjvp, defjvp_argnum, register_notrace, vspace
from autograd.numpy.numpy_vjps import balanced_eq, match_complex, metadata, not_here, replace_zero
from autograd.tensor import innermost_value

__all__ = [
    "JVPNode", "balanced_eq", "broadcast", "def_linear", "defjvp", "defjvp_argnum", "match_complex", "metadata",
    "register_notrace", "replace_zero", "vspace",
]  # fmt: skip


def broadcast(x: Any, target: Any) -> Any:
    """A tangent repeated to the shape of a value; complex if that is.

    >>> broadcast(np.array([1.0, 2.0]), np.zeros((2, 2)))
    array([[1., 2.],
           [1., 2.]])
    """
    shape = np.broadcast_shapes(np.shape(innermost_value(x)), np.shape(innermost_value(target)))
    repeated = x if shape == np.shape(innermost_value(x)) else op.copy(op.broadcast_to(x, shape=shape))
    complex_target = np.iscomplexobj(innermost_value(target)) and not np.iscomplexobj(innermost_value(repeated))
    return op.add(repeated, 0.0j) if complex_target else repeated


_RULES = {
    "atleast_jvpmaker", "dot_adjoint_0", "dot_adjoint_1", "forward_grad_np_std", "forward_grad_np_var", "fwd_grad_chooser",
    "fwd_grad_concatenate_args", "fwd_grad_partition", "fwd_grad_sort", "np_abs_jvp", "np_conj_jvp", "tensordot_adjoint_0",
    "tensordot_adjoint_1", "untake",
}  # fmt: skip
"""Rules and their parts that HIPS autograd keeps in this module."""


def __getattr__(name: str) -> Any:
    if name in _RULES:
        return not_here(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
