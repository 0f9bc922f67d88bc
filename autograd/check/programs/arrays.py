"""How a random program takes a step along the axes of a value: reductions, shapes, indexing, softmax, transforms."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from autograd.check.programs.drawing import Drawing
from autograd.check.programs.elementwise import Move, is_moderate, made_complex, made_real

APART = 0.05
"""How far apart elements are that an operator sorts."""


def has_elements(v: Any) -> bool:
    """Whether a value has an element and an axis."""
    return bool(v.size and v.ndim)


def has_axes(v: Any) -> bool:
    """Whether a value has an axis, which may be empty."""
    return bool(v.ndim)


def is_matrix(v: Any) -> bool:
    """Whether a value has two axes, neither of them empty."""
    return bool(v.ndim == 2 and v.size)


def _gaps(v: Any, axis: int | None) -> Any:
    """Differences of neighbours in sorted order."""
    return np.diff(np.sort(v, axis=axis), axis=-1 if axis is None else axis)


def _options(d: Drawing, axis: Any) -> dict[str, Any]:
    """The attributes that all reductions share, left out where they are the default."""
    options = {} if axis is None else {"axis": axis}
    return options | ({"keepdims": True} if d.flip() else {})


# ----------------------------------------------------------------------------------------------------- reductions


def _sum(operator: str, d: Drawing) -> str | None:
    name = d.find(is_moderate, "fc") if operator == "prod" else d.find(kinds="fc")
    if name is None:
        return None
    v = d.value(name)
    options = _options(d, d.axes(v))
    kind = d.pick(5)
    if kind == 3:
        options["initial"] = d.number()
    named = (("where", d.constant(d.mask(v.shape))),) if kind == 4 else ()
    return d.add_step(operator, (name,), options, named=named)


def _mean(d: Drawing) -> str | None:
    name = d.find(lambda v: bool(v.size), "fc")
    return name and d.add("mean", name, **_options(d, d.axes(d.value(name))))


def _spread(operator: str, d: Drawing) -> str | None:
    name = d.find(has_elements)
    if name is None:
        return None
    v, axis = d.value(name), d.axes(d.value(name))
    ddof = d.pick(2)
    count = v.size / np.var(v, axis=axis).size
    if count <= ddof or (operator == "std" and not d.far(np.std(v, axis=axis) >= 0.1)):
        return None
    return d.add(operator, name, **_options(d, axis), **({"ddof": ddof} if ddof else {}))


def _extreme(operator: str, d: Drawing) -> str | None:
    name = d.find(lambda v: bool(v.size))
    if name is None:
        return None
    v = d.value(name)
    axis = d.one_of(None, d.axis(v)) if v.ndim else None
    if not d.far(_gaps(v, axis) >= APART):
        return None
    return d.add(operator, name, **_options(d, axis))


def _logsumexp(d: Drawing) -> str | None:
    name = d.find(lambda v: bool(v.size))
    return name and d.add("logsumexp", name, **_options(d, d.axes(d.value(name))))


def _cumulative(operator: str, d: Drawing) -> str | None:
    name = d.find(has_axes if operator == "cumsum" else lambda v: has_axes(v) and is_moderate(v), "fc")
    return name and d.add(operator, name, axis=d.one_of(None, d.axis(d.value(name))))


def _running(operator: str, d: Drawing) -> str | None:
    name = d.find(lambda v: has_elements(v) and d.far(_gaps(v, None) >= APART))
    return name and d.add(operator, name, axis=d.axis(d.value(name)))


def _linear_recurrence(d: Drawing) -> str | None:
    name = d.find(has_elements)
    if name is None:
        return None
    shape = d.value(name).shape
    factors = d.find(lambda v: v.shape == shape and is_moderate(v)) or d.constant(d.numbers(shape))
    return d.add("linear_recurrence", factors, name, axis=d.axis(d.value(name)), reverse=d.flip())


def _vector_norm(d: Drawing) -> str | None:
    name = d.find(has_elements)
    if name is None:
        return None
    axis, ord = d.axis(d.value(name)), d.one_of(2, 3, 1, 2.5)
    v = d.value(name)
    if not d.far(np.linalg.norm(v, axis=axis) >= 0.3) or (ord != 2 and not d.far(np.abs(v) >= 0.1)):
        return None
    return d.add("vector_norm", name, axis=(axis,), ord=ord, keepdims=d.flip())


def _softmax(operator: str, d: Drawing) -> str | None:
    name = d.find(has_elements)
    return name and d.add(operator, name, axis=d.axis(d.value(name)))


def _softmax_cross_entropy(d: Drawing) -> str | None:
    name = d.find(is_matrix)
    if name is None:
        return None
    rows, classes = d.value(name).shape
    return d.add_step("softmax_cross_entropy", (name,), {"labels": [d.pick(classes) for _ in range(rows)]}, hidden=(1,))


# --------------------------------------------------------------------------------------------------------- shapes


def _reshape(d: Drawing) -> str | None:
    name = d.find(lambda v: bool(v.size), "fc")
    if name is None:
        return None
    size = d.value(name).size
    first = d.one_of(*(n for n in range(1, size + 1) if size % n == 0))
    shape = d.one_of((first, size // first), (-1,), (-1, first), (first, 1, size // first))
    return d.add("reshape", name, shape=shape, **({"order": "F"} if d.pick(3) == 2 else {}))


def _ravel(d: Drawing) -> str | None:
    name = d.find(kinds="fc")
    return name and d.add("ravel", name, **({"order": "F"} if d.flip() else {}))


def _transpose(d: Drawing) -> str | None:
    name = d.find(has_axes, "fc")
    if name is None:
        return None
    ndim = d.value(name).ndim
    turn = d.pick(ndim)
    axes = tuple((at + turn) % ndim for at in range(ndim))
    return d.add("transpose", name, **({"axes": axes} if turn else {}))


def _swapaxes(d: Drawing) -> str | None:
    name = d.find(has_axes, "fc")
    return name and d.add("swapaxes", name, axis1=d.axis(d.value(name)), axis2=d.axis(d.value(name)))


def _expand_dims(d: Drawing) -> str | None:
    name = d.find(lambda v: v.ndim < 4, "fc")
    return name and d.add("expand_dims", name, axis=d.pick(d.value(name).ndim + 1) - d.pick(2))


def _squeeze(d: Drawing) -> str | None:
    name = d.find(lambda v: 1 in v.shape, "fc")
    if name is None:
        return None
    axis = d.value(name).shape.index(1)
    return d.add("squeeze", name, **({"axis": axis} if d.flip() else {}))


def _broadcast_to(d: Drawing) -> str | None:
    name = d.find(lambda v: v.ndim < 4, "fc")
    if name is None:
        return None
    shape = tuple(3 if n == 1 and d.flip() else n for n in d.value(name).shape)
    return d.add("broadcast_to", name, shape=(*d.one_of((2,), ()), *shape))


def _concatenate(d: Drawing) -> str | None:
    name = d.find(has_axes, "fc")
    if name is None:
        return None
    shape, axis = d.value(name).shape, d.axis(d.value(name))

    def fits(v: Any) -> bool:
        same = [m == n for m, n in zip(v.shape, shape, strict=False)]
        return v.ndim == len(shape) and all(each for at, each in enumerate(same) if at != axis % len(shape))

    names = [name, *(d.find(fits, "fc") or name for _ in range(1 + d.pick(2)))]
    if d.pick(4) == 3:
        names.insert(d.pick(2), d.constant(d.numbers(shape), like=name))
    return d.add("concatenate", tuple(names), axis=axis)


def _stack(d: Drawing) -> str | None:
    name = d.find(lambda v: v.ndim < 4, "fc")
    if name is None:
        return None
    shape = d.value(name).shape
    names = [name, *(d.find(lambda v: v.shape == shape, "fc") or name for _ in range(d.pick(3)))]
    return d.add("stack", tuple(names), axis=d.pick(len(shape) + 1) - d.pick(2))


def _pad(d: Drawing) -> str | None:
    name = d.find(has_axes, "fc")
    if name is None:
        return None
    widths = tuple((d.pick(2), d.pick(3)) for _ in d.value(name).shape)
    return d.add("pad", name, pad_width=widths, **({"constant_values": d.number()} if d.flip() else {}))


def _repeat(d: Drawing) -> str | None:
    name = d.find(has_axes, "fc")
    if name is None:
        return None
    axis = d.axis(d.value(name))
    each = [d.pick(3) for _ in range(d.value(name).shape[axis])]
    return d.add("repeat", name, repeats=d.one_of(2, each), axis=axis)


def _flip(d: Drawing) -> str | None:
    name = d.find(has_axes, "fc")
    return name and d.add("flip", name, axis=d.axes(d.value(name)))


def _roll(d: Drawing) -> str | None:
    name = d.find(has_axes, "fc")
    return name and d.add("roll", name, shift=d.one_of(1, 2, -1), axis=d.one_of(None, d.axis(d.value(name))))


def _diagonal(d: Drawing) -> str | None:
    name = d.find(lambda v: v.ndim >= 2, "fc")
    axes = d.one_of((0, 1), (1, 0), (-2, -1))
    return name and d.add("diagonal", name, offset=d.pick(3) - 1, axis1=axes[0], axis2=axes[1])


def _place_diagonal(d: Drawing) -> str | None:
    name = d.find(lambda v: v.ndim == 1 and v.size, "fc")
    if name is None:
        return None
    size, offset = d.value(name).size, d.pick(3) - 1
    return d.add("place_diagonal", name, shape=(size + abs(offset),) * 2, offset=offset)


def _astype(d: Drawing) -> str | None:
    name = d.find(kinds="fc")
    return name and d.add("astype", name, dtype="complex128" if d.value(name).dtype.kind == "c" or d.pick(4) == 3 else "float64")


# ------------------------------------------------------------------------------------------------------- indexing


def _index(d: Drawing, shape: tuple[int, ...]) -> Any:
    """An index into an array of this shape: basic, by arrays or by a mask."""
    n = shape[0]
    kind = d.pick(9)
    if kind == 7:
        return tuple([d.pick(length) for _ in range(3)] for length in shape)
    if kind == 8:
        return (None, Ellipsis, d.pick(shape[-1]))
    at = d.pick(n)
    return (
        at - n * d.pick(2),
        slice(at, None),
        slice(None, None, -1),
        (Ellipsis, slice(None, d.pick(shape[-1]), 2)),
        [d.pick(n) for _ in range(1 + d.pick(4))],
        (slice(None), None),
        d.mask((n,)).tolist(),
    )[kind]


def _getitem(d: Drawing) -> str | None:
    name = d.find(has_elements, "fc")
    return name and d.add("getitem", name, index=_index(d, d.value(name).shape))


def _setitem(d: Drawing) -> str | None:
    name = d.find(has_elements, "fc")
    if name is None:
        return None
    v = d.value(name)
    n = d.pick(v.shape[0])
    index = d.one_of(n, slice(n, None), slice(None, None, 2), Ellipsis)
    part = v[index]
    if d.flip():
        return d.add("setitem", d.constant(d.number()), name, index=index)
    filling = d.find(lambda each: each.ndim == 0 or each.shape == part.shape, "f" if v.dtype.kind == "f" else "fc")
    return filling and d.add("setitem", filling, name, index=index)


def _take(d: Drawing) -> str | None:
    name = d.find(has_elements, "fc")
    if name is None:
        return None
    axis = d.one_of(None, d.axis(d.value(name)))
    n = d.value(name).size if axis is None else d.value(name).shape[axis]
    return d.add("take", name, indices=[d.pick(n) for _ in range(1 + d.pick(4))], axis=axis)


def _take_along_axis(d: Drawing) -> str | None:
    name = d.find(is_matrix, "fc")
    if name is None:
        return None
    rows, columns = d.value(name).shape
    return d.add("take_along_axis", name, indices=[[d.pick(columns)] for _ in range(rows)], axis=1)


def _sort(d: Drawing) -> str | None:
    name = d.find(has_elements)
    if name is None:
        return None
    axis = d.one_of(d.axis(d.value(name)), None)
    return d.add("sort", name, axis=axis) if d.far(_gaps(d.value(name), axis) >= APART) else None


def _scatter_add(d: Drawing) -> str | None:
    name = d.find(lambda v: v.ndim == 1)
    if name is None:
        return None
    names = (name, d.find(lambda v: v.ndim == 1) or name)
    indices = [[d.pick(4) for _ in range(d.value(each).size)] for each in names]
    return d.add("scatter_add", names, indices=indices, shape=(4,), dtype="float64")


# ----------------------------------------------------------------------------------------------------- transforms


def _transform(operator: str, d: Drawing) -> str | None:
    """A Fourier transform; half of the complex results become real at once, as few operators take them."""
    name = d.find(has_elements, "f" if operator == "rfft" else "fc")
    if operator == "irfft" and name is not None and d.value(name).dtype.kind == "f":
        name = d.find(has_elements, "c") or made_complex(d)
    if name is None or not has_elements(d.value(name)):
        return None
    axis = d.axis(d.value(name))
    n = d.value(name).shape[axis]
    if operator == "irfft" and n == 1:
        return None
    options = {"n": d.one_of(n + 1, max(n - 1, 2))} if d.pick(3) == 2 else {}
    norm = d.one_of(None, "ortho", "forward")
    result = d.add(operator, name, axis=axis, **options, **({"norm": norm} if norm else {}))
    return made_real(d, result) if operator != "irfft" and d.flip() else result


MOVES: dict[str, Move] = {
    "sum": partial(_sum, "sum"),
    "prod": partial(_sum, "prod"),
    "mean": _mean,
    "var": partial(_spread, "var"),
    "std": partial(_spread, "std"),
    "max": partial(_extreme, "max"),
    "min": partial(_extreme, "min"),
    "logsumexp": _logsumexp,
    "cumsum": partial(_cumulative, "cumsum"),
    "cumprod": partial(_cumulative, "cumprod"),
    "running_max": partial(_running, "running_max"),
    "running_min": partial(_running, "running_min"),
    "linear_recurrence": _linear_recurrence,
    "vector_norm": _vector_norm,
    "softmax": partial(_softmax, "softmax"),
    "log_softmax": partial(_softmax, "log_softmax"),
    "softmax_cross_entropy": _softmax_cross_entropy,
    "reshape": _reshape,
    "ravel": _ravel,
    "transpose": _transpose,
    "swapaxes": _swapaxes,
    "expand_dims": _expand_dims,
    "squeeze": _squeeze,
    "broadcast_to": _broadcast_to,
    "concatenate": _concatenate,
    "stack": _stack,
    "pad": _pad,
    "repeat": _repeat,
    "flip": _flip,
    "roll": _roll,
    "diagonal": _diagonal,
    "place_diagonal": _place_diagonal,
    "astype": _astype,
    "getitem": _getitem,
    "setitem": _setitem,
    "take": _take,
    "take_along_axis": _take_along_axis,
    "sort": _sort,
    "scatter_add": _scatter_add,
    **{name: partial(_transform, name) for name in ("fft", "ifft", "rfft", "irfft")},
}
"""One way to draw a step for each operator."""
