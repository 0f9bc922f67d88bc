"""The command line: ``python -m autograd``, installed as ``gradtape``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import NoReturn, TypeVar

import autograd
from registry.__main__ import UsageError
from registry.errors import close_matches

BAD_USAGE, FAILED, INTERRUPTED = 2, 1, 130

Choice = TypeVar("Choice")


@dataclass(frozen=True, slots=True)
class Command:
    """One command: how it is called, what it does, and its work, which takes the words after its name."""

    name: str
    usage: str
    summary: str
    run: Callable[[list[str]], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, 1 if its work failed, 2 for bad usage, 130 for Ctrl-C.

    >>> main(["--version"])
    gradtape 0.1.0
    0
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _run(words)
        sys.stdout.flush()
        return code
    except UsageError as error:
        return _complain(str(error), BAD_USAGE)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader left: say nothing more at exit
        return FAILED
    except OSError as error:
        return _complain(f"cannot read or write {error.filename or 'a file'}: {error.strerror or error}", BAD_USAGE)
    except KeyboardInterrupt:
        return _complain("interrupted; nothing more was written", INTERRUPTED)


def _complain(text: str, code: int) -> int:
    print(f"gradtape: {' '.join(text.split())}", file=sys.stderr)
    return code


def _run(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help"):
        print(_overview())
        return 0
    if words[0] == "--version":
        print(f"{autograd.__distribution__} {autograd.__version__}")
        return 0
    return _choose("command", words[0], COMMANDS).run(words[1:])


def _choose(kind: str, word: str, table: Mapping[str, Choice]) -> Choice:
    if word in table:
        return table[word]
    what = "option" if word.startswith("-") else kind
    raise UsageError(f"no {what} {word!r}, expected one of {', '.join(table)}.{close_matches(word, list(table))}")


def _overview() -> str:
    rows = [f"  {each.usage:<14}  {each.summary}" for each in COMMANDS.values()]
    return "\n".join(
        [
            f"gradtape {autograd.__version__}: an autograd engine whose centre is the gradient tape",
            "",
            "commands, as `gradtape COMMAND` or `python -m autograd COMMAND`:",
            *rows,
            "",
            "COMMAND --help says more; --version says which gradtape this is.",
        ]
    )


# -------------------------------------------------------------------------------------------------- train


def _train(words: list[str]) -> int:
    from autograd.train import JOBS

    if not words or words[0] in ("-h", "--help"):
        print("gradtape train NAME: train a small model, check its gradient, write it and its pictures to a folder\n")
        print("\n".join(f"  {job.name:<14}  {job.summary}" for job in JOBS.values()))
        print("\nNAME --help lists the options.")
        return 0
    job = _choose("model", words[0], JOBS)
    parser = _Parser(prog=f"gradtape train {job.name}", description=f"Train: {job.summary}.", allow_abbrev=False)
    parser.add_argument("--seed", type=_whole_number(0), default=0, help="the same seed gives the same numbers (0)")
    parser.add_argument(
        "--epochs", type=_whole_number(1), default=job.epochs, help=f"how often to go through the data ({job.epochs})"
    )
    parser.add_argument("--out", default=job.name, metavar="FOLDER", help=f"where to write to, made if missing ({job.name})")
    try:
        options = parser.parse_args(words[1:])
    except SystemExit:  # --help has printed
        return 0
    return job.run(options.seed, options.epochs, _writable_folder(options.out, job.files))


class _Parser(argparse.ArgumentParser):
    """An argument parser whose complaint is one line."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog.partition(' ')[2]}: {message}; see {self.prog} --help")


def _whole_number(least: int) -> Callable[[str], int]:
    def convert(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(f"got {text!r}, expected a whole number of at least {least}")
        return number

    return convert


def _writable_folder(name: str, files: Sequence[str]) -> Path:
    """The folder, made if missing; raises UsageError unless each of the files can be written into it."""
    folder = Path(name)
    try:
        if not name:
            raise ValueError("its name is empty")
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
        taken = [each for each in files if (folder / each).is_dir()]
        if taken:
            raise ValueError(f"{taken[0]} there is a folder")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(f"--out: cannot write into the folder {name!r}: {reason}; name another folder") from error
    return folder


# -------------------------------------------------------------------------------------------------- check


def _check(words: list[str]) -> int:
    from autograd.check import command

    return command.run(words)


COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        Command("train", "train NAME", "train a small model, such as digits, from data to pictures", _train),
        Command("check", "check [NAME]", "check gradients of operators, of a backend, or of MODULE:FUNCTION", _check),
    )
}


if __name__ == "__main__":
    sys.exit(main())
