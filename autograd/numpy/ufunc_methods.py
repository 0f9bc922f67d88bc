"""NumPy's universal functions with options, and their methods ``reduce``, ``accumulate``, ``reduceat`` and ``outer``, on tensors.

Loaded when the first of these meets a tensor. A ufunc whose result is constant by definition (``floor``, ``less``) runs on bare
values; the others run, with ``dtype`` and ``casting``, on operands that are cast as NumPy casts them, and with ``where`` on the
elements that the mask chooses. Methods for which there is no operator go step by step along the axis, as their loops do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from autograd import operators as op
from autograd.engine import resolve
from autograd.errors import NotTrackedError, OutArrayError
from autograd.methods import function_of_ufunc
from autograd.numpy import reduction
from autograd.numpy.arguments import as_array, as_dtype
from autograd.numpy.shape import moveaxis
from autograd.tensor import Tensor, innermost_value
from autograd.variant_calls import numpy_into
from registry.errors import close_matches
from registry.operators import is_constant, operator_names

_LEFT_OUT = object()
_NO_MEANING = ("order", "subok")
"""Options that say how a result lies in memory, which a tensor does not show."""


def _shape(a: Any) -> tuple[int, ...]:
    return np.shape(innermost_value(a))


def _bare(value: Any) -> Any:
    """The plain value of a tensor, also of those in lists."""
    if isinstance(value, list | tuple):
        return type(value)([_bare(each) for each in value])
    return innermost_value(value)


def function_for(ufunc: Any, spelled: str) -> Callable[..., Any]:
    """Our function of a ufunc; raises NotTrackedError, which calls it as it was ``spelled``, if there is none."""
    function = function_of_ufunc(ufunc)
    if function is None:
        loops = "".join(loop.partition("->")[0] for loop in ufunc.types)
        if loops.strip("O") == "":
            raise NotTrackedError(
                f"{spelled} calls a Python function for each element, which no tape can follow through NumPy; call it for each"
                " element yourself: np.stack([f(each) for each in t])"
            )
        if not any(each in loops for each in "efdgFDG"):
            raise NotTrackedError(
                f"{spelled} has no loop for floats, which a tensor holds, and what it has loops for has no derivative; write"
                " t.astype(int), or use t.value where no gradient is needed"
            )
        raise NotTrackedError(
            f"{spelled} has no gradient rule.{close_matches(ufunc.__name__, operator_names())} Register a kernel and a gradient"
            f" for {ufunc.__name__!r}, or use t.value where no gradient is needed"
        )
    return function


# -------------------------------------------------------------------------------------------------- a call with options


def call(ufunc: Any, *inputs: Any, out: Any = None, **options: Any) -> Any:
    """``np.ufunc.__call__`` with a tensor among the arguments."""
    return with_options(function_for(ufunc, f"numpy.{ufunc.__name__}"), ufunc, inputs, out, options)


def with_options(run: Callable[..., Any], ufunc: Any, inputs: Sequence[Any], out: Any, options: dict[str, Any]) -> Any:
    """``ufunc(*inputs, out=out, **options)`` by our function ``run``, with a tensor among the arguments."""
    name = ufunc.__name__
    options = {key: resolve(value) for key, value in options.items() if key not in _NO_MEANING}
    where = _mask(options.pop("where", True))
    outs = out if isinstance(out, tuple) else (out,)
    operands = [as_array(resolve(each)) for each in inputs]
    if _is_constant(name, operands) and not any(type(each) is Tensor for each in outs):
        kept = options if where is None else {**options, "where": where}
        return ufunc(*[innermost_value(each) for each in operands], out=out, **kept)
    cast = {key: options.pop(key) for key in ("dtype", "casting", "signature", "sig") if options.get(key) is not None}
    for key in ("dtype", "signature", "sig"):
        options.pop(key, None)
    if cast:
        operands = _cast(ufunc, operands, **cast)
    if getattr(ufunc, "signature", None) is not None:
        unknown = set(options) - {"axis", "axes", "keepdims"} | ({"where"} if where is not None else set())
    else:
        unknown = set(options)
    if unknown:
        raise TypeError(f"{name}() got an unexpected keyword argument {min(unknown)!r}")
    if options:
        run = partial(_with_axes, run, ufunc, **options)
    if where is not None:
        return _where(name, run, operands, outs, where)
    if all(each is None for each in outs):
        return run(*operands)
    return _into(f"numpy.{name}: out", run, operands, outs)


def _is_constant(name: str, operands: Sequence[Any]) -> bool:
    """Whether the result has no derivative; ``sign`` of complex numbers has."""
    return is_constant(name) and not any(np.iscomplexobj(innermost_value(each)) for each in operands)


def _mask(where: Any) -> Any:
    """A mask as an array; None if it chooses everything."""
    if where is True or where is None:
        return None
    plain = np.asarray(innermost_value(where))
    if plain.dtype != np.bool_:
        raise TypeError(f"where: got a mask of dtype {plain.dtype}, expected bools: write mask != 0")
    return plain


def _cast(
    ufunc: Any, operands: Sequence[Any], dtype: Any = None, casting: Any = "same_kind", signature: Any = None, sig: Any = None
) -> list[Any]:
    """The operands in the types that the ufunc's loop takes; raises as NumPy does where the rule forbids it."""
    given = [innermost_value(each) for each in operands]
    kinds = [type(each) if type(each) in (int, float, complex) else np.asarray(each).dtype for each in given]
    count = len(operands)
    if not isinstance(ufunc, np.ufunc):  # clip, whose own ufunc NumPy hides
        wanted = np.result_type(*given) if dtype is None else np.dtype(dtype)
        for each in kinds:
            if not isinstance(each, type):
                positive: Any = np.positive
                positive.resolve_dtypes((each, wanted), casting=casting)  # raises as NumPy does
        loop = (wanted,) * (count + 1)
    else:
        signature = signature or sig
        if dtype is not None:
            signature = (None,) * count + (np.dtype(dtype),) * ufunc.nout
        given_signature = {} if signature is None else {"signature": signature}
        typed: Any = ufunc  # NumPy 2.0's stubs do not know this method
        loop = typed.resolve_dtypes((*kinds, *(None,) * ufunc.nout), casting=casting, **given_signature)
    return [as_dtype(each, wanted) for each, wanted in zip(operands, loop, strict=False)]


