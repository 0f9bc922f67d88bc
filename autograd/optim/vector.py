"""``Vector``: the parameters of a container as one vector of real numbers, which is what methods of second order work on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autograd.containers import flatten
from autograd.errors import InPlaceError, OptimiserError
from autograd.tensor import Tensor

Array = np.ndarray[Any, Any]


class Vector:
    """How a container is a vector of float64: its leaves in order, of a complex number the real and the imaginary part.

    Leaves that are neither floats nor complex numbers belong to the structure. ``who`` begins the messages of errors.

    >>> vector = Vector("doctest", {"a": np.array([1.0, 2.0]), "b": 3 + 4j})
    >>> vector.values()
    array([1., 2., 3., 4.])
    >>> vector.container(np.array([5.0, 6.0, 7.0, 8.0]))
    {'a': array([5., 6.]), 'b': (7+8j)}
    """

    __slots__ = ("_leaves", "_structure", "places", "size", "stretches", "who")

    def __init__(self, who: str, model: Any) -> None:
        self.who = who
        self._leaves, self._structure = flatten(model)
        self.places = [place for place, leaf in enumerate(self._leaves) if self._is_parameter(place, leaf)]
        self.stretches: list[slice] = []
        self.size = 0
        for place in self.places:
            leaf = self._leaves[place]
            start, self.size = self.size, self.size + int(np.size(leaf)) * (2 if np.iscomplexobj(leaf) else 1)
            self.stretches.append(slice(start, self.size))
        if not self.size:
            raise OptimiserError(f"{who}: got a {type(model).__name__} without any float or complex number in it, expected some")

    def path(self, place: int) -> str:
        """Where a leaf stands, for messages."""
        return self._structure.paths("x")[place]

    def leaf(self, place: int) -> Any:
        """What stands there."""
        return self._leaves[place]

    def with_leaves(self, leaves: Mapping[int, Any]) -> Any:
        """The container with other leaves at some places."""
        return self._structure.rebuild([leaves.get(place, leaf) for place, leaf in enumerate(self._leaves)])

    def leaves_like(self, what: str, other: Any) -> list[Any]:
        """The leaves of another container of the same structure; raises OptimiserError for one of another structure."""
        leaves, structure = flatten(other)
        if not structure.matches(self._structure):
            got, expected = structure.paths(), self._structure.paths()
            missing = [each for each in expected if each not in got]
            surplus = [each for each in got if each not in expected]
            raise OptimiserError(
                f"{self.who}: {what} are a {type(other).__name__} with leaves at {got}, expected the structure of x0, with leaves"
                f" at {expected}"
                + (f"; missing are {missing}" if missing else "")
                + (f"; surplus are {surplus}" if surplus else "")
            )
        return leaves

    def values(self) -> Array:
        """The vector of the container itself."""
        return self.packed([self._leaves[place] for place in self.places])

    def packed(self, leaves: Sequence[Any]) -> Array:
        """The vector of other values for the parameters."""
        vector = np.empty(self.size)
        for leaf, part in zip(leaves, self.stretches, strict=True):
            wide = np.asarray(leaf, np.complex128 if np.iscomplexobj(leaf) else np.float64)
            vector[part] = wide.reshape(-1).view(np.float64)
        return vector

    def gradient(self, gradient: Any) -> Array:
        """The vector of a gradient of the container: of a complex number, which comes as df/dx - i df/dy, df/dx and df/dy."""
        leaves = flatten(gradient)[0]
        return self.packed([np.conjugate(leaves[place]) for place in self.places])

    def container(self, vector: Array) -> Any:
        """A new container with the numbers of a vector, with arrays of its own."""
        leaves = list(self._leaves)
        for place, part in zip(self.places, self.stretches, strict=True):
            leaves[place] = _like(leaves[place], vector[part])
        return self._structure.rebuild(leaves)

    def gradient_container(self, vector: Array) -> Any:
        """The gradient in the structure of the container, complex ones as df/dx - i df/dy."""
        leaves = flatten(self.container(vector))[0]
        return self._structure.rebuild([each.conjugate() if np.iscomplexobj(each) else each for each in leaves])

    def check_writable(self) -> None:
        """Raise InPlaceError if an array of the container cannot be written."""
        for place in self.places:
            leaf = self._leaves[place]
            if isinstance(leaf, np.ndarray) and not leaf.flags.writeable:
                raise InPlaceError(
                    f"{self.who}: {self.path(place)} is read-only: a tape may still need it (take its gradient first), or it was"
                    " made so; then pass a container with copies of such arrays"
                )

    def written(self, vector: Array) -> Any:
        """The container with the numbers of a vector written into its arrays; it is another only if numbers were among them."""
        leaves = list(self._leaves)
        for place, part in zip(self.places, self.stretches, strict=True):
            new = _like(leaves[place], vector[part])
            if isinstance(leaves[place], np.ndarray):
                leaves[place][...] = new
            else:
                leaves[place] = new
        return self._structure.rebuild(leaves)

    def _is_parameter(self, place: int, leaf: Any) -> bool:
        if isinstance(leaf, Tensor):
            raise OptimiserError(f"{self.who}: {self.path(place)} is a tensor of a tape, expected an array: pass the bare value")
        if isinstance(leaf, np.ndarray | np.generic):
            return leaf.dtype.kind in "fc"
        return type(leaf) in (float, complex)


def _like(leaf: Any, part: Array) -> Any:
    """Numbers in the kind, dtype and shape of a leaf."""
    if np.iscomplexobj(leaf):
        part = part.view(np.complex128)
    if isinstance(leaf, np.ndarray):
        return part.reshape(leaf.shape).astype(leaf.dtype)
    return type(leaf)(part[0])
