"""The parameters and buffers of a model by name: ``layers.0.weight``.

The model may be any container of modules and arrays, not a ``Module`` alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from dataclasses import replace as dataclass_replace
from functools import partial
from typing import Any

import numpy as np

from autograd.containers import flatten
from autograd.nn.module import Module, replace
from autograd.tensor import Tensor, innermost_value
from registry.errors import close_matches
from registry.gradients import NamedGradientMap


def parameter_names(model: Any) -> list[str]:
    """A name for each leaf of a container, in the order of ``flatten``: its path with dots.

    >>> parameter_names({"first": [1.0, 2.0], "second": 3.0})
    ['first.0', 'first.1', 'second']
    """
    if isinstance(model, Module):
        flatten(model)
        return list(model._layout.names)
    names = [_STEP.sub(lambda step: "." + next(each for each in step.groups() if each is not None), path).removeprefix(".")
             for path in flatten(model)[1].paths()]  # fmt: skip
    if len(set(names)) < len(names):
        twice = next(each for each in names if names.count(each) > 1)
        raise ValueError(f"two parameters have the name {twice!r}; give the keys of the dicts that hold them other names")
    return names


_STEP = re.compile(r"""\.(\w+)|\['([^']*)'\]|\["([^"]*)"\]|\[([^\]]*)\]""")
"""One step of a path of containers: an attribute, or a key or position in brackets."""


def named_parameters(model: Any) -> dict[str, Any]:
    """The parameters by name, in order: the arrays themselves, so that what is written into them is written into the model.

    >>> from autograd.nn import Linear, Sequential, tanh
    >>> {name: each.shape for name, each in named_parameters(Sequential(Linear(2, 3), tanh, Linear(3, 1))).items()}
    {'layers.0.weight': (2, 3), 'layers.0.bias': (3,), 'layers.2.weight': (3, 1), 'layers.2.bias': (1,)}
    """
    return dict(zip(parameter_names(model), flatten(model)[0], strict=True))


def named_gradients(gradient: Any) -> NamedGradientMap:
    """The gradient of a model as ``NamedGradientMap``: for each name a thunk that returns the gradient of that parameter.

    >>> from autograd import grad
    >>> from autograd.nn import Linear
    >>> gradient = grad(lambda model: model(np.ones(2)).sum())(Linear(2, 1))
    >>> {name: thunk() for name, thunk in named_gradients(gradient).items()}
    {'weight': array([[1.], [1.]]), 'bias': array([1.])}
    """
    return {name: partial(_itself, each) for name, each in named_parameters(gradient).items()}


def _itself(gradient: Any) -> Any:
    return gradient


def count_parameters(model: Any) -> int:
    """How many numbers the parameters of a model are.

    >>> from autograd.nn import Linear
    >>> count_parameters(Linear(10, 5))
    55
    """
    return sum(int(np.size(innermost_value(each))) for each in flatten(model)[0])


def with_parameters(model: Any, values: Mapping[str, Any], *, strict: bool = True) -> Any:
    """The model with these arrays for parameters, by name; they are not copied unless their dtype is another one.

    Raises ValueError for names that the model does not have, names that are missing (unless ``strict`` is False: then those
    parameters stay), and arrays of another shape; TypeError for arrays that do not become the parameter's dtype.

    >>> from autograd.nn import Linear
    >>> with_parameters(Linear(2, 1), {"weight": np.ones((2, 1)), "bias": np.zeros(1)})(np.array([3.0, 4.0]))
    array([7.])
    """
    leaves, structure = flatten(model)
    names = parameter_names(model)
    _check_names("with_parameters", "parameter", names, values, strict)
    return structure.rebuild(
        [
            _fitting("with_parameters", name, old, values[name]) if name in values else old
            for name, old in zip(names, leaves, strict=True)
        ]
    )


