"""``list``, ``tuple``, ``dict``, ``isinstance`` and ``type`` for traced values, by the names of HIPS autograd.

There a traced container was a box, and Python's own functions did not know it. Here it is a container that holds tensors, so
these do what Python's do; ``isinstance`` and ``type`` look at the value inside a tensor.
"""

from __future__ import annotations

import builtins
from typing import Any

from autograd.extend import (
    Box,
    SparseObject,
    VSpace,
    defjvp,
    defjvp_argnum,
    defvjp,
    defvjp_argnum,
    notrace_primitive,
    primitive,
    vspace,
)
from autograd.tracer import DictBox, SequenceBox, getval
from autograd.util import subvals
from autograd.vspaces import ContainerVSpace

__all__ = [
    "Box", "ContainerVSpace", "DictBox", "DictVSpace", "ListVSpace", "NamedTupleVSpace", "SequenceBox", "SequenceVSpace",
    "SparseObject", "TupleVSpace", "VSpace", "container_take", "defjvp", "defjvp_argnum", "defvjp", "defvjp_argnum", "dict",
    "isinstance", "list", "make_sequence", "notrace_primitive", "primitive", "sequence_extend_left", "sequence_extend_right",
    "subvals", "tuple", "type", "vspace",
]  # fmt: skip

isinstance_, type_ = builtins.isinstance, builtins.type
tuple_, list_, dict_ = builtins.tuple, builtins.list, builtins.dict

SequenceVSpace = ListVSpace = TupleVSpace = DictVSpace = NamedTupleVSpace = ContainerVSpace


def isinstance(x: Any, class_or_tuple: Any) -> bool:
    """Whether the value inside ``x`` is an instance of a class.

    >>> import numpy
    >>> from autograd import grad
    >>> grad(lambda x: x * isinstance(x, float))(2.0)
    1.0
    """
    return isinstance_(getval(x), class_or_tuple)


def type(x: Any) -> Any:
    """The type of the value inside ``x``.

    >>> type([1.0])
    <class 'list'>
    """
    return type_(getval(x))


class _Like(builtins.type):
    """Makes every instance of the class below it an instance."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance_(value, cls.__mro__[1])


class tuple(builtins.tuple[Any, ...], metaclass=_Like):
    """``tuple(xs)`` is Python's; a class of its own, so that it can be told apart where classes are registered.

    >>> tuple([1.0, 2.0]), isinstance_((1.0,), tuple)
    ((1.0, 2.0), True)
    """

    def __new__(cls, xs: Any = ()) -> Any:
        return tuple_(xs)


class list(builtins.list[Any], metaclass=_Like):
    """``list(xs)`` is Python's; a class of its own, so that it can be told apart where classes are registered.

    >>> list((1.0, 2.0)), isinstance_([1.0], list)
    ([1.0, 2.0], True)
    """

    def __new__(cls, xs: Any = ()) -> Any:
        return list_(xs)


class dict(builtins.dict[Any, Any], metaclass=_Like):
    """``dict(...)`` is Python's; a class of its own, so that it can be told apart where classes are registered.

    >>> dict(a=1.0), isinstance_({}, dict)
    ({'a': 1.0}, True)
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return dict_(*args, **kwargs)


def container_take(A: Any, idx: Any) -> Any:
    """``A[idx]``."""
    return A[idx]


def make_sequence(seq_type: Any, *args: Any) -> Any:
    """A sequence of a type, of these elements.

    >>> make_sequence(tuple_, 1.0, 2.0)
    (1.0, 2.0)
    """
    return seq_type(args)


def sequence_extend_right(seq: Any, *elts: Any) -> Any:
    """A list or tuple with more elements behind.

    >>> sequence_extend_right([1.0], 2.0)
    [1.0, 2.0]
    """
    return seq + type_(seq)(elts)


def sequence_extend_left(seq: Any, *elts: Any) -> Any:
    """A list or tuple with more elements in front.

    >>> sequence_extend_left((1.0,), 2.0)
    (2.0, 1.0)
    """
    return type_(seq)(elts) + seq
