"""Writing to tensors: handles are rebound, and views follow what they are views of.

A tensor is a handle. Writing to it records the functional form of the write and makes the handle stand for the result. A view
remembers its base, and a base its views that are still alive: writing to a view is an assignment into its base, and after each
write the views of a tensor are read from it anew. So every name sees what it would see with NumPy, while values that were used
before stay what they were.
"""

from __future__ import annotations

import sys
from typing import Any
from weakref import ref

import numpy as np

from autograd.engine import binding_of, record, run
from autograd.errors import NotTrackedError, TapeError
from autograd.tensor import Tensor, innermost_value
from registry.numpy_backend.assignment import check_value

_MOVES = frozenset({"getitem", "reshape", "ravel", "transpose", "swapaxes", "expand_dims", "squeeze", "flip"})
"""Views that only move elements: run on positions, their operator says where each element of the view stands in the base."""


def check_writable(who: str, target: Tensor) -> None:
    """Raise unless a write to this tensor can be recorded."""
    tape = target._tape
    if not tape._recording:
        raise TapeError(f"{who} is a tensor of a tape that does not record (any more); take what is returned: y = f(...)")
    base = getattr(target, "_base", None)
    if base is not None:
        maker, _ = _maker(target)
        if maker not in _MOVES and (maker != "real" or np.iscomplexobj(innermost_value(base))):
            raise NotTrackedError(
                f"{who} is a view of another tensor, made by {maker!r} in record {target._id}, through which nothing can be"
                " written; write to the other tensor, or to a copy"
            )
        check_writable(who, base)


def rebind(who: str, target: Tensor, result: Any) -> None:
    """Make a tensor stand for a result of its own shape and dtype; raises as ``assign`` does."""
    base = getattr(target, "_base", None)
    if base is not None:
        assign(base, _positions(target), result, who=who)
        return
    _set(who, target, result)
    _refresh_views(target)


def assign(target: Tensor, index: Any, value: Any, *, who: str = "assignment: the tensor") -> None:
    """``target[index] = value``, recorded as ``setitem``; every view of the target, and what it is a view of, follows.

    Raises TapeError for a tensor whose tape does not record, and for a value of an inner tape if the target was watched;
    NotTrackedError for a view through which nothing can be written; IndexError and ValueError as NumPy does.

    >>> from autograd import Tape
    >>> with Tape() as tape:
    ...     x = tape.watch(np.array([1.0, 2.0]))
    ...     y = x * 2.0
    ...     assign(y, 0, x[1])
    >>> y.value
    array([2., 4.])
    """
    check_writable(who, target)
    base = getattr(target, "_base", None)
    if base is not None and not np.shape(innermost_value(base)):  # of a scalar there are no positions: it is replaced
        whole = run("setitem", (value, target), {"index": index})
        assign(base, (), run("reshape", (whole,), {**binding_of("reshape").attr_defaults, "shape": ()}), who=who)
        return
    if base is not None:
        places = _positions(target)
        part = np.arange(places[0].size).reshape(places[0].shape)[index]
        assign(base, tuple(each.ravel()[part] for each in places), value, who=who)
        return
    if not _assign_in_place(target, index, value):
        _set(who, target, run("setitem", (value, target), {"index": index}))
    _refresh_views(target)


def with_part(old: Any, part: str, value: Any) -> Any:
    """Complex numbers with another real or imaginary part, as ``part`` says; raises TypeError for a value that is complex.

    >>> with_part(1.0 + 2.0j, "imag", 5.0)
    (1+5j)
    """
    if np.iscomplexobj(innermost_value(value)):
        raise TypeError(f"{part}: a complex value is assigned to the {part} part, expected real numbers")
    real, imag = (value, run("imag", (old,), {})) if part == "real" else (run("real", (old,), {}), value)
    return run("add", (real, run("multiply", (imag, 1j), {})), {})


def _set(who: str, target: Tensor, result: Any) -> None:
    tape = target._tape
    watched = target._id in tape._names
    inside = type(result) is Tensor and result._tape is not tape and result._tape._serial > tape._serial
    if inside and (watched or hasattr(target, "_source_id")):
        raise TapeError(
            f"{who} was watched on an outer tape, but the result is on one that was opened inside it; take what is returned:"
            " y = f(...)"
        )
    followed = type(result) is Tensor and (result._tape is tape or inside)
    if not followed:
        result = tape.watch(result)
    if not hasattr(target, "_source_id") and (watched or not followed):
        target._source_id = target._id if watched else None
        tape._rebound = True
    target._value, target._id, target._tape = result._value, result._id, result._tape


# -------------------------------------------------------------------------------------------------- one buffer


def _references(holder: list[Any]) -> int:
    value = holder[0]
    return sys.getrefcount(value)


_UNSHARED = _references([np.empty(1)])
"""What ``_references`` says of an array that its holder alone refers to; interpreters count differently."""


def _assign_in_place(target: Tensor, index: Any, value: Any) -> bool:
    """Write into the array itself where the handle alone refers to it, so that a loop which writes n elements costs O(n).

    No other tensor, view or saved value refers to it, so nobody can tell the old array from a copy; the record is that of
    ``setitem``. Returns False where anything is unusual.
    """
    tape = target._tape
    y = target._value
    if type(y) is not np.ndarray or y.base is not None or not y.flags.writeable or tape._keep_all:
        return False
    if type(value) is Tensor and (value._tape is not tape or type(value._value) is Tensor):
        return False
    plain = value._value if type(value) is Tensor else value
    if type(plain) is not np.ndarray and not isinstance(plain, np.generic | float | int):
        return False
    holder = [y]
    del y
    target._value = None
    try:
        unshared = _references(holder) <= _UNSHARED and id(holder[0]) not in tape._locks
    finally:
        target._value = holder[0]
    if not unshared:
        return False
    check_value(plain, holder[0].dtype)
    holder[0][index] = plain
    _set(
        "assignment: the tensor",
        target,
        record(tape, binding_of("setitem"), (value, target), (plain, holder[0]), holder[0], {"index": index}),
    )
    return True


# -------------------------------------------------------------------------------------------------- views


def _positions(view: Tensor) -> tuple[np.ndarray[Any, Any], ...]:
    """Where each element of a view stands in its base: an index array for each axis of the base."""
    name, attrs = _maker(view)
    shape = np.shape(innermost_value(view._base))
    numbers = np.arange(int(np.prod(shape))).reshape(shape)
    places: Any = np.unravel_index(binding_of(name).kernel_func(numbers, **attrs), shape)
    return tuple(places)


def _maker(view: Tensor) -> tuple[str, dict[str, Any]]:
    """The operator that made a view of its base, and its attributes."""
    return view._tape._bindings[view._id].name, view._tape._attrs.get(view._id, {})


def _refresh_views(base: Tensor) -> None:
    """Read the views of a tensor from it anew; those that nobody has any more are forgotten."""
    views = getattr(base, "_views", None)
    if not views:
        return
    alive = [view for view in (each() for each in views) if view is not None]
    for view in alive:
        name, attrs = _maker(view)
        new = run(name, (base,), attrs)
        view._value, view._id, view._tape = new._value, new._id, new._tape
    base._views = [ref(view) for view in alive]
    for view in alive:
        _refresh_views(view)
