"""Nested containers of arrays as one vector, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.containers import flatten as take_apart
from autograd.engine import as_operand
from autograd.errors import GradientError
from autograd.tensor import innermost_value

__all__ = ["flatten", "flatten_func"]


def flatten(value: Any) -> tuple[Any, Callable[[Any], Any]]:
    """One vector of all numbers in nested lists, tuples, dictionaries and other containers, and the function that goes back.

    Dictionaries are taken in the order of their sorted keys. Going back gives each array its shape and, between floats, its
    dtype; of a complex vector a real leaf takes the real part. Both ways can be differentiated.

    >>> vector, unflatten = flatten({"b": np.array([[1.0], [2.0]]), "a": 3.0})
    >>> vector
    array([3., 1., 2.])
    >>> unflatten(2 * vector)
    {'b': array([[2.],
           [4.]]), 'a': array(6.)}
    """
    leaves, structure = take_apart(value)
    structure = structure.without_leaves()
    order = list(_order(structure.rebuild(range(len(leaves)))))
    arrays = [as_operand("flatten", leaves[number], False) for number in order]
    shapes = [np.shape(innermost_value(each)) for each in arrays]
    dtypes = [np.asarray(innermost_value(each)).dtype for each in arrays]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes], dtype=int).tolist()

    def unflatten(vector: Any) -> Any:
        """The container with the numbers of a vector."""
        got, expected = np.shape(innermost_value(vector)), (ends[-1] if ends else 0,)
        if got != expected:
            raise GradientError(f"unflatten: got an array of shape {got}, expected {expected}, a vector of every number")
        parts: list[Any] = [None] * len(order)
        for number, start, end, shape, dtype in zip(order, [0, *ends], ends, shapes, dtypes, strict=False):
            parts[number] = _converted(op.reshape(vector[start:end], shape=shape), dtype)
        return structure.rebuild(parts)

    raveled = [op.reshape(each, shape=(-1,)) for each in arrays]
    return (op.concatenate(raveled) if raveled else np.zeros(0)), unflatten


def _order(numbered: Any) -> Iterator[int]:
    """The numbers in a container of numbers, in the order that a vector has them."""
    if isinstance(numbered, dict):
        for key in sorted(numbered):
            yield from _order(numbered[key])
    elif isinstance(numbered, list | tuple):
        for each in numbered:
            yield from _order(each)
    else:
        yield from take_apart(numbered)[0]


def _converted(part: Any, dtype: np.dtype[Any]) -> Any:
    if part.dtype.kind == "c" and dtype.kind != "c":
        part = op.real(part)
    return op.astype(part, dtype=dtype) if dtype.kind in "fc" and part.dtype != dtype else part


def flatten_func(func: Callable[..., Any], example: Any) -> tuple[Callable[..., Any], Callable[[Any], Any], Any]:
    """``func`` on vectors in place of containers like ``example``; the function back to containers; the example as a vector.

    >>> on_vectors, unflatten, vector = flatten_func(lambda pair: [pair[1], pair[0]], (1.0, 2.0))
    >>> on_vectors(vector)
    array([2., 1.])
    """
    vector, unflatten = flatten(example)
    return (lambda x, *args: flatten(func(unflatten(x), *args))[0]), unflatten, vector
