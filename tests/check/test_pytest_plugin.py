"""The plugin for pytest, as others use it: runs of pytest in a folder of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = ROOT / "autograd" / "check" / "pytest_plugin"
HEADER = """
import random
import numpy
import pytest
import autograd.numpy as np
from autograd import custom_gradient

@custom_gradient
def twice(x):
    return np.sum(x * x), lambda dy: dy * 4.0 * x

X = numpy.array([1.0, 2.0])
"""


def python(*words: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(PLUGIN)]), "COLUMNS": "200"}
    environment.pop("PYTEST_ADDOPTS", None)
    return subprocess.run([sys.executable, *words], cwd=cwd, env=environment, capture_output=True, text=True, check=False)


class Run:
    """A run of pytest over one file: what each test came to, and what was printed."""

    def __init__(self, folder: Path, code: str, *options: str) -> None:
        (folder / "test_it.py").write_text(HEADER + code)
        installed = entry_points(group="pytest11", name="gradtape")
        words = ["-m", "pytest", "-v", "-rN", "--strict-markers", "-W", "error", "-p", "no:cacheprovider"]
        done = python(*words, *([] if installed else ["-p", "pytest_gradtape"]), *options, cwd=folder)
        self.text = done.stdout + done.stderr
        outcomes = re.findall(r"test_it\.py::(\S+) (PASSED|FAILED|ERROR|SKIPPED|XFAIL)", self.text)
        self.outcomes = {
            name.replace("[at]", "").replace("-at]", "]"): outcome for name, outcome in outcomes
        }  # pytest < 8.4 shows it


@pytest.fixture
def run(tmp_path):
    return lambda code, *options: Run(tmp_path, code, *options)


# -------------------------------------------------------------------------------------------------- the fixture


FIXTURE = """
def test_right(check_gradient):
    report = check_gradient(lambda x: np.sum(x**3), X, order=2)
    assert report.ok and report.order == 2

def test_wrong(check_gradient):
    check_gradient(twice, X)
    raise AssertionError("not reached")

def test_kink(check_gradient):
    check_gradient(np.abs, 0.0)

def test_allowed(check_gradient):
    assert check_gradient(np.abs, 0.0, allow=["kink"]).verdict == "kink"

def test_not_raised(check_gradient):
    assert check_gradient(twice, X, raise_error=False).verdict == "wrong"
"""


def line_of(code: str, start: str) -> int:
    """The line of the file on which that stands."""
    return (HEADER + code)[: (HEADER + code).index(start)].count("\n") + 1


def test_the_fixture_fails_with_the_report_and_no_traceback(run):
    result = run(FIXTURE)
    assert result.outcomes == {
        "test_right": "PASSED",
        "test_wrong": "FAILED",
        "test_kink": "FAILED",
        "test_allowed": "PASSED",
        "test_not_raised": "PASSED",
    }
    assert "\ncheck_gradient: wrong: the gradient of twice, 4 of 4 answers\n" in result.text
    assert "diagnosis  factor 2: it is twice the right one\n" in result.text
    assert "\ncheck_gradient: kink: the gradient of abs" in result.text
    assert f"\n  checked at test_it.py:{line_of(FIXTURE, 'check_gradient(twice, X)')}, with seed 0\n" in result.text
    assert "Traceback" not in result.text
    assert "not reached" not in result.text
    assert "\n>" not in result.text  # nor the source of the test


# -------------------------------------------------------------------------------------------------- the marker

MARKED = """
@pytest.fixture
def weights():
    return numpy.array([3.0, 4.0])

@pytest.mark.check_gradient(at=[X], order=2)
def test_body(x):
    return np.sum(x**3)

@pytest.mark.check_gradient(at=[X])
def test_wrong(x):
    return twice(x)

@pytest.mark.check_gradient(at=[X], allow=["kink"])
def test_options(x):
    return np.sum(np.abs(x - 1.0))

@pytest.mark.check_gradient(at=[X], seed=5)
def test_own_seed(x):
    return twice(x)

@pytest.mark.check_gradient(at=[2.0, {"w": X}])
def test_several_arguments(a, p):
    return a * np.sum(p["w"])

