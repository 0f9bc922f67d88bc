"""Declare an operator and its kernel in one line."""

from __future__ import annotations

import numpy as np

from registry import operators
from registry.kernels import KernelConfig, KernelFunc, register_kernel
from registry.out_arrays import ufunc_into


def operator(
    schema: str,
    kernel: KernelFunc,
    *,
    backend_name: str = "numpy",
    constant: bool = False,
    out_func: KernelFunc | None = None,
) -> None:
    """Declare an operator by its schema text and register its kernel on a backend.

    ``constant=True`` is for operators whose result has no derivative by definition (comparisons, ``floor``, ``argmax``).
    ``out_func`` is the kernel's form that writes into an array, see ``KernelConfig``; a ufunc of NumPy brings its own.
    Raises SchemaError for a text that does not parse, RegistrationError for a name that is taken.

    >>> operator("doctest_double(Tensor x) -> Tensor", lambda x: 2 * x)
    >>> from registry import get_kernel, unregister_kernel
    >>> get_kernel("doctest_double", "numpy").kernel_func(4)
    8
    >>> unregister_kernel("doctest_double", "numpy"); operators.undeclare("doctest_double")
    """
    name = str(operators.declare(schema, constant=constant).name)
    if out_func is None and isinstance(kernel, np.ufunc):
        out_func = ufunc_into(kernel)
    register_kernel(KernelConfig(name, backend_name, kernel, out_func=out_func))
