"""NumPy-shaped differences, slopes, areas, and values between given points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from autograd import operators as op
from autograd.engine import innermost_tape
from autograd.numpy.arguments import as_array
from autograd.numpy.following import follows
from autograd.tensor import Tensor, innermost_value

__all__ = ["diff", "ediff1d", "gradient", "interp", "trapezoid", "unwrap"]

_LEFT_OUT = object()
_theirs: Any = np  # it has functions that the stubs of NumPy 2.0 do not know


def _shape(a: Any) -> tuple[int, ...]:
    return np.shape(innermost_value(a))


def _plain(a: Any) -> Any:
    return np.asarray(innermost_value(a))


def _piece(a: Any, axis: int, start: int | None, stop: int | None) -> Any:
    return op.getitem(a, index=(*(slice(None),) * axis, slice(start, stop)))


# -------------------------------------------------------------------------------------------------- differences


@follows(np.diff, "a", "prepend", "append")
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = _LEFT_OUT, append: Any = _LEFT_OUT) -> Any:
    """Differences of neighbours along an axis, ``n`` times over; ``prepend`` and ``append`` are put to the ends first.

    >>> diff([1.0, 4.0, 9.0])
    array([3., 5.])
    """
    if n < 0:
        raise ValueError(f"diff: got order n={n}, expected 0 or more")
    if n == 0:
        return a
    a = as_array(a)
    shape = _shape(a)
    if not shape:
        raise ValueError("diff: got an array without axes, expected at least one")
    axis = normalize_axis_index(axis, len(shape))
    ends = []
    for each in (prepend, append):
        end = as_array(each)
        if each is not _LEFT_OUT and not _shape(end):
            end = op.broadcast_to(end, shape=(*shape[:axis], 1, *shape[axis + 1 :]))
        ends.append([] if each is _LEFT_OUT else [end])
    parts = [*ends[0], a, *ends[1]]
    a = op.concatenate(parts, axis=axis) if len(parts) > 1 else a
    for _ in range(n):
        a = op.subtract(_piece(a, axis, 1, None), _piece(a, axis, None, -1))
    return a


@follows(np.ediff1d, "ary", "to_end", "to_begin")
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Differences of neighbours in the flattened array, with ``to_begin`` before and ``to_end`` behind them.

    >>> ediff1d([1.0, 4.0, 9.0], to_end=0.0)
    array([3., 5., 0.])
    """
    ary = op.ravel(as_array(ary))
    dtype = _plain(ary).dtype
    ends = []
    for name, each in (("to_begin", to_begin), ("to_end", to_end)):
        end = as_array(each)
        if each is not None and not np.can_cast(_plain(end).dtype, dtype, "same_kind"):
            raise TypeError(f"ediff1d: got {name} of dtype {_plain(end).dtype}, expected one that can be cast to {dtype}")
        ends.append([] if each is None else [op.astype(op.ravel(end), dtype=dtype)])
    inner = op.subtract(_piece(ary, 0, 1, None), _piece(ary, 0, None, -1))
    return op.concatenate([*ends[0], inner, *ends[1]]) if ends[0] or ends[1] else inner


@follows(np.unwrap, "p", "period")
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * math.pi) -> Any:
    """Whole periods added along an axis so that no jump is larger than half of one, or than ``discont``.

    Their number is constant nearly everywhere, so the gradient in ``p`` is that of the identity, and in ``period`` their sum.

    >>> unwrap([0.0, 3.0, -3.0]).round(4)
    array([0.    , 3.    , 3.2832])
    """
    p = as_array(p)
    plain, length = _plain(p), innermost_value(period)
    steps = np.diff(plain, axis=axis)
    half = length / 2
    kept = np.mod(steps + half, length) - half
    kept = np.where((kept == -half) & (steps > 0), half, kept)
    correction = np.where(np.abs(steps) < (half if discont is None else discont), 0, kept - steps)
    dtype = np.result_type(steps, length)
    first = np.zeros_like(np.take(plain, range(min(1, plain.shape[axis])), axis=axis), dtype=dtype)
    if type(period) is not Tensor:
        return op.add(p, np.concatenate([first, np.cumsum(correction, axis=axis)], axis=axis).astype(dtype))
    turns = np.concatenate([first, np.cumsum(np.rint(correction / length), axis=axis)], axis=axis)
    return op.add(p, op.multiply(turns.astype(dtype), period))


