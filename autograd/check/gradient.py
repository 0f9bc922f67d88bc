"""``check_gradient``: is the gradient of a function right, and if not, which kernel is to blame?"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autograd.check.asked import Names, gravest, index_text
from autograd.check.comparison import compared, nothing_to_compare, output_names
from autograd.check.judge import Judge
from autograd.check.question import ByTape, Question, check_floats
from autograd.check.report import VERDICTS, GradientReport, Probe
from autograd.containers import flatten, is_container
from autograd.errors import GradientError
from autograd.tensor import Tensor, innermost_value

MODES = ("reverse", "forward")


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
            if _has_derivative(each) and (place < n_positional or isinstance(each, np.ndarray))
        ]
        self.paths = [paths[place] for place in self._places]
        self.given = [self._leaves[place] for place in self._places]
        self._is_flat = not kwargs and not any(
            is_container(each) for each in args
        )  # then rebuilding would cost more than it does
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
        is_float = [_is_float(each) for each in results]
        if not self.outputs:
            paths = ["output"] if structure is None else structure.paths("output")
            self.outputs = [path for path, each in zip(paths, is_float, strict=True) if each]
        return [each for each, kept in zip(results, is_float, strict=True) if kept]


def fresh(leaf: Any) -> Any:
    """A generator in the state in which it was given; everything else as it is."""
    return copy.deepcopy(leaf) if isinstance(leaf, np.random.Generator | np.random.RandomState | random.Random) else leaf


def _has_derivative(leaf: Any) -> bool:
    plain = isinstance(leaf, np.ndarray | np.generic | float | complex)
    return plain and np.asarray(leaf).dtype.kind in "fc" and np.size(leaf) > 0


def _is_float(result: Any) -> bool:
    if isinstance(result, Tensor):
        result = innermost_value(result)
    if type(result) is np.ndarray:
        return result.dtype.kind in "fc"
    return isinstance(result, np.ndarray | np.generic | float | complex) and np.asarray(result).dtype.kind in "fc"


def _check(
    function: Any, subject: str, modes: Sequence[str], order: int, seed: int, n_directions: int, max_elements: int, rtol: float
) -> GradientReport:
    from autograd.check.culprit import explain

    report = GradientReport(subject, "right")
    call = function
    for number in range(1, order + 1):
        if number > 1:
            call = Derivative(call, seed)
        check_floats(function.given, "check_gradient")
        try:
            report, _ = examine(call, subject, modes, seed, n_directions, max_elements, rtol, order=number)
        except Exception as error:
            report = GradientReport(subject, "wrong", order=number).with_note(
                f"the gradient raises {type(error).__name__}: {error}"
            )
            report = explain(call, function, report, modes, seed, rtol)
            if report.culprit is None:  # not the fault of a rule
                raise
        if not report.ok:
            return report if report.culprit is not None else explain(call, function, report, modes, seed, rtol)
    return report


def examine(
    call: Any,
    subject: str,
    modes: Sequence[str],
    seed: int,
    n_directions: int,
    max_elements: int,
    rtol: float,
    *,
    order: int = 1,
    weights: Sequence[Any] | None = None,
    own_precision: bool = False,
) -> tuple[GradientReport, Judge | None]:
    """The report on one function, without a culprit, and the judge of it, if it came to that.

    ``call`` has ``given`` leaves, their ``paths``, and the names of its ``outputs``.
    """
    question = ByTape(call, call.given, np.random.default_rng(seed), weights=weights, own_precision=own_precision)
    unasked = nothing_to_compare(question, subject, order)
    if unasked is not None:
        return unasked, None
    judge = Judge(question, Names(call.paths, output_names(call.outputs, question)), modes, rtol)
    columns = judge.columns(max_elements, n_directions)
    probes = [probe for asked in columns for probe in judge.probes(asked)]
    dot = judge.dot_test()
    if dot is not None and gravest([each.verdict for each in probes]) in ("right", "vacuous") and dot.verdict != "right":
        probes.append(dot)
    probes += _compare_precisions(call, question, judge)
    report = compared(judge, columns, probes, subject, max_elements, order)
    return (report if question.tracked else report.with_note("no output depends on an input, as far as the tape saw")), judge


def _compare_precisions(call: Any, question: Question, judge: Judge) -> list[Probe]:
    """For leaves in less than double precision: the worst element of their own gradient, against the doubles'."""
    dtypes = [np.asarray(each).dtype for each in call.given]
    if judge.gradients is None or dtypes == [each.dtype for each in question.points]:
        return []
    eps = float(max(np.finfo(each).eps for each in dtypes))
    tolerance = 3 * eps**0.5
    own = own_gradients(call, call.given, question.rows[0])
    if own is None:
        return []
    least = eps * float(np.sum(question.rounding[0] / np.finfo(float).eps)) / tolerance
    probes = []
    for number, dtype in enumerate(dtypes):
        scale, double = question.scales[number], judge.gradients[0][number]
        sizes = np.abs(double) * scale
        typical = float(np.sqrt(np.mean((sizes / (sizes.max() or 1.0)) ** 2)) * sizes.max()) if sizes.size else 0.0
        errors = np.abs(own[number] - double) * scale / np.maximum(np.maximum(sizes, typical), least or 1.0)
        worst = np.unravel_index(np.argmax(np.where(np.isnan(errors), np.inf, errors)), errors.shape)
        where = f"{call.paths[number]}{index_text(worst)} as {dtype}"
        one, two = [float(complex(each[worst]).real) for each in (own[number], double)]
        size = float(np.abs(double[worst])) or 1.0
        verdict = "right" if errors[worst] <= tolerance else "wrong" if np.isfinite(one) else "not finite"
        found = Probe(
            where, "reverse mode", one, two, float(errors[worst]) * size, tolerance * size, 0.0, verdict, judge="double precision"
        )
        probes.append(found)
    return probes


def own_gradients(call: Any, given: Sequence[Any], weights: Sequence[Any]) -> list[Any] | None:
    """The gradient in each leaf as it was given, in its own precision; None where the function gives nothing of that shape."""
    from autograd.engine import resolve
    from autograd.tape import Tape
    from autograd.tape_gradient import gradient

    with Tape(persistent=True) as tape:
        watched = [tape.watch(each) for each in given]
        results = [resolve(each) for each in call(*watched)]
    total: list[Any] = [np.zeros(np.shape(each)) for each in given]
    if [np.shape(innermost_value(each)) for each in results] != [np.shape(each) for each in weights]:
        return None
    for result, dy in zip(results, weights, strict=True):
        if type(result) is Tensor and result._tape is tape:
            parts = gradient(tape, result, watched, dy=np.asarray(dy).astype(result.dtype))
            total = [before + np.asarray(part) for before, part in zip(total, parts, strict=True)]
    return total


class Derivative:
    """The gradient of a function, as a function of the same leaves: what an order more is asked about."""

    def __init__(self, call: Any, seed: int) -> None:
        self._call = call
        self.given, self.paths = call.given, call.paths
        question = ByTape(call, call.given, np.random.default_rng(seed), rows=False)
        self._weights = question.rows[0]
        self.outputs = [f"gradient in {path}" for path in call.paths]

    def __call__(self, *values: Any) -> list[Any]:
        from autograd.functional import make_vjp

        weights = self._weights

        def weighted(*leaves: Any) -> Any:
            return list(self._call(*leaves))

        pull_back, y = make_vjp(weighted, tuple(range(len(values))))(*values)
        dys = [w.astype(np.asarray(innermost_value(each)).dtype) for w, each in zip(weights, y, strict=True)]
        return list(pull_back(dys))
