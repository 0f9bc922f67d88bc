"""Activations against their formulas, at their kinks, and far out."""

from __future__ import annotations

import math
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograd import elementwise_grad, nn
from tests.nn.reference import assert_right, complex_step

with_scipy = find_spec("scipy") is not None
if with_scipy:
    import autograd.scipy.special  # noqa: F401  # declares operators when first imported: a test must not leave them behind

SELU = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


FORMULAS = {
    "relu": lambda x: np.where(x.real > 0, x, 0),
    "leaky_relu": lambda x: np.where(x.real > 0, x, 0.01 * x),
    "elu": lambda x: np.where(x.real > 0, x, np.exp(x) - 1),
    "selu": lambda x: SELU[0] * np.where(x.real > 0, x, SELU[1] * (np.exp(x) - 1)),
    "gelu": lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x * sigmoid(x),
    "mish": lambda x: x * np.tanh(np.log(1 + np.exp(x))),
    "tanh": np.tanh,
    "sigmoid": sigmoid,
    "log_sigmoid": lambda x: np.log(sigmoid(x)),
    "softplus": lambda x: np.log(1 + np.exp(x)),
    "softsign": lambda x: x / (1 + np.where(x.real > 0, x, -x)),
    "softmax": lambda x: np.exp(x) / np.sum(np.exp(x), axis=-1, keepdims=True),
    "log_softmax": lambda x: np.log(np.exp(x) / np.sum(np.exp(x), axis=-1, keepdims=True)),
}

X = np.random.default_rng(0).normal(size=(3, 4)) * 2


@pytest.mark.parametrize("name", FORMULAS)
def test_value_and_derivative(name):
    function, formula = getattr(nn, name), FORMULAS[name]
    np.testing.assert_allclose(function(X), formula(X), rtol=1e-10)
    weights = np.random.default_rng(1).normal(size=X.shape)
    slopes = complex_step(lambda x: formula(x), {"x": X}, weights)["x"]
    gradient = elementwise_grad(lambda x: weights * function(x))(X)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-10, atol=1e-12)
    single = X.astype(np.float32)
    assert function(single).dtype == elementwise_grad(function)(single).dtype == np.float32
    np.testing.assert_allclose(function(single), formula(X), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", FORMULAS)
def test_gradient_checker(name):
    assert_right(getattr(nn, name), X)


FAR = {  # value and derivative at -1e4 and 1e4, at 0
    "relu": (0, 1e4, 0), "leaky_relu": (-100, 1e4, 0.01), "elu": (-1, 1e4, 1), "silu": (0, 1e4, 0.5), "gelu": (0, 1e4, 0.5),
    "mish": (0, 1e4, 0.6), "tanh": (-1, 1, 1), "sigmoid": (0, 1, 0.25), "log_sigmoid": (-1e4, 0, 0.5), "softplus": (0, 1e4, 0.5),
    "softsign": (-1e4 / 10001, 1e4 / 10001, 1), "selu": (-SELU[0] * SELU[1], SELU[0] * 1e4, SELU[0] * SELU[1]),
}  # fmt: skip
SLOPES = {
    "leaky_relu": (0.01, 1), "relu": (0, 1), "elu": (0, 1), "silu": (0, 1), "gelu": (0, 1), "mish": (0, 1), "tanh": (0, 0),
    "sigmoid": (0, 0), "log_sigmoid": (1, 0), "softplus": (0, 1), "softsign": (10001.0**-2, 10001.0**-2), "selu": (0, SELU[0]),
}  # fmt: skip


@pytest.mark.parametrize("name", FAR)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_far_out_and_at_zero(name, dtype):
    below, above, slope_at_zero = FAR[name]
    function, x = getattr(nn, name), np.array([-1e4, 1e4, 0.0], dtype)
    rtol = 1e-12 if dtype is np.float64 else 1e-6
    np.testing.assert_allclose(function(x)[:2], [below, above], rtol=rtol, atol=1e-30)
    if name == "softsign":  # its derivative is a difference, 1 - |softsign(x)|, over 1 + |x|
        rtol *= 1e3
    np.testing.assert_allclose(elementwise_grad(function)(x), [*SLOPES[name], slope_at_zero], rtol=rtol, atol=1e-30)
    second = elementwise_grad(elementwise_grad(function))(x)
    assert np.isfinite(second).all()


def test_the_exact_gelu():
    if not with_scipy:
        pytest.skip("the exact form needs scipy")
    x = np.linspace(-6, 6, 13)
    expected = [each * 0.5 * math.erfc(-each / math.sqrt(2)) for each in x]
    np.testing.assert_allclose(nn.gelu(x, exact=True), expected, rtol=1e-13)
    density = np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
    slopes = [0.5 * math.erfc(-each / math.sqrt(2)) for each in x] + x * density
    np.testing.assert_allclose(elementwise_grad(lambda x: nn.gelu(x, exact=True))(x), slopes, rtol=1e-12)
    assert np.abs(nn.gelu(x) - expected).max() < 5e-4
    assert nn.gelu(x.astype(np.float32), exact=True).dtype == np.float32


@given(st.floats(-700, 700))
def test_identities(x):
    """Each follows from the definitions, whatever x is."""
    np.testing.assert_allclose(nn.log_sigmoid(x) - nn.log_sigmoid(-x), x, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(nn.silu(x) + nn.silu(-x), x * np.tanh(x / 2), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(nn.gelu(x) - nn.gelu(-x), x, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(nn.selu(x), SELU[0] * nn.elu(x, SELU[1]), rtol=1e-12)


@pytest.mark.parametrize(("name", "argument"), [("elu", 0.3), ("leaky_relu", 0.2)])
def test_their_settings(name, argument):
    at_minus_two = {"elu": 0.3 * (math.exp(-2) - 1), "leaky_relu": -0.4}[name]
    np.testing.assert_allclose(getattr(nn, name)(np.array([-2.0, 2.0]), argument), [at_minus_two, 2.0])
