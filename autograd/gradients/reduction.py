"""Gradients of reductions.

A reduction's cotangent lacks the folded axes. ``_widen`` puts them back with length one, counted from the end because ``dy``
may carry a batch of cotangents in front; broadcasting does the rest.
"""

from math import prod as product
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.gradients.limits import curvature_at_zero
from autograd.tensor import innermost_value
from registry.gradients import GradConfig, gradient, register_gradient

_fold_sum: Any = np.add.reduce
"""``np.add.reduce`` by position, which costs half of ``np.sum``."""


def _axes(axis, ndim):
    """The folded axes, counted from the end."""
    if axis is None:
        return tuple(range(-ndim, 0))
    return tuple(each - ndim if each >= 0 else each for each in (axis if isinstance(axis, tuple | list) else (axis,)))


def _widen(y, attrs, ndim):
    """``y``, or a cotangent of it, with the folded axes as axes of length one."""
    if attrs["keepdims"] or ndim == 0:
        return y
    shape = list(np.shape(innermost_value(y)))
    for axis in sorted(_axes(attrs["axis"], ndim), reverse=True):
        shape.insert(len(shape) + 1 + axis, 1)
    return op.reshape(y, shape=shape)


def _spread(dy, shape, attrs):
    """A cotangent broadcast to the shape of the operand, behind the batch; without a copy."""
    axis, ndim = attrs["axis"], len(shape)
    if axis is None and not dy.shape:
        return op.broadcast_to(dy, shape=shape) if ndim else dy
    batch = dy.shape[: dy.ndim - (ndim if attrs["keepdims"] else ndim - len(_axes(axis, ndim)))]
    return op.broadcast_to(_widen(dy, attrs, ndim), shape=batch + shape)


def _masked(mask, g):
    return g if mask is None else op.where(np.asarray(mask, bool), g, 0.0)


def _fold(g, attrs):
    """The tangent of a reduction: the sum of what each element adds to it."""
    return op.sum(g, axis=attrs["axis"], keepdims=attrs["keepdims"])


def _unless_zero(g, factor, undefined):
    """``g``, a product with ``factor``, with strong zeros: exactly 0 where the factor is 0 and the other one inf or NaN.

    So a row that is masked out may hold anything. ``undefined`` says where such a thing may be; the mask is smaller than ``g``.
    """
    if not undefined.any():
        return g
    silent = np.equal(innermost_value(factor), 0) & ~np.isfinite(innermost_value(g))
    return op.where(silent, 0.0, g) if silent.any() else g


def _count(shape, attrs):
    """How many elements each result is made of: an int, or with a mask an array that has all axes."""
    if attrs.get("where") is None:
        return product(shape[each] for each in _axes(attrs["axis"], len(shape)))
    mask = np.broadcast_to(np.asarray(attrs["where"], bool), shape)
    return _fold_sum(mask, attrs["axis"], np.intp, None, True)


# -------------------------------------------------------------------------------------------------- sums and means


def _sum_a(dy, saved, attrs):
    return _masked(attrs["where"], _spread(dy, saved[0].shape, attrs))


register_gradient(GradConfig("sum", by_input={"a": _sum_a}, infos_to_save=("a",), linear=("a",), affine={"initial": None}))


def _mean_a(dy, saved, attrs):
    shape = saved[0].shape
    count = _count(shape, attrs)
    if type(count) is int:
        return _spread(dy / count, shape, attrs)
    share = _widen(dy, attrs, len(shape)) / count.astype(dy.dtype)
    return _masked(attrs["where"], _spread(share, shape, {**attrs, "keepdims": True}))


register_gradient(GradConfig("mean", by_input={"a": _mean_a}, infos_to_save=("a",), linear=("a",)))


def _centred(a, attrs):
    """``a`` less its mean, zero where the mask leaves it out; and the mean, with all axes."""
    centre = op.mean(a, axis=attrs["axis"], keepdims=True, where=attrs["where"])
    return _masked(attrs["where"], op.subtract(a, centre)), centre


