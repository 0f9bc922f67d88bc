"""The answers of a small function as a table: one Jacobian by the tape, one by differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd.check.asked import Asked
from autograd.check.judge import Judge
from autograd.check.question import Question
from autograd.check.report import JacobianPair

MOST_ENTRIES = 1024
"""Larger tables are not kept: nobody reads them."""


def jacobian_pairs(question: Question, judge: Judge, columns: Sequence[Asked]) -> tuple[JacobianPair, ...]:
    """A pair for each input and mode, where each element of input and output was asked alone."""
    outputs = judge.names.outputs
    rows = slice(1, None) if len(question.rows) > 1 else slice(None)
    if len(question.rows) * len(columns) > MOST_ENTRIES or (len(question.rows) == 1 and question.y.size != 1):
        return ()
    pairs = []
    for leaf, name in enumerate(judge.names.inputs):
        mine = [each for each in columns if each.number == leaf]
        if not mine:
            continue
        lengths = np.array([each.length for each in mine])
        expected = np.array([each.slopes.value[rows] for each in mine]).T / lengths
        for how in mine[0].found:
            found = np.array([each.found[how][rows] for each in mine]).T / lengths
            verdicts: Any = np.array([each.verdicts[how][rows] for each in mine]).T
            label = outputs[0].partition("[")[0] if outputs else "output"
            lines = (tuple(outputs) or ("output",), tuple(each.where.removeprefix(name) for each in mine))
            pairs.append(JacobianPair(label, name, how, found, expected, verdicts, *lines))
    return tuple(pairs)
