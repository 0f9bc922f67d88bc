"""Rules that say they keep zeros do, at every value: the walk skips its search for NaN where a plan has no others."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import autograd.numpy as anp
from autograd import Tape, dag, grad
from autograd import operators as op
from autograd.engine import binding_of
from registry import get_gradient, operator_names

VALUES = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, -2.0, 1e-310, 1e308])
KEEPERS = [name for name in operator_names() if get_gradient(name) is not None and get_gradient(name).keeps_zeros]


def test_there_are_such_rules():
    assert {"add", "subtract", "negative", "relu", "where"} <= set(KEEPERS)


@pytest.mark.parametrize("name", KEEPERS)
def test_a_zero_cotangent_gives_zeros(name):
    binding = binding_of(name)
    assert binding.elementwise
    grid = [np.array(column) for column in zip(*itertools.product(VALUES, repeat=len(binding.input_names)), strict=True)]
    inputs = [np.nan_to_num(x) > 0 if name == "condition" else x for name, x in zip(binding.input_names, grid, strict=True)]
    with np.errstate(all="ignore"):
        y = binding.kernel_func(*inputs)
        saved = [x for x, save in zip(inputs, binding.save_inputs, strict=True) if save]
        saved += [y] if binding.keep_output else []
        for zero in (np.zeros_like(y), -np.zeros_like(y)):
            for input_name, thunk in binding.grad_func(zero, saved, {}).items():
                assert np.array_equal(thunk(), zero), f"{name}: the gradient of {input_name} is {thunk()}"


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: op.sum(op.relu(op.add(op.matmul(x, x), 1.0))), False),
        (lambda x: op.sum(op.where(np.eye(2) > 0, op.negative(x), op.subtract(1.0, x))), False),
        (lambda x: op.sum(op.multiply(x, 2.0)), True),
        (lambda x: op.sum(op.sqrt(op.add(x, 1.0))), True),
    ],
)
def test_only_other_rules_make_a_plan_look_for_nan(function, expected):
    with Tape() as tape:
        x = tape.watch(np.ones((2, 2)))
        y = function(x)
    assert dag.plan_for(tape, y.id, (x.id,)).strong is expected


def test_infinite_values_do_no_harm_there():
    x = np.array([np.inf, -np.inf, 1.0])
    assert grad(lambda x: anp.sum(anp.where(x < 2, anp.relu(x), 0.0)))(x).tolist() == [0.0, 0.0, 1.0]
