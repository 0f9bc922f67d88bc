"""The plan of the house for SciPy: the same names in every tree, nothing without a rule or a row, nothing loaded too early."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy", reason="SciPy is not installed: pip install 'gradtape[scipy]'")

import autograd.scipy
from registry import get_gradient, get_kernel, operator_names
from registry.operators import is_constant

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).parent

NOT_FAMILIES = {
    "registry/numpy_backend/scipy/densities.py": "the quadrature of the family incomplete",
    "tests/gradients/scipy_functions/test_families.py": "this file",
    "tests/gradients/scipy_functions/test_stats.py": "distributions are compositions",
}

PUBLIC_IN = {"bessel": "special", "incomplete": "special"}
"""Families whose functions are public in a module of another name, as in SciPy."""


def families(folder: str, prefix: str = "") -> set[str]:
    paths = [path for path in (ROOT / folder).glob(f"{prefix}*.py") if path.name != "__init__.py"]
    return {path.stem.removeprefix(prefix) for path in paths if path.relative_to(ROOT).as_posix() not in NOT_FAMILIES}


FAMILIES = sorted(families("registry/numpy_backend/scipy"))
for _family in FAMILIES:  # before any test, which may not leave registrations behind
    importlib.import_module(f"autograd.gradients.scipy.{_family}")


def test_families_have_the_same_names_everywhere():
    assert len(FAMILIES) > 5
    assert families("autograd/gradients/scipy") == set(FAMILIES)
    assert families("tests/gradients/scipy_functions", "test_") == set(FAMILIES)
    assert {PUBLIC_IN.get(each, each) for each in FAMILIES} | {"stats"} == set(autograd.scipy.__all__)
    for path in NOT_FAMILIES:
        assert (ROOT / path).is_file(), f"{path} is gone"


def declared(family: str) -> set[str]:
    """The operators whose schema a family spells, or makes from a list of names."""
    module = ast.parse((ROOT / f"registry/numpy_backend/scipy/{family}.py").read_text())
    texts = {node.value for node in ast.walk(module) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    spelled = {match[1] for text in texts if (match := re.match(r"^(\w+)\(.*\) -> ", text))}
    return {name for name in operator_names() if name in spelled | texts}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_operator_has_a_rule_and_a_test(family):
    names = declared(family)
    assert names
    words = set(re.findall(r"\w+", (HERE / f"test_{family}.py").read_text()))
    for name in names:
        assert (get_gradient(name) is None) == is_constant(name), f"{name}: a rule, or constant=True"
        assert name in words or name.removeprefix("scipy_") in words, f"{name} is not in test_{family}.py"
        kernel = get_kernel(name, "numpy").kernel_func
        if isinstance(kernel, np.ufunc):
            assert kernel.__name__ == name, f"{name}: SciPy's ufunc would look for {kernel.__name__}"


def test_every_public_function_is_tested():
    for part in autograd.scipy.__all__:
        module = getattr(autograd.scipy, part)
        text = "".join(path.read_text() for path in HERE.glob("test_*.py"))
        words = set(re.findall(r"\w+", text))
        for name in module.__all__:
            assert hasattr(module, name)
            assert name in words, f"{part}.{name} is in no test"


def output(code: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_nothing_is_loaded_before_it_is_used():
    loaded = output("import autograd, sys; print(*sys.modules)")
    assert not {each for each in loaded if "scipy" in each}
    loaded = output("import autograd.scipy, sys; autograd.scipy.special; print(*sys.modules)")
    assert "autograd.scipy.special" in loaded
    assert not {"scipy.stats", "scipy.signal", "autograd.scipy.stats", "autograd.scipy.signal"} & loaded


def test_without_scipy_the_error_names_the_extra():
    code = (
        "import sys; sys.modules['scipy'] = None\n"
        "try:\n    import autograd.scipy.special\nexcept ImportError as error:\n    print(*str(error).split())"
    )
    assert {'"gradtape[scipy]"', "SciPy,"} <= output(code)
