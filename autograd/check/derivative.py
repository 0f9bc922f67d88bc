"""``check_derivative``: is a derivative right that somebody wrote by hand, for a function of any library?"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from autograd.check import patterns
from autograd.check.asked import Names
from autograd.check.by_hand import ByHand, Curvature, Misshapen, Plain
from autograd.check.comparison import compared, nothing_to_compare, output_names
from autograd.check.diagnosis import MOST_ELEMENTS, gradient_arrays
from autograd.check.gradient import check_options
from autograd.check.judge import Judge
from autograd.check.question import check_floats
from autograd.check.report import Culprit, GradientReport, JacobianPair
from autograd.errors import GradientError

Array = np.ndarray[Any, Any]
KINDS = {"gradient": "gradient", "jacobian": "Jacobian", "hessian_vector_product": "Hessian-vector product"}


def check_derivative(
    f: Callable[..., Any],
    df: Callable[..., Any],
    x: Any,
    *,
    kind: str = "gradient",
    args: Sequence[Any] = (),
    seed: int = 0,
    rtol: float = 1e-6,
    n_directions: int = 3,
    max_elements: int = 32,
    allow: Sequence[str] = (),
    raise_error: bool = True,
) -> GradientReport:
    """Compare ``df``, a derivative written by hand, with differences of ``f`` at ``x``: no tape, any callable on arrays.

    f              called as ``f(x, *args)``; gives a number, an array or a container of arrays
    df             called as ``df(x, *args)``, or ``df(x, v, *args)`` for a product with ``v``
    x              an array, a float, or a nested container; a list of numbers is taken as an array. Its floats are checked
    kind           "gradient"                of an ``f`` that gives one number: of the shape of ``x``, or a container like ``x``
                   "jacobian"                of shape ``f(x).shape + x.shape``; between containers, in containers like those of
                                             ``f(x)``, whose leaves are containers like ``x``
                   "hessian_vector_product"  of an ``f`` that gives one real number: like ``x``
    args           further arguments; a random generator among them is put back to its state for each run
    seed, n_directions, max_elements, rtol, allow, raise_error   as those of ``check_gradient``

    Of complex numbers ``x + iy``, the derivative of a real function is ``df/dx - i df/dy``, whose conjugate PyTorch gives; that
    of a complex function is its complex derivative, so ``f`` must be holomorphic.

    ``f`` gets its arguments in the dtype in which they were given, never in another: some functions insist on one. Steps and
    tolerances follow the coarser of the dtypes of ``x`` and of what ``f`` gives: in single precision a slope must be known to a
    hundredth of the largest, so that smaller faults may pass, and in half precision it seldom is. Where ``f`` raises ValueError
    or ArithmeticError beside ``x``, it counts as not finite.

    The report has the verdicts of ``check_gradient``; its ``culprit`` names ``df``, its worst element and the kind of fault. A
    ``df`` of the wrong shape is "wrong", with both shapes. Raises GradientError with the report for any verdict but "right" and
    those of ``allow``, or if ``f`` gives nothing of that kind; ValueError for options with which a wrong derivative would pass.

    >>> import numpy as np
    >>> check_derivative(lambda x: np.sum(x**3), lambda x: 3 * x**2, [1.0, 2.0]).verdict
    'right'
    >>> print(check_derivative(lambda x: x**3, lambda x: 2 * x**2, 2.0, raise_error=False).culprit.diagnosis)
    wrong by a factor of 0.666667

    Functions of JAX are checked as they are, in single precision unless its 64 bits are switched on. For PyTorch an adapter of
    two lines is enough, here with its own gradient for ``df``::

        def f(x): return model(torch.tensor(x)).detach().numpy()
        def df(x): return torch.func.grad(model)(torch.tensor(x)).resolve_conj().numpy()

    For complex numbers take ``.conj()`` of PyTorch's gradient: it is the conjugate of ours.
    """
    check_options("check_derivative", n_directions, rtol, allow)
    if kind not in KINDS:
        raise ValueError(f"check_derivative: got kind={kind!r}, expected one of {tuple(KINDS)}")
    with np.errstate(all="ignore"):  # what is not finite is reported, not warned of
        report = _check(f, df, x, kind, tuple(args), seed, rtol, n_directions, max_elements)
    if raise_error and not report.ok and report.verdict not in allow:
        raise GradientError(f"check_derivative: {report}")
    return report


def _check(
    f: Callable[..., Any],
    df: Callable[..., Any],
    x: Any,
    kind: str,
    args: tuple[Any, ...],
    seed: int,
    rtol: float,
    n_directions: int,
    max_elements: int,
) -> GradientReport:
    subject, name = _name(f, "f"), _name(df, "df")
    call = Plain(f, x, args)
    check_floats(call.given, "check_derivative")
    rng = np.random.default_rng(seed)
    question = ByHand(call, df, name, kind, rng)
    order = 2 if kind == "hessian_vector_product" else 1
    unasked = nothing_to_compare(question, subject, order)
    if unasked is not None:
        return unasked
    _check_kind(question, kind)
    if kind == "hessian_vector_product":
        question = Curvature(call, df, name, rng, n_directions)
    notes: list[str] = []
    try:
        judge = Judge(question, Names(call.paths, _output_names(question)), ("reverse",), rtol)
    except Misshapen as error:
        return _misshapen(question, subject, df, error, order)
    if not _same(judge.gradients or [], question.gradients()):
        return GradientReport(name, "not deterministic", notes=("the derivative itself differs between two runs",), order=order)
    columns = judge.columns(max_elements, n_directions)
    probes = [probe for asked in columns for probe in judge.probes(asked)]
    report = compared(judge, columns, probes, subject, max_elements, order).named(KINDS[kind])
    if report.verdict == "too noisy to tell" and np.max(question.row_eps) > np.finfo(float).eps:
        notes.append("below double precision differences know no more; pass x in double precision if f takes it")
    if call.refused:
        notes.append(f"{subject} raised {call.refused} beside this point: there it was taken for not finite")
    if report.verdict == "wrong":
        culprit = _culprit(judge, report, df, rtol)
        report = report.with_culprit(culprit)
        if culprit.diagnosis is None and all(each.dtype.kind == "c" for each in (*question.points, *question.outputs)):
            notes.append(
                f"{subject} gives complex numbers: a derivative by complex numbers exists for holomorphic functions alone"
            )
    return report.with_note(*notes)


def _name(function: Any, otherwise: str) -> str:
    name = getattr(function, "__name__", "<lambda>")
    return otherwise if name == "<lambda>" else str(name)


def _same(one: Sequence[Sequence[Array]], two: Sequence[Sequence[Array]]) -> bool:
    return all(np.array_equal(a, b, equal_nan=True) for rows in zip(one, two, strict=True) for a, b in zip(*rows, strict=True))


def _output_names(question: ByHand) -> list[str]:
    if isinstance(question, Curvature):
        return question.vectors if question.by_element else []
    return output_names(question.function.outputs, question)


def _check_kind(question: ByHand, kind: str) -> None:
    """Raise GradientError if the function has no derivative of that kind."""
    size = sum(each.size for each in question.outputs)
    if kind != "jacobian" and size != 1:
        raise GradientError(
            f"check_derivative: f gives {size} numbers, but a {KINDS[kind]} is of one; pass kind='jacobian', or for a function"
            " that works element by element sum its result: lambda x: np.sum(f(x))"
        )
    complex_ones = any(each.dtype.kind == "c" for each in (*question.points, *question.outputs))
    if kind == "hessian_vector_product" and complex_ones:
        raise GradientError(
            "check_derivative: got complex numbers for a Hessian-vector product; let f take their real and imaginary parts"
        )


def _line_of(df: Any) -> str | None:
    """Where a function is defined, as ``file.py:12``."""
    code = getattr(inspect.unwrap(df) if callable(df) else df, "__code__", None)
    return None if code is None else f"{Path(code.co_filename).name}:{code.co_firstlineno}"


def _misshapen(question: ByHand, subject: str, df: Any, error: Misshapen, order: int) -> GradientReport:
    diagnosis = f"wrong shape: {error}"
    if error.values is not None and _is_transposed(question, error.values):
        diagnosis += "; it is the transposed"
    nan = float("nan")
    paths = ", ".join(question.function.paths)
    culprit = Culprit(question.answer, "", paths, "", nan, nan, nan, diagnosis, "by hand", source_line=_line_of(df))
    what = KINDS[question.kind]
    return GradientReport(subject, "wrong", where=paths, how=question.answer, culprit=culprit, order=order, what=what)


def _is_transposed(question: ByHand, values: Array) -> bool:
    """Whether a Jacobian of the wrong shape has inputs first."""
    if question.kind != "jacobian" or len(question.points) != 1 or len(question.outputs) != 1:
        return False
    x, y = question.points[0], question.outputs[0]
    if values.shape != x.shape + y.shape or y.size > MOST_ELEMENTS:
        return False
    turned = np.moveaxis(values, range(x.ndim), range(y.ndim, y.ndim + x.ndim))
    direction = question.scales[0] * question.signed(x)
    found = question._rows_of([np.tensordot(turned, direction, axes=x.ndim)])
    return patterns.near(found, question.slopes(0, direction, None, 0.0).value)


# -------------------------------------------------------------------------------------------------- the kind of fault


def _culprit(judge: Judge, report: GradientReport, df: Any, rtol: float) -> Culprit:
    """The derivative itself, its worst element, and what kind of fault it has."""
    question = judge.question
    assert isinstance(question, ByHand)
    number = next(n for n, path in enumerate(judge.names.inputs) if _is_of(report.where, path))
    found, expected, wrong = _arrays(judge, report, number, rtol)
    text = None if found is None else _kind(judge, report, number, found, expected, wrong, rtol)
    counts = None if found is None else (int(wrong.sum()), wrong.size)
    values = (report.found, report.expected, report.tolerance)
    return Culprit(question.answer, "", report.where, "", *values, text, "by hand", source_line=_line_of(df), n_wrong=counts)


def _is_of(where: str, path: str) -> bool:
    place = where.rpartition(" by ")[2]
    return place == path or place.startswith((f"{path}[", f"{path},", f"{path} "))


def _arrays(judge: Judge, report: GradientReport, number: int, rtol: float) -> tuple[Any, Any, Any]:
    """The derivative in one input as it is and as it should be, and where it is wrong: all of it, or else one combination."""
    pairs = [each for each in report.jacobians if each.input == judge.names.inputs[number]]
    if pairs and np.any(pairs[0].verdicts == "wrong"):
        return _of_pair(judge, pairs[0], number)
    if judge.question.points[number].size > MOST_ELEMENTS:
        return None, None, None
    found, expected, margin = gradient_arrays(judge, number, judge.question.answer, 0)
    wrong = ~(np.abs(found - expected) <= rtol * np.maximum(np.abs(found), np.abs(expected)) + margin)
    return (found, expected, wrong) if wrong.any() else (None, None, None)


def _of_pair(judge: Judge, pair: JacobianPair, number: int) -> tuple[Array, Array, Array]:
    """A Jacobian as numbers, complex where they are: a complex output has two rows for its parts, an input two columns."""
    question = judge.question
    from_complex = question.points[number].dtype.kind == "c"
    to_complex = question.outputs[0].dtype.kind == "c" and not isinstance(question, Curvature)
    wrong = pair.verdicts == "wrong"
    arrays = []
    for each in (pair.found, pair.expected):
        if to_complex:
            each = each[0::2] + 1j * each[1::2]
            each = each[:, 0::2] if from_complex else each
        elif from_complex:
            each = each[:, 0::2] - 1j * each[:, 1::2]
        arrays.append(each)
    wrong = wrong[0::2] | wrong[1::2] if to_complex else wrong
    wrong = wrong[:, 0::2] | wrong[:, 1::2] if from_complex else wrong
    shape = question.points[number].shape
    if len(wrong) == 1:
        return arrays[0].reshape(shape), arrays[1].reshape(shape), wrong.reshape(shape)
    return arrays[0], arrays[1], wrong


def _kind(
    judge: Judge, report: GradientReport, number: int, found: Array, expected: Array, wrong: Array, rtol: float
) -> str | None:
    if not np.isfinite(found).all():
        return patterns.not_finite(found)
    conjugate = patterns.conjugate(found, expected)
    within = 1e-5 if np.max(judge.question.row_eps) <= np.finfo(float).eps else 1e-3
    checks = (
        _not_linear(judge.question, number),
        patterns.zero(found, wrong),
        conjugate and f"{conjugate}; ours is df/dx - i df/dy, PyTorch's is df/dx + i df/dy",
        patterns.simple_factor(found, expected, within=within),
        patterns.order_of_elements(found, expected),
        _of_other_input(judge, report, number, found, rtol),
        patterns.precision(found, expected),
        patterns.factor(found, expected, within=within),
        patterns.part(found, expected, wrong),
    )
    return next((each for each in checks if each), None)


def _not_linear(question: Any, number: int) -> str | None:
    """Whether a Hessian-vector product is no product: twice the vector must give twice as much."""
    if not isinstance(question, Curvature):
        return None
    vector = question.rows[0]
    once, twice = [each[number] for each in question.gradients([vector, [2 * each for each in vector]])]
    if patterns.near(twice, 2.0 * once):
        return None
    if patterns.near(twice, once):
        return "not scaled by v: twice the vector gives the same product"
    return "not linear in v: twice the vector does not give twice the product"


def _of_other_input(judge: Judge, report: GradientReport, number: int, found: Array, rtol: float) -> str | None:
    for other, path in enumerate(judge.names.inputs):
        if other != number and judge.question.points[other].shape == judge.question.points[number].shape:
            theirs = _arrays(judge, report, other, rtol)[1]
            if theirs is not None and theirs.shape == found.shape and patterns.near(found, theirs):
                return f"swapped inputs: it is the derivative by {path}"
    return None
