"""The table of kernels: records, look-up, registering twice, copies, and which kernel runs."""

from __future__ import annotations

import dataclasses
import inspect
import warnings

import numpy as np
import pytest

import registry
from autograd import run_kernel
from registry import (
    KernelConfig,
    KernelNotFoundError,
    RegistrationError,
    TensorInfo,
    copy_registered_kernels,
    get_kernel,
    get_kernels_for_backend,
    kernel,
    register_backend,
    register_kernel,
    set_backend,
    unregister_kernel,
    use_backend,
)


def double(x):
    return 2 * x


def triple(x):
    return 3 * x


@pytest.fixture
def fake():
    """A backend called fake, registered and not started."""
    register_backend("fake", object)
    return "fake"


# ------------------------------------------------------------------------------------------------------------- records


@pytest.mark.parametrize(
    "name",
    [
        "KernelConfig", "GradConfig", "KernelFunc", "GradFunc", "KernelSetupFunc", "KernelDisposeFunc", "TensorInfo",
        "NamedTensorInfoMap", "NamedAttrMap", "Attribute", "NamedGradientMap", "register_kernel", "get_kernel",
        "get_kernels_for_backend", "unregister_kernel", "copy_registered_kernels", "register_gradient", "get_gradient",
        "unregister_gradient", "register_backend", "set_backend", "get_backend", "backend", "find_backend", "remove_backend",
        "use_backend", "kernel", "gradient",
    ],
)  # fmt: skip
def test_registry_offers(name):
    assert getattr(registry, name) is not None
    assert name in registry.__all__


def test_fields_of_a_kernel_config():
    names = [field.name for field in dataclasses.fields(KernelConfig)]
    assert names == ["kernel_name", "backend_name", "kernel_func", "setup_func", "dispose_func", "out_func"]
    config = KernelConfig("double", "fake", double)
    assert (config.kernel_name, config.backend_name, config.kernel_func) == ("double", "fake", double)
    assert config.setup_func is None
    assert config.dispose_func is None


def test_fields_of_a_tensor_info():
    info = TensorInfo(shape=(2, 3), dtype=np.dtype("float32"))
    assert (info.shape, info.dtype) == ((2, 3), np.dtype("float32"))
    assert tuple(info) == ((2, 3), np.dtype("float32"))


def test_a_kernel_config_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        KernelConfig("double", "fake", double).kernel_name = "other"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kernel_name", ""),
        ("kernel_name", None),
        ("backend_name", ""),
        ("backend_name", 3),
        ("kernel_func", None),
        ("kernel_func", "double"),
        ("setup_func", 3),
        ("dispose_func", "stop"),
    ],
)
def test_a_kernel_config_says_which_field_is_wrong(field, value):
    fields = {"kernel_name": "double", "backend_name": "fake", "kernel_func": double, field: value}
    with pytest.raises(RegistrationError) as caught:
        KernelConfig(**fields)
    assert f"KernelConfig.{field}" in str(caught.value)
    assert repr(value) in str(caught.value)


# ----------------------------------------------------------------------------------------------------------- the table


def test_what_is_registered_is_found():
    config = KernelConfig("double", "fake", double)
    assert register_kernel(config) is config
    assert get_kernel("double", "fake") is config


@pytest.mark.parametrize(("name", "backend"), [("nowhere", "fake"), ("double", "nowhere"), ("nowhere", "nowhere")])
def test_get_kernel_of_an_unknown_name_is_none(name, backend):
    register_kernel(KernelConfig("double", "fake", double))
    assert get_kernel(name, backend) is None


def test_decorator_registers_and_returns_the_function_itself():
    started = []

    @kernel("double", "fake", setup_func=started.append, dispose_func=print)
    def doubled(x):
        return 2 * x

    config = get_kernel("double", "fake")
    assert config.kernel_func is doubled
    assert config.setup_func == started.append
    assert config.dispose_func is print
    assert doubled(4) == 8


def test_decorator_registers_on_numpy_unless_told_otherwise():
    kernel("double_by_default")(double)
    assert get_kernel("double_by_default", "numpy").kernel_func is double


def test_kernels_of_a_backend_come_in_order_and_no_others():
    first = register_kernel(KernelConfig("double", "fake", double))
    register_kernel(KernelConfig("double", "other", double))
    second = register_kernel(KernelConfig("triple", "fake", triple))
    assert get_kernels_for_backend("fake") == [first, second]
    assert get_kernels_for_backend("nowhere") == []


def test_the_list_of_kernels_is_not_the_table():
    register_kernel(KernelConfig("double", "fake", double))
    get_kernels_for_backend("fake").clear()
    assert len(get_kernels_for_backend("fake")) == 1


def test_unregistered_is_gone_on_that_backend_only():
    register_kernel(KernelConfig("double", "fake", double))
    register_kernel(KernelConfig("double", "other", double))
    unregister_kernel("double", "fake")
    assert get_kernel("double", "fake") is None
    assert get_kernel("double", "other") is not None
    assert get_kernels_for_backend("fake") == []


