"""W10: how long ``import autograd`` takes beyond ``import numpy``, by processes in turn.

Bytecode is compiled once into a folder of its own and used from there, as an installed package has it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

ROOT = Path(__file__).parents[2]

GOAL_SECONDS = 0.06

_STATEMENT = "import numpy, time; start = time.process_time(); import autograd; print(time.process_time() - start)"


def seconds_beyond_numpy(rounds: int) -> tuple[float, float]:
    """Medians over the rounds: the difference between whole processes, and the processor time of the import statement."""
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
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, "-c", code]
    start = perf_counter()
    result = subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return perf_counter() - start, result.stdout
