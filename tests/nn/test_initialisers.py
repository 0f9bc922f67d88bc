"""Initial values: ranges and moments from the formulas, seeds, dtypes."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograd import nn
from autograd.nn import initialisers

SHAPES = {(40, 60): (40, 60), (30, 20, 3): (60, 90), (16, 8, 3, 5): (120, 240)}
"""Shape -> the fans that the documentation gives it."""

DEVIATIONS = {
    "glorot_uniform": lambda fan_in, fan_out: math.sqrt(2 / (fan_in + fan_out)),
    "glorot_normal": lambda fan_in, fan_out: math.sqrt(2 / (fan_in + fan_out)),
    "he_uniform": lambda fan_in, fan_out: math.sqrt(2 / fan_in),
    "he_normal": lambda fan_in, fan_out: math.sqrt(2 / fan_in),
    "lecun_normal": lambda fan_in, fan_out: math.sqrt(1 / fan_in),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", DEVIATIONS)
def test_moments_and_limits(name, shape):
    """The mean and variance of n numbers are within five standard errors of what they should be."""
    deviation = DEVIATIONS[name](*SHAPES[shape])
    drawn = getattr(initialisers, name)(shape, np.random.default_rng(3))
    assert drawn.shape == shape
    n = drawn.size
    assert abs(drawn.mean()) < 5 * deviation / math.sqrt(n)
    spread = 2 if "normal" in name else 4 / 5  # fourth moment of a standard one, less 1
    assert abs(drawn.var() / deviation**2 - 1) < 5 * math.sqrt(spread / n)
    if "uniform" in name:
        limit = math.sqrt(3) * deviation
        assert 0.99 * limit < np.abs(drawn).max() <= limit


def test_gain():
    rng = np.random.default_rng
    for name, usual in {"glorot_uniform": 1, "glorot_normal": 1, "he_uniform": math.sqrt(2), "he_normal": math.sqrt(2)}.items():
        function = getattr(initialisers, name)
        np.testing.assert_allclose(function((3, 4), rng(0), gain=5.0), function((3, 4), rng(0)) * 5 / usual)
    np.testing.assert_allclose(initialisers.normal((5,), rng(0), mean=2.0, std=3.0), 2 + 3 * rng(0).standard_normal(5))


@given(rows=st.integers(1, 6), columns=st.lists(st.integers(1, 4), min_size=1, max_size=2), seed=st.integers(0, 9))
def test_orthogonal(rows, columns, seed):
    q = initialisers.orthogonal((rows, *columns), np.random.default_rng(seed), gain=2.0)
    assert q.shape == (rows, *columns)
    flat = q.reshape(rows, -1)
    square = flat @ flat.T if rows <= flat.shape[1] else flat.T @ flat
    np.testing.assert_allclose(square, 4 * np.eye(len(square)), atol=1e-12)


def test_orthogonal_matrices_are_uniform():
    """Rotations and reflections come alike: of 1 x 1 half are -1, and determinants of 3 x 3 have mean 0."""
    rng = np.random.default_rng(0)
    ones = [initialisers.orthogonal((1, 1), rng).item() for _ in range(400)]
    assert abs(sum(ones)) < 5 * 20
    signs = [np.linalg.det(initialisers.orthogonal((3, 3), rng)) for _ in range(400)]
    np.testing.assert_allclose(np.abs(signs), 1)
    assert abs(sum(signs)) < 5 * 20


@pytest.mark.parametrize("limit", [0.1, 0.49, 0.5, 2.0])
def test_truncated_normal(limit):
    x = initialisers.truncated_normal((400, 250), np.random.default_rng(1), mean=5.0, std=3.0, limit=limit)
    z = (x - 5) / 3
    assert np.abs(z).max() <= limit
    assert np.abs(z).max() > 0.99 * limit
    density, inside = math.exp(-(limit**2) / 2) / math.sqrt(2 * math.pi), math.erf(limit / math.sqrt(2))
    variance = 1 - 2 * limit * density / inside  # of the standard normal distribution, cut on both sides
    assert abs(z.mean()) < 5 * math.sqrt(variance / z.size)
    spread = 0.9 if limit < 0.5 else 2  # fourth moment of a standard one, less 1: nearly that of a uniform one, or less than 2
    assert abs(z.var() / variance - 1) < 5 * math.sqrt(spread / z.size)


EACH = [
    "glorot_uniform",
    "glorot_normal",
    "he_uniform",
    "he_normal",
    "lecun_normal",
    "normal",
    "truncated_normal",
    "orthogonal",
    "zeros",
    "ones",
]


@pytest.mark.parametrize("name", EACH)
def test_seeds_and_dtypes(name):
    function = getattr(initialisers, name)
    one, other = (function((4, 3), np.random.default_rng(8), np.float32) for _ in range(2))
    assert one.dtype == np.float32
    assert one.flags.writeable
    assert one.flags.c_contiguous
    np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(one, function((4, 3), np.random.default_rng(8)), rtol=1e-6)


@pytest.mark.parametrize("name", ["glorot_uniform", "he_normal", "orthogonal", "normal"])
def test_complex(name):
    z = getattr(initialisers, name)((50, 50), np.random.default_rng(0), np.complex128)
    assert z.dtype == np.complex128
    assert 0.8 < z.real.var() / z.imag.var() < 1.25
    if name == "orthogonal":
        np.testing.assert_allclose(z @ z.conj().T, np.eye(50), atol=1e-12)
    if name == "normal":
        assert 0.9 < np.mean(np.abs(z) ** 2) < 1.1


def test_what_cannot_be_drawn():
    rng = np.random.default_rng(0)
    for function in (initialisers.glorot_uniform, initialisers.he_normal, initialisers.orthogonal):
        with pytest.raises(ValueError, match=r"got shape \(3,\), expected at least two axes"):
            function((3,), rng)
    with pytest.raises(TypeError, match="got dtype int64, expected one of floats"):
        initialisers.normal((3,), rng, np.int64)
    with pytest.raises(TypeError, match="truncated_normal: got dtype complex128"):
        initialisers.truncated_normal((3,), rng, complex)
    with pytest.raises(ValueError, match=r"truncated_normal: got limit=0, expected a positive"):
        initialisers.truncated_normal((3,), rng, limit=0)


LAYERS = {
    "Linear": lambda **k: nn.Linear(3, 2, **k), "Conv1d": lambda **k: nn.Conv1d(2, 2, 3, **k),
    "Conv2d": lambda **k: nn.Conv2d(2, 2, 3, **k), "ConvTranspose2d": lambda **k: nn.ConvTranspose2d(2, 4, 3, groups=2, **k),
    "Embedding": lambda **k: nn.Embedding(3, 2, **k), "RNN": lambda **k: nn.RNN(3, 2, **k), "GRU": lambda **k: nn.GRU(3, 2, **k),
    "LSTM": lambda **k: nn.LSTM(3, 2, **k), "MultiHeadAttention": lambda **k: nn.MultiHeadAttention(4, 2, **k),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_layers_take_a_seed_an_initialiser_and_a_dtype(name):
    make = LAYERS[name]
    same, again, other = (nn.named_parameters(make(seed=seed)) for seed in (1, 1, 2))
    np.testing.assert_equal(same, again)
    assert any(not np.array_equal(same[each], other[each]) for each in same)
    rng = np.random.default_rng(1)
    np.testing.assert_equal(nn.named_parameters(make(seed=rng)), same)
    following = nn.named_parameters(make(seed=rng))  # goes on from where the first one stopped
    assert any(not np.array_equal(same[each], following[each]) for each in same)
    single = nn.named_parameters(make(seed=1, dtype=np.float32))
    assert {each.dtype for each in single.values()} == {np.dtype(np.float32)}
    for each in same:
        np.testing.assert_allclose(single[each], same[each], rtol=1e-5, atol=1e-6)
    constant = nn.named_parameters(make(initialiser=partial(initialisers.normal, mean=4.0, std=0.0)))
    weights = [values for each, values in constant.items() if "weight" in each and "hidden" not in each]
    assert weights
    assert all((values == 4.0).all() for values in weights)


@pytest.mark.parametrize(
    "make", [lambda d: nn.BatchNorm(2, dtype=d), lambda d: nn.LayerNorm(2, dtype=d), lambda d: nn.GroupNorm(1, 2, dtype=d)]
)
def test_normalisations_start_as_the_identity(make):
    layer = make(np.float32)
    arrays = nn.named_parameters(layer) | nn.named_buffers(layer)
    assert {each.dtype for each in arrays.values()} == {np.dtype(np.float32)}
    np.testing.assert_array_equal(layer.weight, [1, 1])
    np.testing.assert_array_equal(layer.bias, [0, 0])
