"""Gradients of products: each factor gets ``dy`` times the other factors. Nothing is conjugated."""

from __future__ import annotations

import math
import string
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from autograd import operators as op
from registry.gradients import GradConfig, gradient, register_gradient
from registry.kernels import TensorInfo

Shape = tuple[int, ...]


def sum_broadcast(g: Any, shape: Shape, y_ndim: int) -> Any:
    """``g`` summed over the axes along which an input of ``shape`` was broadcast to the ``y_ndim`` axes of the result.

    Axes of ``g`` in front of these are a batch, and stay.
    """
    n_batch = len(g.shape) - y_ndim
    batch, extra = g.shape[:n_batch], y_ndim - len(shape)
    axes = list(range(n_batch, n_batch + extra))
    axes += [axis for axis, length in enumerate(shape, n_batch + extra) if length == 1 and g.shape[axis] != 1]
    if axes:
        g = op.sum(g, axis=tuple(axes), keepdims=True)
    return g.reshape(batch + shape) if axes or extra else g


# ------------------------------------------------------------------------------------------------ matmul and dot


def _matmul_x1(dy, saved, attrs):
    _, x2, (shape1, _), (shape2, _) = saved
    return dy @ x2.T if len(shape1) == 2 == len(shape2) else _first_factor(dy, x2, shape1, shape2)


def _matmul_x2(dy, saved, attrs):
    x1, _, (shape1, _), (shape2, _) = saved
    return x1.T @ dy if len(shape1) == 2 == len(shape2) else _second_factor(dy, x1, shape1, shape2)


register_gradient(
    GradConfig(
        "matmul",
        by_input={"x1": _matmul_x1, "x2": _matmul_x2},
        inputs_to_save=("x1", "x2"),
        infos_to_save=("x1", "x2"),
        needs={"x1": ("x2",), "x2": ("x1",)},
        linear=("x1", "x2"),
        fresh=True,
    )
)


def _first_factor(dy: Any, x2: Any, shape1: Shape, shape2: Shape) -> Any:
    """The gradient of ``x1 @ x2`` in ``x1``."""
    if len(shape2) == 1:
        return dy.reshape((*dy.shape, 1)) * x2
    if len(shape2) == 2:  # one product of two matrices is faster than a stack of them
        n, k = shape2
        return (dy.reshape((math.prod(dy.shape[:-1]), k)) @ x2.T).reshape((*dy.shape[:-1], n))
    if len(shape1) == 1:
        columns = math.prod(shape2[:-2]) * shape2[-1]
        batch = dy.shape[: len(dy.shape) - len(shape2) + 1]
        return dy.reshape((*batch, columns)) @ x2.mT.reshape((columns, shape2[-2]))
    return sum_broadcast(dy @ x2.mT, shape1, max(len(shape1), len(shape2)))


def _second_factor(dy: Any, x1: Any, shape1: Shape, shape2: Shape) -> Any:
    """The gradient of ``x1 @ x2`` in ``x2``."""
    if len(shape1) == 1:
        if len(shape2) == 1:
            return dy.reshape((*dy.shape, 1)) * x1
        return x1.reshape((shape1[0], 1)) * dy.reshape((*dy.shape[:-1], 1, shape2[-1]))
    if len(shape2) <= 2:
        rows = math.prod(shape1[:-1])
        batch = dy.shape[: len(dy.shape) - len(shape1) + 2 - len(shape2)]
        x1 = x1.reshape((rows, shape1[-1]))
        if len(shape2) == 1:
            return dy.reshape((*batch, rows)) @ x1
        return x1.T @ dy.reshape((*batch, rows, shape2[-1]))
    return sum_broadcast(x1.mT @ dy, shape2, max(len(shape1), len(shape2)))


