"""NumPy's universal functions over tensors: one wrapper for all, so that each family only lists its names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.engine import innermost_tape
from autograd.methods import numpy_functions

_METHODS = ("reduce", "accumulate", "reduceat", "outer", "at")
_ATTRIBUTES = ("nin", "nout", "nargs", "ntypes", "identity", "signature")


def ufunc(name: str) -> Callable[..., Any]:
    """The function of an operator that carries a ufunc's name, with the ufunc's calling convention.

    ``out`` and the keywords of a ufunc work as NumPy's. With a tensor, ``out`` is written as ``autograd.variant_calls`` has it,
    and the keywords are those of ``autograd.numpy.ufunc_methods``.

    >>> exp = ufunc("exp")
    >>> exp(0.0), exp(np.zeros(2), where=[True, False], out=np.full(2, 7.0))
    (1.0, array([1., 7.]))
    """
    return of_ufunc(getattr(np, name), getattr(op, name), name)


def of_ufunc(theirs: np.ufunc, run: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A function with the calling convention of the ufunc ``theirs``, that calls ``run`` on its inputs."""

    def unary(x: Any, /, out: Any = None, **options: Any) -> Any:
        if out is None and not options:
            return run(x)
        return with_options(run, theirs, (x,), out, options)

    def binary(x1: Any, x2: Any, /, out: Any = None, **options: Any) -> Any:
        if out is None and not options:
            return run(x1, x2)
        return with_options(run, theirs, (x1, x2), out, options)

    def several(*args: Any, out: Any = None, **options: Any) -> Any:
        inputs, outs = args[: theirs.nin], args[theirs.nin :]
        if len(inputs) == theirs.nin and not outs and out is None and not options:
            return run(*inputs)
        if len(inputs) < theirs.nin or len(outs) > theirs.nout or (outs and out is not None):
            return theirs(*args, out=out, **options)  # which raises
        return with_options(run, theirs, inputs, out if not outs else (*outs, *(None,) * (theirs.nout - len(outs))), options)

    function: Any = several if theirs.nout > 1 else unary if theirs.nin == 1 else binary
    function.__name__ = function.__qualname__ = name
    function.__module__ = "autograd.numpy"
    function.__doc__ = f"NumPy's ``{name}`` over arrays and tensors."
    function.without_options = run
    for each in _ATTRIBUTES:
        setattr(function, each, getattr(theirs, each))
    for each in _METHODS:
        setattr(function, each, _bound(theirs, each))
    return function  # type: ignore[no-any-return]


def _bound(theirs: np.ufunc, name: str) -> Callable[..., Any]:
    """A ufunc's method that takes tensors wherever they are: also in lists, and as ``initial``, where NumPy does not look."""
    numpys = getattr(theirs, name)
    if theirs.nin != 2 and name != "at":  # which NumPy refuses
        return numpys  # type: ignore[no-any-return]

    def method(*args: Any, **options: Any) -> Any:
        if innermost_tape(args) is None and innermost_tape([*options.values()]) is None:
            return numpys(*args, **options)
        return numpy_functions[getattr(np.ufunc, name)](theirs, *args, **options)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = numpys.__doc__
    return method


def with_options(
    run: Callable[..., Any], theirs: Callable[..., Any], inputs: tuple[Any, ...], out: Any, options: dict[str, Any]
) -> Any:
    """A call with ``out`` or keywords: NumPy's own on plain values; with a tensor that of ``autograd.numpy.ufunc_methods``."""
    if innermost_tape(inputs) is None and innermost_tape([out, *options.values()]) is None:
        return theirs(*inputs, out=out, **options)
    from autograd.numpy import ufunc_methods  # loaded when it is first needed

    return ufunc_methods.with_options(run, theirs, inputs, out, options)


def _method(name: str) -> Callable[..., Any]:
    def method(*args: Any, **options: Any) -> Any:
        from autograd.numpy import ufunc_methods  # loaded when it is first needed

        return getattr(ufunc_methods, name)(*args, **options)

    return method


for _name in ("reduce", "accumulate", "reduceat", "outer"):
    numpy_functions[getattr(np.ufunc, _name)] = _method(_name)
numpy_functions[np.ufunc.__call__] = _method("call")
