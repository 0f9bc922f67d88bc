"""Compare two backends kernel by kernel: the same values, the same gradients, the same refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograd.check.calls import Call
from autograd.check.domains import WITHOUT_ROW
from autograd.check.properties import differentiable, largest_gap, tolerance_of, value_and_gradients
from autograd.check.search import Refused, smallest_objection
from autograd.errors import GradientError
from registry.backends import use_backend
from registry.errors import KernelNotFoundError
from registry.gradients import get_gradient
from registry.kernels import get_kernels_for_backend
from registry.operators import get_schema
from registry.schema import SchemaKind

VERDICTS = ("same", "differs", "missing", "not checked")
"""What may be said of an operator on two backends."""


@dataclass(frozen=True, slots=True)
class BackendRow:
    """One operator on two backends: one of ``VERDICTS``, and where and by how much."""

    name: str
    verdict: str
    detail: str = ""
    example: Call | None = None
    n_examples: int = 0

    def __str__(self) -> str:
        example = f"\n        {self.example}" if self.example is not None else ""
        return f"{self.name:<24} {self.verdict:<12} {self.detail}".rstrip() + example


@dataclass(frozen=True, slots=True)
class BackendReport:
    """What ``check_backend`` found, one row an operator; ``str(report)`` lists all that is not the same."""

    name: str
    against: str
    rows: tuple[BackendRow, ...]

    @property
    def ok(self) -> bool:
        """Whether no operator differs. One that is missing is no difference: it raises an error that says so."""
        return not self.named("differs")

    def named(self, verdict: str) -> list[str]:
        """The names of the operators with a verdict."""
        return [row.name for row in self.rows if row.verdict == verdict]

    def __str__(self) -> str:
        numbers = {verdict: len(self.named(verdict)) for verdict in VERDICTS}
        counts = ", ".join(f"{number} {verdict}" for verdict, number in numbers.items() if number)
        lines = [f"backend {self.name!r} against {self.against!r}, {len(self.rows)} operators: {counts or 'none in common'}"]
        return "\n    ".join(lines + [str(row) for row in self.rows if row.verdict != "same"])


def check_backend(
    name: str,
    against: str = "numpy",
    *,
    names: Iterable[str] | None = None,
    dtypes: Sequence[str] | None = None,
    max_examples: int = 10,
    seed: int = 0,
    rtol: float | None = None,
    progress: Callable[[BackendRow], object] | None = None,
    raise_error: bool = False,
) -> BackendReport:
    """Run every kernel of a backend on drawn calls, and compare it with the one of another backend.

    Values and gradients have the same shape and dtype, and differ by rounding; a call that one backend refuses is refused by
    the other with an error of the same class, or of a more special one.

    names        only these operators
    dtypes       draw inputs of these dtypes alone, for a backend that has no others: ``["float32"]``
    rtol         relative to the largest element of a result; None: two thirds of the digits of its dtype
    progress     called with each row as it comes
    raise_error  raise GradientError with the report's text if a kernel differs

    A backend that was only installed is loaded. Raises BackendError for a name that is none. Needs hypothesis.

    >>> print(check_backend("numpy", names=["exp", "sum"], max_examples=3))
    backend 'numpy' against 'numpy', 2 operators: 2 same
    """
    with use_backend(name), use_backend(against):  # both start, or say why not
        own, theirs = _operators_of(name), _operators_of(against)
    chosen = list(dict.fromkeys([*theirs, *own])) if names is None else list(names)
    rows = []
    for each in chosen:
        row = _row(each, name, against, each in own, each in theirs, dtypes, max_examples, seed, rtol)
        rows.append(row)
        if progress is not None:
            progress(row)
    report = BackendReport(name, against, tuple(rows))
    if raise_error and not report.ok:
        raise GradientError(f"check_backend: {report}")
    return report


def _operators_of(backend_name: str) -> set[str]:
    """The operators of tensors that have a kernel on a backend; variants that write are made of these."""
    names = set()
    for config in get_kernels_for_backend(backend_name):
        schema = get_schema(config.kernel_name)
        if schema is not None and schema.kind() is SchemaKind.functional and schema.inputs:
            names.add(config.kernel_name)
    return names


def _row(
    name: str,
    backend: str,
    against: str,
    own: bool,
    theirs: bool,
    dtypes: Sequence[str] | None,
    max_examples: int,
    seed: int,
    rtol: float | None,
) -> BackendRow:
    from autograd.check import strategies

    if not (own and theirs):
        return BackendRow(name, "missing", f"it has no kernel on {' and '.join(_lacking(own, theirs, backend, against))}")
    if name in WITHOUT_ROW:
        return BackendRow(name, "not checked", WITHOUT_ROW[name].partition(":")[0])

    def check(call: Call) -> tuple[str, Any]:
        with np.errstate(all="ignore"):
            expected = _answer(call, against)
            if isinstance(expected, Exception) and isinstance(expected, KernelNotFoundError):
                raise Refused from expected
            return "same", _difference(call, _answer(call, backend), expected, backend, against, rtol)

    strategy = strategies.calls(name, dtypes=dtypes)
    found = smallest_objection(strategy, check, max_examples=max_examples, seed=seed)
    if found.call is None:
        bad = smallest_objection(strategy.map(_spoiled), check, max_examples=max(max_examples // 3, 1), seed=seed)
        if bad.call is not None:
            found = bad
    count = sum(found.verdicts.values())
    if not count:
        return BackendRow(name, "not checked", "no call could be drawn")
    if found.call is None:
        return BackendRow(name, "same", n_examples=count)
    return BackendRow(name, "differs", found.objection, found.call, count)


def _lacking(own: bool, theirs: bool, backend: str, against: str) -> list[str]:
    return [repr(each) for each, has in ((backend, own), (against, theirs)) if not has]


Answer = tuple[list[Any], list[Any]] | Exception


def _answer(call: Call, backend: str) -> Answer:
    """Outputs and gradients of a call on a backend, or the error that it was refused with."""
    try:
        with use_backend(backend):
            if get_gradient(call.name) is None:
                return _values(call), []
            return value_and_gradients(call)
    except Exception as error:
        return error


def _values(call: Call) -> list[Any]:
    from autograd.engine import binding_of, call_kernel

    y = call_kernel(binding_of(call.name), list(call.inputs), call.all_attrs())
    return [np.asarray(each) for each in (y if isinstance(y, tuple | list) else (y,))]


def _difference(call: Call, found: Answer, expected: Answer, backend: str, against: str, rtol: float | None) -> str | None:
    """What differs first, in words; None if nothing does."""
    if isinstance(found, Exception) or isinstance(expected, Exception):
        here, there = (type(each) if isinstance(each, Exception) else None for each in (found, expected))
        if here is not None and there is not None and (issubclass(here, there) or issubclass(there, here)):
            return None
        return f"{backend!r} {_reaction(found)}, {against!r} {_reaction(expected)}"
    if len(found[0]) != len(expected[0]):
        return f"{backend!r} returns {len(found[0])} outputs, {against!r} {len(expected[0])}"
    places = ["the value"] if len(expected[0]) == 1 else [f"output {k}" for k in range(len(expected[0]))]
    places += [f"the gradient in {place}" for place, _ in differentiable(call)]
    for place, here, there in zip(places, [*found[0], *found[1]], [*expected[0], *expected[1]], strict=False):
        words = _unequal(np.asarray(here), np.asarray(there), rtol)
        if words is not None:
            return f"{place} {words}"
    return None


def _reaction(answer: Answer) -> str:
    if isinstance(answer, Exception):
        return f"raises {type(answer).__name__} ({str(answer).partition(chr(10))[0]})"
    return "accepts the call"


def _unequal(here: Any, there: Any, rtol: float | None) -> str | None:
    if here.dtype != there.dtype or here.shape != there.shape:
        return f"is {here.dtype}{list(here.shape)}, expected {there.dtype}{list(there.shape)}"
    gap = largest_gap(here, there, rtol)
    if gap <= 1:
        return None
    if there.dtype.kind not in "fc":
        at = np.unravel_index(np.argmax(here != there), here.shape)
        return f"is {here[at]}, expected {there[at]}, at {[int(each) for each in at]}"
    sizes = np.where(np.isnan(here) & np.isnan(there), 0, np.abs(here - there))
    at = np.unravel_index(int(np.argmax(np.where(np.isnan(sizes), np.inf, sizes))), here.shape)
    error = gap * (tolerance_of(here.dtype, there.dtype) if rtol is None else rtol)
    return f"is {here[at]:.9g}, expected {there[at]:.9g}, at {[int(each) for each in at]}; relative difference {error:.1e}"


def _spoiled(call: Call) -> Call:
    """A call that kernels refuse, or should: an axis that is not there, else an input with one more element in its last axis."""
    for name, value in call.all_attrs().items():
        if name.startswith("axis") and not callable(value):
            return Call(call.name, call.inputs, {**call.attrs, name: 9})
    inputs = list(call.inputs)
    for place, each in reversed(list(enumerate(inputs))):
        if isinstance(each, np.ndarray) and each.ndim:
            inputs[place] = np.concatenate([each, each[..., :1]], axis=-1)
            break
    return Call(call.name, tuple(inputs), call.attrs)
