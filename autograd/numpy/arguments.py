"""What NumPy's functions take beside tensors: nested lists become one array, and options no tape can follow are refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.engine import array_of
from autograd.errors import NotTrackedError
from autograd.functional import stop_gradient
from autograd.tensor import Tensor, innermost_value


def refuse(function: str, **options: Any) -> None:
    """Raise NotTrackedError if one of the options, which a tape cannot follow, is not None.

    >>> refuse("sum", out=None)
    """
    for name, value in options.items():
        if value is not None:
            raise NotTrackedError(
                f"{function}: {name}= is not supported, because a tape could not follow it; got"
                f" {type(innermost_value(value)).__name__}, expected none. Use what {function} returns, or NumPy's own function"
                " on plain arrays"
            )


def as_array(a: Any) -> Any:
    """Nested lists as one array, or as one tensor if they hold tensors; everything else as it is.

    >>> as_array([[1.0, 2.0]]).shape
    (1, 2)
    """
    return array_of("array", a) if isinstance(a, list | tuple) else a


def as_dtype(value: Any, dtype: Any) -> Any:
    """A value in a dtype, which a Python scalar then has for good: it is weak no more.

    >>> as_dtype(1.0, np.dtype("float32"))
    np.float32(1.0)
    """
    plain = innermost_value(value)
    if hasattr(plain, "dtype") and plain.dtype == dtype:
        return value
    if type(value) is not Tensor:
        return np.asarray(plain, dtype)[()]
    if not hasattr(plain, "dtype"):
        value = op.reshape(op.broadcast_to(value, shape=(1,)), shape=())
    return value if innermost_value(value).dtype == dtype else op.astype(value, dtype=dtype)


def of_bare_values(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's function, called on the bare values of its arguments; for those whose results are constants by nature.

    >>> of_bare_values(max)(1.0, 2.0)
    2.0
    """

    @wraps(theirs)
    def function(*args: Any, **options: Any) -> Any:
        return theirs(*[stop_gradient(each) for each in args], **{k: stop_gradient(v) for k, v in options.items()})

    function.__module__ = "autograd.numpy"
    function.__doc__ = f"NumPy's ``{theirs.__name__}`` over arrays and tensors."
    return function
