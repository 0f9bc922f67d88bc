"""Every operator of two tensors, with other uses of both inputs before and after it in the walk.

The walk adds contributions in place where it may. A rule that shares work between its inputs, or hands out something that it
keeps, must not notice.
"""

from __future__ import annotations

import numpy as np
import pytest

from autograd import grad
from autograd import operators as op
from registry import get_gradient, get_schema, operator_names


def _binary_operators() -> list[str]:
    names = []
    for name in operator_names():
        schema = get_schema(name)
        tensors = [str(each.type) for each in schema.inputs] == ["Tensor", "Tensor"]
        masked = {"condition", "v", "n"} & {each.name for each in schema.inputs}  # a mask is no tensor, an order has no gradient
        whole = name == "ldexp"  # its exponents are whole numbers
        if tensors and not masked and not whole and not schema.attributes and get_gradient(name) is not None:
            names.append(name)
    return names


@pytest.mark.parametrize("name", _binary_operators())
def test_contributions_do_not_disturb_one_another(name):
    function = getattr(op, name)
    rng = np.random.default_rng(0)
    x, y, c = rng.uniform(0.5, 0.9, (3, 3, 3))

    def alone(x, y):
        return op.sum(op.multiply(function(x, y), c))

    def among_others(x, y):
        before = op.multiply(x, 5.0), op.multiply(y, 7.0)
        result = function(x, y)
        after = op.multiply(x, 3.0), op.multiply(y, 2.0)
        total = op.multiply(result, c)
        for each in (*before, *after):
            total = op.add(total, each)
        return op.sum(total)

    for _ in range(2):  # the first walk of a rule is the careful one
        dx, dy = grad(among_others, (0, 1))(x, y)
    dx_alone, dy_alone = grad(alone, (0, 1))(x, y)
    np.testing.assert_allclose(dx, dx_alone + 8.0, rtol=1e-12)
    np.testing.assert_allclose(dy, dy_alone + 9.0, rtol=1e-12)