@pytest.mark.check_gradient(at=[X])
@pytest.mark.parametrize(("power", "wrong"), [(2, False), (3, True)])
def test_constants(power, weights, x, wrong):
    return np.sum(weights * x**power) + (twice(x) if wrong else 0.0)

@pytest.mark.check_gradient(at={"weights": X})
@pytest.mark.parametrize("power", [2])
def test_names(power, weights):
    return np.sum(weights**power)

@pytest.mark.check_gradient(at=[X])
@pytest.mark.parametrize("wrong", [False, True])
def test_returns_it(weights, wrong):
    return (lambda x: twice(x * weights)) if wrong else (lambda x: np.sum(x * weights))

@pytest.mark.check_gradient
@pytest.mark.parametrize("x", [X, numpy.ones((2, 2))], ids=["vector", "matrix"])
def test_by_hand(x):
    return np.sum(x**2)

@pytest.mark.check_gradient(at=[X])
@pytest.mark.check_gradient(at=[2 * X], order=2)
def test_two_points(x):
    return np.sum(x**3)

@pytest.mark.check_gradient(at=[X])
class TestMethods:
    def test_method(self, x):
        return np.sum(x**3)

    def test_wrong_method(self, x):
        return twice(x)

@pytest.mark.check_gradient(at=[X])
@pytest.mark.parametrize("g", [numpy.random.default_rng(1), random.Random(1)], ids=["numpy", "python"])
def test_chance(x, g):
    return np.sum(x) * (g.normal() if hasattr(g, "normal") else g.random())

@pytest.mark.xfail(strict=True)
@pytest.mark.check_gradient(at=[X])
def test_known_to_be_wrong(x):
    return twice(x)

def test_not_marked():
    pass
"""


def test_the_marker_checks_the_function(run):
    result = run(MARKED)
    assert result.outcomes == {
        "test_body": "PASSED",
        "test_wrong": "FAILED",
        "test_options": "PASSED",
        "test_own_seed": "FAILED",
        "test_several_arguments": "PASSED",
        "test_constants[2-False]": "PASSED",
        "test_constants[3-True]": "FAILED",
        "test_names[2]": "PASSED",
        "test_returns_it[False]": "PASSED",
        "test_returns_it[True]": "FAILED",
        "test_by_hand[vector]": "PASSED",
        "test_by_hand[matrix]": "PASSED",
        "test_two_points[at0]": "PASSED",
        "test_two_points[at1]": "PASSED",
        "TestMethods::test_method": "PASSED",
        "TestMethods::test_wrong_method": "FAILED",
        "test_chance[numpy]": "PASSED",
        "test_chance[python]": "PASSED",
        "test_known_to_be_wrong": "XFAIL",
        "test_not_marked": "PASSED",
    }
    assert "check_gradient: wrong: the gradient of test_wrong, 4 of 4 answers" in result.text
    assert "hidden" not in result.text
    line = line_of(MARKED, "@pytest.mark.check_gradient(at=[X])\ndef test_wrong")
    assert f"checked at test_it.py:{line}, with seed 0" in result.text
    assert "with seed 5" in result.text
    assert "Warning" not in result.text


def test_an_error_of_the_function_itself_keeps_its_traceback(run):
    result = run("@pytest.mark.check_gradient(at=[X])\ndef test_it(x):\n    raise KeyError('mine')\n")
    assert result.outcomes == {"test_it": "FAILED"}
    assert "raise KeyError('mine')" in result.text


REFUSED = [
    ("at=[X, X]", "x", "at has 2 value(s) for the argument(s) ['x']"),
    ("at=X", "x", "got a ndarray for at, expected a list"),
    ("X", "x", "it got 1 value(s) by position; pass them as at=[...]"),
    ("order=2", "x", "nothing fills ['x']; pass values as at=[...]"),
    ("order=2", "", "there is nothing to check; pass at=[...]"),
    ("at={'z': X}", "x", "at has values for ['z'], expected some for ['x']"),
]


@pytest.mark.parametrize(("marked", "arguments", "says"), REFUSED, ids=[row[0] for row in REFUSED])
def test_a_marker_that_fits_nothing_is_refused_when_tests_are_collected(run, marked, arguments, says):
    result = run(f"@pytest.mark.check_gradient({marked})\ndef test_it({arguments}):\n    return 0.0\n")
    assert f"test_it: the marker check_gradient cannot be used like this: {says}" in result.text
    assert "Interrupted: 1 error during collection" in result.text


def test_markers_that_fill_different_arguments_are_refused(run):
    code = "@pytest.mark.check_gradient(at={'x': X, 'tmp_path': X})\n@pytest.mark.check_gradient(at=[X])\n"
    result = run(code + "def test_it(x, tmp_path):\n    return np.sum(x)\n")
    assert "its markers fill different arguments: [['x'], ['x', 'tmp_path']]" in result.text


def test_what_returns_no_function_where_it_should_fails(run):
    result = run("@pytest.mark.check_gradient(at=[X])\ndef test_it(tmp_path):\n    return 3.0\n")
    assert result.outcomes == {"test_it": "FAILED"}
    assert "it returned float, expected the function to check" in result.text


# -------------------------------------------------------------------------------------------------- the command line


def test_the_seed_comes_from_the_command_line(run):
    code = """
