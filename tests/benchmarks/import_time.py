"""W10: how long ``import autograd`` takes beyond ``import numpy``, in processor time, by processes in turn.

Bytecode is compiled once into a folder of its own and used from there, as an installed package has it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]

GOAL_SECONDS = 0.06

_STATEMENT = "import numpy, time; start = time.process_time(); import autograd; print(time.process_time() - start)"


def seconds_beyond_numpy(rounds: int) -> tuple[float, float]:
    """Medians over the rounds: the difference between whole processes, and the import statement alone."""
    differences, statements = [], []
    with TemporaryDirectory() as bytecode:
        _process("import numpy, autograd", bytecode)
        for _ in range(rounds):
            with_numpy, _ = _process("import numpy", bytecode)
            with_both, _ = _process("import numpy, autograd", bytecode)
            differences.append(with_both - with_numpy)
            statements.append(float(_process(_STATEMENT, bytecode)[1]))
    return median(differences), median(statements)


def _process(code: str, bytecode: str) -> tuple[float, str]:
    """The processor time of a process that runs ``code``, and what it printed."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, "-c", code]
    before = _seconds_of_children()
    result = subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return _seconds_of_children() - before, result.stdout


def _seconds_of_children() -> float:
    from resource import RUSAGE_CHILDREN, getrusage  # not on Windows

    usage = getrusage(RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