@pytest.mark.parametrize(("name", "backend"), [("doubel", "fake"), ("double", "nowhere")])
def test_unregistering_what_is_not_there_raises(name, backend):
    register_kernel(KernelConfig("double", "fake", double))
    with pytest.raises(RegistrationError) as caught:
        unregister_kernel(name, backend)
    assert repr(name) in str(caught.value)
    assert repr(backend) in str(caught.value)
    assert "'double'" in str(caught.value)


def test_unregistering_twice_raises():
    register_kernel(KernelConfig("double", "fake", double))
    unregister_kernel("double", "fake")
    with pytest.raises(RegistrationError, match="'double'"):
        unregister_kernel("double", "fake")


# ---------------------------------------------------------------------------------------------------- registering twice


def test_registering_twice_raises_and_keeps_the_first():
    first = register_kernel(KernelConfig("double", "fake", double))
    with pytest.raises(RegistrationError, match=r"'double'.*'fake'.*override=True"):
        register_kernel(KernelConfig("double", "fake", triple))
    with pytest.raises(RegistrationError, match="override=True"):
        kernel("double", "fake")(triple)
    assert get_kernel("double", "fake") is first


def test_registering_the_same_config_twice_raises_too():
    config = register_kernel(KernelConfig("double", "fake", double))
    with pytest.raises(RegistrationError, match="override=True"):
        register_kernel(config)


def test_override_warns_and_replaces():
    register_kernel(KernelConfig("double", "fake", double))
    second = KernelConfig("double", "fake", triple)
    with pytest.warns(UserWarning, match=r"'double'.*'fake'") as caught:
        register_kernel(second, override=True)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert get_kernel("double", "fake") is second


def test_override_by_decorator_warns_and_replaces():
    register_kernel(KernelConfig("double", "fake", double))
    with pytest.warns(UserWarning, match="'double'"):
        kernel("double", "fake", override=True)(triple)
    assert get_kernel("double", "fake").kernel_func is triple


def test_override_of_nothing_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register_kernel(KernelConfig("double", "fake", double), override=True)
    assert get_kernel("double", "fake").kernel_func is double


def test_an_override_may_have_another_signature(fake):
    register_kernel(KernelConfig("scaled", fake, lambda x: 2 * x))
    with use_backend(fake):
        assert run_kernel("scaled", {"x": 3.0}) == 6.0
        with pytest.warns(UserWarning, match="'scaled'"):
            register_kernel(KernelConfig("scaled", fake, lambda a, b, *, by=1.0: (a + b) * by), override=True)
        assert run_kernel("scaled", {"a": 3.0, "b": 4.0}, {"by": 10.0}) == 70.0


def test_the_other_backends_signature_outlives_an_override(fake):
    register_kernel(KernelConfig("scaled", fake, lambda x: 2 * x))
    register_kernel(KernelConfig("scaled", "other", lambda x: 3 * x))
    with pytest.warns(UserWarning, match="'scaled'"):
        register_kernel(KernelConfig("scaled", "other", lambda y: 4 * y), override=True)
    with use_backend(fake):
        assert run_kernel("scaled", {"x": 3.0}) == 6.0


def test_a_refused_override_changes_nothing(fake):
    first = register_kernel(KernelConfig("scaled", fake, lambda x: 2 * x))
    with pytest.warns(UserWarning, match="'scaled'"), pytest.raises(registry.KernelError, match="scaled"):
        register_kernel(KernelConfig("scaled", fake, lambda *arrays: arrays), override=True)
    assert get_kernel("scaled", fake) is first
    with use_backend(fake):
        assert run_kernel("scaled", {"x": 3.0}) == 6.0


def test_an_override_whose_set_up_fails_changes_nothing(fake):
    def fails(running):
        raise OSError("no such device")

    first = register_kernel(KernelConfig("scaled", fake, lambda x: 2 * x))
    with use_backend(fake):
        with pytest.warns(UserWarning, match="'scaled'"), pytest.raises(OSError, match="no such device"):
            register_kernel(KernelConfig("scaled", fake, lambda other: 3 * other, fails), override=True)
        assert get_kernel("scaled", fake) is first
        assert run_kernel("scaled", {"x": 3.0}) == 6.0


# ------------------------------------------------------------------------------------------------ which kernel will run


def test_the_active_backends_kernel_runs(fake):
    register_backend("other", object)
    register_kernel(KernelConfig("change", fake, double))
    register_kernel(KernelConfig("change", "other", triple))
    with use_backend(fake):
        assert run_kernel("change", {"x": 5.0}) == 10.0
        with use_backend("other"):
            assert run_kernel("change", {"x": 5.0}) == 15.0
        assert run_kernel("change", {"x": 5.0}) == 10.0
    set_backend("other")
    assert run_kernel("change", {"x": 5.0}) == 15.0
    set_backend(fake)
    assert run_kernel("change", {"x": 5.0}) == 10.0