def test_fixture(check_gradient):
    check_gradient(twice, numpy.linspace(1, 2, 100))

@pytest.mark.check_gradient(at=[X])
def test_marker(x):
    return twice(x)

def test_own(check_gradient):
    check_gradient(twice, X, seed=3)
"""
    text = run(code, "--gradient-seed", "17").text
    assert re.findall(r"with seed (\d+)", text) == ["17", "17", "3"]
    assert re.findall(r"with seed (\d+)", run(code).text) == ["0", "0", "3"]


def test_the_seed_is_that_of_the_directions(run):
    code = """
def test_it(check_gradient):
    print("found", [each.found for each in check_gradient(lambda x: np.sum(x**3), numpy.linspace(1, 1.9, 100)).probes])
"""
    found = [re.search("found (.*)", run(code, "-s", "--gradient-seed", seed).text)[1] for seed in ("1", "1", "2")]
    assert found[0] == found[1] != found[2]


def test_the_marker_and_the_option_are_described(run):
    assert "@pytest.mark.check_gradient(at=None, **options): the test function is the function" in run("", "--markers").text
    assert re.search(r"--gradient-seed=N\s+seed of the directions", run("", "--help").text)


def test_it_can_be_switched_off(run):
    result = run("def test_it():\n    pass\n", "-p", "no:gradtape")
    assert result.outcomes == {"test_it": "PASSED"}
    assert run("@pytest.mark.check_gradient(at=[X])\ndef test_it(x):\n    pass\n", "-p", "no:gradtape").outcomes == {}


def test_it_works_in_several_processes(run):
    pytest.importorskip("xdist")
    text = run(MARKED, "-n", "2").text
    assert "5 failed, 14 passed, 1 xfailed" in text


# -------------------------------------------------------------------------------------------------- what it costs


def test_importing_it_imports_neither_numpy_nor_autograd():
    done = python("-c", "import pytest_gradtape, sys; print(*sys.modules)")
    loaded = set(done.stdout.split())
    assert "pytest_gradtape" in loaded, done.stderr
    assert not loaded & {"numpy", "autograd", "registry", "scipy", "networkx"}


def test_a_run_without_a_check_imports_neither(run, tmp_path):
    (tmp_path / "test_plain.py").write_text(
        "import sys\n\ndef test_it():\n"
        "    assert 'pytest_gradtape' in sys.modules\n"
        "    assert not {'numpy', 'autograd', 'registry'} & set(sys.modules)\n"
    )
    result = run("", "test_plain.py", "-p", "no:hypothesispytest")
    assert "1 passed" in result.text, result.text


def test_it_is_installed_with_the_distribution():
    found = [each.value for each in entry_points(group="pytest11", name="gradtape")]
    assert found in ([], ["pytest_gradtape"])
    project = (ROOT / "pyproject.toml").read_text()
    assert '[project.entry-points.pytest11]\ngradtape = "pytest_gradtape"\n' in project


@pytest.mark.check_gradient(at=[2.0, 3.0])
def test_this_suite_runs_with_it(x, y):
    return x * y
