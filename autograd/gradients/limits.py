"""Limits that a rule cannot know from what it saved: how a cotangent changes with the value it belongs to. No family of its own.

For ``f(norm(x))`` at a vector of zeros, where ``f'`` is 0 as in ``norm(x)**2``, the gradient is ``(f'(y) / y) * x``, a quotient
0 / 0. Its limit is ``f''(0)``, and matters for the second derivative alone. Then the cotangent ``f'(y)`` was computed from ``y``
on the tape outside, and that tape can be asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd import operators as op
from autograd.backprop import pull_back
from autograd.dag import plan_for
from autograd.errors import GradientError
from autograd.tensor import Tensor, innermost_value


def slopes(d_value: Any, value: Any, directions: Any) -> Any:
    """For each of ``directions`` the derivative in ``value`` of ``sum(direction * d_value)``, by a walk over the tape of both.

    The walk leaves the tape as it is. None where ``d_value`` does not depend on ``value``: it is no tensor, or one of another
    tape.
    """
    if type(d_value) is not Tensor or type(value) is not Tensor or d_value._tape is not value._tape:
        return None
    tape, ids = value._tape, (value._id,)
    plan = plan_for(tape, d_value._id, ids)
    persistent, tape._persistent = tape._persistent, True  # it will be walked again
    try:
        (result,) = pull_back(tape, plan, d_value._id, directions, ids, directions.shape[:1])
    finally:
        tape._persistent = persistent
    return result


def levels(value: Any) -> int:
    """How many tapes a value is on.

    >>> levels(1.0)
    0
    """
    count = 0
    while type(value) is Tensor:
        value, count = value._value, count + 1
    return count


def curvature_at_zero(name: str, dy: Any, y: Any, *, smooth: bool = True, zero: Any = None) -> Any:
    """The limit of ``dy / y`` where ``y`` and its cotangent are both 0, and 0 elsewhere; None where there is no such place.

    ``y`` is the size of something, such as a norm: what the limit is multiplied with is 0 there, so this changes no first
    derivative; the second one of ``norm(x)**2`` needs it. ``smooth`` says that the square of ``y`` has one. ``zero`` marks where
    ``y`` is 0 but for rounding, if that is not to be read off ``y`` and ``dy``.

    Raises GradientError where there is no limit.
    """
    if type(dy) is not Tensor or type(y) is not Tensor:
        return None
    if zero is None:
        unknown = np.equal(innermost_value(y), 0) & np.equal(innermost_value(dy), 0)
    else:
        unknown = np.broadcast_to(np.reshape(zero, y.shape), dy.shape)
    if not unknown.any():
        return None
    n_batch = unknown.ndim - len(y.shape)
    rows = unknown.reshape((-1, *unknown.shape[n_batch:]))
    # For one direction of each batch there are two, in which sizes that mix, as in norm(x) * norm(y), cannot go unseen.
    weights = np.random.default_rng(0).uniform(1.0, 2.0, rows.shape[1:])
    directions = np.zeros((2, len(rows), *rows.shape), dy.dtype)
    for each, factor in zip(directions, (1.0, weights), strict=True):
        each[np.arange(len(rows)), np.arange(len(rows))] = rows * factor
    limits = slopes(dy, y, directions.reshape((2 * len(rows), *unknown.shape)))
    if limits is None:
        return None
    limit = limits[: len(rows)]
    if levels(y) > 2:
        raise GradientError(
            f"{name}: its fourth derivative at zero is not available, three are; write the function with sums of squares, or move"
            " away from zero"
        )
    found = innermost_value(limits)
    if not np.any(found):
        return None
    plain, weighted = found[: len(rows)][rows], found[len(rows) :][rows]
    mixed = np.abs(plain * np.broadcast_to(weights, rows.shape)[rows] - weighted)
    if not smooth or not np.all(mixed <= 1e-4 * np.abs(weighted).max()):  # nor is it where they are inf or NaN
        raise GradientError(
            f"{name}: this function of it has no second derivative at zero; expected a smooth function of the squares, such as"
            f" {name}(x)**2. Write it with sums of powers, or move away from zero"
        )
    return op.where(unknown, op.reshape(limit, shape=unknown.shape), 0.0)