def named_buffers(model: Any) -> dict[str, Any]:
    """What is an array, or a number, but no parameter, by name: the running statistics of ``BatchNorm``.

    >>> from autograd.nn import BatchNorm
    >>> named_buffers([BatchNorm(2)])
    {'0.running_mean': array([0., 0.]), '0.running_var': array([1., 1.])}
    """
    return {f"{prefix}{name}": module.__dict__[name] for prefix, module in _modules(model, "") for name in type(module).buffers}


def with_buffers(model: Any, values: Mapping[str, Any], *, strict: bool = True) -> Any:
    """The model with these values for its buffers, by name; its parameters stay the very arrays. Errors as ``with_parameters``.

    After a step of training: ``model = with_buffers(model, named_buffers(trained))``.

    >>> from autograd.nn import BatchNorm
    >>> with_buffers(BatchNorm(1), {"running_mean": np.array([2.0]), "running_var": np.ones(1)}).running_mean
    array([2.])
    """
    old = named_buffers(model)
    _check_names("with_buffers", "buffer", list(old), values, strict)
    new = {name: _fitting("with_buffers", name, old[name], each) for name, each in values.items()}
    return _buffered(model, "", new) if new else model


def _modules(value: Any, prefix: str) -> Iterator[tuple[str, Module]]:
    """Each module, with what its attributes' names begin with."""
    if isinstance(value, Module):
        yield prefix, value
    for key, each in _parts(value).items():
        yield from _modules(each, f"{prefix}{key}.")


def _parts(value: Any) -> dict[Any, Any]:
    """What stands in a module or a container, by attribute, key or position; nothing in a leaf."""
    if isinstance(value, Module | dict):
        return dict(value.__dict__ if isinstance(value, Module) else value)
    if isinstance(value, list | tuple):
        return dict(zip(getattr(value, "_fields", range(len(value))), value, strict=True))
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    return {}


def _buffered(value: Any, prefix: str, new: Mapping[str, Any]) -> Any:
    if not any(f"{start}{name}" in new for start, module in _modules(value, prefix) for name in type(module).buffers):
        return value
    parts = {key: _buffered(each, f"{prefix}{key}.", new) for key, each in _parts(value).items()}
    if isinstance(value, Module):
        mine = {name: new[f"{prefix}{name}"] for name in type(value).buffers if f"{prefix}{name}" in new}
        return replace(value, **(parts | mine))
    if is_dataclass(value) and not isinstance(value, type):
        return dataclass_replace(value, **parts)
    if isinstance(value, dict):
        return parts
    return value._make(parts.values()) if hasattr(value, "_make") else type(value)(parts.values())


def _check_names(who: str, what: str, names: list[str], values: Mapping[str, Any], strict: bool) -> None:
    for name in values:
        if name not in names:
            known = close_matches(name, names) or f" Its {what}s are {names}"
            raise ValueError(f"{who}: the model has no {what} {name!r}.{known}")
    missing = [name for name in names if name not in values]
    if strict and missing:
        raise ValueError(f"{who}: got no value for {missing}; give every {what}, or pass strict=False to keep the others")


def _fitting(who: str, name: str, old: Any, new: Any) -> Any:
    """``new`` in place of ``old``, if it has its shape and can have its dtype."""
    plain = innermost_value(old)
    dtype = getattr(plain, "dtype", None)
    value = new if isinstance(new, Tensor | np.ndarray) or dtype is None else np.asarray(new)
    got, expected = np.shape(innermost_value(value)), np.shape(plain)
    if got != expected:
        raise ValueError(f"{who}: {name} has shape {expected}, got one of {got}; give an array of the parameter's shape")
    if dtype is None or isinstance(value, Tensor) or value.dtype == dtype:
        return value
    if not np.can_cast(value.dtype, dtype, "same_kind"):
        raise TypeError(f"{who}: {name} has dtype {dtype}, got {value.dtype}; convert it with astype on purpose")
    return value.astype(dtype)
