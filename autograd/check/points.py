"""Where to check a function of which nothing is said: its own word for it, its defaults, or random numbers that it takes."""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograd.check.gradient import fresh
from autograd.containers import flatten
from autograd.errors import GradientError
from autograd.tensor import Tensor, innermost_value

SHAPES: tuple[tuple[int, ...], ...] = ((3,), (2, 3), (), (3, 3))
"""Tried in turn. A vector first: a single number does not show mistakes of axes and of broadcasting."""

LARGEST_SHOWN = 12
"""Arrays of more elements are told by dtype and shape."""

_DRAWN: Any = object()
"""Stands among arguments for one that is to be drawn."""


@dataclass(frozen=True, slots=True)
class Point:
    """Arguments for one call of a function, by the names of its parameters, and where they come from.

    >>> print(Point({"x": np.array([0.5, 0.25])}, {}, "as given"))
    x = np.array([0.5 , 0.25]), as given
    """

    args: Mapping[str, Any]
    kwargs: Mapping[str, Any]
    origin: str

    def __str__(self) -> str:
        values = {**self.args, **self.kwargs}
        return "; ".join(f"{name} = {_written(value)}" for name, value in values.items()) + f", {self.origin}"


def points(f: Callable[..., Any], seed: int = 0) -> Iterator[Point]:
    """The points at which to check a function, best first; most callers need the first one alone.

    1. ``f.check_at``: a tuple of arguments, or the only argument;
    2. the defaults of its parameters, where each has one and a float is among them;
    3. random numbers for the parameters without a default, all of one shape of ``SHAPES``, of either sign or between 0 and 1:
       those at which the result of ``f`` is finite, then those at which it is not.

    Raises GradientError, with what ``f`` said last, if it takes none of them.

    >>> def area(width, height=2.0):
    ...     return width * height
    >>> first = next(points(area))
    >>> first.args["width"].shape, first.args["height"]
    ((3,), 2.0)
    """
    given = getattr(f, "check_at", None)
    if given is not None:
        yield point_of(f, given if isinstance(given, tuple) else (given,), "from its check_at")
        return
    choices = _arguments(f)
    if any(value is _DRAWN for each in choices for value in [*each.args.values(), *each.kwargs.values()]):
        yield from _that_run(f, choices, seed)
    elif any(has_derivative(value) for value in [*choices[0].args.values(), *choices[0].kwargs.values()]):
        yield choices[0]
    else:
        raise GradientError("it has no parameter without a default, and no float among its defaults: nothing to check")


def point_of(f: Callable[..., Any], values: tuple[Any, ...], origin: str) -> Point:
    """The point at which the parameters of a function have these values, in order.

    >>> dict(point_of(lambda x, *rest: x, (1.0, 2.0), "as given").args)
    {'x': 1.0, 'argument 1': 2.0}
    """
    names = [each.name for each in _signature(f) or () if each.kind in _POSITIONAL]
    return Point({names[k] if k < len(names) else f"argument {k}": value for k, value in enumerate(values)}, {}, origin)


def has_derivative(value: Any) -> bool:
    """Whether a float is among the leaves of a value.

    >>> has_derivative({"w": 1.0, "n": 3}), has_derivative(3)
    (True, False)
    """
    leaves = flatten(value)[0]
    floats = [each for each in leaves if isinstance(each, np.ndarray | np.generic | float | complex)]
    return any(np.asarray(each).dtype.kind in "fc" for each in floats)


def is_finite_at(f: Callable[..., Any], point: Point) -> bool:
    """Run a function on copies of its arguments; whether all floats that it returns are finite. Raises what it raises.

    >>> is_finite_at(np.log, Point({"x": 0.0}, {}, "as given"))
    False
    """
    leaves, structure = flatten((list(point.args.values()), dict(point.kwargs)))
    args, kwargs = structure.rebuild([each.copy() if isinstance(each, np.ndarray) else fresh(each) for each in leaves])
    with np.errstate(all="ignore"):
        results = [innermost_value(each) if isinstance(each, Tensor) else each for each in flatten(f(*args, **kwargs))[0]]
    return all(np.all(np.isfinite(each)) for each in results if has_derivative(each))


