"""HIPS autograd's cached graphs by name. A tape is the graph here, so that nothing is cached and nothing can be out of date."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

from autograd.errors import NotTrackedError
from autograd.tracer import Node
from autograd.wrap_util import wraps

__all__ = ["ConstGraphNode", "FullGraphNode", "const_graph", "const_graph_unary", "full_graph"]


def const_graph(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """``fun`` with its first arguments given, promised to do the same operations at every call.

    HIPS autograd replays the operations of the first call. Here the function itself runs at every call: its value is the same
    where the promise holds, and right where it does not. The plan of the backward pass is cached anyway.

    >>> const_graph(lambda a, x: a * x, 2.0)(3.0)
    6.0
    """
    return wraps(fun)(partial(fun, *args, **kwargs))  # type: ignore[no-any-return]


def const_graph_unary(fun: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """``fun``, promised to do the same operations at every call."""
    return const_graph(fun)


def full_graph(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> NoReturn:
    """Not served; raises NotTrackedError that says how to get the graph of a run."""
    raise NotTrackedError(
        "full_graph: a graph is the tape's: run the function inside `with autograd.Tape(keep='all') as tape:` on what tape.watch"
        " returned, and take tape.nodes, tape.graph() or autograd.viz"
    )


class ConstGraphNode(Node):
    """The name of a kind of node that is not made here."""


class FullGraphNode(Node):
    """The name of a kind of node that is not made here."""
