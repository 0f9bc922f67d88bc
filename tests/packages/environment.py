"""An environment of its own for published packages: everything that they need, except the engine whose name ours serves."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
WORK = Path(__file__).resolve().parent / "work"

PACKAGES = {
    "autograd-gamma": "0.5.0",
    "mici": "0.4.1",
    "pymanopt": "2.2.1",
    "lifelines": "0.30.3",
    "surpyval": "0.25",
    "pyerrors": "2.17.0",
    "pennylane": "0.45.1",
}
"""Package -> version, of what the work was written for. All of them install on Python 3.11 to 3.13 with NumPy 2."""

LEFT_OUT = "autograd"
"""The distribution that the packages ask for and that ours stands in for."""

OURS = ("pyproject.toml", "README.md", "LICENSE", "autograd", "registry")
"""What our distribution is built from."""


class PipError(Exception):
    """pip could not do what it was asked to: the command, and the end of what it said."""


@dataclass(frozen=True)
class Environment:
    """An interpreter with packages, what is installed there, and the folders it should import from besides."""

    python: Path
    installed: tuple[str, ...]
    extra_path: tuple[Path, ...] = ()

    def run_work(self, name: str, *, quick: bool) -> list[dict[str, Any]]:
        """The rows of one package's work, as ``measure.py`` prints them; what went wrong as a whole is one row that says so."""
        variables = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
        variables |= {"MPLBACKEND": "Agg", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(map(str, self.extra_path))}
        work = WORK / f"{name.replace('-', '_')}.py"
        # -P: a file of work has the name of its package, which its folder must not hide.
        command = [str(self.python), "-P", str(WORK.parent / "measure.py"), name, str(work), *(["--quick"] if quick else [])]
        with tempfile.TemporaryDirectory() as elsewhere:
            answer = subprocess.run(command, capture_output=True, text=True, env=variables, cwd=elsewhere)
        rows = [json.loads(line) for line in answer.stdout.splitlines() if line.startswith("{")]
        if answer.returncode or not rows:
            failure = f"{answer.stdout[-1000:]}{answer.stderr[-3000:]}\nexit status {answer.returncode}"
            rows.append({"done": "the work as a whole", "right": False, "failure": failure})
        return rows


def make_environment(folder: Path, names: list[str]) -> Environment:
    """A virtual environment with our distribution, these packages and what they need, but not what ours stands in for.

    The whole tree of what is needed is worked out by pip first, so that nothing brings ``autograd`` in behind our back.
    Raises PipError, with what pip said.
    """
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        venv.create(folder, with_pip=True)
    packages = [f"{name}=={PACKAGES[name]}" for name in names]
    with tempfile.TemporaryDirectory() as copied:
        ours = copy_of_ours(Path(copied) / "ours")  # a build in the tree would leave files there
        wanted = [pin for pin in needed(python, [*packages, f"{ours}[scipy]"]) if _name_of(pin) not in (LEFT_OUT, "gradtape")]
        run_pip(python, "install", "--no-deps", *wanted)
        run_pip(python, "install", "--no-deps", "--force-reinstall", str(ours))
    return Environment(python, tuple(wanted))


def borrow_environment(folder: Path, name: str, *, seconds: float) -> Environment:
    """The running interpreter with one package more, from a folder; quick, and for packages that need NumPy and SciPy alone.

    Raises PipError when the index does not answer within so many seconds.
    """
    package = f"{name}=={PACKAGES[name]}"
    index = ("--timeout", "3", "--retries", "0")
    run_pip(Path(sys.executable), "install", "--no-deps", *index, "--target", str(folder), package, seconds=seconds)
    return Environment(Path(sys.executable), (package,), extra_path=(ROOT, folder))


def needed(python: Path, requirements: list[str]) -> list[str]:
    """Everything that pip would install for these requirements, as ``name==version``."""
    report = run_pip(python, "install", "--dry-run", "--ignore-installed", "--report", "-", *requirements)
    return [f"{each['metadata']['name']}=={each['metadata']['version']}" for each in json.loads(report)["install"]]


def copy_of_ours(folder: Path) -> Path:
    """The files that our distribution is built from, in a folder of their own."""
    folder.mkdir()
    for name in OURS:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


def run_pip(python: Path, *arguments: str, seconds: float | None = None) -> str:
    """What pip prints; raises PipError when it fails or does not end in time."""
    command = [str(python), "-m", "pip", arguments[0], "--quiet", "--disable-pip-version-check", "--no-input", *arguments[1:]]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise PipError(f"{' '.join(command)}\ndid not end within {seconds} s") from None
    if answer.returncode:
        raise PipError(f"{' '.join(command)}\n{answer.stderr[-2000:]}")
    return answer.stdout


def _name_of(pin: str) -> str:
    return pin.partition("==")[0].lower().replace("_", "-")