# ------------------------------------------------------------------------------------------------------- parameters


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _signature(f: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """The parameters of a function; None where it does not say, as a function written in C."""
    try:
        return list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        return None


def _arguments(f: Callable[..., Any]) -> list[Point]:
    """The ways to call a function: each parameter that is passed with its default, or as one that is to be drawn."""
    found = _signature(f)
    positional = [each for each in found or () if each.kind in _POSITIONAL]
    any_number = found is None or any(each.kind is each.VAR_POSITIONAL for each in found)
    if any_number and not positional:
        return [Point({f"argument {k}": _DRAWN for k in range(n)}, {}, "") for n in (1, 2, 3)]
    by_name = [each for each in found or () if each.kind is inspect.Parameter.KEYWORD_ONLY]
    n_passed = max((k + 1 for k, each in enumerate(positional) if _is_passed(each)), default=0)
    args = {each.name: _given(each) for each in positional[:n_passed]}
    kwargs = {each.name: _given(each) for each in by_name if _is_passed(each)}
    return [Point(args, kwargs, "its default" if len(args) + len(kwargs) == 1 else "its defaults")]


def _is_passed(parameter: inspect.Parameter) -> bool:
    """Whether a parameter is worth passing: one without a default has to be, one whose default is a setting need not."""
    return parameter.default is parameter.empty or has_derivative(parameter.default)


def _given(parameter: inspect.Parameter) -> Any:
    return _DRAWN if parameter.default is parameter.empty else parameter.default


# -------------------------------------------------------------------------------------------------------- random numbers


def _that_run(f: Callable[..., Any], choices: list[Point], seed: int) -> Iterator[Point]:
    """The points with random numbers at which a function runs: where its result is finite, then where it is not."""
    error: Exception | None = None
    runs = False
    not_finite = []
    for shape in SHAPES:
        for positive in (False, True):
            rng = np.random.default_rng(seed)
            for choice in choices:
                point = _drawn(choice, rng, shape, positive, seed)
                try:
                    finite = is_finite_at(f, point)
                except Exception as raised:
                    error = raised
                    continue
                runs = True
                if finite:
                    yield point
                else:
                    not_finite.append(point)
    yield from not_finite
    if not runs:
        raise GradientError(
            f"it takes no random numbers of shape {', '.join(map(str, SHAPES))}; the last time it raised"
            f" {type(error).__name__}: {error}"
        )


def _drawn(choice: Point, rng: np.random.Generator, shape: tuple[int, ...], positive: bool, seed: int) -> Point:
    """The point with random numbers of few digits, so that they can be read, and none of them near the kinks at 0 and 1."""

    def fill(values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: draw() if value is _DRAWN else value for name, value in values.items()}

    def draw() -> Any:
        numbers = np.round(rng.uniform(0.1, 0.9 if positive else 1.9, shape), 3)
        if not positive:
            numbers = numbers * np.resize([1.0, -1.0], shape) * rng.choice([-1.0, 1.0])
        return numbers if shape else float(numbers)

    numbers = "random numbers between 0 and 1" if positive else "random numbers"
    return Point(fill(choice.args), fill(choice.kwargs), f"{numbers} of shape {shape}, seed {seed}")


# -------------------------------------------------------------------------------------------------------- in words


def _written(value: Any) -> str:
    """A value as it is written in Python, on one line, where it is short."""
    if isinstance(value, np.ndarray) and value.size > LARGEST_SHOWN:
        return f"{value.dtype} array of shape {value.shape}"
    if isinstance(value, np.ndarray):
        return "np." + " ".join(repr(value).split())
    return " ".join(reprlib.repr(value).split())