# -------------------------------------------------------------------------------------------------- slopes


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    """Slopes along each axis, by differences of second order inside and of ``edge_order`` at the ends.

    ``varargs`` give the distance of the points, or their coordinates, for all axes or for each. One array for one axis, else a
    tuple with one for each.

    >>> gradient([1.0, 4.0, 9.0])
    array([3., 4., 5.])
    """
    if innermost_tape((f, varargs)) is None:
        return np.gradient(f, *varargs, axis=axis, edge_order=edge_order)
    f = as_array(f)
    if _plain(f).dtype.kind not in "fc":
        f = op.astype(f, dtype=np.dtype(np.float64))
    shape = _shape(f)
    axes = tuple(range(len(shape))) if axis is None else normalize_axis_tuple(axis, len(shape))
    if len(varargs) not in (0, 1, len(axes)) or (len(varargs) == 1 != len(axes) and _shape(as_array(varargs[0]))):
        raise TypeError(f"gradient: got {len(varargs)} spacings for {len(axes)} axes, expected none, one number, or one for each")
    if edge_order not in (1, 2):
        raise ValueError(f"gradient: got edge_order={edge_order}, expected 1 or 2")
    spacings = varargs * len(axes) if len(varargs) == 1 else varargs or (1.0,) * len(axes)
    slopes = tuple(
        _slopes(f, each, _steps(as_array(spacing), shape[each]), edge_order) for each, spacing in zip(axes, spacings, strict=True)
    )
    return slopes[0] if len(axes) == 1 else slopes


def _steps(spacing: Any, length: int) -> Any:
    """The distance of neighbours: a number if all are equal, else a vector. Of a tensor always what it says."""
    shape = _shape(spacing)
    if not shape:
        return spacing
    if len(shape) != 1 or shape[0] != length:
        raise ValueError(f"gradient: got coordinates of shape {shape}, expected ({length},), one for each point of the axis")
    steps = diff(spacing)
    if type(steps) is not Tensor and (steps == steps[0]).all():
        return steps[0]
    return steps


def _slopes(f: Any, axis: int, steps: Any, edge_order: int) -> Any:
    ndim, length = len(_shape(f)), _shape(f)[axis]
    if length < edge_order + 1:
        raise ValueError(f"gradient: got {length} points along axis {axis}, expected at least edge_order + 1 = {edge_order + 1}")

    def step(start: int | None, stop: int | None) -> Any:
        """Some of the steps, laid along the axis."""
        if not _shape(steps):
            return steps
        return op.reshape(steps[start:stop], shape=(-1,) + (1,) * (ndim - 1 - axis))

    def weighed(start: int, *weights: Any) -> Any:
        """The sum of neighbouring points with weights, the first one at ``start``, which counts from the end if negative."""
        total: Any = None
        for offset, weight in enumerate(weights):
            stop = start + offset + 1
            part = op.multiply(weight, _piece(f, axis, start + offset, stop if stop else None))
            total = part if total is None else op.add(total, part)
        return total

    behind, ahead = step(None, -1), step(1, None)
    if not _shape(steps):
        span = op.subtract(_piece(f, axis, 2, None), _piece(f, axis, None, -2))
        inside = op.divide(span, op.multiply(2.0, steps))
    else:
        both = op.add(behind, ahead)
        inside = op.add(
            op.multiply(op.negative(op.divide(ahead, op.multiply(behind, both))), _piece(f, axis, None, -2)),
            op.multiply(op.divide(op.subtract(ahead, behind), op.multiply(behind, ahead)), _piece(f, axis, 1, -1)),
        )
        inside = op.add(inside, op.multiply(op.divide(behind, op.multiply(ahead, both)), _piece(f, axis, 2, None)))
    if edge_order == 1:
        first = op.divide(op.subtract(_piece(f, axis, 1, 2), _piece(f, axis, 0, 1)), step(0, 1))
        last = op.divide(op.subtract(_piece(f, axis, -1, None), _piece(f, axis, -2, -1)), step(-1, None))
    else:
        first = weighed(0, *_edge_weights(step(0, 1), step(1, 2)))
        last = weighed(-3, *(op.negative(each) for each in reversed(_edge_weights(step(-1, None), step(-2, -1)))))
    slopes = op.concatenate([first, inside, last], axis=axis)
    return slopes if slopes.dtype == f.dtype else op.astype(slopes, dtype=f.dtype)


def _edge_weights(near: Any, far: Any) -> tuple[Any, Any, Any]:
    """The slope at a point by a parabola through it and two points on one side, at the distances ``near`` and ``near + far``."""
    both = op.add(near, far)
    return (
        op.negative(op.divide(op.add(op.multiply(2.0, near), far), op.multiply(near, both))),
        op.divide(both, op.multiply(near, far)),
        op.negative(op.divide(near, op.multiply(far, both))),
    )


