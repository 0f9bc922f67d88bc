"""Functions of the user's checked from the command line: how they are found, and at which arguments."""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from autograd.check.command_rows import FAILED, NOT_CHECKED, as_json, counted, own_output, report_fields
from autograd.check.gradient import check_gradient
from autograd.check.points import Point, has_derivative, is_finite_at, point_of, points
from autograd.check.question import MODES
from autograd.check.report import GradientReport
from autograd.errors import GradientError
from registry.__main__ import UsageError
from registry.backends import get_backend
from registry.errors import close_matches


def check_functions(options: argparse.Namespace) -> int:
    """Check the functions that are named; print where, and the reports, and return the exit code."""
    entries, verdicts, all_ok = [], [], True
    for word in options.name:
        with own_output(options.json):
            point, report = _function_report(word, options)
        ok = report.ok or report.verdict in (options.allow or ())
        all_ok &= ok
        verdicts.append(report.verdict)
        at = {"arguments": {**point.args, **point.kwargs}, "origin": point.origin}
        entries.append({"function": word, "at": at, "ok": ok, **report_fields(report)})
        if not options.json:
            print(f"{word} at {point}\n{report}\n")
    if options.json:
        print(json.dumps(as_json({"backend": get_backend(), "seed": options.seed, "ok": all_ok, "functions": entries}), indent=2))
    else:
        print(counted(verdicts, "function"))
    return 0 if all_ok else FAILED


def _function_report(word: str, options: argparse.Namespace) -> tuple[Point, GradientReport]:
    """The report on a function, and where it was checked: at the first point at which it is not constant."""
    module, f = _imported(word)
    vacuous = None
    try:
        for point in _points_asked(word, module, f, options):
            report = _report_at(f, point, options)
            if report.verdict != "vacuous":
                return point, report
            vacuous = vacuous or (point, report)
    except GradientError as error:
        raise UsageError(f"check: {word}: {error}; pass its arguments with --at, such as --at 'np.ones(3)'") from error
    assert vacuous is not None  # there is one point at least, or an error
    return vacuous


def _imported(word: str) -> tuple[ModuleType, Callable[..., Any]]:
    name, _, path = word.partition(":")
    if not name or not path or name.startswith("."):
        raise UsageError(f"check: got {word!r}, expected MODULE:FUNCTION, such as model:loss")
    try:
        module = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        as_module = name.removesuffix(".py").strip("/").replace("/", ".")
        hint = f"; write {as_module}:{path}" if as_module != name else ""
        raise UsageError(f"check: cannot import {name!r}: {type(error).__name__}: {error}{hint}") from error
    f: Any = module
    for part in path.split("."):
        if not hasattr(f, part):
            known = [each for each, value in vars(f).items() if callable(value)] if hasattr(f, "__dict__") else []
            raise UsageError(f"check: module {name!r} has no function {path!r}.{close_matches(part, known)}")
        f = getattr(f, part)
    if not callable(f):
        raise UsageError(f"check: {word} is of type {type(f).__name__}, expected a function")
    return module, f


def _points_asked(word: str, module: ModuleType, f: Callable[..., Any], options: argparse.Namespace) -> Iterator[Point]:
    """The points at which to check a function, each one at which it runs."""
    if options.at is None:
        found = points(f, options.seed)
    else:
        found = iter([point_of(f, tuple(_value(each, module) for each in options.at), "from --at")])
    for point in found:
        if not has_derivative([*point.args.values(), *point.kwargs.values()]):
            raise UsageError(f"check: {word} at {point}: no argument is a float or an array of floats; write 3.0 for 3")
        try:
            is_finite_at(f, point)
        except Exception as error:
            text = f"check: {word} raises {type(error).__name__} at {point}: {error}; pass arguments that it takes with --at"
            raise UsageError(text) from error
        yield point


def _value(expression: str, module: ModuleType) -> Any:
    try:
        return eval(compile(expression.strip(), "--at", "eval"), {**vars(module), "np": np})
    except Exception as error:
        raise UsageError(f"check: --at {expression!r}: {type(error).__name__}: {error}") from error


def _report_at(f: Callable[..., Any], point: Point, options: argparse.Namespace) -> GradientReport:
    settings = {"modes": options.modes or MODES, "order": options.order or 1, "seed": options.seed}
    try:
        return check_gradient(f, *point.args.values(), kwargs=point.kwargs, raise_error=False, **settings)
    except Exception as error:  # the function runs there, but not on a tape, or not nearby
        subject = getattr(f, "__name__", type(f).__name__)
        return GradientReport(subject, NOT_CHECKED, notes=(f"checking it raises {type(error).__name__}: {error}",))
