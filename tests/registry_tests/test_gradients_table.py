"""The table of gradients: records, registering, and what a rule is handed in a backward pass and in forward mode."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pytest

import registry
from autograd import Tape, run_kernel
from registry import (
    GradConfig,
    KernelConfig,
    RegistrationError,
    copy_registered_kernels,
    declare,
    get_gradient,
    gradient,
    register_backend,
    register_gradient,
    register_kernel,
    unregister_gradient,
    use_backend,
)


def no_rule(dy, saved, attrs):
    return {}


def twice(dy, saved, attrs):
    return {"x": lambda: 2 * dy}


def thrice(dy, saved, attrs):
    return {"x": lambda: 3 * dy}


@pytest.fixture
def fake():
    """A fake backend with NumPy's kernels, which the walk itself needs; active for the test."""
    register_backend("fake", object)
    copy_registered_kernels("numpy", "fake")
    with use_backend("fake"):
        yield "fake"


# ------------------------------------------------------------------------------------------------------------- records


def test_fields_of_a_grad_config():
    names = [field.name for field in dataclasses.fields(GradConfig)]
    assert set(names) >= {
        "kernel_name", "grad_func", "inputs_to_save", "save_all_inputs", "outputs_to_save", "infos_to_save", "elementwise",
        "linear", "jvp_func",
    }  # fmt: skip
    assert names[:2] == ["kernel_name", "grad_func"]
    config = GradConfig("double", twice)
    assert config.grad_func is twice
    assert (config.inputs_to_save, config.outputs_to_save, config.infos_to_save, config.linear) == ((), (), (), ())
    assert config.save_all_inputs is False
    assert config.elementwise is False
    assert config.jvp_func is None


def test_a_grad_config_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        GradConfig("double", twice).elementwise = True


def test_sequences_become_tuples_and_a_lone_true_the_single_output():
    config = GradConfig("double", twice, inputs_to_save=["x"], infos_to_save=["y"], linear=["z"], outputs_to_save=[True, False])
    assert config.inputs_to_save == ("x",)
    assert config.infos_to_save == ("y",)
    assert config.linear == ("z",)
    assert config.outputs_to_save == (True, False)
    assert GradConfig("double", twice, outputs_to_save=True).outputs_to_save == (True,)
    assert GradConfig("double", twice, outputs_to_save=False).outputs_to_save == (False,)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kernel_name", ""),
        ("kernel_name", 3),
        ("grad_func", None),
        ("grad_func", "rule"),
        ("jvp_func", "rule"),
        ("inputs_to_save", "x"),
        ("inputs_to_save", (0,)),
        ("inputs_to_save", None),
        ("inputs_to_save", True),
        ("inputs_to_save", ("x", "x")),
        ("infos_to_save", "x"),
        ("linear", "x"),
        ("linear", True),
        ("outputs_to_save", (1,)),
        ("outputs_to_save", ("y",)),
        ("outputs_to_save", 1),
        ("outputs_to_save", None),
    ],
)
def test_a_grad_config_says_which_field_is_wrong(field, value):
    with pytest.raises(RegistrationError) as caught:
        GradConfig(**{"kernel_name": "double", "grad_func": twice, field: value})
    assert field in str(caught.value)
    assert repr(value) in str(caught.value)


def test_saving_all_inputs_and_some_by_name_is_refused():
    with pytest.raises(RegistrationError, match=r"save_all_inputs.*'x'"):
        GradConfig("double", twice, save_all_inputs=True, inputs_to_save=("x",))


def test_needs_may_name_saved_inputs_only():
    with pytest.raises(RegistrationError, match=r"needs.*'y'.*not saved.*'x'"):
        GradConfig("double", twice, inputs_to_save=("x",), needs={"x": ("y",)})
    with pytest.raises(RegistrationError, match=r"needs.*'output'.*not saved"):
        GradConfig("double", twice, inputs_to_save=("x",), needs={"x": ("output",)})
    assert GradConfig("double", twice, outputs_to_save=True, needs={"x": ("output",)}).needs == {"x": ("output",)}


# ----------------------------------------------------------------------------------------------------------- the table


