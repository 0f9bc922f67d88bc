"""Check a registered operator by its schema: draw calls of it, compare its rules with differences, shrink what fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd.check.calls import Call, paste_test
from autograd.check.domains import WITHOUT_ROW, domains
from autograd.check.local import check_call
from autograd.check.properties import call_faults, differentiable
from autograd.check.question import MODES
from autograd.check.report import GradientReport
from autograd.check.search import Refused, smallest_objection
from autograd.engine import binding_of, call_kernel
from autograd.errors import GradientError, GradtapeError
from registry.backends import get_backend, use_backend
from registry.errors import close_matches
from registry.gradients import get_gradient
from registry.kernels import backends_of
from registry.operators import get_schema, operator_names

if TYPE_CHECKING:
    from autograd.check.strategies import Strategy

FAILS = frozenset({"wrong", "not finite", "not deterministic"})
"""Verdicts of one call that are failures of the operator; a kink, a vacuous or a too noisy call is none."""


@dataclass(frozen=True, slots=True)
class KernelReport:
    """What ``check_kernel`` found.

    verdict     "right", or "wrong" if any call failed; where no call could be judged, what was said of most of them
    n_examples  how many calls were checked
    verdicts    how often each verdict was given: kinks, vacuous and too noisy calls are no failures
    failure     the report of the smallest call that failed, by its gradient; None if it failed otherwise, or none did
    faults      what else was wrong with it: memory layouts, shapes, dtypes, inputs changed in place
    example     that call
    text        all of this for a person, ending with a test that can be pasted into a file
    """

    name: str
    backend: str
    verdict: str
    n_examples: int
    failure: GradientReport | None = None
    example: Call | None = None
    text: str = ""
    faults: tuple[str, ...] = ()
    verdicts: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def ok(self) -> bool:
        """Whether no call failed."""
        return self.verdict not in FAILS

    def __str__(self) -> str:
        return self.text


def check_kernel(
    name: str,
    backend: str | None = None,
    *,
    calls: Strategy[Call] | None = None,
    max_examples: int = 30,
    seed: int = 0,
    order: int = 1,
    modes: Iterable[str] = MODES,
    special: bool = False,
    raise_error: bool = True,
) -> KernelReport:
    """Check the gradient of a registered operator on calls that are drawn by its schema and the table of domains.

    backend       the backend to run on; None for the active one
    calls         a strategy of calls in place of the table's, for example ``strategies.calls(name, inputs=[...])``
    max_examples  how many calls
    seed          the same seed draws the same calls
    order, modes  as for ``check_gradient``
    special       draw special values too, where no gradient but a NaN, a wrong shape or dtype or a changed input is a failure
    raise_error   raise GradientError for an operator that fails; False: only say so in the report

    Each call is compared with differences of its own kernel, in its memory layout with a contiguous copy, and its gradients
    with the shapes and dtypes of its inputs. A failure is shrunk to a small call, and the report ends with a test of it.
    Raises GradientError too for an operator that has no gradient, or of which no call could be drawn. Needs hypothesis.

    >>> check_kernel("exp", max_examples=5).verdict
    'right'
    """
    from autograd.check import strategies

    _check_name(name)
    where = get_backend() if backend is None else backend
    rows = domains()
    guessed = calls is None and name not in rows
    strategy = strategies.calls(name, special=special) if calls is None else calls
    chosen = tuple(modes)

    def check(call: Call) -> tuple[str, Any]:
        with nullcontext() if backend is None else use_backend(backend), np.errstate(all="ignore"):
            _run_once(call, finite=not special)
            return _special_verdict(call) if special else _judged(call, chosen, order, seed)

    found = smallest_objection(strategy, check, max_examples=max_examples, seed=seed)
    if not found.verdicts:
        raise GradientError(_nothing_drawn(name, where, guessed, found.last_refusal))
    report = _report(name, where, backend, found)
    if raise_error and not report.ok:
        raise GradientError(f"check_kernel: {report.text}")
    return report


def check_all(
    backend: str | None = None,
    *,
    names: Iterable[str] | None = None,
    progress: Callable[[KernelReport], object] | None = None,
    max_examples: int = 30,
    seed: int = 0,
    order: int = 1,
    modes: Iterable[str] = MODES,
) -> list[KernelReport]:
    """``check_kernel`` for every registered operator with a gradient that has a kernel on the backend; raises for none of them.

    names     only these operators
    progress  called with each report as it comes

    Operators of SciPy are there once ``autograd.scipy.special`` and its like are imported. Those that take functions are left
    out: ``autograd.check.domains.WITHOUT_ROW`` says which.

    >>> [report.verdict for report in check_all(names=["sin", "matmul"], max_examples=3)]
    ['right', 'right']
    """
    where = get_backend() if backend is None else backend
    reports = []
    for name in checkable(where) if names is None else names:
        try:
            report = check_kernel(
                name, backend, max_examples=max_examples, seed=seed, order=order, modes=modes, raise_error=False
            )
        except GradientError as error:
            report = KernelReport(name, where, "not checked", 0, text=str(error))
        reports.append(report)
        if progress is not None:
            progress(report)
    return reports


def checkable(backend: str) -> list[str]:
    """The operators with a gradient and a kernel on a backend, without those that take functions.

    >>> "exp" in checkable("numpy"), "checkpoint" in checkable("numpy")
    (True, False)
    """
    names = [name for name in operator_names() if get_gradient(name) is not None and backend in backends_of(name)]
    return [name for name in names if name not in WITHOUT_ROW]


def _check_name(name: str) -> None:
    if get_schema(name) is None:
        raise GradientError(
            f"check_kernel: there is no operator {name!r}.{close_matches(name, operator_names())} Import first what registers it"
        )
    if get_gradient(name) is None:
        raise GradientError(f"check_kernel: operator {name!r} has no gradient; register one with registry.gradient({name!r})")


def _run_once(call: Call, finite: bool) -> None:
    """Raise Refused for a call that the kernel refuses, or whose result is not finite where it should be."""
    operands = [list(each) if isinstance(each, list) else each for each in call.inputs]
    try:
        y = call_kernel(binding_of(call.name), operands, call.all_attrs())
    except Exception as error:
        raise Refused from error
    outputs = y if isinstance(y, tuple | list) else (y,)
    if finite and not all(np.all(np.isfinite(each)) for each in outputs):
        raise Refused("its result is not finite")


def _judged(call: Call, modes: tuple[str, ...], order: int, seed: int) -> tuple[str, Any]:
    """The verdict on a call, and the report or the list of faults that is the objection to it."""
    verdict, report, error = "vacuous", None, None
    if any(np.size(x) for _, x in differentiable(call)):
        try:
            report = _gradient_report(call, modes, order, seed)
            verdict = _verdict(report)
        except GradtapeError:
            raise
        except Exception as raised:  # the kernel ran a moment ago: does it change its inputs?
            error = raised
    if verdict in FAILS:
        return verdict, report
    faults = call_faults(call.name, call.inputs, call.attrs)
    if error is not None and not faults:
        faults = [f"raises {type(error).__name__} when it is run again: {error}"]
    return ("wrong", faults) if faults else (verdict, None)


def _special_verdict(call: Call) -> tuple[str, Any]:
    """At special values there need not be a derivative; what is left is that a gradient has the form of its input."""
    try:
        faults = call_faults(call.name, call.inputs, call.attrs)
    except (GradtapeError, np.linalg.LinAlgError) as error:
        raise Refused from error
    return ("wrong", faults) if faults else ("right", None)


def _gradient_report(call: Call, modes: tuple[str, ...], order: int, seed: int) -> GradientReport:
    return check_call(call.name, list(call.inputs), dict(call.attrs), modes=modes, order=order, seed=seed)


def _verdict(report: GradientReport) -> str:
    """The report's verdict; "right" where some inputs never count, as the second one of ``copysign``, and others are right."""
    judged = [probe.verdict for probe in report.probes if probe.judge == "differences"]
    if report.verdict == "vacuous" and "right" in judged:
        return "right"
    return report.verdict


