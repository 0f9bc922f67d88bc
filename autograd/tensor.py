"""Tensor: a value, the tape that follows it, and its id there. Data and identity, nothing else.

Its operators, methods and NumPy protocols come from the one table in ``autograd.methods``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

    __slots__ = ("__weakref__", "_id", "_tape", "_value")

    _value: Any
    _tape: Tape
    _id: int

    @property
    def tape(self) -> Tape:
        """The tape that this tensor is recorded on."""
        return self._tape

    @property
    def id(self) -> int:
        """The number of this value on its tape."""
        return self._id


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
