"""The walk along elementwise steps on large arrays, in blocks that fit the processor's cache.

In an elementwise operator each element of a gradient depends on that element of the cotangent alone. Where a plan ends in
such steps and all their results have one shape, they may therefore run on a few thousand elements at a time: what one step
makes, the next one finds in the cache, and only what was saved and the gradients themselves pass through memory.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from autograd.dag import NONE, Plan
from autograd.records import NO_ATTRS
from autograd.rules import all_finite
from autograd.tape import Tape

ndarray = np.ndarray

SMALLEST = 2**17
"""Elements of an array from which blocks pay."""

BLOCK = 2**14
"""Elements of one block: some ten arrays of that size fit a cache of one or two megabytes."""


def rows_of_a_block(tape: Tape, plan: Plan) -> int:
    """How many rows of the first axis a block has; 0 if the steps from ``plan.tail`` on cannot be walked in blocks."""
    shapes = tape._shapes
    shape: tuple[int, ...] = shapes[plan.numbers[plan.tail]]
    size = prod(shape)
    if size < SMALLEST or 2 * size > BLOCK * shape[0]:  # a single row could be broadcast where it must not be
        return 0
    for step in range(plan.tail, len(plan)):
        binding, at = plan.bindings[step], plan.saved_at[step]
        ids = (plan.numbers[step], plan.first[step], plan.second[step])
        if not binding.checked or any(shapes[each] != shape for each in ids if each != NONE):
            return 0
        for value in tape._saved[at : at + (binding.n_saved or 0)]:
            if type(value) is not ndarray and value is not None and not np.isscalar(value):
                return 0
    return BLOCK * shape[0] // size


def walk_in_blocks(
    tape: Tape, plan: Plan, walk_along: Callable[..., list[Any]], given: list[ndarray[Any, Any]], n_rows: int
) -> tuple[list[Any], bool]:
    """What the compiled steps return for the cotangents ``given`` to them, and whether all of it is finite."""
    shape = tape._shapes[plan.numbers[plan.tail]]
    values = list(tape._saved)
    cut = [
        (position, each)
        for position, each in enumerate(values)
        if type(each) is ndarray and each.ndim == len(shape) and each.shape[0] == shape[0]
    ]  # everything else is broadcast along the first axis
    results: list[Any] = []
    finite = True
    for start in range(0, shape[0], n_rows):
        rows = slice(start, start + n_rows)
        for position, each in cut:
            values[position] = each[rows]
        given_rows = [each[rows] for each in given]
        shapes = [given_rows[0].shape] * len(tape._shapes)
        parts = walk_along(None, given_rows, values, shapes, shapes, tape._dtypes, NO_ATTRS, (), False)
        finite = finite and all_finite(parts)
        if not start:
            results = [None if part is None else np.empty(shape, part.dtype) for part in parts]
        for result, part in zip(results, parts, strict=True):
            if part is not None:
                result[rows] = part
    return results, finite
