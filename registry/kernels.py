"""Kernels: one backend's code for an operator, and the table that holds them.

The table is two dictionaries deep, operator name then backend name, so that an operator function can hold on to its own
inner table and find the active backend's kernel with one look-up.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import EllipsisType
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from registry import bindings, operators
from registry.errors import RegistrationError, close_matches

KernelFunc = Callable[..., Any]
"""``kernel_func(*inputs, **attrs)``: inputs in schema order, a list input as one list; returns an array or a tuple."""

KernelSetupFunc = Callable[[Any], None]
"""Called with the backend object once, right after the backend initialises."""

KernelDisposeFunc = Callable[[Any], None]
"""Called with the backend object once, right before the backend is disposed."""

Attribute: TypeAlias = (
    "bool | int | float | complex | str | slice | EllipsisType | np.dtype[Any] | np.ndarray[Any, Any]"
    " | Callable[..., Any] | Sequence[Attribute] | Mapping[str, Attribute] | None"
)
"""A number, bool, str, None, dtype, slice, Ellipsis, index array, callable, or sequences and mappings of these."""

NamedAttrMap = Mapping[str, Attribute]


class TensorInfo(NamedTuple):
    """The shape and dtype of a tensor without its data.

    >>> TensorInfo((2, 3), "float32").shape
    (2, 3)
    """

    shape: tuple[int, ...]
    dtype: Any


NamedTensorInfoMap = Mapping[str, TensorInfo | Sequence[TensorInfo]]

AnyFunc = TypeVar("AnyFunc", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, eq=False)
class KernelConfig:
    """One backend's code for one operator, with what it needs when its backend starts and stops.

    ``out_func(*inputs, **attrs, out=array)`` is the same code where it can write its result into an array; it raises
    OutArrayError for one that has not the shape and dtype of the result. Without it, an out variant runs ``kernel_func`` and
    copies.
    Configs compare by identity: two registrations of the same function are two kernels.

    >>> KernelConfig("negative", "numpy", lambda x: -x).kernel_name
    'negative'
    """

    kernel_name: str
    backend_name: str
    kernel_func: KernelFunc
    setup_func: KernelSetupFunc | None = None
    dispose_func: KernelDisposeFunc | None = None
    out_func: KernelFunc | None = None

    def __post_init__(self) -> None:
        for field in ("kernel_name", "backend_name"):
            value = getattr(self, field)
            if not isinstance(value, str) or not value:
                raise RegistrationError(f"KernelConfig.{field}: got {value!r}, expected a name (a non-empty string)")
        for field in ("kernel_func", "setup_func", "dispose_func", "out_func"):
            value = getattr(self, field)
            if not callable(value) and (value is not None or field == "kernel_func"):
                raise RegistrationError(f"KernelConfig.{field} of {self.kernel_name!r}: got {value!r}, expected a function")


_kernels: dict[str, dict[str, KernelConfig]] = {}

live_backends: dict[str, Any] = {}
"""Backends that are initialised, by name. Filled and emptied by ``registry.backends``; kernels only read it."""

life_cycle = threading.RLock()
"""Held while a backend starts or stops and while a kernel joins or leaves one, so that no set-up is missed or done twice."""


def register_kernel(config: KernelConfig, *, override: bool = False) -> KernelConfig:
    """Add ``config`` to the table; returns it.

    A kernel whose operator has no declared schema gets one from the signature of its function: positional parameters
    are tensors, keyword-only parameters are attributes, and there is one output. If the backend is already running,
    ``setup_func`` is called at once.

    Raises RegistrationError if that operator already has a kernel on that backend, unless ``override=True``, which warns.
    """
    with life_cycle:
        old = get_kernel(config.kernel_name, config.backend_name)
        if old is not None:
            where = f"kernel {config.kernel_name!r} on backend {config.backend_name!r}"
            if not override:
                raise RegistrationError(f"{where} is already registered; pass override=True to replace it")
            warnings.warn(f"{where} is replaced", stacklevel=2)
        _add(config, old)
    return config


def _add(config: KernelConfig, old: KernelConfig | None) -> None:
    """Put ``config`` into the table in place of ``old``; if anything fails, all stays as it was."""
    name = config.kernel_name
    on_backends = _kernels.setdefault(name, {})
    alone = old is not None and len(on_backends) == 1
    try:
        operators.declare_from_function(name, config.kernel_func, again=alone)
        if config.backend_name in live_backends and config.setup_func is not None:
            config.setup_func(live_backends[config.backend_name])
    except BaseException:
        if old is not None and alone:
            operators.declare_from_function(name, old.kernel_func, again=True)
        _forget_if_empty(name)
        raise
    on_backends[config.backend_name] = config
    bindings.forget(name)
    if config.backend_name in live_backends and old is not None and old.dispose_func is not None:
        old.dispose_func(live_backends[config.backend_name])


def kernel(
    kernel_name: str,
    backend_name: str = "numpy",
    *,
    setup_func: KernelSetupFunc | None = None,
    dispose_func: KernelDisposeFunc | None = None,
    override: bool = False,
) -> Callable[[AnyFunc], AnyFunc]:
    """Decorator form of ``register_kernel``; the function stays as it is.

    >>> @kernel("twice", backend_name="doctest")
    ... def twice(x):
    ...     return 2 * x
    >>> get_kernel("twice", "doctest").kernel_func(4)
    8
    >>> unregister_kernel("twice", "doctest")
    """

    def register(kernel_func: AnyFunc) -> AnyFunc:
        config = KernelConfig(kernel_name, backend_name, kernel_func, setup_func, dispose_func)
        register_kernel(config, override=override)
        return kernel_func

    return register


def get_kernel(kernel_name: str, backend_name: str) -> KernelConfig | None:
    """The kernel of that operator on that backend, or None.

    >>> get_kernel("no such operator", "numpy") is None
    True
    """
    return _kernels.get(kernel_name, {}).get(backend_name)


def backends_of(kernel_name: str) -> list[str]:
    """Names of the backends on which that kernel is registered."""
    return sorted(_kernels.get(kernel_name, ()))


def kernel_names() -> list[str]:
    """Names of all registered kernels, in order of registration."""
    return list(_kernels)


def get_kernels_for_backend(backend_name: str) -> list[KernelConfig]:
    """All kernels of one backend, in order of registration of their operators; an unknown backend has none."""
    return [table[backend_name] for table in _kernels.values() if backend_name in table]


def unregister_kernel(kernel_name: str, backend_name: str) -> None:
    """Take a kernel out of the table; on a running backend its ``dispose_func`` is called first.

    Raises RegistrationError if there is none.
    """
    with life_cycle:
        config = get_kernel(kernel_name, backend_name)
        if config is None:
            raise RegistrationError(
                f"kernel {kernel_name!r} on backend {backend_name!r} cannot be unregistered: it is not registered."
                + close_matches(kernel_name, _kernels)
            )
        if backend_name in live_backends and config.dispose_func is not None:
            config.dispose_func(live_backends[backend_name])
        del _kernels[kernel_name][backend_name]
        _forget_if_empty(kernel_name)
        bindings.forget(kernel_name)


def copy_registered_kernels(registered_backend: str, new_backend: str, *, override: bool = False) -> None:
    """Register every kernel of one backend for another one too, as configs of its own.

    Raises RegistrationError if the first has no kernels, or if the second already has one of them (and not ``override``);
    nothing is copied then.
    """
    configs = get_kernels_for_backend(registered_backend)
    if not configs:
        raise RegistrationError(
            f"backend {registered_backend!r} has no kernels to copy."
            + close_matches(registered_backend, {name for table in _kernels.values() for name in table})
        )
    taken = [config.kernel_name for config in configs if get_kernel(config.kernel_name, new_backend) is not None]
    if taken and not override:
        raise RegistrationError(
            f"backend {new_backend!r} already has {len(taken)} of these kernels, {taken[0]!r} among them;"
            " pass override=True to replace them"
        )
    for config in configs:
        register_kernel(replace(config, backend_name=new_backend), override=override)


def _forget_if_empty(kernel_name: str) -> None:
    if not _kernels.get(kernel_name):
        _kernels.pop(kernel_name, None)
        operators.forget_inferred(kernel_name)