def _with_axes(
    run: Callable[..., Any], ufunc: Any, *operands: Any, axes: Any = None, axis: int | None = None, keepdims: bool = False
) -> Any:
    """A ufunc of vectors and matrices that lie along other axes than the last ones."""
    given = {"axes": axes, "axis": axis, "keepdims": keepdims or None}
    ufunc(*map(innermost_value, operands), **{name: each for name, each in given.items() if each is not None})  # which may raise
    if axes is None:
        axes = [(-1 if axis is None else axis,)] * (len(operands) + 1)
    places = [each if isinstance(each, tuple) else (each,) for each in axes]
    moved = [moveaxis(each, place, range(-len(place), 0)) for each, place in zip(operands, places, strict=False)]
    y = run(*moved)
    if keepdims:
        y = op.expand_dims(y, axis=-1)
    elif ufunc.signature.endswith("()"):
        return y
    place = places[len(operands)] if len(places) > len(operands) else places[0]
    return moveaxis(y, range(-len(place), 0), place)


def _where(name: str, run: Callable[..., Any], operands: Sequence[Any], outs: tuple[Any, ...], where: Any) -> Any:
    """The function on the elements that a mask chooses, and the old values of ``out`` elsewhere."""
    shape = np.broadcast_shapes(where.shape, *(_shape(each) for each in operands))
    if any(each is None for each in outs):
        if where.all():
            results = run(*(each if _shape(each) == shape else op.broadcast_to(each, shape=shape) for each in operands))
            return results if all(each is None for each in outs) else _into(name, lambda: results, [], outs)
        raise NotTrackedError(
            f"numpy.{name} got where= without out=, which leaves the other elements undefined; give out= an array or tensor with"
            f" values for them, or write where(mask, {name}(...), others)"
        )
    first, count = outs[0], len(operands)
    shape = np.broadcast_shapes(shape, _shape(first))
    if _shape(first) != shape:
        raise OutArrayError(f"numpy.{name}: out has shape {_shape(first)}, expected {shape}, that of the inputs and where=")
    mask = np.broadcast_to(where, shape)

    def chosen(*values: Any) -> Any:
        parts = [op.getitem(op.broadcast_to(each, shape=shape), index=mask) for each in values[:count]]
        results = run(*parts)
        results = results if isinstance(results, tuple) else (results,)
        kept = zip(results, values[count:], strict=True)
        filled = tuple(op.setitem(_narrowed(name, each, old), old, index=mask) for each, old in kept)
        return filled if len(filled) > 1 else filled[0]

    return _into(f"numpy.{name}: out", chosen, [*operands, *map(_unshared, outs)], outs)


