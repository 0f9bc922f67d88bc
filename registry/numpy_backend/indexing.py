"""Indexing: kernels that read parts of an array, put parts together, and sort.

``scatter_add`` is the transpose of ``getitem``, for several pieces at once. Adding at repeated positions is slow in NumPy
unless the positions are integers into one axis, so the kernel looks for the cheap cases first: slices and masks, which cannot
repeat; integer arrays that provably do not; and else one flat axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from registry.declare import operator
from registry.out_arrays import checked_into

_BASIC = frozenset({int, slice, type(None), type(Ellipsis)})


def _getitem(a: Any, index: Any) -> Any:
    try:
        return a[index] if isinstance(a, np.ndarray) else np.asarray(a)[index]
    except Exception as error:
        for each in index if isinstance(index, tuple) else (index,):
            dtype = getattr(each, "dtype", None)
            if dtype is not None and dtype.kind not in "iub":
                raise IndexError(
                    f"got an index of dtype {dtype}, expected integers or bools, which have no gradient: write"
                    " index.astype(int), or compare it for a mask"
                ) from error
        raise


def _scatter_add(values: Sequence[Any], indices: Any, shape: Any, dtype: Any, batch: int) -> Any:
    total = np.zeros(shape, dtype)
    ahead = (slice(None),) * batch
    for value, index in zip(values, indices, strict=True):
        parts = index if isinstance(index, tuple) else (index,)
        if is_basic(parts):
            part = total[ahead + parts]
            if type(part) is np.ndarray:  # a view, added to where it lies
                np.add(part, value, part)
            else:
                total[ahead + parts] += value
        else:
            _add_advanced(total, value, _expanded(parts, total.ndim - batch), batch)
    return total if total.ndim else total[()]


def is_basic(parts: tuple[Any, ...]) -> bool:
    """Whether an index consists of integers, slices, None and Ellipsis alone, so that it names no element twice."""
    for each in parts:  # noqa: SIM110  # a generator costs three times as much, for each element that a loop reads
        if type(each) not in _BASIC and not isinstance(each, np.integer):
            return False
    return True


def _expanded(parts: tuple[Any, ...], ndim: int) -> list[Any]:
    """An index with lists as arrays, and the Ellipsis written out as slices.

    One that stands for no axis stays: it still keeps index arrays apart, which moves their axes to the front.
    """
    parts = tuple(np.asarray(each, np.intp if not len(each) else None) if isinstance(each, list) else each for each in parts)
    used = 0
    for each in parts:
        if each is not None and each is not Ellipsis:
            used += np.ndim(each) if _is_mask(each) else 1
    rest = [slice(None)] * (ndim - used)
    for at, each in enumerate(parts):
        if each is Ellipsis:
            return [*parts[:at], *(rest or [Ellipsis]), *parts[at + 1 :]]
    return [*parts, *rest]


def _is_mask(part: Any) -> bool:
    return isinstance(part, bool | np.bool_) or (isinstance(part, np.ndarray) and part.dtype.kind == "b")


def _is_all(part: Any) -> bool:
    return isinstance(part, slice) and part == slice(None)


def _add_advanced(total: np.ndarray[Any, Any], value: Any, parts: list[Any], batch: int) -> None:
    """Add where ``parts`` point: masks, integer arrays, and any mixture with slices and None."""
    first, last = 0, len(parts)
    while _is_all(parts[first]):
        first += 1
    while _is_all(parts[last - 1]):
        last -= 1
    chosen = parts[first:last]
    if len(chosen) == 1 and _is_mask(chosen[0]) and np.ndim(chosen[0]):
        total[(slice(None),) * (batch + first) + (chosen[0],)] += value
        return
    shape = total.shape[batch:]
    if all(isinstance(each, np.ndarray | int | np.integer) and not _is_mask(each) for each in chosen):
        lengths = shape[first:last]
        arrays = [np.asarray(each) for each in chosen]
        distinct = _never_repeat(arrays)
        positions = np.ravel_multi_index(
            tuple(np.where(each < 0, each + length, each) for each, length in zip(arrays, lengths, strict=True)), lengths
        )
    else:  # NumPy itself says where each element of such a mixture comes from
        first, last, distinct = 0, len(shape), False
        positions = np.arange(int(np.prod(shape))).reshape(shape)[tuple(parts)]
    before = int(np.prod(total.shape[: batch + first]))
    after = int(np.prod(shape[last:]))
    rows = total.reshape(before, -1 if total.size else int(np.prod(shape[first:last])), after)
    _add_rows(rows, positions.ravel(), np.asarray(value).reshape(before, positions.size, after), distinct)


def _never_repeat(arrays: list[Any]) -> bool:
    """Whether integer arrays, broadcast together, provably point at no element twice, as in ``x[arange(n), labels]``.

    An array that increases strictly tells the positions along its own axes apart; together they must cover all axes.
    """
    if all(each.ndim == 0 for each in arrays):
        return True
    shape = np.broadcast_shapes(*(each.shape for each in arrays))
    covered = set()
    for each in arrays:
        flat = each.ravel()
        if flat.size and (flat[0] >= 0 or flat[-1] < 0) and (flat[1:] > flat[:-1]).all():
            covered |= {at for at, length in enumerate(each.shape, len(shape) - each.ndim) if length > 1}
    return covered >= {at for at, length in enumerate(shape) if length > 1}


def _add_rows(total: Any, positions: Any, value: Any, distinct: bool) -> None:
    """``total[:, positions] += value`` for three axes, with repeated positions added up."""
    if not value.size:
        return
    before, length, after = total.shape
    if not distinct and (before > 1 or after > 1) and length <= 16 * positions.size:
        distinct = bool(np.max(np.bincount(positions)) <= 1)
    if distinct:
        total[:, positions] += value
        return
    if after > 1:
        positions = (positions[:, None] * after + np.arange(after)).ravel()
    if before > 1:
        positions = (np.arange(before)[:, None] * (length * after) + positions).ravel()
    np.add.at(total.reshape(-1), positions, value.reshape(-1).astype(total.dtype, copy=False))


def _taken_dtype(a: Any, indices: Any, **_: Any) -> Any:
    return np.asarray(a).dtype


def _take_along_axis(arr: Any, indices: Any, axis: int | None) -> Any:
    return np.take_along_axis(np.asarray(arr), np.asarray(indices), axis)


def _argsort(a: Any, axis: Any, kind: Any) -> Any:
    return np.argsort(a, axis=axis, kind=kind)


operator("getitem(Tensor(a) a, *, Index index) -> Tensor(a)", _getitem)
operator("scatter_add(Tensor[] values, *, Any indices, int[] shape, ScalarType dtype, int batch=0) -> Tensor", _scatter_add)
operator(
    "take(Tensor a, Any indices, int? axis=None, *, str mode='raise') -> Tensor",
    np.take,
    out_func=checked_into(np.take, _taken_dtype),
)
operator("take_along_axis(Tensor arr, Any indices, int? axis=-1) -> Tensor", _take_along_axis)
operator("sort(Tensor a, int? axis=-1) -> Tensor", lambda a, axis: np.sort(a, axis=axis))
operator("argsort(Tensor a, int? axis=-1, str? kind=None) -> Tensor", _argsort, constant=True)
operator("searchsorted(Tensor a, Tensor v, str side='left', Any sorter=None) -> Tensor", np.searchsorted, constant=True)
