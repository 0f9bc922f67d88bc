"""What an update does to models and states: in place, by name, without a trace of allocation; and how a state is saved."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from collections import namedtuple
from dataclasses import replace

import numpy as np
import pytest

from autograd import grad, nn, optim, value_and_grad
from autograd.containers import flatten
from autograd.errors import OptimiserError
from tests.optim.models import EACH, Pair, contents, loss, small, train

# -------------------------------------------------------------------------------------------------- in place


@EACH
def test_arrays_keep_their_identity_and_gradients_their_numbers(optimiser):
    model = small()
    leaves, gradient = flatten(model)[0], grad(loss)(model)
    before, numbers = contents(gradient), contents(model)
    state = optimiser.init(model)
    state_arrays = [each for each in flatten(state)[0] if isinstance(each, np.ndarray)]
    new, new_state = optimiser.update(model, gradient, state)
    assert new is model
    assert new_state is state
    assert all(now is was for now, was in zip(flatten(model)[0], leaves, strict=True))
    after = [each for each in flatten(state)[0] if isinstance(each, np.ndarray)]
    assert all(now is was for now, was in zip(after, state_arrays, strict=True))
    assert contents(gradient) == before
    assert all(now != was for now, was in zip(contents(model), numbers, strict=True))
    assert state["steps"] == 1


@EACH
def test_nothing_is_allocated_once_it_is_in_step(optimiser):
    """A tenth of the smallest array would be seen."""
    rng = np.random.default_rng(0)
    model = {
        "large": rng.normal(size=(300, 100)),
        "small": [rng.normal(size=(60, 50)) for _ in range(8)],
        "z": rng.normal(size=3),
    }
    gradient = {"large": rng.normal(size=(300, 100)), "small": [rng.normal(size=(60, 50)) for _ in range(8)], "z": np.ones(3)}
    state = optimiser.init(model)
    for _ in range(3):
        optimiser.update(model, gradient, state)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        optimiser.update(model, gradient, state)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert peak < 60 * 50 * 8 / 4


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_a_large_gradient_in_another_order_is_no_other_gradient(dtype):
    """That of a transpose: its numbers go where they belong, and from the second step on nothing is allocated for it."""
    rng = np.random.default_rng(0)
    gradient = [rng.normal(size=(120, 90)).astype(dtype) for _ in range(2)]
    transposed = [np.asfortranarray(each) for each in gradient]
    first, second = ([np.zeros((120, 90), dtype) for _ in range(2)] for _ in range(2))
    optimiser = optim.SGD(0.5, momentum=0.5)
    states = [optimiser.init(first), optimiser.init(second)]
    for _ in range(2):
        optimiser.update(first, gradient, states[0])
        optimiser.update(second, transposed, states[1])
    for each, other, g in zip(first, second, gradient, strict=True):
        np.testing.assert_array_equal(each, other)
        np.testing.assert_allclose(each, -1.25 * g.conj())  # 0.5 g, and 0.5 (g + g / 2)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        optimiser.update(second, transposed, states[1])
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert peak < 120 * 90


def test_what_is_needed_besides_the_state_does_not_grow_with_the_model():
    """Many small parameters and a large one, of 8 MB together."""
    model = [np.zeros(4000) for _ in range(150)] + [np.zeros((500, 800))]
    tracemalloc.start()
    try:
        state = optim.SGD(0.1).init(model)
        needed = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert state == {"steps": 0}
    assert needed < 1e6


@EACH
def test_two_runs_have_the_same_bits(optimiser):
    runs = [train(optimiser, model, optimiser.init(model), 5) for model in (small(), small())]
    assert contents(runs[0]) == contents(runs[1])


@EACH
def test_it_goes_downhill(optimiser):
    model = small()
    before = loss(model)
    train(replace(optimiser, learning_rate=0.01), model, optimiser.init(model), 20)
    assert loss(model) < before


# -------------------------------------------------------------------------------------------------- states

WAYS = {
    "flatten and rebuild": lambda state: flatten(state)[1].rebuild(
        [np.copy(each) if isinstance(each, np.ndarray) else each for each in flatten(state)[0]]
    ),
    "deepcopy": copy.deepcopy,
    "pickle": lambda state: pickle.loads(pickle.dumps(state)),
    "plain dicts": lambda state: {key: {**each} if isinstance(each, dict) else each for key, each in state.items()},
    "in another order": lambda state: {
        key: dict(reversed(each.items())) if isinstance(each, dict) else each for key, each in reversed(state.items())
    },
    "numbers as NumPy reads them": lambda state: {
        key: each if isinstance(each, dict) else np.asarray(each)[()] for key, each in state.items()
    },
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@EACH
def test_a_state_that_was_saved_goes_on_to_the_same_bits(optimiser, way):
    whole = train(optimiser, small(), optimiser.init(small()), 6)
    model, state = train(optimiser, small(), optimiser.init(small()), 3)
    again = copy.deepcopy(model), WAYS[way](state)
    resumed = train(optimiser, *again, 3)
    assert contents(resumed[0]) == contents(whole[0])
    assert {key: contents(each) for key, each in resumed[1].items()} == {key: contents(each) for key, each in whole[1].items()}
    assert state["steps"] == 3  # the one that was copied stood still


def test_a_restored_array_written_in_place_counts():
    optimiser, model = optim.Adam(0.1), small()
    model, state = train(optimiser, model, optimiser.init(model), 2)
    kept, before = copy.deepcopy(state), copy.deepcopy(model)
    expected = train(optimiser, copy.deepcopy(model), copy.deepcopy(state), 1)[0]
    train(optimiser, model, state, 2)
    for _ in range(2):
        for now, then in zip(flatten(model)[0], flatten(before)[0], strict=True):
            now[...] = then
        for name, each in state["sum"].items():
            each[...] = kept["sum"][name]
        state["square_sum"] = kept["square_sum"]  # a whole moment may be replaced
        state["steps"] = kept["steps"]
        assert contents(train(optimiser, model, state, 1)[0]) == contents(expected)


def test_the_state_has_names_and_the_arrays_cannot_be_replaced():
    state = optim.Adam().init(nn.Sequential(nn.Linear(2, 3), nn.tanh, nn.Linear(3, 1)))
    names = ["layers.0.weight", "layers.0.bias", "layers.2.weight", "layers.2.bias"]
    assert {key: list(each) for key, each in state.items() if key != "steps"} == {"sum": names, "square_sum": names}
    with pytest.raises(OptimiserError, match="write into them"):
        state["sum"]["layers.0.bias"] = np.ones(3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda state: {"steps": 3}, r"has \['steps'\], expected \['square_sum', 'steps', 'sum'\]"),
        (lambda state: None, "NoneType"),
        (lambda state: {**state, "sum": {"v": np.ones(2)}}, r"'sum' for \['v'\], expected \['w'\]"),
        (lambda state: {**state, "square_sum": {"w": np.ones(3)}}, r"'square_sum' of w has shape \(3,\), expected \(2,\)"),
    ],
)
def test_a_state_of_something_else_is_refused(change, message):
    model = {"w": np.ones(2)}
    optimiser = optim.Adam()
    with pytest.raises(OptimiserError, match=f"Adam: the state .*{message}"):
        optimiser.update(model, {"w": np.ones(2)}, change(optimiser.init(model)))
    assert model["w"].tolist() == [1, 1]


def test_the_state_of_another_optimiser_is_refused():
    model = {"w": np.ones(2)}
    state = optim.SGD(momentum=0.5).init(model)
    for optimiser in (optim.Adam(), optim.SGD()):
        with pytest.raises(OptimiserError, match=r"the state has \['buffer', 'steps'\]"):
            optimiser.update(model, {"w": np.ones(2)}, state)
    assert model["w"].tolist() == [1, 1]


def test_settings_may_change_between_steps():
    optimiser, model = optim.Adam(0.1), small()
    model, state = train(optimiser, model, optimiser.init(model), 2)
    frozen = contents(model)
    train(replace(optimiser, learning_rate=0.0), model, state, 1)
    assert contents(model) == frozen
    assert state["steps"] == 3


def test_a_schedule_is_asked_with_the_steps_made():
    asked = []
    optimiser = optim.SGD(lambda step: asked.append(step) or 0.5)
    model = [np.array([1.0])]
    state = optimiser.init(model)
    for _ in range(3):
        optimiser.update(model, [np.array([1.0])], state)
    assert asked == [0, 1, 2]
    assert model[0] == -0.5


# -------------------------------------------------------------------------------------------------- containers


Triple = namedtuple("Triple", "a b c")
CONTAINERS = [
    np.array([1.0, 2.0]),
    [np.array([1.0]), np.array([2.0])],
    (np.array([1.0]), [np.array([2.0])]),
    Pair(np.array([1.0, 4.0]), {"x": np.array(2.0)}),
    Triple(np.array(1.0), np.array([2.0]), Pair(np.array(1.0), np.array(2.0))),
    {1: np.array([1.0]), "two": np.array([2.0])},
]


@pytest.mark.parametrize("model", CONTAINERS, ids=lambda each: type(each).__name__)
def test_any_container_is_a_model(model):
    model = copy.deepcopy(model)
    expected = [each - 0.25 * 2 * each for each in flatten(model)[0]]
    gradient = grad(lambda m: sum((each * each).sum() for each in flatten(m)[0]))(model)
    optimiser = optim.SGD(0.25)
    new, _ = optimiser.update(model, gradient, optimiser.init(model))
    assert new is model
    for got, wanted in zip(flatten(model)[0], expected, strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_modules_with_buffers_are_models():
    rng = np.random.default_rng(0)
    model = nn.Sequential(nn.Linear(3, 4, seed=rng), nn.BatchNorm(4), nn.Linear(4, 2, seed=rng))
    optimiser, x = optim.Adam(0.01), rng.normal(size=(5, 3))
    state, arrays = optimiser.init(model), flatten(model)[0]
    for _ in range(3):
        loss_and_model = {}

        def run(m, kept=loss_and_model):
            y, kept["model"] = m.train(x)
            return (y**2).mean()

        value, gradient = value_and_grad(run)(model)
        model, state = optimiser.update(model, gradient, state)
    assert all(now is was for now, was in zip(flatten(model)[0], arrays, strict=True))
    assert state["steps"] == 3
    assert np.isfinite(value)


def test_numbers_are_replaced_and_what_has_no_derivative_stays():
    model = {"a": 1.0, "n": 3, "z": 1 + 1j, "h": np.float32(2.0), "name": "x", "ids": np.array([1, 2]), "w": np.ones(2)}
    gradient = {"a": 2.0, "n": None, "z": 2 - 4j, "h": np.float32(4.0), "name": None, "ids": None, "w": np.ones(2)}
    ids, w = model["ids"], model["w"]
    optimiser = optim.SGD(0.5)
    state = optimiser.init(model)
    for _ in range(2):
        model, state = optimiser.update(model, gradient, state)
    assert (model["a"], model["n"], model["z"], model["h"], model["name"]) == (-1.0, 3, -1 - 3j, -2.0, "x")
    assert [type(model[key]) for key in "anzh"] == [float, int, complex, np.float32]
    assert model["ids"] is ids
    assert model["w"] is w
    assert ids.tolist() == [1, 2]
    assert w.tolist() == [0, 0]


def test_a_complex_parameter_goes_down_along_the_conjugate():
    model = {"z": np.array([3.0 - 4.0j])}
    optimiser = optim.SGD(0.25)
    gradient = grad(lambda m: (m["z"].real ** 2 + m["z"].imag ** 2).sum())(model)
    assert gradient["z"].tolist() == [6 + 8j]  # df/dx - i df/dy
    optimiser.update(model, gradient, optimiser.init(model))
    assert model["z"].tolist() == [1.5 - 2j]


def test_an_empty_model_is_one():
    state = optim.Adam().init({})
    assert optim.Adam().update({}, {}, state) == ({}, {"steps": 1, "sum": {}, "square_sum": {}})


def test_a_model_whose_arrays_were_exchanged_is_followed():
    optimiser, model = optim.SGD(1.0, momentum=0.5), {"w": np.array([1.0])}
    model, state = optimiser.update(model, {"w": np.array([1.0])}, optimiser.init(model))
    other = {"w": np.array([10.0])}
    new, _ = optimiser.update(other, {"w": np.array([1.0])}, state)
    assert new["w"] == 10 - 1.5
    assert model["w"] == 0
