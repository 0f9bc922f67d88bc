"""NumPy-shaped margins around an array. Part of the family shape.

As in NumPy, axes get their margins one after the other, so that those of later axes reach over those of earlier ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.engine import innermost_tape, resolve
from autograd.errors import NotTrackedError
from autograd.numpy import reduction
from autograd.numpy.arguments import as_array, as_dtype
from autograd.numpy.points import linspace
from autograd.numpy.quantiles import median
from autograd.tensor import Tensor, innermost_value

__all__ = ["pad"]

_MODES = {
    "constant": ("constant_values",),
    "edge": (),
    "empty": (),
    "linear_ramp": ("end_values",),
    "maximum": ("stat_length",),
    "mean": ("stat_length",),
    "median": ("stat_length",),
    "minimum": ("stat_length",),
    "reflect": ("reflect_type",),
    "symmetric": ("reflect_type",),
    "wrap": (),
}
"""Mode -> the options that it takes."""

_STATISTICS: dict[str, Callable[..., Any]] = {
    "maximum": reduction.max,
    "mean": reduction.mean,
    "median": median,
    "minimum": reduction.min,
}


def _shape(a: Any) -> tuple[int, ...]:
    return np.shape(innermost_value(a))


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """An array with margins, filled by NumPy's modes; ``constant_values`` and ``end_values`` may be tensors.

    Elements that share in a margin get its gradient: that of ``maximum``, ``median`` and the like is the one of these functions.

    >>> pad([1.0, 2.0], 1)
    array([0., 1., 2., 0.])
    >>> pad([1.0, 2.0], (0, 2), mode="edge")
    array([1., 2., 2., 2.])
    """
    array, kwargs = resolve(array), {name: resolve(each) for name, each in kwargs.items()}
    if innermost_tape([array, *kwargs.values()]) is None:
        return np.pad(array, pad_width, mode, **kwargs)
    if callable(mode):
        raise NotTrackedError(
            "pad: got a function as mode with a tensor, whose writing into a plain row no tape can follow; expected one of"
            f" {sorted(_MODES)}, or build the margins with concatenate"
        )
    if mode not in _MODES:
        raise ValueError(f"pad: got mode {mode!r}, expected one of {sorted(_MODES)}")
    unknown = kwargs.keys() - {*_MODES[mode]}
    if unknown:
        raise ValueError(f"pad: got {sorted(unknown)} for mode {mode!r}, expected of the options {list(_MODES[mode])} alone")
    array = as_array(array)
    shape = _shape(array)
    widths = _widths(pad_width, len(shape))
    if not shape:
        return op.copy(array)
    if mode not in ("constant", "empty"):
        for axis, (length, width) in enumerate(zip(shape, widths, strict=True)):
            if not length and any(width):
                raise ValueError(f"pad: axis {axis} is empty, so that mode {mode!r} has nothing to fill its margin with")
    if mode == "empty" or 0 in shape:
        return op.pad(array, pad_width=widths)
    if mode == "constant":
        return _constant(array, widths, kwargs.get("constant_values", 0))
    if mode in ("edge", "wrap") or (mode in ("reflect", "symmetric") and kwargs.get("reflect_type", "even") == "even"):
        return op.pad(array, pad_width=widths, mode=mode)
    if not any(map(any, widths)):
        return op.copy(array)
    ends = _pairs(kwargs.get("end_values", 0), array) if mode == "linear_ramp" else None
    lengths = np.broadcast_to(np.asarray(kwargs.get("stat_length"), object), (len(shape), 2)).tolist()
    for axis, (before, after) in enumerate(widths):
        if not before and not after:
            continue
        if ends is not None:
            array = _ramps(array, axis, before, after, ends[axis, 0], ends[axis, 1])
        elif mode in _STATISTICS:
            array = _statistics(_STATISTICS[mode], array, axis, before, after, lengths[axis])
        else:
            array = _mirrored(array, axis, before, after, edge=mode == "symmetric")
    return array


def _widths(pad_width: Any, ndim: int) -> tuple[tuple[int, int], ...]:
    """A margin before and behind for each axis."""
    if isinstance(pad_width, dict):
        by_axis: list[Any] = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            by_axis[axis] = width if isinstance(width, tuple) else (width, width)
        pad_width = by_axis
    given = np.asarray(pad_width)
    if given.size and given.dtype.kind not in "iu":
        raise TypeError(f"pad: got pad_width of dtype {given.dtype}, expected whole numbers")
    if (given < 0).any():
        raise ValueError(f"pad: got pad_width {pad_width!r}, expected no negative numbers; cut an array with brackets")
    return tuple((before, after) for before, after in np.broadcast_to(given, (ndim, 2)).tolist())


def _pairs(values: Any, array: Any) -> Any:
    """A value before and one behind for each axis, in the array's dtype; a tensor if they hold one."""
    values = as_dtype(as_array(values), innermost_value(array).dtype)
    return op.broadcast_to(values, shape=(len(_shape(array)), 2))


