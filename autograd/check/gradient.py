"""``check_gradient``: is the gradient of a function right, and if not, which kernel is to blame?"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autograd.check.culprit import explain
from autograd.check.examine import Derivative, examine
from autograd.check.question import MODES, check_floats, is_float
from autograd.check.report import VERDICTS, GradientReport
from autograd.containers import flatten, is_container
from autograd.errors import GradientError
from autograd.tensor import Tensor, innermost_value


def check_gradient(
    f: Callable[..., Any],
    *args: Any,
    kwargs: Mapping[str, Any] | None = None,
    modes: Sequence[str] = MODES,
    order: int = 1,
    seed: int = 0,
    n_directions: int = 3,
    max_elements: int = 32,
    rtol: float = 1e-6,
    allow: Sequence[str] = (),
    raise_error: bool = True,
) -> GradientReport:
    """Compare derivatives of ``f`` at ``args`` with differences; where they are wrong, name the kernel, the input, the element.

    args           arrays, scalars or nested containers of them; every float or complex leaf is checked, all else is constant. A
                   random generator among them is put back to its state for each run
    kwargs         keyword arguments for ``f``; arrays of floats among them are checked, numbers are settings
    modes          "reverse", "forward" or both; both are compared with differences, and with each other
    order          2 checks the gradient of the gradient too, and so on; the report is of the first order that is not right
    seed           of the random directions and weights
    n_directions   how many directions for an array of more than ``max_elements``; a smaller one is checked element by element.
                   Directions are dense and of random sign, so that no element is left out; a wrong one is narrowed to an element
    rtol           tolerance relative to a derivative, beside what its differences are uncertain by
    allow          verdicts that raise no error, such as ``["kink"]``
    raise_error    raise GradientError, with the report for its text, for any verdict but "right" and those of ``allow``

    The verdict is "right", "wrong", "kink" (the slopes on either side differ, and the gradient lies between them), "not finite",
    "not deterministic", "too noisy to tell", or "vacuous" (an input never reaches the output, so that nothing was checked).
    ``f`` may return an array, a number or a container; what is no float among it is left alone. Functions of few inputs and
    outputs are checked at every element of the Jacobian, of others random combinations. Arguments in less than double precision
    are checked as doubles, and their own gradients are then compared with those.

    >>> from autograd import numpy as np
    >>> check_gradient(lambda x: np.sum(x * x), np.array([1.0, 2.0])).verdict
    'right'
    >>> check_gradient(abs, 0.0, raise_error=False).verdict
    'kink'
    """
    if not callable(f):
        raise TypeError(f"check_gradient: got {f!r} of type {type(f).__name__}, expected a function and then its arguments")
    if isinstance(modes, str) or not modes or any(each not in MODES for each in modes):
        raise ValueError(f"check_gradient: got modes={modes!r}, expected some of {MODES}, as a sequence")
    if not isinstance(order, int) or order < 1:
        raise ValueError(f"check_gradient: got order={order!r}, expected a whole number of at least 1")
    check_options("check_gradient", n_directions, rtol, allow)
    subject = getattr(f, "__name__", None) or type(f).__name__
    function = Function(f, args, dict(kwargs or {}))
    with np.errstate(all="ignore"):  # what is not finite is reported, not warned of
        report = _check(function, subject, modes, order, seed, n_directions, max_elements, rtol)
    if raise_error and not report.ok and report.verdict not in allow:
        raise GradientError(f"check_gradient: {report}")
    return report


def check_options(who: str, n_directions: int, rtol: float, allow: Sequence[str]) -> None:
    """Raise ValueError for options with which a wrong gradient would pass."""
    if not 0 < rtol < 0.1 or n_directions < 1:
        raise ValueError(
            f"{who}: got rtol={rtol!r}, n_directions={n_directions!r}; expected 0 < rtol < 0.1 and at least 1"
            " direction: with less, a wrong gradient would pass"
        )
    for each in [allow] if isinstance(allow, str) else allow:
        if each not in VERDICTS or each == "wrong" or isinstance(allow, str):
            raise ValueError(f"{who}: got allow={allow!r}, expected a sequence of verdicts other than 'wrong': {VERDICTS}")


class Function:
    """A function of the float leaves of its arguments, to the float leaves of its result."""

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._f = f
        self._leaves, self._structure = flatten((args, kwargs))
        paths = [path for number, each in enumerate(args) for path in flatten(each)[1].paths(f"argument {number}")]
        n_positional = len(paths)
        for name, each in kwargs.items():
            paths += flatten(each)[1].paths(f"keyword argument {name!r}")
        self._places = [
            place
            for place, each in enumerate(self._leaves)
            if is_float(each) and np.size(each) and (place < n_positional or isinstance(each, np.ndarray))
        ]
        self.paths = [paths[place] for place in self._places]
        self.given = [self._leaves[place] for place in self._places]
        # without containers there is nothing to rebuild, which would cost more than it does
        self._is_flat = not kwargs and not any(is_container(each) for each in args)
        self._random = any(fresh(each) is not each for each in self._leaves)
        self.outputs: list[str] = []

    def __call__(self, *values: Any) -> list[Any]:
        leaves = [fresh(each) for each in self._leaves] if self._random else list(self._leaves)
        for place, value in zip(self._places, values, strict=True):
            leaves[place] = value
        if self._is_flat:
            y = self._f(*leaves)
        else:
            args, kwargs = self._structure.rebuild(leaves)
            y = self._f(*args, **kwargs)
        results, structure = ([y], None) if type(y) in (np.ndarray, np.float64, float, Tensor) else flatten(y)
        floats = [is_float(innermost_value(each)) for each in results]
        if not self.outputs:
            paths = ["output"] if structure is None else structure.paths("output")
            self.outputs = [path for path, each in zip(paths, floats, strict=True) if each]
        return [each for each, kept in zip(results, floats, strict=True) if kept]


def fresh(leaf: Any) -> Any:
    """A generator in the state in which it was given; everything else as it is."""
    return copy.deepcopy(leaf) if isinstance(leaf, np.random.Generator | np.random.RandomState | random.Random) else leaf


def _check(
    function: Any, subject: str, modes: Sequence[str], order: int, seed: int, n_directions: int, max_elements: int, rtol: float
) -> GradientReport:
    report = GradientReport(subject, "right")
    call = function
    for number in range(1, order + 1):
        if number > 1:
            call = Derivative(call, seed)
        check_floats(function.given, "check_gradient")
        try:
            report, _ = examine(call, subject, modes, seed, n_directions, max_elements, rtol, order=number)
        except Exception as error:
            raised = GradientReport(subject, "wrong", order=number).with_note(
                f"the gradient raises {type(error).__name__}: {error}"
            )
            report = explain(call, function, raised, modes, seed, rtol)
            if report.culprit is None:  # not the fault of a rule
                raise
            return report
        if not report.ok:
            return explain(call, function, report, modes, seed, rtol)
    return report
