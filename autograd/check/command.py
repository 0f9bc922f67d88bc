"""``python -m autograd check``: operators, backends and functions of the user's, checked from the command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NoReturn

from autograd.check.command_functions import check_functions
from autograd.check.command_operators import check_backends, check_operators
from autograd.check.command_rows import NOT_CHECKED
from autograd.check.question import MODES
from autograd.check.report import VERDICTS
from autograd.errors import GradtapeError
from registry.__main__ import UsageError, load
from registry.backends import use_backend

MAY_BE_ALLOWED = tuple(each for each in VERDICTS if each not in ("wrong", "right"))

DTYPES = ("float64", "float32", "complex128", "complex64")

EXAMPLES = """\
examples:
  gradtape check                                    every operator that has a gradient
  gradtape check sin matmul 'log*' --examples 100   these operators, on more calls of each
  gradtape check --backend mine                     every operator on another backend
  gradtape check --backend mine --against numpy     its values and gradients against NumPy's
  gradtape check model:loss                         the function loss of model.py in this folder
  gradtape check model:loss --at 'np.ones(3)' 2.0   at these two arguments

A function is checked at --at; else at its attribute check_at, a tuple of arguments; else at the
defaults of its parameters; those without a default get random numbers, of the first of the shapes
(3,), (2, 3), (), (3, 3) that the function takes. The exit code is 0 if everything is right, 1 if
something is not, 2 for a mistake on the command line.
"""


def run(words: list[str]) -> int:
    """Run the command on the words after its name; returns the exit code, 0 or 1.

    Raises UsageError, whose text is one line, for what cannot be done as asked.

    >>> run(["exp", "log", "--examples", "3"])  # doctest: +ELLIPSIS
    backend 'numpy', 3 examples of each operator, seed 0
    kernel  verdict            examples  seconds  note
    exp     right                     3     ...
    log     right                     3     ...
    <BLANKLINE>
    2 operators: 2 right
    0
    """
    try:
        options = _parser().parse_intermixed_args(words)
    except SystemExit:  # --help has printed
        return 0
    kind = _kind(options)
    with _import_from_here():
        load(options.load)
        try:
            with nullcontext() if options.backend is None else use_backend(options.backend):
                return CHECKS[kind](options)
        except GradtapeError as error:
            raise UsageError(str(error)) from error


# --------------------------------------------------------------------------------------------------- what is asked


class _Parser(argparse.ArgumentParser):
    """An argument parser whose complaint is one line."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"check: {message}; see {self.prog} --help")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="gradtape check",
        description="Check gradients against differences, and name the kernel that is wrong.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "name", nargs="*", help="an operator (* and ? stand for letters), or MODULE:FUNCTION; all operators if there is none"
    )
    parser.add_argument("--backend", metavar="NAME", help="the backend to run on (the active one)")
    parser.add_argument("--against", metavar="NAME", help="compare --backend with this one, instead of with differences")
    parser.add_argument("--dtypes", type=_dtypes, metavar="DTYPES", help="compare on inputs of these alone, such as float32")
    parser.add_argument("--at", nargs="+", action="extend", metavar="EXPRESSION", help=_AT)
    parser.add_argument("--seed", type=_whole(0), default=0, metavar="N", help="the same seed draws the same numbers (0)")
    parser.add_argument(
        "--examples", type=_whole(1), metavar="N", help="calls to draw of each operator (30, or 10 with --against)"
    )
    parser.add_argument("--order", type=_whole(1), metavar="N", help="2 checks the gradient of the gradient too (1)")
    parser.add_argument("--modes", type=_modes, metavar="MODES", help=f"the modes to check, of {','.join(MODES)} (both)")
    parser.add_argument("--allow", action="append", type=_verdict, metavar="VERDICT", help=_ALLOW)
    parser.add_argument("--load", action="append", default=[], metavar="MODULE", help="import it first; may be repeated")
    parser.add_argument("--json", action="store_true", help="every field, for programs")
    return parser


_AT = "the arguments of the function, in Python; np is NumPy, and the names of the module are there. --at=-1.0 for a sign"

_ALLOW = f"a verdict that is no failure, of {', '.join(MAY_BE_ALLOWED)}, {NOT_CHECKED}; may be repeated"


def _whole(least: int) -> Callable[[str], int]:
    def convert(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(f"got {text!r}, expected a whole number of at least {least}")
        return number

    return convert


def _modes(text: str) -> tuple[str, ...]:
    words = tuple(text.split(","))
    if any(each not in MODES for each in words):
        raise argparse.ArgumentTypeError(f"got {text!r}, expected {' or '.join(MODES)}, or both with a comma between")
    return words


def _dtypes(text: str) -> tuple[str, ...]:
    words = tuple(text.split(","))
    if any(each not in DTYPES for each in words):
        raise argparse.ArgumentTypeError(f"got {text!r}, expected some of {', '.join(DTYPES)}, with commas between")
    return words


def _verdict(text: str) -> str:
    known = (*MAY_BE_ALLOWED, NOT_CHECKED)
    verdict = text.replace("-", " ")
    if verdict not in known:
        raise argparse.ArgumentTypeError(f"got {text!r}, expected one of {', '.join(known)}")
    return verdict


FUNCTIONS, BACKENDS, OPERATORS = "a function", "two backends", "operators"

TAKES = {
    FUNCTIONS: ("at", "order", "modes", "allow"),
    BACKENDS: ("examples", "against", "dtypes"),
    OPERATORS: ("examples", "order", "modes", "allow"),
}
"""The options that only some checks take, and which."""


def _kind(options: argparse.Namespace) -> str:
    """What is to be checked; raises UsageError for words and options that mean nothing together."""
    are_functions = {":" in each for each in options.name}
    if len(are_functions) > 1:
        raise UsageError("check: operators and functions, MODULE:FUNCTION, are checked in calls of their own: name one kind")
    kind = FUNCTIONS if are_functions == {True} else BACKENDS if options.against is not None else OPERATORS
    for name in dict.fromkeys(each for row in TAKES.values() for each in row):
        if getattr(options, name) is not None and name not in TAKES[kind]:
            fits = " or ".join(each for each, row in TAKES.items() if name in row)
            raise UsageError(
                f"check: --{name} belongs to a check of {fits}, and this is one of {kind}; see gradtape check --help"
            )
    if kind == BACKENDS and options.backend is None:
        raise UsageError("check: --against compares two backends: name the one that is checked with --backend")
    if kind == BACKENDS and options.backend == options.against:
        raise UsageError(f"check: --backend and --against are both {options.against!r}: name two backends")
    return kind


@contextmanager
def _import_from_here() -> Iterator[None]:
    """Let modules of the current folder be imported too, as ``python -m`` does and an installed command does not."""
    here = str(Path.cwd())
    if here in sys.path or "" in sys.path:
        yield
        return
    sys.path.insert(0, here)
    try:
        yield
    finally:
        if here in sys.path:
            sys.path.remove(here)


CHECKS: dict[str, Callable[[argparse.Namespace], int]] = {
    FUNCTIONS: check_functions,
    BACKENDS: check_backends,
    OPERATORS: check_operators,
}
