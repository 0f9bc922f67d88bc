"""``check_backend``: two backends that are the same, and each way in which one may differ, named."""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from autograd.check.backend import BackendRow, check_backend
from autograd.check.domains import WITHOUT_ROW, domains
from autograd.errors import GradientError
from registry.backends import register_backend, remove_backend
from registry.errors import BackendError, KernelError
from registry.gradients import get_gradient
from registry.kernels import (
    KernelConfig,
    copy_registered_kernels,
    get_kernels_for_backend,
    register_kernel,
    unregister_kernel,
)
from registry.loading import load_discovered_backend, unload_backend
from registry.operators import get_schema

FLOAT32 = Path(__file__).parent.parent / "registry_tests" / "float32_backend"


@pytest.fixture
def twin():
    """A backend that has every kernel of NumPy's; a function that puts another kernel in place of one of them."""
    copy_registered_kernels("numpy", "twin")
    register_backend("twin", object)

    def replace(name, function):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            register_kernel(KernelConfig(name, "twin", function), override=True)

    yield replace
    remove_backend("twin")
    for config in get_kernels_for_backend("twin"):
        unregister_kernel(config.kernel_name, "twin")


@pytest.mark.usefixtures("twin")
def test_a_copy_is_the_same():
    seen = []
    report = check_backend("twin", max_examples=3, progress=seen.append)
    assert report.ok
    assert list(report.rows) == seen
    assert set(report.named("not checked")) == {row.name for row in report.rows} & set(WITHOUT_ROW)
    assert report.named("differs") == report.named("missing") == []
    assert len(report.named("same")) > 150
    assert set(report.named("same")) > {"exp", "matmul", "sum", "floor", "argmax", "equal"}
    assert all(row.n_examples >= 3 for row in report.rows if row.verdict == "same")
    assert "backend 'twin' against 'numpy'" in str(report)


def of_sum(change):
    """NumPy's sum with something changed."""

    def kernel(a, **attrs):
        return change(np.sum(a, **{name: value for name, value in attrs.items() if value is not None or name == "axis"}))

    return kernel


WRONG = {
    "value": ("exp", lambda x: np.exp(x) * (1 + 1e-6), r"the value is .*, expected .*, at \[.*relative difference 1\.0e-06"),
    "one element": ("sort", lambda a, axis: _first_changed(np.sort(a, axis=axis)), r"the value is .*, expected"),
    "dtype": ("tanh", lambda x: np.tanh(x).astype(np.float64), r"the value is float64\[.*, expected float32\["),
    "shape": ("negative", lambda x: -np.atleast_1d(x), r"the value is float64\[1\], expected float64\[\]"),
    "outputs": ("slogdet", lambda a: (np.linalg.slogdet(a)[0] * 2, np.linalg.slogdet(a)[1]), r"output 0 is 2, expected 1"),
    "bool": ("less", lambda x1, x2: np.less_equal(x1, x2) | np.greater(x1, x2), r"the value is True, expected False"),
    "refuses": ("cos", lambda x: _refuse(x), r"'twin' raises KernelError \(no cosine here\), 'numpy' accepts the call"),
    "accepts": ("expand_dims", lambda a, axis: np.expand_dims(a, 0 if axis == 9 else axis), "'twin' accepts .*'numpy' raises Ax"),
    "another error": ("swapaxes", lambda a, **axes: _key_error(a, **axes), "'twin' raises KeyError .*'numpy' raises AxisError"),
}  # fmt: skip


def _first_changed(y):
    y.reshape(-1)[:1] += 1
    return y


def _refuse(x):
    raise KernelError("no cosine here")


def _key_error(a, axis1, axis2):
    try:
        return np.swapaxes(a, axis1, axis2)
    except ValueError as error:
        raise KeyError(axis1) from error


@pytest.mark.parametrize("kind", WRONG)
def test_what_differs_is_named(twin, kind):
    name, kernel, words = WRONG[kind]
    twin(name, kernel)
    report = check_backend("twin", names=[name, "subtract"], max_examples=30)
    assert not report.ok
    assert report.named("differs") == [name]
    assert report.named("same") == ["subtract"]
    row = report.rows[0]
    assert re.search(words, row.detail), row.detail
    assert row.example.name == name
    assert sum(np.size(x) for x in row.example.leaves()) <= 4
    assert row.detail in str(report)
    assert f"{name}(" in str(report)
    with pytest.raises(GradientError, match=f"check_backend: backend 'twin' against 'numpy', 1 operators: 1 differs\n +{name}"):
        check_backend("twin", names=[name], max_examples=30, raise_error=True)


