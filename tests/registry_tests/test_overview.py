"""``python -m registry``: the table of operators, its filters, and what it says to a wrong question."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from registry import KernelConfig, copy_registered_kernels, declare, operator_names, register_kernel
from registry.__main__ import main
from registry.overview import rows

ROOT = Path(__file__).resolve().parents[2]


def printed(capsys, *words):
    """Exit code, and the cells of each printed row by the operator's name."""
    code = main(list(words))
    lines = capsys.readouterr().out.splitlines()
    return code, {line.split()[0]: line.split() for line in lines[1:] if "->" in line}


def test_a_row_says_what_is_known_of_an_operator(capsys):
    code, table = printed(capsys, "exp", "matmul", "argsort", "concatenate", "zeros")
    assert code == 0
    assert list(table) == ["argsort", "concatenate", "exp", "matmul", "zeros"]
    assert table["exp"] == ["exp", "functional", "native", "native", "numpy", "yes", "output", "exp(Tensor", "x)", "->", "Tensor"]
    assert table["matmul"][:8] == ["matmul", "functional", "native", "native", "numpy", "yes", "x1,", "x2,"]
    assert table["argsort"][:7] == ["argsort", "functional", "generated", "generated", "numpy", "constant", "-"]
    assert table["concatenate"][:6] == ["concatenate", "functional", "native", "-", "numpy", "yes"]
    assert table["zeros"][5:7] == ["constant", "-"]


def test_all_operators_are_there_and_counted(capsys):
    main([])
    out = capsys.readouterr().out
    assert out.rstrip().endswith(f"{len(operator_names())} operators")
    assert [row.name for row in rows()] == sorted(operator_names())


def test_the_heading_stands_over_its_columns(capsys):
    main(["add", "avg_pool2d_gradient"])
    heading, first, second = capsys.readouterr().out.splitlines()[:3]
    for word, cell in (("kind", "functional"), ("backends", "numpy"), ("schema", "add(")):
        assert heading.index(word) == first.index(cell)
    assert second.index("avg_pool2d_gradient(") == heading.index("schema")


def test_missing(capsys):
    declare("unfinished(Tensor x) -> Tensor")
    register_kernel(KernelConfig("halved", "numpy", lambda x: x / 2))
    assert list(printed(capsys, "--missing", "kernel")[1]) == ["unfinished"]
    assert list(printed(capsys, "--missing", "gradient")[1]) == ["halved", "unfinished"]
    assert list(printed(capsys, "--missing", "gradient", "--missing", "kernel")[1]) == ["unfinished"]
    assert list(printed(capsys, "--missing", "gradient", "--backend", "numpy")[1]) == ["halved"]
    assert list(printed(capsys, "--missing", "out", "h*")[1]) == ["halved"]
    assert list(printed(capsys, "--missing", "inplace", "h*")[1]) == ["halved"]
    register_kernel(KernelConfig("halved.out", "numpy", lambda x, out: None))
    assert not rows(["h*"], missing=["out"])
    assert not rows(["h*"], missing=["inplace"])


def test_backends(capsys):
    copy_registered_kernels("numpy", "copied")
    register_kernel(KernelConfig("solitary", "copied", lambda x: x))
    _, table = printed(capsys, "exp")
    assert table["exp"][4:6] == ["copied,", "numpy"]
    assert list(printed(capsys, "solitary", "--backend", "numpy")[1]) == []
    assert list(printed(capsys, "--backend", "numpy", "--missing", "kernel")[1]) == ["solitary"]
    assert printed(capsys, "solitary", "--backend", "copied")[1]["solitary"][4] == "copied"


def test_json_has_every_field(capsys):
    main(["negative", "--json"])
    (row,) = json.loads(capsys.readouterr().out)
    assert row == {
        "name": "negative",
        "schema": "negative(Tensor x) -> Tensor",
        "kind": "functional",
        "gradient": "yes",
        "saves": [],
        "backends": ["numpy"],
        "variants": {
            "functional": {"name": "negative", "schema": "negative(Tensor x) -> Tensor", "origin": "native"},
            "inplace": {"name": "negative_", "schema": "negative_(Tensor(a!) x) -> Tensor(a!)", "origin": "native"},
            "out": {
                "name": "negative.out",
                "schema": "negative.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
                "origin": "native",
            },
        },
    }


def test_an_operator_that_was_declared_in_place(capsys):
    declare("pushed_(Tensor(a!) x) -> Tensor(a!)")
    register_kernel(KernelConfig("pushed_", "numpy", lambda x: x))
    _, table = printed(capsys, "pushed*")
    assert table["pushed_"][:5] == ["pushed_", "inplace", "generated", "native", "numpy"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--backend", "nump"], "no backend 'nump' has kernels, expected one of ['numpy']. Did you mean 'numpy'?"),
        (["--missing", "gradiant"], "invalid choice: 'gradiant'"),
        (["--jsn"], "unrecognized arguments: --jsn; see python -m registry --help"),
        (["--load", "no_such_module"], "cannot import 'no_such_module'"),
    ],
)
def test_a_wrong_question_gets_one_line_and_exit_code_2(capsys, words, message):
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_nothing_fits(capsys):
    assert main(["no_such_operator"]) == 0
    assert capsys.readouterr().out == "no operator fits\n"


def test_as_a_program():
    """In a new interpreter: the installed package's gradients are found, help is there, a closed pipe does no harm."""
    command = [sys.executable, "-m", "registry"]
    out = subprocess.run([*command, "sinh"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[1].split()[5:7] == ["yes", "x"]
    out = subprocess.run([*command, "--help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "--missing" in out
    head = subprocess.run(
        ["sh", "-c", f"'{sys.executable}' -m registry | head -n 1"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert head.stdout.startswith("name")
    assert head.stderr == ""


def test_without_an_installed_package_it_says_why_there_are_no_gradients():
    code = "import sys; sys.argv = ['registry', 'exp']; from registry import __main__ as m; m.GROUP = 'nothing'; m.main()"
    out = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[1].split()[5] == "no"
    assert "--load the module that registers them" in out
