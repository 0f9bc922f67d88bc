"""Bindings: what is worked out once for a kernel, its schema and its rule; with stubs, without tape or engine."""

from __future__ import annotations

import pytest

from autograd import Tape, engine, run_kernel
from autograd.engine import binding_of
from registry import (
    FunctionSchema,
    GradConfig,
    KernelConfig,
    RegistrationError,
    bindings,
    declare,
    register_backend,
    register_gradient,
    register_kernel,
    set_backend,
    undeclare,
    unregister_gradient,
    unregister_kernel,
    use_backend,
)
from registry.bindings import Binding


def rule(dy, saved, attrs):
    return {"saved": saved}


def bound(schema, **fields):
    """A binding of a stub kernel with this schema, and a gradient with these fields if there are any."""
    parsed = FunctionSchema.parse(schema)
    gradient = GradConfig(str(parsed.name), **{"grad_func": rule, **fields}) if fields else None
    return Binding(KernelConfig(str(parsed.name), "stub", lambda *_: None), parsed, gradient)


# ------------------------------------------------------------------------------------------------------ from the schema


@pytest.mark.parametrize(
    ("schema", "names", "lists", "n_outputs", "several"),
    [
        ("f(Tensor x) -> Tensor", ("x",), (False,), 1, False),
        ("f(Tensor x, int axis, Tensor? y=None) -> Tensor", None, None, None, None),
        ("f(Tensor x, Tensor? y=None, int axis=0) -> Tensor", ("x", "y"), (False, False), 1, False),
        ("f(Tensor[] xs, Tensor y) -> Tensor", ("xs", "y"), (True, False), 1, False),
        ("f(Tensor x) -> (Tensor a, Tensor b)", ("x",), (False,), 2, True),
        ("f(Tensor x) -> Tensor[]", ("x",), (False,), None, True),
        ("f(int n) -> Tensor", (), (), 1, False),
        ("f(Tensor x) -> ()", ("x",), (False,), 0, True),
        ("f(Tensor x, *, Tensor? where=None) -> Tensor", ("x",), (False,), 1, False),
    ],
)
def test_inputs_and_outputs(schema, names, lists, n_outputs, several):
    binding = bound(schema)
    if names is None:
        assert binding.input_names == ("x", "y")
        assert binding.attr_names == ("axis",)
        return
    assert binding.input_names == names
    assert binding.list_inputs == lists
    assert binding.has_list is any(lists)
    assert binding.n_outputs == n_outputs
    assert binding.several is several


def test_attributes_and_their_defaults():
    binding = bound("f(Tensor x, int axis, str mode=full, *, float[] by=[1.0,2.5], Any? extra=None) -> Tensor")
    assert binding.attr_names == ("axis", "mode", "by", "extra")
    assert binding.attr_defaults == {"mode": "full", "by": (1.0, 2.5), "extra": None}


def test_without_a_gradient_nothing_is_saved():
    binding = bound("f(Tensor x, Tensor y) -> Tensor")
    assert binding.gradient is None
    assert binding.save_inputs == (False, False)
    assert binding.n_saved == 0
    assert binding.keep_output is False
    assert binding.keeps_inputs is False
    assert binding.elementwise is False


# ------------------------------------------------------------------------------------------------- what a record saves


@pytest.mark.parametrize(
    ("fields", "save_inputs", "save_outputs", "infos", "n_saved"),
    [
        ({"inputs_to_save": ("y",)}, (False, True), (), (), 1),
        ({"inputs_to_save": ("y", "x")}, (True, True), (), (), 2),
        ({"outputs_to_save": True}, (False, False), (True,), (), 1),
        ({"outputs_to_save": False}, (False, False), (False,), (), 0),
        ({"infos_to_save": ("y", "x")}, (False, False), (), (1, 0), 2),
        ({"inputs_to_save": ("x",), "outputs_to_save": [True], "infos_to_save": ("y",)}, (True, False), (True,), (1,), 3),
    ],
)
def test_what_is_saved(fields, save_inputs, save_outputs, infos, n_saved):
    binding = bound("f(Tensor x, Tensor y) -> Tensor", **fields)
    assert binding.save_inputs == save_inputs
    assert binding.save_outputs == save_outputs
    assert binding.info_positions == infos
    assert binding.n_saved == n_saved


def test_a_saved_list_makes_the_number_depend_on_its_length():
    binding = bound("f(Tensor[] xs) -> Tensor", save_all_inputs=True)
    assert binding.save_inputs == (True,)
    assert binding.n_saved is None


@pytest.mark.parametrize(
    ("tracked", "kept"),
    [
        ((True, True), (True, True)),
        ((True, False), (False, True)),
        ((False, True), (True, False)),
        ((False, False), (False, False)),
    ],
)
def test_needs_keeps_only_what_the_tracked_inputs_use(tracked, kept):
    binding = bound("f(Tensor x, Tensor y) -> Tensor", inputs_to_save=("x", "y"), needs={"x": ("y",), "y": ("x",)})
    assert binding.keep_for(tracked) == kept
    assert binding.keep[tracked[0] + 2 * tracked[1]] == kept


def test_without_needs_all_that_is_declared_is_kept():
    binding = bound("f(Tensor x, Tensor y) -> Tensor", inputs_to_save=("y",))
    assert {binding.keep_for((one, two)) for one in (True, False) for two in (True, False)} == {(None, True)}


