"""Rows of the harness for functions of SciPy, by their dotted name below ``autograd.scipy``; SciPy's is the reference."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from tests.gradients.harness import Case

UNARY = (((2, 3),), ((),), (float,), ((0, 2),))
BINARY = (((2, 3), (2, 3)), ((3,), (2, 1)), ((), (3,)), (float, (2,)), (float, float))
TERNARY = (((3,), (3,), (3,)), ((2, 1), (3,), ()), (float, (2,), float), (float, float, float))


def function(root: str, name: str) -> Any:
    """``special.erf`` of ``autograd.scipy`` or of ``scipy``; a module is imported on the way."""
    *modules, last = name.split(".")
    path = ".".join([root, *modules])
    try:
        return getattr(import_module(path), last)
    except ModuleNotFoundError:  # scipy.stats.norm is no module
        return getattr(getattr(import_module(f"{root}.{modules[0]}"), modules[1]), last)


def scipy_case(name: str, arity: int = 1, *fixed: Any, reference: Any = None, **fields: Any) -> Case:
    """A row; ``fixed`` are arguments in front of the inputs (the order of a Bessel function)."""
    attrs = fields.pop("attrs", {})
    ours, theirs = function("autograd.scipy", name), reference or function("scipy", name)
    if "inputs" not in fields and "shapes" not in fields:
        fields["shapes"] = {1: UNARY, 2: BINARY, 3: TERNARY}[arity]
    fields.setdefault("label", " ".join(str(each) for each in (*fixed, attrs) if not isinstance(each, dict) or each))
    return Case(
        name,
        call=lambda _, *inputs: ours(*fixed, *inputs, **attrs),
        reference=lambda *inputs: np.asarray(theirs(*fixed, *inputs, **attrs))[()],
        **fields,
    )
