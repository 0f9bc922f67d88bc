"""Every declared operator as a function: ``operators.multiply(x, y)``, ``operators.sum(a, axis=0)``.

Gradient rules are written with these, so that gradients of gradients need no further code. A function is made from the
operator's schema when it is first asked for, and kept among the globals here. So this module does nothing else: an operator
called ``all`` or ``sum`` hides the builtin of that name.
"""

from __future__ import annotations

from typing import Any

from autograd.calls import operator_function
from registry.names import stem_of
from registry.operators import when_changed

__all__ = ["operator_function"]

_made: set[str] = set()
"""Names of the functions that this module holds."""


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    function = operator_function(name)
    globals()[name] = function  # later look-ups find it without coming here, until the operator's schema changes
    _made.add(name)
    return function


def _drop(name: str) -> None:
    stem = stem_of(name)
    for each in [each for each in _made if stem_of(each) == stem]:
        _made.discard(each)
        globals().pop(each, None)


when_changed.append(_drop)
