"""What SciPy has and we have no gradient for: its own, but for tensors, which raise an error that names the function."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from autograd.engine import array_of, innermost_tape, resolve
from autograd.errors import NotTrackedError
from autograd.tensor import Tensor


def holds_tensors(*values: Any) -> bool:
    """Whether a tensor is among the values, or in a list, tuple or dictionary among them.

    >>> holds_tensors(1.0, [2.0, (3.0,)], {"x": 4.0})
    False
    """
    return innermost_tape([tuple(each.values()) if isinstance(each, dict) else each for each in values]) is not None


def as_array(name: str, value: Any) -> Any:
    """An argument of the function ``name`` as a tensor or an array: lists are joined, and Python numbers stay as they are.

    >>> as_array("solve", [1.0, 2.0]), as_array("solve", 3.0)
    (array([1., 2.]), 3.0)
    """
    value = resolve(value)
    if isinstance(value, list | tuple):
        value = array_of(name, value)
    return value if type(value) is Tensor or not hasattr(value, "__array__") else np.asarray(value)[()]


def refuse(function: str, argument: str, advice: str) -> NoReturn:
    """Raise NotTrackedError: an argument of a function got a tensor, which it cannot follow; the advice says what to write."""
    raise NotTrackedError(f"{function}: {argument} is a tensor, in which it has no gradient rule; {advice}")


def without_tensors(value: Any, name: str) -> Any:
    """What SciPy has under a name, with every function in it refusing tensors; classes and data are as they are.

    >>> import scipy.special
    >>> without_tensors(scipy.special.comb, "scipy.special.comb")(5, 2)
    np.float64(10.0)
    """
    if isinstance(value, ModuleType) or type(value).__module__.startswith("scipy.stats"):
        return _Names(value, name)
    if isinstance(value, type) or not callable(value):
        return value
    return _refusing(value, name)


def _refusing(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        if holds_tensors(args, kwargs):
            raise NotTrackedError(
                f"{name} has no gradient rule, and will not run on the bare value of a tensor. Write it with functions of"
                " autograd.scipy and autograd.numpy that have one, or use t.value where no gradient is needed"
            )
        return function(*args, **kwargs)

    return wraps(function)(call) if hasattr(function, "__name__") else call


class _Names:
    """The names of a module or a distribution of SciPy; calling it is what calling that is."""

    def __init__(self, value: Any, name: str) -> None:
        self._value = value
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return without_tensors(getattr(self._value, name), f"{self._name}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _refusing(self._value, self._name)(*args, **kwargs)

    def __dir__(self) -> list[str]:
        return dir(self._value)

    def __repr__(self) -> str:
        return repr(self._value)
