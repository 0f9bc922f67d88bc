"""The registry: which operators exist, which kernels run them on which backend, and which gradients they have.

This package never imports ``autograd``. Table of contents:

operators   ``declare``, ``operator`` (schema and kernel in one line), ``get_schema``, ``FunctionSchema``
variants    ``family_of`` (all variants of an operator, generated ones included), ``functional_name``, ``Variant``, ``SchemaKind``
kernels     ``KernelConfig``, ``register_kernel``, ``kernel`` (decorator), ``get_kernel``, ``get_kernels_for_backend``,
            ``find_kernel`` (of a generated variant as well), ``unregister_kernel``, ``copy_registered_kernels``
gradients   ``GradConfig``, ``register_gradient``, ``gradient`` (decorator), ``get_gradient``, ``unregister_gradient``
generation  ``generate_function``, ``add_generated_variants``, ``pre_group``, ``group_variants``, ``VariantGroup``,
            ``read_entries``: what a list of operators lacks, with its schemas, names and composite kernels
indices     ``BackendIndex``, ``BackendMetadata``, ``DispatchKey``, ``create_backend_index``, ``index_of_backend``
packages    ``load_backend``, ``unload_backend``, ``discover_backends``, ``parse_backend``: backends from outside
backends    ``register_backend``, ``set_backend``, ``get_backend``, ``backend``, ``find_backend``, ``remove_backend``,
            ``use_backend``, ``registered_backends``
errors      ``GradtapeError`` and its family
"""

from importlib import import_module
from typing import Any

from registry.backends import (
    backend,
    find_backend,
    get_backend,
    register_backend,
    registered_backends,
    remove_backend,
    set_backend,
    use_backend,
)
from registry.declare import operator
from registry.errors import (
    BackendError,
    GradtapeError,
    KernelError,
    KernelNotFoundError,
    OutArrayError,
    RegistrationError,
    SchemaError,
    close_matches,
)
from registry.gradients import (
    GradConfig,
    GradFunc,
    JvpFunc,
    NamedGradientMap,
    get_gradient,
    gradient,
    register_gradient,
    unregister_gradient,
)
from registry.kernels import (
    Attribute,
    KernelConfig,
    KernelDisposeFunc,
    KernelFunc,
    KernelSetupFunc,
    NamedAttrMap,
    NamedTensorInfoMap,
    TensorInfo,
    copy_registered_kernels,
    get_kernel,
    get_kernels_for_backend,
    kernel,
    register_kernel,
    unregister_kernel,
)
from registry.operators import declare, family_of, functional_name, get_schema, operator_names, undeclare
from registry.schema import FunctionSchema, SchemaKind
from registry.variant import Variant
from registry.variant_kernels import find_kernel

__all__ = [
    "Attribute",
    "BackendError",
    "FunctionSchema",
    "GradConfig",
    "GradFunc",
    "GradtapeError",
    "JvpFunc",
    "KernelConfig",
    "KernelDisposeFunc",
    "KernelError",
    "KernelFunc",
    "KernelNotFoundError",
    "KernelSetupFunc",
    "NamedAttrMap",
    "NamedGradientMap",
    "NamedTensorInfoMap",
    "OutArrayError",
    "RegistrationError",
    "SchemaError",
    "SchemaKind",
    "TensorInfo",
    "Variant",
    "backend",
    "copy_registered_kernels",
    "declare",
    "family_of",
    "find_backend",
    "find_kernel",
    "functional_name",
    "get_backend",
    "get_gradient",
    "get_kernel",
    "get_kernels_for_backend",
    "get_schema",
    "gradient",
    "kernel",
    "operator",
    "operator_names",
    "register_backend",
    "register_gradient",
    "register_kernel",
    "registered_backends",
    "remove_backend",
    "set_backend",
    "undeclare",
    "unregister_gradient",
    "unregister_kernel",
    "use_backend",
]

import registry.numpy_backend  # noqa: F401  # the embedded default backend registers its kernels

_LATER = {
    "registry.backend_index": ("BackendIndex", "BackendMetadata", "DispatchKey", "create_backend_index", "index_of_backend"),
    "registry.entries": ("EntryRules", "read_entries"),
    "registry.external": ("ExternalBackend", "parse_backend", "read_backend_file"),
    "registry.generation": ("Excused", "add_generated_variants"),
    "registry.grouping": ("VariantGroup", "group_variants", "pre_group"),
    "registry.loading": ("discover_backends", "load_backend", "load_discovered_backend", "unload_backend"),
    "registry.variants": ("generate_function",),
}
"""What few programs need, by the module that has it: imported when it is first asked for."""

__all__ += [name for names in _LATER.values() for name in names]


def __getattr__(name: str) -> Any:
    for module, names in _LATER.items():
        if name in names:
            value = globals()[name] = getattr(import_module(module), name)
            return value
    raise AttributeError(f"module 'registry' has no attribute {name!r}." + close_matches(name, __all__))
