"""Arrays that a caller gives to be written: what may be given, and how a result gets into one.

An out array has exactly the shape and dtype of the result. It may be one of the inputs itself, but may not overlap one in part,
nor itself (as a broadcast view does), because then some elements would have to hold two values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.exceptions import TooHardError
from numpy.lib.array_utils import normalize_axis_tuple

from registry.errors import OutArrayError

_OVERLAP_WORK = 10_000
"""How long NumPy may look for an element that two arrays share; beyond that they count as overlapping if their bounds do."""


def check_target(who: str, out: Any, inputs: Sequence[Any]) -> None:
    """Raise OutArrayError unless ``out`` is an array that may be written while ``inputs`` are read.

    >>> a = np.zeros(4)
    >>> check_target("operator 'add': out", np.zeros(3), [a[:-1]])
    """
    if type(out) is not np.ndarray:
        raise OutArrayError(
            f"{who} is {_describe(out)}, expected a plain NumPy array to write to: make one with np.empty(shape, dtype), or"
            " leave it out and take what is returned"
        )
    if not out.flags.writeable:
        raise OutArrayError(
            f"{who} of shape {out.shape} is read-only (a tape still needs it, or it is a view of something constant); expected a"
            " writable array: pass a new one, or write after the gradient has been taken"
        )
    if not out.flags.c_contiguous and _overlaps_itself(out):
        raise OutArrayError(
            f"{who} of shape {out.shape} overlaps itself, as a broadcast view does; expected memory for each element: pass a"
            " new array"
        )
    for each in inputs:
        if type(each) is list or type(each) is tuple:
            check_target(who, out, each)
        elif each is not out and isinstance(each, np.ndarray) and _overlaps(out, each):
            raise OutArrayError(
                f"{who} overlaps an input in part; expected memory of its own, or that very input: pass a new array"
            )


def check_result(who: str, out: Any, shape: tuple[int, ...], dtype: Any) -> None:
    """Raise OutArrayError unless an out array has the shape and dtype of the result."""
    if out.shape != shape:
        raise OutArrayError(f"{who} has shape {out.shape}, expected {shape}, that of the result")
    if out.dtype != dtype:
        raise OutArrayError(
            f"{who} has dtype {out.dtype}, expected {np.dtype(dtype)}, that of the result: convert what is returned with"
            " astype, or convert the inputs first"
        )


def copy_into(who: str, out: np.ndarray[Any, Any], result: Any) -> None:
    """Write a result into an array of the same shape and dtype; raises OutArrayError otherwise."""
    result = np.asarray(result)
    check_result(who, out, result.shape, result.dtype)
    out[...] = result


def ufunc_into(ufunc: np.ufunc) -> Callable[..., Any]:
    """The function that runs a ufunc of NumPy with its own ``out=``, after a look at shape and dtype.

    >>> out = np.empty(2)
    >>> ufunc_into(np.add)(np.array([1.0, 2.0]), 3.0, out=out) is out, out
    (True, array([4., 5.]))
    """
    who = f"operator {ufunc.__name__!r}: the array to write"
    resolve: Any = ufunc.resolve_dtypes  # type: ignore[attr-defined,unused-ignore]  # NumPy 2.0's stubs do not know it

    def run(*inputs: Any, out: np.ndarray[Any, Any]) -> Any:
        operands = [each if type(each) in _WEAK else np.asarray(each) for each in inputs]
        kinds = tuple(type(each) if type(each) in _WEAK else each.dtype for each in operands)
        try:
            dtype = resolve((*kinds, None))[-1]
        except TypeError:
            return ufunc(*inputs, out=out)  # it has no loop for these, and says so
        check_result(who, out, _ufunc_shape(ufunc, [np.shape(each) for each in operands]), dtype)
        return ufunc(*operands, out=out)

    return run


def reduction_into(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that runs a reduction of NumPy (``np.sum``, ...) with its own ``out=``, after a look at shape and dtype.

    >>> out = np.empty(2)
    >>> reduction_into(np.sum)(np.ones((3, 2)), axis=0, out=out) is out, out
    (True, array([3., 3.]))
    """
    who = f"operator {function.__name__!r}: the array to write"

    def run(a: Any, *, out: np.ndarray[Any, Any], axis: Any = None, keepdims: bool = False, **attrs: Any) -> Any:
        a = np.asarray(a)
        given = {name: value for name, value in attrs.items() if value is not None}  # for NumPy, None is no initial value
        alone = {name: value for name, value in given.items() if name == "dtype"}
        check_result(who, out, _reduced_shape(a.shape, axis, keepdims), function(np.ones(3, a.dtype), **alone).dtype)
        return function(a, axis=axis, out=out, keepdims=keepdims, **given)

    return run


def checked_into(function: Callable[..., Any], dtype_of: Callable[..., Any]) -> Callable[..., Any]:
    """The function that runs one of NumPy's whose own ``out=`` checks the shape, after a look at the dtype.

    ``dtype_of(*inputs, **attrs)`` tells the dtype of the result. An array that NumPy does not take for another reason (``np.dot``
    wants it contiguous) gets a copy of the result.
    """
    who = f"operator {function.__name__.strip('_')!r}: the array to write"

    def run(*inputs: Any, out: np.ndarray[Any, Any], **attrs: Any) -> Any:
        check_result(who, out, out.shape, dtype_of(*inputs, **attrs))
        try:
            return function(*inputs, out=out, **attrs)
        except ValueError:
            copy_into(who, out, function(*inputs, **attrs))  # if the inputs are at fault, NumPy says so now
            return out

    return run


def _reduced_shape(shape: tuple[int, ...], axis: Any, keepdims: bool) -> tuple[int, ...]:
    axes = range(len(shape)) if axis is None else normalize_axis_tuple(axis, len(shape))
    kept = ((1 if at in axes else length, at in axes) for at, length in enumerate(shape))
    return tuple(length for length, folded in kept if keepdims or not folded)


_WEAK = frozenset({int, float, complex})
"""Python scalars, whose type gives way to that of arrays (``ufunc.resolve_dtypes`` takes the types themselves)."""


def _ufunc_shape(ufunc: np.ufunc, shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    if ufunc.signature is None:
        first = shapes[0]
        return first if all(each == first for each in shapes) else np.broadcast_shapes(*shapes)
    a, b = shapes  # the one other kind of ufunc among the kernels: matmul
    stack = np.broadcast_shapes(a[:-2], b[:-2])
    return stack + a[-2:-1] + (b[-1:] if len(b) > 1 else ())


def _overlaps_itself(array: np.ndarray[Any, Any]) -> bool:
    """Whether two positions may lie at the same place: a step along one axis does not leave what the shorter steps cover."""
    covered = array.itemsize
    for stride, length in sorted((abs(stride), length) for stride, length in zip(array.strides, array.shape, strict=True)):
        if length > 1:
            if stride < covered:
                return True
            covered += stride * (length - 1)
    return False


def _overlaps(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """Whether the two share an element without being the same elements in the same order."""
    if not np.may_share_memory(a, b):
        return False
    if a.ctypes.data == b.ctypes.data and a.shape == b.shape and a.strides == b.strides and a.dtype == b.dtype:
        return False
    try:
        return np.shares_memory(a, b, _OVERLAP_WORK)
    except TooHardError:
        return True


def _describe(value: Any) -> str:
    return f"a {type(value).__name__}" if not isinstance(value, np.generic | float | int | complex) else f"the scalar {value!r}"