def _freedom(shape, attrs, dtype):
    """The divisor of a variance, never below zero."""
    count = np.maximum(_count(shape, attrs) - attrs["ddof"], 0)
    return count.astype(dtype) if count.ndim else float(count)


def _conjugate(x):
    return op.conjugate(x) if np.dtype(getattr(x, "dtype", float)).kind == "c" else x


def _var_tangent(tangents, saved, attrs):
    (a,), t = saved, tangents["a"]
    difference, centre = _centred(a, attrs)
    freedom = _freedom(np.shape(innermost_value(a)), attrs, np.asarray(innermost_value(centre)).real.dtype)
    g = op.divide(op.real(t * (2.0 * _conjugate(difference))), freedom)
    return _fold(_unless_zero(g, t, ~np.isfinite(innermost_value(centre))), attrs)


@gradient("var", inputs_to_save=("a",), jvp_func=_var_tangent)
def var(dy, saved, attrs):
    (a,) = saved

    def da():
        shape = np.shape(innermost_value(a))
        factor = _widen(dy * 2, attrs, len(shape))
        difference, centre = _centred(a, attrs)
        freedom = _freedom(shape, attrs, dy.dtype)
        g = op.divide(factor, freedom) * _conjugate(difference)
        undefined = ~np.isfinite(innermost_value(centre)) | np.equal(freedom, 0)
        return _masked(attrs["where"], _unless_zero(g, factor, undefined))

    return {"a": da}


def _std_tangent(tangents, saved, attrs):
    (a, y), t = saved, tangents["a"]
    freedom = _freedom(np.shape(innermost_value(a)), attrs, np.asarray(innermost_value(y)).dtype)
    difference, deviation, kink, undefined = _standard(a, y, freedom, attrs)
    g = op.real(t * op.divide(op.divide(_conjugate(difference), deviation), freedom))
    return _fold(_unless_zero(g if kink is None else op.where(kink, 0.0, g), t, undefined), attrs)


@gradient("std", inputs_to_save=("a",), outputs_to_save=True, jvp_func=_std_tangent)
def std(dy, saved, attrs):
    a, y = saved

    def da():
        shape = np.shape(innermost_value(a))
        freedom = _freedom(shape, attrs, dy.dtype)
        difference, deviation, kink, undefined = _standard(a, y, freedom, attrs)
        factor = _widen(dy, attrs, len(shape))
        g = op.divide(op.divide(factor, deviation), freedom) * _conjugate(difference)
        undefined = undefined | np.equal(freedom, 0)
        g = _masked(attrs["where"], _unless_zero(g if kink is None else op.where(kink, 0.0, g), factor, undefined))
        if kink is None:
            return g
        curvature = curvature_at_zero("std", dy, y, zero=kink)
        if curvature is None:
            return g
        return g + op.divide(_widen(curvature, attrs, len(shape)), freedom) * _conjugate(_centred(a, attrs)[0])

    return {"a": da}


def _standard(a, y, freedom, attrs):
    """Distances from the mean and the deviation, to be divided by it: both scaled where squares have left the range of floats.

    Also where the kink is (None if nowhere), where the deviation is 1 instead; and where there is inf or NaN.
    """
    deviation = _widen(y, attrs, np.ndim(innermost_value(a)))
    difference, centre = _centred(a, attrs)
    undefined = ~np.isfinite(innermost_value(centre))
    kink = _constant(innermost_value(a), innermost_value(deviation), innermost_value(centre), attrs)
    if kink is not None:
        deviation = op.where(kink, 1.0, deviation)
    plain = innermost_value(deviation)
    numbers = np.finfo(plain.dtype)
    extreme = ((plain < np.sqrt(numbers.tiny / numbers.eps)) | np.isinf(plain)) & ~undefined & np.greater(freedom, 0)
    if extreme.any():
        folded = {"axis": attrs["axis"], "keepdims": True}
        size = np.where(extreme, np.max(np.abs(innermost_value(difference)), initial=0.0, **folded), 1.0).astype(plain.dtype)
        difference = op.divide(difference, size)
        options = {**folded, "ddof": attrs["ddof"], "where": attrs["where"]}
        deviation = op.where(extreme, op.std(difference, **options), deviation)
    return difference, deviation, kink, undefined


