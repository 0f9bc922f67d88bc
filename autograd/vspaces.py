"""Vector spaces: what kind of thing a derivative is - zeros, ones, a basis and sums in the structure of a value.

HIPS autograd's rules are written in terms of these; here they serve code that uses ``vspace`` by name. All work on tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from autograd import operators as op
from autograd.containers import flatten, is_container
from autograd.tensor import Tensor, innermost_value
from registry.errors import GradtapeError

__all__ = ["ArrayVSpace", "ComplexArrayVSpace", "ContainerVSpace", "VSpace", "VSpaceError", "vspace"]


class VSpaceError(GradtapeError, TypeError):
    """A value has no vector space: it is no float, array or container of those."""


class VSpace:
    """The vector space of a value. A subclass gives ``zeros`` and, where sums of its elements are not ``+``, the hooks.

    The hooks are ``_add``, ``_mut_add``, ``_scalar_mul``, ``_inner_prod`` and ``_covector``. ``mappings`` holds what makes the
    space of a value, by the value's type.
    """

    mappings: ClassVar[dict[type, Callable[[Any], Any]]] = {}
    iscomplex = False

    def __init__(self, value: Any) -> None: ...

    @classmethod
    def register(cls, value_type: type, vspace_maker: Callable[[Any], Any] | None = None) -> None:
        """Make this class, or ``vspace_maker``, the one that gives the space of values of a type."""
        VSpace.mappings[value_type] = vspace_maker or cls

    def zeros(self) -> Any:
        """The zero of the space."""
        self._missing("zeros")

    def ones(self) -> Any:
        """The element whose every coordinate is 1."""
        self._missing("ones")

    def standard_basis(self) -> Iterator[Any]:
        """The basis vectors, one at a time."""
        return self._missing("standard_basis")  # type: ignore[no-any-return]  # it raises

    def randn(self) -> Any:
        """An element with coordinates from the standard normal distribution (``numpy.random``'s global state)."""
        self._missing("randn")

    def add(self, x_prev: Any, x_new: Any) -> Any:
        """The sum of two elements."""
        return self._add(x_prev, x_new)

    def mut_add(self, x_prev: Any, x_new: Any) -> Any:
        """The sum, in place if the first is a plain array; None stands for zero."""
        return self._mut_add(self.zeros() if x_prev is None else x_prev, x_new)

    def scalar_mul(self, x: Any, a: Any) -> Any:
        """An element times a number."""
        return self._scalar_mul(x, a)

    def inner_prod(self, x: Any, y: Any) -> Any:
        """The real inner product of two elements."""
        return self._inner_prod(x, y)

    def covector(self, x: Any) -> Any:
        """The element that stands for the linear form ``inner_prod(x, .)``: the conjugate."""
        return self._covector(x)

    def _add(self, x: Any, y: Any) -> Any:
        return op.add(x, y)

    def _mut_add(self, x: Any, y: Any) -> Any:
        if type(x) is np.ndarray and type(y) is not Tensor:
            x += y
            return x
        return self._add(x, y)

    def _scalar_mul(self, x: Any, a: Any) -> Any:
        return op.multiply(x, a)

    def _inner_prod(self, x: Any, y: Any) -> Any:
        self._missing("_inner_prod")

    def _covector(self, x: Any) -> Any:
        return x

    def _missing(self, name: str) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no {name}; a subclass of VSpace defines it")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={value}' for key, value in self.__dict__.items())})"


class ArrayVSpace(VSpace):
    """Arrays of one shape and a real dtype; scalars are arrays without axes.

    >>> space = ArrayVSpace(np.zeros((2, 1)))
    >>> space.shape, int(space.size), [each.ravel().tolist() for each in space.standard_basis()]
    ((2, 1), 2, [[1.0, 0.0], [0.0, 1.0]])
    """

    def __init__(self, value: Any) -> None:
        plain = np.asarray(innermost_value(value))
        self.shape = plain.shape
        self.dtype = plain.dtype

    @property
    def size(self) -> int:
        """The dimension of the space over the real numbers."""
        return int(np.prod(self.shape))

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def zeros(self) -> Any:
        return np.zeros(self.shape, self.dtype)

    def ones(self) -> Any:
        return np.ones(self.shape, self.dtype)

    def standard_basis(self) -> Iterator[Any]:
        for place in np.ndindex(*self.shape):
            yield self._unit(place, 1.0)

    def _unit(self, place: tuple[int, ...], entry: Any) -> Any:
        vector = self.zeros()
        vector[place] = entry
        return vector

    def randn(self) -> Any:
        return np.asarray(np.random.standard_normal(self.shape)).astype(self.dtype)

    def _inner_prod(self, x: Any, y: Any) -> Any:
        return op.sum(op.multiply(x, y))


class ComplexArrayVSpace(ArrayVSpace):
    """Arrays of one shape and a complex dtype: a space of twice as many real dimensions.

    >>> space = ComplexArrayVSpace(np.zeros(1, complex))
    >>> space.size, list(space.standard_basis())
    (2, [array([1.+0.j]), array([0.+1.j])])
    """

    iscomplex = True

    @property
    def size(self) -> int:
        return 2 * int(np.prod(self.shape))

    def ones(self) -> Any:
        return np.full(self.shape, 1.0 + 1.0j, self.dtype)

    def standard_basis(self) -> Iterator[Any]:
        for place in np.ndindex(*self.shape):
            yield self._unit(place, 1.0)
            yield self._unit(place, 1.0j)

    def randn(self) -> Any:
        parts = np.random.standard_normal((2, *self.shape))
        return np.asarray(parts[0] + 1.0j * parts[1]).astype(self.dtype)

    def _inner_prod(self, x: Any, y: Any) -> Any:
        return op.real(op.sum(op.multiply(op.conjugate(x), y)))

    def _covector(self, x: Any) -> Any:
        return op.conjugate(x)


class ContainerVSpace(VSpace):
    """Nested containers: ``shape`` is the container with the space of each leaf in its place.

    >>> space = vspace({"w": [1.0, np.zeros(2)]})
    >>> space.size, space.zeros()
    (3, {'w': [array(0.), array([0., 0.])]})
    """

    def __init__(self, value: Any) -> None:
        leaves, structure = flatten(value)
        self.shape = structure.rebuild([vspace(each) for each in leaves])

    @property
    def size(self) -> int:
        """The dimension of the space over the real numbers."""
        return sum(each.size for each in flatten(self.shape)[0])

    @property
    def iscomplex(self) -> bool:  # type: ignore[override]  # a constant of the other spaces
        """Whether every leaf is complex."""
        spaces = flatten(self.shape)[0]
        return bool(spaces) and all(each.iscomplex for each in spaces)

    def zeros(self) -> Any:
        return self._map(lambda space: space.zeros())

    def ones(self) -> Any:
        return self._map(lambda space: space.ones())

    def randn(self) -> Any:
        return self._map(lambda space: space.randn())

    def standard_basis(self) -> Iterator[Any]:
        spaces, structure = flatten(self.shape)
        for position, space in enumerate(spaces):
            for vector in space.standard_basis():
                leaves = [each.zeros() for each in spaces]
                leaves[position] = vector
                yield structure.rebuild(leaves)

    def _map(self, function: Callable[..., Any], *values: Any) -> Any:
        spaces, structure = flatten(self.shape)
        columns = [flatten(each)[0] for each in values]
        for each in columns:
            if len(each) != len(spaces):
                raise VSpaceError(f"got a container of {len(each)} leaves, expected {len(spaces)}, as {self!r} has")
        return structure.rebuild([function(*row) for row in zip(spaces, *columns, strict=True)])

    def _add(self, x: Any, y: Any) -> Any:
        return self._map(lambda space, one, other: space.add(one, other), x, y)

    def _mut_add(self, x: Any, y: Any) -> Any:
        return self._map(lambda space, one, other: space.mut_add(one, other), x, y)

    def _scalar_mul(self, x: Any, a: Any) -> Any:
        return self._map(lambda space, one: space.scalar_mul(one, a), x)

    def _inner_prod(self, x: Any, y: Any) -> Any:
        products = flatten(self._map(lambda space, one, other: space.inner_prod(one, other), x, y))[0]
        total: Any = 0.0
        for each in products:
            total = op.add(total, each)
        return total

    def _covector(self, x: Any) -> Any:
        return self._map(lambda space, one: space.covector(one), x)


def vspace(value: Any) -> Any:
    """The vector space of a value, a tensor or a container of those.

    Raises VSpaceError for a single integer and everything else that has no derivative.

    >>> vspace(2.0).zeros(), vspace(1.0j).iscomplex
    (array(0.), True)
    """
    plain = innermost_value(value)
    maker = VSpace.mappings.get(type(plain))
    if maker is not None:
        return maker(plain)
    if is_container(plain):
        return ContainerVSpace(plain)
    if isinstance(plain, np.ndarray | np.inexact | float | complex) and np.asarray(plain).dtype.kind in "fciub":
        return _array_space(plain)
    raise VSpaceError(
        f"vspace: got {plain!r} of type {type(plain).__name__}, expected a float, a complex number, an array of those, or a"
        " container"
    )


def _array_space(value: Any) -> ArrayVSpace:
    return ComplexArrayVSpace(value) if np.iscomplexobj(value) else ArrayVSpace(value)
