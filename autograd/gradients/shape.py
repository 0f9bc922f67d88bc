"""Gradients of moving, repeating, joining and cutting. All of these operators are linear.

Axes are counted from the end, because ``dy`` may carry a batch of cotangents in front.
"""

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from autograd import operators as op
from autograd.errors import GradientError
from registry.gradients import gradient


def _as_tuple(value):
    return tuple(value) if isinstance(value, tuple | list | np.ndarray) else (value,)


def _from_end(axis, ndim):
    """Axes as a tuple of negative numbers."""
    return tuple(each - ndim for each in normalize_axis_tuple(axis, ndim))


def _reshaped(dy, n_axes, shape):
    """``dy``, whose last ``n_axes`` axes are the operator's, with these in another shape."""
    return op.reshape(dy, shape=dy.shape[: dy.ndim - n_axes] + shape)


def _piece(dy, axis, where):
    """A part of ``dy`` along an axis that is counted from the end."""
    return op.getitem(dy, index=(..., where, *(slice(None),) * (-axis - 1)))


def _permuted(dy, axes):
    """``dy`` with its last axes permuted."""
    ahead = dy.ndim - len(axes)
    return op.transpose(dy, axes=(*range(ahead), *(ahead + each for each in axes)))


# -------------------------------------------------------------------------------------------------- the same values


@gradient("reshape", infos_to_save=("a",), linear=("a",))
def reshape(dy, saved, attrs):
    (a,) = saved
    if attrs["order"] not in ("C", "F"):
        raise GradientError(
            f"operator reshape or ravel: order={attrs['order']!r} asks for the order of the memory, which a tape does not record;"
            " expected 'C' or 'F'"
        )

    def da():
        n_axes = len(_as_tuple(attrs["shape"]))
        if attrs["order"] == "C":
            return _reshaped(dy, n_axes, a.shape)
        turned = _reshaped(_permuted(dy, range(n_axes)[::-1]), n_axes, a.shape[::-1])
        return _permuted(turned, range(len(a.shape))[::-1])

    return {"a": da}


@gradient("ravel", infos_to_save=("a",), linear=("a",))
def ravel(dy, saved, attrs):
    return reshape(dy, saved, {"shape": -1, "order": attrs["order"]})


@gradient("transpose", infos_to_save=("a",), linear=("a",))
def transpose(dy, saved, attrs):
    (a,) = saved

    def da():
        ndim = len(a.shape)
        if attrs["axes"] is None:
            return op.transpose(dy) if dy.ndim == ndim else _permuted(dy, range(ndim)[::-1])
        axes = normalize_axis_tuple(attrs["axes"], ndim)
        return _permuted(dy, sorted(range(ndim), key=axes.__getitem__))

    return {"a": da}


@gradient("swapaxes", infos_to_save=("a",), linear=("a",))
def swapaxes(dy, saved, attrs):
    (a,) = saved

    def da():
        axis1, axis2 = (_from_end(attrs[name], len(a.shape))[0] for name in ("axis1", "axis2"))
        return op.swapaxes(dy, axis1=axis1, axis2=axis2)

    return {"a": da}


@gradient("expand_dims", infos_to_save=("a",), linear=("a",))
def expand_dims(dy, saved, attrs):
    (a,) = saved
    return {"a": lambda: _reshaped(dy, len(a.shape) + len(_as_tuple(attrs["axis"])), a.shape)}


@gradient("squeeze", infos_to_save=("a",), linear=("a",))
def squeeze(dy, saved, attrs):
    (a,) = saved
    axis = attrs["axis"]
    return {"a": lambda: _reshaped(dy, len(a.shape) - (a.shape.count(1) if axis is None else len(_as_tuple(axis))), a.shape)}


@gradient("astype", elementwise=True)
def astype(dy, saved, attrs):
    return {"x": lambda: dy}  # the walk casts


@gradient("copy", elementwise=True)
def copy(dy, saved, attrs):
    return {"a": lambda: dy}


# -------------------------------------------------------------------------------------------------- repeated values


@gradient("broadcast_to", infos_to_save=("array",), linear=("array",))
def broadcast_to(dy, saved, attrs):
    (array,) = saved

    def darray():
        shape = _as_tuple(attrs["shape"])
        missing = len(shape) - len(array.shape)
        lengths = (1,) * missing + array.shape
        axes = tuple(at - len(shape) for at, (one, many) in enumerate(zip(lengths, shape)) if one != many or at < missing)
        return _reshaped(op.sum(dy, axis=axes, keepdims=True) if axes else dy, len(shape), array.shape)

    return {"array": darray}


@gradient("repeat", infos_to_save=("a",), linear=("a",))
def repeat(dy, saved, attrs):
    (a,) = saved

    def da():
        shape = a.shape if attrs["axis"] is not None and a.shape else (int(np.prod(a.shape)),)
        axis = _from_end(-1 if attrs["axis"] is None else attrs["axis"], len(shape))[0]
        repeats = np.asarray(attrs["repeats"]).astype(np.intp)  # an empty list has no whole numbers
        if repeats.size == 1:
            apart = (*shape[: len(shape) + axis + 1], int(repeats.item()), *shape[len(shape) + axis + 1 :])
            g = op.sum(_reshaped(dy, len(shape), apart), axis=axis)
        else:
            g = _gathered(dy, np.repeat(np.arange(shape[axis]), repeats), axis, shape)
        return _reshaped(g, len(shape), a.shape)

    return {"a": da}


