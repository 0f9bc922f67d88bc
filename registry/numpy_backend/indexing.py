"""Indexing."""

import numpy as np

from registry.declare import operator

operator("getitem(Tensor a, *, Index index) -> Tensor", lambda a, index: a[index])


def _scatter_add(values, indices, shape, dtype, batch):
    total = np.zeros(shape, dtype)
    for value, index in zip(values, indices):
        np.add.at(total, (slice(None),) * batch + (index if isinstance(index, tuple) else (index,)), value)
    return total


operator("scatter_add(Tensor[] values, *, Any indices, int[] shape, ScalarType dtype, int batch=0) -> Tensor", _scatter_add)