def _constant(a, deviation, centre, attrs):
    """Where all elements are equal, so that the deviation has its kink: a mask, or None if nowhere.

    The mean of equal numbers may be off by a rounding error. The deviation is then not quite zero, and dividing by it would
    make a gradient of order one out of the error; so suspiciously small ones are looked at closely.
    """
    rounding = np.finfo(np.asarray(deviation).dtype).eps * _count(np.shape(a), attrs) * np.abs(centre)
    if not np.any(deviation <= rounding):
        return None
    options = {"axis": attrs["axis"], "keepdims": True, "where": True if attrs["where"] is None else attrs["where"]}
    return np.max(a, initial=-np.inf, **options) == np.min(a, initial=np.inf, **options)


# -------------------------------------------------------------------------------------------------- products


def _others(a, y, attrs):
    """For each element the product of all others; and where the result is too small, too large or not a number."""
    ndim = np.ndim(innermost_value(a))
    factors = a if attrs["where"] is None else op.where(np.asarray(attrs["where"], bool), a, 1.0)
    extreme = ~_ordinary(y)
    if not extreme.any():
        return op.divide(_widen(y, attrs, ndim), factors), extreme
    others = _product_of_others(factors, _axes(attrs["axis"], ndim))
    return (others if attrs["initial"] is None else others * attrs["initial"]), extreme


def _ordinary(y):
    """Where the size of a product is in the range of floats and not 0, so that it may be divided by a factor."""
    size = np.abs(innermost_value(y))
    return (size > np.finfo(size.dtype).tiny) & (size < np.inf)


def _prod_tangent(tangents, saved, attrs):
    (a, y), t = saved, tangents["a"]
    others, extreme = _others(a, y, attrs)
    return _fold(_masked(attrs["where"], _unless_zero(t * others, t, extreme)), attrs)


@gradient("prod", inputs_to_save=("a",), outputs_to_save=True, jvp_func=_prod_tangent)
def prod(dy, saved, attrs):
    a, y = saved

    def da():
        others, extreme = _others(a, y, attrs)
        factor = _widen(dy, attrs, np.ndim(innermost_value(a)))
        return _masked(attrs["where"], _unless_zero(factor * others, factor, extreme))

    return {"a": da}


def _product_of_others(a, axes):
    """For each element the product of all others along ``axes``, without a division: exact where there are zeros."""
    shape = np.shape(innermost_value(a))
    if not axes:
        return 1.0
    ndim = len(shape)
    order = [each for each in range(-ndim, 0) if each not in axes] + sorted(axes)
    moved = op.transpose(a, axes=[each + ndim for each in order])
    rows = op.reshape(moved, shape=(*moved.shape[: ndim - len(axes)], product(shape[each] for each in axes)))
    one = np.ones((*rows.shape[:-1], 1), rows.dtype)
    before = op.cumprod(op.concatenate([one, rows[..., :-1]], axis=-1), axis=-1)
    after = op.flip(op.cumprod(op.concatenate([one, op.flip(rows, axis=-1)[..., :-1]], axis=-1), axis=-1), axis=-1)
    others = op.reshape(before * after, shape=moved.shape)
    return op.transpose(others, axes=[int(each) for each in np.argsort(order)])


@gradient("cumsum", infos_to_save=("a",), linear=("a",))
def cumsum(dy, saved, attrs):
    (a,) = saved
    return {"a": lambda: _from_running(_sum_of_later(dy, *_along(attrs, len(a.shape))), a.shape, attrs)}


def _factors(a, attrs):
    """The factors of a running product along the axis it has in the result, and that axis."""
    shape = np.shape(innermost_value(a))
    return (a if attrs["axis"] is not None and shape else op.reshape(a, shape=(-1,))), *_along(attrs, len(shape))


