"""HIPS autograd's ``differential_operators`` by name: those of ``autograd.functional``, and what follows from them."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Any

from autograd import numpy as np
from autograd.core import make_jvp as _make_jvp
from autograd.core import make_vjp as _make_vjp
from autograd.custom import checkpoint
from autograd.errors import GradientError
from autograd.functional import (
    Argnum,
    elementwise_grad,
    grad,
    grad_and_aux,
    hessian,
    hessian_vector_product,
    holomorphic_grad,
    jacobian,
    make_hvp,
    make_jvp,
    make_vjp,
    value_and_grad,
)
from autograd.vspaces import vspace
from autograd.wrap_util import get_name, unary_to_nary

__all__ = [
    "_make_jvp", "_make_vjp", "checkpoint", "deriv", "elementwise_grad", "grad", "grad_and_aux", "grad_named", "hessian",
    "hessian_tensor_product", "hessian_vector_product", "holomorphic_grad", "jacobian", "make_ggnvp", "make_hvp", "make_jvp",
    "make_jvp_reversemode", "make_vjp", "multigrad_dict", "tensor_jacobian_product", "unary_to_nary", "value_and_grad",
    "vector_jacobian_product",
]  # fmt: skip

Function = Callable[..., Any]

hessian_tensor_product = hessian_vector_product


def deriv(fun: Function, argnum: Argnum = 0) -> Function:
    """The derivative of a function of one number by forward mode: for an array argument, the sum over its elements.

    >>> deriv(lambda t: np.array([t, t * t]))(3.0)
    array([1., 6.])
    """
    return partial(_deriv, fun, argnum)


def _deriv(fun: Function, argnum: Argnum, /, *args: Any, **kwargs: Any) -> Any:
    chosen = args[argnum] if isinstance(argnum, int) else tuple([args[number] for number in argnum])
    return make_jvp(fun, argnum)(*args, **kwargs)(vspace(chosen).ones())[1]


def grad_named(fun: Function, argname: str) -> Function:
    """The gradient in the positional argument of a name. Raises GradientError if there is none.

    >>> grad_named(lambda a, b: a * b, "b")(2.0, 3.0)
    2.0
    """
    parameters = inspect.signature(fun).parameters
    positional = [name for name, each in parameters.items() if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    if argname not in positional:
        raise GradientError(f"grad_named: {get_name(fun)} has no positional argument {argname!r}; it has {positional}")
    return grad(fun, positional.index(argname))


def multigrad_dict(fun: Function) -> Function:
    """A function of ``fun``'s arguments that returns the gradients in all of them, by their names; defaults count as given.

    ``*args`` has a tuple of gradients under its name, ``**kwargs`` a dictionary.

    >>> dict(multigrad_dict(lambda a, b=3.0: a * b)(2.0))
    {'a': 3.0, 'b': 2.0}
    """
    return partial(_multigrad_dict, fun)


def _multigrad_dict(fun: Function, /, *args: Any, **kwargs: Any) -> OrderedDict[str, Any]:
    bound = inspect.signature(fun).bind(*args, **kwargs)
    bound.apply_defaults()

    def of_arguments(arguments: dict[str, Any]) -> Any:
        bound.arguments.update(arguments)
        return fun(*bound.args, **bound.kwargs)

    return OrderedDict(grad(of_arguments)(dict(bound.arguments)))


def tensor_jacobian_product(fun: Function, argnum: int = 0) -> Function:
    """A function of ``(*args, tensor)``: the tensor times the Jacobian, summed over all axes of the tensor.

    >>> tensor_jacobian_product(lambda x: x * x)(np.array([1.0, 2.0]), np.array([1.0, 10.0]))
    array([ 2., 40.])
    """
    return jacobian(partial(_tensor_product, fun), argnum)


def _tensor_product(fun: Function, /, *args: Any, **kwargs: Any) -> Any:
    *arguments, tensor = args
    return np.tensordot(tensor, fun(*arguments, **kwargs), axes=np.ndim(tensor))


vector_jacobian_product = tensor_jacobian_product


def make_jvp_reversemode(fun: Function, argnum: Argnum = 0) -> Function:
    """A function of ``fun``'s arguments that returns ``v -> derivative along v``, without the value.

    The name stays from where forward mode was made of two reverse ones; here it is forward mode, which needs no rules of its own.

    >>> make_jvp_reversemode(lambda x: x * x)(3.0)(10.0)
    60.0
    """
    return partial(_make_jvp_alone, fun, argnum)


def _make_jvp_alone(fun: Function, argnum: Argnum, /, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    push = make_jvp(fun, argnum)(*args, **kwargs)
    return lambda v: push(v)[1]


def _half_square(x: Any) -> Any:
    return 0.5 * np.sum(x**2, axis=-1)


def make_ggnvp(f: Function, g: Function = _half_square, f_argnum: int = 0) -> Function:
    """A function of ``f``'s arguments that returns ``v -> J^T H J v``, with the Jacobian of ``f`` and the Hessian of ``g``.

    This generalised Gauss-Newton matrix is the Hessian of ``g(f(x))`` without the curvature of ``f`` (Schraudolph, "Fast
    curvature matrix-vector products for second-order gradient descent", Neural Computation 14, 2002).

    >>> make_ggnvp(lambda x: np.array([x[0] * x[0], x[1]]))(np.array([3.0, 1.0]))(np.array([1.0, 1.0]))
    array([36.,  1.])
    """
    return partial(_make_ggnvp, f, g, f_argnum)


def _make_ggnvp(f: Function, g: Function, argnum: int, /, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    pull_back, y = make_vjp(f, argnum)(*args, **kwargs)
    push = make_jvp(f, argnum)(*args, **kwargs)
    curvature, _ = make_hvp(g)(y)
    return lambda v: pull_back(curvature(push(v)[1]))
