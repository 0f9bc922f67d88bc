"""Mistakes that are known of other engines: short programs, each with the value that mathematics asks for.

The programs lie beside the repository and are no part of it; without them the tests are skipped.
"""

from __future__ import annotations

import importlib
import json
import math
from importlib.util import find_spec
from pathlib import Path

import numpy as onp
import pytest

import autograd.numpy as np
import autograd.test_util  # noqa: F401  # a case imports it, which declares operators: no test may do that
from autograd import grad, jacobian, make_jvp
from autograd.errors import GradtapeError

FILE = Path(__file__).resolve().parents[2] / "shared" / "cases" / "known_traps.json"
CASES = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else []

pytestmark = pytest.mark.skipif(not CASES, reason="the cases of known traps are not beside the repository")

NAMES = {"np": np, "onp": onp, "grad": grad, "jacobian": jacobian, "make_jvp": make_jvp, "inf": math.inf, "nan": math.nan}
MODULES = {"sps": "autograd.scipy.special", "spst": "autograd.scipy.stats"}
if find_spec("scipy"):  # before any test, which may not leave registrations behind
    LOADED = [importlib.import_module(module) for module in MODULES.values()]

WALKS = ("careful", "fast")
"""The first walk over tapes of one structure checks what rules return, the next ones take a shorter way."""


def run(case):
    """The ``result`` of a case and no error, or no result and the error that stopped it."""
    names = dict(NAMES)
    try:
        for name, module in MODULES.items():
            if f"{name}." in case["code"]:
                pytest.importorskip("scipy", reason="SciPy is not installed")
                names[name] = importlib.import_module(module)
        with onp.errstate(all="ignore"):  # many programs make an inf or a NaN on purpose, where plain NumPy warns too
            exec(case["code"], names)
    except Exception as error:
        return None, error
    return names["result"], None


def number(value):
    """Expected values as numbers: JSON has no complex ones, so they are texts there."""
    if isinstance(value, list):
        return [number(each) for each in value]
    return complex(value) if isinstance(value, str) else value


def assert_is(result, expected):
    if isinstance(expected, str) and expected.startswith("lambda"):
        assert eval(expected, dict(NAMES))(result), f"{result!r} does not satisfy {expected}"
    else:
        onp.testing.assert_allclose(onp.asarray(result), onp.asarray(number(expected)), rtol=1e-9, atol=1e-12)
        assert onp.shape(result) == onp.shape(number(expected))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_known_trap(case):
    for _ in WALKS:
        result, error = run(case)
        if isinstance(error, GradtapeError) and case["or_a_clear_error"]:
            continue
        if error is not None:
            raise error
        assert_is(result, case["expected"])
