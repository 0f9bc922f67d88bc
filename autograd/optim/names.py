"""Which names fit a pattern, and whether a gradient has the structure and names of its model."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from autograd.containers import flatten, is_container
from autograd.errors import OptimiserError
from registry.errors import close_matches


def matches(name: str, pattern: str) -> bool:
    """Whether a name fits a pattern, as file names do in a shell; ``*.bias`` also fits ``bias`` itself.

    >>> matches("layers.0.bias", "*.bias"), matches("bias", "*.bias"), matches("layers.10.bias", "layers.1.*")
    (True, True, False)
    """
    return fnmatchcase(name, pattern) or fnmatchcase("." + name, pattern)


class Outline:
    """What containers a model is made of; ``leaves`` takes others of the same kind apart, in a third of ``flatten``'s time."""

    __slots__ = ("_children", "_kind", "_steps")

    def __init__(self, model: Any) -> None:
        self._kind = type(model)
        self._children: list[Outline | None] | None = None
        if self._kind is dict or self._kind is list or self._kind is tuple:
            values = list(model.values() if self._kind is dict else model)
            self._steps: list[Any] = list(model) if self._kind is dict else [None] * len(values)
            if any(is_container(each) for each in values):
                self._children = [Outline(each) if is_container(each) else None for each in values]
        else:
            self._steps = flatten(model)[1].paths()

    def leaves(self, value: Any) -> list[Any] | None:
        """The leaves of a container of this kind, in order; None for one of another kind, or whose keys stand in another order.

        What is returned may be the container itself.
        """
        if self._children is None and type(value) is self._kind:
            if self._kind is list and len(value) == len(self._steps):
                return value  # type: ignore[no-any-return]
            if self._kind is dict and [*value] == self._steps:
                return [*value.values()]
        found: list[Any] = []
        return found if self._collect(value, found) else None

    def _collect(self, value: Any, found: list[Any]) -> bool:
        kind = self._kind
        if type(value) is not kind:
            return False
        if kind is dict:
            if [*value] != self._steps:
                return False
            values = value.values()
        elif kind is list or kind is tuple:
            if len(value) != len(self._steps):
                return False
            values = value
        else:
            leaves, structure = flatten(value)
            found += leaves
            return structure.paths() == self._steps
        if self._children is None:
            found += values
            return True
        for each, child in zip(values, self._children, strict=True):
            if child is None:
                found.append(each)
            elif not child._collect(each, found):
                return False
        return True


def gradients_by_name(who: str, gradient: Any, names: list[str], trained: set[str]) -> list[Any]:
    """The gradient of each leaf, whatever the order in which it comes: as the model has it, or as a map of names to gradients,
    or to thunks that return them. Of leaves that are not trained there need be none.

    Raises OptimiserError for a gradient of other names.
    """
    leaves, structure = flatten(gradient)
    given = dict(zip(structure.names(), leaves, strict=True))
    if isinstance(gradient, Mapping) and set(gradient) <= set(names):
        given = {name: each() if callable(each) else each for name, each in gradient.items()}
    surplus = [name for name in given if name not in names]
    missing = [name for name in names if name in trained and name not in given]
    if surplus or missing:
        parts = [f"it has none of {missing}"] if missing else []
        if surplus:
            parts.append(f"the model has no {surplus}.{close_matches(surplus[0], names)}".rstrip("."))
        raise OptimiserError(
            f"{who}: the gradient is not that of this model: {' and '.join(parts)}; pass what grad or value_and_grad returned for"
            f" the model itself. Its parameters are {names}"
        )
    return [given.get(name) for name in names]
