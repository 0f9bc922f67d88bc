"""Tensor: a value, the tape that follows it, and its id there. Data and identity, nothing else.

Its operators, methods and NumPy protocols come from the one table in ``autograd.methods``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from weakref import ReferenceType

    from autograd.tape import Tape


class Tensor:
    """A handle on one value of one tape. Tensors come from ``tape.watch`` and from operations on tensors.

    ``value`` is an array, a NumPy or Python scalar, or - while tapes nest - a tensor of the tape outside.

    >>> from autograd import Tape
    >>> with Tape() as tape:
    ...     x = tape.watch(3.0)
    ...     y = x * x
    >>> y
    Tensor(9.0, id=1 on tape 'multiply')
    """

    __slots__ = ("__weakref__", "_base", "_id", "_source_id", "_tape", "_value", "_views")

    _value: Any
    _tape: Tape
    _id: int
    _source_id: int | None
    """Only on a tensor that was rebound: the id of what was watched, None if it stands for no source."""
    _base: Tensor
    """Only on a view: what it is a view of."""
    _views: list[ReferenceType[Tensor]]
    """Only on what has views: those that may still be alive."""

    if TYPE_CHECKING:  # what autograd.methods gives it, for readers and type checkers

        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, index: Any) -> Any: ...
        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[Any]: ...
        def __add__(self, other: Any) -> Any: ...
        def __radd__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __rsub__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __rmul__(self, other: Any) -> Any: ...
        def __truediv__(self, other: Any) -> Any: ...
        def __rtruediv__(self, other: Any) -> Any: ...
        def __floordiv__(self, other: Any) -> Any: ...
        def __rfloordiv__(self, other: Any) -> Any: ...
        def __mod__(self, other: Any) -> Any: ...
        def __rmod__(self, other: Any) -> Any: ...
        def __pow__(self, other: Any) -> Any: ...
        def __rpow__(self, other: Any) -> Any: ...
        def __matmul__(self, other: Any) -> Any: ...
        def __rmatmul__(self, other: Any) -> Any: ...
        def __neg__(self) -> Any: ...
        def __pos__(self) -> Any: ...
        def __abs__(self) -> Any: ...
        def __lt__(self, other: Any) -> Any: ...
        def __le__(self, other: Any) -> Any: ...
        def __gt__(self, other: Any) -> Any: ...
        def __ge__(self, other: Any) -> Any: ...

    @property
    def tape(self) -> Tape:
        """The tape that this tensor is recorded on."""
        return self._tape

    @property
    def id(self) -> int:
        """The number of this value on its tape."""
        return self._id


class AssignableArray(np.ndarray):  # type: ignore[type-arg,unused-ignore]  # its parameters have defaults since NumPy 2.2
    """An array of numbers until a tensor is assigned into it; see ``autograd.assignable``, which gives it its behaviour."""

    _tensor: Tensor | None = None
    """Only on an array that owns its memory: the tensor that it stands for."""


def source_id(tensor: Tensor) -> int:
    """The id in which a gradient is asked for: of a watched tensor that was rebound since, that of what was watched."""
    number = getattr(tensor, "_source_id", None)
    return tensor._id if number is None else number


def wrap(value: Any, tape: Tape, number: int) -> Tensor:
    """The tensor of output ``number`` of ``tape``. (``Tensor()`` and three stores cost half of a constructor with arguments.)"""
    tensor = Tensor()
    tensor._value = value
    tensor._tape = tape
    tensor._id = number
    return tensor


def innermost_value(value: Any) -> Any:
    """The plain array or scalar under any number of tapes."""
    while type(value) is Tensor:
        value = value._value
    return value


def note_view(base: Tensor, view: Tensor) -> None:
    """Remember that ``view`` was made of ``base`` by an operator that returns views, if they do share memory."""
    plain, given = innermost_value(view), innermost_value(base)
    if type(plain) is not np.ndarray:
        return
    owner = plain.base
    if plain is not given and (owner is None or (owner is not given and owner is not getattr(given, "base", None))):
        return  # a copy, also where it is a reshaped or transposed one: NumPy then keeps the copy itself for its base
    link_view(base, view)


def link_view(base: Tensor, view: Tensor) -> None:
    """From now on a write to the view goes to its base, unless it has one already; it may hold a copy of the elements.

    It must be made of the base by an operator that only moves elements.
    """
    if hasattr(view, "_base"):
        return
    view._base = base
    try:
        base._views.append(ref(view))
    except AttributeError:
        base._views = [ref(view)]