def _product_before(factors, y, axis):
    """For each element the product of all before it."""
    rest = (slice(None),) * (-axis - 1)
    one = np.ones_like(innermost_value(factors)[(..., slice(0, 1), *rest)])
    return op.concatenate([one, y[(..., slice(0, factors.shape[axis] - 1), *rest)]], axis=axis)


def _recurrence(factors, g, axis, reverse):
    """``linear_recurrence`` in which 0 stays 0 until something is added, whatever the factor."""
    factors = op.broadcast_to(factors, shape=g.shape)
    if not np.isfinite(innermost_value(factors)).all():
        order = slice(None, None, -1) if reverse else slice(None)
        counts = np.moveaxis(np.not_equal(innermost_value(g), 0), axis, 0)[order]
        begun = np.zeros_like(counts)
        np.logical_or.accumulate(counts[:-1], axis=0, out=begun[1:])
        factors = op.where(np.moveaxis(begun[order], 0, axis), factors, 0.0)
    return op.linear_recurrence(factors, g, axis=axis, reverse=reverse)


def _cumprod_tangent(tangents, saved, attrs):
    (a, y), t = saved, tangents["a"]
    factors, axis = _factors(a, attrs)
    t = op.reshape(t, shape=np.shape(innermost_value(factors)))
    extreme = ~_ordinary(y)
    if not extreme.any():
        return y * op.cumsum(op.divide(t, factors), axis=axis)
    added = _unless_zero(t * _product_before(factors, y, axis), t, extreme)
    return _recurrence(factors, added, axis, reverse=False)


@gradient("cumprod", inputs_to_save=("a",), outputs_to_save=True, jvp_func=_cumprod_tangent)
def cumprod(dy, saved, attrs):
    a, y = saved

    def da():
        shape = np.shape(innermost_value(a))
        factors, axis = _factors(a, attrs)
        extreme = ~_ordinary(y)
        if not extreme.any():
            return _from_running(op.divide(_sum_of_later(dy * y, axis), factors), shape, attrs)
        rest = (slice(None),) * (-axis - 1)
        one = np.ones_like(innermost_value(factors)[(..., slice(0, 1), *rest)])
        following = op.concatenate([factors[(..., slice(1, None), *rest)], one], axis=axis)
        later = _recurrence(following, dy, axis, reverse=True)
        return _from_running(_unless_zero(_product_before(factors, y, axis) * later, later, extreme), shape, attrs)

    return {"a": da}


def _along(attrs, ndim):
    """The axis of a running sum or product, from the end; all elements in one axis if it is None."""
    return _axes(-1 if attrs["axis"] is None else attrs["axis"], max(ndim, 1))


def _sum_of_later(g, axis):
    """For each element the sum of it and all that come after it."""
    return op.flip(op.cumsum(op.flip(g, axis=axis), axis=axis), axis=axis)


def _from_running(g, shape, attrs):
    """The gradient of a running sum or product in the operand's shape."""
    if attrs["axis"] is not None and shape:
        return g
    return op.reshape(g, shape=g.shape[:-1] + shape)


@gradient("linear_recurrence", inputs_to_save=("a",), outputs_to_save=True, linear=("b",))
def linear_recurrence(dy, saved, attrs):
    a, y = saved
    axis, reverse = _axes(attrs["axis"], np.ndim(innermost_value(a)))[0], attrs["reverse"]
    rest = (slice(None),) * (-axis - 1)
    later, earlier = (slice(0, -1), slice(1, None)) if reverse else (slice(1, None), slice(0, -1))

    def shifted(x, kept):
        """``x`` moved by one step, with zero at the end that has no neighbour."""
        zero = np.zeros_like(innermost_value(x)[(..., slice(0, 1), *rest)])
        parts = [zero, x[(..., kept, *rest)]]
        return op.concatenate(parts[::-1] if kept.start else parts, axis=axis)

    def arriving():
        factor = op.broadcast_to(shifted(a, later), shape=dy.shape)
        return op.linear_recurrence(factor, dy, axis=axis, reverse=not reverse)

    return {"a": lambda: arriving() * shifted(y, earlier), "b": arriving}


