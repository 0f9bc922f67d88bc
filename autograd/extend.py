"""What code needs that extends the library: functions with rules of its own, and the spaces that derivatives live in.

``primitive``            a function recorded as one operation; ``defvjp``, ``defvjp_argnum`` and ``defvjp_argnums`` give its
                         gradients, ``defjvp``, ``defjvp_argnum``, ``defjvp_argnums`` and ``def_linear`` its forward rules
``notrace_primitive``    a function whose value is a constant; ``register_notrace`` makes a primitive one
``vspace``, ``VSpace``   zeros, ones, a basis and sums in the structure of a value
``Box``, ``Node`` ...    the words of HIPS autograd's recorder, see ``autograd.tracer``

The names are those of HIPS autograd. ``autograd.custom_gradient`` is the shorter way to give one function its gradient.
"""

from autograd.core import (
    JVPNode,
    SparseObject,
    VJPNode,
    VSpace,
    def_linear,
    defjvp,
    defjvp_argnum,
    defjvp_argnums,
    defvjp,
    defvjp_argnum,
    defvjp_argnums,
    vspace,
)
from autograd.tracer import Box, Node, getval, isbox, notrace_primitive, primitive, register_notrace

__all__ = [
    "Box", "JVPNode", "Node", "SparseObject", "VJPNode", "VSpace", "def_linear", "defjvp", "defjvp_argnum", "defjvp_argnums",
    "defvjp", "defvjp_argnum", "defvjp_argnums", "getval", "isbox", "notrace_primitive", "primitive", "register_notrace",
    "vspace",
]  # fmt: skip
