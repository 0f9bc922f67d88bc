"""Call a gradient rule, with every check of what it returns, and bring a gradient into the shape and dtype of its input.

What every rule would otherwise repeat happens here once: un-broadcasting, precision, the real part for a real input.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import isfinite
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.engine import binding_of
from autograd.errors import GradientError
from autograd.indexed import IndexedGradient
from autograd.records import PYTHON_SCALARS
from autograd.tensor import Tensor, innermost_value
from registry.bindings import Binding
from registry.errors import close_matches

ndarray = np.ndarray

Wanted = tuple[int, int | None, int]
"""An input that a gradient is wanted for: its position, the position in it if it is a list, and its id."""


def rule_gradients(
    binding: Binding,
    dy: Any,
    saved: Sequence[Any],
    attrs: Any,
    wanted: Sequence[Wanted],
    batch: tuple[int, ...] = (),
) -> list[tuple[int, int | None, int, Any]]:
    """Call a rule and the wanted thunks, with every check of the names; a rule that cannot follow a batch is called for each."""
    rule = binding.grad_func
    if batch and binding.gradient is not None and not binding.gradient.batched:
        singles = [rule_gradients(binding, each, saved, attrs, wanted, batch[1:]) for each in _split_batch(dy, batch[0])]
        return [(*columns[0][:3], _stack([row[3] for row in columns])) for columns in zip(*singles, strict=True)]
    thunks = rule(dy, saved, attrs)  # type: ignore[misc]  # a plan has no step without a rule
    if not binding.checked:
        _check_map(binding, thunks)
    return [(position, member, each, call_thunk(binding, thunks, position, member)) for position, member, each in wanted]


def _check_map(binding: Binding, thunks: Any) -> None:
    """Raise GradientError unless a rule returned a map from names of inputs; done once for each rule that gives them all."""
    names = binding.input_names
    if not hasattr(thunks, "keys"):
        raise GradientError(
            f"gradient of operator {binding.name!r} returned {type(thunks).__name__}, expected a mapping from input names"
            f" {list(names)} to functions without arguments"
        )
    for name in thunks:
        if name not in names:
            raise GradientError(
                f"gradient of operator {binding.name!r} returned a gradient for {name!r}, which is not an input; expected"
                f" {list(names)}.{close_matches(str(name), names)}"
            )
    # A rule that takes an IndexedGradient is asked step by step: elsewhere the walk makes that an array first.
    binding.checked = all(name in thunks for name in names) and not binding.takes_indexed


def call_thunk(binding: Binding, thunks: Any, position: int, member: int | None = None) -> Any:
    """Call the thunk of one input, or of one member of a list; raises GradientError if there is none."""
    name = binding.input_names[position]
    try:
        thunk = thunks[name]
    except (KeyError, TypeError) as error:
        raise GradientError(
            f"gradient of operator {binding.name!r} returned none for input {name!r}; it returned {list(thunks or ())};"
            f" add {name!r}: lambda: ..."
        ) from error
    if member is not None:
        thunk = _member_thunk(binding, name, thunk, member)
    if not callable(thunk):
        raise GradientError(
            f"gradient of operator {binding.name!r} for input {name!r} is {type(thunk).__name__}, expected a function"
            " without arguments: write lambda: ..."
        )
    return thunk()


def _member_thunk(binding: Binding, name: str, thunks: Any, member: int) -> Callable[[], Any]:
    if callable(thunks) or not hasattr(thunks, "__getitem__") or len(thunks) <= member:
        got = "a function" if callable(thunks) else f"{type(thunks).__name__} of length {len(thunks)}"
        raise GradientError(
            f"gradient of operator {binding.name!r}: input {name!r} is a list of tensors, so its entry must be a list of"
            f" functions, one for each; got {got}"
        )
    thunk: Callable[[], Any] = thunks[member]
    return thunk


def _split_batch(dy: Any, length: int) -> list[Any]:
    if isinstance(dy, tuple):
        return [tuple(None if each is None else each[position] for each in dy) for position in range(length)]
    return [dy[position] for position in range(length)]


def _stack(parts: list[Any]) -> Any:
    dense = [each.dense() if type(each) is IndexedGradient else each for each in parts]
    return op.stack(dense, axis=0)


def add_up(before: Any, g: Any, owned: bool, fresh: bool, batch: tuple[int, ...]) -> Any:
    """The sum of two contributions to one cotangent: in place where ``before`` is the walk's own, or ``g`` a rule's new array."""
    if type(before) is IndexedGradient or type(g) is IndexedGradient:
        if type(before) is type(g):
            before.extend(g)
            return before
        before = before.dense(batch) if type(before) is IndexedGradient else before
        g = g.dense(batch) if type(g) is IndexedGradient else g
    if type(before) is ndarray and type(g) is ndarray:
        if owned:
            return np.add(before, g, before)
        if fresh and before.dtype is g.dtype:
            return np.add(before, g, g)
    return op.add(before, g)


def strong_zeros(dy: Any, g: Any) -> Any:
    """``g``, but exactly zero wherever the cotangent ``dy`` is."""
    if type(dy) is tuple:
        zeros = [np.equal(innermost_value(each), 0) for each in dy if each is not None]
        zero: Any = np.all(np.asarray(zeros), axis=0)
    else:
        zero = np.equal(innermost_value(dy), 0)
    if zero.any():  # only what is not finite: the rest may have derivatives on a tape outside
        zero = zero & ~np.isfinite(innermost_value(g))
    return op.where(zero, 0.0, g) if zero.any() else g


def all_finite(results: Sequence[Any]) -> bool:
    """Whether every gradient is finite, by one product with itself each: inf and NaN survive it, and it costs one read.

    A product that overflows is a false alarm: the gradient is then walked again, and stays what it is.
    """
    total = 0.0
    for each in results:
        plain = each if type(each) is ndarray else innermost_value(each)
        if type(plain) is ndarray:
            if plain.ndim != 1:
                plain = (plain if plain.base is None else _distinct(plain)).ravel(order="K")
            total += abs(plain.dot(plain))
        elif plain is not None:
            total += abs(plain)
    return isfinite(total)


def _distinct(array: ndarray[Any, Any]) -> ndarray[Any, Any]:
    """A view without the repetitions of a broadcast: the gradient of a sum is one number, however large its shape."""
    if array.base is None or 0 not in array.strides or not array.size:
        return array
    return array[tuple([0 if stride == 0 else slice(None) for stride in array.strides])]


def fit(g: Any, shape: tuple[int, ...], dtype: Any, batch: tuple[int, ...], binding: Binding, input_name: str) -> Any:
    """A gradient in the shape and dtype of its input; raises GradientError if it cannot be the gradient of that input.

    Elementwise operators are un-broadcast. A complex gradient of a real input gives its real part, and floats change their
    precision to that of the input.
    """
    expected = batch + shape
    if type(g) is ndarray and g.dtype is dtype:
        if g.shape == expected:
            return g
        if binding.elementwise:
            return _unbroadcast(g, g.shape, expected, len(batch), binding, input_name)
    elif type(g) is Tensor and g._tape._dtypes[g._id] is dtype and g._tape._shapes[g._id] == expected:
        return g
    if type(g) is IndexedGradient:
        if g.shape != shape:
            raise GradientError(
                f"gradient of operator {binding.name!r} for input {input_name!r} is of indexing into shape {g.shape}, expected"
                f" {shape}"
            )
        return g
    if type(g) in PYTHON_SCALARS and type(g) is not bool:
        g_shape: tuple[int, ...] = ()
        kind = "f" if type(g) is not complex else "c"
        if type(dtype) is not type:  # the input is one of NumPy's, and the next rule may ask its cotangent for shape or dtype
            g = np.complex128(g) if kind == "c" else np.float64(g)
        g_dtype: Any = type(g)
    elif hasattr(g, "dtype") and hasattr(g, "shape"):
        g_shape, g_dtype = g.shape, g.dtype
        kind = g_dtype.kind
    else:
        raise GradientError(
            f"gradient of operator {binding.name!r} for input {input_name!r} is {type(g).__name__}, expected an array of"
            f" shape {expected}"
        )
    if kind not in "fc":
        raise GradientError(
            f"gradient of operator {binding.name!r} for input {input_name!r} has dtype {g_dtype}, expected"
            f" {np.dtype(dtype)}; a gradient is a float"
        )
    if g_shape != expected:
        if not binding.elementwise:
            raise GradientError(
                f"gradient of operator {binding.name!r} for input {input_name!r} has shape {g_shape}, expected {expected}"
            )
        g = _unbroadcast(g, g_shape, expected, len(batch), binding, input_name)
    if dtype is float or dtype is complex:
        return op.real(g) if kind == "c" and dtype is float else g
    if g_dtype != dtype:
        if kind == "c" and dtype.kind == "f":
            g = op.real(g)
            g_dtype = np.dtype(g.dtype)
        if g_dtype != dtype:
            g = op.astype(g, dtype=dtype)
    return g


def _unbroadcast(
    g: Any, g_shape: tuple[int, ...], expected: tuple[int, ...], n_batch: int, binding: Binding, input_name: str
) -> Any:
    axes = _summed_axes(g_shape, expected, n_batch)
    if axes is None:
        raise GradientError(
            f"gradient of operator {binding.name!r} for input {input_name!r} has shape {g_shape}, which does not sum to the"
            f" expected {expected}"
        )
    if type(g) is ndarray:  # straight to the backend's kernel: biases come this way in every step of a training loop
        total = binding_of("sum").kernel_func(g, axis=axes, dtype=None, keepdims=False, initial=None, where=None)
    else:
        total = op.sum(g, axis=axes)
    return total if total.shape == expected else op.reshape(total, shape=expected)


@lru_cache(maxsize=1024)
def _summed_axes(g_shape: tuple[int, ...], expected: tuple[int, ...], n_batch: int) -> tuple[int, ...] | None:
    """The axes over which a gradient of shape ``g_shape`` is summed to that of its input; None if it does not fit."""
    extra = len(g_shape) - len(expected)
    if extra < 0 or g_shape[:n_batch] != expected[:n_batch]:
        return None
    axes = list(range(n_batch, n_batch + extra))
    for axis in range(n_batch, len(expected)):
        if expected[axis] != g_shape[axis + extra]:
            if expected[axis] != 1:
                return None
            axes.append(axis + extra)
    return tuple(axes)
