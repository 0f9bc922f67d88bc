"""What cannot be loaded: nothing of it is registered, and the message says what to do. And what is loaded with a warning."""

from __future__ import annotations

import pytest

from registry import GradConfig, declare, register_gradient, remove_backend
from registry.errors import RegistrationError
from registry.loading import load_backend, unload_backend
from tests.registry_tests.small_modules import SWISH, TINY, everything, module_of, module_with, swish_module

# ------------------------------------------------------------------------------------------------------------ all or nothing


def refused(description, module, error=RegistrationError):
    """The message of a load that fails, after a look that it has left nothing behind."""
    before = everything()
    with pytest.raises(error) as caught:
        load_backend({**TINY, **description}, module)
    assert everything() == before
    return str(caught.value)


def test_missing_kernels_are_shown_as_they_should_be():
    module = module_of("def exq(x): return x\nmultiply = 3\n_log = exq")
    message = refused({"supported": ["exp", "exp.out", "sum", "multiply", "log"]}, module)
    assert "backend 'tiny': module 'tiny_backend' lacks kernels of the operators" in message
    for line in (
        "def exp(x): ... Did you mean 'exq'?",
        "def exp_out(x, *, out): ...",
        "def sum(a, *, axis, dtype, keepdims, initial, where): ...",
        "def multiply(x1, x2): ...",
        "def log(x): ...",
    ):
        assert f"\n  {line}" in message


def test_the_declaration_of_a_missing_kernel_of_an_own_operator():
    message = refused({"autograd": ["swish", "swish.out"], "operators": [SWISH]}, module_of("def swish(x): return x"))
    assert "lacks kernels of the operators ['swish.out']" in message
    assert "\n  def swish_out(x, *, out): ..." in message


@pytest.mark.parametrize("text", ["", "Kernels = 3", "def Kernels(): pass"])
def test_a_missing_class(text):
    message = refused({"supported": ["exp"], "class_name": "Kernels"}, module_of(text))
    assert "module 'tiny_backend' has no class 'Kernels'" in message


def test_a_class_without_a_kernel_is_named():
    module = module_of("class Kernels:\n    def exq(x): return x\ndef exp(x): return x")
    message = refused({"supported": ["exp"], "class_name": "Kernels"}, module)
    assert "class 'Kernels' of module 'tiny_backend' lacks" in message
    assert "Did you mean 'exq'?" in message


def test_a_module_that_is_not_there():
    assert "module 'no_such_module' cannot be imported" in refused({"supported": ["exp"]}, "no_such_module")
    assert "got None, expected the module with its kernels" in refused({"supported": ["exp"]}, None)


def test_kernels_to_take_over_that_are_not_there():
    message = refused({"copy_from": "nunpy"}, module_with("exp"))
    assert "'nunpy', which has no kernels" in message
    assert "'numpy'?" in message


def test_a_description_that_is_refused_registers_nothing():
    assert "'exq'" in refused({"supported": ["exp", "exq"]}, module_with("exp"))


def test_a_backend_is_loaded_once():
    load_backend({**TINY, "supported": ["exp"]}, module_with("exp"))
    assert "'tiny' is registered already" in refused({"supported": ["exp"]}, module_with("exp"))


def test_kernels_that_a_removed_backend_left_are_in_the_way():
    load_backend({**TINY, "supported": ["exp", "multiply"]}, module_with("exp", "multiply"))
    remove_backend("tiny")
    message = refused({"supported": ["exp"]}, module_with("exp"))
    assert "has 1 of these kernels already, 'exp'" in message
    assert "unload_backend('tiny')" in message
    unload_backend("tiny")
    load_backend({**TINY, "supported": ["exp"]}, module_with("exp"))


def test_an_operator_that_is_declared_otherwise():
    message = refused(
        {"supported": ["exp"], "operators": ["half(Tensor x) -> Tensor", "exp(Tensor y) -> Tensor"]}, module_with("exp")
    )
    assert "operator 'exp' is already declared as\n  exp(Tensor x) -> Tensor\nand cannot also be\n  exp(Tensor y)" in message


