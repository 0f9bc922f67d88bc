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

_shared: dict[int, int] = {}
"""For an array that was read-only already when it was locked, how often that happened: so many times ``unlock`` leaves it so.

The first lock of an array needs no entry, and whoever unlocks it last makes it writable again, whatever the order.
"""

_locked = 0
_mutex = threading.Lock()


def lock(arrays: Iterable[np.ndarray]) -> None:
    """Make arrays, and those they are views of, read-only until ``unlock`` is called for them as often."""
    global _locked
    with _mutex:
        for array in arrays:
            _locked += 1
            if array.flags.writeable:
                array.setflags(False)
            else:
                _shared[id(array)] = _shared.get(id(array), 0) + 1
            if array.base is not None:
                for owner in _owners(array):
                    if owner.flags.writeable:
                        owner.setflags(False)
                    else:
                        _shared[id(owner)] = _shared.get(id(owner), 0) + 1


def unlock(arrays: Iterable[np.ndarray]) -> None:
    """Undo one ``lock`` of each array; one that another tape still needs, or that was read-only before, stays read-only."""
    global _locked
    with _mutex:
        for array in arrays:
            _locked -= 1
            if array.base is not None:
                for owner in reversed(_owners(array)):  # NumPy lets a view be writable only if its owner is
                    _unlock_one(owner)
            if _shared:
                _unlock_one(array)
            else:
                array.setflags(True)


def _unlock_one(array: np.ndarray) -> None:
    count = _shared.get(id(array))
    if count is None:
        array.setflags(True)
    elif count == 1:
        del _shared[id(array)]
    else:
        _shared[id(array)] = count - 1


def _owners(array: np.ndarray) -> list[np.ndarray]:
    """The arrays that ``array`` is a view of, nearest first."""
    owners = []
    link: Any = array.base
    while isinstance(link, np.ndarray):
        owners.append(link)
        link = link.base
    return owners


def broken(array: np.ndarray) -> bool:
    """Whether somebody made a locked array, or one that it is a view of, writable again."""
    return array.flags.writeable or (array.base is not None and any(owner.flags.writeable for owner in _owners(array)))


def locked_arrays() -> int:
    """How many locks are held now, in the whole process.

    >>> locked_arrays()
    0
    """
    return _locked
