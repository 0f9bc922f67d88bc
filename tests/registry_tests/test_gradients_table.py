"""The table of gradients: records, registering, and what a rule is handed in a backward pass and in forward mode."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pytest

import registry
from autograd import Tape, jvp, run_kernel
from registry import (
    GradConfig,
    KernelConfig,
    RegistrationError,
    TensorInfo,
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


class Spy:
    """A rule that notes what it was called with, and gives each named input the same gradient."""

    def __init__(self, *names):
        self.names = names
        self.calls = []

    def __call__(self, dy, saved, attrs):
        self.calls.append((dy, tuple(saved), dict(attrs)))
        first = dy[0] if isinstance(dy, tuple) else dy
        return {name: lambda: 1.0 * first for name in self.names}

    @property
    def saved(self):
        """What the last call was given to work with."""
        return self.calls[-1][1]


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
    with pytest.raises(RegistrationError, match=r"needs.*'y'.*inputs_to_save"):
        GradConfig("double", twice, inputs_to_save=("x",), needs={"x": ("y",)})


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


# ------------------------------------------------------------------------------- what reaches the rule, and in which order


def backward(name, inputs, attrs=None):
    """One recorded run of a kernel and the gradients of its first output, by input name."""
    with Tape() as tape:
        watched = {key: tape.watch(value) for key, value in inputs.items()}
        y = run_kernel(name, watched, attrs)
        first = y[0] if isinstance(y, tuple | list) else y
    return tape.gradient(first, watched)


A, B, C = np.array(2.0), np.array(3.0), np.array(5.0)


@pytest.fixture
def three(fake):
    """An operator of three inputs and two outputs."""
    declare("three(Tensor a, Tensor b, Tensor c, int power=1) -> (Tensor first, Tensor second)")
    register_kernel(KernelConfig("three", fake, lambda a, b, c, power: (a + b + c, a * b * c)))
    return "three"


ORDERS = [("a",), ("c",), ("a", "b"), ("b", "a"), ("c", "a"), ("b", "c", "a"), ("c", "b", "a"), ("a", "b", "c"), ("a", "c", "b")]


@pytest.mark.parametrize("names", ORDERS, ids=" ".join)
@pytest.mark.parametrize("outputs", [(), (True, False), (False, True), (True, True)], ids=str)
def test_saved_is_the_inputs_in_declared_order_then_the_outputs(three, names, outputs):
    spy = Spy("a", "b", "c")
    register_gradient(GradConfig(three, spy, inputs_to_save=names, outputs_to_save=outputs))
    backward(three, {"a": A, "b": B, "c": C})
    values = {"a": 2.0, "b": 3.0, "c": 5.0}
    results = [y for y, keep in zip((10.0, 30.0), outputs, strict=False) if keep]
    assert [float(each) for each in spy.saved] == [values[name] for name in names] + results


@pytest.mark.parametrize("names", ORDERS, ids=" ".join)
def test_forward_mode_delivers_the_same_order(three, names):
    spy = Spy("a", "b", "c")
    register_gradient(GradConfig(three, spy, inputs_to_save=names, outputs_to_save=(False, True), infos_to_save=("b",)))
    jvp(lambda a, b, c: run_kernel(three, [a, b, c])[0], (A, B, C), (1.0, 1.0, 1.0))
    values = {"a": 2.0, "b": 3.0, "c": 5.0}
    *floats, info = spy.saved
    assert [float(each) for each in floats] == [values[name] for name in names] + [30.0]
    assert info == TensorInfo((), np.dtype(float))


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")], ids=" ".join)
@pytest.mark.parametrize("fields", [{}, {"elementwise": True}], ids=str)
def test_the_order_is_right_on_the_fast_path_and_in_both_modes(fake, names, fields):
    """a / b is not symmetric: a rule that gets its saved values in the wrong order is found out by its numbers."""
    declare("quotient(Tensor a, Tensor b) -> Tensor")
    register_kernel(KernelConfig("quotient", fake, np.divide))

    def rule(dy, saved, attrs):
        values = dict(zip(names, saved[:2], strict=True))
        y = saved[2]
        return {"a": lambda: dy / values["b"], "b": lambda: -dy * y / values["b"]}

    register_gradient(GradConfig("quotient", rule, inputs_to_save=names, outputs_to_save=True, **fields))
    for _ in range(2):  # the second pass walks a known plan
        gradients = backward("quotient", {"a": np.array([2.0, 3.0])[0], "b": np.float64(4.0)})
        assert gradients == {"a": 0.25, "b": -0.125}
    a, b = np.array([2.0]), np.array([4.0])
    _, tangent = jvp(lambda a, b: run_kernel("quotient", [a, b]), (a, b), (np.array([1.0]), np.array([0.0])))
    np.testing.assert_allclose(tangent, [0.25])
    _, tangent = jvp(lambda a, b: run_kernel("quotient", [a, b]), (a, b), (np.array([0.0]), np.array([1.0])))
    np.testing.assert_allclose(tangent, [-0.125])


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")], ids=" ".join)
def test_a_forward_rule_gets_the_declared_order_too(fake, names):
    calls = []

    def forward(tangents, saved, attrs):
        calls.append((dict(tangents), [float(each) for each in saved], dict(attrs)))
        return np.float64(7.0)

    declare("ratio(Tensor a, Tensor b, int power=1) -> Tensor")
    register_kernel(KernelConfig("ratio", fake, lambda a, b, power: a / b))
    register_gradient(
        GradConfig("ratio", Spy("a", "b"), inputs_to_save=names, outputs_to_save=True, jvp_func=forward)
    )
    y, tangent = jvp(lambda a: run_kernel("ratio", {"a": a, "b": B}, {"power": 4}), (np.float64(6.0),), (np.float64(1.0),))
    assert (y, tangent) == (2.0, 7.0)
    values = {"a": 6.0, "b": 3.0}
    assert calls == [({"a": 1.0, "b": None}, [values[names[0]], values[names[1]], 2.0], {"power": 4})]


def test_infos_come_last_in_declared_order_and_without_data(three):
    spy = Spy("a", "b", "c")
    register_gradient(
        GradConfig(three, spy, inputs_to_save=("b",), outputs_to_save=(True, False), infos_to_save=("c", "a"))
    )
    with Tape() as tape:
        a, c = tape.watch(np.ones((2, 3))), tape.watch(np.ones(3, "float32"))
        first, _ = run_kernel(three, [a, 2.0, c])
    tape.gradient(first, [a], dy=np.ones((2, 3)))
    b, y, info_c, info_a = spy.saved
    assert b == 2.0
    np.testing.assert_array_equal(y, np.full((2, 3), 4.0))
    assert info_c == TensorInfo((3,), np.dtype("float32"))
    assert info_a == TensorInfo((2, 3), np.dtype("float64"))
    assert isinstance(info_c, TensorInfo)


def test_dy_is_a_tuple_exactly_when_there_are_several_outputs(three, fake):
    spy = Spy("a", "b", "c")
    register_gradient(GradConfig(three, spy))
    backward(three, {"a": A, "b": B, "c": C}, {"power": 3})
    dy, saved, attrs = spy.calls[0]
    assert isinstance(dy, tuple)
    assert saved == ()
    assert attrs == {"power": 3}

    single = Spy("x")
    register_kernel(KernelConfig("single", fake, lambda x: 2 * x))
    register_gradient(GradConfig("single", single))
    backward("single", {"x": A})
    assert not isinstance(single.calls[0][0], tuple)


def test_an_output_without_a_cotangent_gets_zeros_or_none_if_the_rule_takes_it(three):
    spy = Spy("a", "b", "c")
    register_gradient(GradConfig(three, spy))
    backward(three, {"a": A, "b": B, "c": C})
    assert [float(each) for each in spy.calls[0][0]] == [1.0, 0.0]
    with pytest.warns(UserWarning, match="'three'"):
        register_gradient(GradConfig(three, spy, accepts_none=True), override=True)
    backward(three, {"a": A, "b": B, "c": C})
    assert spy.calls[-1][0][1] is None


# ----------------------------------------------------------------------------------------------------- lists of inputs


@pytest.fixture
def pile(fake):
    """An operator whose only input is a list."""
    declare(LISTED)
    register_kernel(KernelConfig("pile", fake, lambda arrays, axis: sum(arrays[1:], arrays[0])))
    return "pile"


def test_save_all_inputs_keeps_each_of_a_list_then_the_output(pile):
    calls = []

    def rule(dy, saved, attrs):
        calls.append([float(each) for each in saved])
        return {"arrays": [lambda: dy, lambda: 2.0 * dy, lambda: 3.0 * dy]}

    register_gradient(GradConfig(pile, rule, save_all_inputs=True, outputs_to_save=True))
    with Tape() as tape:
        x, y = tape.watch(A), tape.watch(B)
        total = run_kernel(pile, [[x, C, y]])
    assert tape.gradient(total, [x, y]) == [1.0, 3.0]
    assert calls == [[2.0, 5.0, 3.0, 10.0]]


def test_only_the_wanted_thunks_are_called(three):
    called = []

    def rule(dy, saved, attrs):
        return {name: lambda name=name: called.append(name) or dy[0] for name in "abc"}

    register_gradient(GradConfig(three, rule))
    with Tape() as tape:
        b = tape.watch(B)
        y, _ = run_kernel(three, {"a": A, "b": b, "c": C})
    assert tape.gradient(y, b) == 1.0
    assert called == ["b"]


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
            assert backward("product", {"a": A, "b": B}) == expected
        assert {name: thunk() for name, thunk in config.grad_func(1.0, [2.0, 3.0], {}).items()} == {"a": 3.0, "b": 2.0}


def test_a_rule_is_given_one_way():
    with pytest.raises(RegistrationError, match=r"grad_func and by_input"):
        GradConfig("double", twice, by_input={"x": lambda dy, saved, attrs: dy})


def test_a_rule_by_input_may_not_name_what_is_no_input(fake):
    declare("product(Tensor a, Tensor b) -> Tensor")
    with pytest.raises(RegistrationError, match=r"by_input.*'c'"):
        register_gradient(GradConfig("product", by_input={"c": lambda dy, saved, attrs: dy}))