def _beside(array: Any, axis: int, before: Any, after: Any) -> Any:
    return op.concatenate([each for each in (before, array, after) if each is not None], axis=axis)


def _part(array: Any, axis: int, start: int, stop: int | None, step: int = 1) -> Any:
    return op.getitem(array, index=(*(slice(None),) * axis, slice(start, stop, step)))


def _repeated(value: Any, axis: int, width: int, shape: tuple[int, ...]) -> Any:
    """A value, or a slice of length one along the axis, repeated to fill a margin."""
    return op.broadcast_to(value, shape=(*shape[:axis], width, *shape[axis + 1 :]))


def _constant(array: Any, widths: tuple[tuple[int, int], ...], values: Any) -> Any:
    if type(as_array(values)) is not Tensor:
        return op.pad(array, pad_width=widths, constant_values=values)
    margins = _pairs(values, array)
    for axis, (before, after) in enumerate(widths):
        shape = _shape(array)
        array = _beside(
            array, axis, _repeated(margins[axis, 0], axis, before, shape), _repeated(margins[axis, 1], axis, after, shape)
        )
    return array


def _ramps(array: Any, axis: int, before: int, after: int, first: Any, last: Any) -> Any:
    """Straight lines from the values at the outer ends to those at the edges."""
    length, dtype = _shape(array)[axis], innermost_value(array).dtype
    ramps: list[Any] = []
    for width, end, edge in ((before, first, 0), (after, last, length - 1)):
        stop = op.getitem(array, index=(*(slice(None),) * axis, edge))
        ramps.append(linspace(end, stop, width, endpoint=False, dtype=dtype, axis=axis))
    return _beside(array, axis, ramps[0], op.flip(ramps[1], axis=axis))


def _statistics(function: Callable[..., Any], array: Any, axis: int, before: int, after: int, lengths: list[Any]) -> Any:
    """The statistic of the first elements before, and of the last elements behind."""
    shape = _shape(array)
    counts = [shape[axis] if each is None else min(each, shape[axis]) for each in lengths]
    if 0 in counts and function in (reduction.max, reduction.min):
        raise ValueError("pad: got stat_length=0, expected one or more: nothing has no largest or smallest element")
    margins = []
    for width, part in ((before, (0, counts[0])), (after, (shape[axis] - counts[1], None))):
        margins.append(_repeated(function(_part(array, axis, *part), axis=axis, keepdims=True), axis, width, shape))
    return _beside(array, axis, *margins)


def _mirrored(array: Any, axis: int, before: int, after: int, *, edge: bool) -> Any:
    """Turned by half a circle about the edges, which ``edge`` repeats; as often as it takes to fill the margins."""
    period = _shape(array)[axis] - (not edge)
    if not period:  # the one element, which NumPy repeats
        return _beside(array, axis, *(_repeated(array, axis, width, _shape(array)) for width in (before, after)))
    skipped = 0 if edge else 1
    while before or after:
        length = _shape(array)[axis]
        whole = (length - skipped) // period * period
        margins: list[Any] = [None, None]
        if before:
            count = min(whole, before)
            chunk = op.flip(_part(array, axis, skipped, skipped + count), axis=axis)
            margins[0] = op.subtract(op.multiply(2.0, _part(array, axis, 0, 1)), chunk)
            before -= count
        if after:
            count = min(whole, after)
            stop = length - skipped
            chunk = op.flip(_part(array, axis, stop - count, stop), axis=axis)
            margins[1] = op.subtract(op.multiply(2.0, _part(array, axis, length - 1, None)), chunk)
            after -= count
        array = _beside(array, axis, *margins)
    return array
