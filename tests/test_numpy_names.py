"""NumPy's names: which are imported on first use, what plain calls give, and that no function drops a gradient without a word."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import numpy
import pytest

import autograd.numpy as np
from autograd import NotTrackedError, Tape, Tensor, grad
from autograd.methods import numpy_functions
from autograd.numpy import later
from autograd.numpy.following import follows

# -------------------------------------------------------------------------------------------------- on first use


@pytest.mark.parametrize("module", sorted(later.NAMES))
def test_the_table_names_what_its_modules_give(module):
    assert sorted(later.NAMES[module]) == sorted(import_module(f"autograd.numpy.{module}").__all__)


def test_the_functions_of_a_transform_are_all_in_the_table():
    without_arrays = {"fftfreq", "rfftfreq"}
    assert set(later.FFT) == set(import_module("autograd.numpy.fft").__all__) - without_arrays


def test_importing_the_package_imports_no_module_of_the_table():
    code = "import sys, autograd; print([name for name in sys.modules if name.startswith('autograd.numpy.')])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    found = [module for module in (*later.NAMES, *later.MODULES) if f"'autograd.numpy.{module}'" in loaded]
    assert not found


@pytest.mark.parametrize("statement", ["import autograd.numpy as np", "from autograd import numpy as np"])
def test_modules_and_names_are_found_without_importing_them(statement):
    code = f"{statement}\nprint(np.fft.rfft.__module__, np.interp.__module__)\nfrom autograd.numpy import *\nprint(polyfit, fft)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.startswith("autograd.numpy.fft autograd.numpy.calculus\n")
    assert "module 'autograd.numpy.fft'" in printed


def test_names_are_ours_by_both_ways():
    for module, names in later.NAMES.items():
        for name in names:
            ours = getattr(import_module(f"autograd.numpy.{module}"), name)
            assert getattr(np, name) is ours
            if module != "index_tricks":  # no functions: NumPy cannot hand them a tensor
                assert getattr(numpy, name) in numpy_functions
    assert np.linspace is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        np.no_such_name  # noqa: B018


# -------------------------------------------------------------------------------------------------- plain calls


def test_plain_calls_are_numpys():
    calls = []

    def theirs(a, b=None, out=None):
        calls.append((a, b, out))
        return "theirs"

    @follows(theirs, "a")
    def ours(a, b=None, out=None):
        assert out is None
        return a * 2

    assert ours(1, b=2) == "theirs"
    assert ours([1.0], out=3) == "theirs"
    assert calls == [(1, 2, None), ([1.0], None, 3)]
    assert grad(lambda x: ours(x, 5))(3.0) == 2.0
    assert grad(lambda x: ours(a=x))(3.0) == 2.0
    assert grad(lambda x: np.sum(ours(x, out=numpy.zeros(2))))(numpy.ones(2)).tolist() == [2, 2]
    with Tape() as tape, pytest.raises(NotTrackedError, match=r"theirs: b is a tensor.*pass b\.value"):
        ours(1.0, tape.watch(2.0))
    with Tape() as tape, pytest.raises(TypeError, match="multiple values"):
        ours(tape.watch(2.0), a=1.0)


# -------------------------------------------------------------------------------------------------- nothing is silent

CONSTANT = {
    "order and positions": "argmax argmin argsort argpartition argwhere digitize flatnonzero isin lexsort nanargmax nanargmin"
    " nonzero searchsorted",
    "truth and counts": "all allclose any array_equal array_equiv count_nonzero equal greater greater_equal isclose iscomplex"
    " isfinite isinf isnan isneginf isposinf isreal less less_equal logical_and logical_not logical_or logical_xor not_equal"
    " signbit where",
    "rounding": "around ceil fix floor floor_divide rint round sign spacing trunc",
    "shape and kind": "diag_indices_from empty_like iscomplexobj isrealobj isscalar issubdtype iterable ndim ones_like shape size"
    " tril_indices_from triu_indices_from zeros_like",
    "dtypes and memory": "common_type dtype finfo iinfo isfortran may_share_memory min_scalar_type promote_types result_type"
    " shares_memory",
    "texts": "array2string array_repr array_str printoptions str_",
}
"""Functions whose result has no derivative in what they take; ``where`` with a condition alone is ``nonzero``."""

WITHOUT_RESULT = {"bmat", "copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"}
"""They write, or return None."""

READ_FILES = {"fromfile", "fromregex", "genfromtxt", "load", "loadtxt", "save", "savetxt", "savez", "savez_compressed"}
PRINT = {"info", "show_config", "show_runtime", "test"}

ARGUMENTS = (
    numpy.array([[2.0, 1.0, 0.5], [0.5, 3.0, 0.1], [0.2, 0.7, 2.0]]),
    numpy.array([2.0, 1.0, 0.5]),
    1.5,
)


def holds_a_tensor(y):
    if isinstance(y, tuple | list):
        return any(holds_a_tensor(each) for each in y)
    return isinstance(y, Tensor) or isinstance(getattr(y, "coeffs", None), Tensor)


@pytest.mark.parametrize("library", [np, numpy], ids=["ours", "plain"])
def test_every_function_follows_a_tensor_or_refuses_it_or_is_known_to_be_constant(library, recwarn):
    constant = {name for names in CONSTANT.values() for name in names.split()} | WITHOUT_RESULT
    silent = set()
    names = set(dir(numpy)) - READ_FILES - PRINT
    for name in sorted(name for name in names if not name.startswith("_") and callable(getattr(library, name))):
        function = getattr(library, name)
        for argument in ARGUMENTS:
            for count in (1, 2, 3):
                with Tape() as tape:
                    try:
                        y = function(*[tape.watch(argument) for _ in range(count)])
                    except Exception:  # a refusal, or arguments that do not fit
                        continue
                    if not holds_a_tensor(y) and not (isinstance(y, tuple) and not y):
                        silent.add(name)
    assert not silent - constant, f"functions that drop a tensor without a word: {sorted(silent - constant)}"
