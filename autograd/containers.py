"""Containers: flatten nested structures to a list of leaves, and build them again around other leaves.

List, tuple, dict, namedtuple and dataclass are known; other types join with ``register_container``. Each leaf has a
readable path (``['layers'][0].weight``) for error messages.
"""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

Flattener = Callable[[Any], tuple[list[Any], list[str]]]
"""``container -> (children, the path step of each child)``."""

Rebuilder = Callable[[Any, list[Any]], Any]
"""``(the original container, new children) -> the new container``."""

_registered: dict[type, tuple[Flattener, Rebuilder]] = {}


class Structure:
    """The shape of a container without its leaves: ``rebuild`` puts other leaves in their places."""

    __slots__ = ("_children", "_node", "_rebuild", "_steps", "n_leaves")

    def __init__(self, node: Any, rebuild: Rebuilder | None, children: list[Structure], steps: list[str], n_leaves: int) -> None:
        self._node = node
        self._rebuild = rebuild
        self._children = children
        self._steps = steps
        self.n_leaves = n_leaves

    @property
    def is_leaf(self) -> bool:
        """Whether the whole is one leaf and no container at all."""
        return self._rebuild is None

    def rebuild(self, leaves: Sequence[Any]) -> Any:
        """The container with these leaves, in the order ``flatten`` gave them."""
        if len(leaves) != self.n_leaves:
            raise ValueError(f"rebuild: got {len(leaves)} leaves, expected {self.n_leaves}")
        if self._rebuild is not None and self.n_leaves == len(self._children) == self._children.count(_LEAF):
            return self._rebuild(self._node, list(leaves))
        return self._take(iter(leaves))

    def paths(self, start: str = "") -> list[str]:
        """A readable path to each leaf, in order.

        >>> flatten({"w": [1.0, 2.0], "b": 3.0})[1].paths("params")
        ["params['w'][0]", "params['w'][1]", "params['b']"]
        """
        if self._rebuild is None:
            return [start]
        if self.n_leaves == len(self._steps) == self._children.count(_LEAF):
            return [start + step for step in self._steps] if start else self._steps
        paths: list[str] = []
        for child, step in zip(self._children, self._steps, strict=True):
            paths += [start + step] if child is _LEAF else child.paths(start + step)
        return paths

    def names(self) -> list[str]:
        """A name for each leaf, in order: its path with dots. Raises ValueError if two leaves come to have one name.

        >>> flatten({"layers": [1.0, 2.0], "scale": 3.0})[1].names()
        ['layers.0', 'layers.1', 'scale']
        """
        names = [_IN_BRACKETS.sub(r".\1\2\3", path).removeprefix(".") for path in self.paths()]
        if len(set(names)) < len(names):
            twice = next(each for each in names if names.count(each) > 1)
            raise ValueError(f"two leaves have the name {twice!r}; give the keys of the dicts that hold them other names")
        return names

    def matches(self, other: Structure) -> bool:
        """Whether both have leaves at the same paths in the same order.

        >>> flatten({"a": 1.0, "b": 2.0})[1].matches(flatten({"b": 1.0, "a": 2.0})[1])
        False
        """
        if self is other:
            return True
        if self._rebuild is None or other._rebuild is None or self._steps != other._steps:
            return False
        mine, theirs = self._children, other._children
        return mine == theirs or all(map(Structure.matches, mine, theirs))

    def without_leaves(self) -> Structure:
        """The same structure, no longer holding the container that it was taken from (unless that is of a registered type)."""
        if self._rebuild is None:
            return self
        node = self._node
        if self._rebuild is _DATACLASS[1]:
            node = object.__new__(type(node))  # ``replace`` asks it for nothing but its type
        elif type(node) not in _registered:
            node = self._rebuild(node, [None] * len(self._children))
        return Structure(node, self._rebuild, [each.without_leaves() for each in self._children], self._steps, self.n_leaves)

    def _take(self, leaves: Iterator[Any]) -> Any:
        if self._rebuild is None:
            return next(leaves)
        children = [next(leaves) if child is _LEAF else child._take(leaves) for child in self._children]
        return self._rebuild(self._node, children)


_LEAF = Structure(None, None, [], [], 1)

_IN_BRACKETS = re.compile(r"""\[(?:'([^']*)'|"([^"]*)"|([^\]]*))\]""")
"""A step of a path that is a key or a position."""


def flatten(container: Any) -> tuple[list[Any], Structure]:
    """The leaves of a nested container, in order, and its structure.

    >>> leaves, structure = flatten({"w": [1.0, 2.0], "b": 3.0})
    >>> leaves
    [1.0, 2.0, 3.0]
    >>> structure.rebuild([10.0, 20.0, 30.0])
    {'w': [10.0, 20.0], 'b': 30.0}
    """
    leaves: list[Any] = []
    known = _handlers(type(container))
    if known is None:
        return [container], _LEAF
    return leaves, _flatten(container, known, leaves)


