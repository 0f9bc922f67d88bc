"""``python -m autograd check MODULE:FUNCTION``: how functions are found, at which arguments, and what is said of them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from autograd.__main__ import main
from autograd.check.points import SHAPES, points
from autograd.errors import GradientError

ROOT = Path(__file__).parent.parent.parent


def check(capsys, *words):
    code = main(["check", *words])
    return code, capsys.readouterr()


# ------------------------------------------------------------------------------------------------------- functions

LINES = [
    # words, exit code, how the line before the report begins, how the report begins
    (["loss"], 0, "w = np.array([", "right: "),
    (["square"], 0, "x = 3.0; scale = 2.0, its defaults", "right: "),
    (["kink"], 1, "x = 0.0, its default", "kink: "),
    (["kink", "--allow", "kink"], 0, "x = 0.0, its default", "kink: "),
    (["kink", "--at", "-1.5"], 0, "x = -1.5, from --at", "right: "),
    (["constant"], 1, "x = np.array([", "vacuous: "),
    (["constant", "--allow", "kink"], 1, "x = np.array([", "vacuous: "),
    (["constant", "--allow", "vacuous", "--allow", "kink"], 0, "x = np.array([", "vacuous: "),
    (["of_number", "--at", "2.0"], 0, "x = 2.0, from --at", "right: "),
    (["of_number", "--at=-np.ones(())[()]"], 0, "x = np.float64(-1.0), from --at", "right: "),
    (["loss", "--at", "np.ones(1)", "np.arange(2.)", "3"], 0, "w = np.array([1.]); x = np.array([0., 1.]); n = 3", "right: "),
    (["loss", "--at", "np.ones(1)", "--at", "np.ones(2)"], 0, "w = np.array([1.]); x = np.array([1., 1.]), from", "right: "),
    (["several", "--at", "2.0", "3.0"], 0, "argument 0 = 2.0; argument 1 = 3.0, from --at", "right: "),
    (["of_dict", "--at", "START"], 0, "p = {'n': 3, 'w': array([ 1.5, -0.5])}, from --at", "right: "),
    (["of_dict", "--at", "{'w': np.ones(20), 'n': 2}"], 0, "p = {", "right: "),
    (["of_vector", "--at", "np.ones((3,)) * np.pi"], 0, "x = np.array([3.14159265, ", "right: "),
    (["of_matrix", "--at", "np.ones((20, 2))"], 0, "a = float64 array of shape (20, 2), from --at", "right: "),
    (["tagged"], 0, "p = {'w': array([2.])}, from its check_at", "right: "),
    (["tagged_alone"], 0, "x = 2.0, from its check_at", "right: "),
    (["noisy"], 1, "x = np.array([", "not deterministic: "),
    (["off_tape", "--at", "0.5"], 1, "x = 0.5, from --at", "not checked: "),
    (["model"], 0, "x = np.array([", "right: "),
    (["Model.energy"], 0, "x = np.array([", "right: "),
]  # fmt: skip


@pytest.mark.usefixtures("functions")
@pytest.mark.parametrize(("words", "expected", "at", "report"), LINES, ids=[" ".join(row[0]) for row in LINES])
def test_functions(words, expected, at, report, capsys):
    code, captured = check(capsys, f"of_mine:{words[0]}", *words[1:])
    assert (code, captured.err) == (expected, "")
    first, second, *_ = captured.out.splitlines()
    assert first.startswith(f"of_mine:{words[0]} at {at}")
    assert second.startswith(report)
    assert captured.out.endswith(f"\n\n1 function: 1 {report.rstrip(': ')}\n")


DRAWN = [
    ("of_number", "()"),
    ("of_vector", "(3,)"),
    ("of_matrix", "(2, 3)"),
    ("of_square", "(3, 3)"),
    ("logarithm", "(3,)"),
    ("constant_on_vectors", "(2, 3)"),
    ("several", "(3,)"),
    ("by_name", "(3,)"),
]


@pytest.mark.usefixtures("functions")
@pytest.mark.parametrize(("name", "shape"), DRAWN)
def test_random_numbers_are_of_the_first_shape_that_the_function_takes(name, shape, capsys):
    code, captured = check(capsys, f"of_mine:{name}", "--seed", "3")
    assert code == 0
    first, second, *_ = captured.out.splitlines()
    between = " between 0 and 1" if name == "logarithm" else ""
    assert first.endswith(f", random numbers{between} of shape {shape}, seed 3")
    assert second.startswith("right: ")


@pytest.mark.usefixtures("functions")
def test_the_arguments_that_are_told_give_the_same_report_again(capsys):
    _, drawn = check(capsys, "of_mine:by_name", "--seed", "4")
    _, again = check(capsys, "of_mine:by_name", "--seed", "4")
    _, other = check(capsys, "of_mine:by_name", "--seed", "5")
    assert drawn.out == again.out
    assert drawn.out.splitlines()[0] != other.out.splitlines()[0]
    _, drawn = check(capsys, "of_mine:logarithm")
    told = re.search(r"x = (np.array\(.*?\)),", drawn.out)[1]
    _, given = check(capsys, "of_mine:logarithm", "--at", told)
    assert given.out.splitlines()[1:] == drawn.out.splitlines()[1:]


def test_np_is_numpy_whatever_the_module_calls_so(capsys, here):
    (here / "no_numpy_here.py").write_text("np = None\ndef square(x): return x * x\n")
    assert check(capsys, "no_numpy_here:square", "--at", "np.ones(2)")[0] == 0


@pytest.mark.usefixtures("wrong_cube")
def test_a_wrong_rule_under_a_function_is_named(capsys):
    code, captured = check(capsys, "cubes:total", "--at", "np.array([0.5, 2.0])")
    assert code == 1
    for part in ("wrong: the gradient of total", "kernel     'cube_of' on backend 'numpy'", "input      x[", "cubes.py:15"):
        assert part in captured.out
    assert captured.out.endswith("\n1 function: 1 wrong\n")
    code, captured = check(capsys, "cubes:total", "--at", "np.zeros(2)")  # 2 x**2 is right where x is 0
    assert code == 0


@pytest.mark.usefixtures("functions")
def test_several_functions_and_one_of_them_fails(capsys):
    code, captured = check(capsys, "of_mine:square", "of_mine:kink", "of_mine:tagged")
    assert code == 1
    assert [line.partition(" at ")[0] for line in captured.out.splitlines() if line.startswith("of_mine:")] == [
        "of_mine:square",
        "of_mine:kink",
        "of_mine:tagged",
    ]
    assert captured.out.endswith("\n3 functions: 2 right, 1 kink\n")


@pytest.mark.usefixtures("functions")
def test_order_and_modes_reach_the_function(capsys):
    _, both = check(capsys, "of_mine:square", "--json")
    _, one = check(capsys, "of_mine:square", "--json", "--order", "2", "--modes", "forward")
    (both,), (one,) = json.loads(both.out)["functions"], json.loads(one.out)["functions"]
    assert {each["how"] for each in both["probes"]} == {"reverse mode", "forward mode"}
    assert {each["how"] for each in one["probes"]} == {"forward mode"}
    assert (both["order"], one["order"], one["verdict"]) == (1, 2, "right")


@pytest.mark.usefixtures("functions", "twin")
def test_a_function_runs_on_the_backend_that_is_asked_for(capsys):
    for backend, expected in (("numpy", 0), ("twin", 1)):
        code, captured = check(capsys, "of_mine:sine", "--backend", backend, "--json")
        assert (code, json.loads(captured.out)["backend"]) == (expected, backend)


@pytest.mark.usefixtures("functions")
def test_the_path_is_as_it_was_afterwards(capsys):
    before = list(sys.path)
    assert check(capsys, "of_mine:square")[0] == 0
    assert sys.path == before


# ---------------------------------------------------------------------------------------------------------- points


def test_points_are_tried_in_turn():
    shapes = [np.shape(point.args["x"]) for point in points(lambda x: x)]
    assert shapes == [shape for shape in SHAPES for _ in range(2)]
    first, second = [point.args["x"] for point in points(lambda x: x)][:2]
    assert first.min() < 0 < first.max()
    assert 0 < second.min() < second.max() < 1


def test_points_where_the_function_is_finite_come_first():
    found = list(points(lambda x: np.log(x) if np.ndim(x) else 1 / 0))
    with np.errstate(all="ignore"):
        finite = [bool(np.all(np.isfinite(np.log(point.args["x"])))) for point in found]
    assert finite == [True] * 3 + [False] * 3


def test_a_function_does_not_see_the_numbers_that_it_changed():
    def spoils(x):
        x[...] = 0.0
        return x

    assert np.all(next(points(spoils)).args["x"] != 0)


def test_a_function_that_takes_nothing_that_was_tried_says_so():
    with pytest.raises(
        GradientError, match=r"takes no random numbers of shape \(3,\), .*; the last time it raised KeyError: 'w'"
    ):
        next(points(lambda p: {}["w"]))


@pytest.mark.usefixtures("wrong_cube")
def test_a_function_as_json(capsys):
    code, captured = check(capsys, "cubes:total", "--at", "np.array([0.5, 2.0])", "--json")
    found = json.loads(captured.out)
    (function,) = found["functions"]
    assert (code, found["ok"], function["ok"], function["verdict"]) == (1, False, False, "wrong")
    assert function["at"] == {"arguments": {"x": [0.5, 2.0]}, "origin": "from --at"}
    assert function["culprit"]["kernel_name"] == "cube_of"
    worst = [each for each in function["probes"] if "[1]" in each["where"]]
    assert [(round(each["found"], 6), round(each["expected"], 6)) for each in worst] == [(16, 24), (16, 24)]


@pytest.mark.usefixtures("functions")
def test_what_a_function_prints_does_not_get_into_the_json(capsys):
    code, captured = check(capsys, "of_mine:chatty", "--at", "2.0", "--json")
    assert code == 0
    assert json.loads(captured.out)["functions"][0]["verdict"] == "right"
    assert "I am run" in captured.err


@pytest.mark.usefixtures("functions")
def test_from_the_shell(here):
    command = [sys.executable, "-m", "autograd", "check", "of_mine:square"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("of_mine:square at x = 3.0; scale = 2.0, its defaults\nright: ")