@gradient(
    "dot",
    inputs_to_save=("a", "b"),
    infos_to_save=("a", "b"),
    needs={"a": ("b",), "b": ("a",)},
    linear=("a", "b"),
)
def dot(dy, saved, attrs):
    a, b, (shape_a, _), (shape_b, _) = saved
    if len(shape_a) == 2 == len(shape_b):
        return {"a": lambda: dy @ b.T, "b": lambda: a.T @ dy}
    if not shape_a or not shape_b:
        return {"a": lambda: _scalar_factor(dy, b, shape_a, shape_b), "b": lambda: _scalar_factor(dy, a, shape_b, shape_a)}
    if len(shape_a) == 1 or len(shape_b) <= 2:
        return {
            "a": lambda: _first_factor(dy, b, shape_a, shape_b),
            "b": lambda: _second_factor(dy, a, shape_a, shape_b),
        }
    return _tensordot_factors(dy, a, b, shape_a, shape_b, ((len(shape_a) - 1,), (len(shape_b) - 2,)))


def _scalar_factor(dy: Any, other: Any, shape: Shape, other_shape: Shape) -> Any:
    """The gradient of ``dot`` in a factor of ``shape`` where one of the two is a scalar."""
    if shape or not other_shape:
        return dy * other
    return sum_broadcast(dy * other, (), len(other_shape))


# ------------------------------------------------------------------------------------------------ tensordot


@gradient(
    "tensordot",
    inputs_to_save=("a", "b"),
    infos_to_save=("a", "b"),
    needs={"a": ("b",), "b": ("a",)},
    linear=("a", "b"),
)
def tensordot(dy, saved, attrs):
    a, b, (shape_a, _), (shape_b, _) = saved
    axes = contracted_axes(attrs["axes"], len(shape_a), len(shape_b))
    return _tensordot_factors(dy, a, b, shape_a, shape_b, axes)


def contracted_axes(axes: Any, a_ndim: int, b_ndim: int) -> tuple[Shape, Shape]:
    """The ``axes`` of ``tensordot`` as two tuples of non-negative numbers, those of ``a`` and those of ``b``.

    >>> contracted_axes(2, 3, 4), contracted_axes((-1, [0]), 3, 4)
    (((1, 2), (0, 1)), ((2,), (0,)))
    """
    if not hasattr(axes, "__iter__"):
        return tuple(range(a_ndim - axes, a_ndim)), tuple(range(axes))
    of_a, of_b = ((each,) if not hasattr(each, "__iter__") else tuple(each) for each in axes)
    return tuple(int(axis) % a_ndim for axis in of_a), tuple(int(axis) % b_ndim for axis in of_b)


def _tensordot_factors(dy: Any, a: Any, b: Any, shape_a: Shape, shape_b: Shape, axes: tuple[Shape, Shape]) -> dict[str, Any]:
    axes_a, axes_b = axes
    free_a = [axis for axis in range(len(shape_a)) if axis not in axes_a]
    free_b = [axis for axis in range(len(shape_b)) if axis not in axes_b]
    n_batch = len(dy.shape) - len(free_a) - len(free_b)
    of_a = list(range(n_batch, n_batch + len(free_a)))
    of_b = list(range(n_batch + len(free_a), len(dy.shape)))

    def da() -> Any:
        g = op.tensordot(dy, b, axes=(of_b, free_b))  # batch, free axes of a, contracted axes in the order of b
        return _placed(g, n_batch, free_a + [axes_a[axes_b.index(axis)] for axis in sorted(axes_b)])

    def db() -> Any:
        g = op.tensordot(dy, a, axes=(of_a, free_a))
        return _placed(g, n_batch, free_b + [axes_b[axes_a.index(axis)] for axis in sorted(axes_a)])

    return {"a": da, "b": db}


def _placed(g: Any, n_batch: int, places: Sequence[int]) -> Any:
    """``g`` with its axes behind the batch moved: each to its place."""
    order = [n_batch + places.index(place) for place in range(len(places))]
    if order == sorted(order):
        return g
    return op.transpose(g, axes=[*range(n_batch), *order])


# ------------------------------------------------------------------------------------------------ einsum


def _einsum_tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """The sum over the operands of the product with the tangent in that operand's place."""
    operands, total = saved[:-1], None
    for place, tangent in enumerate(tangents["operands"]):
        if tangent is not None:
            part = op.einsum([*operands[:place], tangent, *operands[place + 1 :]], **attrs)
            total = part if total is None else op.add(total, part)
    return total


