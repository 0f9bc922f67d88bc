"""gradtape: an autograd engine whose centre is the gradient tape.

Table of contents:

the tape       ``Tape``, ``TapeNode``, ``Tensor``, ``run_kernel``
functions      ``grad``, ``value_and_grad``, ``grad_and_aux``, ``elementwise_grad``, ``holomorphic_grad``, ``vjp``, ``make_vjp``,
               ``jvp``, ``make_jvp``, ``jacobian``, ``jacrev``, ``jacfwd``, ``hessian``, ``hessian_vector_product``, ``make_hvp``
shaping them   ``stop_gradient``, ``checkpoint``, ``custom_gradient``
containers     ``register_container``
arrays         ``autograd.numpy``, NumPy's functions over tensors
errors         ``GradtapeError`` and its family (``autograd.errors``)

The distribution is called gradtape. HIPS autograd has the same import name; ``autograd.__distribution__`` tells which one
is installed.
"""

__version__ = "0.1.0"
__distribution__ = "gradtape"

import registry as _registry  # noqa: F401  # operators and kernels come first
from autograd import gradients as _gradients  # noqa: F401  # then their rules
from autograd import methods as _methods  # noqa: F401  # then Tensor's operators
from autograd import numpy as numpy
from autograd.containers import register_container
from autograd.custom import checkpoint, custom_gradient
from autograd.errors import (
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
