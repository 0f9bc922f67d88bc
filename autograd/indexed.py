"""Gradients of indexing, kept as pieces until they are needed, so that reading n elements one by one costs O(n)."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd import operators as op
from autograd.engine import binding_of


class IndexedGradient:
    """A gradient of ``shape`` that is zero but for ``values``, each added at its index.

    A rule returns one with a single piece; the walk puts pieces together and makes the dense array once.
    """

    __slots__ = ("dtype", "indices", "shape", "values")

    def __init__(self, value: Any, index: Any, shape: tuple[int, ...], dtype: Any) -> None:
        self.values = [value]
        self.indices = [index]
        self.shape = shape
        self.dtype = dtype

    def extend(self, other: IndexedGradient) -> None:
        """Take over the pieces of another one for the same array."""
        self.values += other.values
        self.indices += other.indices

    def dense(self, batch: tuple[int, ...] = ()) -> Any:
        """The whole array, behind the axes of ``batch`` if the values carry them."""
        if all(type(each) is np.ndarray or isinstance(each, np.generic) for each in self.values):
            kernel = binding_of("scatter_add").kernel_func  # nothing to record, so straight to the backend
            return kernel(self.values, indices=self.indices, shape=batch + self.shape, dtype=self.dtype, batch=len(batch))
        return op.scatter_add(self.values, indices=self.indices, shape=batch + self.shape, dtype=self.dtype, batch=len(batch))
