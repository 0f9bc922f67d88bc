"""NumPy's ``r_`` and ``c_`` over tensors, and ``vectorize``, which no tape can follow. Part of the family shape."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.engine import innermost_tape, resolve
from autograd.errors import NotTrackedError
from autograd.numpy.arguments import as_array
from autograd.numpy.points import linspace
from autograd.tensor import innermost_value

__all__ = ["bmat", "c_", "r_", "vectorize"]


def _joined(theirs: Any, key: Any) -> Any:
    """What ``r_`` or ``c_`` make of a key. NumPy itself arranges the numbers of the elements, so that every directive works."""
    parts = [resolve(each) for each in (key if isinstance(key, tuple) else (key,))]
    ends = [end for each in parts if isinstance(each, slice) for end in (each.start, each.stop, each.step)]
    if innermost_tape([*parts, *ends]) is None:
        return theirs[tuple(parts)]
    directives = parts[:1] if isinstance(parts[0], str) else []
    if any(each in ("r", "c", "matrix") for each in directives):
        raise NotTrackedError("r_, c_: got a tensor and a directive for a matrix object, expected none: use concatenate or block")
    arrays = [_points(each) if isinstance(each, slice) else as_array(each) for each in parts[len(directives) :]]
    plain = [innermost_value(each) for each in arrays]
    numbers, size = [], 0
    for each in plain:
        numbers.append(np.arange(size, size + np.size(each)).reshape(np.shape(each))[()])
        size += np.size(each)
    places = theirs[(*directives, *numbers)]
    flat = op.concatenate([op.ravel(each) for each in arrays], axis=0)
    dtype = np.result_type(*plain)
    joined = op.take(flat, indices=places)
    return joined if innermost_value(joined).dtype == dtype else op.astype(joined, dtype=dtype)


def _points(part: slice) -> Any:
    """The numbers of a slice: ``start:stop:5j`` are five of them, both ends included."""
    if isinstance(part.step, complex):
        return linspace(0 if part.start is None else part.start, part.stop, int(abs(part.step)))
    if innermost_tape([part.start, part.stop, part.step]) is not None:
        raise NotTrackedError(
            "r_, c_: got a tensor in a slice, whose length has no derivative; for 5 numbers write start:stop:5j"
        )
    return np.arange(0 if part.start is None else part.start, part.stop, 1 if part.step is None else part.step)


class _Rows(type(np.r_)):  # type: ignore[misc]  # NumPy's stubs call it a variable
    """Arrays joined along the first axis: ``r_[a, 0.0, 1:3]``; all that NumPy's ``r_`` can, with tensors too."""

    def __getitem__(self, key: Any) -> Any:
        return _joined(np.r_, key)


class _Columns(type(np.c_)):  # type: ignore[misc]
    """Arrays joined along the last axis, vectors as columns: ``c_[a, b]``; all that NumPy's ``c_`` can, with tensors too."""

    def __getitem__(self, key: Any) -> Any:
        return _joined(np.c_, key)


r_ = _Rows()
c_ = _Columns()


def bmat(obj: Any, ldict: Any = None, gdict: Any = None) -> Any:
    """NumPy's ``bmat``; with a tensor it raises NotTrackedError, because it makes a matrix object, which no tape can follow.

    >>> from autograd import grad
    >>> grad(lambda x: np.sum(bmat([[x, x]])))(np.ones((1, 1)))
    Traceback (most recent call last):
    autograd.errors.NotTrackedError: bmat: got a tensor, which no matrix object can hold; write block([[...], [...]])
    """
    if innermost_tape([obj]) is not None:
        raise NotTrackedError("bmat: got a tensor, which no matrix object can hold; write block([[...], [...]])")
    if isinstance(obj, str) and gdict is None:  # NumPy looks the names of a text up where it is called from
        caller = sys._getframe(1)
        ldict, gdict = caller.f_locals, caller.f_globals
    return np.bmat(obj, ldict, gdict)


class vectorize(np.vectorize):  # NumPy's name
    """NumPy's ``vectorize``; with a tensor it raises NotTrackedError, because NumPy would call the function on bare elements.

    >>> vectorize(lambda x: 2.0 * x)([1.0, 2.0])
    array([2., 4.])
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if innermost_tape([*args, *kwargs.values()]) is not None:
            raise NotTrackedError(
                "vectorize: got a tensor, whose bare elements the function would get; write it with array operations, or"
                " call it for each element: np.stack([f(each) for each in t])"
            )
        return super().__call__(*args, **kwargs)
