"""Parameters, gradients and buffers by name, and models made of them."""

from __future__ import annotations

import dataclasses
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

from autograd import grad, nn
from autograd.containers import flatten

MODEL = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm(3), nn.relu, nn.Linear(3, 1, bias=False))
NAMES = ["layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias", "layers.3.weight"]

Pair = namedtuple("Pair", "left right")


@dataclasses.dataclass
class Both:
    encoder: Any
    decoder: Any


def test_named_parameters_are_the_arrays():
    named = nn.named_parameters(MODEL)
    assert list(named) == NAMES
    assert named["layers.3.weight"] is MODEL.layers[3].weight
    assert nn.count_parameters(MODEL) == 6 + 3 + 3 + 3 + 3


def test_names_of_any_container():
    model = {"a": [1.0, (2.0,)], "b c": Pair(nn.Linear(1, 1), 3.0), 4: Both(5.0, 6.0), 'q"': 7.0}
    assert nn.parameter_names(model) == [
        "a.0",
        "a.1.0",
        "b c.left.weight",
        "b c.left.bias",
        "b c.right",
        "4.encoder",
        "4.decoder",
        'q"',
    ]
    with pytest.raises(ValueError, match="two parameters have the name '1'"):
        nn.parameter_names({1: 1.0, "1": 2.0})


def test_named_gradients():
    x = np.random.default_rng(0).normal(size=(4, 2))
    g = grad(lambda model: (model.train(x)[0] ** 2).sum())(MODEL)
    thunks = nn.named_gradients(g)
    assert list(thunks) == NAMES
    for name, thunk in thunks.items():
        assert thunk() is nn.named_parameters(g)[name]
        assert thunk().shape == nn.named_parameters(MODEL)[name].shape


def test_with_parameters():
    values = {name: np.full(each.shape, 0.5) for name, each in nn.named_parameters(MODEL).items()}
    model = nn.with_parameters(MODEL, values)
    assert all(each is values[name] for name, each in nn.named_parameters(model).items())
    assert model.layers[1].running_mean is MODEL.layers[1].running_mean
    partly = nn.with_parameters(MODEL, {"layers.0.bias": [1, 2, 3]}, strict=False)
    np.testing.assert_array_equal(partly.layers[0].bias, [1.0, 2.0, 3.0])
    assert partly.layers[0].bias.dtype == np.float64
    assert partly.layers[3].weight is MODEL.layers[3].weight
    single = nn.with_parameters(nn.Linear(1, 1, bias=False, dtype=np.float32), {"weight": np.ones((1, 1))})
    assert single.weight.dtype == np.float32
    g = grad(lambda w: nn.with_parameters(nn.Linear(1, 1, bias=False), {"weight": w})(np.ones(1)).sum() ** 2)(
        np.full((1, 1), 3.0)
    )
    np.testing.assert_array_equal(g, [[6.0]])


@pytest.mark.parametrize(
    ("values", "error", "says"),
    [
        ({"weigth": 0}, ValueError, r"with_parameters: the model has no parameter 'weigth'\. Did you mean 'weight'\?"),
        ({"zzz": 0}, ValueError, r"no parameter 'zzz'\. Its parameters are \['weight', 'bias'\]"),
        ({"weight": np.ones((2, 1))}, ValueError, r"got no value for \['bias'\]; give every parameter, or pass strict=False"),
        ({"weight": np.ones(2), "bias": np.ones(1)}, ValueError, r"weight has shape \(2, 1\), got one of \(2,\)"),
        ({"weight": np.ones((2, 1)), "bias": np.array([1j])}, TypeError, "bias has dtype float64, got complex128"),
    ],
)
def test_what_does_not_fit(values, error, says):
    with pytest.raises(error, match=says):
        nn.with_parameters(nn.Linear(2, 1), values)


def test_buffers_in_any_container():
    norm = nn.BatchNorm(1)
    model = {"a": [norm, 3.0], "b": Both(Pair(nn.Sequential(nn.BatchNorm(2)), None), (nn.Linear(1, 1),))}
    names = ["a.0.running_mean", "a.0.running_var", "b.encoder.left.layers.0.running_mean", "b.encoder.left.layers.0.running_var"]
    assert list(nn.named_buffers(model)) == names
    new = {name: each + 1 for name, each in nn.named_buffers(model).items()}
    changed = nn.with_buffers(model, new)
    for name, each in nn.named_buffers(changed).items():
        np.testing.assert_array_equal(each, new[name])
    assert type(changed["b"].encoder) is Pair
    assert changed["b"].decoder is model["b"].decoder
    assert changed["a"][0].weight is norm.weight
    np.testing.assert_array_equal(norm.running_mean, 0)
    assert all(a is b for a, b in zip(flatten(changed)[0], flatten(model)[0], strict=True))
    assert nn.with_buffers(nn.relu, {}) is nn.relu


def test_buffers_that_do_not_fit():
    with pytest.raises(ValueError, match=r"with_buffers: the model has no buffer 'running_men'\. Did you mean 'running_mean'"):
        nn.with_buffers(nn.BatchNorm(2), {"running_men": 0})
    with pytest.raises(ValueError, match=r"got no value for \['running_var'\]"):
        nn.with_buffers(nn.BatchNorm(2), {"running_mean": np.zeros(2)})
    with pytest.raises(ValueError, match=r"running_mean has shape \(2,\), got one of \(3,\)"):
        nn.with_buffers(nn.BatchNorm(2), {"running_mean": np.zeros(3)}, strict=False)
    layer = nn.with_buffers(nn.BatchNorm(2, dtype=np.float32), {"running_mean": np.ones(2)}, strict=False)
    assert layer.running_mean.dtype == np.float32


def test_a_step_of_training_with_running_state():
    """The state found while a gradient is taken goes into the model with its own arrays."""
    from autograd import grad_and_aux

    x = np.random.default_rng(1).normal(size=(5, 2))

    def loss(model):
        y, trained = model.train(x)
        return (y**2).mean(), trained

    _, trained = grad_and_aux(loss)(MODEL)
    model = nn.with_buffers(MODEL, nn.named_buffers(trained))
    assert all(a is b for a, b in zip(flatten(model)[0], flatten(MODEL)[0], strict=True))
    h = x @ MODEL.layers[0].weight
    np.testing.assert_allclose(model.layers[1].running_mean, 0.1 * h.mean(axis=0), rtol=1e-12)
    assert type(model.layers[1].running_mean) is np.ndarray
