"""Which gradients and arrays an update takes, and which it refuses, by name and before anything is changed."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from autograd import Tape, grad, nn, optim
from autograd.errors import InPlaceError, OptimiserError
from tests.optim.models import EACH, Pair, contents, loss, small


def test_gradients_come_by_name_too():
    model = small()
    expected = optim.SGD(0.1).update(copy.deepcopy(model), grad(loss)(model), optim.SGD(0.1).init(model))[0]
    gradients = {"layers.1.b": (g := grad(loss)(model))["layers"][1]["b"], "w": lambda: g["w"], "layers.0.b": g["layers"][0]["b"]}
    optim.SGD(0.1).update(model, gradients, optim.SGD(0.1).init(model))
    assert contents(model) == contents(expected)
    net = nn.Linear(2, 1)
    by_name = nn.named_gradients(grad(lambda m: m(np.ones(2)).sum())(net))
    weight = net.weight.copy()
    optim.SGD(0.5).update(net, by_name, optim.SGD(0.5).init(net))
    np.testing.assert_array_equal(net.weight, weight - 0.5)


WRONG = [
    ({"w": np.ones(2)}, r"none of \['b'\]"),
    ({"w": np.ones(2), "b": np.ones(2), "c": np.ones(2)}, r"no \['c'\]"),
    ({"weight": np.ones(2), "b": np.ones(2)}, r"none of \['w'\] and the model has no \['weight'\]"),
    ([np.ones(2), np.ones(2)], r"none of \['w', 'b'\]"),
    ({"w": np.ones(3), "b": np.ones(2)}, r"gradient of w has shape \(3,\), expected \(2,\)"),
    ({"w": np.ones((2, 1)), "b": np.ones(2)}, r"gradient of w has shape \(2, 1\)"),
    ({"w": 1.0, "b": np.ones(2)}, r"gradient of w has shape \(\)"),
    ({"w": None, "b": np.ones(2)}, "gradient of w is NoneType"),
    ({"w": [1.0, 2.0], "b": np.ones(2)}, "gradient of w"),
    ({"w": np.ones(2), "b": np.ones(2) * 1j}, "gradient of b has dtype complex128, expected float64"),
    (None, "none of"),
]


@pytest.mark.parametrize(("gradient", "message"), WRONG)
@pytest.mark.parametrize("optimiser", [optim.SGD(), optim.Adam()], ids=["SGD", "Adam"])
def test_gradients_that_are_not_of_the_model_are_refused_by_name(optimiser, gradient, message):
    model = {"w": np.zeros(2), "b": np.zeros(2)}
    state = optimiser.init(model)
    with pytest.raises(OptimiserError, match=message):
        optimiser.update(model, gradient, state)
    assert not model["w"].any()
    assert not model["b"].any()
    assert state["steps"] == 0


@pytest.mark.parametrize("length", [1, 3])
def test_a_list_of_gradients_of_another_length_is_refused(length):
    model = [np.zeros(2), np.zeros(2)]
    with pytest.raises(OptimiserError, match=r"none of \['1'\]" if length == 1 else r"no \['2'\]"):
        optim.SGD().update(model, [np.ones(2)] * length, optim.SGD().init(model))


def test_a_gradient_in_another_order_goes_where_it_belongs():
    model = {"a": np.zeros(2), "b": np.zeros(2)}
    optim.SGD(1.0).update(model, {"b": np.array([1.0, 2.0]), "a": np.zeros(2)}, optim.SGD(1.0).init(model))
    assert model["a"].tolist() == [0, 0]
    assert model["b"].tolist() == [-1, -2]
    inside = Pair(np.zeros(1), {"a": np.zeros(1), "b": np.zeros(1)})
    gradient = Pair(np.zeros(1), {"b": np.ones(1), "a": np.zeros(1)})
    optim.SGD(1.0).update(inside, gradient, optim.SGD(1.0).init(inside))
    assert inside.shift == {"a": [0], "b": [-1]}


def test_a_large_complex_gradient_of_a_real_parameter_is_refused():
    model = {"w": np.zeros((70, 70))}
    with pytest.raises(OptimiserError, match="gradient of w has dtype complex128"):
        optim.SGD().update(model, {"w": np.ones((70, 70)) * 1j}, optim.SGD().init(model))
    assert not model["w"].any()


def test_gradients_of_other_precision_are_converted():
    model = {"w": np.zeros(2, np.float32), "large": np.zeros((70, 70), np.float32)}
    gradient = {"w": np.array([1, 2]), "large": np.full((70, 70), 3.0)}
    optim.SGD(1.0).update(model, gradient, optim.SGD(1.0).init(model))
    assert model["w"].tolist() == [-1, -2]
    assert (model["large"] == -3).all()
    assert model["large"].dtype == np.float32


def test_tensors_are_refused():
    model = {"w": np.ones(2)}
    optimiser = optim.SGD()
    state = optimiser.init(model)
    with Tape() as tape:
        watched = tape.watch(model)
        with pytest.raises(OptimiserError, match="parameter w is a Tensor"):
            optimiser.init(watched)
        with pytest.raises(OptimiserError, match="gradient of w is a Tensor"):
            optimiser.update({"w": np.ones(2)}, watched, state)
    tape._free()


@EACH
def test_nan_passes_through_to_its_own_numbers(optimiser):
    model = [np.array([1.0, 1.0, 1.0])]
    state = optimiser.init(model)
    optimiser.update(model, [np.array([1.0, np.nan, 1.0])], state)
    optimiser.update(model, [np.array([1.0, 1.0, 1.0])], state)
    assert np.isnan(model[0]).tolist() == [False, True, False]


# -------------------------------------------------------------------------------------------------- locked and shared arrays


@pytest.mark.parametrize("shape", [(2,), (80, 80)], ids=["small", "large"])
@pytest.mark.parametrize("optimiser", [optim.SGD(), optim.Adam()], ids=["SGD", "Adam"])
def test_arrays_that_a_tape_needs_are_refused_before_anything_is_changed(optimiser, shape):
    model = {"a": np.ones(2), "w": np.ones(shape)}
    gradient = {"a": np.ones(2), "w": np.ones(shape)}
    state = optimiser.init(model)
    optimiser.update(model, gradient, state)
    before = contents([model, state])
    with Tape() as tape:
        watched = tape.watch({"w": model["w"]})
        y = (watched["w"] ** 2).sum()
        with pytest.raises(InPlaceError, match=r"parameter w is read-only: a tape may still need it"):
            optimiser.update(model, gradient, state)
    assert contents([model, state]) == before
    tape.gradient(y, watched)
    optimiser.update(model, gradient, state)
    assert state["steps"] == 2


@pytest.mark.parametrize("shape", [(2,), (80, 80)], ids=["small", "large"])
@pytest.mark.parametrize("optimiser", [optim.SGD(), optim.Adam()], ids=["SGD", "Adam"])
def test_arrays_made_read_only_are_refused_before_anything_is_changed(optimiser, shape):
    model = {"a": np.ones(2), "w": np.ones(shape)}
    state = optimiser.init(model)
    model["w"].setflags(write=False)
    before = contents([model, state])
    with pytest.raises(InPlaceError, match="parameter w is read-only"):
        optimiser.update(model, {"a": np.ones(2), "w": np.ones(shape)}, state)
    assert contents([model, state]) == before
    with pytest.raises(InPlaceError, match="parameter w is read-only"):
        optimiser.init(model)


@pytest.mark.parametrize("rate", [-0.1, np.nan, np.inf])
def test_a_schedule_that_gives_no_rate_is_refused(rate):
    optimiser = optim.Adam(lambda step: rate if step == 1 else 0.1)
    model = {"w": np.ones(2)}
    model, state = optimiser.update(model, {"w": np.ones(2)}, optimiser.init(model))
    before = contents([model, state])
    with pytest.raises(OptimiserError, match=f"Adam: the schedule gave {rate} for step 1, expected a number from 0 on"):
        optimiser.update(model, {"w": np.ones(2)}, state)
    assert contents([model, state]) == before


def test_memory_that_two_parameters_share_is_refused():
    array = np.ones(4)
    for model in ({"a": array, "b": array}, {"a": array, "b": array[1:]}, {"a": array[:2], "b": array[1:3]}):
        with pytest.raises(OptimiserError, match="parameters a and b share their memory"):
            optim.SGD().init(model)
    optim.SGD().init({"a": array[:2], "b": array[2:], "c": np.ones(4)[::2]})


def test_names_that_two_parameters_share_are_refused():
    with pytest.raises(ValueError, match=r"'a\.b'"):
        optim.SGD().init({"a": {"b": np.ones(1)}, "a.b": np.ones(1)})
