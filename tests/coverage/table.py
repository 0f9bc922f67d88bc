"""The table of coverage, ``autograd/COVERAGE.md``: put together from the rows of all tests and from the lists of accounts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache

from tests.coverage.accounts import CONSTANT, LISTS, NO_ARRAYS, REFUSED
from tests.coverage.arguments import REFUSED_ARGUMENTS, STEADY_ARGUMENTS
from tests.coverage.calls import Call, Watch
from tests.coverage.complex_rows import COMPLEX_TOO
from tests.coverage.namespaces import EXTRA, HAS_SCIPY, METHODS, NAMESPACES, SINCE, is_here
from tests.coverage.rows import ROOT, WITHOUT_WATCHING, Row, all_rows

FILE = ROOT / "autograd" / "COVERAGE.md"
MODES = {"reverse": "first", "forward": "forward", "second order": "second", "complex": "complex"}
"""Columns of the table, and the check of the harness that stands for each."""

NOTES = {
    "numpy.ufunc.accumulate": "step by step where there is no operator",
    "numpy.ufunc.at": "repeated indices for `add` and `subtract`",
    "numpy.ufunc.reduceat": "piece by piece",
    "numpy.divmod": "the quotient is constant",
    "numpy.frexp": "the exponent is constant",
    "numpy.modf": "the whole part is constant",
    "numpy.sign": "constant for real numbers",
    "numpy.c_": "indexed, not called",
    "numpy.r_": "indexed, not called",
    "numpy.mgrid": "indexed, not called",
    "numpy.ogrid": "indexed, not called",
    "numpy.poly1d": "the polynomial's coefficients, and calls of it",
    "numpy.fromfunction": "whatever the function gets and uses",
}


@dataclass
class Entry:
    """A line of the table: a function, the arguments in which it is differentiated, and how."""

    name: str
    arguments: list[str] = field(default_factory=list)
    modes: set[str] = field(default_factory=set)
    notes: str = ""
    rows: int = 0

    def line(self) -> str:
        marks = ["yes" if mode in self.modes else "-" for mode in MODES]
        return "| " + " | ".join([_listed([self.name]), _listed(self.arguments), *marks, str(self.rows), self.notes]) + " |"


@cache
def found() -> dict[str, list[tuple[Row, Call]]]:
    """The calls of every function by rows, by its dotted name."""
    watch, calls = Watch(), dict[str, list[tuple[Row, Call]]]()
    for row in all_rows():
        if row.case.name in WITHOUT_WATCHING:
            name, arguments = WITHOUT_WATCHING[row.case.name]
            calls.setdefault(name, []).append((row, Call(name, {}, arguments)))
        for call in watch.calls(row.case):
            calls.setdefault(call.name, []).append((row, call))
    return calls


@cache
def differentiable() -> dict[str, Entry]:
    """The functions that have a derivative in some argument, as the rows show."""
    entries = {}
    for name, pairs in found().items():
        rows = {id(row): row for row, _ in pairs if "first" in row.checks}
        if not rows:
            continue
        arguments: dict[str, None] = {}
        for row, call in pairs:
            if id(row) in rows:
                arguments |= dict.fromkeys(call.tensors)
        checks = {check for row in rows.values() for check in row.checks}
        modes = {mode for mode, check in MODES.items() if check in checks or (name in COMPLEX_TOO and mode == "complex")}
        entries[name] = Entry(name, sorted(arguments), modes, _notes(name), len(rows))
    return entries


def _notes(name: str) -> str:
    parts = [f"since NumPy {SINCE[name]}"] if name in SINCE else []
    parts += [NOTES[name]] if name in NOTES else []
    if name in REFUSED_ARGUMENTS:
        parts.append(f"refuses a tensor as {_listed(REFUSED_ARGUMENTS[name])}")
    if name in STEADY_ARGUMENTS:
        parts.append(f"constant in {_listed(STEADY_ARGUMENTS[name])}")
    return "; ".join(parts)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{each}`" for each in names)


def read_entries(text: str) -> dict[str, Entry]:
    """The entries of a table that was written before."""
    entries = {}
    for line in text.splitlines():
        cells = [each.strip() for each in line.strip("|").split("|")] if line.startswith("| `") else []
        if len(cells) == 4 + len(MODES):
            name, arguments, *marks = cells[: 2 + len(MODES)]
            modes = {mode for mode, mark in zip(MODES, marks, strict=True) if mark == "yes"}
            found_arguments = [each.strip("`") for each in arguments.split(", ")]
            entries[name.strip("`")] = Entry(name.strip("`"), found_arguments, modes, cells[-1], int(cells[-2]))
    return entries


def current_text() -> str:
    """What the file should hold. What the installed libraries lack, functions and rows, is as the file has it."""
    before = read_entries(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
    now = differentiable() | {
        name: entry for name, entry in before.items() if not is_here(name) and (name in SINCE or not HAS_SCIPY)
    }
    if not all(map(is_here, SINCE)):  # some rows need a newer NumPy
        now = {
            name: replace(each, rows=max(each.rows, before[name].rows)) if name in before else each for name, each in now.items()
        }
    return render(now)


def render(entries: dict[str, Entry]) -> str:
    """The whole file."""
    counts = [len(names) for names in (CONSTANT, REFUSED, NO_ARRAYS)]
    lines = [
        "# Coverage",
        "",
        "Which functions have derivatives, in which arguments and how. Written by `python -m tests.coverage` from the tables of",
        "the tests, and checked by them: a *yes* stands for checks against differences of NumPy's or SciPy's own function, in",
        "each argument that is listed, and *rows* says in how many settings (options, shapes, kinds of input).",
        "",
        f"{_figures(entries.values())}. Besides, {counts[0]} functions are constant by nature, {counts[1]} refuse tensors, and"
        f" {counts[2]} take no arrays.",
        "",
        "- *reverse*: `grad`, `vjp`, `jacobian`; *forward*: `jvp`, `jacfwd`; *second order*: reverse and forward over reverse;",
        "  *complex*: complex inputs, with `df/dx - i df/dy`.",
        "- A tensor as another argument raises `NotTrackedError`, or NumPy's or SciPy's own error; it never gives a constant",
        "  without a word, but for those that the notes call constant, and for flags and choices.",
        "- Functions of SciPy that are not listed are SciPy's own, and refuse tensors.",
    ]
    for namespace in NAMESPACES:
        here = [entries[name] for name in sorted(entries) if name.rpartition(".")[0] == namespace]
        if not here:
            continue
        title = {EXTRA: f"{EXTRA}: what NumPy has not", METHODS: f"{METHODS}: methods of universal functions"}.get(
            namespace, namespace
        )
        lines += ["", f"## {title}", "", f"{_figures(here)}.", ""]
        lines += [
            f"| function | arguments with a gradient | {' | '.join(MODES)} | rows | notes |",
            "|" + "---|" * (4 + len(MODES)),
        ]
        lines += [entry.line() for entry in here]
    for title, names in LISTS.items():
        lines += ["", f"## {title[0].upper()}{title[1:]}", ""]
        for reason in dict.fromkeys(names.values()):
            lines.append(f"- {reason}: {_listed(sorted(each for each in names if names[each] == reason))}")
    return "\n".join(lines) + "\n"


def _figures(entries: Iterable[Entry]) -> str:
    entries = list(entries)
    arguments, rows = sum(len(each.arguments) for each in entries), sum(each.rows for each in entries)
    modes = [f"{mode} {sum(mode in each.modes for each in entries)}" for mode in MODES]
    return f"{len(entries)} functions with {arguments} arguments in {rows} rows: {', '.join(modes)}"
