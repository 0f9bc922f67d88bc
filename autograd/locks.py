"""Locks: arrays that came from outside cannot be changed while a tape may still need them.

The scheme. A value that a kernel made never leaves the engine writable while its tape lives (``Tensor.value`` is a
read-only view), so it needs no guard at all. An array of the user's - a watched source, a constant operand that a rule
saves, an index or mask among the attributes - is made read-only the first time a tape saves it, together with the arrays
it is a view of, and made writable again when the tape frees what it saved. A write through the array or through any view
taken later then fails at the writing line, with NumPy's own error. The cost is one dictionary look-up an operation and
about a microsecond an array and tape, however large the array is. What it cannot see: a write through a view that was taken
*before* (``Tape(keep="all")`` finds it, by a digest of every saved value), and code that sets the flag back on purpose (the
backward pass finds that). A view taken while the lock is on stays read-only afterwards.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

import numpy as np

from autograd.tensor import innermost_value

_shared: dict[int, int] = {}
"""For an array that was read-only already when it was locked, how often that happened: so many times ``unlock`` leaves it so.

The first lock of an array needs no entry, and whoever unlocks it last makes it writable again, whatever the order.
"""

_left_over: list[list[np.ndarray[Any, Any]]] = []
"""What finalizers could not unlock at once."""

_locked = 0
_mutex = threading.Lock()

_setflags: Any = np.ndarray.setflags
"""``_setflags(array, False)`` by position costs half of ``array.setflags(write=False)``, for each array of each step."""


def lock(arrays: Iterable[np.ndarray[Any, Any]]) -> None:
    """Make arrays, and those they are views of, read-only until ``unlock`` is called for them as often."""
    global _locked
    with _mutex:
        for array in arrays:
            _locked += 1
            if array.flags.writeable:
                _setflags(array, False)
            else:
                _shared[id(array)] = _shared.get(id(array), 0) + 1
            if array.base is not None:
                for owner in _owners(array):
                    if owner.flags.writeable:
                        _setflags(owner, False)
                    else:
                        _shared[id(owner)] = _shared.get(id(owner), 0) + 1
    if _left_over:
        _work_off()


def unlock(arrays: Iterable[np.ndarray[Any, Any]]) -> None:
    """Undo one ``lock`` of each array; one that another tape still needs, or that was read-only before, stays read-only."""
    global _locked
    with _mutex:
        for array in arrays:
            _locked -= 1
            if array.base is not None:
                for owner in reversed(_owners(array)):  # NumPy lets a view be writable only if its owner is
                    _unlock_one(owner)
            if _shared or array.base is not None:
                _unlock_one(array)
            else:
                _setflags(array, True)
    if _left_over:
        _work_off()


def unlock_from_finalizer(arrays: Iterable[np.ndarray[Any, Any]]) -> None:
    """``unlock`` for ``__del__``, which the garbage collector may call in the middle of ``lock`` in the same thread.

    It never waits: where the mutex is taken, whoever holds it does this work after letting go of it.
    """
    _left_over.append(list(arrays))
    _work_off()


def _work_off() -> None:
    while _left_over and _mutex.acquire(blocking=False):
        try:
            arrays = _left_over.pop()
        except IndexError:  # another thread was faster
            arrays = []
        finally:
            _mutex.release()
        unlock(arrays)


def _unlock_one(array: np.ndarray[Any, Any]) -> None:
    count = _shared.get(id(array))
    if count is None:
        _restore(array)
    elif count == 1:
        del _shared[id(array)]
    else:
        _shared[id(array)] = count - 1


def _restore(array: np.ndarray[Any, Any]) -> None:
    """Make an array writable again, also where the array that it is a view of has to stay read-only."""
    kept = [owner for owner in _owners(array) if not owner.flags.writeable]
    for owner in reversed(kept):
        _setflags(owner, True)
    _setflags(array, True)
    for owner in kept:
        _setflags(owner, False)


def _owners(array: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    """The arrays that ``array`` is a view of, nearest first."""
    owners = []
    link: Any = array.base
    while isinstance(link, np.ndarray):
        owners.append(link)
        link = link.base
    return owners


def broken(array: np.ndarray[Any, Any]) -> bool:
    """Whether somebody made a locked array, or one that it is a view of, writable again."""
    if array.flags.writeable or (array.base is not None and any(owner.flags.writeable for owner in _owners(array))):
        with _mutex:  # not if another thread is just restoring a view, see ``_restore``
            return array.flags.writeable or any(owner.flags.writeable for owner in _owners(array))
    return False


def locked_arrays() -> int:
    """How many locks are held now, in the whole process.

    >>> locked_arrays()
    0
    """
    return _locked


def can_be_unlocked(array: np.ndarray[Any, Any]) -> bool:
    """Whether NumPy would make this array writable again: not if its memory belongs to a read-only object, such as ``bytes``.

    Such arrays come out of some pickles; and compiled code hands out arrays over memory of its own, which belongs to no object
    at all (SciPy's MINPACK does). They are not locked; a tape takes their digest instead.
    """
    owner = (_owners(array) or [array])[-1]
    memory: Any = owner.base
    if memory is None:
        return owner.flags.owndata
    try:
        return not memoryview(memory).readonly
    except TypeError:
        return False


def digest(value: Any) -> Any:
    """A fingerprint of the bytes of an array (of each array in a list); None for what cannot change in place."""
    if isinstance(value, list | tuple):
        return [digest(each) for each in value]
    plain = innermost_value(value)
    if not isinstance(plain, np.ndarray):
        return None
    import hashlib

    return hashlib.blake2b(np.ascontiguousarray(plain).tobytes(), digest_size=16).digest()
