"""The registry as a table: ``python -m registry``.

One line an operator: which variants a backend has code of its own for (native) and which run by way of another one (generated),
which backends have kernels, whether it has a gradient, and what that saves. Packages that add operators or gradients are found
through the entry-point group ``registry.operators``; ``--load`` imports others.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from registry.backends import find_backend
from registry.errors import GradtapeError
from registry.overview import LACKS, rows, table

GROUP = "registry.operators"
"""Entry points of this group name modules that, when imported, declare operators, kernels or gradients."""

BAD_USAGE, FAILED = 2, 1


class UsageError(Exception):
    """The command line asks for what cannot be done; the text says what to write instead, in one line."""


class _Parser(argparse.ArgumentParser):
    """An argument parser whose complaint is one line."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see {self.prog} --help")


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table and return the exit code: 0, or 2 for bad usage.

    >>> main(["hypot", "--json", "--load", "json"])  # doctest: +ELLIPSIS
    [
      {
        "name": "hypot",
        "schema": "hypot(Tensor x1, Tensor x2) -> Tensor",
    ...
    0
    """
    try:
        code = _run(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
        return code
    except (UsageError, GradtapeError) as error:
        print(f"registry: {' '.join(str(error).split())}", file=sys.stderr)
        return BAD_USAGE
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader left: say nothing more at exit
        return FAILED


def _run(words: list[str]) -> int:
    parser = _Parser(prog="python -m registry", description="The operators that are declared, one line each.", allow_abbrev=False)
    parser.add_argument("name", nargs="*", help="only operators of that name; * and ? stand for letters")
    parser.add_argument("--backend", metavar="NAME", help="only operators with a kernel on that backend")
    parser.add_argument(
        "--missing", action="append", default=[], choices=sorted(LACKS), help="only operators without it; may be repeated"
    )
    parser.add_argument("--json", action="store_true", help="every field, for programs")
    parser.add_argument("--load", action="append", default=[], metavar="MODULE", help="import it first; may be repeated")
    try:
        options = parser.parse_args(words)
    except SystemExit:  # --help has printed
        return 0
    load(options.load)
    if options.backend is not None:
        find_backend(options.backend)  # one that an installed package offers has its kernels once it has been asked for
    found = rows(options.name, backend=options.backend, missing=options.missing)
    if options.json:
        print(json.dumps([row.as_dict() for row in found], indent=2))
    elif found:
        print(table(found))
        print(f"\n{len(found)} operator{'s' if len(found) > 1 else ''}")
        if not any(row.gradient == "yes" for row in rows()):
            print("No gradients are registered here: --load the module that registers them, or install the package that has it.")
    else:
        print("no operator fits")
    return 0


def load(modules: Sequence[str]) -> None:
    """Import what adds operators: the installed packages that say so, and these modules; UsageError for one that fails."""
    from importlib.metadata import entry_points

    for name in [*sorted({point.value for point in entry_points(group=GROUP)}), *modules]:
        try:
            importlib.import_module(name)
        except Exception as error:
            raise UsageError(f"--load: cannot import {name!r}: {error}; name a module that Python finds") from error


if __name__ == "__main__":
    sys.exit(main())