@gradient("einsum", save_all_inputs=True, infos_to_save=("operands",), jvp_func=_einsum_tangent)
def einsum(dy, saved, attrs):
    operands, infos = saved[:-1], saved[-1]
    terms, output = einsum_terms(attrs["subscripts"], tuple(len(info.shape) for info in infos))
    return {
        "operands": [
            partial(_einsum_factor, place, dy, operands, infos, terms, output, attrs["optimize"])
            for place in range(len(operands))
        ]
    }


@lru_cache(maxsize=512)
def einsum_terms(subscripts: str, ndims: tuple[int, ...]) -> tuple[tuple[str, ...], str]:
    """The letters of each operand and of the result, with the ellipsis and the implicit output written out.

    >>> einsum_terms("...ij,...jk", (4, 3))
    (('abij', 'bjk'), 'abik')
    """
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    unused = [letter for letter in string.ascii_letters if letter not in subscripts]
    given = inputs.split(",")
    hidden = [ndim - len(term) + 3 if "..." in term else 0 for term, ndim in zip(given, ndims, strict=True)]
    ellipsis = "".join(unused[: max(hidden)])
    terms = tuple(term.replace("...", ellipsis[len(ellipsis) - count :]) for term, count in zip(given, hidden, strict=True))
    if not arrow:
        named = "".join(given).replace(".", "")
        output = "..." + "".join(sorted(letter for letter in set(named) if named.count(letter) == 1))
    return terms, output.replace("...", ellipsis)


def _einsum_factor(
    place: int,
    dy: Any,
    operands: Sequence[Any],
    infos: Sequence[TensorInfo],
    terms: tuple[str, ...],
    output: str,
    optimize: Any,
) -> Any:
    """The gradient of one operand: the product of ``dy`` with the other operands, spread over the operand's shape.

    An index that only this operand has was summed alone: the gradient is constant along it. One of length 1 that was
    stretched is summed. An index that the operand repeats reads a diagonal: the gradient is zero beside it.
    """
    term, shape = terms[place], infos[place].shape
    batch = dy.shape[: len(dy.shape) - len(output)]
    others = [each for each in range(len(operands)) if each != place]
    lengths: dict[str, int] = {}
    for letters, axes in [(output, dy.shape[len(batch) :]), *((terms[each], infos[each].shape) for each in others)]:
        for letter, length in zip(letters, axes, strict=True):
            if lengths.get(letter, 1) == 1:
                lengths[letter] = length
    own = dict(zip(term, shape, strict=True))
    kept = "".join(each for each in own if each in lengths and not (own[each] == 1 and lengths[each] != 1))
    g = dy
    if others or kept != output:
        inputs = ",".join(["..." + output, *(terms[each] for each in others)])
        work = math.prod((*batch, *{**own, **lengths}.values()))
        g = op.einsum(
            [dy, *(operands[each] for each in others)],
            subscripts=f"{inputs}->...{kept}",
            optimize=optimize is not False or work > _WORTH_A_PATH,
        )
    first = [letter in kept and term.index(letter) == position for position, letter in enumerate(term)]
    g = g.reshape(batch + tuple(lengths[letter] if is_first else 1 for letter, is_first in zip(term, first, strict=True)))
    if len(own) < len(term):
        g = op.where(_diagonal(term, shape), g, 0.0)
    return g if g.shape == batch + shape else op.broadcast_to(g, shape=batch + shape)


_WORTH_A_PATH = 2**15
"""Multiplications from which looking for matrix products in an einsum (20 us) pays."""


@lru_cache(maxsize=64)
def _diagonal(term: str, shape: Shape) -> Any:
    """True where all axes with the same letter have the same index."""
    index = np.indices(shape, sparse=True)
    mask = np.ones((1,) * len(shape), bool)
    for position, letter in enumerate(term):
        mask = mask & (index[position] == index[term.index(letter)])
    return mask
