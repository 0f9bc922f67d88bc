"""What a rule is handed, and in which order: saved inputs, outputs and infos, ``dy`` and attributes, backward and forward."""

from __future__ import annotations

import numpy as np
import pytest

from autograd import Tape, jvp, run_kernel
from registry import (
    GradConfig,
    KernelConfig,
    TensorInfo,
    copy_registered_kernels,
    declare,
    register_backend,
    register_gradient,
    register_kernel,
    use_backend,
)


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
    register_gradient(GradConfig("ratio", Spy("a", "b"), inputs_to_save=names, outputs_to_save=True, jvp_func=forward))
    y, tangent = jvp(lambda a: run_kernel("ratio", {"a": a, "b": B}, {"power": 4}), (np.float64(6.0),), (np.float64(1.0),))
    assert (y, tangent) == (2.0, 7.0)
    values = {"a": 6.0, "b": 3.0}
    assert calls == [({"a": 1.0, "b": None}, [values[names[0]], values[names[1]], 2.0], {"power": 4})]


def test_infos_come_last_in_declared_order_and_without_data(three):
    spy = Spy("a", "b", "c")
    register_gradient(GradConfig(three, spy, inputs_to_save=("b",), outputs_to_save=(True, False), infos_to_save=("c", "a")))
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
    declare("pile(Tensor[] arrays, int axis=0) -> Tensor")
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