# -------------------------------------------------------------------------------------------------- areas


@follows(_theirs.trapezoid, "y", "x", "dx")
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The area under straight lines between points along an axis, at distances ``dx``, or at the coordinates ``x``.

    >>> trapezoid([1.0, 2.0, 3.0])
    np.float64(4.0)
    """
    y = as_array(y)
    ndim = len(_shape(y))
    axis = normalize_axis_index(axis, ndim)
    widths = as_array(dx)
    if x is not None:
        x = as_array(x)
        if len(_shape(x)) == 1:
            widths = op.reshape(diff(x), shape=(-1,) + (1,) * (ndim - 1 - axis))
        else:
            widths = diff(x, axis=axis - ndim)
    heights = op.add(_piece(y, axis, 1, None), _piece(y, axis, None, -1))
    return op.sum(op.divide(op.multiply(widths, heights), 2.0), axis=axis - ndim)


# -------------------------------------------------------------------------------------------------- between points


@follows(np.interp, "x", "xp", "fp", "left", "right", "period")
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Values at ``x`` on straight lines through the points ``(xp, fp)``; beyond them ``left`` and ``right``, or the end values.

    Differentiable in all of them. In a point, where the line bends, the derivative is that to the right; in the last one to the
    left.

    >>> interp(0.25, [0.0, 1.0], [2.0, 6.0])
    np.float64(3.0)
    """
    x, xp = (op.astype(as_array(each), dtype=np.dtype(np.float64)) for each in (x, xp))
    fp = as_array(fp)
    fp = op.astype(fp, dtype=np.dtype(np.complex128 if np.iscomplexobj(innermost_value(fp)) else np.float64))
    if len(_shape(xp)) != 1 or _shape(xp) != _shape(fp) or not _shape(xp)[0]:
        raise ValueError(
            f"interp: got xp of shape {_shape(xp)} and fp of shape {_shape(fp)}, expected two vectors of one length, not empty"
        )
    if period is not None:
        if innermost_value(period) == 0:
            raise ValueError("interp: got period=0, expected another number")
        left = right = None
        x, xp, fp = _around(x, xp, fp, op.absolute(period))
    return _between(x, xp, fp, fp[0] if left is None else left, fp[-1] if right is None else right)


def _around(x: Any, xp: Any, fp: Any, period: Any) -> tuple[Any, Any, Any]:
    """Everything brought into one period, with the last point repeated before it and the first one behind it."""
    x, xp = op.remainder(x, period), op.remainder(xp, period)
    order = np.argsort(innermost_value(xp))
    xp, fp = op.take(xp, indices=order), op.take(fp, indices=order)
    xp = op.concatenate([op.subtract(xp[-1:], period), xp, op.add(xp[:1], period)])
    return x, xp, op.concatenate([fp[-1:], fp, fp[:1]])


def _between(x: Any, xp: Any, fp: Any, left: Any, right: Any) -> Any:
    where, points = _plain(x), _plain(xp)
    last = len(points) - 1
    start = np.clip(np.searchsorted(points, where, side="right") - 1, 0, last)
    y = op.take(fp, indices=start)
    if last:
        interval = np.minimum(start, last - 1)
        widths = op.subtract(xp[1:], xp[:-1])
        empty = np.equal(innermost_value(widths), 0)
        slopes = op.divide(op.subtract(fp[1:], fp[:-1]), op.where(empty, 1.0, widths) if empty.any() else widths)
        slopes = op.where(empty, 0.0, slopes) if empty.any() else slopes
        slope = op.take(slopes, indices=interval)
        with np.errstate(invalid="ignore"):
            y = op.add(op.multiply(slope, op.subtract(x, op.take(xp, indices=start))), y)
        lost = np.isnan(innermost_value(y)) & ~np.isnan(where) & (start < last)
        if lost.any():  # from an infinite height the line can only be drawn to the other end
            end = np.minimum(start + 1, last)
            with np.errstate(invalid="ignore"):
                other = op.add(op.multiply(slope, op.subtract(x, op.take(xp, indices=end))), op.take(fp, indices=end))
            y = op.where(lost, other, y)
    else:
        y = op.add(y, op.where_or_zero(False, op.subtract(x, xp)))  # one point: constant in its place and in x
    y = op.where(where < points[0], left, op.where(where > points[-1], right, y))
    return y if np.shape(innermost_value(y)) == where.shape else op.broadcast_to(y, shape=where.shape)