@pytest.mark.parametrize(
    ("declared", "delivered"),
    [
        (("x", "y", "z"), ["x", "y", "z"]),
        (("z", "y", "x"), ["z", "y", "x"]),
        (("y", "z", "x"), ["y", "z", "x"]),
        (("z", "x"), ["z", "x"]),
    ],
)
def test_the_rule_gets_saved_inputs_in_declared_order(declared, delivered):
    """Records hold them in the order of the schema; behind them come outputs and infos, which stay where they are."""
    fields = {"inputs_to_save": declared, "outputs_to_save": True, "jvp_func": lambda tangents, saved, attrs: saved}
    binding = bound("f(Tensor x, Tensor y, Tensor z) -> Tensor", **fields)
    recorded = [name for name in "xyz" if name in declared] + ["output", "info"]
    assert list(binding.grad_func(1.0, recorded, {})["saved"]) == [*delivered, "output", "info"]
    assert list(binding.jvp_func({}, recorded, {})) == [*delivered, "output", "info"]


def test_a_rule_in_schema_order_is_called_directly():
    assert bound("f(Tensor x, Tensor y) -> Tensor", inputs_to_save=("x", "y")).grad_func is rule


def test_functions_by_input_are_offered_by_position_where_the_order_allows():
    by_input = {"y": lambda dy, saved, attrs: "dy"}
    fields = {"grad_func": None, "by_input": by_input}
    assert bound("f(Tensor x, Tensor y) -> Tensor", **fields).by_input == (None, by_input["y"])
    assert bound("f(Tensor x, Tensor y) -> Tensor", inputs_to_save=("y", "x"), **fields).by_input is None


def test_a_binding_checks_that_the_gradient_fits():
    with pytest.raises(RegistrationError, match=r"'f'.*'z'.*"):
        bound("f(Tensor x) -> Tensor", inputs_to_save=("z",))


def test_a_binding_says_what_it_is():
    assert repr(bound("f(Tensor x) -> Tensor")) == "Binding('f' on 'stub', no gradient)"
    assert repr(bound("f(Tensor x) -> Tensor", elementwise=True)) == "Binding('f' on 'stub', gradient)"


# --------------------------------------------------------------------------------------------------- made and forgotten


def double(x):
    return 2.0 * x


@pytest.fixture
def fresh():
    """An operator whose binding has been made."""
    register_kernel(KernelConfig("fresh", "numpy", double))
    return binding_of("fresh")


def test_a_binding_is_made_once(fresh):
    assert binding_of("fresh") is fresh
    assert run_kernel("fresh", [1.0]) == 2.0
    assert binding_of("fresh") is fresh


def test_the_table_stays_the_same_object(fresh):
    table = bindings.table("fresh")
    assert fresh in table.values()
    bindings.forget("fresh")
    assert bindings.table("fresh") is table
    assert table == {}
    bindings.forget()
    assert bindings.table("fresh") is table


CHANGES = {
    "kernel": lambda: register_kernel(KernelConfig("fresh", "numpy", double), override=True),
    "gradient": lambda: register_gradient(GradConfig("fresh", rule)),
    "schema": lambda: declare("fresh(Tensor x, float factor=2.0) -> Tensor"),
    "constant": lambda: declare("fresh(Tensor x) -> Tensor", constant=True),
    "default backend": lambda: set_backend("numpy"),
}


@pytest.mark.filterwarnings("ignore:.*is replaced")
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_change_of_a_registration_makes_a_new_binding(fresh, change):
    change()
    assert binding_of("fresh") is not fresh


@pytest.mark.parametrize("name", ["kernel", "gradient", "schema"])
def test_taking_something_away_makes_a_new_binding_too(fresh, name):
    register_gradient(GradConfig("fresh", rule))
    declare("fresh(Tensor x) -> Tensor")
    before = binding_of("fresh")
    if name == "kernel":
        unregister_kernel("fresh", "numpy")
        register_kernel(KernelConfig("fresh", "numpy", double))
    elif name == "gradient":
        unregister_gradient("fresh")
    else:
        undeclare("fresh")
    assert binding_of("fresh") is not before


def test_a_change_of_another_operator_leaves_it(fresh):
    register_kernel(KernelConfig("unrelated", "numpy", double))
    register_gradient(GradConfig("unrelated", rule))
    assert binding_of("fresh") is fresh


def test_each_backend_has_its_own(fresh):
    register_backend("fake", object)
    register_kernel(KernelConfig("fresh", "fake", double))
    here = binding_of("fresh")
    assert here.kernel.backend_name == "numpy"
    with use_backend("fake"):
        assert binding_of("fresh").kernel.backend_name == "fake"
    assert binding_of("fresh") is here


def test_a_tape_keeps_the_binding_it_recorded_with():
    register_kernel(KernelConfig("fresh", "numpy", double))
    register_gradient(GradConfig("fresh", lambda dy, saved, attrs: {"x": lambda: 2.0 * dy}))
    with Tape() as tape:
        x = tape.watch(3.0)
        y = run_kernel("fresh", [x])
    unregister_gradient("fresh")
    unregister_kernel("fresh", "numpy")
    assert tape.nodes[-1].kernel_name == "fresh"
    assert tape.gradient(y, x) == 2.0


def test_a_registration_while_a_binding_is_being_made_is_not_lost(monkeypatch):
    """As when one thread runs a kernel for the first time while another registers a gradient."""
    look_up = engine.get_gradient

    def look_up_too_early(name):
        found = look_up(name)
        if found is None:
            register_gradient(GradConfig("fresh", rule))
        return found

    register_kernel(KernelConfig("fresh", "numpy", double))
    monkeypatch.setattr(engine, "get_gradient", look_up_too_early)
    run_kernel("fresh", [1.0])
    assert binding_of("fresh").gradient is not None