def _flatten(container: Any, known: tuple[Flattener, Rebuilder], leaves: list[Any]) -> Structure:
    before = len(leaves)
    children, steps = known[0](container)
    if not any(map(_handlers, set(map(type, children)))):  # no container inside: the flat list of parameters of most models
        leaves += children
        return Structure(container, known[1], [_LEAF] * len(children), steps, len(children))
    structures = []
    for child in children:
        inside = _handlers(type(child))
        if inside is None:
            leaves.append(child)
            structures.append(_LEAF)
        else:
            structures.append(_flatten(child, inside, leaves))
    return Structure(container, known[1], structures, steps, len(leaves) - before)


def is_container(value: Any) -> bool:
    """Whether ``flatten`` would look inside.

    >>> is_container((1.0, 2.0)), is_container(1.0)
    (True, False)
    """
    return _handlers(type(value)) is not None


def register_container(container_type: type, flattener: Flattener, rebuilder: Rebuilder) -> None:
    """Make a type of your own a container.

    ``flattener(c)`` gives the children and the path step of each (``['.scale', '.shift']``); ``rebuilder(c, children)``
    builds a new one. Raises ValueError if the type is a container already.
    """
    if container_type in _registered or container_type in _BUILT_IN:
        raise ValueError(f"register_container: {container_type.__name__} is a container already")
    _registered[container_type] = (flattener, rebuilder)
    _handlers.cache_clear()


def unregister_container(container_type: type) -> None:
    """Undo ``register_container``; raises ValueError if the type was not registered."""
    if container_type not in _registered:
        raise ValueError(f"unregister_container: {container_type.__name__} is not registered")
    del _registered[container_type]
    _handlers.cache_clear()


_POSITIONS = [f"[{position}]" for position in range(64)]


def _sequence(container: Sequence[Any]) -> tuple[list[Any], list[str]]:
    length = len(container)
    if length <= len(_POSITIONS):
        return list(container), _POSITIONS[:length]
    return list(container), [f"[{position}]" for position in range(length)]


def _mapping(container: dict[Any, Any]) -> tuple[list[Any], list[str]]:
    return list(container.values()), [f"[{key!r}]" for key in container]


def _namedtuple(container: Any) -> tuple[list[Any], list[str]]:
    return list(container), [f".{name}" for name in container._fields]


def _dataclass(container: Any) -> tuple[list[Any], list[str]]:
    names = [field.name for field in dataclasses.fields(container) if field.init]
    return [getattr(container, name) for name in names], [f".{name}" for name in names]


def _rebuild_mapping(container: Any, children: list[Any]) -> Any:
    if type(container) is dict:
        return dict(zip(container, children, strict=True))
    rebuilt = copy.copy(container)  # keeps what a subclass adds, such as the default of a defaultdict
    for key, child in zip(container, children, strict=True):
        rebuilt[key] = child
    return rebuilt


def _rebuild_dataclass(container: Any, children: list[Any]) -> Any:
    names = [field.name for field in dataclasses.fields(container) if field.init]
    return dataclasses.replace(container, **dict(zip(names, children, strict=True)))


_BUILT_IN: dict[type, tuple[Flattener, Rebuilder]] = {
    list: (_sequence, lambda container, children: children),
    tuple: (_sequence, lambda container, children: tuple(children)),
    dict: (_mapping, _rebuild_mapping),
}
_NAMEDTUPLE: tuple[Flattener, Rebuilder] = (_namedtuple, lambda container, children: type(container)._make(children))
_DATACLASS: tuple[Flattener, Rebuilder] = (_dataclass, _rebuild_dataclass)
_SUBCLASS: tuple[tuple[type, tuple[Flattener, Rebuilder]], ...] = (
    (dict, (_mapping, _rebuild_mapping)),
    (list, (_sequence, lambda container, children: type(container)(children))),
    (tuple, (_sequence, lambda container, children: type(container)(children))),
)


def _find_handlers(kind: type) -> tuple[Flattener, Rebuilder] | None:
    """How to take a type apart and build it again; None for a leaf."""
    known = _BUILT_IN.get(kind) or _registered.get(kind)
    if known is not None:
        return known
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return _NAMEDTUPLE
    if dataclasses.is_dataclass(kind):
        return _DATACLASS
    for base, handlers in _SUBCLASS:
        if issubclass(kind, base):
            return handlers
    return None


_handlers: Any = lru_cache(maxsize=256)(_find_handlers)
