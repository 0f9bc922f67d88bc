"""What tests of the core share: fake operators, whose kernels and rules a test writes itself, and a walk of both kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from autograd import Tape
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


@pytest.fixture
def walked() -> Callable[..., Any]:
    """``walked(build, *sources, dy=None)``: the gradients from the careful walk (first) and from the fast one, which agree."""

    def walk(build: Callable[..., Any], *sources: Any, dy: Any = None, times: int = 2) -> Any:
        results = []
        for _ in range(times):
            with Tape() as tape:
                watched = [tape.watch(each) for each in sources]
                y = build(*watched)
            results.append(tape.gradient(y, watched, dy=dy))
        for each in results[1:]:
            for first, other in zip(results[0], each, strict=True):
                np.testing.assert_array_equal(first, other)
        return results[0]

    return walk
