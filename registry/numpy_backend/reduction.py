"""Reductions."""

import numpy as np

from registry.declare import operator


def _sum(a, axis, dtype, keepdims, initial, where):
    if initial is None and where is None:
        return np.add.reduce(a, axis, dtype, None, keepdims)
    return np.sum(a, axis=axis, dtype=dtype, keepdims=keepdims, initial=0 if initial is None else initial, where=True if where is None else where)


operator("sum(Tensor a, int[1]? axis=None, ScalarType? dtype=None, *, bool keepdims=False, Scalar? initial=None, Tensor? where=None) -> Tensor", _sum)
