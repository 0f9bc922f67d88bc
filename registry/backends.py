"""Backends: named sets of kernels with a life cycle, and which of them is active.

A factory runs once, when its backend is first needed. A name that is not registered is looked for among the backends that
installed packages offer (``registry.loading``). The active backend of a piece of code is, in this order: that of
the innermost ``use_backend`` block (a context variable), the one chosen by ``set_backend`` (for the whole process), or
the registered backend of highest priority that starts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from registry import bindings
from registry.errors import BackendError, RegistrationError, close_matches
from registry.kernels import KernelConfig, get_kernels_for_backend, life_cycle, live_backends

chosen_backend: ContextVar[str | None] = ContextVar("chosen_backend", default=None)
"""The backend of the innermost ``use_backend`` block, or None. The engine reads it; only ``use_backend`` sets it."""


@dataclass(frozen=True, slots=True)
class BackendFactory:
    """How to make a backend, and how eagerly it wants to be the default one (higher first)."""

    name: str
    factory: Callable[[], Any]
    priority: int = 1


_factories: dict[str, BackendFactory] = {}
_failures: dict[str, BaseException] = {}
_starting: dict[str, Any] = {}
_default: str | None = None

_BEING_MADE = object()
"""Stands among the starting backends while the factory runs."""


def register_backend(name: str, factory: Callable[[], Any], priority: int = 1, *, override: bool = False) -> None:
    """Make a backend known; ``factory()`` is called when it is first needed, once.

    Raises RegistrationError if the name is taken, unless ``override=True``, which warns and disposes the old one.
    """
    if not callable(factory):
        raise RegistrationError(f"backend {name!r}: got factory {factory!r}, expected a function without arguments")
    with life_cycle:
        if name in _factories:
            if not override:
                raise RegistrationError(f"backend {name!r} is already registered; pass override=True to replace it")
            warnings.warn(f"backend {name!r} is replaced", stacklevel=2)
            remove_backend(name)
        _factories[name] = BackendFactory(name, factory, priority)


def find_backend(name: str) -> Any | None:
    """The backend object of that name, started if it has not been; None if there is none or it does not start.

    >>> find_backend("no such backend") is None
    True
    """
    try:
        return _start(name)
    except BackendError:
        return None


def set_backend(name: str) -> None:
    """Make ``name`` the default backend of the process (a ``use_backend`` block still goes before it).

    Raises BackendError if it is unknown, cannot be loaded or does not start; the default stays what it was.
    """
    global _default
    _start(name)
    _default = name
    bindings.forget()


def get_backend() -> str:
    """The name of the active backend.

    >>> get_backend()
    'numpy'
    """
    return chosen_backend.get() or _default or _choose_default()


def backend() -> Any:
    """The active backend object, started if it has not been."""
    return _start(get_backend())


@contextmanager
def use_backend(name: str) -> Iterator[Any]:
    """Run a block on another backend; blocks nest, and other threads do not notice.

    >>> with use_backend("numpy"):
    ...     get_backend()
    'numpy'
    """
    started = _start(name)
    token = chosen_backend.set(name)
    try:
        yield started
    finally:
        chosen_backend.reset(token)


def remove_backend(name: str) -> None:
    """Dispose a backend and forget its factory; its kernels stay in the table.

    ``dispose_func(backend)`` of each of its kernels is called, then the backend's own ``dispose()`` if it has one.
    Raises BackendError if the backend is not registered.
    """
    global _default
    with life_cycle:
        if name not in _factories:
            raise BackendError(_unknown(name))
        try:
            if name in live_backends:
                _dispose(name)
        finally:
            live_backends.pop(name, None)
            _failures.pop(name, None)
            del _factories[name]
            if _default == name:
                _default = None
            bindings.forget()


def registered_backends() -> list[str]:
    """Names of all registered backends, highest priority first.

    >>> "numpy" in registered_backends()
    True
    """
    return [each.name for each in sorted(_factories.values(), key=lambda each: -each.priority)]


def _dispose(name: str) -> None:
    instance = live_backends[name]
    for config in get_kernels_for_backend(name):
        if config.dispose_func is not None:
            config.dispose_func(instance)
    dispose = getattr(instance, "dispose", None)
    if callable(dispose):
        dispose()


def _start(name: str) -> Any:
    if name in live_backends:
        return live_backends[name]
    if name not in _factories:
        _load_installed(name)  # before the lock is taken: another thread may be importing the package, and want the lock there
    with life_cycle:
        if name in live_backends:
            return live_backends[name]
        if name not in _factories:
            raise BackendError(_unknown(name))
        if name in _failures:
            raise BackendError(f"backend {name!r} failed to start: {_failures[name]}") from _failures[name]
        if name in _starting:  # only the thread that starts it gets here
            if _starting[name] is _BEING_MADE:
                raise BackendError(f"backend {name!r} is asked for by its own factory; expected the factory to make it")
            return _starting[name]
        _starting[name] = _BEING_MADE
        try:
            instance = _starting[name] = _factories[name].factory()
            _set_up_kernels(name, instance)
        except Exception as error:
            _failures[name] = error
            raise BackendError(f"backend {name!r} failed to start: {error}") from error
        finally:
            del _starting[name]
        live_backends[name] = instance
        return instance


def _load_installed(name: str) -> None:
    """Load the backend that an installed package offers under this name; raises BackendError if none does."""
    from registry.loading import discover_backends, load_discovered_backend  # it stands above this module, and is seldom needed

    offered = sorted({each.name for each in discover_backends()})
    if name not in offered:
        raise BackendError(_unknown(name, offered))
    load_discovered_backend(name)


def _set_up_kernels(name: str, instance: Any) -> None:
    """Call every ``setup_func`` once, those of kernels that another one registers included."""
    done: set[KernelConfig] = set()
    while pending := [config for config in get_kernels_for_backend(name) if config not in done]:
        for config in pending:
            done.add(config)
            if config.setup_func is not None:
                config.setup_func(instance)


def _choose_default() -> str:
    """The registered backend of highest priority that starts; a warning says why another did not."""
    global _default
    with life_cycle:
        for name in registered_backends():
            known_to_fail = name in _failures
            try:
                _start(name)
            except BackendError as error:
                if not known_to_fail:
                    warnings.warn(f"{error}; trying the next backend by priority", stacklevel=3)
            else:
                _default = name
                return name
    raise BackendError("no backend could be started; register one with register_backend(name, factory)")


def _unknown(name: str, offered: Sequence[str] = ()) -> str:
    known = registered_backends()
    more = f" and installed packages offer {list(offered)}" if offered else ""
    return f"backend {name!r} is not registered; registered are {known}{more}." + close_matches(str(name), [*known, *offered])
