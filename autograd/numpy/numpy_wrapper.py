"""NumPy's namespace under the module name that HIPS autograd's users import it by: everything is ``autograd.numpy``'s."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

import numpy as _np

from autograd import numpy as _anp
from autograd.extend import notrace_primitive, primitive
from autograd.numpy import *  # noqa: F403  # what it lists

__all__ = [*_anp.__all__, "notrace_primitive", "primitive", "wrap_namespace"]


def wrap_namespace(old: dict[str, Any], new: MutableMapping[str, Any]) -> None:
    """Put what a module of NumPy's kind holds into another: functions as primitives, numbers, None and types as they are.

    >>> target = {}
    >>> wrap_namespace({"twice": lambda x: 2 * x, "pi": 3.14, "text": "no"}, target)
    >>> sorted(target), target["twice"](1.0)
    (['pi', 'twice'], 2.0)
    """
    for name, each in old.items():
        if isinstance(each, type | float | int | None) and not name.startswith("__"):
            new[name] = each
        elif callable(each) and (isinstance(each, _np.ufunc) or hasattr(each, "__name__")):
            new[name] = primitive(each)


def __getattr__(name: str) -> Any:
    return getattr(_anp, name)