def _unshared(out: Any) -> Any:
    return out if type(out) is Tensor else op.copy(resolve(out))


def _narrowed(name: str, result: Any, old: Any) -> Any:
    """A result in the dtype of the array that it is written to, if NumPy would write it there."""
    dtype, wanted = np.asarray(innermost_value(result)).dtype, np.asarray(innermost_value(old)).dtype
    if not np.can_cast(dtype, wanted, "same_kind"):
        raise OutArrayError(f"numpy.{name}: out has dtype {wanted}, to which the result, {dtype}, cannot be cast")
    return as_dtype(result, wanted)


def _into(who: str, run: Callable[..., Any], operands: Sequence[Any], outs: tuple[Any, ...]) -> Any:
    """Results written where they are to be written, a place for each."""
    if len(outs) == 1:
        return numpy_into(who, run, operands, outs[0])
    operands = [_unshared(each) if any(each is out for out in outs) else each for each in operands]
    return tuple(_deliver(who, each, out) for each, out in zip(run(*operands), outs, strict=True))


def _deliver(who: str, result: Any, out: Any) -> Any:
    if out is None:
        return result
    if type(result) is not Tensor and type(out) is np.ndarray:
        np.copyto(out, result, casting="same_kind")
        return out
    return numpy_into(who, lambda each: each, [result], out)


# -------------------------------------------------------------------------------------------------- folding axes

_FOLDS: dict[Any, Callable[..., Any]] = {
    np.add: reduction.sum,
    np.multiply: reduction.prod,
    np.maximum: reduction.max,
    np.minimum: reduction.min,
}


def reduce(
    ufunc: Any, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False,
    initial: Any = _LEFT_OUT, where: Any = True,
) -> Any:  # fmt: skip
    """``ufunc.reduce``: the axes folded, ``initial`` first; elements that a mask leaves out do not count."""
    spelled = f"numpy.{ufunc.__name__}.reduce"
    function = function_for(ufunc, spelled)
    array, initial, where = resolve(array), resolve(initial), _mask(resolve(where))
    options: dict[str, Any] = {"keepdims": keepdims}
    if initial is not _LEFT_OUT and initial is not None:
        options["initial"] = initial
    if where is not None:
        options["where"] = where
    if is_constant(ufunc.__name__) and type(out) is not Tensor:
        if "initial" in options:
            options["initial"] = innermost_value(initial)
        return ufunc.reduce(_bare(array), axis=axis, dtype=dtype, out=out, **options)

    def fold(a: Any) -> Any:
        a = as_array(a)
        if dtype is not None:
            a = as_dtype(a, np.dtype(dtype))
        fast = _FOLDS.get(ufunc)
        if fast is not None:
            return fast(a, axis=axis, **options)
        return _fold(ufunc, function, a, axis, **options)

    return fold(array) if out is None else numpy_into(f"{spelled}: out", fold, [array], out)


def _fold(ufunc: Any, run: Callable[..., Any], a: Any, axis: Any, keepdims: bool, initial: Any = None, where: Any = None) -> Any:
    shape = _shape(a)
    ndim = len(shape)
    if not ndim and axis in (0, -1):
        axis = None
    axes = normalize_axis_tuple(range(ndim) if axis is None else axis, ndim)
    length = math.prod(shape[each] for each in axes)
    if len(axes) > 1 or not length or where is not None:  # what NumPy refuses of these, it refuses here
        start = {} if initial is None else {"initial": innermost_value(initial)}
        ufunc.reduce(innermost_value(a), axis=axes, **start, **({} if where is None else {"where": where}))
    kept = [each for each in range(ndim) if each not in axes]
    result_shape = tuple(shape[each] for each in kept)
    if where is not None:
        where = np.broadcast_to(where, shape).transpose(*kept, *axes).reshape(*result_shape, length)
    rows = op.reshape(op.transpose(a, axes=[*kept, *axes]), shape=(*result_shape, length))
    if ufunc is np.logaddexp and not np.iscomplexobj(innermost_value(a)):
        rows = rows if where is None else op.where(where, rows, -np.inf)
        y = op.logsumexp(rows, axis=-1)
        y = y if initial is None else run(initial, y)
    elif ufunc in (np.fmax, np.fmin):
        y = _fold_without_nan(ufunc, rows, initial, where)
    else:
        y = _fold_steps(ufunc, run, rows, initial, where)
    if _shape(y) != result_shape:
        y = op.broadcast_to(y, shape=result_shape)
    return op.reshape(y, shape=tuple(1 if at in axes else each for at, each in enumerate(shape))) if keepdims else y


