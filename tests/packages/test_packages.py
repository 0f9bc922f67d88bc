"""The packages' work as tests: the two quickest always, where an index of packages answers; all of it with ``--full``."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

from .environment import LEFT_OUT, PACKAGES, WORK, PipError, borrow_environment, make_environment
from .measure import distance, numbers, rows_of

QUICKEST = ("autograd-gamma", "mici")
"""Their work takes seconds, and they need nothing but NumPy and SciPy."""

PATIENCE = 20.0
"""Seconds for one small package; without an index pip gives up long before."""


def wrong(rows):
    return [
        row.get("failure") or {key: row[key] for key in ("done", "of", "result", "known")} for row in rows if not row["right"]
    ]


@pytest.mark.parametrize("name", QUICKEST)
def test_quickest_packages_give_what_is_known(name, tmp_path):
    if importlib.util.find_spec("pip") is None or importlib.util.find_spec("scipy") is None:
        pytest.skip("pip or SciPy is not installed")
    try:
        environment = borrow_environment(tmp_path, name, seconds=PATIENCE)
    except PipError as error:
        pytest.skip(f"no index of packages answered: {str(error).splitlines()[-1]}")
    rows = environment.run_work(name, quick=True)
    assert not wrong(rows)
    assert len(rows) >= 8


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Everything in one environment; a minute, and 700 MB."""
    return make_environment(tmp_path_factory.mktemp("environment"), list(PACKAGES))


@pytest.mark.full
@pytest.mark.parametrize("name", PACKAGES)
def test_packages_give_what_is_known(name, environment):
    rows = environment.run_work(name, quick=False)
    assert not wrong(rows)
    assert len(rows) >= 8


@pytest.mark.full
def test_the_other_engine_is_not_installed(environment):
    code = "from importlib.metadata import distributions; print(*[each.metadata['Name'] for each in distributions()])"
    answer = subprocess.run([str(environment.python), "-c", code], capture_output=True, text=True, check=True)
    names = set(answer.stdout.lower().split())
    assert LEFT_OUT not in names
    assert {"gradtape", "numpy"} <= names


# ------------------------------------------------------------------------------------------------ the script itself


def test_every_package_has_work():
    assert {path.stem for path in WORK.glob("*.py")} == {name.replace("-", "_") for name in PACKAGES}


def test_a_result_that_is_not_the_known_one_is_told():
    def check(quick):
        """Two and two."""
        yield "sum", 2 + 2, 4.0, "by counting", 0
        yield "product", 2 * 2, 5.0, "a mistake", 0.1
        yield "quotient", float("nan"), 1.0, "a result that is no number", 10.0
        yield "shape", [1.0, 2.0], 1.0, "a result of another shape", 10.0
        yield "what comes after an exception", 0, 0, "never reached", 0

    rows = list(rows_of(check, quick=True))
    assert [row["right"] for row in rows] == [True, False, False, False]
    assert [row.get("of") for row in rows] == ["sum", "product", "quotient", None]
    assert {row["done"] for row in rows} == {"Two and two"}
    assert "shape" in rows[-1]["failure"]


def test_distance_is_relative_above_one_and_knows_complex_numbers():
    assert distance([0.5, 1000.0], [0.25, 1001.0]) == 0.25
    assert distance(3 + 4j, 0.0) == 5
    assert numbers([1 + 2j]) == [1.0, 2.0]
    assert distance([], []) == 0


def test_work_that_cannot_start_is_a_row(tmp_path, monkeypatch):
    from . import environment as module

    monkeypatch.setattr(module, "WORK", tmp_path / "work")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "mici.py").write_text("import no_such_package\n")
    (tmp_path / "measure.py").write_text("import runpy, sys\nrunpy.run_path(sys.argv[2])\n")
    (row,) = module.Environment(module.Path(sys.executable), ()).run_work("mici", quick=True)
    assert not row["right"]
    assert "no_such_package" in row["failure"]
