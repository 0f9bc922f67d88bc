"""A sandbox for the tests of the registry: whatever they register is gone afterwards."""

from __future__ import annotations

import gc

import pytest

import autograd.operators
from autograd import locks
from registry import backends, bindings, gradients, kernels, operators


@pytest.fixture(autouse=True)
def sandbox():
    """Put every table of the registry back as it was, also after a failing test."""
    own_kernels = {name: dict(on_backends) for name, on_backends in kernels._kernels.items()}
    tables = [
        (gradients._gradients, dict(gradients._gradients)),
        (operators._schemas, dict(operators._schemas)),
        (backends._factories, dict(backends._factories)),
        (backends._failures, dict(backends._failures)),
        (kernels.live_backends, dict(kernels.live_backends)),
    ]
    sets = [
        (operators._inferred, set(operators._inferred)),
        (operators._constants, set(operators._constants)),
    ]
    locked = locks.locked_arrays()
    default, functions = backends._default, set(vars(autograd.operators))
    yield
    kernels._kernels.clear()
    kernels._kernels.update(own_kernels)
    for table, was in [*tables, *sets]:
        table.clear()
        table.update(was)
    operators._families.clear()
    backends._default = default
    bindings.forget()
    for name in set(vars(autograd.operators)) - functions:
        delattr(autograd.operators, name)
    if locks.locked_arrays() > locked:
        gc.collect()  # a caught exception and the frame that caught it hold each other, and the frame holds the tape