def test_a_gradient_that_differs_is_named_though_all_values_are_the_same(twin):
    """The rule of sin runs the backend's cos at the saved values, and at no other."""
    twin("cos", lambda x: np.cos(x) + 1e-3)
    report = check_backend("twin", names=["sin", "cos", "tan"])
    assert report.named("differs") == ["sin", "cos"]
    assert report.rows[0].detail.startswith("the gradient in x is")
    assert report.rows[1].detail.startswith("the value is")


def test_a_kernel_of_one_backend_alone_is_missing(twin):
    unregister_kernel("log", "twin")
    register_kernel(KernelConfig("only_here", "twin", lambda x: x))
    try:
        report = check_backend("twin", names=["exp", "log", "only_here"], max_examples=2)
    finally:
        unregister_kernel("only_here", "twin")
    assert report.named("missing") == ["log", "only_here"]
    assert [row.detail for row in report.rows[1:]] == ["it has no kernel on 'twin'", "it has no kernel on 'numpy'"]
    assert report.ok
    assert str(report).splitlines()[0].endswith("3 operators: 1 same, 2 missing")


def test_a_rule_that_needs_a_missing_kernel_differs_and_says_so(twin):
    unregister_kernel("cos", "twin")
    report = check_backend("twin", names=["sin"], max_examples=3)
    assert "'twin' raises KernelNotFoundError (kernel 'cos' is not registered on backend 'twin'" in report.rows[0].detail


def test_a_tolerance_may_be_given(twin):
    twin("exp", lambda x: np.exp(x) * (1 + 1e-6))
    assert check_backend("twin", names=["exp"], max_examples=5, rtol=1e-4).ok
    assert not check_backend("twin", names=["exp"], max_examples=5, rtol=1e-8).ok


@pytest.mark.usefixtures("twin")
def test_dtypes_may_be_given():
    report = check_backend("twin", names=["exp", "floor", "cholesky"], dtypes=["float32"], max_examples=3)
    assert report.named("same") == ["exp", "floor", "cholesky"]


def test_rounding_is_no_difference(twin):
    twin("sum", of_sum(lambda y: y * (1 + np.finfo(y.dtype).eps)))
    assert check_backend("twin", names=["sum"]).ok


def test_a_backend_that_is_none_is_named():
    with pytest.raises(BackendError, match="backend 'twinn' is not registered"):
        check_backend("twinn")


def test_a_row_has_a_text():
    assert str(BackendRow("exp", "same")) == "exp                      same"


# ---------------------------------------------------------------------------------------------------- an installed one


@pytest.fixture
def float32(monkeypatch, tmp_path):
    """The backend in single precision, as an installed package offers it."""
    folder = tmp_path / "gradtape_float32-0.1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: gradtape-float32\nVersion: 0.1.0\n")
    (folder / "entry_points.txt").write_text("[autograd.backends]\nfloat32 = gradtape_float32.kernels\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(FLOAT32)
    aside = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "gradtape_float32"}
    load_discovered_backend("float32")
    yield "float32"
    unload_backend("float32")
    for name in [name for name in sys.modules if name.partition(".")[0] == "gradtape_float32"]:
        del sys.modules[name]
    sys.modules.update(aside)


OWN = ("add", "subtract", "multiply", "divide", "negative", "exp", "log", "tanh", "matmul")


def test_a_backend_in_single_precision_is_the_same_on_its_dtype(float32):
    report = check_backend(float32, names=OWN, dtypes=["float32"], max_examples=10)
    assert report.ok, str(report)


def test_and_refuses_another(float32):
    report = check_backend(float32, names=["exp"], dtypes=["float64"], max_examples=10)
    assert "'float32' raises KernelError" in report.rows[0].detail


def test_every_operator_that_is_compared_has_a_row_or_is_constant():
    names = {config.kernel_name for config in get_kernels_for_backend("numpy") if get_schema(config.kernel_name).inputs}
    without = {name for name in names if get_gradient(name) is not None} - set(domains()) - set(WITHOUT_ROW)
    assert without == set()
