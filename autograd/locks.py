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
from typing import Any

import numpy as np

_counts: dict[int, list[Any]] = {}
_mutex = threading.Lock()


def lock(array: np.ndarray) -> list[np.ndarray]:
    """Make an array and those it is a view of read-only; returns the arrays concerned, owner first, for ``unlock``."""
    held: list[np.ndarray] = []
    link: Any = array
    with _mutex:
        while isinstance(link, np.ndarray):
            entry = _counts.get(id(link))
            if entry is not None:
                entry[1] += 1
                held.append(link)
            elif link.flags.writeable:
                link.setflags(False)
                _counts[id(link)] = [link, 1]
                held.append(link)
            link = link.base
    held.reverse()
    return held


def unlock(held: list[np.ndarray]) -> None:
    """Undo one ``lock``; an array that another tape still needs stays read-only."""
    with _mutex:
        for link in held:  # owner first: NumPy lets a view be writable only if its owner is
            entry = _counts[id(link)]
            entry[1] -= 1
            if entry[1] == 0:
                del _counts[id(link)]
                link.setflags(True)


def broken(held: list[np.ndarray]) -> bool:
    """Whether somebody made one of these arrays writable again."""
    return any(link.flags.writeable for link in held)


def locked_arrays() -> int:
    """How many arrays are locked now, in the whole process.

    >>> locked_arrays()
    0
    """
    return len(_counts)
