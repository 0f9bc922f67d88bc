"""Run published packages, installed without their own engine, over this one, and print what they gave beside what is known.

``python -m tests.packages`` from the root of the repository makes an environment, installs the packages and runs all of the
work; names choose some (``lifelines mici``). ``--keep FOLDER`` leaves the environment there, and uses it again if it is there
already. Exits with 1 if a result is not the known one.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from .environment import PACKAGES, Environment, PipError, make_environment

ROW = "    {:<36} {:<26} {:<26} {:>8} {:>7}  {}"


def main() -> int:
    """Parse the command line, run, and print one line a comparison; the exit status."""
    options = _options()
    chosen = options.names or list(PACKAGES)
    with ExitStack() as stack:
        folder = Path(options.keep or stack.enter_context(tempfile.TemporaryDirectory(prefix="packages-")))
        try:
            environment = make_environment(folder, chosen)
        except PipError as error:
            print(error, file=sys.stderr)
            return 1
        print(f"Python {sys.version.split()[0]}, installed without autograd: {', '.join(environment.installed)}\n")
        print(ROW.format("", "result", "known", "error", "seconds", "known from"))
        rows = [row for name in chosen for row in _run(environment, name, quick=options.quick)]
    wrong = sum(not row["right"] for row in rows)
    print(f"\n{len(rows) - wrong} of {len(rows)} results are the known ones")
    return 1 if wrong else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.packages", description="Published packages over this engine.")
    parser.add_argument("names", nargs="*", help=f"which packages, of {', '.join(PACKAGES)}; default all")
    parser.add_argument("--quick", action="store_true", help="shorter chains and fewer steps")
    parser.add_argument("--keep", metavar="FOLDER", help="where the environment is made, and stays")
    options = parser.parse_args()
    if unknown := set(options.names) - set(PACKAGES):
        parser.error(f"no work for {sorted(unknown)}; expected some of {list(PACKAGES)}")
    return options


def _run(environment: Environment, name: str, *, quick: bool) -> list[dict[str, Any]]:
    rows = environment.run_work(name, quick=quick)
    print(f"\n{name} {PACKAGES[name]}")
    done = ""
    for row in rows:
        if row["done"] != done:
            done = row["done"]
            print(f"  {done}")
        if "failure" in row:
            print(row["failure"])
            continue
        columns = [_short(row["result"]), _short(row["known"]), f"{row['error']:.1e}", f"{row['seconds']:.1f}", row["source"]]
        print(ROW.format(row["of"], *columns) + ("" if row["right"] else f"  WRONG: more than {row['tolerance']:.0e}"))
    return rows


def _short(numbers: list[float]) -> str:
    """The first numbers of a result, as many as a column holds."""
    return " ".join(f"{number:.5g}" for number in numbers[:2]) + (" ..." if len(numbers) > 2 else "")


if __name__ == "__main__":
    sys.exit(main())
