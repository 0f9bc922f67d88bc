"""NumPy-shaped products of vectors, matrices and stacks of them."""

from __future__ import annotations

import math
import string
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.engine import array_of, innermost_tape, resolve
from autograd.numpy.arguments import of_bare_values
from autograd.numpy.ufuncs import of_ufunc, ufunc
from autograd.tensor import innermost_value
from autograd.variant_calls import numpy_into

__all__ = ["cross", "dot", "einsum", "einsum_path", "inner", "kron", "matmul", "outer", "tensordot", "vdot", "vecdot"]
METHODS = ("dot",)

_theirs: Any = np  # it has functions that the stubs of NumPy 2.0 do not know


def _conjugate(x: Any) -> Any:
    return op.conjugate(x) if np.iscomplexobj(innermost_value(x)) else x


def _vecdot(x1: Any, x2: Any) -> Any:
    x1, x2 = _joined("vecdot", x1), _joined("vecdot", x2)
    if innermost_tape((x1, x2)) is None:
        return np.vecdot(x1, x2)
    _check_axes("vecdot", x1, 1, x2, 1)
    if len(_shape(x1)) == 1 == len(_shape(x2)):
        return op.dot(_conjugate(x1), x2)
    products = op.matmul(op.expand_dims(_conjugate(x1), axis=-2), op.expand_dims(x2, axis=-1))
    return op.squeeze(products, axis=(-2, -1))


def _matvec(x1: Any, x2: Any) -> Any:
    x1, x2 = _joined("matvec", x1), _joined("matvec", x2)
    if innermost_tape((x1, x2)) is None:
        return _theirs.matvec(x1, x2)
    _check_axes("matvec", x1, 2, x2, 1)
    return op.squeeze(op.matmul(x1, op.expand_dims(x2, axis=-1)), axis=-1)


def _vecmat(x1: Any, x2: Any) -> Any:
    x1, x2 = _joined("vecmat", x1), _joined("vecmat", x2)
    if innermost_tape((x1, x2)) is None:
        return _theirs.vecmat(x1, x2)
    _check_axes("vecmat", x1, 1, x2, 2)
    return op.squeeze(op.matmul(op.expand_dims(_conjugate(x1), axis=-2), x2), axis=-2)


def _check_axes(name: str, x1: Any, least1: int, x2: Any, least2: int) -> None:
    """Raise ValueError, as NumPy does, where a vector stands for a matrix or a number for a vector."""
    for place, each, least in (("first", x1, least1), ("second", x2, least2)):
        if len(_shape(each)) < least:
            expected = "a matrix or a stack of them" if least == 2 else "a vector or a stack of them"
            raise ValueError(f"{name}: the {place} factor has shape {_shape(each)}, expected {expected}")


matmul = ufunc("matmul")
vecdot = of_ufunc(_theirs.vecdot, _vecdot, "vecdot")
if hasattr(np, "matvec"):  # since NumPy 2.2
    matvec = of_ufunc(_theirs.matvec, _matvec, "matvec")
    vecmat = of_ufunc(_theirs.vecmat, _vecmat, "vecmat")
    __all__ += ["matvec", "vecmat"]


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """``numpy.dot``: the sum over the last axis of ``a`` and the second to last of ``b``; a scalar multiplies.

    >>> from autograd import grad
    >>> float(grad(lambda x: dot(x, 3.0))(2.0))
    3.0
    """
    return op.dot(a, b) if out is None else _written(np.dot, op.dot, a, b, out)


def _written(theirs: Callable[..., Any], ours: Callable[..., Any], a: Any, b: Any, out: Any) -> Any:
    if innermost_tape((a, b, out)) is None:
        return theirs(a, b, out=out)
    return numpy_into(f"{theirs.__name__}: out", ours, [resolve(a), resolve(b)], out)


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


def outer(a: Any, b: Any, out: Any = None) -> Any:
    """``numpy.outer``: every element of ``a`` times every element of ``b``, in two axes.

    >>> outer(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    array([[3., 4.],
           [6., 8.]])
    """
    if out is not None:
        return _written(np.outer, outer, a, b, out)
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


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """``numpy.cross``: the vectors at right angles to pairs of vectors of three components, which lie along an axis.

    >>> cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    array([0., 0., 1.])
    """
    if innermost_tape((a, b)) is None:
        return np.cross(a, b, axisa, axisb, axisc, axis)
    if axis is not None:
        axisa = axisb = axisc = axis
    first, second = (_components("cross", each, at) for each, at in ((a, axisa), (b, axisb)))
    parts = [op.subtract(op.multiply(first[i], second[j]), op.multiply(first[j], second[i])) for i, j in ((1, 2), (2, 0), (0, 1))]
    return op.stack(parts, axis=axisc)


def _components(name: str, a: Any, axis: int) -> list[Any]:
    """The three arrays of components of the vectors along an axis."""
    a = _joined(name, a)
    shape = _shape(a)
    if not shape or shape[axis] != 3:
        raise ValueError(f"{name}: got vectors in an array of shape {shape} along axis {axis}, expected three components")
    ahead = (slice(None),) * (axis % len(shape))
    return [op.getitem(a, index=(*ahead, each)) for each in range(3)]


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """``numpy.tensordot``: the sum of products over pairs of axes; the axes that are left stand in their order.

    >>> tensordot(np.ones((2, 3)), np.ones((3, 4)), axes=1).shape
    (2, 4)
    """
    return op.tensordot(a, b, axes=axes)


einsum_path = of_bare_values(np.einsum_path)


def einsum(*operands: Any, out: Any = None, optimize: Any = False, **kwargs: Any) -> Any:
    """``numpy.einsum``: a sum of products by index letters, or by lists of axis numbers behind each operand.

    ``order`` means nothing for tensors.

    >>> einsum("ij,j->i", np.ones((2, 3)), np.ones(3))
    array([3., 3.])
    """
    if out is not None or kwargs:
        if innermost_tape(operands) is None and innermost_tape((out,)) is None:
            return np.einsum(*operands, out=out, optimize=optimize, **kwargs)
        return _einsum_with_options(*operands, out=out, optimize=optimize, **kwargs)
    if not operands:
        raise ValueError("einsum got no operands, expected a string of subscripts and an array for each of its terms")
    subscripts, arrays = _terms(operands)
    return op.einsum([_joined("einsum", each) for each in arrays], subscripts=subscripts, optimize=optimize)


def _terms(operands: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    return (operands[0], operands[1:]) if isinstance(operands[0], str) else _subscripts_of_lists(operands)


def _einsum_with_options(
    *operands: Any, out: Any, optimize: Any, dtype: Any = None, order: str = "K", casting: Any = "safe"
) -> Any:
    subscripts, arrays = _terms(tuple(resolve(each) for each in operands))
    arrays = tuple(_joined("einsum", each) for each in arrays)
    if dtype is not None:
        for each in arrays:
            given = np.asarray(innermost_value(each)).dtype
            if not np.can_cast(given, dtype, casting):
                raise TypeError(f"einsum: {given} cannot be cast to {np.dtype(dtype)} by the rule {casting!r}")
        arrays = tuple(op.astype(each, dtype=np.dtype(dtype)) for each in arrays)

    def run(*factors: Any) -> Any:
        return op.einsum(list(factors), subscripts=subscripts, optimize=optimize)

    return run(*arrays) if out is None else numpy_into("einsum: out", run, arrays, out)


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