@pytest.mark.parametrize(
    ("description", "given", "words"),
    [
        ({"autograd": ["exp"]}, None, ["'exp'", "not declared under 'operators'", "under 'supported'"]),
        ({"autograd": ["swish"], "operators": [SWISH]}, [], ["gradients of []", "which are ['swish']"]),
        ({"autograd": ["swish"], "operators": [SWISH]}, [GradConfig("swich", id)], ["['swich']", "['swish']"]),
        ({"supported": ["swish"], "operators": [SWISH]}, [GradConfig("swish", id)], ["['swish']", "which are []"]),
        ({"autograd": ["swish"], "operators": [SWISH]}, [GradConfig("swish", id)] * 2, ["['swish', 'swish']"]),
        ({"autograd": ["swish"], "operators": [SWISH]}, {"swish": id}, ["list of GradConfig"]),
        ({"autograd": ["swish"], "operators": [SWISH]}, [id], ["list of GradConfig"]),
    ],
)
def test_gradients_that_do_not_fit(description, given, words):
    module = module_of("def swish(x): return x\ndef _exp(x): return x\nexp = np.exp")
    if given is not None:
        module.GRADIENTS = given
    message = refused(description, module)
    missing = [word for word in words if word not in message]
    assert not missing, f"{missing} not in: {message}"


def test_a_gradient_that_somebody_else_registered():
    declare(SWISH)
    register_gradient(GradConfig("swish", lambda dy, saved, attrs: {"x": lambda: dy}))
    message = refused({"autograd": ["swish"], "operators": [SWISH]}, swish_module())
    assert "'swish', listed under 'autograd', has a gradient already, registered elsewhere" in message


def test_a_failure_half_way_takes_everything_back():
    """The gradient does not fit the schema, which shows when all else is registered."""
    module = swish_module()
    module.GRADIENTS = [GradConfig("swish", lambda dy, saved, attrs: {}, inputs_to_save=("y",))]
    description = {"autograd": ["swish"], "operators": [SWISH, "half(Tensor x) -> Tensor"], "copy_from": "numpy"}
    assert "'y'" in refused(description, module)


@pytest.mark.parametrize("declared_already", [False, True])
def test_a_factory_that_is_no_function(declared_already):
    module = module_of("make_backend = 3\ndef half(x): return x / 2")
    description = {"supported": ["half"], "operators": ["half(Tensor x) -> Tensor"]}
    if declared_already:
        declare("half(Tensor x) -> Tensor")
    assert "backend 'tiny': got factory 3" in refused(description, module)


# ---------------------------------------------------------------------------------------------------- what looks forgotten


def test_a_function_that_looks_like_a_kernel_and_is_not_listed():
    module = module_of("def exp(x): return x\ndef log(x): return x\ndef exp_out(x, *, out): return out")
    with pytest.warns(UserWarning, match="tiny") as caught:
        load_backend({**TINY, "supported": ["exp"]}, module)
    messages = [str(each.message) for each in caught]
    assert len(messages) == 2
    assert "module 'tiny_backend' defines 'log', the kernel of operator 'log'" in messages[0]
    assert "_exp_out" in messages[1]
    assert "'exp.out'" in messages[1]
    assert {each.filename for each in caught} == {__file__}


def test_functions_that_do_not_look_so():
    module = module_of(
        "from numpy import log, sin\ndef exp(x): return x\ndef helper(x): return x\ndef _cos(x): return x\ncos = 3\n"
        "class tan: pass\ndef make_backend(): return 3"
    )
    module.tanh = module_with  # a function of another module
    load_backend({**TINY, "supported": ["exp"]}, module)


def test_only_the_class_is_looked_at():
    module = module_of("def log(x): return x\nclass Kernels:\n    def exp(x): return x")
    load_backend({**TINY, "supported": ["exp"], "class_name": "Kernels"}, module)
