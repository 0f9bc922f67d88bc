"""Which kernel runs an operator, or one of its variants, on a backend.

A registered kernel runs as it is. A variant that was generated runs, in this order: the backend's code that writes into an array
(``KernelConfig.out_func``, or a registered out variant for an in-place one); else a composite of the variant it was generated
from. A composite looks its target up on the same backend, so that a kernel which is replaced there is replaced in all variants.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from registry import operators
from registry.derived import Family
from registry.errors import KernelNotFoundError, RegistrationError, close_matches
from registry.kernels import KernelConfig, KernelFunc, backends_of, get_kernel, kernel_names
from registry.out_arrays import copy_into
from registry.schema import SchemaKind
from registry.variant import Variant


def find_kernel(kernel_name: str, backend_name: str) -> KernelConfig:
    """The kernel that runs an operator or a variant on that backend; raises KernelNotFoundError that says what is near.

    >>> find_kernel("exp", "numpy").kernel_func
    <ufunc 'exp'>
    >>> find_kernel("exp.out", "numpy").kernel_func(np.zeros(2), out=np.empty(2))
    array([1., 1.])
    """
    config = get_kernel(kernel_name, backend_name)
    if config is None:
        kernel_func = _generated(kernel_name, backend_name)
        if kernel_func is not None:
            config = KernelConfig(kernel_name, backend_name, kernel_func)
    if config is not None:
        return config
    elsewhere = backends_of(kernel_name)
    if elsewhere:
        hint = f" It is registered on: {', '.join(elsewhere)}."
    else:
        hint = close_matches(kernel_name, kernel_names())
    raise KernelNotFoundError(
        f"kernel {kernel_name!r} is not registered on backend {backend_name!r}.{hint}"
        " Register it with register_kernel(KernelConfig(...)) or choose another backend with use_backend(name)."
    )


def _generated(name: str, backend_name: str) -> KernelFunc | None:
    """The kernel of a generated variant on that backend; None if there is none to make it of."""
    family = operators.family_of(name)
    variant = next((each for each in family.values() if str(each.name) == name), None)
    if variant is None or not variant.generated:
        return None
    out_func = own_code_for_out(family, backend_name)
    if out_func is not None and variant.kind is SchemaKind.out:
        return out_func
    if out_func is not None and variant.kind is SchemaKind.inplace:
        return _in_place(variant, out_func)
    from registry.composite import composite_facts, composite_kernel, composite_target  # few programs need one

    try:
        target = composite_target(variant, family.values())
        call_target = find_kernel(str(target.name), backend_name).kernel_func
    except (RegistrationError, KernelNotFoundError):
        return None
    copy = get_kernel("copy", backend_name)
    return composite_kernel(
        composite_facts(variant.schema, target.schema),
        call_target,
        clone=np.array if copy is None else copy.kernel_func,
        copy_into=partial(copy_into, f"operator {name!r}: the array to write"),
    )


def own_code_for_out(family: Family, backend_name: str) -> KernelFunc | None:
    """A backend's code for an operator that writes its result into an array; None if it would have to compute and copy."""
    for kind, is_out in ((SchemaKind.out, True), (SchemaKind.functional, False)):
        config = get_kernel(str(family[kind].name), backend_name) if kind in family else None
        if config is not None and (is_out or config.out_func is not None):
            return config.kernel_func if is_out else config.out_func
    return None


def _in_place(variant: Variant, out_func: KernelFunc) -> KernelFunc:
    """An out kernel as an in-place one: the receiver is read and written."""
    receiver = [each.name for each in variant.schema.inputs].index(variant.schema.arguments.self_arg.name)  # type: ignore[union-attr]

    def kernel(*inputs: Any, **attrs: Any) -> Any:
        return out_func(*inputs, **attrs, out=inputs[receiver])

    return kernel
