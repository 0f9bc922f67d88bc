"""HIPS autograd beside its own floor, in its own environment, because it has our import name.

Run with that environment's Python from the folder ``tests``, where ``autograd`` is theirs:
``python -m benchmarks.hips --rounds 9 --at-least 0.03 chain mlp``. Prints a JSON object: for each workload the seconds
of both sides, one entry a round.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from importlib import import_module
from pathlib import Path

from .timing import Ratio, in_turn, ratio
from .workload import HIPS, check_agreement


def ratios_from(python: str, modules: list[str], rounds: int, at_least: float, *, quick: bool) -> dict[str, Ratio]:
    """The ratio of HIPS autograd to the floor for every workload of some modules, measured with another Python."""
    command = [python, "-m", "benchmarks.hips", *modules, "--rounds", str(rounds), "--at-least", str(at_least)]
    command += ["--quick"] * quick
    result = subprocess.run(command, cwd=Path(__file__).parents[1], check=True, stdout=subprocess.PIPE, text=True)
    return {name: ratio(*seconds) for name, seconds in json.loads(result.stdout).items()}


def main() -> None:
    """Measure the workloads of the modules named on the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("modules", nargs="+")
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--at-least", type=float, required=True)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()

    import autograd

    if hasattr(autograd, "__distribution__"):
        raise SystemExit(f"expected HIPS autograd, got {autograd.__distribution__} at {autograd.__file__}")
    seconds = {}
    for name in options.modules:
        for workload in import_module(f".{name}", __package__).workloads(quick=options.quick):
            if HIPS in workload.sides:
                sides = {each: workload.sides[each] for each in ("floor", HIPS)}
                check_agreement(workload, sides)
                measured = in_turn(sides, options.rounds, options.at_least)
                seconds[workload.name] = measured[HIPS], measured["floor"]
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
