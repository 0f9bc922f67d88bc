"""``python -m autograd check``: exit codes, what it prints, and one line for every mistake."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import autograd.scipy.integrate
import autograd.scipy.linalg
import autograd.scipy.signal
import autograd.scipy.special
import autograd.scipy.stats  # noqa: F401  # these five register the operators that SciPy computes, as the command does
from autograd.__main__ import main
from autograd.check import command_operators
from autograd.check.backend import BackendRow
from autograd.check.command_rows import backend_row, kernel_row
from autograd.check.kernel import KernelReport, checkable

ROOT = Path(__file__).parent.parent.parent


def check(capsys, *words):
    code = main(["check", *words])
    return code, capsys.readouterr()


def as_table(out):
    """Name, verdict and number of examples of each row of a table."""
    row = re.compile(r"^(\w+) +([a-z]+(?: [a-z]+)*) +(\d+) +\d+\.\d\d\b", re.MULTILINE)
    return [(name, verdict, int(number)) for name, verdict, number in row.findall(out)]


# ------------------------------------------------------------------------------------------------------- operators

TABLES = [
    (["sin", "matmul"], [("sin", "right", 30), ("matmul", "right", 30)]),
    (["sin", "--examples", "4", "matmul", "sin"], [("sin", "right", 4), ("matmul", "right", 4)]),
    (["sin", "--seed", "3", "--order", "2", "--modes", "reverse", "--examples", "5"], [("sin", "right", 5)]),
    (["arc?inh", "--modes", "forward,reverse", "--examples", "2"], [("arcsinh", "right", 2)]),
    (["tan*", "--examples", "2", "--backend", "numpy"], [("tan", "right", 2), ("tanh", "right", 2)]),
    (["gammaln", "--examples", "2"], [("gammaln", "right", 2)]),
]


@pytest.mark.parametrize(("words", "expected"), TABLES, ids=[" ".join(words) for words, _ in TABLES])
def test_operators_that_are_right(words, expected, capsys):
    code, captured = check(capsys, *words)
    assert (code, captured.err) == (0, "")
    assert as_table(captured.out) == expected
    lines = captured.out.splitlines()
    assert lines[0].startswith("backend 'numpy', ")
    assert lines[1].split() == ["kernel", "verdict", "examples", "seconds", "note"]
    n = len(expected)
    assert lines[-1] == f"{n} operator{'s' if n > 1 else ''}: {n} right"


def test_without_names_all_operators_are_checked(capsys, monkeypatch):
    asked = []

    def found(backend, *, names, **settings):
        asked.extend(names)
        return [KernelReport(names[0], "numpy", "right", settings["max_examples"])]

    monkeypatch.setattr(command_operators, "check_all", found)
    code, captured = check(capsys, "--examples", "7")
    assert code == 0
    assert asked == checkable("numpy")
    assert as_table(captured.out) == [(name, "right", 7) for name in asked]


def test_what_is_asked_for_reaches_the_check(capsys, monkeypatch):
    seen = []

    def found(*args, **settings):
        seen.append((args, settings))
        return [KernelReport("sin", "numpy", "right", 1)]

    monkeypatch.setattr(command_operators, "check_all", found)
    assert check(capsys, "sin", "--seed", "5", "--order", "3", "--examples", "9", "--modes", "forward")[0] == 0
    assert check(capsys, "sin", "--backend", "numpy")[0] == 0
    asked = {"names": ["sin"], "max_examples": 9, "seed": 5, "order": 3, "modes": ("forward",)}
    usual = {"names": ["sin"], "max_examples": 30, "seed": 0, "order": 1, "modes": ("reverse", "forward")}
    assert seen == [((None,), asked), (("numpy",), usual)]


@pytest.mark.usefixtures("wrong_cube")
def test_a_wrong_rule_of_the_users_operator_is_reported_below_the_table(capsys):
    code, captured = check(capsys, "exp", "cube_of", "sin", "--load", "cubes", "--examples", "5")
    assert code == 1
    assert [row[:2] for row in as_table(captured.out)] == [("exp", "right"), ("cube_of", "wrong"), ("sin", "right")]
    (row,) = re.findall("^cube_of .*", captured.out, re.MULTILINE)
    assert "reverse mode, x" in row
    table, _, below = captured.out.partition("\n\n")
    assert "sin" in table
    assert below.startswith("kernel 'cube_of' on backend 'numpy' fails\nwrong: ")
    assert "def test_cube_of():" in below
    assert captured.out.endswith("\n3 operators: 2 right, 1 wrong\n")


NOT_RIGHT = [("kink", "kink"), ("vacuous", "vacuous"), ("too noisy to tell", "too-noisy-to-tell"), ("not checked", "not checked")]


@pytest.mark.parametrize(("verdict", "allowed"), NOT_RIGHT)
def test_what_cannot_be_judged_fails_unless_it_is_allowed(verdict, allowed, capsys, monkeypatch):
    report = KernelReport("sin", "numpy", verdict, 3, text=f"kernel 'sin': {verdict}, and why")
    monkeypatch.setattr(command_operators, "check_all", lambda *args, **settings: [report])
    code, captured = check(capsys, "sin")
    assert code == 1
    assert f"\n\nkernel 'sin': {verdict}, and why\n\n1 operator: 1 {verdict}\n" in captured.out
    code, captured = check(capsys, "sin", "--allow", "not finite", "--allow", allowed)
    assert code == 0
    assert f"\n\n1 operator: 1 {verdict}\n" in captured.out


def test_a_wrong_one_is_never_allowed():
    assert not kernel_row(KernelReport("sin", "numpy", "wrong", 3), 0.1, ["kink"]).ok


def test_an_error_in_one_check_does_not_end_the_others(capsys, monkeypatch):
    def found(*args, names, **settings):
        if names == ["sin"]:
            raise ZeroDivisionError("in a rule")
        return [KernelReport(names[0], "numpy", "right", 1)]

    monkeypatch.setattr(command_operators, "check_all", found)
    code, captured = check(capsys, "sin", "cos")
    assert code == 1
    assert as_table(captured.out) == [("sin", "not checked", 0), ("cos", "right", 1)]
    assert "kernel 'sin' on backend 'numpy': its check raises\nTraceback" in captured.out
    assert "ZeroDivisionError: in a rule" in captured.out


# --------------------------------------------------------------------------------------------------- two backends


@pytest.mark.usefixtures("twin")
def test_backends_are_compared(capsys):
    code, captured = check(capsys, "exp", "sin", "tanh", "floor", "--backend", "twin", "--against", "numpy", "--examples", "4")
    assert (code, captured.err) == (1, "")
    rows = {name: (verdict, number) for name, verdict, number in as_table(captured.out)}
    assert rows["exp"][0] == rows["floor"][0] == "same"
    assert rows["exp"][1] >= 4
    assert rows["sin"][0] == "differs"
    assert rows["tanh"] == ("missing", 0)
    assert "it has no kernel on 'twin'" in captured.out
    assert "\nkernel 'sin' differs: the value is " in captured.out
    assert "    sin(x=np.array(" in captured.out
    assert captured.out.endswith("\n4 operators: 2 same, 1 differs, 1 missing\n")
    assert captured.out.startswith("backend 'twin' against 'numpy', 4 examples of each operator, seed 0\n")
    assert check(capsys, "exp", "tanh", "--backend", "twin", "--against", "numpy", "--examples", "2")[0] == 0


@pytest.mark.usefixtures("twin")
def test_nothing_compared_is_no_success(capsys):
    assert check(capsys, "tanh", "--backend", "twin", "--against", "numpy")[0] == 1


@pytest.mark.usefixtures("twin")
def test_operators_are_checked_on_another_backend(capsys):
    code, captured = check(capsys, "sin", "exp", "--backend", "twin", "--examples", "3")
    assert code == 1
    assert [row[:2] for row in as_table(captured.out)] == [("sin", "wrong"), ("exp", "right")]
    assert "kernel 'sin' on backend 'twin' fails\n" in captured.out
    code, captured = check(capsys, "tanh", "--backend", "twin")
    assert code == 2
    assert "operator 'tanh' has no kernel on backend 'twin', but on ['numpy']" in captured.err


def test_a_backend_that_is_only_installed_is_loaded(tmp_path):
    metadata = tmp_path / "gradtape_float32-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: gradtape-float32\nVersion: 0.1.0\n")
    (metadata / "entry_points.txt").write_text("[autograd.backends]\nfloat32 = gradtape_float32.kernels\n")
    package = ROOT / "tests" / "registry_tests" / "float32_backend"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (tmp_path, package)))}
    words = ["exp", "tanh", "--backend", "float32", "--against", "numpy", "--dtypes", "float32", "--examples", "3"]
    command = [sys.executable, "-m", "autograd", "check", *words]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("backend 'float32' against 'numpy', ")
    assert [row[:2] for row in as_table(done.stdout)] == [("exp", "same"), ("tanh", "same")]


def test_only_a_difference_fails():
    assert [backend_row(BackendRow("sin", each), 0.1).ok for each in ("same", "missing", "not checked", "differs")] == [
        True,
        True,
        True,
        False,
    ]


# -------------------------------------------------------------------------------------------------------- mistakes

MISTAKES = [
    (["sinn"], "there is no operator 'sinn'. Did you mean 'sin'"),
    (["sin", "qqq"], "there is no operator 'qqq'. python -m registry lists all; --load MODULE imports one that adds some"),
    (["zz*"], "no operator with a gradient and a kernel on this backend fits 'zz*'; python -m registry lists all"),
    (["floor"], "operator 'floor' has no gradient: its result is constant by definition"),
    (["checkpoint"], "operator 'checkpoint' takes a function: check a function that calls it, as MODULE:FUNCTION"),
    (["of_mine.loss"], "there is no operator 'of_mine.loss'. A function of a module is written of_mine:loss"),
    (["sin", "of_mine:loss"], "operators and functions, MODULE:FUNCTION, are checked in calls of their own"),
    (["--backend", "nump"], "backend 'nump' is not registered"),
    (["--load", "no_such_module"], "--load: cannot import 'no_such_module'"),
    (["--seed", "-1"], "--seed: got '-1', expected a whole number of at least 0"),
    (["--examples", "0"], "--examples: got '0', expected a whole number of at least 1"),
    (["--order", "two"], "--order: got 'two', expected a whole number of at least 1"),
    (["--modes", "sideways"], "--modes: got 'sideways', expected reverse or forward, or both with a comma between"),
    (["--modes", "reverse,"], "--modes: got 'reverse,', expected reverse or forward"),
    (["--dtypes", "float16"], "--dtypes: got 'float16', expected some of float64, float32, complex128, complex64"),
    (["sin", "--dtypes", "float32"], "--dtypes belongs to a check of two backends, and this is one of operators"),
    (["--allow", "wrong"], "--allow: got 'wrong', expected one of not finite, not deterministic, kink"),
    (["--example", "3"], "unrecognized arguments: --example; see gradtape check --help"),
    (["sin", "--at", "1.0"], "--at belongs to a check of a function, and this is one of operators"),
    (["of_mine:loss", "--examples", "3"], "--examples belongs to a check of two backends or operators, and this"),
    (["of_mine:loss", "--against", "numpy"], "--against belongs to a check of two backends, and this is one of a function"),
    (["sin", "--against", "numpy"], "--against compares two backends: name the one that is checked with --backend"),
    (["--against", "numpy", "--backend", "numpy"], "--backend and --against are both 'numpy': name two backends"),
    (["--against", "nump", "--backend", "numpy"], "backend 'nump' is not registered"),
    (["--against", "b", "--backend", "a", "--order", "2"], "--order belongs to a check of a function or operators"),
    (["--against", "b", "--backend", "a", "--modes", "reverse"], "--modes belongs to a check of a function or operators"),
    (["--against", "b", "--backend", "a", "--allow", "kink"], "--allow belongs to a check of a function or operators"),
    ([":loss"], "got ':loss', expected MODULE:FUNCTION, such as model:loss"),
    (["of_mine:"], "got 'of_mine:', expected MODULE:FUNCTION, such as model:loss"),
    (["of_min:loss"], "cannot import 'of_min': ModuleNotFoundError: No module named 'of_min'"),
    (["of_mine.py:loss"], "; write of_mine:loss"),
    (["leaves:loss"], "cannot import 'leaves': SystemExit: 3"),
    (["fails:loss"], "cannot import 'fails': ZeroDivisionError: division by zero"),
    (["of_mine:los"], "module 'of_mine' has no function 'los'. Did you mean 'loss'?"),
    (["of_mine:Model.energ"], "module 'of_mine' has no function 'Model.energ'. Did you mean 'energy'?"),
    (["of_mine:START"], "of_mine:START is of type dict, expected a function"),
    (["of_mine:loss", "--at", "np.one(3)"], "--at 'np.one(3)': AttributeError: module 'numpy' has no attribute 'one'"),
    (["of_mine:loss", "--at", "1.0 +"], "--at '1.0 +': SyntaxError: invalid syntax"),
    (["of_mine:loss", "--at"], "--at: expected at least one argument"),
    (["of_mine:kink", "--at", "3"], "of_mine:kink at x = 3, from --at: no argument is a float or an array of floats; write"),
    (["of_mine:square", "--at", "1.0", "2.0"], "of_mine:square raises TypeError at x = 1.0; argument 1 = 2.0, from --at: "),
    (["of_mine:of_dict"], "it takes no random numbers of shape (3,), (2, 3), (), (3, 3); the last time it raised IndexError"),
    (["of_mine:of_dict"], "; pass its arguments with --at, such as --at 'np.ones(3)'"),
    (["of_mine:hot"], "of_mine:hot: it has no parameter without a default, and no float among its defaults: nothing to check"),
    (["of_mine:setting"], "of_mine:setting: it has no parameter without a default, and no float among its defaults"),
]  # fmt: skip


@pytest.mark.usefixtures("functions")
@pytest.mark.parametrize(("words", "expected"), MISTAKES, ids=[" ".join(row[0]) for row in MISTAKES])
def test_a_mistake_gives_one_line_and_exit_code_2(words, expected, capsys, here):
    (here / "leaves.py").write_text("import sys\nsys.exit(3)\n")
    (here / "fails.py").write_text("1 / 0\n")
    code, captured = check(capsys, *words)
    assert (code, captured.out) == (2, "")
    (line,) = captured.err.splitlines()
    assert line.startswith("gradtape: ")
    assert expected in line


def test_without_hypothesis_one_line_says_what_to_install(capsys, monkeypatch):
    monkeypatch.delitem(sys.modules, "autograd.check.strategies", raising=False)
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    code, captured = check(capsys, "sin")
    assert (code, captured.out) == (2, "")
    assert "pip install 'gradtape[check]'" in captured.err
    assert len(captured.err.splitlines()) == 1


def test_help_has_examples(capsys):
    code, captured = check(capsys, "--help")
    assert (code, captured.err) == (0, "")
    assert "gradtape check model:loss --at 'np.ones(3)' 2.0" in captured.out
    for option in ("--backend", "--against", "--at", "--seed", "--examples", "--order", "--modes", "--allow", "--load", "--json"):
        assert option in captured.out
    assert max(map(len, captured.out.splitlines())) <= 100


# ------------------------------------------------------------------------------------------------------------ JSON


@pytest.mark.usefixtures("wrong_cube")
def test_operators_as_json(capsys):
    code, captured = check(capsys, "cube_of", "sin", "--load", "cubes", "--examples", "3", "--seed", "2", "--json")
    found = json.loads(captured.out)
    assert (code, found["ok"]) == (1, False)
    assert (found["backend"], found["seed"], found["examples"], found["left_out"]) == ("numpy", 2, 3, "")
    assert [(each["kernel"], each["verdict"], each["ok"]) for each in found["operators"]] == [
        ("cube_of", "wrong", False),
        ("sin", "right", True),
    ]
    assert found["operators"][0]["report"].startswith("kernel 'cube_of' on backend 'numpy' fails\n")
    assert found["operators"][1]["examples"] == sum(found["operators"][1]["counts"].values()) == 3


@pytest.mark.usefixtures("twin")
def test_backends_as_json(capsys):
    code, captured = check(capsys, "sin", "--backend", "twin", "--against", "numpy", "--json", "--examples", "2")
    found = json.loads(captured.out)
    assert code == 1
    assert (found["backend"], found["against"], found["ok"]) == ("twin", "numpy", False)
    assert found["operators"][0]["verdict"] == "differs"


# -------------------------------------------------------------------------------------------- the terminal and the shell


def test_on_a_terminal_a_bar_says_what_is_under_way(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    code, captured = check(capsys, "sin", "cos", "--examples", "2")
    assert code == 0
    assert "0/2" in captured.err
    assert "sin]" in captured.err
    assert as_table(captured.out) == [("sin", "right", 2), ("cos", "right", 2)]


def test_without_tqdm_there_is_no_bar(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    code, captured = check(capsys, "sin", "cos", "--examples", "2")
    assert (code, captured.err) == (0, "")
    assert len(as_table(captured.out)) == 2


def test_ctrl_c_is_exit_code_130(capsys, monkeypatch):
    def interrupted(*args, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(command_operators, "check_all", interrupted)
    code, captured = check(capsys, "sin")
    assert code == 130
    assert captured.err == "gradtape: interrupted; nothing more was written\n"


def test_a_real_ctrl_c_in_the_middle_of_a_check():
    command = [sys.executable, "-m", "autograd", "check", "sin", "cos", "--examples", "1000000"]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background is born deaf to Ctrl-C
    ) as process:
        assert process.stdout.readline().startswith("backend ")
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, error_text = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert error_text == "gradtape: interrupted; nothing more was written\n"


def test_without_scipy_its_operators_are_left_out_and_it_is_said():
    code = (
        "import sys\nsys.modules['scipy'] = None\nfrom autograd.__main__ import main\n"
        "main(['check', 'gammaln'])\nsys.exit(main(['check', 's?n', '--examples', '2']))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    left_out = 'operators of SciPy are left out: autograd.scipy needs SciPy, which is missing: pip install "gradtape[scipy]"'
    assert done.stdout.endswith(f"\n\n{left_out}\n1 operator: 1 right\n")
    (line,) = done.stderr.splitlines()
    assert "there is no operator 'gammaln'." in line
    assert f"({left_out})" in line


def test_a_reader_that_leaves_early_is_no_accident():
    command = [sys.executable, "-m", "autograd", "check", "sin", "cos", "--examples", "2"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1
