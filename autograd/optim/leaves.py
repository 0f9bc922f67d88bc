"""``Leaves``: the parameters of one model as an optimiser sees them, and what has to hold before it changes them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from operator import attrgetter, is_
from typing import Any, NoReturn

import numpy as np

from autograd.containers import flatten
from autograd.errors import InPlaceError, OptimiserError
from autograd.optim.names import Outline, gradients_by_name
from autograd.tensor import Tensor

Array = np.ndarray[Any, Any]


class Leaves:
    """The leaves of a model, in order.

    values        the leaves themselves; numbers among them are replaced when they change
    names         their names
    trained       the positions of those that are changed: floats and complex numbers, and arrays of them
    in_place      whether all of these are arrays, so that the model stays the object that it is
    """

    def __init__(self, who: str, model: Any, frozen: Collection[str] = ()) -> None:
        self.who = who
        self._outline = Outline(model)
        self.values, structure = flatten(model)
        self.values = list(self.values)  # that of a Module is its own
        self.names = structure.names()
        self._shapes = [getattr(each, "shape", None) for each in self.values]
        self.trained = [n for n, each in enumerate(self.values) if is_trained(each) and self.names[n] not in frozen]
        arrays = {self.names[n]: self.values[n] for n in self.trained if isinstance(self.values[n], np.ndarray)}
        self.in_place = len(arrays) == len(self.trained)
        self._arrays = list(arrays.values())
        for number in self.trained:
            if isinstance(self.values[number], Tensor):
                raise OptimiserError(
                    f"{who}: parameter {self.names[number]} is a Tensor of a tape; pass the model of plain arrays, which was"
                    " watched"
                )
        self.check_writable()
        _check_distinct(who, arrays)

    def are_those_of(self, model: Any) -> bool:
        """Whether a model has these very leaves."""
        values = self._outline.leaves(model)
        return values is not None and len(values) == len(self.values) and all(map(is_, values, self.values))

    def gradients(self, gradient: Any) -> list[Any]:
        """The gradient of each leaf, of its shape; raises OptimiserError if they are not those of this model, by name."""
        found = self._outline.leaves(gradient)
        if found is not None:
            try:
                if [each.shape for each in found] == self._shapes:
                    return found
            except AttributeError:
                pass
        if found is None or any(callable(each) for each in found):
            found = gradients_by_name(self.who, gradient, self.names, {self.names[n] for n in self.trained})
        found = list(found)
        for number in self.trained:
            found[number] = self._checked(number, found[number])
        return found

    def _checked(self, number: int, gradient: Any) -> Array:
        name, expected = self.names[number], np.shape(self.values[number])
        if isinstance(gradient, Tensor):
            self._refuse_tensor(number)
        if not isinstance(gradient, np.ndarray | np.generic) and type(gradient) not in (int, float, complex):
            got = type(gradient).__name__
            raise OptimiserError(f"{self.who}: the gradient of {name} is {got}, expected an array of shape {expected}")
        if np.shape(gradient) != expected:
            raise OptimiserError(
                f"{self.who}: the gradient of {name} has shape {np.shape(gradient)}, expected {expected}, as the parameter has"
            )
        return np.asarray(gradient)

    def check_writable(self) -> None:
        """Raise InPlaceError, before anything is changed, if a parameter cannot be."""
        if all(map(_writable, self._arrays)):
            return
        name = next(self.names[number] for number in self.trained if not _writable(np.asarray(self.values[number])))
        raise InPlaceError(
            f"{self.who}: parameter {name} is read-only: a tape may still need it (take its gradient before the update), or it"
            " was made so; then pass a model with copies of such arrays"
        )

    def check_kinds(self, gradients: list[Any]) -> None:
        """Raise OptimiserError for a gradient that is a tensor, or does not become the kind of number that its parameter is."""
        for number in self.trained:
            gradient, expected = gradients[number], dtype_of(self.values[number])
            if isinstance(gradient, Tensor):
                self._refuse_tensor(number)
            if gradient.dtype != expected and not np.can_cast(gradient.dtype, expected, "same_kind"):
                raise OptimiserError(
                    f"{self.who}: the gradient of {self.names[number]} has dtype {gradient.dtype}, expected {expected}, as the"
                    " parameter has"
                )

    def _refuse_tensor(self, number: int) -> NoReturn:
        raise OptimiserError(
            f"{self.who}: the gradient of {self.names[number]} is a Tensor; take it when the tape outside is closed"
        )


_writable = attrgetter("flags.writeable")


def is_trained(leaf: Any) -> bool:
    """Whether an optimiser changes a leaf: an array or number of floats or complex numbers."""
    return type(leaf) in (float, complex) or getattr(getattr(leaf, "dtype", None), "kind", "") in ("f", "c")


def dtype_of(leaf: Any) -> np.dtype[Any]:
    """The dtype of an array or number."""
    return np.dtype(getattr(leaf, "dtype", type(leaf)))


def _check_distinct(who: str, arrays: Mapping[str, Array]) -> None:
    """Raise OptimiserError where two parameters are one memory: both gradients would be applied to it."""
    first: dict[int, str] = {}
    pairs = [(first.setdefault(id(array), name), name) for name, array in arrays.items()]
    views = [name for name, array in arrays.items() if not array.flags.owndata]
    for name in arrays if views else ():
        others = views if arrays[name].flags.owndata else arrays
        pairs += [(name, other) for other in others if other != name and np.shares_memory(arrays[name], arrays[other])]
    for other, name in pairs:
        if other != name:
            raise OptimiserError(
                f"{who}: parameters {other} and {name} share their memory, and would be changed twice; hold such an array once,"
                " or copy it"
            )
