"""Reductions: kernels that fold axes, and running sums and products.

The ufunc's own ``reduce`` is called where ``np.sum`` and its relatives would only add Python steps before it. ``where`` and
``initial`` are None where the caller gave none.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np

from registry.declare import operator
from registry.out_arrays import checked_into, reduction_into

# NumPy's stubs know fewer combinations of arguments than reduce takes.
_fold_sum: Any = np.add.reduce
_fold_product: Any = np.multiply.reduce
_fold_max: Any = np.maximum.reduce
_fold_min: Any = np.minimum.reduce

_OPTIONS = "bool keepdims=False, Scalar? initial=None, Tensor? where=None"
_MOMENT_OPTIONS = "Scalar ddof=0, bool keepdims=False, Tensor? where=None"


def _given(initial: Any, where: Any) -> dict[str, Any]:
    """Those of the two that were given: for ``reduce``, leaving one out and None do not mean the same."""
    return {name: each for name, each in (("initial", initial), ("where", where)) if each is not None}


def _sum(a: Any, axis: Any, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    if initial is None and where is None:
        return _fold_sum(a, axis, dtype, None, keepdims)
    return _fold_sum(a, axis, dtype, None, keepdims, **_given(initial, where))


def _prod(a: Any, axis: Any, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    return _fold_product(a, axis, dtype, None, keepdims, **_given(initial, where))


def _max(a: Any, axis: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    return _fold_max(a, axis, None, None, keepdims, **_given(initial, where))


def _min(a: Any, axis: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    return _fold_min(a, axis, None, None, keepdims, **_given(initial, where))


def _any(a: Any, axis: Any, keepdims: bool, where: Any) -> Any:
    return np.any(a, axis=axis, keepdims=keepdims, **_given(None, where))


def _all(a: Any, axis: Any, keepdims: bool, where: Any) -> Any:
    return np.all(a, axis=axis, keepdims=keepdims, **_given(None, where))


def _mean(a: Any, axis: Any, dtype: Any, keepdims: bool, where: Any) -> Any:
    if where is None and dtype is None and type(a) is np.ndarray and a.dtype.char in "fdFD" and a.size:
        total = _fold_sum(a, axis, None, None, keepdims)
        return total / (a.size // total.size)
    return np.mean(a, axis=axis, dtype=dtype, keepdims=keepdims, **_given(None, where))


def _var(a: Any, axis: Any, dtype: Any, ddof: Any, keepdims: bool, where: Any) -> Any:
    return np.var(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, **_given(None, where))


def _std(a: Any, axis: Any, dtype: Any, ddof: Any, keepdims: bool, where: Any) -> Any:
    return np.std(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, **_given(None, where))


def _logsumexp(a: Any, axis: Any, keepdims: bool) -> Any:
    a = np.asarray(a)
    if a.dtype.kind in "biu":
        a = a.astype(np.float64)
    largest = _fold_max(a.real, axis, None, None, True, initial=-np.inf)
    shift = np.where(np.isfinite(largest), largest, 0)
    with np.errstate(divide="ignore", over="ignore"):  # log(0) is -inf and exp(1000) beside inf is inf: both meant
        y = np.log(_fold_sum(np.exp(a - shift), axis, None, None, True)) + shift
    return y if keepdims else np.squeeze(y, axis=axis if axis is not None else tuple(range(a.ndim)))[()]


def _linear_recurrence(a: Any, b: Any, axis: int, reverse: bool) -> Any:
    order = slice(None, None, -1) if reverse else slice(None)
    if b.ndim == 1:
        steps = zip(a[order].tolist(), b[order].tolist(), strict=True)
        y = np.array([s for _, s in accumulate(steps, lambda before, now: (0, now[0] * before[1] + now[1]))], b.dtype)
        return y[order]
    y = np.array(b)
    rows, factors = np.moveaxis(y, axis, 0)[order], np.moveaxis(a, axis, 0)[order]
    for row, before, factor in zip(rows[1:], rows, factors[1:], strict=False):
        row += factor * before
    return y


def _running_dtype(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    return np.cumsum(np.ones(1, np.asarray(a).dtype), dtype=dtype).dtype


def _position_dtype(a: Any, **_: Any) -> Any:
    return np.dtype(np.intp)


operator(
    f"sum(Tensor a, int[1]? axis=None, ScalarType? dtype=None, *, {_OPTIONS}) -> Tensor", _sum, out_func=reduction_into(np.sum)
)
operator(
    f"prod(Tensor a, int[1]? axis=None, ScalarType? dtype=None, *, {_OPTIONS}) -> Tensor", _prod, out_func=reduction_into(np.prod)
)
operator(f"max(Tensor a, int[1]? axis=None, *, {_OPTIONS}) -> Tensor", _max, out_func=reduction_into(np.max))
operator(f"min(Tensor a, int[1]? axis=None, *, {_OPTIONS}) -> Tensor", _min, out_func=reduction_into(np.min))
operator(
    "mean(Tensor a, int[1]? axis=None, ScalarType? dtype=None, *, bool keepdims=False, Tensor? where=None) -> Tensor",
    _mean,
    out_func=reduction_into(np.mean),
)
operator(
    f"var(Tensor a, int[1]? axis=None, ScalarType? dtype=None, *, {_MOMENT_OPTIONS}) -> Tensor",
    _var,
    out_func=reduction_into(np.var),
)
operator(
    f"std(Tensor a, int[1]? axis=None, ScalarType? dtype=None, *, {_MOMENT_OPTIONS}) -> Tensor",
    _std,
    out_func=reduction_into(np.std),
)
operator("logsumexp(Tensor a, int[1]? axis=None, *, bool keepdims=False) -> Tensor", _logsumexp)

operator(
    "cumsum(Tensor a, int? axis=None, ScalarType? dtype=None) -> Tensor",
    np.cumsum,
    out_func=checked_into(np.cumsum, _running_dtype),
)
operator(
    "cumprod(Tensor a, int? axis=None, ScalarType? dtype=None) -> Tensor",
    np.cumprod,
    out_func=checked_into(np.cumprod, _running_dtype),
)
# y[i] = a[i] * y[i-1] + b[i] along an axis; reverse: from the other end. Its transpose is another one, so the gradient of a
# running product needs no division and is exact where factors are zero.
operator("linear_recurrence(Tensor a, Tensor b, *, int axis=-1, bool reverse=False) -> Tensor", _linear_recurrence)

# Steps of maximum, which would share a tie by halves again and again; NumPy's loop is one pass.
operator("running_max(Tensor a, *, int axis=0) -> Tensor", lambda a, axis: np.maximum.accumulate(a, axis))
operator("running_min(Tensor a, *, int axis=0) -> Tensor", lambda a, axis: np.minimum.accumulate(a, axis))

operator(
    "argmax(Tensor a, int? axis=None, *, bool keepdims=False) -> Tensor",
    np.argmax,
    constant=True,
    out_func=checked_into(np.argmax, _position_dtype),
)
operator(
    "argmin(Tensor a, int? axis=None, *, bool keepdims=False) -> Tensor",
    np.argmin,
    constant=True,
    out_func=checked_into(np.argmin, _position_dtype),
)
operator(
    "any(Tensor a, int[1]? axis=None, *, bool keepdims=False, Tensor? where=None) -> Tensor",
    _any,
    constant=True,
    out_func=reduction_into(np.any),
)
operator(
    "all(Tensor a, int[1]? axis=None, *, bool keepdims=False, Tensor? where=None) -> Tensor",
    _all,
    constant=True,
    out_func=reduction_into(np.all),
)
operator("count_nonzero(Tensor a, int[1]? axis=None, *, bool keepdims=False) -> Tensor", np.count_nonzero, constant=True)
