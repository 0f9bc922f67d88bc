"""One decorator: with plain arguments a function is NumPy's own, and only with tensors is it ours.

So on plain values every option, result and error is NumPy's by construction, and ours need only handle what a tape follows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np

from autograd.engine import innermost_tape, resolve
from autograd.errors import NotTrackedError
from autograd.tensor import innermost_value
from autograd.variant_calls import numpy_into


def follows(theirs: Callable[..., Any], *arguments: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator of our form of a function of NumPy, which follows tensors in these ``arguments``.

    Without tensors NumPy's function runs. A tensor in another argument raises NotTrackedError. ``out`` is never given to ours:
    its result is written into it by the rules of ``autograd.variant_calls``.

    >>> from autograd import operators as op
    >>> @follows(np.ptp, "a")
    ... def ptp(a, axis=None, out=None):
    ...     return op.subtract(op.max(a, axis=axis), op.min(a, axis=axis))
    >>> ptp([1.0, 4.0])
    np.float64(3.0)
    """

    def decorate(ours: Callable[..., Any]) -> Callable[..., Any]:
        name = theirs.__name__
        code = ours.__code__
        positional = code.co_varnames[: code.co_argcount]

        @wraps(ours)
        def function(*args: Any, **options: Any) -> Any:
            if innermost_tape(args) is None and innermost_tape(list(options.values())) is None:
                return theirs(*args, **options)
            args, options = tuple(resolve(each) for each in args), {each: resolve(value) for each, value in options.items()}
            given = {**dict(zip(positional, args, strict=False)), **options}
            for each, value in given.items():
                if each not in arguments and each != "out" and innermost_tape([value]) is not None:
                    raise NotTrackedError(
                        f"{name}: {each} is a tensor, but no derivative in it can be followed; expected a plain value: pass"
                        f" {each}.value, or {each}.item() for a number"
                    )
            out = given.pop("out", None)
            if out is None:
                return ours(*args, **options)
            inputs = [each for each in arguments if each in given]

            def run(*values: Any) -> Any:
                return ours(**{**given, **dict(zip(inputs, values, strict=True))})

            return numpy_into(f"{name}: out", run, [given[each] for each in inputs], out)

        return function

    return decorate


def written(theirs: Callable[..., Any], ours: Callable[..., Any], a: Any, out: Any, **options: Any) -> Any:
    """``ours(a, **options)`` with a place for its result: NumPy's function on plain values, and on bare ones if it is constant.

    An ``initial`` that is None is none.

    >>> written(np.sum, sum, [1.0, 2.0], np.zeros(()), axis=0, initial=None)
    array(3.)
    """
    if options.get("initial", 0) is None:
        del options["initial"]
    if innermost_tape([a, out, *options.values()]) is None:
        return theirs(a, out=out, **options)
    if theirs in _CONSTANT and innermost_tape([out]) is None:
        return theirs(innermost_value(resolve(a)), out=out, **options)
    return numpy_into(f"{theirs.__name__}: out", partial(ours, **options), [resolve(a)], out)


_CONSTANT = (np.all, np.any, np.argmax, np.argmin)
