"""Count how often kernels run: a cost that does not depend on how fast the machine is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autograd.engine import binding_of


@contextmanager
def counted_kernels(*names: str) -> Iterator[Counter[str]]:
    """How often the kernels of these operators run inside the block."""
    calls: Counter[str] = Counter()
    bindings = [binding_of(name) for name in names]
    kernels = [binding.kernel_func for binding in bindings]

    def counting(name: str, kernel: Any) -> Any:
        def counted(*inputs: Any, **attrs: Any) -> Any:
            calls[name] += 1
            return kernel(*inputs, **attrs)

        return counted

    try:
        for binding, kernel in zip(bindings, kernels, strict=True):
            binding.kernel_func = counting(binding.name, kernel)
        yield calls
    finally:
        for binding, kernel in zip(bindings, kernels, strict=True):
            binding.kernel_func = kernel