def test_an_unknown_kernel_raises_and_names_everything(fake):
    register_kernel(KernelConfig("double", fake, double))
    with use_backend(fake), pytest.raises(KernelNotFoundError) as caught:
        run_kernel("dobule", {"x": 1.0})
    message = str(caught.value)
    assert "'dobule'" in message
    assert "'fake'" in message
    assert "'double'" in message
    assert "register_kernel" in message


def test_a_kernel_of_another_backend_is_named_with_that_backend(fake):
    register_kernel(KernelConfig("double", "other", double))
    with use_backend(fake), pytest.raises(KernelNotFoundError) as caught:
        run_kernel("double", {"x": 1.0})
    assert "'double'" in str(caught.value)
    assert "'fake'" in str(caught.value)
    assert "other" in str(caught.value)
    assert "use_backend" in str(caught.value)


def test_an_unregistered_kernel_does_not_run_any_more(fake):
    register_kernel(KernelConfig("double", fake, double))
    with use_backend(fake):
        assert run_kernel("double", {"x": 1.0}) == 2.0
        unregister_kernel("double", fake)
        with pytest.raises(KernelNotFoundError, match="'double'"):
            run_kernel("double", {"x": 1.0})


def test_kernels_get_inputs_in_schema_order_and_attributes_by_name(fake):
    calls = []
    registry.declare("mix(Tensor a, Tensor[] many, int power=2, *, str word=abc, Any? extra=None) -> Tensor")

    def mix(*inputs, **attrs):
        calls.append((inputs, attrs))
        return inputs[0]

    register_kernel(KernelConfig("mix", fake, mix))
    nested = {"a": [1, 2.5, True, "text", {"deep": (None, [])}]}
    with use_backend(fake):
        run_kernel("mix", {"many": [1.0, 2.0], "a": 3.0}, {"extra": nested})
        run_kernel("mix", [3.0, [1.0, 2.0]], {"power": 5})
    assert calls[0] == ((3.0, [1.0, 2.0]), {"power": 2, "word": "abc", "extra": nested})
    assert calls[1] == ((3.0, [1.0, 2.0]), {"power": 5, "word": "abc", "extra": None})


# -------------------------------------------------------------------------------------------------------------- copies


def test_copies_are_configs_of_their_own():
    registered = register_kernel(KernelConfig("double", "fake", double, print, repr))
    assert copy_registered_kernels("fake", "copied") is None
    copied = get_kernel("double", "copied")
    assert copied is not registered
    assert dataclasses.astuple(copied) == ("double", "copied", double, print, repr, None)
    assert get_kernel("double", "fake") is registered
    assert registered.backend_name == "fake"


def test_replacing_a_copy_leaves_the_original_alone(fake):
    register_backend("copied", object)
    register_kernel(KernelConfig("change", fake, double))
    copy_registered_kernels(fake, "copied")
    with pytest.warns(UserWarning, match="'change'"):
        register_kernel(KernelConfig("change", "copied", triple), override=True)
    with use_backend(fake):
        assert run_kernel("change", {"x": 5.0}) == 10.0
    with use_backend("copied"):
        assert run_kernel("change", {"x": 5.0}) == 15.0
    unregister_kernel("change", "copied")
    assert get_kernel("change", fake).kernel_func is double


def test_copying_takes_every_kernel():
    copy_registered_kernels("numpy", "copied")
    names = [config.kernel_name for config in get_kernels_for_backend("numpy")]
    assert [config.kernel_name for config in get_kernels_for_backend("copied")] == names
    assert "add" in names


def test_copying_onto_a_running_backend_sets_each_kernel_up(fake):
    started = []
    register_kernel(KernelConfig("double", "original", double, started.append))
    with use_backend(fake) as running:
        copy_registered_kernels("original", fake)
    assert started == [running]


def test_copying_from_a_backend_without_kernels_raises():
    register_kernel(KernelConfig("double", "fake", double))
    with pytest.raises(RegistrationError) as caught:
        copy_registered_kernels("fakee", "copied")
    assert "'fakee'" in str(caught.value)
    assert "'fake'" in str(caught.value)


def test_copying_over_a_kernel_raises_and_copies_nothing():
    register_kernel(KernelConfig("double", "fake", double))
    register_kernel(KernelConfig("triple", "fake", triple))
    there = register_kernel(KernelConfig("triple", "copied", double))
    with pytest.raises(RegistrationError, match=r"'copied'.*'triple'.*override=True"):
        copy_registered_kernels("fake", "copied")
    assert get_kernels_for_backend("copied") == [there]
    with pytest.warns(UserWarning, match="'triple'"):
        copy_registered_kernels("fake", "copied", override=True)
    assert get_kernel("triple", "copied").kernel_func is triple


def test_defaults_of_the_functions():
    assert inspect.signature(register_kernel).parameters["override"].default is False
    assert list(inspect.signature(copy_registered_kernels).parameters)[:2] == ["registered_backend", "new_backend"]
