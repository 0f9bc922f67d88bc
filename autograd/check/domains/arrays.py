"""Rows of the operators that fold, move, join and read arrays: reductions, shapes, indexing, transforms, softmax, convolution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd.check.domains import COMPLEX, REAL, Domain, Drawn
from autograd.check.domains.drawing import Draw, Interval
from autograd.check.domains.elementwise import options

WIDE: Interval = (-2.0, 2.0)
FILLED = (1, 2, 3, 2, 3)
"""Sides of arrays that are not empty."""


def _some(d: Draw, dtype: str, least: int = 0, most: int = 3, sides: Sequence[int] | None = None, domain: Interval = WIDE) -> Any:
    shape = d.shape(least, most) if sides is None else d.shape(least, most, sides)
    return d.array(shape, domain, dtype=dtype)


def _maybe(d: Draw, **attrs: Callable[[], Any]) -> dict[str, Any]:
    """Each attribute drawn, or left out, which is the simpler."""
    return {name: draw() for name, draw in attrs.items() if d.flip()}


# ---------------------------------------------------------------------------------------------------- reductions


def _reduction(
    domain: Interval = WIDE, dtype_too: bool = True, initial: Interval | None = None, empty: bool = True
) -> Callable[[Draw, str], Drawn]:
    """Any axes, ``keepdims``, a mask under which something is left of each part, ``initial``, a wider dtype."""

    def draw(d: Draw, dtype: str) -> Drawn:
        a = d.array(d.shape() if empty else d.shape(sides=FILLED), domain, dtype=dtype)
        attrs = _maybe(d, axis=lambda: d.axis(a.ndim, several=True, optional=True), keepdims=d.flip)
        masked = bool(a.ndim and a.size and d.rarely(4))
        if masked:
            attrs["where"] = _mask_that_leaves(a.shape)
        needs_initial = masked and not dtype_too
        if initial is not None and (needs_initial or d.rarely(4)):
            attrs["initial"] = d.numbers(1, initial)[0]
        if dtype_too and d.rarely(4):
            attrs["dtype"] = "complex128" if dtype == "complex128" else d.pick(("float64", np.float64))
        return [a], attrs

    return draw


def _mask_that_leaves(shape: tuple[int, ...]) -> Any:
    """A mask that is False nowhere but, where an axis has three elements or more, at one place of it."""
    mask = np.ones(shape, bool)
    if min(shape) > 2:
        mask[(0,) * len(shape)] = False
    return mask


def _spread(d: Draw, dtype: str) -> Drawn:
    """At least two different elements in each part, so that no deviation is 0; fewer degrees of freedom only then."""
    a = _some(d, dtype, 1, 3, (2, 3))
    attrs: dict[str, Any] = _maybe(d, axis=lambda: d.axis(a.ndim, several=True, optional=True), keepdims=d.flip)
    if d.rarely(3):
        attrs["ddof"] = d.pick((1, 0, 0.5))
    if min(a.shape) > 2 and d.rarely(3) and "ddof" not in attrs:
        attrs["where"] = _mask_that_leaves(a.shape)
    return [a], attrs


def _logsumexp(d: Draw, dtype: str) -> Drawn:
    a = d.array(d.shape(sides=FILLED), (-1.0, 1.0), dtype=dtype)
    return [a], _maybe(d, axis=lambda: d.axis(a.ndim, several=True, optional=True), keepdims=d.flip)


def _running(
    domain: Interval, *, least: int = 0, optional: bool = True, with_dtype: bool = False
) -> Callable[[Draw, str], Drawn]:
    """Along one axis, or over all elements one by one where the axis is ``optional``."""

    def draw(d: Draw, dtype: str) -> Drawn:
        a = _some(d, dtype, least, domain=domain, sides=None if optional else FILLED)
        attrs = _maybe(d, axis=lambda: d.axis(a.ndim, optional=optional))
        if with_dtype and d.rarely(4):
            attrs["dtype"] = "complex128" if dtype == "complex128" else "float64"
        return [a], attrs

    return draw


def _recurrence(d: Draw, dtype: str) -> Drawn:
    shape = d.shape(1)
    inputs = [d.array(shape, (-1.0, 1.0), dtype=dtype) for _ in range(2)]
    return inputs, _maybe(d, axis=lambda: d.axis(len(shape)), reverse=d.flip)


# ---------------------------------------------------------------------------------------------------- shapes


def _reshape(d: Draw, dtype: str) -> Drawn:
    a = _some(d, dtype)
    shapes: list[Any] = [a.shape[::-1], (a.size,), a.size, (1, *a.shape)]
    if a.size:
        shapes += [-1, (-1, 1)]
    return [a], {"shape": d.pick(shapes), **options(d, {"order": ("C", "F")})}


def _ravel(d: Draw, dtype: str) -> Drawn:
    return [_some(d, dtype)], options(d, {"order": ("C", "F")})


def _transpose(d: Draw, dtype: str) -> Drawn:
    a = _some(d, dtype)
    axes = [each - a.ndim if d.flip() else each for each in d.several(range(a.ndim), a.ndim)]
    return [a], options(d, {"axes": (tuple(axes), None)})


def _swapaxes(d: Draw, dtype: str) -> Drawn:
    a = _some(d, dtype, 1)
    return [a], {"axis1": d.axis(a.ndim), "axis2": d.axis(a.ndim)}


def _expand_dims(d: Draw, dtype: str) -> Drawn:
    a = _some(d, dtype, most=2)
    return [a], {"axis": d.axis(a.ndim + 1) if d.flip() else (0, a.ndim + 1)}


def _squeeze(d: Draw, dtype: str) -> Drawn:
    a = _some(d, dtype, sides=(1, 2, 1, 3))
    ones = [k for k, side in enumerate(a.shape) if side == 1]
    axes: list[Any] = [None, *ones, *(k - a.ndim for k in ones)] + ([tuple(ones)] if len(ones) > 1 else [])
    return [a], options(d, {"axis": axes})


def _broadcast_to(d: Draw, dtype: str) -> Drawn:
    shape = d.shape()
    array = d.array(d.broadcastable(2, shape)[1], WIDE, dtype=dtype)
    return [array], {"shape": shape[0] if len(shape) == 1 and d.flip() else shape}


def _concatenate(d: Draw, dtype: str) -> Drawn:
    shape = d.shape(1, 2)
    axis = d.axis(len(shape), optional=True)
    lengths = [d.whole(0, 3) for _ in range(d.whole(1, 3))]
    parts = []
    for length in lengths:
        own = list(shape)
        if axis is not None:
            own[axis] = length
        parts.append(d.array(tuple(own), WIDE, dtype=dtype))
    return [parts], options(d, {"axis": (axis,)}) if axis == 0 else {"axis": axis}


def _stack(d: Draw, dtype: str) -> Drawn:
    shape = d.shape(0, 2)
    return [[d.array(shape, WIDE, dtype=dtype) for _ in range(d.whole(1, 3))]], _maybe(d, axis=lambda: d.axis(len(shape) + 1))


def _pad(d: Draw, dtype: str) -> Drawn:
    a = _some(d, dtype, 1, 2, FILLED)
    mode = d.pick(("constant", "constant", "edge", "reflect", "symmetric", "wrap"))
    pairs = tuple((d.whole(0, 2), d.whole(0, 2)) for _ in a.shape)
    attrs: dict[str, Any] = {"pad_width": d.pick((pairs, d.whole(0, 2), pairs[0]))}
    if mode != "constant":
        return [a], {**attrs, "mode": mode}
    return [a], {**attrs, **options(d, {"constant_values": (0, 1.5)})}


def _repeat(d: Draw, dtype: str) -> Drawn:
    a = _some(d, dtype)
    axis = d.axis(a.ndim, optional=True)
    length = a.size if axis is None else a.shape[axis]
    repeats: Any = d.whole(0, 3) if d.flip() else [d.whole(0, 2) for _ in range(length)]
    if isinstance(repeats, list) and (d.flip() or not length):
        repeats = np.array(repeats, int)
    return [a], {"repeats": repeats, **({} if axis is None else {"axis": axis})}


def _flip(d: Draw, dtype: str) -> Drawn:
    a = _some(d, dtype)
    return [a], _maybe(d, axis=lambda: d.axis(a.ndim, several=True, optional=True))


def _roll(d: Draw, dtype: str) -> Drawn:
    a = _some(d, dtype)
    axis = d.axis(a.ndim, several=True, optional=True)
    shift: Any = tuple(d.whole(-3, 3) for _ in axis) if isinstance(axis, tuple) and d.flip() else d.whole(-3, 3)
    return [a], {"shift": shift, **({} if axis is None else {"axis": axis})}


def _diagonal(d: Draw, dtype: str) -> Drawn:
    a = _some(d, dtype, 2)
    axis1, axis2 = d.several(range(a.ndim), 2)
    attrs = _maybe(d, offset=lambda: d.whole(-2, 2))
    return [a], {**attrs, **({"axis1": axis1, "axis2": axis2 - a.ndim} if d.flip() else {})}


def _place_diagonal(d: Draw, dtype: str) -> Drawn:
    shape = (d.whole(1, 3), d.whole(1, 3))
    offset = d.whole(1 - shape[0], shape[1] - 1)
    ahead = d.shape(0, 1, (1, 2))
    a = d.array((*ahead, len(np.diagonal(np.empty(shape), offset))), WIDE, dtype=dtype)
    return [a], {"shape": shape, **({"offset": offset} if offset else {})}


# ---------------------------------------------------------------------------------------------------- indexing


def _getitem(d: Draw, dtype: str) -> Drawn:
    a = _some(d, dtype)
    return [a], {"index": d.index(a.shape)}


def _setitem(d: Draw, dtype: str) -> Drawn:
    """Values that broadcast to the places they are assigned to, which differ: of equal places NumPy keeps any value."""
    a = _some(d, dtype)
    index = d.index(a.shape)
    places = np.arange(a.size).reshape(a.shape)[index]
    if np.unique(places).size < np.size(places):
        index = Ellipsis
        places = np.arange(a.size).reshape(a.shape)
    return [d.array(d.broadcastable(2, np.shape(places))[1], WIDE, dtype=dtype), a], {"index": index}


def _scatter_add(d: Draw, dtype: str) -> Drawn:
    shape = d.shape(1, 2, FILLED)
    indices = [d.index(shape) for _ in range(d.whole(1, 2))]
    values = [d.array(np.empty(shape)[index].shape, WIDE, dtype=dtype) for index in indices]
    return [values], {"indices": indices, "shape": shape, "dtype": np.dtype(dtype)}


def _take(d: Draw, dtype: str) -> Drawn:
    a = _some(d, dtype, 1, 3, FILLED)
    axis = d.axis(a.ndim, optional=True)
    length = a.size if axis is None else a.shape[axis]
    mode = d.pick(("raise", "raise", "wrap", "clip"))
    low, high = (-length, length - 1) if mode == "raise" else (-length - 2, length + 2)
    indices = d.integers(d.shape(0, 2, (1, 2, 3, 0)), low, high)
    kept = {} if mode == "raise" else {"mode": mode}
    return [a], {"indices": indices.tolist() if d.rarely(4) and indices.size else indices, "axis": axis, **kept}


def _take_along_axis(d: Draw, dtype: str) -> Drawn:
    arr = _some(d, dtype, 1, 3, FILLED)
    axis = d.axis(arr.ndim, optional=True)
    if axis is None:
        return [arr], {"indices": d.integers((d.whole(0, 3),), 0, arr.size - 1), "axis": None}
    shape = list(arr.shape)
    shape[axis] = d.whole(1, 3)
    return [arr], {"indices": d.integers(tuple(shape), 0, arr.shape[axis] - 1), **({} if axis == -1 else {"axis": axis})}


# ---------------------------------------------------------------------------------------------------- transforms, softmax


def _fourier(d: Draw, dtype: str) -> Drawn:
    a = _some(d, dtype, 1, 2, (2, 3, 4, 5))
    return [a], _maybe(d, n=lambda: d.pick((None, 2, 3, 4, 6)), axis=lambda: d.axis(a.ndim),
                       norm=lambda: d.pick((None, "backward", "ortho", "forward")))  # fmt: skip


def _softmax(d: Draw, dtype: str) -> Drawn:
    x = _some(d, dtype, 1, 3, FILLED, (-1.0, 1.0))
    return [x], _maybe(d, axis=lambda: d.axis(x.ndim, several=True, optional=True))


def _cross_entropy(d: Draw, dtype: str) -> Drawn:
    logits = _some(d, dtype, 1, 2, (2, 3))
    if d.flip():
        return [logits], {"labels": d.array(logits.shape, (0.1, 0.9), dtype=dtype)}
    return [logits], {"labels": d.integers(logits.shape[:-1], 0, logits.shape[-1] - 1)}


# ---------------------------------------------------------------------------------------------------- convolution


def _window(d: Draw, kernel: tuple[int, ...], *, dilation: bool = True) -> dict[str, Any]:
    """How a window of a size moves; padding is less than the window, which never covers nothing else."""
    attrs = options(d, {"stride": (1, 2, (2, 1))})
    widest = min(kernel) - 1
    attrs |= options(d, {"padding": (0, "valid", "same", widest, ((0, widest), (widest, 0)))})
    return attrs | (options(d, {"dilation": (1, (2, 1))}) if dilation else {})


def _conv_shapes(d: Draw) -> tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]:
    groups = d.pick((1, 1, 2))
    size, kernel = (d.whole(3, 4), d.whole(3, 4)), (d.whole(1, 2), d.whole(1, 2))
    attrs = _window(d, kernel)
    if groups > 1:
        attrs["groups"] = groups
    depth = d.whole(1, 2) if groups == 1 else 1
    return (1, depth * groups, *size), (groups, depth, *kernel), attrs


def _conv2d(d: Draw, dtype: str) -> Drawn:
    x, w, attrs = _conv_shapes(d)
    return [d.array(x, (-1.0, 1.0), dtype=dtype), d.array(w, (-1.0, 1.0), dtype=dtype)], attrs


def _conv_gradient(of_input: bool) -> Callable[[Draw, str], Drawn]:
    def draw(d: Draw, dtype: str) -> Drawn:
        from autograd import operators as op

        x, w, attrs = _conv_shapes(d)
        dy = d.array(op.conv2d(np.zeros(x), np.zeros(w), **attrs).shape, (-1.0, 1.0), dtype=dtype)
        if of_input:
            return [dy, d.array(w, (-1.0, 1.0), dtype=dtype)], {"size": x[-2:], **attrs}
        return [d.array(x, (-1.0, 1.0), dtype=dtype), dy], {"size": w[-2:], **attrs}

    return draw


def _pooled(name: str) -> Callable[[Draw, str], Drawn]:
    """A pooling, or what goes back or forth through one."""

    def draw(d: Draw, dtype: str) -> Drawn:
        from autograd import operators as op

        kernel = (d.whole(1, 2), d.whole(1, 2))
        maximum = name.startswith("max")
        size = kernel[0] if kernel[0] == kernel[1] and d.flip() else kernel
        attrs = {"kernel_size": size, **_window(d, kernel, dilation=maximum)}
        if not maximum and d.flip():
            attrs["count_include_pad"] = False
        x = d.array((*d.shape(0, 1, (1, 2)), 3, d.whole(2, 3)), WIDE, dtype=dtype)
        pooling = op.max_pool2d if maximum else op.avg_pool2d
        if name in ("max_pool2d", "avg_pool2d"):
            return [x], attrs
        y = pooling(x, **attrs)
        if name == "avg_pool2d_gradient":
            return [d.array(y.shape, WIDE, dtype=dtype)], {"size": x.shape[-2:], **attrs}
        shape = y.shape if name == "max_pool2d_gradient" else x.shape
        return [d.array(shape, WIDE, dtype=dtype)], {"x": x, "y": y, **attrs}

    return draw


def _convolve(d: Draw, dtype: str) -> Drawn:
    inputs = [d.array((d.whole(1, 4),), WIDE, dtype=dtype) for _ in range(2)]
    return inputs, options(d, {"mode": ("full", "valid")})


ROWS: dict[str, Domain] = {
    "sum": Domain(_reduction(initial=WIDE), COMPLEX),
    "prod": Domain(_reduction((0.5, 1.5), initial=(0.5, 1.5)), COMPLEX),
    "mean": Domain(_reduction(empty=False), COMPLEX),
    "max": Domain(_reduction(dtype_too=False, initial=(-3.0, -2.5), empty=False), note="no ties, a mask goes with initial"),
    "min": Domain(_reduction(dtype_too=False, initial=(2.5, 3.0), empty=False), note="no ties, a mask goes with initial"),
    "var": Domain(_spread, COMPLEX),
    "std": Domain(_spread, COMPLEX, note="away from the kink where all elements are equal"),
    "logsumexp": Domain(_logsumexp, COMPLEX),
    "cumsum": Domain(_running(WIDE, with_dtype=True), COMPLEX),
    "cumprod": Domain(_running((0.5, 1.5), with_dtype=True), COMPLEX),
    "linear_recurrence": Domain(_recurrence, COMPLEX),
    "running_max": Domain(_running(WIDE, least=1, optional=False), note="no ties"),
    "running_min": Domain(_running(WIDE, least=1, optional=False), note="no ties"),
    "reshape": Domain(_reshape, COMPLEX, note="not the orders that depend on the memory layout, which no rule knows"),
    "ravel": Domain(_ravel, COMPLEX, note="not the orders that depend on the memory layout, which no rule knows"),
    "transpose": Domain(_transpose, COMPLEX),
    "swapaxes": Domain(_swapaxes, COMPLEX),
    "expand_dims": Domain(_expand_dims, COMPLEX),
    "squeeze": Domain(_squeeze, COMPLEX),
    "broadcast_to": Domain(_broadcast_to, COMPLEX),
    "concatenate": Domain(_concatenate, COMPLEX),
    "stack": Domain(_stack, COMPLEX),
    "pad": Domain(_pad, COMPLEX),
    "repeat": Domain(_repeat, COMPLEX),
    "flip": Domain(_flip, COMPLEX),
    "roll": Domain(_roll, COMPLEX),
    "diagonal": Domain(_diagonal, COMPLEX),
    "place_diagonal": Domain(_place_diagonal, COMPLEX),
    "getitem": Domain(_getitem, COMPLEX),
    "setitem": Domain(_setitem, COMPLEX, note="no place twice"),
    "scatter_add": Domain(_scatter_add, COMPLEX),
    "take": Domain(_take, COMPLEX),
    "take_along_axis": Domain(_take_along_axis, COMPLEX),
    "sort": Domain(_running(WIDE, least=1), note="no ties"),
    **{name: Domain(_fourier, ("float64", "float64", "float32", "complex128")) for name in ("fft", "ifft", "irfft")},
    "rfft": Domain(_fourier, REAL),
    "softmax": Domain(_softmax, COMPLEX),
    "log_softmax": Domain(_softmax, COMPLEX),
    "softmax_cross_entropy": Domain(_cross_entropy),
    "conv2d": Domain(_conv2d, COMPLEX),
    "conv2d_input_gradient": Domain(_conv_gradient(True), COMPLEX),
    "conv2d_weight_gradient": Domain(_conv_gradient(False), COMPLEX),
    **{
        name: Domain(_pooled(name), note="no ties")
        for name in ("max_pool2d", "max_pool2d_gradient", "max_pool2d_tangent", "avg_pool2d", "avg_pool2d_gradient")
    },
    "convolve": Domain(_convolve, COMPLEX, note="numpy.convolve makes its mode same of a full one"),
}
