"""Boxes and traces, the words of HIPS autograd's recorder, in terms of this library's: a box is a tensor, a trace is a tape.

Here lists, tuples and dictionaries are no boxes of their own: they hold tensors. What asks for a box takes them for one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from autograd.containers import flatten
from autograd.engine import innermost_tape
from autograd.errors import GradientError, NotTrackedError
from autograd.functional import make_jvp as _make_jvp
from autograd.functional import make_vjp as _make_vjp
from autograd.methods import add_methods
from autograd.primitive_rules import tensors_in
from autograd.primitives import bare as getval
from autograd.primitives import notrace_primitive, notrace_primitives, primitive, register_notrace
from autograd.tape import Tape
from autograd.tensor import Tensor
from autograd.util import subvals, toposort
from autograd.vspaces import vspace

__all__ = [
    "ArrayBox", "Box", "DictBox", "JVPNode", "Node", "SequenceBox", "TraceStack", "VJPNode", "box_type_mappings", "box_types",
    "getval", "isbox", "make_jvp", "make_vjp", "new_box", "notrace_primitive", "notrace_primitives", "primitive",
    "register_notrace", "subvals", "toposort", "trace", "trace_stack",
]  # fmt: skip


def isbox(x: Any) -> bool:
    """Whether ``x`` is a tensor, or a list, tuple or dictionary that holds one.

    >>> isbox(1.0), isbox([1.0])
    (False, False)
    """
    return type(x) is Tensor or (isinstance(x, list | tuple | dict) and next(tensors_in(x), None) is not None)


class _BoxType(type):
    """Says of tensors that they are instances, although their class is not derived from a box."""

    def __instancecheck__(cls, value: Any) -> bool:
        return cls.holds(value)  # type: ignore[attr-defined,no-any-return]  # Box has it, and so all that are made of it

    def __subclasscheck__(cls, kind: type) -> bool:
        return super().__subclasscheck__(kind) or (kind is Tensor and cls.__name__ in ("Box", "ArrayBox"))


class Box(metaclass=_BoxType):
    """What a value is while it is traced: ``isinstance(x, Box)`` holds for tensors and for containers that hold some.

    ``Box(value, trace, node)`` is ``new_box``; without a trace it is the value.
    """

    types: ClassVar[set[type]] = {Tensor}
    type_mappings: ClassVar[dict[type, Callable[..., Any]]] = {}

    def __new__(cls, value: Any, trace: Any = None, node: Any = None) -> Any:
        return value if trace is None else _watch(value, trace)

    @staticmethod
    def holds(value: Any) -> bool:
        """Whether a value counts as an instance."""
        return isbox(value)

    @classmethod
    def register(cls, value_type: type) -> None:
        """Make values of a type boxes of this class; raises NotTrackedError for a class that this library does not follow."""
        if not cls.__module__.startswith("autograd."):
            raise NotTrackedError(
                f"{cls.__name__}.register: a box class of your own is not followed here, where a traced array is a Tensor; make"
                f" {value_type.__name__} a container with autograd.register_container"
            )
        Box.type_mappings[value_type] = cls


class ArrayBox(Box):
    """``isinstance(x, ArrayBox)`` holds for tensors."""

    @staticmethod
    def holds(value: Any) -> bool:
        return type(value) is Tensor


class SequenceBox(Box):
    """``isinstance(x, SequenceBox)`` holds for lists and tuples that hold tensors."""

    @staticmethod
    def holds(value: Any) -> bool:
        return isinstance(value, list | tuple) and isbox(value)


class DictBox(Box):
    """``isinstance(x, DictBox)`` holds for dictionaries that hold tensors."""

    @staticmethod
    def holds(value: Any) -> bool:
        return isinstance(value, dict) and isbox(value)


box_types = Box.types
box_type_mappings = Box.type_mappings
for _type in (Tensor, np.ndarray, float, complex, *np.sctypeDict.values()):
    if _type in (Tensor, np.ndarray) or issubclass(_type, float | complex | np.inexact):
        ArrayBox.register(_type)
SequenceBox.register(list)
SequenceBox.register(tuple)
DictBox.register(dict)


def new_box(value: Any, trace: Any, node: Any) -> Any:
    """``value`` as a tensor on the tape ``trace``; a container as one that holds tensors. ``node`` says nothing here.

    Raises GradientError for a value that has no derivative.
    """
    maker = Box.type_mappings.get(type(value))
    return _watch(value, trace) if maker is None else maker(value, trace, node)


def _watch(value: Any, trace: Any) -> Any:
    if not isinstance(trace, Tape):
        raise GradientError(
            f"new_box: got the trace {trace!r}, expected what `with trace_stack.new_trace() as trace:` gives, a tape"
        )
    watched = trace.watch(value)
    return _BOXED[type(value)](watched) if type(value) in _BOXED else watched


class _Traced:
    """A container made by ``new_box``, which tells its trace as a tensor does."""

    _trace = property(lambda self: innermost_tape(flatten(self)[0]))
    _value = property(lambda self: getval(self))


class _TracedList(_Traced, list[Any]): ...


class _TracedTuple(_Traced, tuple[Any, ...]): ...


class _TracedDict(_Traced, dict[Any, Any]): ...


_BOXED: dict[type, Callable[[Any], Any]] = {list: _TracedList, tuple: _TracedTuple, dict: _TracedDict}


class TraceStack:
    """Where tapes are opened by the name that HIPS autograd has for it."""

    @contextmanager
    def new_trace(self) -> Iterator[Tape]:
        """A tape for the block; boxes made on it with ``new_box`` are its sources."""
        with Tape(persistent=True) as tape:
            yield tape


trace_stack = TraceStack()

# -------------------------------------------------------------------------------------------------- nodes


class Node:
    """A place in the graph of one trace. Here a tape holds the graph: ``tape.nodes``, ``tape.graph()``.

    Only the roots and ends of ``trace`` are made; raises NotTrackedError for a node in between.
    """

    parents: tuple[Any, ...] = ()

    def __init__(self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any) -> None:
        raise NotTrackedError(
            f"{type(self).__name__}: nodes are not made one by one here; record with Tape(keep='all') and read tape.nodes"
        )

    def initialize_root(self, *args: Any, **kwargs: Any) -> None:
        """Make this the node of a source."""
        raise NotImplementedError(f"{type(self).__name__} has no initialize_root")

    @classmethod
    def new_root(cls, *args: Any, **kwargs: Any) -> Any:
        """The node of a source."""
        root = cls.__new__(cls)
        root.initialize_root(*args, **kwargs)
        return root


class VJPNode(Node):
    """A node of reverse mode: ``vjp(g)`` gives the gradients of its parents; of the end of a trace, that of its root."""

    vjp: Callable[[Any], Any]

    def initialize_root(self) -> None:
        self.vjp = lambda g: ()


class JVPNode(Node):
    """A node of forward mode: ``g`` is the tangent of its value."""

    g: Any

    def initialize_root(self, g: Any) -> None:
        self.g = g


def trace(start_node: Node, fun: Callable[[Any], Any], x: Any) -> tuple[Any, Any]:
    """``(fun(x), its node)``, None for the node, and a warning, if the value does not depend on ``x``.

    Raises NotTrackedError for nodes of another kind than ``VJPNode`` and ``JVPNode``.

    >>> value, end = trace(VJPNode.new_root(), lambda x: x * x, 3.0)
    >>> value, end.vjp(1.0)
    (9.0, 6.0)
    """
    if isinstance(start_node, VJPNode):
        pull_back, y, depends = _reverse(fun, x)
        end: Any = VJPNode.new_root()
        end.vjp = pull_back
    elif isinstance(start_node, JVPNode):
        y, tangent, depends = _forward(fun, x, start_node.g)
        end = JVPNode.new_root(tangent)
    else:
        Node.__init__(start_node, None, None, None, None, None, None)
    end.parents = (start_node,)
    return (y, end) if depends else (y, None)


def make_vjp(fun: Callable[[Any], Any], x: Any) -> tuple[Callable[[Any], Any], Any]:
    """``(pull_back, fun(x))``; ``pull_back(g)`` is the gradient in ``x`` for a cotangent, zeros, and a warning, if there is none.

    >>> pull_back, y = make_vjp(lambda x: x * x, 3.0)
    >>> pull_back(1.0), y
    (6.0, 9.0)
    """
    pull_back, y, _ = _reverse(fun, x)
    return pull_back, y


def make_jvp(fun: Callable[[Any], Any], x: Any) -> Callable[[Any], tuple[Any, Any]]:
    """``push``; ``push(g)`` is ``(fun(x), its derivative along g)``, zeros, and a warning, if the value does not depend on ``x``.

    >>> make_jvp(lambda x: x * x, 3.0)(1.0)
    (9.0, 6.0)
    """
    return lambda g: _forward(fun, x, g)[:2]


def _reverse(fun: Callable[[Any], Any], x: Any) -> tuple[Callable[[Any], Any], Any, bool]:
    watched = _Watched(fun, x)
    try:
        return (*_make_vjp(watched)(x), True)
    except GradientError:
        if not watched.finished:
            raise
    _warn_of_independence()
    return lambda g: vspace(x).zeros(), watched.value, False


def _forward(fun: Callable[[Any], Any], x: Any, g: Any) -> tuple[Any, Any, bool]:
    watched = _Watched(fun, x)
    try:
        push = _make_jvp(watched)(x)
    except GradientError:
        if not watched.finished:
            raise
    else:
        return (*push(g), True)
    _warn_of_independence()
    return watched.value, vspace(watched.value).zeros(), False


class _Watched:
    """A function that remembers what it returned, to tell an error inside it from one of its result."""

    def __init__(self, fun: Callable[[Any], Any], x: Any) -> None:
        self.fun = fun
        self.finished = False
        self.value: Any = None
        for each in flatten(x)[0]:  # a package may have registered a type that refuses to be a source
            maker = Box.type_mappings.get(type(each))
            if maker is not None and not isinstance(maker, _BoxType):
                maker(each, None, None)

    def __call__(self, x: Any) -> Any:
        self.value = self.fun(x)
        self.finished = True
        return self.value


def _warn_of_independence() -> None:
    warnings.warn("Output seems independent of input.", stacklevel=4)


def _record_of(tensor: Tensor) -> Any:
    """The record of the operation that made a tensor, a ``TapeNode``; None for what was watched."""
    return next((each for each in tensor._tape.nodes if tensor._id in each.outputs), None)


add_methods({"_trace": property(lambda tensor: tensor._tape), "_node": property(_record_of)})