def test_what_is_registered_is_found():
    config = GradConfig("double", twice)
    assert register_gradient(config) is config
    assert get_gradient("double") is config


def test_get_gradient_of_an_unknown_name_is_none():
    assert get_gradient("nowhere") is None


def test_decorator_registers_and_returns_the_function_itself():
    @gradient("double", outputs_to_save=True, linear=("x",))
    def rule(dy, saved, attrs):
        return {"x": lambda: 2 * dy}

    config = get_gradient("double")
    assert config.grad_func is rule
    assert config.outputs_to_save == (True,)
    assert config.linear == ("x",)


def test_unregistered_is_gone():
    register_gradient(GradConfig("double", twice))
    unregister_gradient("double")
    assert get_gradient("double") is None


def test_unregistering_what_is_not_there_raises():
    register_gradient(GradConfig("double", twice))
    with pytest.raises(RegistrationError, match=r"'dobule'.*'double'"):
        unregister_gradient("dobule")
    unregister_gradient("double")
    with pytest.raises(RegistrationError, match="'double'"):
        unregister_gradient("double")


def test_registering_twice_raises_and_keeps_the_first():
    first = register_gradient(GradConfig("double", twice))
    with pytest.raises(RegistrationError, match=r"'double'.*override=True"):
        register_gradient(GradConfig("double", thrice))
    with pytest.raises(RegistrationError, match="override=True"):
        gradient("double")(thrice)
    assert get_gradient("double") is first


def test_override_warns_and_replaces():
    register_gradient(GradConfig("double", twice))
    with pytest.warns(UserWarning, match="'double'") as caught:
        register_gradient(GradConfig("double", thrice), override=True)
    assert [each.filename for each in caught] == [__file__]
    assert get_gradient("double").grad_func is thrice
    with pytest.warns(UserWarning, match="'double'"):
        gradient("double", override=True)(twice)
    assert get_gradient("double").grad_func is twice


def test_override_of_nothing_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register_gradient(GradConfig("double", twice), override=True)


# --------------------------------------------------------------------------------------- what does not fit the schema


NAMED = "mix(Tensor a, Tensor b, int power=2) -> Tensor"
LISTED = "pile(Tensor[] arrays, int axis=0) -> Tensor"
SEVERAL = "parts(Tensor x) -> (Tensor first, Tensor second)"
MANY = "slices(Tensor x) -> Tensor[]"


@pytest.mark.parametrize(
    ("schema", "fields", "words"),
    [
        (NAMED, {"save_all_inputs": True}, ["save_all_inputs", "inputs_to_save=('a', 'b')"]),
        (NAMED, {"inputs_to_save": ("c",)}, ["inputs_to_save", "'c'", "'a'", "'b'"]),
        (NAMED, {"inputs_to_save": ("power",)}, ["inputs_to_save", "'power'"]),
        (NAMED, {"infos_to_save": ("c",)}, ["infos_to_save", "'c'"]),
        (NAMED, {"linear": ("c",)}, ["linear", "'c'"]),
        (NAMED, {"inputs_to_save": ("a",), "needs": {"c": ("a",)}}, ["needs", "'c'"]),
        (NAMED, {"outputs_to_save": (True, True)}, ["outputs_to_save", "2", "1"]),
        (SEVERAL, {"outputs_to_save": True}, ["outputs_to_save", "1", "2"]),
        (MANY, {"outputs_to_save": True}, ["outputs_to_save", "list"]),
        (LISTED, {"inputs_to_save": ("arrays",)}, ["'arrays'", "save_all_inputs=True"]),
    ],
)
def test_a_gradient_that_does_not_fit_its_operator_is_refused(fake, schema, fields, words):
    name = str(declare(schema).name)
    config = GradConfig(name, no_rule, **fields)
    with pytest.raises(RegistrationError) as caught:
        register_gradient(config)
    for word in [repr(name), *words]:
        assert word in str(caught.value)
    assert get_gradient(name) is None


def test_a_gradient_registered_before_its_operator_is_checked_when_it_runs(fake):
    register_gradient(GradConfig("late", twice, save_all_inputs=True))
    register_kernel(KernelConfig("late", fake, lambda x: 2 * x))
    with pytest.raises(RegistrationError, match=r"(?s)'late'.*inputs_to_save=\('x',\)"):
        run_kernel("late", {"x": 1.0})


