"""NumPy-shaped functions of the family reduction: sums, means, products, extremes, running sums.

Options are NumPy's. Where several elements attain a maximum or minimum they share its gradient equally; the gradient of
``std`` is 0 where all elements are equal; that of ``max(initial=...)`` is 0 where the initial value is larger.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from autograd import operators as op
from autograd.engine import innermost_tape, resolve
from autograd.errors import NotTrackedError
from autograd.numpy.arguments import as_array
from autograd.numpy.following import written
from autograd.tensor import Tensor, innermost_value
from autograd.variant_calls import numpy_into

__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "count_nonzero", "cumprod", "cumsum", "cumulative_prod",
    "cumulative_sum", "logsumexp", "max", "mean", "min", "prod", "std", "sum", "var",
]  # fmt: skip
METHODS: tuple[str, ...] = (
    "all", "any", "argmax", "argmin", "cumprod", "cumsum", "max", "mean", "min", "prod", "std", "sum", "var",
)  # fmt: skip


def _mask(where: Any) -> Any:
    """A mask as kernels take it: None if everything is chosen."""
    return None if where is True or where is None else np.asarray(innermost_value(where), bool)


def _is_followed(function: str, initial: Any, a: Any, dtype: Any = None) -> bool:
    """Whether the initial value is a tensor; NotTrackedError if whole numbers are reduced, to which it would be cast."""
    if type(initial) is not Tensor:
        return False
    dtype = np.asarray(innermost_value(as_array(resolve(a)))).dtype if dtype is None else np.dtype(dtype)
    if dtype.kind not in "fc":
        raise NotTrackedError(
            f"{function}: initial is a tensor, but what is reduced has dtype {dtype}, to which it would be cast as a constant;"
            " convert the array: a.astype(float)"
        )
    return True


# -------------------------------------------------------------------------------------------------- sums and products


def sum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    """The sum over axes; all of them by default.

    >>> sum([[1.0, 2.0], [3.0, 4.0]], axis=0)
    array([4., 6.])
    """
    if out is not None:
        return written(np.sum, sum, a, out, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)
    if _is_followed("sum", initial, a, dtype):
        return op.add(initial, sum(a, axis, dtype, None, keepdims, None, where))
    return op.sum(a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=None if where is True else _mask(where))


def logsumexp(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """``log(sum(exp(a)))`` over axes, by the shift that never overflows; -inf, with gradient 0, where all elements are.

    >>> logsumexp([1000.0, 1000.0]) == 1000.0 + np.log(2.0)
    np.True_
    """
    return op.logsumexp(a, axis=axis, keepdims=keepdims)


def prod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    """The product over axes. Its derivatives are exact where factors are zero.

    >>> prod([2.0, 3.0, 4.0])
    np.float64(24.0)
    """
    if out is not None:
        return written(np.prod, prod, a, out, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)
    if _is_followed("prod", initial, a, dtype):
        return op.multiply(initial, prod(a, axis, dtype, None, keepdims, None, where))
    return op.prod(a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=_mask(where))


def cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """Running sums along an axis; over all elements in one row by default.

    >>> cumsum([1.0, 2.0, 3.0])
    array([1., 3., 6.])
    """
    if out is not None:
        return written(np.cumsum, cumsum, a, out, axis=axis, dtype=dtype)
    return op.cumsum(a, axis=axis, dtype=dtype)


def cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """Running products along an axis. Derivatives are exact where factors are zero.

    >>> cumprod([2.0, 3.0, 4.0])
    array([ 2.,  6., 24.])
    """
    if out is not None:
        return written(np.cumprod, cumprod, a, out, axis=axis, dtype=dtype)
    return op.cumprod(a, axis=axis, dtype=dtype)


def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    """Running sums along an axis, which a vector need not name; ``include_initial`` puts 0 before them.

    >>> cumulative_sum([1.0, 2.0, 3.0], include_initial=True)
    array([0., 1., 3., 6.])
    """
    return _cumulative("cumulative_sum", cumsum, 0, x, axis, dtype, out, include_initial)


def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    """Running products along an axis, which a vector need not name; ``include_initial`` puts 1 before them.

    >>> cumulative_prod([2.0, 3.0, 4.0])
    array([ 2.,  6., 24.])
    """
    return _cumulative("cumulative_prod", cumprod, 1, x, axis, dtype, out, include_initial)


def _cumulative(
    name: str, running: Callable[..., Any], first: int, x: Any, axis: int | None, dtype: Any, out: Any, include_initial: bool
) -> Any:
    if innermost_tape([x, out]) is None and hasattr(np, name):  # since NumPy 2.1
        return getattr(np, name)(x, axis=axis, dtype=dtype, out=out, include_initial=include_initial)
    x = as_array(resolve(x))
    shape = np.shape(innermost_value(x))
    if axis is None and len(shape) > 1:
        raise ValueError(f"{name}: got an array of {len(shape)} axes, expected a vector, or axis= for the one to run along")
    if not shape:
        x, shape = op.reshape(x, shape=(1,)), (1,)
    axis = normalize_axis_index(0 if axis is None else axis, len(shape))

    def run(x: Any) -> Any:
        y = running(x, axis, dtype)
        ones = np.full((*shape[:axis], 1, *shape[axis + 1 :]), first, innermost_value(y).dtype)
        return op.concatenate([ones, y], axis=axis) if include_initial else y

    return run(x) if out is None else numpy_into(f"{name}: out", run, [x], out)


# -------------------------------------------------------------------------------------------------- moments


def mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """The arithmetic mean over axes.

    >>> mean([1.0, 2.0, 6.0])
    np.float64(3.0)
    """
    if out is not None:
        return written(np.mean, mean, a, out, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    return op.mean(a, axis=axis, dtype=dtype, keepdims=keepdims, where=None if where is True else _mask(where))


def var(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *,
    where: Any = True, mean: Any = None, correction: float | None = None,
) -> Any:  # fmt: skip
    """The variance over axes: the mean squared distance from the mean, with divisor ``n - ddof``.

    >>> var([1.0, 3.0])
    np.float64(1.0)
    """
    ddof = _delta("var", ddof, correction)
    if out is not None or mean is not None:
        return _about(np.var, var, a, out, mean, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, where=where)
    return op.var(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, where=_mask(where))


def std(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *,
    where: Any = True, mean: Any = None, correction: float | None = None,
) -> Any:  # fmt: skip
    """The standard deviation over axes, the square root of ``var``; its gradient is 0 where all elements are equal.

    >>> std([1.0, 3.0])
    np.float64(1.0)
    """
    ddof = _delta("std", ddof, correction)
    if out is not None or mean is not None:
        return _about(np.std, std, a, out, mean, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, where=where)
    return op.std(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, where=_mask(where))


def _about(theirs: Callable[..., Any], ours: Callable[..., Any], a: Any, out: Any, mean: Any, **options: Any) -> Any:
    """``var`` and ``std`` with a place for the result, or about a mean that the caller knows.

    Such a mean is an input of its own: the gradient in ``a`` takes it as it is, and one in the mean is added if it is a tensor.
    """
    if mean is None:
        return written(theirs, ours, a, out, **options)
    if innermost_tape([a, out, mean]) is None:
        return theirs(a, out=out, mean=mean, **options)
    if out is not None:
        name = f"{theirs.__name__}: out"
        return numpy_into(name, lambda a, mean: _about(theirs, ours, a, None, mean, **options), [resolve(a), resolve(mean)], out)
    a, mean, axis, where, keepdims = resolve(a), resolve(mean), options["axis"], options["where"], options["keepdims"]
    if options["dtype"] is not None:
        a = op.astype(a, dtype=np.dtype(options["dtype"]))
    distance = op.subtract(a, mean)
    if np.iscomplexobj(innermost_value(distance)):
        squares = op.add(op.square(op.real(distance)), op.square(op.imag(distance)))
    else:
        squares = op.square(distance)
    total = op.sum(squares, axis=axis, keepdims=keepdims, where=_mask(where))
    shape = np.shape(innermost_value(squares))
    count = np.sum(np.broadcast_to(True if where is True else _mask(where), shape), axis=axis, keepdims=keepdims)
    freedom = np.maximum(count - options["ddof"], 0).astype(innermost_value(total).dtype)
    y = op.divide(total, freedom)
    if ours is var:
        return y
    kink = np.equal(innermost_value(y), 0)
    return op.where(kink, 0.0, op.sqrt(op.where(kink, 1.0, y))) if kink.any() else op.sqrt(y)


def _delta(function: str, ddof: float, correction: float | None) -> float:
    if isinstance(ddof, Tensor) or isinstance(correction, Tensor):
        by_hand = "var(a) * n / (n - ddof)"
        raise NotTrackedError(
            f"{function}: got a tensor as ddof or correction, in which it has no gradient rule; expected a plain number: pass"
            f" t.item(), or write {by_hand if function == 'var' else f'sqrt({by_hand})'}"
        )
    if correction is None:
        return ddof
    if ddof:
        raise ValueError(f"{function}: got ddof={ddof} and correction={correction}, which mean the same; give one of the two")
    return correction


# -------------------------------------------------------------------------------------------------- extremes


def max(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
    """The largest element along axes; equal ones share its gradient.

    >>> max([[1.0, 5.0], [3.0, 4.0]], axis=1)
    array([5., 4.])
    """
    if out is not None:
        return written(np.max, max, a, out, axis=axis, keepdims=keepdims, initial=initial, where=where)
    if _is_followed("max", initial, a):
        return op.maximum(initial, max(a, axis, None, keepdims, -np.inf, where))
    return op.max(a, axis=axis, keepdims=keepdims, initial=initial, where=_mask(where))


def min(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
    """The smallest element along axes; equal ones share its gradient.

    >>> min([[1.0, 5.0], [3.0, 4.0]], axis=1)
    array([1., 3.])
    """
    if out is not None:
        return written(np.min, min, a, out, axis=axis, keepdims=keepdims, initial=initial, where=where)
    if _is_followed("min", initial, a):
        return op.minimum(initial, min(a, axis, None, keepdims, np.inf, where))
    return op.min(a, axis=axis, keepdims=keepdims, initial=initial, where=_mask(where))


amax = max
amin = min


def argmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """The index of the first largest element; a constant.

    >>> argmax([1.0, 5.0, 3.0])
    np.int64(1)
    """
    if out is not None:
        return written(np.argmax, argmax, a, out, axis=axis, keepdims=keepdims)
    return op.argmax(a, axis=axis, keepdims=keepdims)


def argmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """The index of the first smallest element; a constant.

    >>> argmin([4.0, 5.0, 3.0])
    np.int64(2)
    """
    if out is not None:
        return written(np.argmin, argmin, a, out, axis=axis, keepdims=keepdims)
    return op.argmin(a, axis=axis, keepdims=keepdims)


# -------------------------------------------------------------------------------------------------- questions


def any(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """Whether an element is true (not zero) along axes; a constant.

    >>> any([0.0, 1.0])
    np.True_
    """
    if out is not None:
        return written(np.any, any, a, out, axis=axis, keepdims=keepdims, where=where)
    return op.any(a, axis=axis, keepdims=keepdims, where=_mask(where))


def all(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """Whether all elements are true (not zero) along axes; a constant.

    >>> all([0.0, 1.0])
    np.False_
    """
    if out is not None:
        return written(np.all, all, a, out, axis=axis, keepdims=keepdims, where=where)
    return op.all(a, axis=axis, keepdims=keepdims, where=_mask(where))


def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """How many elements are not zero along axes; a constant.

    >>> count_nonzero([0.0, 1.0, 2.0], axis=0)
    np.int64(2)
    """
    return op.count_nonzero(a, axis=axis, keepdims=keepdims)
