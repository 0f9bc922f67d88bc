"""Run one file of work in the interpreter at hand, and print a line of JSON for each result.

``python -P measure.py PACKAGE FILE [--quick]``. This file imports nothing of the tests, so that it runs where only the package
and our distribution are. A file of work has ``CHECKS``: functions that do one thing with the package, called with ``quick``,
whose first line of documentation says what, and which yield ``(of, result, known, source, tolerance)``. The error of a result is
its greatest distance from the known one, relative to it where that is above 1.
"""

from __future__ import annotations

import json
import runpy
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from importlib import metadata
from typing import Any

import numpy as np

Comparison = tuple[str, Any, Any, str, float]


def main(package: str, path: str, quick: bool) -> None:
    """Print the rows of one file of work; raises RuntimeError if the engine of the interpreter is not ours."""
    say_which_engine()
    version = metadata.version(package)
    for check in runpy.run_path(path)["CHECKS"]:
        for row in rows_of(check, quick):
            print(json.dumps({"package": package, "version": version, **row}), flush=True)


def say_which_engine() -> None:
    """Raise RuntimeError unless ``import autograd`` gives this project's, and no other distribution of that name is there."""
    import autograd
    import registry  # noqa: F401  # ours comes with a registry

    try:
        other = metadata.version("autograd")
    except metadata.PackageNotFoundError:
        return
    raise RuntimeError(f"autograd {other} is installed; what ran would not be {autograd.__file__}")


def rows_of(check: Callable[[bool], Iterator[Comparison]], quick: bool) -> Iterator[dict[str, Any]]:
    """One row a comparison; an exception is a row too, with its traceback."""
    about = (check.__doc__ or check.__name__).strip().splitlines()[0].rstrip(".")
    comparisons = check(quick)
    while True:
        start = time.perf_counter()
        try:
            of, result, known, source, tolerance = next(comparisons)
            seconds = time.perf_counter() - start
            error = distance(result, known)
        except StopIteration:
            return
        except Exception:
            yield {"done": about, "right": False, "failure": traceback.format_exc()}
            return
        yield {
            "done": about,
            "of": of,
            "result": numbers(result),
            "known": numbers(known),
            "source": source,
            "tolerance": tolerance,
            "error": error,
            "right": error <= tolerance,
            "seconds": seconds,
        }


def distance(result: Any, known: Any) -> float:
    """The greatest difference, each relative to the known number where that is above 1; NaN if one of them is.

    >>> distance([1.0, 20.0], [0.5, 22.0])
    0.5
    """
    result, known = np.asarray(result), np.asarray(known)
    if result.shape != known.shape or result.dtype == object:
        raise ValueError(f"the result has shape {result.shape} and dtype {result.dtype}, the known one {known.shape}")
    return float(np.max(np.abs(result - known) / np.maximum(1, np.abs(known)), initial=0.0))


def numbers(array: Any) -> list[float]:
    """The numbers of an array in a row, a complex one as its two parts."""
    flat = np.ravel(np.asarray(array))
    return [float(part) for each in flat for part in ((each.real, each.imag) if np.iscomplexobj(flat) else (each,))]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], "--quick" in sys.argv)
