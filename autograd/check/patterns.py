"""Patterns between a gradient that was found and the right one, as mistakes make them: sign, factor, order, precision.

Each function takes the two arrays, of one shape, and gives its words if they fit, else None.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

WITHIN = 1e-5
"""How nearly one factor must fit all elements, where these are known in double precision."""

NEAR = 1e-4
"""How near two gradients are that are the same, relative to the largest element."""


def near(a: Array, b: Array) -> bool:
    """Whether two arrays are the same, relative to the largest element of the second."""
    size = float(np.max(np.abs(b), initial=0.0))
    return a.shape == b.shape and isfinite(size) and bool(np.all(np.abs(a - b) <= NEAR * size))


def not_finite(found: Array) -> str | None:
    """NaN or inf in what was found."""
    bad = int((~np.isfinite(found)).sum())
    return f"not finite in {bad} of {found.size} elements, where the derivative is" if bad else None


def zero(found: Array, wrong: Array) -> str | None:
    """Zeros where it is wrong."""
    if np.any(found[wrong]):
        return None
    if wrong.all() or not np.any(found):
        return "zero where it should not be: the rule gives 0 for every element"
    return f"zero where it should not be, in {int(wrong.sum())} of {found.size} elements"


def conjugate(found: Array, expected: Array) -> str | None:
    """The complex conjugate in place of the number."""
    both = min(np.max(np.abs(part), initial=0.0) for part in (expected.real, expected.imag))
    if both <= NEAR * np.max(np.abs(expected), initial=0.0) or not near(found, np.conj(expected)):
        return None  # of a number that is real or imaginary alone, the conjugate is itself or its negative
    return "missing conjugate: it is the complex conjugate of the right one"


def _ratio(found: Array, expected: Array, within: float) -> Any:
    """The one number that the right gradient is multiplied by, if there is one."""
    largest = np.unravel_index(np.argmax(np.abs(expected)), expected.shape)
    if expected[largest] == 0:
        return None
    factor = found[largest] / expected[largest]
    if factor == 0 or not np.all(np.abs(found - factor * expected) <= within * np.abs(factor * expected[largest])):
        return None
    return factor


def simple_factor(found: Array, expected: Array, repetitions: Sequence[int] = (), within: float = WITHIN) -> str | None:
    """A factor that is a mistake of its own kind: a sign, 2, or a mean in place of a sum over so many ``repetitions``."""
    by = _ratio(found, expected, within)
    if by is None:
        return None
    if abs(by + 1) < max(NEAR, within):
        return "wrong sign"
    for count in repetitions:
        if count > 1 and abs(by * count - 1) < NEAR:
            return f"missing un-broadcast: a mean over {count} repetitions in place of their sum"
    for simple, words in ((2.0, "factor 2: it is twice the right one"), (0.5, "factor 2: it is half of the right one")):
        if abs(by - simple) < max(NEAR, within):
            return words
    return None


def factor(found: Array, expected: Array, within: float = WITHIN) -> str | None:
    """One factor for all elements."""
    by = _ratio(found, expected, within)
    if by is None:
        return None
    if abs(by.imag) > NEAR * abs(by):
        return f"wrong by a factor of {by:.4g}"
    return f"wrong by a factor of {float(by.real):.{6 if within == WITHIN else 3}g}"


def order_of_elements(found: Array, expected: Array) -> str | None:
    """The right values at other places: transposed, reversed, or in another order."""
    if found.ndim >= 2:
        turned = np.swapaxes(expected, -1, -2)
        same = turned.shape == found.shape and near(found, turned)
        if same or near(found, expected.T.reshape(found.shape)) or near(found, turned.reshape(found.shape)):
            return "transposed"
    if found.ndim and found.size > 1:
        flipped = [np.flip(expected, axis) for axis in (*range(found.ndim), None)]
        if any(near(found, each) for each in flipped):
            return "reversed: the right values in the opposite order"
        if found.dtype.kind == "f" and near(np.sort(found, None), np.sort(expected, None)):
            return "the right values at the wrong elements"
    return None


def precision(found: Array, expected: Array) -> str | None:
    """Digits or parts lost to a dtype."""
    with np.errstate(all="ignore"):
        if found.dtype.kind == "c":
            return "wrong dtype: the imaginary part is lost" if near(found, expected.real.astype(found.dtype)) else None
        if np.any(expected != np.trunc(expected)) and np.array_equal(found, np.trunc(expected)):
            return "wrong dtype: its values are cut to whole numbers"
        single = np.max(np.abs(found - expected) / np.maximum(np.abs(expected), 1e-300), initial=0.0)
        if found.dtype == np.float64 and 1e-9 < single < 1e-6 and np.array_equal(found, found.astype(np.float32)):
            return "wrong dtype: it is computed in single precision"
    return None


def part(found: Array, expected: Array, wrong: Array) -> str | None:
    """Some elements alone."""
    count = int(wrong.sum())
    if count == wrong.size:
        return None
    here, there = found[wrong], expected[wrong]
    what = ""
    if np.all(there != 0):
        factors = here / there
        if np.allclose(factors, factors.flat[0], rtol=NEAR):
            by = factors.flat[0]
            what = ", by the wrong sign" if abs(by + 1) < NEAR else f", by a factor of {by:.4g}"
    return f"wrong in {count} of {wrong.size} elements{what}; the others are right"
