"""W6: a tape of a million small operations, forward and backward with a cold plan, each run in its own process.

``python -m tests.benchmarks.million_ops chain 1000000`` is one run; it prints a JSON object. Times are processor times.
Bytes are the growth of the peak resident memory of that process (Linux: ``VmHWM``), so allocator overhead and planning
count.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

ROOT = Path(__file__).parents[2]

GOAL_MICROSECONDS = 12.0
GOAL_BYTES = 750.0

FORMS = {
    "chain": "chain x = sin(x * a + b), gradient in x, a, b",
    "chain-x": "the same chain, gradient in x alone",
    "web": "web x = sin(x * a + x * b), gradient in x",
}
"""What is recorded: ``chain`` and ``web`` are described in ``chain.py``."""

OPS_A_LINK = {"chain": 3, "chain-x": 3, "web": 4}


def recorder_and_floor(form: str, links: int) -> tuple[Callable[[], tuple[Any, Any, Any]], Callable[[], Any]]:
    """Our forward part of a form, and its hand-written floor."""
    from . import chain

    values = chain.starting_values()
    if form == "web":
        return chain.recorder(chain.web, values, links, 1), chain.web_floor(values, links)
    n_sources = 3 if form == "chain" else 1
    floor = chain.floor_in_all if n_sources == 3 else chain.floor_in_x
    return chain.recorder(chain.chain, values, links, n_sources), floor(values, links)


def run(form: str, n_ops: int) -> dict[str, float]:
    """Record and differentiate once in this process; microseconds and bytes for one operation."""
    from autograd.dag import clear_plan_cache

    warm_up, _ = recorder_and_floor(form, 3000)
    tape, target, sources = warm_up()
    tape.gradient(target, sources)
    del tape, target, sources
    clear_plan_cache()
    record, _ = recorder_and_floor(form, n_ops // OPS_A_LINK[form])
    before = peak_resident_bytes()
    start = process_time()
    tape, target, sources = record()
    middle = process_time()
    tape.gradient(target, sources)
    end = process_time()
    n_ops = len(tape)
    return {
        "forward": 1e6 * (middle - start) / n_ops,
        "backward": 1e6 * (end - middle) / n_ops,
        "bytes": (peak_resident_bytes() - before) / n_ops,
    }


def run_in_subprocess(form: str, n_ops: int) -> dict[str, float]:
    """``run`` in a fresh process."""
    command = [sys.executable, "-m", "tests.benchmarks.million_ops", form, str(n_ops)]
    result = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    numbers: dict[str, float] = json.loads(result.stdout)
    return numbers


def peak_resident_bytes() -> float:
    """The peak resident memory of this process alone (``ru_maxrss`` begins at the parent's); NaN outside Linux."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return float("nan")
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return 1024.0 * int(line.split()[1])


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], int(sys.argv[2]))))
