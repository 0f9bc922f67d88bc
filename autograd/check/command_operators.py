"""Operators checked from the command line: which ones are meant, each against differences or against another backend."""

from __future__ import annotations

import argparse
import importlib
import json
import time
import traceback
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

from autograd.check.backend import check_backend
from autograd.check.command_rows import (
    FAILED,
    NOT_CHECKED,
    Row,
    as_json,
    backend_row,
    counted,
    each_row,
    kernel_row,
    own_output,
)
from autograd.check.domains import WITHOUT_ROW
from autograd.check.kernel import KernelReport, check_all, checkable
from autograd.check.question import MODES
from registry.__main__ import UsageError
from registry.backends import get_backend, use_backend
from registry.errors import close_matches
from registry.gradients import get_gradient
from registry.kernels import backends_of
from registry.operators import get_schema, is_constant, operator_names
from registry.schema import SchemaKind


def check_operators(options: argparse.Namespace) -> int:
    """Check the operators that are named, or all, on the active backend; print the table and return the exit code."""
    _need_hypothesis()
    backend = get_backend()
    without = _load_scipy(options.name)
    names = _chosen(options.name, checkable(backend), lambda word: _why_not_checkable(word, backend), without)
    n_examples = options.examples or 30

    def check(name: str) -> Row:
        started = time.perf_counter()
        try:
            (found,) = check_all(
                options.backend,
                names=[name],
                max_examples=n_examples,
                seed=options.seed,
                order=options.order or 1,
                modes=options.modes or MODES,
            )
        except Exception:  # a user's rule may raise anything: say so, and check the others
            text = f"kernel {name!r} on backend {backend!r}: its check raises\n{traceback.format_exc()}"
            found = KernelReport(name, backend, NOT_CHECKED, 0, text=text)
        return kernel_row(found, time.perf_counter() - started, options.allow or ())

    return _tell(names, check, f"backend {backend!r}", n_examples, without, options)


def check_backends(options: argparse.Namespace) -> int:
    """Compare the operators that are named, or all, on two backends; print the table and return the exit code."""
    _need_hypothesis()
    with use_backend(options.against):  # if it does not start, nothing is printed but why
        without = _load_scipy(options.name)
    both = (options.backend, options.against)
    names = _chosen(options.name, _comparable(both), lambda word: _why_not_comparable(word, both), without)
    n_examples = options.examples or 10

    def check(name: str) -> Row:
        started = time.perf_counter()
        report = check_backend(*both, names=[name], dtypes=options.dtypes, max_examples=n_examples, seed=options.seed)
        (found,) = report.rows
        return backend_row(found, time.perf_counter() - started)

    return _tell(names, check, f"backend {both[0]!r} against {both[1]!r}", n_examples, without, options)


def _tell(
    names: Sequence[str], check: Callable[[str], Row], title: str, n_examples: int, without: str, options: argparse.Namespace
) -> int:
    """Check each name and print the table, then what failed and the numbers; or all of it as JSON."""
    if not options.json:
        print(f"{title}, {n_examples} example{'' if n_examples == 1 else 's'} of each operator, seed {options.seed}")
    with own_output(options.json):
        rows = each_row(names, check, quiet=options.json)
    failed = [row for row in rows if not row.ok]
    compared = any(row.n_examples for row in rows)
    if options.json:
        fields = {"backend": get_backend(), "against": options.against, "seed": options.seed, "examples": n_examples}
        found = {**fields, "left_out": without, "ok": compared and not failed, "operators": [row.as_dict() for row in rows]}
        print(json.dumps(as_json(found), indent=2))
    else:
        print("".join(f"\n{row.report.rstrip()}\n" for row in failed))
        if without:
            print(without)
        print(counted(row.verdict for row in rows))
    return 0 if compared and not failed else FAILED


def _load_scipy(words: Sequence[str]) -> str:
    """Register the operators that SciPy computes, unless only others are asked for; returns why they are not there, or ""."""
    if words and all(get_schema(word) is not None for word in words):
        return ""
    try:
        from autograd import scipy

        for part in scipy.__all__:
            importlib.import_module(f"autograd.scipy.{part}")
    except ImportError as error:
        return f"operators of SciPy are left out: {error}"
    return ""


def _need_hypothesis() -> None:
    try:
        import autograd.check.strategies  # noqa: F401
    except ImportError as error:
        raise UsageError(f"check: {error}") from error


def _chosen(words: Sequence[str], candidates: Sequence[str], why_not: Callable[[str], str], without: str) -> list[str]:
    """The candidates that the words name, in the order of the words; all of them if there are no words."""
    found: list[str] = [] if words else list(candidates)
    for word in words:
        fitting = [each for each in candidates if fnmatchcase(each, word)]
        if not fitting:
            raise UsageError(f"check: {why_not(word)}{f' ({without})' if without else ''}")
        found += fitting
    if not found:
        raise UsageError(f"check: {why_not('*')}")
    return list(dict.fromkeys(found))


def _why_not_checkable(word: str, backend: str) -> str:
    if word in WITHOUT_ROW:
        return f"operator {word!r} takes a function: check a function that calls it, as MODULE:FUNCTION"
    if get_schema(word) is None:
        return _unknown(word, checkable(backend), "with a gradient and a kernel on this backend")
    if get_gradient(word) is None:
        why = "its result is constant by definition" if is_constant(word) else "none is registered"
        return f"operator {word!r} has no gradient: {why}"
    return f"operator {word!r} has no kernel on backend {backend!r}, but on {backends_of(word)}"


def _comparable(backends: Sequence[str]) -> list[str]:
    """The operators of tensors that have a kernel on one of the backends; variants that write are made of these."""
    schemas = {name: get_schema(name) for name in operator_names() if set(backends) & set(backends_of(name))}
    return [name for name, each in schemas.items() if each and each.inputs and each.kind() is SchemaKind.functional]


def _why_not_comparable(word: str, backends: Sequence[str]) -> str:
    if get_schema(word) is None:
        return _unknown(word, _comparable(backends), f"with a kernel on {' or '.join(map(repr, backends))}")
    return f"operator {word!r} takes no tensors, or has no kernel on {' or '.join(map(repr, backends))}"


def _unknown(word: str, known: Sequence[str], which: str) -> str:
    if any(each in word for each in "*?["):
        return f"no operator {which} fits {word!r}; python -m registry lists all"
    module, dot, name = word.rpartition(".")
    hint = f" A function of a module is written {module}:{name}" if dot else close_matches(word, known)
    return f"there is no operator {word!r}.{hint or ' python -m registry lists all; --load MODULE imports one that adds some'}"
