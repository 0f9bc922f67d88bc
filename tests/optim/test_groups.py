"""Optimisers by name patterns, frozen parameters, and clipped gradients."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from autograd import grad, nn, optim
from autograd.containers import flatten
from autograd.errors import InPlaceError, OptimiserError


def net():
    rng = np.random.default_rng(1)
    return nn.Sequential(nn.Linear(3, 4, seed=rng), nn.tanh, nn.Linear(4, 2, seed=rng))


def slope(model):
    return grad(lambda m: (m(np.ones((2, 3))) ** 2).sum() + (m.layers[0].weight ** 2).sum())(model)


def copies(model):
    return {name: each.copy() for name, each in nn.named_parameters(model).items()}


def test_the_first_pattern_that_fits_decides():
    model = net()
    optimiser = optim.groups({"layers.0.*": optim.SGD(0.5), "*.bias": optim.SGD(0.25), "*": optim.SGD(0.125)})
    before, gradient = copies(model), nn.named_parameters(slope(model))
    new, state = optimiser.update(model, slope(model), optimiser.init(model))
    assert new is model
    rates = {"layers.0.weight": 0.5, "layers.0.bias": 0.5, "layers.2.weight": 0.125, "layers.2.bias": 0.25}
    for name, each in nn.named_parameters(model).items():
        np.testing.assert_array_equal(each, before[name] - rates[name] * gradient[name])
    assert {pattern: each["steps"] for pattern, each in state.items()} == {"layers.0.*": 1, "*.bias": 1, "*": 1}


def test_each_part_goes_as_it_would_alone():
    model, alone = net(), net()
    optimiser = optim.groups({"*.bias": optim.Adam(0.1), "*": optim.SGD(0.01, momentum=0.9)})
    adam, sgd = optim.Adam(0.1), optim.SGD(0.01, momentum=0.9)
    state, adam_state, sgd_state = optimiser.init(model), adam.init(alone), sgd.init(alone)
    by_adam, by_sgd = copy.deepcopy(alone), copy.deepcopy(alone)
    for _ in range(3):
        gradient = slope(model)
        _, adam_state = adam.update(by_adam, gradient, adam_state)
        _, sgd_state = sgd.update(by_sgd, gradient, sgd_state)
        model, state = optimiser.update(model, gradient, state)
    for name, each in nn.named_parameters(model).items():
        np.testing.assert_array_equal(each, nn.named_parameters(by_adam if name.endswith("bias") else by_sgd)[name])


def test_states_of_groups_are_saved_and_go_on():
    optimiser = optim.groups({"*.bias": optim.Frozen(), "layers.0.*": optim.Adam(0.1), "*": optim.SGD(0.01, momentum=0.9)})

    def run(model, state, n):
        for _ in range(n):
            model, state = optimiser.update(model, slope(model), state)
        return model, state

    model = net()
    whole = run(model, optimiser.init(model), 4)
    model = net()
    model, state = run(model, optimiser.init(model), 2)
    leaves, structure = flatten(state)
    saved = structure.rebuild([np.copy(each) if isinstance(each, np.ndarray) else each for each in leaves])
    resumed = run(copy.deepcopy(model), saved, 2)
    for got, wanted in zip(flatten(resumed)[0], flatten(whole)[0], strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_numbers_among_the_parameters_of_groups():
    optimiser = optim.groups({"a": optim.SGD(0.5), "*": optim.SGD(0.25)})
    model = {"a": 1.0, "b": 1.0, "c": np.ones(1)}
    state = optimiser.init(model)
    for _ in range(2):
        model, state = optimiser.update(model, {"a": 1.0, "b": 1.0, "c": np.ones(1)}, state)
    assert (model["a"], model["b"], model["c"].tolist()) == (0.0, 0.5, [0.5])


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        (["*.bias"], r"no pattern of \['\*\.bias'\] fits \['layers\.0\.weight', 'layers\.2\.weight'\]"),
        (["*.bais", "*"], r"the pattern '\*\.bais' fits no parameter"),
        ([], "no patterns"),
    ],
)
def test_patterns_that_leave_something_are_refused(patterns, message):
    with pytest.raises(OptimiserError, match=message):
        optim.groups(dict.fromkeys(patterns, optim.SGD())).init(net())


def test_a_pattern_of_bias_fits_a_bias_at_the_top():
    optimiser = optim.groups({"*.bias": optim.SGD(0.0), "*": optim.SGD(1.0)})
    layer = nn.Linear(2, 1)
    bias = layer.bias.copy()
    optimiser.update(layer, grad(lambda m: m(np.ones(2)).sum())(layer), optimiser.init(layer))
    np.testing.assert_array_equal(layer.bias, bias)


def test_groups_of_something_else_are_refused():
    with pytest.raises(OptimiserError, match="expected a pattern and an optimiser"):
        optim.groups({"*": 0.1})
    optimiser, model = optim.groups({"*": optim.SGD()}), net()
    with pytest.raises(OptimiserError, match=r"expected one for each of \['\*'\]"):
        optimiser.update(model, slope(model), optim.SGD().init(model))
    with pytest.raises(OptimiserError, match="gradient is not that of this model"):
        optimiser.update(model, {"w": np.ones(2)}, optimiser.init(model))


def test_nothing_is_changed_if_a_later_member_would_refuse():
    optimiser, model = optim.groups({"a": optim.SGD(), "*": optim.SGD()}), {"a": np.ones(2), "b": np.ones(2)}
    state = optimiser.init(model)
    model["b"].setflags(write=False)
    with pytest.raises(InPlaceError, match="parameter b"):
        optimiser.update(model, {"a": np.ones(2), "b": np.ones(2)}, state)
    assert model["a"].tolist() == [1, 1]
    model["b"].setflags(write=True)
    with pytest.raises(OptimiserError, match="gradient of b has dtype complex128"):
        optimiser.update(model, {"a": np.ones(2), "b": np.ones(2) * 1j}, state)
    assert model["a"].tolist() == [1, 1]


# -------------------------------------------------------------------------------------------------- freezing


def test_frozen_parameters_stay_even_with_weight_decay_and_without_a_gradient():
    model = net()
    optimiser = optim.freeze(optim.AdamW(0.1), "layers.0.*")
    before = copies(model)
    state = optimiser.init(model)
    for _ in range(3):
        model, state = optimiser.update(model, slope(model), state)
    after = nn.named_parameters(model)
    changed = [name for name in after if not np.array_equal(after[name], before[name])]
    assert changed == ["layers.2.weight", "layers.2.bias"]
    named = {name: each for name, each in nn.named_parameters(slope(model)).items() if name.startswith("layers.2")}
    optimiser.update(model, named, state)
    assert state["*"]["steps"] == 4


def test_frozen_parameters_may_be_read_only():
    model = {"table": np.ones(3), "w": np.ones(1)}
    model["table"].setflags(write=False)
    optimiser = optim.freeze(optim.SGD(1.0), "table")
    optimiser.update(model, {"table": np.ones(3), "w": np.ones(1)}, optimiser.init(model))
    assert model["w"] == 0


@pytest.mark.parametrize("patterns", [(), ("*",), (3,)])
def test_freezing_nothing_or_everything_is_refused(patterns):
    with pytest.raises(OptimiserError, match="freeze: "):
        optim.freeze(optim.SGD(), *patterns)


def test_a_frozen_pattern_that_fits_nothing_is_refused():
    with pytest.raises(OptimiserError, match=r"'layers\.7\.\*' fits no parameter"):
        optim.freeze(optim.SGD(), "layers.7.*").init(net())


# -------------------------------------------------------------------------------------------------- clipped


def test_clipped_by_norm_and_by_value():
    model = {"w": np.zeros(2), "b": np.zeros(1)}
    gradient = {"w": np.array([3.0, 0.0]), "b": np.array([4.0])}
    optimiser = optim.clipped(optim.SGD(1.0), norm=2.5)
    optimiser.update(model, copy.deepcopy(gradient), optimiser.init(model))
    np.testing.assert_allclose([*model["w"], *model["b"]], [-1.5, 0, -2], rtol=1e-6)
    optimiser = optim.clipped(optim.SGD(1.0), value=1.0, norm=1.0)  # first to (1, 0, 1), then to length 1
    model = {"w": np.zeros(2), "b": np.zeros(1)}
    optimiser.update(model, {name: (lambda each=each: each) for name, each in gradient.items()}, optimiser.init(model))
    np.testing.assert_allclose([*model["w"], *model["b"]], [-(0.5**0.5), 0, -(0.5**0.5)], rtol=1e-5)


@pytest.mark.parametrize(("limits", "expected"), [({"norm": 2.0}, -1.0), ({"value": 0.5}, -0.5)])
def test_gradients_of_frozen_parameters_do_not_count_when_it_is_clipped(limits, expected):
    """The norm of what is trained is 1; with the 100 of what is not it would be clipped to 0.02."""
    model, gradient = {"w": np.zeros(1), "b": np.zeros(1)}, {"w": np.array([1.0]), "b": np.array([100.0])}
    optimiser = optim.clipped(optim.freeze(optim.SGD(1.0), "b"), **limits)
    state = optimiser.init(model)
    optimiser.update(model, gradient, state)
    assert (model["w"], model["b"], gradient["b"]) == (expected, 0.0, 100.0)
    optimiser.update(model, {"w": lambda: np.array([1.0]), "b": np.array([np.nan])}, state)
    assert model["w"] == 2 * expected


@pytest.mark.parametrize("limits", [{}, {"norm": 0}, {"value": -1.0}, {"norm": float("nan")}, {"norm": "1"}])
def test_limits_that_make_no_sense_are_refused(limits):
    with pytest.raises(OptimiserError, match="clipped: "):
        optim.clipped(optim.SGD(), **limits)
