"""NumPy's universal functions over tensors: one wrapper for all, so that each family only lists its names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.engine import innermost_tape
from autograd.errors import NotTrackedError
from autograd.variant_calls import numpy_into

_METHODS = ("reduce", "accumulate", "reduceat", "outer", "at")


def ufunc(name: str) -> Callable[..., Any]:
    """The function of an operator that carries a ufunc's name, with the ufunc's calling convention.

    ``out`` and the keywords of a ufunc work as NumPy's on plain values. With a tensor, ``out`` is written as
    ``autograd.variant_calls`` has it, and keywords raise NotTrackedError, but for ``where=True``.

    >>> exp = ufunc("exp")
    >>> exp(0.0), exp(np.zeros(2), where=[True, False], out=np.full(2, 7.0))
    (1.0, array([1., 7.]))
    """
    run = getattr(op, name)
    theirs: np.ufunc = getattr(np, name)

    def unary(x: Any, /, out: Any = None, **options: Any) -> Any:
        if out is None and not options:
            return run(x)
        return with_options(run, theirs, (x,), out, options)

    def binary(x1: Any, x2: Any, /, out: Any = None, **options: Any) -> Any:
        if out is None and not options:
            return run(x1, x2)
        return with_options(run, theirs, (x1, x2), out, options)

    function: Any = unary if theirs.nin == 1 else binary
    function.__name__ = function.__qualname__ = name
    function.__module__ = "autograd.numpy"
    function.__doc__ = f"NumPy's ``{name}`` over arrays and tensors."
    for each in _METHODS:
        setattr(function, each, getattr(theirs, each))
    return function  # type: ignore[no-any-return]


def with_options(
    run: Callable[..., Any], theirs: Callable[..., Any], inputs: tuple[Any, ...], out: Any, options: dict[str, Any]
) -> Any:
    """A call with ``out`` or keywords: NumPy's own on plain values; with a tensor ``out``, and keywords that say nothing."""
    if innermost_tape(inputs) is None and innermost_tape([out, *options.values()]) is None:
        return theirs(*inputs, out=out, **options)
    unknown = [key for key, value in options.items() if not (key == "where" and value is True) and value is not None]
    if unknown:
        raise NotTrackedError(
            f"{theirs.__name__}: got {unknown} with a tensor, which has no gradient rule; expected the inputs alone: choose"
            " with where(mask, x, y), convert with astype"
        )
    return run(*inputs) if out is None else numpy_into(f"{theirs.__name__}: out", run, inputs, out)