def backward(name, inputs, attrs=None):
    """One recorded run of a kernel and the gradients of its first output, by input name."""
    with Tape() as tape:
        watched = {key: tape.watch(value) for key, value in inputs.items()}
        y = run_kernel(name, watched, attrs)
        first = y[0] if isinstance(y, tuple | list) else y
    return tape.gradient(first, watched)


# ----------------------------------------------------------------------------------------------- registering it again


def test_a_gradient_registered_again_takes_effect_on_the_next_run_and_not_before(fake):
    register_kernel(KernelConfig("double", fake, lambda x: 2 * x))
    register_gradient(GradConfig("double", twice))

    def recorded():
        with Tape(persistent=True) as tape:
            x = tape.watch(1.0)
            y = run_kernel("double", {"x": x})
        return tape, y, x

    before, y, x = recorded()
    assert before.gradient(y, x) == 2.0
    with pytest.warns(UserWarning, match="'double'"):
        register_gradient(GradConfig("double", thrice), override=True)
    after, y_after, x_after = recorded()
    assert after.gradient(y_after, x_after) == 3.0
    assert before.gradient(y, x) == 2.0
    unregister_gradient("double")
    assert before.gradient(y, x) == 2.0
    assert after.gradient(y_after, x_after) == 3.0
    without, y_without, x_without = recorded()
    with pytest.raises(registry.GradtapeError, match=r"'double'.*no gradient"):
        without.gradient(y_without, x_without)


def test_a_gradient_registered_after_the_first_run_counts_from_the_next_on(fake):
    register_kernel(KernelConfig("double", fake, lambda x: 2 * x))
    with Tape() as early:
        x = early.watch(1.0)
        y = run_kernel("double", {"x": x})
    register_gradient(GradConfig("double", twice))
    assert backward("double", {"x": 1.0}) == {"x": 2.0}
    with pytest.raises(registry.GradtapeError, match=r"'double'.*record again"):
        early.gradient(y, x)


def test_the_rule_belongs_to_the_operator_whatever_the_backend():
    register_backend("fake", object)
    register_backend("other", object)
    register_kernel(KernelConfig("double", "fake", lambda x: 2 * x))
    register_kernel(KernelConfig("double", "other", lambda x: 20 * x))
    register_gradient(GradConfig("double", twice))
    with use_backend("fake"):
        assert backward("double", {"x": 1.0}) == {"x": 2.0}
    with use_backend("other"):
        assert backward("double", {"x": 1.0}) == {"x": 2.0}


# ------------------------------------------------------------------------------------------------------ rules by input


def test_a_rule_by_input_is_a_rule(fake):
    by_input = {"a": lambda dy, saved, attrs: dy * saved[1], "b": lambda dy, saved, attrs: dy * saved[0]}
    declare("product(Tensor a, Tensor b) -> Tensor")
    register_kernel(KernelConfig("product", fake, np.multiply))
    for names, expected in [(("a", "b"), {"a": 3.0, "b": 2.0}), (("b", "a"), {"a": 2.0, "b": 3.0})]:
        config = GradConfig("product", by_input=by_input, inputs_to_save=names)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            register_gradient(config, override=True)
        for _ in range(2):
            assert backward("product", {"a": np.array(2.0), "b": np.array(3.0)}) == expected
        assert {name: thunk() for name, thunk in config.grad_func(1.0, [2.0, 3.0], {}).items()} == {"a": 3.0, "b": 2.0}


def test_a_rule_is_given_one_way():
    with pytest.raises(RegistrationError, match=r"grad_func and by_input"):
        GradConfig("double", twice, by_input={"x": lambda dy, saved, attrs: dy})


def test_a_rule_by_input_may_not_name_what_is_no_input(fake):
    declare("product(Tensor a, Tensor b) -> Tensor")
    with pytest.raises(RegistrationError, match=r"by_input.*'c'"):
        register_gradient(GradConfig("product", by_input={"c": lambda dy, saved, attrs: dy}))
