"""What layers say of inputs that do not fit: the layer, the input, what was got, what was expected, and what to do."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from autograd.tensor import innermost_value


def shape_of(x: Any) -> tuple[int, ...]:
    """The shape of an array, a tensor or a number."""
    return np.shape(innermost_value(x))


def wrong_shape(who: str, name: str, got: Any, expected: str, advice: str) -> ValueError:
    """The error for an input of the wrong shape.

    >>> print(wrong_shape("Linear", "x", (2, 3), "(..., 4)", "make the layer with n_in=3"))
    Linear: x has shape (2, 3), expected (..., 4); make the layer with n_in=3
    """
    return ValueError(f"{who}: {name} has shape {tuple(got)}, expected {expected}; {advice}")


def refuse_complex(who: str, *arrays: Any) -> None:
    """Raise TypeError for complex numbers, of which there is no greater and no variance."""
    for each in arrays:
        if np.iscomplexobj(innermost_value(each)):
            raise TypeError(f"{who}: got complex numbers, expected real ones; take numpy.real or numpy.abs of them first")


def positive(who: str, **numbers: Any) -> None:
    """Raise ValueError for a number that is not a whole one of at least 1."""
    for name, each in numbers.items():
        try:
            right = not isinstance(each, bool) and operator.index(each) >= 1
        except TypeError:
            right = False
        if not right:
            raise ValueError(f"{who}: got {name}={each!r}, expected a whole number of at least 1")


def fraction(who: str, **numbers: Any) -> None:
    """Raise ValueError for a number that is not between 0 and 1."""
    for name, each in numbers.items():
        if not 0 <= each <= 1:
            raise ValueError(f"{who}: got {name}={each!r}, expected a number from 0 to 1")


def needs_generator(who: str, rng: Any) -> None:
    """Raise TypeError for anything but a generator of random numbers."""
    if not isinstance(rng, np.random.Generator):
        raise TypeError(
            f"{who}: got rng={rng!r}, expected a numpy.random.Generator, since it draws random numbers in training; write"
            " model.train(x, numpy.random.default_rng(0)), or model(x) to evaluate"
        )


def pair(who: str, name: str, value: Any) -> tuple[int, int]:
    """A whole number for both axes, or one for each."""
    both = (value, value) if isinstance(value, int | np.integer) else tuple(value)
    if len(both) != 2:
        raise ValueError(f"{who}: got {name}={value!r}, expected a whole number or two of them, (rows, columns)")
    return int(both[0]), int(both[1])
