"""What inputs and attributes each operator takes where it is differentiable: the record of a row, and the look-up.

The rows stand by family in ``elementwise``, ``arrays``, ``matrices`` and ``scipy``. An operator
without a row, such as a user's own, is drawn from its schema (``autograd.check.domains.from_schema``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

from autograd.check.domains.drawing import Draw

Drawn = tuple[list[Any], dict[str, Any]]
"""Inputs in schema order, and the attributes that are not left out."""

REAL = ("float64", "float64", "float32")
COMPLEX = ("float64", "float64", "float32", "complex128")

TABLES = ("elementwise", "arrays", "matrices", "scipy")

WITHOUT_ROW: dict[str, str] = {
    "checkpoint": "takes a function: check the function with check_gradient",
    "custom_gradient": "takes a function: check the function with check_gradient",
    "primitive": "takes a function: check the function with check_gradient",
    "primitive_with_jvp": "takes a function: check the function with check_gradient",
    "scipy_odeint": "takes a function: check the function with check_gradient",
}
"""Operators with a gradient that cannot be drawn, each with its reason."""


@dataclass(frozen=True, slots=True)
class Domain:
    """One row: how to draw a call of an operator at a point where it is differentiable, with values far from its kinks.

    draw       ``draw(choices, dtype)`` returns inputs and attributes
    dtypes     those of the inputs; one that stands there twice is drawn twice as often
    symmetric  inputs of which the kernel reads one triangle. Their gradient is that of ``(a + dagger(a)) / 2``, so that only
               symmetric changes of them can be compared with differences of the kernel
    note       which points are left out, and why
    """

    draw: Callable[[Draw, str], Drawn]
    dtypes: tuple[str, ...] = REAL
    symmetric: tuple[str, ...] = ()
    note: str = ""


@lru_cache(maxsize=1)
def domains() -> Mapping[str, Domain]:
    """All rows, by operator name; read when first asked for.

    >>> domains()["log"].dtypes
    ('float64', 'float64', 'float32', 'complex128')
    """
    rows: dict[str, Domain] = {}
    for table in TABLES:
        rows.update(import_module(f"autograd.check.domains.{table}").ROWS)
    return rows
