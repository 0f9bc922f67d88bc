"""Modules as containers: what their leaves are, what is carried along, and that they cannot change."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograd import Tape, grad, hessian_vector_product, jacobian, nn, stop_gradient, value_and_grad
from autograd.containers import flatten


class Everything(nn.Module):
    """One attribute of each kind."""

    buffers = ("mean",)

    def __init__(self):
        self.scale = np.array([1.0, 2.0])
        self.size = 3
        self.eps = 1e-5
        self.labels = np.array([1, 2])
        self.mean = np.array([7.0])
        self.activation = np.tanh
        self.phase = np.array(1j)
        self.layers = [nn.Linear(1, 1, bias=False), np.sin, [np.float64(5.0), 6]]
        self.parts = {"b": np.zeros(1, np.float32), "note": "text", "a": (nn.Dropout(0.5), np.ones(1))}
        self.nothing = None
        self.numbers = [1, 2]
        self.rng = np.random.default_rng(0)


PATHS = [".scale", ".phase", ".layers[0].weight", ".layers[2][0]", ".parts['b']", ".parts['a'][1]"]
NAMES = ["scale", "phase", "layers.0.weight", "layers.2.0", "parts.b", "parts.a.1"]


class Chain(nn.Module):
    """Cacheable: no dict."""

    def __init__(self, *layers):
        self.layers = list(layers)

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class HalfMade(nn.Module):
    def __init__(self):
        self.itself = self


class Settable(nn.Module):
    def __init__(self, **attributes):
        for name, each in attributes.items():
            setattr(self, name, each)


@dataclasses.dataclass
class Affine(nn.Module):
    scale: np.ndarray
    shift: np.ndarray
    power: int = 2

    def __call__(self, x):
        return (x * self.scale + self.shift) ** self.power


@dataclasses.dataclass
class Plain:
    weight: np.ndarray


def test_the_leaves_of_every_kind_of_attribute():
    module = Everything()
    leaves, structure = flatten(module)
    assert structure.paths() == PATHS
    assert nn.parameter_names(module) == NAMES
    assert leaves[0] is module.scale
    assert leaves[2] is module.layers[0].weight
    assert leaves[3] == 5.0
    assert leaves[5] is module.parts["a"][1]
    assert type(module.layers) is tuple is type(module.layers[2])
    assert module.numbers == [1, 2]  # no parameters in it, so it is left alone


def test_what_is_no_parameter_is_carried_over():
    module = Everything()
    leaves, structure = flatten(module)
    rebuilt = structure.rebuild([10 * np.asarray(each) for each in leaves])
    assert type(rebuilt) is Everything
    for name in ("size", "eps", "labels", "mean", "activation", "nothing", "numbers", "rng"):
        assert getattr(rebuilt, name) is getattr(module, name), name
    assert rebuilt.layers[1] is np.sin
    assert (rebuilt.layers[2][1], rebuilt.parts["note"]) == (6, "text")
    np.testing.assert_array_equal(rebuilt.parts["a"][1], [10.0])
    np.testing.assert_array_equal(module.parts["a"][1], [1.0])
    assert list(rebuilt.parts) == list(module.parts)


@given(st.lists(st.integers(1, 3), min_size=0, max_size=4), st.booleans())
def test_round_trip(sizes, nested):
    layers = [nn.Linear(size, 2) for size in sizes]
    model = Chain(*layers, nn.Residual(Chain(*[nn.LayerNorm(2)] if nested else [])), nn.relu)
    leaves, structure = flatten(model)
    marks = [object() for _ in leaves]  # anything at all may stand for a leaf
    rebuilt = structure.rebuild(marks)
    again, same = flatten(rebuilt)
    assert again == marks
    assert same.paths("m") == structure.paths("m")
    assert nn.parameter_names(rebuilt) == nn.parameter_names(model)
    back = same.rebuild(leaves)
    assert all(a is b for a, b in zip(flatten(back)[0], leaves, strict=True))
    inside = flatten(rebuilt.layers)[0]  # a part of it is a container too
    assert [each for each in inside if not callable(each)] == marks


def test_grad_returns_the_structure():
    model = nn.Sequential(nn.Linear(2, 3), nn.tanh, nn.Linear(3, 1))
    x = np.ones((4, 2))
    value, g = value_and_grad(lambda model: (model(x) ** 2).sum())(model)
    assert type(g) is nn.Sequential
    assert g.layers[1] is nn.tanh
    assert [each.shape for each in flatten(g)[0]] == [(2, 3), (3,), (3, 1), (1,)]
    with Tape() as tape:
        watched = tape.watch(model)
        loss = (watched(x) ** 2).sum()
    sources = [data["name"] for _, data in sorted(tape.graph().nodes(data=True)) if data["kernel_name"] == "source"]
    assert sources == flatten(model)[1].paths()
    np.testing.assert_array_equal(tape.gradient(loss, watched).layers[0].weight, g.layers[0].weight)
    direction = flatten(model)[1].rebuild([np.ones(each.shape) for each in flatten(model)[0]])
    h = hessian_vector_product(lambda model: (model(x) ** 2).sum())(model, direction)
    assert h.layers[2].bias.shape == (1,)
    assert jacobian(lambda model: model(x))(model).layers[0].bias.shape == (4, 1, 3)
    assert type(stop_gradient(model)) is nn.Sequential
    assert float(value) > 0


def test_a_number_among_the_parameters():
    module = Settable(scale=np.float64(3.0), fixed=3.0, zero_axes=np.array(2.0))
    assert nn.parameter_names(module) == ["scale", "zero_axes"]
    g = grad(lambda m: m.scale**2 * m.zero_axes * m.fixed)(module)
    assert (g.scale, g.zero_axes, g.fixed) == (36.0, 27.0, 3.0)
    assert nn.parameter_names(g) == ["scale", "zero_axes"]


def test_inside_other_containers():
    model = {"first": nn.Linear(1, 1), "second": [nn.Linear(1, 1, bias=False)]}
    g = grad(lambda m: m["second"][0](m["first"](np.ones(1))).sum())(model)
    assert type(g["first"]) is nn.Linear
    assert nn.parameter_names(model) == ["first.weight", "first.bias", "second.0.weight"]


def test_a_dataclass_may_be_a_module():
    module = Affine(np.array([2.0]), np.array([1.0]))
    g = grad(lambda m: m(np.array([3.0])).sum())(module)
    np.testing.assert_array_equal((g.scale, g.shift, [g.power]), [[42.0], [14.0], [2]])
    with pytest.raises(AttributeError, match="cannot be changed"):
        module.scale = np.zeros(1)


# -------------------------------------------------------------------------------------------------- change


def test_a_module_cannot_be_changed():
    layer = nn.Linear(1, 1)
    for change in (lambda: setattr(layer, "weight", 0.0), lambda: setattr(layer, "more", 0.0), lambda: delattr(layer, "bias")):
        with pytest.raises(AttributeError, match=r"Linear\.\w+: a module cannot be changed .*replace\(module, "):
            change()
    g = grad(lambda layer: layer(np.ones(1)).sum())(layer)
    with pytest.raises(AttributeError, match="cannot be changed"):
        g.weight = 0.0


def test_writing_into_the_arrays_is_seen_everywhere():
    model = nn.Sequential(nn.Linear(1, 1, bias=False))
    flatten(model)[0][0][...] = 5.0
    assert model.layers[0].weight == 5.0 == model(np.ones(1))
    nn.named_parameters(model)["layers.0.weight"] -= 2.0
    assert model(np.ones(1)) == 3.0


def test_replace():
    layer = nn.Linear(2, 1)
    changed = nn.replace(layer, bias=None)
    assert nn.parameter_names(changed) == ["weight"]
    assert nn.parameter_names(layer) == ["weight", "bias"]
    assert changed.weight is layer.weight
    outer = nn.replace(nn.Sequential(layer), layers=[changed, nn.relu])
    assert nn.parameter_names(outer) == ["layers.0.weight"]
    with pytest.raises(TypeError, match=r"replace: Linear has no 'wieght'; its attributes are \['weight', 'bias'\]"):
        nn.replace(layer, wieght=1)
    if sys.version_info >= (3, 13):
        assert copy.replace(layer, bias=None).bias is None


def test_a_dict_that_changes_is_noticed():
    module = Everything()
    outer = Chain(module)
    flatten(outer)
    module.parts["b"] = np.array([9.0])  # another value for a parameter: seen, since it is looked up anew
    np.testing.assert_array_equal(flatten(outer)[0][4], [9.0])
    module.parts["note"] = np.ones(1)
    with pytest.raises(ValueError, match=r"Everything\.parts changed after the module was made: .*replace\(module"):
        flatten(outer)
    module.parts["note"] = "text"
    module.parts["c"] = 1
    with pytest.raises(
        ValueError, match=r"Everything\.parts changed after the module was made: its keys are \['b', 'note', 'a', 'c'\]"
    ):
        flatten(outer)
    del module.parts["c"], module.parts["a"]
    with pytest.raises(ValueError, match=r"Everything\.parts"):
        grad(lambda m: m.layers[0].scale.sum())(outer)


def test_one_array_at_two_places_is_refused():
    layer = nn.Linear(1, 1)
    with pytest.raises(ValueError, match=r"Sequential: layers\.0\.weight and layers\.1\.weight are one array.* copy it"):
        nn.Sequential(layer, layer)
    with pytest.raises(ValueError, match=r"layer\.weight and tied are one array"):
        Settable(layer=layer, tied=layer.weight)
    copied = copy.deepcopy(layer)
    nn.Sequential(layer, copied)
    copied.weight[...] = 7.0
    assert layer.weight != 7.0


def test_what_cannot_be_a_part():
    with pytest.raises(TypeError, match=r"Settable\.part is a Plain that holds parameters; expected them in a list, tuple, dict"):
        Settable(part=Plain(np.ones(1)))
    with pytest.raises(ValueError, match=r"HalfMade\.itself is a module that is not made yet"):
        HalfMade()
    with pytest.raises(ValueError, match=r"two parameters have the name 'parts\.1'"):
        Settable(parts={1: np.ones(1), "1": np.zeros(1)})
    with pytest.raises(NotImplementedError, match=r"Settable has no __call__; define"):
        Settable()(1.0)


# -------------------------------------------------------------------------------------------------- copies and text


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))], ids=["deepcopy", "pickle"])
def test_copies(copied):
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm(2), nn.Dropout(0.1))
    x = np.random.default_rng(0).normal(size=(3, 2))
    _, model = model.train(x, np.random.default_rng(0))
    twin = copied(model)
    np.testing.assert_array_equal(twin(x), model(x))
    assert nn.parameter_names(twin) == nn.parameter_names(model)
    for ours, theirs in zip(flatten(model)[0], flatten(twin)[0], strict=True):
        assert not np.shares_memory(ours, theirs)
    twin.layers[1].running_mean[...] = 50.0
    assert (model.layers[1].running_mean != 50.0).all()
    with pytest.raises(AttributeError, match="cannot be changed"):
        twin.layers = ()


def test_text():
    assert repr(nn.Linear(2, 3, dtype=np.float32)) == "Linear(weight=float32[2, 3], bias=float32[3])"
    assert repr(nn.MaxPool2d((2, 3))) == "MaxPool2d(kernel_size=(2, 3), stride=None, padding=0)"
    model = nn.Sequential(nn.Residual(nn.Linear(1, 1, bias=False)), nn.relu)
    assert repr(model).splitlines() == [
        "Sequential(",
        "  layers.0=Residual(",
        "    layer=Linear(weight=float64[1, 1], bias=None)",
        "    shortcut=None",
        "  )",
        "  layers.1=relu",
        ")",
    ]
    seen = []
    grad(lambda m: (seen.append(repr(m)), m(np.ones(1)).sum())[1])(model)
    assert seen == [repr(model)]
    assert repr(Settable(parts={"a": np.ones(2), "n": (1,)})) == "Settable(parts={'a': float64[2], 'n': (1,)})"


def test_the_default_train():
    layer = nn.Linear(2, 1)
    y, same = layer.train(np.ones(2))
    assert same is layer
    assert y == layer(np.ones(2))


def test_importing_autograd_does_not_load_it():
    code = "import sys, autograd; before = 'autograd.nn' in sys.modules; autograd.nn.Linear; print(before)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_everything_public_has_a_docstring_and_is_listed():
    for name in nn.__all__:
        assert getattr(nn, name).__doc__, name
    assert nn.__all__ == sorted(nn.__all__, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    mentioned = nn.__doc__
    assert all(f"``{name}``" in mentioned or name == "initialisers" for name in nn.__all__)
