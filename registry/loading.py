"""Backends from other packages, loaded: by hand from a description and a module, or by name from what is installed.

A package with a backend called ``tiny`` has three things:

1. A description, here ``tiny_backend/backend.toml``, with the keys that ``registry.external`` lists::

    backend = "tiny"
    namespace = "tiny_backend"
    supported = ["add", "add.out", "exp"]
    copy_from = "numpy"

2. A module with a function for each operator listed, under its customary kernel name: ``add`` for ``add``, ``add_out`` for
   ``add.out``. It takes the tensors by position and the rest by name. ``BACKEND`` is the description: the path of its file, or
   the mapping itself. Here ``tiny_backend/kernels.py``::

    from pathlib import Path

    import numpy as np

    BACKEND = Path(__file__).with_name("backend.toml")

    def add(x1, x2):
        return np.add(x1, x2)

    def add_out(x1, x2, *, out):
        return np.add(x1, x2, out=out)

    def exp(x):
        return np.exp(x)

   The module may define two more things. ``make_backend()`` returns the backend object, which may have a method ``dispose()``;
   without it, the parsed description is that object. ``GRADIENTS`` is a list of ``GradConfig``, one for each operator under
   ``autograd``.

3. An entry point of the backend's name that names the module, in ``pyproject.toml``::

    [project.entry-points."autograd.backends"]
    tiny = "tiny_backend.kernels"

    [tool.setuptools.package-data]
    tiny_backend = ["*.toml"]

``use_backend("tiny")`` and ``set_backend("tiny")`` then find it, load it and start it. Nothing is looked for before a name is
asked for that is not registered, and an installed backend is never chosen as the default by itself.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any

from registry import operators
from registry.backends import register_backend, registered_backends, remove_backend
from registry.errors import BackendError, RegistrationError, close_matches
from registry.external import AUTOGRAD_KEY, ExternalBackend, parse_backend, read_backend_file
from registry.gradients import GradConfig, get_gradient, register_gradient, unregister_gradient
from registry.kernels import (
    KernelConfig,
    KernelFunc,
    get_kernel,
    get_kernels_for_backend,
    life_cycle,
    register_kernel,
    unregister_kernel,
)
from registry.schema import FunctionSchema, SchemaKind

ENTRY_POINT_GROUP = "autograd.backends"
"""The group of entry points by which an installed package offers backends."""


def load_backend(
    description: Mapping[str, Any] | str | os.PathLike[str], module: ModuleType | str, *, priority: int = 0
) -> ExternalBackend:
    """Register a backend with its operators, kernels and gradients, all or nothing; returns what the description says.

    ``description`` is the mapping or the path of a TOML file, ``module`` the module that holds the kernels or its import name.
    With a ``priority`` above that of NumPy, which is 1, it can become the default backend.

    Raises RegistrationError for a description that ``parse_backend`` refuses, a module without one of the functions listed, and
    everything that is registered already. Warns of a function that looks like a kernel and is not listed.

    >>> class kernels:
    ...     exp = staticmethod(lambda x: 1 + x)
    >>> module = ModuleType("linear_kernels")
    >>> module.kernels = kernels
    >>> load_backend({"backend": "linear", "namespace": "doctest", "class_name": "kernels", "supported": ["exp"]}, module)
    <backend 'linear' of doctest>
    >>> get_kernel("exp", "linear").kernel_func(2.0)
    3.0
    >>> unload_backend("linear")
    """
    return _load(*_read(description), module, priority)


def _load(description: Any, source: str, module: ModuleType | str, priority: int) -> ExternalBackend:
    backend = parse_backend(description, source=source)
    module = _imported(module, backend)
    where, holder = _find_holder(backend, module)
    configs = _kernel_configs(backend, _find_functions(backend, where, holder))
    gradients = _find_gradients(backend, module)
    _warn_of_unlisted(backend, where, holder, module)
    with life_cycle, ExitStack() as undo:
        for schema in backend.operators:
            if _is_new(schema, backend):
                operators.declare(schema)
                undo.callback(operators.undeclare, str(schema.name))
        register_backend(backend.name, getattr(module, "make_backend", lambda: backend), priority)
        undo.callback(remove_backend, backend.name)
        for config in configs:
            register_kernel(config)
            undo.callback(unregister_kernel, config.kernel_name, backend.name)
        for gradient in gradients:
            register_gradient(gradient)
            undo.callback(unregister_gradient, gradient.kernel_name)
        undo.pop_all()
    return backend


def unload_backend(name: str) -> None:
    """Remove a backend and take its kernels out of the table, so that it can be loaded anew.

    Operators that it declared and their gradients stay: they belong to no backend. Raises BackendError if there is no backend
    of that name.
    """
    with life_cycle:
        configs = get_kernels_for_backend(name)
        if name in registered_backends() or not configs:
            remove_backend(name)
        for config in configs:
            unregister_kernel(config.kernel_name, name)


# ------------------------------------------------------------------------------------------------ installed backends


@dataclass(frozen=True, slots=True)
class DiscoveredBackend:
    """A backend that an installed package offers: its name, the module of its kernels, and the distribution it comes from."""

    name: str
    module: str
    distribution: str


def discover_backends() -> list[DiscoveredBackend]:
    """The backends that installed packages offer, by name; nothing is imported for it."""
    from importlib.metadata import entry_points  # here: it takes longer to import than the whole registry

    found = []
    for each in entry_points(group=ENTRY_POINT_GROUP):
        distribution = "an unknown distribution" if each.dist is None else f"{each.dist.name} {each.dist.version}"
        found.append(DiscoveredBackend(each.name, each.value, distribution))
    return sorted(found, key=lambda each: (each.name, each.distribution))


def load_discovered_backend(name: str) -> None:
    """Load the backend that an installed package offers under this name; nothing happens if it is registered already.

    Raises BackendError if no package offers it, or several do, and for whatever fails on the way, with the distribution's name.
    """
    offers = discover_backends()
    found = [each for each in offers if each.name == name]
    if not found:
        names = sorted({each.name for each in offers})
        raise BackendError(f"no installed package offers backend {name!r}; offered are {names}." + close_matches(name, names))
    if len(found) > 1:
        distributions = " and ".join(each.distribution for each in found)
        raise BackendError(
            f"backend {name!r} is offered by {distributions}; uninstall all but one, or load one with load_backend"
        )
    (offer,) = found
    try:
        module = import_module(offer.module)
        description = getattr(module, "BACKEND", None)
        if description is None:
            raise RegistrationError(
                f"module {offer.module!r} has no BACKEND, expected a description or the path of its .toml file"
            )
        with life_cycle:  # not around the import, which may wait for a thread that imports the module and wants this lock
            if name in registered_backends():
                return
            description, source = _read(description)
            described = description.get("backend") if isinstance(description, Mapping) else name
            if described != name:
                raise RegistrationError(f"{source}: 'backend': got {described!r}, expected {name!r}, the name of the entry point")
            _load(description, source, module, priority=0)
    except Exception as error:
        raise BackendError(f"backend {name!r} of {offer.distribution} cannot be loaded: {error}") from error


# ------------------------------------------------------------------------------------------------ parts of a module


def _read(description: Any) -> tuple[Any, str]:
    """The mapping itself, read from its file if there is one, and what messages call it."""
    if isinstance(description, str | os.PathLike):
        return read_backend_file(description), os.fspath(description)
    return description, "description of a backend"


def _imported(module: ModuleType | str, backend: ExternalBackend) -> ModuleType:
    """The module itself, imported if only its name was given."""
    if isinstance(module, ModuleType):
        return module
    if not isinstance(module, str):
        raise RegistrationError(f"backend {backend.name!r}: got {module!r}, expected the module with its kernels, or its name")
    try:
        return import_module(module)
    except ImportError as error:
        raise RegistrationError(f"backend {backend.name!r}: module {module!r} cannot be imported: {error}") from error


def _find_holder(backend: ExternalBackend, module: ModuleType) -> tuple[str, ModuleType | type]:
    """What holds the kernels, and what messages call it."""
    where = f"module {module.__name__!r}"
    if backend.class_name is None:
        return where, module
    holder = getattr(module, backend.class_name, None)
    if not isinstance(holder, type):
        raise RegistrationError(
            f"backend {backend.name!r}: {where} has no class {backend.class_name!r}, its 'class_name'."
            + close_matches(backend.class_name, vars(module))
        )
    return f"class {backend.class_name!r} of {where}", holder


def _find_functions(backend: ExternalBackend, where: str, holder: ModuleType | type) -> dict[str, KernelFunc]:
    """The kernel function of each operator listed; raises RegistrationError that shows all that are missing."""
    expected = backend.kernel_names()
    functions: dict[str, Any] = {operator: getattr(holder, kernel, None) for operator, kernel in expected.items()}
    missing = [operator for operator, function in functions.items() if not callable(function)]
    if missing:
        lines = [f"  {_declaration(backend, operator)}{close_matches(expected[operator], dir(holder))}" for operator in missing]
        raise RegistrationError(
            f"backend {backend.name!r}: {where} lacks kernels of the operators {missing}; expected there\n" + "\n".join(lines)
        )
    return functions


def _declaration(backend: ExternalBackend, operator: str) -> str:
    """The line with which the kernel of an operator begins."""
    own = backend.own_operators().get(operator, {})
    schemas = [variant.schema for variant in own.values() if str(variant.name) == operator]
    schema = schemas[0] if schemas else operators.get_schema(operator)
    parameters = ["..."]
    if schema is not None:
        parameters = [each.name for each in schema.inputs]
        by_name = [each.name for each in (*schema.attributes, *schema.arguments.out)]
        parameters += ["*", *by_name] if by_name else []
    return f"def {backend.kernel_names()[operator]}({', '.join(parameters)}): ..."


def _warn_of_unlisted(backend: ExternalBackend, where: str, holder: ModuleType | type, module: ModuleType) -> None:
    """Warn of functions that look like kernels forgotten in the description.

    No error, because an operator that is declared some day must not break a package with a function of that name.
    """
    listed = set(backend.kernel_names().values())
    for name in vars(holder):
        function = getattr(holder, name, None)
        if name in listed or not isinstance(function, FunctionType) or function.__module__ != module.__name__:
            continue
        operator = f"{name.removesuffix('_out')}.out" if name.endswith("_out") else name
        if operators.get_schema(operator) is not None:
            warnings.warn(
                f"backend {backend.name!r}: {where} defines {name!r}, the kernel of operator {operator!r}, which its description"
                f" does not list, so that it is not used; list it under 'supported', or call it _{name}",
                stacklevel=4,
            )


def _kernel_configs(backend: ExternalBackend, functions: Mapping[str, KernelFunc]) -> list[KernelConfig]:
    """What is to be registered: the kernels of the module, and those that are taken over where it has none."""
    configs = {operator: KernelConfig(operator, backend.name, function) for operator, function in functions.items()}
    if backend.copy_from is not None:
        others = get_kernels_for_backend(backend.copy_from)
        if not others:
            raise RegistrationError(
                f"backend {backend.name!r}: 'copy_from' names {backend.copy_from!r}, which has no kernels; expected one of"
                f" {registered_backends()}." + close_matches(backend.copy_from, registered_backends())
            )
        for each in others:
            functional = operators.functional_name(each.kernel_name)  # a variant is left where its functional form is an own one
            if each.kernel_name not in functions and functional not in functions:
                configs[each.kernel_name] = replace(each, backend_name=backend.name)
    left = [name for name in configs if get_kernel(name, backend.name) is not None]
    if left:
        raise RegistrationError(
            f"backend {backend.name!r} is not registered, but has {len(left)} of these kernels already, {left[0]!r} among them;"
            f" unload_backend({backend.name!r}) takes out what a removed backend has left"
        )
    return list(configs.values())


def _find_gradients(backend: ExternalBackend, module: ModuleType) -> list[GradConfig]:
    """The gradients that are to be registered: one for each operator that is listed with one, and that the package declares."""
    listed = [] if backend.autograd_key is None else list(backend.indices[backend.autograd_key].kernel_names())
    own = backend.own_operators()
    who = f"backend {backend.name!r}"
    expected: dict[str, str] = {}
    for operator in listed:
        if operator not in own:
            raise RegistrationError(
                f"{who}: {operator!r} is listed under {AUTOGRAD_KEY!r}, but not declared under 'operators'; a gradient belongs to"
                " an operator and serves all its backends: list it under 'supported', where it has the registered gradient"
            )
        functional = own[operator].get(SchemaKind.functional)
        expected[operator if functional is None else str(functional.name)] = operator
    given = getattr(module, "GRADIENTS", [])
    if not isinstance(given, list | tuple) or not all(isinstance(each, GradConfig) for each in given):
        raise RegistrationError(f"{who}: GRADIENTS of module {module.__name__!r} is {given!r}, expected a list of GradConfig")
    names = [each.kernel_name for each in given]
    if sorted(names) != sorted(expected):
        raise RegistrationError(
            f"{who}: GRADIENTS of module {module.__name__!r} has gradients of {sorted(names)}, expected one for each operator"
            f" under {AUTOGRAD_KEY!r}, which are {sorted(expected)}"
        )
    for each in given:
        if get_gradient(each.kernel_name) not in (None, each):
            raise RegistrationError(
                f"{who}: operator {each.kernel_name!r}, listed under {AUTOGRAD_KEY!r}, has a gradient already, registered"
                " elsewhere; a gradient belongs to an operator and serves all its backends: list it under 'supported'"
            )
    return [each for each in given if get_gradient(each.kernel_name) is None]


def _is_new(schema: FunctionSchema, backend: ExternalBackend) -> bool:
    """Whether the operator has yet to be declared; raises RegistrationError if it is declared otherwise."""
    old = operators.get_schema(str(schema.name))
    if old not in (None, schema):
        raise RegistrationError(
            f"backend {backend.name!r}: operator {str(schema.name)!r} is already declared as\n  {old}\n"
            f"and cannot also be\n  {schema}"
        )
    return old is None
