"""What becomes of options of NumPy's functions that a tape cannot follow: they are refused, never dropped."""

from __future__ import annotations

from typing import Any

from autograd.errors import NotTrackedError
from autograd.tensor import innermost_value


def refuse(function: str, **options: Any) -> None:
    """Raise NotTrackedError if one of the options, which a tape cannot follow, is not None.

    >>> refuse("sum", out=None)
    """
    for name, value in options.items():
        if value is not None:
            raise NotTrackedError(
                f"{function}: {name}= is not supported, because a tape could not follow it; got"
                f" {type(innermost_value(value)).__name__}, expected none. Use the result that {function} returns, or NumPy's own"
                " function on plain arrays"
            )
