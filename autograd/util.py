"""Small functions of HIPS autograd's interface that packages import: tuples with entries replaced, a graph in order.

Nothing in this library needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import Any, NoReturn, TypeVar

__all__ = ["func", "quick_grad_check", "subval", "subvals", "toposort"]

T = TypeVar("T")


def subvals(x: Iterable[Any], ivs: Iterable[tuple[int, Any]]) -> tuple[Any, ...]:
    """``x`` as a tuple with other values at some positions, given as pairs.

    >>> subvals((1, 2, 3), [(0, "a"), (2, "c")])
    ('a', 2, 'c')
    """
    values = list(x)
    for position, value in ivs:
        values[position] = value
    return tuple(values)


def subval(x: Iterable[Any], i: int, v: Any) -> tuple[Any, ...]:
    """``x`` as a tuple with the value ``v`` at position ``i``.

    >>> subval((1, 2, 3), 1, "b")
    (1, 'b', 3)
    """
    return subvals(x, [(i, v)])


def func(f: T) -> T:
    """``f`` itself: a method taken from its class is a function already."""
    return f


def toposort(end_node: Any, parents: Callable[[Any], Iterable[Any]] = attrgetter("parents")) -> Iterator[Any]:
    """The nodes that ``end_node`` is reached from, each behind every node that it is a parent of; ``end_node`` comes first.

    >>> list(toposort("d", {"a": "", "b": "a", "c": "a", "d": "bc"}.get))
    ['d', 'c', 'b', 'a']
    """
    uses: dict[Any, int] = {end_node: 1}
    pending = [end_node]
    while pending:
        for parent in parents(pending.pop()):
            if parent in uses:
                uses[parent] += 1
            else:
                uses[parent] = 1
                pending.append(parent)
    ready = [end_node]
    while ready:
        node = ready.pop()
        yield node
        for parent in parents(node):
            uses[parent] -= 1
            if uses[parent] == 0:
                ready.append(parent)


def quick_grad_check(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> NoReturn:
    """Not served; raises NotImplementedError that names ``check_grads``."""
    raise NotImplementedError(
        "quick_grad_check was given up long ago; write autograd.test_util.check_grads(fun, modes=['rev'], order=1)(x)"
    )
