"""W10: how long ``import autograd`` takes beyond ``import numpy``, by processes in turn."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

ROOT = Path(__file__).parents[2]

GOAL_SECONDS = 0.06

_IN_PROCESS = "import numpy, time; start = time.perf_counter(); import autograd; print(time.perf_counter() - start)"


def seconds_beyond_numpy(rounds: int) -> tuple[float, float]:
    """Medians over the rounds: the difference between whole processes, and the import statement by its own clock."""
    differences, inside = [], []
    _process("import numpy, autograd")  # compiles bytecode where there is none yet
    for _ in range(rounds):
        with_numpy, _ = _process("import numpy")
        with_both, _ = _process("import numpy, autograd")
        differences.append(with_both - with_numpy)
        inside.append(float(_process(_IN_PROCESS)[1]))
    return median(differences), median(inside)


def _process(code: str) -> tuple[float, str]:
    start = perf_counter()
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return perf_counter() - start, result.stdout