def _fold_steps(ufunc: Any, run: Callable[..., Any], rows: Any, initial: Any, where: Any) -> Any:
    length = _shape(rows)[-1]
    start = initial
    if start is None and (where is not None or not length):
        start = as_dtype(ufunc.identity, np.asarray(innermost_value(rows)).dtype)
    total, first = (rows[..., 0], 1) if start is None else (start, 0)
    for at in range(first, length):
        step = run(total, rows[..., at])
        total = step if where is None else op.where(where[..., at], step, total)
    return total


def _fold_without_nan(ufunc: Any, rows: Any, initial: Any, where: Any) -> Any:
    """The largest or smallest that is not NaN, which those that attain it share; NaN if there is nothing else."""
    fold, neutral = (reduction.max, -np.inf) if ufunc is np.fmax else (reduction.min, np.inf)
    defined = ~np.isnan(innermost_value(rows))
    chosen = defined if where is None else defined & where
    y = fold(rows, axis=-1, initial=neutral, where=chosen)
    empty = ~chosen.any(axis=-1)
    if empty.any():
        y = op.where(empty, np.nan, y)
    return y if initial is None else function_for(ufunc, ufunc.__name__)(initial, y)


# -------------------------------------------------------------------------------------------------- running along an axis


def accumulate(ufunc: Any, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    """``ufunc.accumulate``: for each element along an axis, what ``reduce`` makes of it and all before it."""
    spelled = f"numpy.{ufunc.__name__}.accumulate"
    function = function_for(ufunc, spelled)
    array = resolve(array)
    if is_constant(ufunc.__name__) and type(out) is not Tensor:
        return ufunc.accumulate(_bare(array), axis, dtype, out)

    def run(a: Any) -> Any:
        a = as_array(a)
        if not _shape(a):
            raise TypeError(f"{spelled}: cannot accumulate on a scalar, expected an array with an axis")
        at = normalize_axis_index(axis, len(_shape(a)))
        if dtype is not None:
            a = as_dtype(a, np.dtype(dtype))
        running = {np.add: op.cumsum, np.multiply: op.cumprod, np.maximum: op.running_max, np.minimum: op.running_min}.get(ufunc)
        if running is not None:
            return running(a, axis=at)
        ahead = (slice(None),) * at
        steps: list[Any] = []
        for number in range(_shape(a)[at]):
            part = op.getitem(a, index=(*ahead, number))
            steps.append(function(steps[-1], part) if steps else part)
        return op.stack(steps, axis=at) if steps else a

    return run(array) if out is None else numpy_into(f"{spelled}: out", run, [array], out)


def reduceat(ufunc: Any, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    """``ufunc.reduceat``: ``reduce`` of the pieces of an axis from each index to the next; one element if that is not later."""
    array = resolve(array)
    ufunc.reduceat(_bare(array), indices, axis)  # raises for indices that NumPy refuses
    starts = np.asarray(indices).ravel().tolist()

    def run(a: Any) -> Any:
        a = as_array(a)
        if dtype is not None:
            a = as_dtype(a, np.dtype(dtype))
        at = normalize_axis_index(axis, len(_shape(a)))
        ahead = (slice(None),) * at
        pieces = []
        for start, stop in zip(starts, [*starts[1:], _shape(a)[at]], strict=True):
            piece = op.getitem(a, index=(*ahead, slice(start, stop if stop > start else start + 1)))
            pieces.append(reduce(ufunc, piece, at))
        return op.stack(pieces, axis=at) if pieces else op.getitem(a, index=(*ahead, slice(0, 0)))

    if is_constant(ufunc.__name__) and type(out) is not Tensor:
        return ufunc.reduceat(_bare(array), indices, axis, dtype, out)
    return run(array) if out is None else numpy_into(f"numpy.{ufunc.__name__}.reduceat: out", run, [array], out)


def outer(ufunc: Any, A: Any, B: Any, out: Any = None, **options: Any) -> Any:
    """``ufunc.outer``: the ufunc of every element of ``A`` with every element of ``B``."""
    A, B = (as_dtype(each, np.asarray(innermost_value(each)).dtype) for each in (as_array(resolve(A)), as_array(resolve(B))))
    apart = op.reshape(A, shape=_shape(A) + (1,) * len(_shape(B)))
    return with_options(function_for(ufunc, f"numpy.{ufunc.__name__}.outer"), ufunc, (apart, B), out, options)
