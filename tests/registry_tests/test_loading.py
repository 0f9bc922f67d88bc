"""Backends loaded from a description and a module, what they then do, and how they are unloaded."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import autograd
from autograd import operators as op
from registry import (
    KernelConfig,
    backend,
    backends,
    declare,
    find_backend,
    get_backend,
    get_gradient,
    get_kernel,
    get_kernels_for_backend,
    get_schema,
    operators,
    register_backend,
    register_kernel,
    registered_backends,
    use_backend,
)
from registry.backend_index import index_of_backend
from registry.errors import BackendError, RegistrationError
from registry.external import ExternalBackend
from registry.loading import load_backend, unload_backend
from tests.registry_tests.small_modules import SWISH, TINY, everything, module_of, module_with, swish_module

X = np.array([0.5, 2.0])


@pytest.fixture
def log():
    return []


# ---------------------------------------------------------------------------------------------------------- what is loaded


def test_kernels_of_a_module_run_on_their_backend(log):
    loaded = load_backend(
        {**TINY, "supported": ["exp", "exp.out", "multiply"]}, module_with("exp", "exp_out", "multiply", log=log)
    )
    assert isinstance(loaded, ExternalBackend)
    assert registered_backends() == ["numpy", "tiny"]
    assert {config.kernel_name for config in get_kernels_for_backend("tiny")} == {"exp", "exp.out", "multiply"}
    with use_backend("tiny"):
        out = np.empty(2)
        np.testing.assert_array_equal(op.exp(X), np.exp(X))
        assert op.exp(X, out=out) is out
        np.testing.assert_array_equal(out, np.exp(X))
        np.testing.assert_allclose(autograd.grad(lambda x: op.exp(x) * 3.0)(0.0), 3.0)
    assert log == ["exp", "exp_out", "exp", "multiply"]
    assert op.exp(0.0) == 1.0
    assert len(log) == 4


def test_the_module_may_be_given_by_name(monkeypatch):
    module = module_with("exp")
    monkeypatch.setitem(sys.modules, "tiny_kernels", module)
    load_backend({**TINY, "supported": ["exp"]}, "tiny_kernels")
    assert get_kernel("exp", "tiny").kernel_func is module.exp


def test_the_description_may_be_given_as_a_file(tmp_path):
    path = tmp_path / "backend.toml"
    path.write_text('backend = "tiny"\nnamespace = "tiny_backend"\nsupported = ["exp"]\n')
    assert load_backend(path, module_with("exp")).name == "tiny"
    path.write_text('backend = "tiny2"\n')
    with pytest.raises(RegistrationError, match=r"backend\.toml: 'namespace' is missing"):
        load_backend(str(path), module_with("exp"))


def test_the_kernels_may_stand_in_a_class():
    module = module_of("class Kernels:\n    def exp(x): return 'from the class'\ndef exp(x): return 'from the module'")
    load_backend({**TINY, "class_name": "Kernels", "supported": ["exp"]}, module)
    assert get_kernel("exp", "tiny").kernel_func(1) == "from the class"


def test_kernels_may_be_inherited_or_private_or_anything_that_can_be_called():
    module = module_of(
        "class Base:\n    def exp(x): return 'inherited'\nclass Kernels(Base):\n    def _twice(x): return 2 * x\n    log = np.log"
    )
    description = {"supported": ["exp", "_twice", "log"], "operators": ["_twice(Tensor x) -> Tensor"]}
    load_backend({**TINY, "class_name": "Kernels", **description}, module)
    assert get_kernel("exp", "tiny").kernel_func(1) == "inherited"
    assert get_kernel("_twice", "tiny").kernel_func(4) == 8
    assert get_kernel("log", "tiny").kernel_func is np.log


def test_the_module_may_make_the_backend_object():
    module = module_of(
        "class Device:\n    closed = False\n    def dispose(self): Device.closed = True\ndef make_backend(): return Device()\n"
        "def exp(x): return np.exp(x)"
    )
    load_backend({**TINY, "supported": ["exp"]}, module)
    with use_backend("tiny") as running:
        assert isinstance(running, module.Device)
        assert backend() is running
    unload_backend("tiny")
    assert module.Device.closed


def test_without_that_the_description_is_the_backend_object():
    loaded = load_backend({**TINY, "supported": ["exp"]}, module_with("exp"))
    assert find_backend("tiny") is loaded


def test_a_loaded_backend_is_the_default_only_by_priority():
    backends._default = None
    load_backend({**TINY, "supported": ["exp"]}, module_with("exp"))
    assert get_backend() == "numpy"
    unload_backend("tiny")
    backends._default = None
    load_backend({**TINY, "supported": ["exp"]}, module_with("exp"), priority=2)
    assert get_backend() == "tiny"


def test_other_kernels_are_taken_over(log):
    module = module_with("exp", log=log)
    load_backend({**TINY, "supported": ["exp"], "copy_from": "numpy"}, module)
    names = {config.kernel_name for config in get_kernels_for_backend("numpy")}
    assert {config.kernel_name for config in get_kernels_for_backend("tiny")} == names
    assert get_kernel("log", "tiny").kernel_func is get_kernel("log", "numpy").kernel_func
    assert get_kernel("log", "tiny") is not get_kernel("log", "numpy")
    assert get_kernel("exp", "tiny").kernel_func is module.exp
    with use_backend("tiny"):
        np.testing.assert_allclose(autograd.grad(lambda x: op.sum(op.exp(op.sin(x))))(X), np.cos(X) * np.exp(np.sin(X)))
    assert log == ["exp"]


def test_no_variant_of_an_own_kernel_is_taken_over(log):
    register_kernel(KernelConfig("exp.out", "numpy", lambda x, *, out: "from numpy"))
    register_kernel(KernelConfig("log.out", "numpy", lambda x, *, out: "from numpy"))
    load_backend({**TINY, "supported": ["exp"], "copy_from": "numpy"}, module_with("exp", log=log))
    assert get_kernel("log.out", "tiny") is not None
    assert get_kernel("exp.out", "tiny") is None
    with use_backend("tiny"):
        out = np.empty(2)
        np.testing.assert_array_equal(op.exp(X, out=out), np.exp(X))
    assert log == ["exp"]


def test_an_own_variant_joins_a_kernel_that_is_taken_over(log):
    register_kernel(KernelConfig("exp.out", "numpy", lambda x, *, out: "from numpy"))
    load_backend({**TINY, "supported": ["exp.out"], "copy_from": "numpy"}, module_with("exp_out", log=log))
    with use_backend("tiny"):
        op.exp(X)
        assert log == []
        op.exp(X, out=np.empty(2))
    assert log == ["exp_out"]


def test_the_index_of_a_loaded_backend():
    load_backend({**TINY, "supported": ["exp", "exp.out"]}, module_with("exp", "exp_out"))
    found = index_of_backend("tiny")
    assert found.kernel_names() == {"exp": "exp", "exp.out": "exp_out"}
    assert found.external


# ----------------------------------------------------------------------------------------------- own operators and gradients


def test_a_package_may_declare_operators_with_gradients():
    module = swish_module()
    load_backend({**TINY, "autograd": ["swish"], "operators": [SWISH], "copy_from": "numpy"}, module)
    assert get_gradient("swish") is module.GRADIENTS[0]
    assert str(get_schema("swish")) == SWISH
    with use_backend("tiny"):
        f = op.swish
        s = 1 / (1 + np.exp(-X))
        np.testing.assert_allclose(f(X), X * s)
        np.testing.assert_allclose(autograd.elementwise_grad(f)(X), s * (1 + X * (1 - s)))
        step = 1e-5
        slope = autograd.elementwise_grad(f)
        second = autograd.elementwise_grad(slope)(X)
        np.testing.assert_allclose(second, (slope(X + step) - slope(X - step)) / (2 * step), rtol=1e-8)


def test_declared_operators_may_have_no_gradient():
    module = module_of("def half(x): return x / 2")
    load_backend({**TINY, "supported": ["half"], "operators": ["half(Tensor x) -> Tensor"]}, module)
    assert get_gradient("half") is None
    with use_backend("tiny"):
        assert op.half(3.0) == 1.5


def test_the_gradient_belongs_to_the_functional_form():
    module = swish_module()
    module.swish_out = lambda x, *, out: np.copyto(out, module.swish(x)) or out
    load_backend({**TINY, "autograd": ["swish", "swish.out"], "operators": [SWISH], "copy_from": "numpy"}, module)
    with use_backend("tiny"):
        out = np.empty(2)
        assert op.swish(X, out=out) is out
        np.testing.assert_allclose(out, module.swish(X))


def test_an_operator_declared_alike_is_shared():
    declare("half(Tensor x) -> Tensor")
    load_backend(
        {**TINY, "supported": ["half"], "operators": ["half(Tensor x) -> Tensor"]}, module_of("def half(x): return x / 2")
    )
    assert "half" in operators.operator_names()


# ------------------------------------------------------------------------------------------------------------------ unloading


def test_a_backend_is_unloaded_with_its_kernels():
    before = everything()
    load_backend({**TINY, "supported": ["exp", "multiply"], "copy_from": "numpy"}, module_with("exp", "multiply"))
    with use_backend("tiny"):
        op.exp(1.0)
    unload_backend("tiny")
    assert everything() == before
    with pytest.raises(BackendError, match="'tiny' is not registered"):
        unload_backend("tiny")


def test_an_unloaded_backend_can_be_loaded_again_with_its_operators():
    module = swish_module()
    description = {**TINY, "autograd": ["swish"], "operators": [SWISH]}
    load_backend(description, module)
    unload_backend("tiny")
    assert get_schema("swish") is not None
    assert get_gradient("swish") is module.GRADIENTS[0]
    load_backend(description, module)
    assert get_kernel("swish", "tiny").kernel_func is module.swish


def test_kernels_or_a_backend_alone_are_unloaded_too():
    register_kernel(KernelConfig("exp", "tiny", np.exp))
    unload_backend("tiny")
    assert get_kernels_for_backend("tiny") == []
    register_backend("tiny", object)
    unload_backend("tiny")
    assert registered_backends() == ["numpy"]
