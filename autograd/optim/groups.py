"""Different optimisers for different parameters, chosen by their names; and none at all for some of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autograd.containers import flatten
from autograd.errors import OptimiserError
from autograd.optim.leaves import Leaves
from autograd.optim.names import matches
from autograd.optim.optimiser import State


@dataclass(frozen=True, slots=True)
class Groups:
    """What ``groups`` makes: pairs of a pattern and an optimiser; the first pattern that a name fits decides."""

    members: tuple[tuple[str, Any], ...]

    def is_frozen(self, name: str) -> bool:
        """Whether the parameter of this name stays as it is."""
        return any(type(member) is Frozen for member in [each for pattern, each in self.members if matches(name, pattern)][:1])

    def init(self, model: Any) -> State:
        """The state: for each pattern that of its optimiser."""
        parts = _Parts(self, model)
        state = State({pattern: member.init(part) for (pattern, member), part in zip(self.members, parts.models, strict=True)})
        state._layout = parts
        return state

    def update(self, model: Any, gradient: Any, state: Mapping[str, Any]) -> tuple[Any, State]:
        """One step of every optimiser; as ``Optimiser.update``. Nothing is changed if a gradient or parameter is refused."""
        _check_patterns(state, [pattern for pattern, _ in self.members])
        current = state if type(state) is State else State(state)
        parts = getattr(current, "_layout", None)
        if not isinstance(parts, _Parts) or not parts.holds(self, model):
            parts = current._layout = _Parts(self, model)
        leaves = parts.leaves
        gradients = leaves.gradients(gradient)
        leaves.check_kinds(gradients)
        leaves.check_writable()
        for (pattern, member), part, numbers in zip(self.members, parts.models, parts.numbers, strict=True):
            own = {leaves.names[n]: gradients[n] for n in numbers}
            changed, current[pattern] = member.update(part, own, current[pattern])
            if changed is not part:
                part.update(changed)
                for number, each in zip(numbers, changed.values(), strict=True):
                    leaves.values[number] = each
        return model if leaves.in_place else flatten(model)[1].rebuild(list(leaves.values)), current


class _Parts:
    """The parameters of a model, divided among the members of a group."""

    def __init__(self, groups: Groups, model: Any) -> None:
        self._patterns = patterns = [pattern for pattern, _ in groups.members]
        names = flatten(model)[1].names()
        chosen = [next((n for n, pattern in enumerate(patterns) if matches(name, pattern)), None) for name in names]
        for pattern in patterns:
            if not any(matches(name, pattern) for name in names):
                raise OptimiserError(f"groups: the pattern {pattern!r} fits no parameter; the names are {names}")
        frozen = [name for name, n in zip(names, chosen, strict=True) if n is not None and type(groups.members[n][1]) is Frozen]
        self.leaves = Leaves("groups", model, frozen)
        left = [names[number] for number in self.leaves.trained if chosen[number] is None]
        if left:
            raise OptimiserError(f"groups: no pattern of {patterns} fits {left}; add a last pattern '*', or freeze them")
        self.numbers = [[n for n, place in enumerate(chosen) if place == member] for member in range(len(patterns))]
        self.models: list[dict[str, Any]] = [{names[n]: self.leaves.values[n] for n in numbers} for numbers in self.numbers]

    def holds(self, groups: Groups, model: Any) -> bool:
        return [pattern for pattern, _ in groups.members] == self._patterns and self.leaves.are_those_of(model)


def _check_patterns(state: Any, patterns: list[str]) -> None:
    if not isinstance(state, Mapping) or set(state) != set(patterns):
        got = sorted(map(str, state)) if isinstance(state, Mapping) else type(state).__name__
        raise OptimiserError(f"groups: the state has {got}, expected one for each of {patterns}; make it with init(model)")


@dataclass(frozen=True, slots=True)
class Frozen:
    """An optimiser that leaves its parameters as they are; ``freeze`` uses it.

    >>> from autograd.optim import SGD, groups
    >>> groups({"*.bias": Frozen(), "*": SGD(0.1)}).init({"weight": 1.0, "bias": 0.0})
    {'*.bias': {}, '*': {'steps': 0}}
    """

    def init(self, model: Any) -> State:
        """There is nothing to remember."""
        return State()

    def update(self, model: Any, gradient: Any, state: Mapping[str, Any]) -> tuple[Any, Any]:
        """The model as it is."""
        return model, state


def groups(members: Mapping[str, Any]) -> Groups:
    """An optimiser that hands each parameter to another one, by the first pattern that its name fits.

    Names are paths with dots, such as ``layers.0.weight``; in a pattern ``*`` stands for anything, dots included, and ``*.bias``
    also fits ``bias`` itself. Raises OptimiserError, when it meets a model, for a parameter that no pattern fits, and for a
    pattern that fits no parameter.

    >>> import numpy as np
    >>> from autograd.optim import SGD
    >>> model = {"weight": np.array([1.0]), "bias": np.array([1.0])}
    >>> optimiser = groups({"*.bias": SGD(0.5), "*": SGD(0.25)})
    >>> optimiser.update(model, {"weight": np.array([1.0]), "bias": np.array([1.0])}, optimiser.init(model))[0]
    {'weight': array([0.75]), 'bias': array([0.5])}
    """
    if not members:
        raise OptimiserError("groups: got no patterns, expected such as {'*.bias': SGD(0.1), '*': Adam()}")
    for pattern, member in members.items():
        if not isinstance(pattern, str) or not hasattr(member, "update"):
            raise OptimiserError(f"groups: got {pattern!r}: {member!r:.60}, expected a pattern and an optimiser")
    return Groups(tuple(members.items()))


def freeze(optimiser: Any, *patterns: str) -> Groups:
    """An optimiser that leaves the parameters alone whose names fit one of the patterns, as ``groups`` understands them.

    >>> import numpy as np
    >>> from autograd.optim import SGD
    >>> model = {"weight": np.array([1.0]), "bias": np.array([1.0])}
    >>> optimiser = freeze(SGD(0.25), "bias")
    >>> optimiser.update(model, {"weight": np.array([1.0]), "bias": np.array([1.0])}, optimiser.init(model))[0]
    {'weight': array([0.75]), 'bias': array([1.])}
    """
    if not patterns or not all(isinstance(each, str) for each in patterns):
        raise OptimiserError(f"freeze: got the patterns {patterns}, expected strings such as 'layers.0.*'")
    if "*" in patterns:
        raise OptimiserError("freeze: the pattern '*' freezes every parameter; there is nothing left to train")
    return groups({**dict.fromkeys(patterns, Frozen()), "*": optimiser})
