"""Gradients of indexing, kept as pieces until they are needed, so that reading n elements one by one costs O(n)."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd import operators as op
from autograd.engine import binding_of
from registry.numpy_backend.indexing import is_basic


class IndexedGradient:
    """A gradient of ``shape`` that is ``buffer`` (zeros if that is None), and ``values``, each added at its index.

    A rule returns one with a single piece; the walk puts pieces together and makes the dense array once. The buffer, where there
    is one, belongs to this gradient alone: the rule of assignment reads it and clears places in it, so that a loop which
    assigns n elements costs O(n), too.
    """

    __slots__ = ("buffer", "dtype", "indices", "shape", "values")

    def __init__(self, value: Any, index: Any, shape: tuple[int, ...], dtype: Any) -> None:
        self.values = [value]
        self.indices = [index]
        self.shape = shape
        self.dtype = dtype
        self.buffer: np.ndarray[Any, Any] | None = None

    @classmethod
    def of_array(cls, array: np.ndarray[Any, Any]) -> IndexedGradient:
        """A plain array, which nobody else may hold, as the buffer of a gradient without further pieces."""
        made = cls(None, None, array.shape, array.dtype)
        made.values, made.indices, made.buffer = [], [], array
        return made

    def extend(self, other: IndexedGradient) -> None:
        """Take over the pieces of another one for the same array, and its buffer."""
        self.values += other.values
        self.indices += other.indices
        if self.buffer is None:
            self.buffer = other.buffer
        elif other.buffer is not None:
            self.buffer += other.buffer

    def is_plain(self) -> bool:
        """Whether all pieces are plain arrays or numbers: nothing here is to be recorded."""
        return all(type(each) is np.ndarray or isinstance(each, np.generic) for each in self.values)

    def dense(self, batch: tuple[int, ...] = ()) -> Any:
        """The whole array, behind the axes of ``batch`` if the values carry them."""
        if self.buffer is not None and not batch and self.is_plain():
            self._add_pieces(self.buffer)
            return self.buffer
        if self.is_plain():
            scatter_add = binding_of("scatter_add").kernel_func  # nothing to record, so straight to the backend
        else:
            scatter_add = op.scatter_add
        pieces = scatter_add(self.values, indices=self.indices, shape=batch + self.shape, dtype=self.dtype, batch=len(batch))
        return pieces if self.buffer is None else op.add(self.buffer, pieces)

    def take(self, index: Any) -> Any:
        """A copy of the part at an index, of a gradient with a buffer."""
        assert self.buffer is not None  # the one who asks made it
        self._add_pieces(self.buffer)
        part = self.buffer[index]
        return part.copy() if type(part) is np.ndarray else part

    def clear(self, index: Any) -> None:
        """Make the part at an index zero, of a gradient with a buffer."""
        assert self.buffer is not None
        self._add_pieces(self.buffer)
        self.buffer[index] = 0

    def _add_pieces(self, buffer: np.ndarray[Any, Any]) -> None:
        for value, index in zip(self.values, self.indices, strict=True):
            if is_basic(index if isinstance(index, tuple) else (index,)):
                buffer[index] += value
            else:
                np.add.at(buffer, index, value)
        self.values, self.indices = [], []
