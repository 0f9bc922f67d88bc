"""gradtape: an autograd engine whose centre is the gradient tape.

Table of contents:

the tape       ``Tape``, ``TapeNode``, ``Tensor``, ``run_kernel``
functions      ``grad``, ``value_and_grad``, ``grad_and_aux``, ``elementwise_grad``, ``holomorphic_grad``, ``vjp``, ``make_vjp``,
               ``jvp``, ``make_jvp``, ``jacobian``, ``jacrev``, ``jacfwd``, ``hessian``, ``hessian_vector_product``, ``make_hvp``
shaping them   ``stop_gradient``, ``checkpoint``, ``custom_gradient``
containers     ``register_container``
anomalies      ``detect_anomaly`` finds the kernel that makes NaN or inf
arrays         ``autograd.numpy``, NumPy's functions over tensors
models         ``autograd.nn``, layers and losses, and ``autograd.optim``, which trains them: loaded when first asked for
on demand      the rest of HIPS autograd's interface, ``primitive``, ``deriv``, ``multigrad_dict``, ``autograd.extend`` and so on:
               loaded when it is first asked for, see the table at the end
errors         ``GradtapeError`` and its family (``autograd.errors``)

The distribution is called gradtape. HIPS autograd has the same import name; ``autograd.__distribution__`` tells which one
is installed.
"""

__version__ = "0.1.0"
__distribution__ = "gradtape"

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import registry as _registry  # noqa: F401  # operators and kernels come first
from autograd import gradients as _gradients  # noqa: F401  # then their rules
from autograd import methods as _methods  # then Tensor's operators
from autograd import numpy as numpy
from autograd.anomaly import detect_anomaly
from autograd.containers import register_container
from autograd.custom import checkpoint, custom_gradient
from autograd.errors import (
    AnomalyError,
    BackendError,
    GradientError,
    GradtapeError,
    InPlaceError,
    KernelError,
    KernelNotFoundError,
    NotTrackedError,
    OutArrayError,
    RegistrationError,
    SchemaError,
    TapeError,
)
from autograd.functional import (
    elementwise_grad,
    grad,
    grad_and_aux,
    hessian,
    hessian_vector_product,
    holomorphic_grad,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    make_hvp,
    make_jvp,
    make_vjp,
    stop_gradient,
    value_and_grad,
    vjp,
)
from autograd.records import TapeNode
from autograd.tape import Tape
from autograd.tensor import Tensor
from autograd.variant_calls import run_kernel

__all__ = [
    "AnomalyError",
    "BackendError",
    "GradientError",
    "GradtapeError",
    "InPlaceError",
    "KernelError",
    "KernelNotFoundError",
    "NotTrackedError",
    "OutArrayError",
    "RegistrationError",
    "SchemaError",
    "Tape",
    "TapeError",
    "TapeNode",
    "Tensor",
    "checkpoint",
    "custom_gradient",
    "detect_anomaly",
    "elementwise_grad",
    "grad",
    "grad_and_aux",
    "hessian",
    "hessian_vector_product",
    "holomorphic_grad",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "make_hvp",
    "make_jvp",
    "make_vjp",
    "numpy",
    "register_container",
    "run_kernel",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]


def _declare_scipys(ufunc: Any) -> bool:
    """Import our form of ``scipy.special`` for one of its ufuncs, called with a tensor before anybody asked for it."""
    theirs = sys.modules.get("scipy.special")
    if "autograd.scipy.special" in sys.modules or getattr(theirs, ufunc.__name__, None) is not ufunc:
        return False
    import_module("autograd.scipy.special")
    return True


_methods.ufunc_sources.append(_declare_scipys)

_ON_DEMAND = {
    "builtins": ("builtins", "dict", "isinstance", "list", "tuple", "type"),
    "core": ("core", "primitive"),
    "differential_operators": (
        "deriv", "differential_operators", "grad_named", "hessian_tensor_product", "make_ggnvp", "make_jvp_reversemode",
        "multigrad_dict", "tensor_jacobian_product", "vector_jacobian_product",
    ),
    "extend": ("extend",), "misc": ("misc",), "nn": ("nn",), "optim": ("optim",), "scipy": ("scipy",),
    "test_util": ("test_util",), "tracer": ("tracer",), "util": ("util",), "wrap_util": ("wrap_util",),
}  # fmt: skip
"""Module -> the names that it gives this one when they are first asked for; its own name stands for itself."""

if not TYPE_CHECKING:  # to a type checker a module with this function has every name

    def __getattr__(name: str) -> Any:
        for module, names in _ON_DEMAND.items():
            if name in names:
                loaded = import_module(f"autograd.{module}")
                return loaded if name == module else getattr(loaded, name)
        raise AttributeError(f"module 'autograd' has no attribute {name!r}")
