"""Products of vectors, matrices and stacks of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from registry.declare import operator
from registry.out_arrays import checked_into, copy_into


def _tensordot(a: Any, b: Any, axes: Any) -> Any:
    return np.tensordot(a, b, axes)


def _dot_dtype(a: Any, b: Any) -> Any:
    return np.result_type(np.asarray(a).dtype, np.asarray(b).dtype)


def _einsum(operands: list[Any], subscripts: str, optimize: Any, out: Any = None) -> Any:
    return np.einsum(subscripts, *operands, out=out, optimize=optimize)


def _einsum_into(operands: list[Any], subscripts: str, optimize: Any, *, out: Any) -> Any:
    if optimize:  # NumPy then copies itself, and would repeat the result to fill a larger array
        copy_into("operator 'einsum': the array to write", out, _einsum(operands, subscripts, optimize))
        return out
    return _einsum_alone(operands, subscripts, optimize, out=out)


def _einsum_dtype(operands: list[Any], subscripts: str, optimize: Any) -> Any:
    return np.result_type(*(np.asarray(each).dtype for each in operands))


_einsum_alone = checked_into(_einsum, _einsum_dtype)


operator("matmul(Tensor x1, Tensor x2) -> Tensor", np.matmul)
operator("dot(Tensor a, Tensor b) -> Tensor", np.dot, out_func=checked_into(np.dot, _dot_dtype))
operator("tensordot(Tensor a, Tensor b, *, Any axes=2) -> Tensor", _tensordot)
operator(
    "einsum(Tensor[] operands, *, str subscripts, Any optimize=False) -> Tensor",
    _einsum,
    out_func=_einsum_into,
)
