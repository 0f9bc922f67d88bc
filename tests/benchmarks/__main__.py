"""Measure the workloads of PERFORMANCE.md beside their hand-written NumPy floors, and print the ratios.

``python -m tests.benchmarks`` from the root of the repository runs all; names choose some (``W1 W3 loop``). A time is
printed only where there is no floor to divide by. Nothing fails because it is slow: what misses its goal says so.
"""

from __future__ import annotations

import argparse
import os
from importlib import import_module
from math import isnan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .timing import Ratio
    from .workload import Workload

LINES = {
    "chain": ("W1", "W1x"),
    "mlp": ("W2", "W2a", "W3", "W4"),
    "cnn": ("W5",),
    "curvature": ("W7a", "W7b", "W7c"),
    "lstm": ("W8",),
    "black_scholes": ("W9",),
}
"""Workloads that are compared with a floor, by the module that has them."""

OTHERS = ("W6", "W10", "loop", "memory", "schemas")

THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")

ROW = "{:<5} {:<62} {:>5} {:>19} {:>7} {:>7} {:>15}  {}"


def main() -> None:
    """Parse the command line and print one line a workload."""
    options = _options()
    for name in THREAD_VARIABLES:
        os.environ[name] = "1"  # read when NumPy is imported, which therefore happens below
    print(f"one BLAS thread, processor time, {options.rounds} rounds in turn: ratio to the floor, median (least-greatest)\n")
    chosen = _lines_of(options.names) if options.names else [*_lines(), *OTHERS]
    if not set(chosen) <= set(OTHERS):
        _print_compared(chosen, options)
    reports = {"W6": _million_ops, "W10": _import_time, "loop": _element_loop, "memory": _peak_memory, "schemas": _schema_parsing}
    for name, report in reports.items():
        if name in chosen:
            print()
            report(options)


def _options() -> argparse.Namespace:
    known = [*_lines(), *OTHERS]
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description="Ratios to hand-written NumPy.")
    parser.add_argument("names", nargs="*", help=f"what to run, of {', '.join(known)}; W7 is all of W7; default all")
    parser.add_argument("--rounds", type=int, default=9, help="rounds in which the sides run in turn")
    parser.add_argument("--peers", action="store_true", help="also run PyTorch and MyGrad where they can be imported")
    parser.add_argument("--hips", metavar="PYTHON", help="a Python that has HIPS autograd, run in a process of its own")
    parser.add_argument("--quick", action="store_true", help="tiny sizes and few rounds: a check that all of this runs")
    options = parser.parse_args()
    for name in options.names:
        if not _lines_of([name]):
            parser.error(f"no workload {name!r}; expected some of {known}")
    if options.quick:
        options.rounds = min(options.rounds, 3)
    options.at_least = 0.001 if options.quick else 0.03
    return options


def _lines() -> list[str]:
    return [line for lines in LINES.values() for line in lines]


def _lines_of(names: list[str]) -> list[str]:
    """The lines that these names choose: ``W7a`` is itself, ``W7`` is all that follow it with a letter."""
    return [line for line in [*_lines(), *OTHERS] if line in names or (line[-1].isalpha() and line[:-1] in names)]


# -------------------------------------------------------------------------------------------------- beside a floor


def _print_compared(chosen: list[str], options: argparse.Namespace) -> None:
    from .hips import ratios_from

    print(ROW.format("", "", "goal", "ours", "minima", "", "back / forward", "peers"))
    for module, lines in LINES.items():
        if not set(lines) & set(chosen):
            continue
        workloads = import_module(f".{module}", __package__).workloads(quick=options.quick)
        theirs = {}
        if options.hips:
            theirs = ratios_from(options.hips, [module], options.rounds, options.at_least, quick=options.quick)
        for workload in workloads:
            if workload.name in chosen:
                _print_one(workload, theirs.get(workload.name), options)


def _print_one(workload: Workload, hips: Ratio | None, options: argparse.Namespace) -> None:
    from .timing import backward_to_forward, in_turn, ratio
    from .workload import HIPS, check_agreement

    sides = workload.importable_sides(peers=options.peers)
    with workload.around():
        check_agreement(workload, sides)
        seconds = in_turn(sides, options.rounds, options.at_least)
        back = backward_to_forward(workload.record(), options.rounds, options.at_least) if workload.record else None
    floor = seconds.pop("floor")
    ratios = {name: ratio(each, floor) for name, each in seconds.items()}
    ours = ratios.pop("ours")
    if hips is not None:
        ratios[HIPS] = hips
    peers = "  ".join(f"{name} {each}" for name, each in ratios.items())
    goal = "-" if workload.goal is None else f"{workload.goal:g}"
    verdict = _verdict(ours.median, None if options.quick else workload.goal)
    back_spelled = "-" if back is None else str(back)
    columns = (goal, str(ours), f"{ours.of_minima:.2f}", verdict, back_spelled, peers)
    print(ROW.format(workload.name, workload.title, *columns), flush=True)


def _verdict(value: float, goal: float | None) -> str:
    if goal is None or isnan(value):
        return ""
    return "met" if value <= goal else "missed"


# -------------------------------------------------------------------------------------------------- without a floor


def _million_ops(options: argparse.Namespace) -> None:
    from . import million_ops

    sizes = (1_000, 10_000) if options.quick else (100_000, 1_000_000)
    goal_us, goal_bytes = million_ops.GOAL_MICROSECONDS, million_ops.GOAL_BYTES
    print(f"W6    one tape, cold plan, a process each; goal {goal_us:g} us and {goal_bytes:g} bytes an op")
    for form, title in million_ops.FORMS.items():
        for n_ops in sizes:
            each = million_ops.run_in_subprocess(form, n_ops)
            total = each["forward"] + each["backward"]
            print(
                f"      {title:<48} {n_ops:>8} ops  {total:6.2f} us/op {_verdict(total, None if options.quick else goal_us):<6}"
                f" (forward {each['forward']:.2f}, backward {each['backward']:.2f})"
                f"  {each['bytes']:5.0f} bytes/op {_verdict(each['bytes'], None if options.quick else goal_bytes)}",
                flush=True,
            )


def _import_time(options: argparse.Namespace) -> None:
    from . import import_time

    difference, statement = import_time.seconds_beyond_numpy(options.rounds)
    print(
        f"W10   import autograd beyond import numpy: {difference:.3f} s by whole processes,"
        f" {statement:.3f} s by the statement alone; goal {import_time.GOAL_SECONDS:g} s "
        f" {_verdict(difference, import_time.GOAL_SECONDS)}"
    )


def _element_loop(options: argparse.Namespace) -> None:
    from .element_loop import microseconds_an_element

    sizes = (100, 1_000) if options.quick else (1_000, 10_000)
    short, long = (microseconds_an_element(n, options.rounds) for n in sizes)
    print(
        f"loop  gradient of a loop over elements: {short:.1f} us an element at n = {sizes[0]},"
        f" {long:.1f} at n = {sizes[1]}, ratio {long / short:.2f} (linear growth: 1)"
    )


def _peak_memory(options: argparse.Namespace) -> None:
    from .peak_memory import peak_bytes

    peaks = peak_bytes(peers=options.peers)
    listed = ", ".join(f"{name} {each / 2**20:.2f} MiB" for name, each in peaks.items())
    verdict = _verdict(peaks["ours"], peaks.get("torch"))
    print(f"memory  peak of a W4 step above the parameters: {listed}  {verdict}")


def _schema_parsing(options: argparse.Namespace) -> None:
    from .schema_parsing import report

    print(report(options.rounds))


if __name__ == "__main__":
    main()
