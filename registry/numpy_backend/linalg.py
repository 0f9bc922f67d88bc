"""Products of vectors, matrices and stacks of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from registry.declare import operator


def _tensordot(a: Any, b: Any, axes: Any) -> Any:
    return np.tensordot(a, b, axes)


def _einsum(operands: list[Any], subscripts: str, optimize: Any) -> Any:
    return np.einsum(subscripts, *operands, optimize=optimize)


operator("matmul(Tensor x1, Tensor x2) -> Tensor", np.matmul)
operator("dot(Tensor a, Tensor b) -> Tensor", np.dot)
operator("tensordot(Tensor a, Tensor b, *, Any axes=2) -> Tensor", _tensordot)
operator("einsum(Tensor[] operands, *, str subscripts, Any optimize=False) -> Tensor", _einsum)