def _nothing_drawn(name: str, backend: str, guessed: bool, refusal: BaseException | None) -> str:
    why = f"; the last one it refused with {type(refusal).__name__}: {refusal}" if refusal is not None else ""
    how = "drawn from its schema, which does not say what values it takes" if guessed else "drawn"
    return (
        f"check_kernel: kernel {name!r} on backend {backend!r} took none of the calls {how}{why}. Pass calls=,"
        f" such as strategies.calls({name!r}, inputs=[strategies.arrays(shape=(3,), elements=(0.1, 0.9))])"
    )


def _report(name: str, where: str, backend: str | None, found: Any) -> KernelReport:
    verdicts = MappingProxyType(dict(found.verdicts))
    count = sum(verdicts.values())
    if found.call is None:
        verdict = "right" if "right" in verdicts else found.verdicts.most_common(1)[0][0]
        others = ", ".join(f"{n} {each}" for each, n in verdicts.items() if each != "right")
        text = f"kernel {name!r} on backend {where!r}: {verdict} in {count} calls{f' ({others})' if others else ''}"
        return KernelReport(name, where, verdict, count, text=text, verdicts=verdicts)
    listed = isinstance(found.objection, list)
    if listed:
        what = "\n".join(found.objection)
        test = paste_test(found.call, "properties", "call_faults", "result == []", backend)
    else:
        what = str(found.objection)
        test = paste_test(found.call, "local", "check_call", "result.ok, str(result)", backend)
    text = (
        f"kernel {name!r} on backend {where!r} fails\n{what}\n\nThe smallest call that was found:\n    {found.call}\n\n"
        f"A test of it, ready to paste:\n\n{test}\n"
    )
    verdict = "wrong" if listed else found.objection.verdict
    return KernelReport(
        name,
        where,
        verdict,
        count,
        failure=None if listed else found.objection,
        example=found.call,
        text=text,
        faults=tuple(found.objection) if listed else (),
        verdicts=verdicts,
    )
