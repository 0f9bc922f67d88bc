"""NumPy-shaped products of vectors, matrices and stacks of them."""

from __future__ import annotations

import math
import string
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.engine import array_of, innermost_tape
from autograd.errors import NotTrackedError
from autograd.tensor import innermost_value

__all__ = ["dot", "einsum", "inner", "kron", "matmul", "outer", "tensordot", "vdot"]
METHODS = ("dot",)

matmul = op.matmul


def dot(a: Any, b: Any, out: None = None) -> Any:
    """``numpy.dot``: the sum over the last axis of ``a`` and the second to last of ``b``; a scalar multiplies.

    >>> from autograd import grad
    >>> float(grad(lambda x: dot(x, 3.0))(2.0))
    3.0
    """
    _refuse_out("dot", out)
    return op.dot(a, b)


def vdot(a: Any, b: Any, /) -> Any:
    """``numpy.vdot``: both arguments flattened, the first one conjugated, and the sum of the products.

    >>> vdot(np.array([1j, 2.0]), np.array([1j, 1.0]))
    np.complex128(3+0j)
    """
    a = op.reshape(a, shape=(-1,))
    if a.dtype.kind == "c":
        a = op.conjugate(a)
    return op.dot(a, op.reshape(b, shape=(-1,)))


def inner(a: Any, b: Any, /) -> Any:
    """``numpy.inner``: the sum over the last axis of both; a scalar multiplies.

    >>> inner(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    np.float64(11.0)
    """
    a, b = _joined("inner", a), _joined("inner", b)
    a_ndim, b_ndim = len(_shape(a)), len(_shape(b))
    if not a_ndim or b_ndim <= 1:
        return op.dot(a, b)
    return op.tensordot(a, b, axes=(a_ndim - 1, b_ndim - 1))


def outer(a: Any, b: Any, out: None = None) -> Any:
    """``numpy.outer``: every element of ``a`` times every element of ``b``, in two axes.

    >>> outer(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    array([[3., 4.],
           [6., 8.]])
    """
    _refuse_out("outer", out)
    return op.multiply(op.reshape(a, shape=(-1, 1)), op.reshape(b, shape=(1, -1)))


def kron(a: Any, b: Any) -> Any:
    """``numpy.kron``: the array of blocks ``a[i, j] * b``; the one with fewer axes gets axes of length 1 in front.

    >>> kron(np.array([1.0, 10.0]), np.array([1.0, 2.0]))
    array([ 1.,  2., 10., 20.])
    """
    a, b = _joined("kron", a), _joined("kron", b)
    a_shape, b_shape = _shape(a), _shape(b)
    ndim = max(len(a_shape), len(b_shape))
    a_shape = (1,) * (ndim - len(a_shape)) + a_shape
    b_shape = (1,) * (ndim - len(b_shape)) + b_shape
    if not ndim:
        return op.multiply(a, b)
    blocks = op.multiply(
        op.reshape(a, shape=tuple(each for length in a_shape for each in (length, 1))),
        op.reshape(b, shape=tuple(each for length in b_shape for each in (1, length))),
    )
    return op.reshape(blocks, shape=tuple(math.prod(pair) for pair in zip(a_shape, b_shape, strict=True)))


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """``numpy.tensordot``: the sum of products over pairs of axes; the axes that are left stand in their order.

    >>> tensordot(np.ones((2, 3)), np.ones((3, 4)), axes=1).shape
    (2, 4)
    """
    return op.tensordot(a, b, axes=axes)


def einsum(*operands: Any, out: None = None, optimize: Any = False, **kwargs: Any) -> Any:
    """``numpy.einsum``: a sum of products by index letters, or by lists of axis numbers behind each operand.

    ``dtype``, ``order`` and ``casting`` are for plain arrays; with a tensor among the operands they raise NotTrackedError.

    >>> einsum("ij,j->i", np.ones((2, 3)), np.ones(3))
    array([3., 3.])
    """
    if out is not None or kwargs:
        if innermost_tape(operands) is None and innermost_tape((out,)) is None:
            return np.einsum(*operands, out=out, optimize=optimize, **kwargs)
        given = sorted(kwargs) if out is None else ["out", *sorted(kwargs)]
        raise NotTrackedError(f"einsum got {given} together with a tensor, expected none of these; convert the result instead")
    if not operands:
        raise ValueError("einsum got no operands, expected a string of subscripts and an array for each of its terms")
    if isinstance(operands[0], str):
        subscripts, arrays = operands[0], operands[1:]
    else:
        subscripts, arrays = _subscripts_of_lists(operands)
    return op.einsum([_joined("einsum", each) for each in arrays], subscripts=subscripts, optimize=optimize)


def _subscripts_of_lists(operands: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """The string form of ``einsum(a, [0, 1], b, [1, 2], [0, 2])``."""
    pairs = len(operands) // 2
    lists = list(operands[1 : 2 * pairs : 2])
    labels = sorted({label for each in (*lists, *operands[2 * pairs :]) for label in each if label is not Ellipsis})
    letters = dict(zip(labels, string.ascii_uppercase + string.ascii_lowercase, strict=False))
    written = ["".join("..." if label is Ellipsis else letters[label] for label in each) for each in lists]
    result = ["".join("..." if label is Ellipsis else letters[label] for label in each) for each in operands[2 * pairs :]]
    return "->".join([",".join(written), *result]), operands[0 : 2 * pairs : 2]


def _joined(name: str, value: Any) -> Any:
    """A nested list as one array, or one tensor if it holds tensors."""
    return array_of(name, value) if isinstance(value, list | tuple) else value


def _shape(value: Any) -> tuple[int, ...]:
    return np.shape(innermost_value(value))


def _refuse_out(name: str, out: Any) -> None:
    if out is not None:
        raise NotTrackedError(f"{name} got out={type(out).__name__}, expected None: assign the result, y = {name}(a, b)")
