"""What ``python -m autograd check`` prints: rows as they come, under a bar, the reports of what failed, and all of it as JSON."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from dataclasses import asdict, dataclass, field
from math import isfinite
from textwrap import shorten
from typing import Any

import numpy as np

from autograd.check.backend import BackendRow
from autograd.check.kernel import KernelReport
from autograd.check.report import GradientReport

FAILED = 1
"""The exit code where something is not right."""

NOT_CHECKED = "not checked"
"""Said of what could not be compared at all."""

LONGEST_NOTE = 80

HEADINGS = ("kernel", "verdict", "examples", "seconds", "note")

_WIDEST_VERDICT = len("not deterministic")


@dataclass(frozen=True, slots=True)
class Row:
    """One operator in the table: what was found, in a few words, and the whole report for below the table."""

    name: str
    verdict: str
    ok: bool
    n_examples: int
    seconds: float
    note: str = ""
    report: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The row in values that JSON knows, under the names that the table has."""
        return {
            "kernel": self.name,
            "verdict": self.verdict,
            "ok": self.ok,
            "examples": self.n_examples,
            "seconds": round(self.seconds, 3),
            "note": self.note,
            "counts": dict(self.counts),
            "report": self.report,
        }


def kernel_row(found: KernelReport, seconds: float, allow: Sequence[str] = ()) -> Row:
    """The row of an operator that was checked by differences; what could not be judged is not ok unless it is allowed."""
    ok = found.verdict == "right" or found.verdict in allow
    others = ", ".join(f"{n} {verdict}" for verdict, n in found.verdicts.items() if n and verdict != found.verdict)
    note = _what_failed(found) or others
    return Row(found.name, found.verdict, ok, found.n_examples, seconds, note, "" if ok else found.text, found.verdicts)


def backend_row(found: BackendRow, seconds: float) -> Row:
    """The row of an operator on two backends; only one that differs is not ok."""
    ok = found.verdict != "differs"
    report = (
        "" if ok else f"kernel {found.name!r} differs: {found.detail}\n\nThe smallest call that was found:\n    {found.example}"
    )
    return Row(found.name, found.verdict, ok, found.n_examples, seconds, found.detail, report)


def _what_failed(found: KernelReport) -> str:
    if found.faults:
        return found.faults[0]
    failure = found.failure
    if failure is None:
        return "" if found.ok and found.n_examples else found.text.partition("\n")[0]
    if failure.culprit is None:
        return failure.where
    culprit = failure.culprit
    what = culprit.diagnosis or f"{culprit.found:.6g}, expected {culprit.expected:.6g}"
    return f"{culprit.mode}, {culprit.input_name}{culprit.element}: {what}"


def as_json(value: Any) -> Any:
    """A value in what JSON knows: records as objects, arrays as lists, and as text what it has no number for.

    >>> as_json({"error": float("inf"), "at": np.array([1.0, 2.0]), "element": (1, None)})
    {'error': 'inf', 'at': [1.0, 2.0], 'element': [1, None]}
    """
    if isinstance(value, np.ndarray | np.generic):
        return as_json(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): as_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(each) for each in value]
    if isinstance(value, float):
        return float(value) if isfinite(value) else str(value)
    return value if value is None or isinstance(value, str | int) else str(value)


def report_fields(report: GradientReport) -> dict[str, Any]:
    """The fields of a report on a gradient, and its text; without the Jacobians, which are tables for people."""
    fields = ("verdict", "where", "how", "found", "expected", "error", "tolerance", "notes", "order")
    return {
        **{name: getattr(report, name) for name in fields},
        "probes": [asdict(each) for each in report.probes],
        "culprit": None if report.culprit is None else asdict(report.culprit),
        "report": report.text,
    }


def own_output(in_json: bool) -> AbstractContextManager[Any]:
    """With --json, stdout is for the result alone: what functions and rules print goes to stderr."""
    return redirect_stdout(sys.stderr) if in_json else nullcontext()


# ---------------------------------------------------------------------------------------------------- on a terminal


def counted(verdicts: Iterable[str], noun: str = "operator") -> str:
    """The last line: how many there are of each verdict.

    >>> counted(["right", "right", "wrong"])
    '3 operators: 2 right, 1 wrong'
    """
    numbers = Counter(verdicts)
    total = f"{numbers.total()} {noun}{'' if numbers.total() == 1 else 's'}"
    return f"{total}: {', '.join(f'{number} {verdict}' for verdict, number in numbers.most_common())}"


def each_row(names: Sequence[str], check: Callable[[str], Row], *, quiet: bool) -> list[Row]:
    """Check one name after the other and print its row at once, unless quiet; a bar on stderr says which one is under way."""
    width = max(map(len, [*names, HEADINGS[0]]))
    rows = []
    with _bar(len(names)) as (under_way, say):
        if not quiet:
            say(_line(width, *HEADINGS))
        for name in names:
            under_way(name)
            row = check(name)
            rows.append(row)
            if not quiet:
                note = shorten(row.note, LONGEST_NOTE, placeholder=" ...")
                say(_line(width, name, row.verdict, str(row.n_examples), f"{row.seconds:.2f}", note))
    return rows


def _line(width: int, name: str, verdict: str, examples: str, seconds: str, note: str) -> str:
    return f"{name:<{width}}  {verdict:<{_WIDEST_VERDICT}}  {examples:>8}  {seconds:>7}  {note}".rstrip()


@contextmanager
def _bar(n_names: int) -> Iterator[tuple[Callable[[str], object], Callable[[str], object]]]:
    """What to call when a name is begun, and what to print lines with, so that they stand above the bar.

    There is a bar only if stderr is a terminal and tqdm is installed.
    """

    def nothing(name: str) -> None:
        pass

    def say(line: str) -> None:
        print(line, flush=True)

    tqdm = _tqdm() if sys.stderr.isatty() else None
    if tqdm is None:
        yield nothing, say
        return
    with tqdm(total=n_names, desc="check", unit="operator", file=sys.stderr, leave=False) as bar:
        begun = False

        def move(name: str) -> None:
            nonlocal begun
            bar.set_postfix_str(name, refresh=not begun)
            bar.update(begun)
            begun = True

        yield move, lambda line: bar.write(line, file=sys.stdout)


def _tqdm() -> Any:
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm
