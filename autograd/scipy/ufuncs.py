"""SciPy's universal functions over tensors: one wrapper for all, as ``autograd.numpy.ufuncs`` has for NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scipy import special

from autograd import operators as op
from autograd.numpy.ufuncs import with_options


def ufunc(name: str) -> Callable[..., Any]:
    """The function of an operator that carries the name of a ufunc of ``scipy.special``, with the ufunc's calling convention.

    ``out`` and the keywords of a ufunc work as SciPy's on plain values. With a tensor, ``out`` is written as
    ``autograd.variant_calls`` has it, and keywords raise NotTrackedError, but for ``where=True``.

    >>> import autograd.gradients.scipy.special
    >>> ufunc("expit")(0.0)
    0.5
    """
    theirs = getattr(special, name)
    run = getattr(op, theirs.__name__)
    arity = theirs.nin

    def function(*inputs: Any, out: Any = None, **options: Any) -> Any:
        if out is None and not options and len(inputs) == arity:
            return run(*inputs)
        if len(inputs) == arity + 1 and out is None:
            inputs, out = inputs[:arity], inputs[arity]
        if len(inputs) != arity:
            raise TypeError(f"{name}: got {len(inputs)} inputs, expected {arity}")
        return with_options(run, theirs, inputs, out, options)

    function.__name__ = function.__qualname__ = name
    function.__module__ = "autograd.scipy.special"
    function.__doc__ = f"SciPy's ``special.{name}`` over arrays and tensors."
    for attribute in ("nin", "nout", "nargs", "types", "reduce", "accumulate", "reduceat", "outer", "at"):
        setattr(function, attribute, getattr(theirs, attribute))
    return function
