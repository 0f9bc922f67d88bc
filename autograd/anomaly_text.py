"""What anomaly mode says: the elements that are not finite, those that they were made of, and a next step for the kernel.

Imported only when there is something to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np

from autograd.tensor import innermost_value

Place = tuple[int, ...]
Region = tuple[int | slice, ...]

LONGEST_ATTRIBUTE = 40
"""Characters beyond which an attribute is left out."""

SHORTEST = 4
"""Elements beyond which only the smallest and the largest are shown."""

_DROPPED = "where() computes both of its branches: choose the argument first, {name}(where(mask, x, 1.0)), then the result"
_RANGE = "the result is beyond the largest {dtype}, {largest:.3g}: "
_EDGE = "the slope is infinite at the edge of the domain, -1 and 1: clip the argument a little inside of it"
_ROOT = (
    "the slope of a root is infinite at 0: add a small number under the root, or choose the argument first,"
    " {name}(where(x > 0, x, 1.0)), under a where(); the length of a vector, linalg.norm(x), has the slope 0 at 0"
)
_LOG = (
    "log is -inf at 0 and undefined below: clip(x, smallest, None) first, or use log1p(x) for log(1 + x), xlogy(a, x) for"
    " a * log(x), logsumexp or log_softmax for the log of a sum of exponentials; " + _DROPPED
)
_ZERO_DIVISION = (
    "divided by 0: choose the denominator first, x / where(d == 0, 1.0, d), and the result with a second where(); or add a small"
    " number to it"
)
_OVERFLOW = _RANGE + "scale the numbers, or work with their logarithms"
_EXPONENT = _RANGE + "subtract the largest exponent first (logsumexp and softmax do), or use log1p, expm1, logaddexp or sigmoid"
_EQUAL = "the matrix is singular, or two of its eigenvalues or singular values are equal: add a small multiple of the identity"
_EMPTY = "there are too few elements: a mean needs one, a variance more than ddof; or " + _RANGE + "scale the numbers"

_FORWARD = {
    **dict.fromkeys(("log", "log2", "log10", "log1p"), _LOG),
    **dict.fromkeys(("divide", "reciprocal", "remainder", "fmod", "floor_divide"), _ZERO_DIVISION),
    **dict.fromkeys(("exp", "exp2", "expm1", "sinh", "cosh"), _EXPONENT),
    **dict.fromkeys(("mean", "var", "std"), _EMPTY),
    **dict.fromkeys(("arcsin", "arccos", "arctanh"), "defined from -1 to 1 alone: clip the argument first; " + _DROPPED),
    **dict.fromkeys(("prod", "cumprod"), _RANGE + "add logarithms instead: exp(sum(log(x)))"),
    **dict.fromkeys(("gamma", "gammaln", "psi"), "there is a pole at 0 and at each negative integer; " + _DROPPED),
    **dict.fromkeys(("erfinv", "ndtri", "logit"), "infinite at the edges of its domain: clip the argument a little inside of it"),
    "sqrt": "undefined below 0: clip(x, 0, None) first, or take absolute(x); " + _DROPPED,
    "power": (
        "0 to a negative power is infinite, a negative number to a fraction undefined, and a large one may be beyond the largest"
        " {dtype}: choose the base first, where(x > 0, x, 1.0) ** p"
    ),
    "arccosh": "defined from 1 on: clip the argument first; " + _DROPPED,
    "det": _RANGE + "use slogdet, which gives its logarithm",
    "slogdet": _EQUAL,
    "inv": _EQUAL,
    "solve": _EQUAL,
    "astype": _RANGE + "stay with the wider dtype, or scale the numbers",
}

_BACKWARD = {
    **dict.fromkeys(("sqrt", "cbrt"), _ROOT),
    **dict.fromkeys(("arcsin", "arccos", "arctanh"), _EDGE),
    **dict.fromkeys(("log", "log2", "log10", "log1p"), "the slope of log is 1/x, infinite at 0: clip(x, smallest, None) first"),
    **dict.fromkeys(("divide", "reciprocal"), _ZERO_DIVISION),
    **dict.fromkeys(("inv", "solve", "eigh", "eig", "svd", "qr", "cholesky", "slogdet", "pinv"), _EQUAL),
    **dict.fromkeys(("std", "var"), "there are too few elements, or all are equal: add a small number under the root"),
    "power": (
        "the slope of x ** p is infinite at 0 for p < 1, and the slope in p is log(x), of which 0 and negative numbers have none:"
        " choose the base first, where(x > 0, x, 1.0) ** p, under a where()"
    ),
    "arccosh": "the slope is infinite at 1: clip the argument a little above it",
    "prod": "the product of the other elements is beyond the largest {dtype}: add logarithms instead",
}

_DIVISORS = {"divide": "x2", "remainder": "x2", "fmod": "x2", "floor_divide": "x2", "reciprocal": "x"}
"""Where an infinite result means a denominator of 0; if it is not 0, the quotient was too large."""

_OF_YOURS = {
    "custom_gradient": "the function is yours: look at its value and at the gradient that it returns",
    "primitive": "the function is yours: look at its value and at the rules that defvjp gave it",
    "primitive_with_jvp": "the function is yours: look at its value and at the rules that defvjp and defjvp gave it",
}


@dataclass(frozen=True, slots=True)
class Anomaly:
    """Where NaN or inf arose out of finite input; ``AnomalyError.anomaly``, and ``str`` of it is the message.

    mode         "forward", "backward", or "forward mode" for a tangent
    input_name   the input whose gradient it is; "" except backward
    indices      the first elements that are not finite, of the output, of the gradient or of the tangent
    count        how many there are
    node_id      the record on its tape
    source_line  the caller's line that recorded it, "file:line: text"; "" where it was recorded before the block
    scope        the scope of the tape
    """

    kernel_name: str
    backend_name: str
    mode: str
    input_name: str
    indices: tuple[tuple[int, ...], ...]
    count: int
    node_id: int
    source_line: str
    scope: str
    text: str

    def __str__(self) -> str:
        return self.text


def message(
    *,
    heading: str,
    name: str,
    mode: str,
    value: np.ndarray[Any, Any],
    places: Sequence[Place],
    count: int,
    label: str,
    shape: Place,
    n_batch: int,
    operands: Sequence[tuple[str, Any]],
    attrs: Mapping[str, Any],
    shown_attrs: Mapping[str, Any],
    elementwise: bool,
    recorded: Sequence[str],
) -> str:
    """The whole message; ``places``: the first elements of ``value`` that are not finite; ``shape``: of what has the label."""
    arrays = [(each, np.asarray(innermost_value(operand))) for each, operand in operands]
    arrays = [(each, array) for each, array in arrays if array.dtype.kind in "fciub"]
    lines = [f"{heading} made {count} of {value.size} elements not finite, out of finite input"]
    made_of = []
    for place in places:
        regions = [_region(name, attrs, elementwise, place, value.shape, each.shape, n, n_batch) for n, each in arrays]
        made_of.append([f"    {n}{_spell(each, region)}" for (n, each), region in zip(arrays, regions, strict=True)])
    for number, place in enumerate(places):
        row = f" in row {_spell_place(place[:n_batch])}" if n_batch else ""
        own = broadcast_place(place[n_batch:], shape)
        shown = made_of[number] if made_of[number] not in made_of[number + 1 :] else []  # once where it is the same for several
        lines.append(f"  {label}{_spell_place(own)}{row} = {value[place]!s}{', from' if shown else ''}")
        lines += shown
    if count > len(places):
        lines.append(f"  ... and {count - len(places)} more")
    spelled = [f"{each}={attr!r}" for each, attr in shown_attrs.items() if not callable(attr)]
    short = [each for each in spelled if len(each) <= LONGEST_ATTRIBUTE]
    if short:
        lines.append(f"  attributes: {', '.join(short)}")
    lines += [f"  {each}" for each in recorded]
    advice = _advice(name, mode, value, places[0], dict(arrays), elementwise)
    if advice:
        lines.append(fill(f"next step: {advice}", 110, initial_indent="  ", subsequent_indent="    "))
    if mode == "forward":
        lines.append("  where this is meant to happen, detect_anomaly(forward=False) looks at gradients alone")
    return "\n".join(lines)


def _advice(name: str, mode: str, value: np.ndarray[Any, Any], place: Place, arrays: Mapping[str, Any], elementwise: bool) -> str:
    if name in _OF_YOURS:
        return _OF_YOURS[name]
    table = _FORWARD if mode == "forward" else _BACKWARD
    overflow = _OVERFLOW if np.isinf(value[place]) else ""
    text = table.get(name, overflow or _FORWARD.get(name, ""))
    if mode == "forward" and elementwise and name in _DIVISORS and _DIVISORS[name] in arrays:
        divisor = arrays[_DIVISORS[name]]
        if divisor[broadcast_place(place, divisor.shape)] != 0:
            text = _OVERFLOW
    largest = np.finfo(value.dtype).max
    return text.format(name=name, dtype=value.dtype, largest=largest)


# -------------------------------------------------------------------------------------------------- places


def broadcast_place(place: Place, shape: tuple[int, ...]) -> Place:
    """Where an element of a broadcast result comes from in an operand of ``shape``.

    >>> broadcast_place((1, 2), (3, 1)), broadcast_place((1, 2), (4,)), broadcast_place((1, 2), ())
    ((1, 0), (2,), ())
    """
    tail = place[len(place) - len(shape) :]
    return tuple(0 if length == 1 else each for each, length in zip(tail, shape, strict=True))


def _region(
    name: str,
    attrs: Mapping[str, Any],
    elementwise: bool,
    place: Place,
    result: tuple[int, ...],
    operand: tuple[int, ...],
    operand_name: str,
    n_batch: int,
) -> Region:
    """The part of an operand that an element of a result is made of: one element, a stretch along ``axis``, a row, or all."""
    if elementwise:
        if len(operand) > len(result) or np.broadcast_shapes(operand, result) != result:
            return ()
        return broadcast_place(place, operand)
    if n_batch:
        return ()
    if name == "matmul" and operand_name in ("x1", "x2") and len(operand) >= 2 and len(result) >= 2:
        outer = broadcast_place(place[:-2], operand[:-2]) if len(operand) <= len(result) else ()
        return (*outer, place[-2], slice(None)) if operand_name == "x1" else (*outer, slice(None), place[-1])
    if "axis" not in attrs or attrs["axis"] is None:
        return ()
    return _along_axis(attrs["axis"], place, result, operand)


def _along_axis(axis: Any, place: Place, result: tuple[int, ...], operand: tuple[int, ...]) -> Region:
    """The stretch of an operand along ``axis`` for an element of a result that keeps the axis, has it as 1, or has lost it."""
    listed = axis if isinstance(axis, tuple | list) else (axis,)
    n_axes = max(len(result), len(operand))
    axes = {each % n_axes for each in listed} if n_axes else set()
    kept = [each for number, each in enumerate(place) if number not in axes] if len(result) == n_axes else list(place)
    if len(operand) == n_axes:
        others = iter(kept)
        region: Region = tuple(slice(None) if number in axes else next(others, 0) for number in range(n_axes))
    else:
        region = tuple(kept)
    fits = len(region) == len(operand) and all(type(r) is slice or r < n for r, n in zip(region, operand, strict=True))
    return region if fits else ()


def _spell(array: np.ndarray[Any, Any], region: Region) -> str:
    """A part of an array as text: an element, a few, or the smallest and the largest with their places."""
    part = np.asarray(array[region])
    where = _spell_place(region)
    if part.ndim == 0:
        return f"{where} = {part[()]!s}"
    if part.size <= SHORTEST:
        return f"{where} = {part.tolist()}"
    size = np.absolute(part) if part.dtype.kind == "c" else part
    low, high = (np.unravel_index(each(size), part.shape) for each in (np.argmin, np.argmax))
    return (
        f"{where} of shape {part.shape}: smallest {part[low]!s} at {_spell_place(_within(region, low))},"
        f" largest {part[high]!s} at {_spell_place(_within(region, high))}"
    )


def _within(region: Region, place: Sequence[Any]) -> Region:
    """A place in a region as a place in the whole array."""
    rest = iter(place)
    return (*(next(rest) if type(each) is slice else each for each in region), *rest)


def _spell_place(region: Region) -> str:
    return f"[{', '.join(':' if type(each) is slice else str(each) for each in region)}]" if region else ""
