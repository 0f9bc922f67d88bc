"""Limits that a rule cannot know from what it saved: how a cotangent changes with the value it belongs to. No family of its own.

For ``f(norm(x))`` at a vector of zeros, where ``f'`` is 0 as in ``norm(x)**2``, the gradient is ``(f'(y) / y) * x``, a quotient
0 / 0. Its limit is ``f''(0)``, and matters for the second derivative alone. Then the cotangent ``f'(y)`` was computed from ``y``
on the tape outside, and that tape can be asked.
"""

from __future__ import annotations

from typing import Any

from autograd.backprop import pull_back
from autograd.dag import plan_for
from autograd.tensor import Tensor


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
