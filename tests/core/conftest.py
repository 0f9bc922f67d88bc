"""Fake operators: the core is tested with kernels and rules that a test writes itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from autograd.operators import operator_function
from registry import GradConfig, get_gradient, operator, register_gradient, undeclare, unregister_gradient, unregister_kernel


@pytest.fixture
def fake() -> Iterator[Callable[..., Any]]:
    """``fake(schema, kernel, rule, **fields)`` declares an operator for one test; returns its function."""
    made: list[str] = []

    def declare(schema: str, kernel: Callable[..., Any], rule: Any = None, *, constant: bool = False, **fields: Any) -> Any:
        operator(schema, kernel, constant=constant)
        name = schema.partition("(")[0]
        made.append(name)
        if rule is not None or "by_input" in fields:
            register_gradient(GradConfig(name, rule, **fields))
        return operator_function(name)

    yield declare
    for name in made:
        if get_gradient(name) is not None:
            unregister_gradient(name)
        unregister_kernel(name, "numpy")
        undeclare(name)