def _gathered(dy, sources, axis, shape):
    """The transpose of taking ``sources`` along an axis: each piece of ``dy`` added where it came from."""
    batch = dy.shape[: dy.ndim - len(shape)]
    index = (*(slice(None),) * (len(shape) + axis), sources)
    return op.scatter_add([dy], indices=[index], shape=batch + shape, dtype=dy.dtype, batch=len(batch))


@gradient("pad", infos_to_save=("array",), linear=("array",), affine={"constant_values": 0})
def pad(dy, saved, attrs):
    (array,) = saved

    def darray():
        ndim = len(array.shape)
        widths = np.broadcast_to(np.asarray(attrs["pad_width"]), (ndim, 2)).tolist()
        middle = tuple(slice(before, before + length) for (before, _), length in zip(widths, array.shape))
        if attrs["mode"] == "constant":
            return op.getitem(dy, index=(..., *middle))
        g, shape = dy, list(dy.shape[dy.ndim - ndim :])
        for axis, (width, length) in enumerate(zip(widths, array.shape), -ndim):
            if any(width):
                shape[axis] = length
                sources = np.pad(np.arange(length), width, attrs["mode"])
                g = _folded(g, sources, width[0], axis, tuple(shape))
        return g

    return {"array": darray}


def _folded(g, sources, before, axis, shape):
    """``_gathered`` for a padded axis: its middle is added as it is, and only the edges by their sources."""
    ahead = (slice(None),) * (len(shape) + axis)
    batch = g.shape[: g.ndim - len(shape)]
    middle = slice(before, before + shape[axis])
    edges = (slice(0, before), slice(middle.stop, None))
    return op.scatter_add(
        [_piece(g, axis, each) for each in (middle, *edges)],
        indices=[(), *((*ahead, sources[each]) for each in edges)],
        shape=batch + shape,
        dtype=g.dtype,
        batch=len(batch),
    )


# -------------------------------------------------------------------------------------------------- moved values


@gradient("flip", infos_to_save=("m",), linear=("m",))
def flip(dy, saved, attrs):
    (m,) = saved
    ndim = len(m.shape)
    return {"m": lambda: op.flip(dy, axis=_from_end(range(ndim) if attrs["axis"] is None else attrs["axis"], ndim))}


@gradient("roll", infos_to_save=("a",), linear=("a",))
def roll(dy, saved, attrs):
    (a,) = saved

    def da():
        back = tuple(-each for each in _as_tuple(attrs["shift"]))
        ndim = len(a.shape)
        if attrs["axis"] is None:
            flat = _reshaped(dy, ndim, (int(np.prod(a.shape)),))
            return _reshaped(op.roll(flat, shift=sum(back), axis=-1), 1, a.shape)
        axes = tuple(normalize_axis_index(each, ndim) - ndim for each in _as_tuple(attrs["axis"]))
        return op.roll(dy, shift=back, axis=axes)

    return {"a": da}


@gradient("diagonal", infos_to_save=("a",), linear=("a",))
def diagonal(dy, saved, attrs):
    (a,) = saved
    return {"a": lambda: op.place_diagonal(dy, shape=a.shape, **attrs)}


@gradient("place_diagonal", infos_to_save=("a",), linear=("a",))
def place_diagonal(dy, saved, attrs):
    ndim = len(attrs["shape"])

    def da():
        axis1, axis2 = (normalize_axis_index(attrs[name], ndim) - ndim for name in ("axis1", "axis2"))
        return op.diagonal(dy, offset=attrs["offset"], axis1=axis1, axis2=axis2)

    return {"a": da}


# -------------------------------------------------------------------------------------------------- joined values


@gradient("concatenate", infos_to_save=("arrays",), linear=("arrays",))
def concatenate(dy, saved, attrs):
    (arrays,) = saved
    flat = attrs["axis"] is None
    axis = -1 if flat else _from_end(attrs["axis"], len(arrays[0].shape))[0]
    thunks, start = [], 0
    for each in arrays:
        stop = start + (int(np.prod(each.shape)) if flat else each.shape[axis])
        thunks.append(_part(dy, axis, slice(start, stop), each.shape if flat else None))
        start = stop
    return {"arrays": thunks}


@gradient("stack", infos_to_save=("arrays",), linear=("arrays",))
def stack(dy, saved, attrs):
    (arrays,) = saved
    axis = _from_end(attrs["axis"], len(arrays[0].shape) + 1)[0]
    return {"arrays": [_part(dy, axis, position) for position in range(len(arrays))]}


def _part(dy, axis, where, shape=None):
    """A thunk that cuts one operand's part out of a cotangent, and reshapes it where operands were flattened."""
    if shape is None:
        return lambda: _piece(dy, axis, where)
    return lambda: _reshaped(_piece(dy, axis, where), 1, shape)