# -------------------------------------------------------------------------------------------------- extremes


def _share_of_extreme(dy, saved, attrs):
    """The cotangent of a maximum or minimum, shared equally by all elements that attain it, ``initial`` included."""
    a, y = saved

    def da():
        plain = innermost_value(a)
        ndim = np.ndim(plain)
        extreme = _widen(innermost_value(y), attrs, ndim)
        attains = np.equal(plain, extreme)
        undefined = np.isnan(extreme)
        if undefined.any():
            attains = attains | (np.isnan(plain) & undefined)
        if attrs["where"] is not None:
            attains = attains & np.asarray(attrs["where"], bool)
        count = _fold_sum(attains, attrs["axis"], np.intp, None, True)
        if attrs["initial"] is not None:
            count = count + np.equal(extreme, attrs["initial"])
        share = _widen(dy, attrs, ndim)
        if np.any(count != 1):
            share = share / np.maximum(count, 1).astype(dy.dtype)
        return op.where(attains, share, 0.0)

    return {"a": da}


for _name in ("max", "min"):
    gradient(_name, inputs_to_save=("a",), outputs_to_save=True)(_share_of_extreme)


def _share_of_running_extreme(dy, saved, attrs):
    """At each place the cotangent of the extreme so far, shared equally by all elements that attain it so far.

    Within a run of places with one extreme, an element gets the shares of its own place and all later ones: the sum of these is a
    recurrence that starts anew where the extreme changes.
    """
    a, y = map(innermost_value, saved)

    def da():
        axis = _axes(attrs["axis"], a.ndim)[0]
        rest = (slice(None),) * (-axis - 1)
        later, earlier = (..., slice(1, None), *rest), (..., slice(0, -1), *rest)
        attains = np.equal(a, y) | (np.isnan(a) & np.isnan(y))
        goes_on = np.zeros(a.shape, dy.dtype)
        goes_on[later] = np.equal(y[later], y[earlier]) | (np.isnan(y[later]) & np.isnan(y[earlier]))
        count = op.linear_recurrence(goes_on, attains.astype(dy.dtype), axis=axis)
        to_next = np.zeros(a.shape, dy.dtype)
        to_next[earlier] = goes_on[later]
        shares = op.linear_recurrence(op.broadcast_to(to_next, shape=dy.shape), op.divide(dy, count), axis=axis, reverse=True)
        return op.where_or_zero(np.broadcast_to(attains, dy.shape), shares)

    return {"a": da}


for _name in ("running_max", "running_min"):
    gradient(_name, inputs_to_save=("a",), outputs_to_save=True)(_share_of_running_extreme)


def _shares(a, total, attrs):
    """The part of a sum of exponentials that each is.

    Beside an infinite element the finite ones vanish, and equal infinities share; a sum of nothing has no gradient.
    """
    limit = np.isinf(innermost_value(total))
    if not limit.any():
        return op.exp(op.subtract(a, total))
    infinite = np.isposinf(np.real(innermost_value(a)))
    finite = op.exp(op.where(limit, 0.0, op.subtract(a, total)))
    count = np.maximum(_fold_sum(infinite, attrs["axis"], np.intp, None, True), 1).astype(finite.dtype)
    return op.where(limit, infinite / count, finite)


def _logsumexp_tangent(tangents, saved, attrs):
    (a, y), t = saved, tangents["a"]
    total = _widen(y, attrs, np.ndim(innermost_value(a)))
    return _fold(_unless_zero(t * _shares(a, total, attrs), t, np.isnan(innermost_value(total))), attrs)


@gradient("logsumexp", inputs_to_save=("a",), outputs_to_save=True, jvp_func=_logsumexp_tangent)
def logsumexp(dy, saved, attrs):
    a, y = saved

    def da():
        ndim = np.ndim(innermost_value(a))
        total, factor = _widen(y, attrs, ndim), _widen(dy, attrs, ndim)
        return _unless_zero(factor * _shares(a, total, attrs), factor, np.isnan(innermost_value(total)))

    return {"a": da}
