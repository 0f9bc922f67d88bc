"""Layers against their formulas written out in NumPy: output, gradients in the input and every parameter, dtype."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograd import nn
from tests.nn.reference import assert_follows, assert_right, drawn


def pairs(value):
    return value if isinstance(value, tuple) else (value, value)


def windows(x, kernel, stride, padding, dilation=1, fill=0.0):
    """Every window of images ``(N, C, H, W)`` with its place, by loops over rows and columns."""
    (kh, kw), (sh, sw), (ph, pw), (dh, dw) = map(pairs, (kernel, stride, padding, dilation))
    padded = np.full((*x.shape[:2], x.shape[2] + 2 * ph, x.shape[3] + 2 * pw), fill, complex)
    padded[:, :, ph : ph + x.shape[2], pw : pw + x.shape[3]] = x
    for row, top in enumerate(range(0, padded.shape[2] - dh * (kh - 1), sh)):
        for column, left in enumerate(range(0, padded.shape[3] - dw * (kw - 1), sw)):
            yield (row, column), padded[:, :, top : top + dh * (kh - 1) + 1 : dh, left : left + dw * (kw - 1) + 1 : dw]


def arranged(found):
    rows, columns = (1 + max(place[axis] for place in found) for axis in (0, 1))
    return np.array([[found[row, column] for column in range(columns)] for row in range(rows)]).transpose(2, 3, 0, 1)


def conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    n_out, share = weight.shape[:2]
    found = {}
    for place, window in windows(x, weight.shape[2:], stride, padding, dilation):
        y = np.zeros((len(x), n_out), complex)
        for o in range(n_out):
            first = o // (n_out // groups) * share
            y[:, o] = sum(np.sum(window[:, first + c] * weight[o, c], axis=(1, 2)) for c in range(share))
        found[place] = y if bias is None else y + bias
    return arranged(found)


def conv1d(x, weight, bias, stride=1, padding=0, dilation=1, groups=1):
    y = conv2d(x[:, :, None], weight[:, :, None], bias, (1, stride), (0, padding), (1, dilation), groups)
    return y[:, :, 0]


def conv_transpose2d(x, weight, bias, stride=1, padding=0, output_padding=0, dilation=1, groups=1):
    """Each element of the image adds its multiple of the weight; then the edges are cut off."""
    (sh, sw), (ph, pw), (oh, ow), (dh, dw) = map(pairs, (stride, padding, output_padding, dilation))
    n_in, share, kh, kw = weight.shape
    size = [(x.shape[2] - 1) * sh + dh * (kh - 1) + 1 + oh, (x.shape[3] - 1) * sw + dw * (kw - 1) + 1 + ow]
    y = np.zeros((len(x), share * groups, *size), complex)
    for c, row, column, o, i, j in itertools.product(range(n_in), *map(range, x.shape[2:]), range(share), range(kh), range(kw)):
        channel = c // (n_in // groups) * share + o
        y[:, channel, row * sh + i * dh, column * sw + j * dw] += x[:, c, row, column] * weight[c, o, i, j]
    return y[:, :, ph : size[0] - ph, pw : size[1] - pw] + bias[:, None, None]


def max_pool2d(x, kernel, stride, padding=0):
    found = {}
    for place, window in windows(x, kernel, stride, padding, fill=-np.inf):
        flat = window.reshape(*window.shape[:2], -1)
        found[place] = np.take_along_axis(flat, flat.real.argmax(axis=2)[..., None], axis=2)[..., 0]
    return arranged(found)


def avg_pool2d(x, kernel, stride, padding=0, count_include_pad=True):
    inside = dict(windows(np.ones(x.shape), kernel, stride, padding))
    found = {}
    for place, window in windows(x, kernel, stride, padding):
        count = np.ones(1) * window[0, 0].size if count_include_pad else inside[place][0, 0].real.sum()
        found[place] = window.sum(axis=(2, 3)) / count
    return arranged(found)


def normalised(values, eps=1e-5):
    """A vector, less its mean, by its deviation."""
    mean = sum(values.ravel()) / values.size
    return (values - mean) / np.sqrt(sum((values.ravel() - mean) ** 2) / values.size + eps)


def batch_norm_training(x, weight, bias):
    y = np.zeros(x.shape, complex)
    for c in range(x.shape[1]):
        y[:, c] = normalised(x[:, c]) * weight[c] + bias[c]
    return y


def batch_norm_in_use(x, weight, bias):
    y = np.zeros(x.shape, complex)
    for c, (mean, var) in enumerate(zip(RUNNING_MEAN, RUNNING_VAR, strict=True)):
        y[:, c] = (x[:, c] - mean) / np.sqrt(var + 1e-5) * weight[c] + bias[c]
    return y


def layer_norm(x, weight, bias):
    return np.array([normalised(each) * weight + bias for each in x])


def group_norm(x, weight, bias):
    y = np.zeros(x.shape, complex)
    for n, first in itertools.product(range(len(x)), range(0, 6, 3)):  # two groups of three channels
        y[n, first : first + 3] = normalised(x[n, first : first + 3])
    ones = (1,) * (x.ndim - 2)
    return y * weight.reshape(-1, *ones) + bias.reshape(-1, *ones)


RUNNING_MEAN, RUNNING_VAR = np.array([0.5, -1.0, 2.0]), np.array([0.3, 2.0, 1.5])


@dataclass(frozen=True)
class Row:
    """A layer, the shape of an input, and the formula."""

    name: str
    make: Callable[[], Any]
    shape: tuple[int, ...]
    formula: Callable[..., Any]
    call: Callable[..., Any] = field(default=lambda layer, x: layer(x))


def with_settings(formula, **settings):
    return lambda **values: formula(**values, **settings)


def _conv_rows():
    images = {
        "plain": {}, "strides": {"stride": (2, 3), "padding": (1, 2)}, "dilation": {"dilation": (1, 2)},
        "groups": {"groups": 2, "stride": 2}, "one channel a group": {"groups": 4},
    }  # fmt: skip
    for name, settings in images.items():

        def make(settings=settings):
            return nn.Conv2d(4, 4, (3, 2), **settings)

        yield Row(f"Conv2d {name}", make, (2, 4, 5, 6), with_settings(conv2d, **settings))
    same = with_settings(conv2d, padding=1)
    yield Row("Conv2d same", lambda: nn.Conv2d(2, 3, 3, padding="same"), (1, 2, 4, 3), same)
    yield Row("Conv2d no bias", lambda: nn.Conv2d(2, 3, 2, bias=False), (1, 2, 3, 3), conv2d)
    for name, settings in {"plain": {}, "all": {"stride": 2, "padding": 2, "dilation": 2, "groups": 2}}.items():

        def make(settings=settings):
            return nn.Conv1d(4, 6, 3, **settings)

        yield Row(f"Conv1d {name}", make, (2, 4, 7), with_settings(conv1d, **settings))
    transposed = {
        "plain": {}, "strides": {"stride": (2, 3), "padding": 1, "output_padding": (1, 2)}, "dilation": {"dilation": 2},
        "groups": {"groups": 2, "stride": 2},
    }  # fmt: skip
    for name, settings in transposed.items():

        def make(settings=settings):
            return nn.ConvTranspose2d(4, 2, (3, 2), **settings)

        yield Row(f"ConvTranspose2d {name}", make, (2, 4, 3, 2), with_settings(conv_transpose2d, **settings))


def linear(x, weight, bias=0.0):
    y = np.zeros((*x.shape[:-1], weight.shape[1]), complex)
    for i in range(weight.shape[0]):
        y += x[..., i, None] * weight[i]
    return y + bias


ROWS = [
    Row("Linear", lambda: nn.Linear(3, 2), (4, 3), linear),
    Row("Linear vector", lambda: nn.Linear(3, 2), (3,), linear),
    Row("Linear stack", lambda: nn.Linear(3, 1, bias=False), (2, 4, 3), linear),
    *_conv_rows(),
    Row("MaxPool2d", lambda: nn.MaxPool2d(2), (2, 2, 4, 5), lambda x: max_pool2d(x, 2, 2)),
    Row("MaxPool2d meeting", lambda: nn.MaxPool2d((3, 2), 1, padding=1), (1, 2, 4, 3), lambda x: max_pool2d(x, (3, 2), 1, 1)),
    Row("AvgPool2d", lambda: nn.AvgPool2d((2, 3), 1), (2, 2, 4, 5), lambda x: avg_pool2d(x, (2, 3), 1)),
    Row("AvgPool2d padded", lambda: nn.AvgPool2d(2, padding=1), (1, 2, 4, 4), lambda x: avg_pool2d(x, 2, 2, 1)),
    Row(
        "AvgPool2d inside", lambda: nn.AvgPool2d(2, padding=1, count_include_pad=False), (1, 2, 4, 4),
        lambda x: avg_pool2d(x, 2, 2, 1, False),
    ),
    Row(
        "MaxPool1d", lambda: nn.MaxPool1d(3, 2, padding=1), (2, 2, 7),
        lambda x: max_pool2d(x[:, :, None], (1, 3), (1, 2), (0, 1))[:, :, 0],
    ),
    Row("AvgPool1d", lambda: nn.AvgPool1d(3), (2, 2, 7), lambda x: avg_pool2d(x[:, :, None], (1, 3), (1, 3))[:, :, 0]),
    Row("global_avg_pool", lambda: nn.Sequential(nn.global_avg_pool), (2, 3, 2, 4), lambda x: x.sum((2, 3)) / 8),
    Row("BatchNorm training", lambda: nn.BatchNorm(3), (4, 3), batch_norm_training, lambda layer, x: layer.train(x)[0]),
    Row("BatchNorm images", lambda: nn.BatchNorm(3), (1, 3, 2, 2), batch_norm_training, lambda layer, x: layer.train(x)[0]),
    Row(
        "BatchNorm in use", lambda: nn.replace(nn.BatchNorm(3), running_mean=RUNNING_MEAN, running_var=RUNNING_VAR),
        (2, 3, 2), batch_norm_in_use,
    ),
    Row(
        "BatchNorm plain", lambda: nn.BatchNorm(2, affine=False), (3, 2),
        lambda x: batch_norm_training(x, np.ones(2), np.zeros(2)), lambda layer, x: layer.train(x)[0],
    ),
    Row("LayerNorm", lambda: nn.LayerNorm(5), (3, 5), layer_norm),
    Row("LayerNorm two axes", lambda: nn.LayerNorm((2, 3)), (2, 2, 3), layer_norm),
    Row("LayerNorm plain", lambda: nn.LayerNorm(4, affine=False), (2, 4), lambda x: layer_norm(x, 1.0, 0.0)),
    Row("GroupNorm", lambda: nn.GroupNorm(2, 6), (2, 6, 2), group_norm),
    Row("GroupNorm rows", lambda: nn.GroupNorm(2, 6), (2, 6), group_norm),
    Row(
        "Residual", lambda: nn.Residual(nn.Linear(2, 2)), (3, 2),
        lambda x, layer_weight, layer_bias: x + linear(x, layer_weight, layer_bias),
    ),
    Row(
        "Sequential", lambda: nn.Sequential(nn.flatten, nn.Linear(4, 2), nn.tanh), (2, 2, 2),
        lambda x, layers_1_weight, layers_1_bias: np.tanh(linear(x.reshape(len(x), 4), layers_1_weight, layers_1_bias)),
    ),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_output_and_gradients(row):
    layer = drawn(row.make(), 1)
    x = np.random.default_rng(2).normal(size=row.shape)
    assert_follows(layer, x, row.formula, row.call)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_gradient_checker(row):
    layer = drawn(row.make(), 3)
    x = np.random.default_rng(4).normal(size=row.shape)
    order = 1 if "Pool" in row.name or "Conv" in row.name else 2
    assert_right(row.call, layer, x, order=order)


# -------------------------------------------------------------------------------------------------- shapes and batches


@given(batch=st.integers(1, 4), n_in=st.integers(1, 4), n_out=st.integers(1, 4), seed=st.integers(0, 99))
def test_linear_of_any_shape(batch, n_in, n_out, seed):
    layer = drawn(nn.Linear(n_in, n_out), seed)
    x = np.random.default_rng(seed).normal(size=(batch, n_in))
    np.testing.assert_allclose(layer(x), linear(x, layer.weight, layer.bias).real, rtol=1e-12, atol=1e-12)


@given(data=st.data())
def test_convolutions_of_any_shape(data):
    groups = data.draw(st.integers(1, 2))
    shares_in, shares_out, batch = (data.draw(st.integers(1, most)) for most in (2, 2, 3))
    n_in, n_out = groups * shares_in, groups * shares_out
    kernel = data.draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    stride, padding, dilation = (data.draw(st.integers(least, most)) for least, most in ((1, 3), (0, 2), (1, 2)))
    settings = {"stride": stride, "padding": padding, "dilation": dilation}
    size = [dilation * (k - 1) + 1 + data.draw(st.integers(0, 3)) for k in kernel]
    x = np.random.default_rng(0).normal(size=(batch, n_in, *size))
    layer = drawn(nn.Conv2d(n_in, n_out, kernel, groups=groups, **settings), 1)
    expected = conv2d(x, layer.weight, layer.bias, groups=groups, **settings).real
    np.testing.assert_allclose(layer(x), expected, rtol=1e-10, atol=1e-12)
    single = layer(x[0])
    np.testing.assert_allclose(single, expected[0], rtol=1e-10, atol=1e-12)

    back = nn.ConvTranspose2d(n_out, n_in, kernel, groups=groups, **settings)
    back = nn.replace(back, weight=layer.weight)
    sizes = zip(expected.shape[2:], kernel, strict=True)
    if all((n - 1) * stride - 2 * padding + dilation * (k - 1) + 1 > 0 for n, k in sizes):
        image = back(expected)  # the transpose: <y, conv u> = <transposed y, u>
        u = np.random.default_rng(3).normal(size=image.shape)
        left = np.sum(expected * (layer(u) - layer.bias[:, None, None]))
        np.testing.assert_allclose(left, np.sum(u * image), rtol=1e-9, atol=1e-9)


@given(batch=st.integers(1, 3), places=st.integers(1, 3), groups=st.integers(1, 3), share=st.integers(1, 3))
def test_normalisation_of_any_shape(batch, places, groups, share):
    """After it each group has mean 0, and variance ``v / (v + eps)``."""
    x = np.random.default_rng(batch).normal(size=(batch, groups * share, places)) * 3 + 7
    y = nn.GroupNorm(groups, groups * share, eps=0.5)(x).reshape(batch, groups, -1)
    var = x.reshape(batch, groups, -1).var(axis=2)
    np.testing.assert_allclose(y.mean(axis=2), 0, atol=1e-12)
    np.testing.assert_allclose(y.var(axis=2), var / (var + 0.5), rtol=1e-10, atol=1e-12)
    if batch * places > 1:
        y = nn.BatchNorm(groups * share, eps=0.5).train(x)[0]
        var = x.var(axis=(0, 2))
        np.testing.assert_allclose(y.mean(axis=(0, 2)), 0, atol=1e-12)
        np.testing.assert_allclose(y.var(axis=(0, 2)), var / (var + 0.5), rtol=1e-10, atol=1e-12)


def test_embedding():
    layer = nn.Embedding(4, 2)
    y, gradient = nn.named_parameters(layer)["weight"][[[3, 0], [3, 3]]], np.zeros((4, 2))
    np.testing.assert_array_equal(layer(np.array([[3, 0], [3, 3]])), y)
    gradient[0], gradient[3] = 1, 3  # as often as each was asked for
    from autograd import grad

    np.testing.assert_array_equal(grad(lambda layer: layer([[3, 0], [3, 3]]).sum())(layer).weight, gradient)
    assert layer(np.zeros((0, 2), int)).shape == (0, 2, 2)
    assert_right(lambda layer: layer([1, 1, 2]) ** 2, layer)


# -------------------------------------------------------------------------------------------------- running state


def test_running_statistics_by_hand():
    layer = nn.BatchNorm(2, momentum=0.25)
    x = np.array([[1.0, 10.0], [3.0, 10.0], [5.0, 40.0]])
    _, first = layer.train(x)  # means 3 and 20; unbiased variances 4 and 300
    np.testing.assert_allclose(first.running_mean, [0.75, 5.0])
    np.testing.assert_allclose(first.running_var, [0.75 + 1.0, 0.75 + 75.0])
    _, second = first.train(x)
    np.testing.assert_allclose(second.running_mean, [0.75 * 0.75 + 0.75, 0.75 * 5 + 5])
    np.testing.assert_array_equal(layer.running_mean, 0)  # the layer itself is as it was
    assert second.weight is layer.weight


def test_running_statistics_stay_in_their_dtype_and_are_constants():
    from autograd import grad_and_aux

    layer = nn.BatchNorm(2, dtype=np.float32)
    x = np.arange(6.0, dtype=np.float32).reshape(3, 2)

    def loss(x):
        y, after = layer.train(x)
        return (y**2).sum(), after

    _, after = grad_and_aux(loss)(x)
    assert type(after.running_mean) is np.ndarray
    assert after.running_mean.dtype == after.running_var.dtype == np.float32
    assert layer.train(x.astype(np.float64))[1].running_var.dtype == np.float32


def test_far_from_zero_the_variance_keeps_its_digits():
    x = np.array([[1e8 + 1.0], [1e8 + 3.0]])  # the mean of squares less the square of the mean would be 0
    np.testing.assert_allclose(nn.BatchNorm(1, eps=0.0).train(x)[0], [[-1], [1]], rtol=1e-7)
    np.testing.assert_allclose(nn.LayerNorm(2, eps=0.0)(x.T), [[-1, 1]], rtol=1e-7)


# -------------------------------------------------------------------------------------------------- dropout


def test_dropout():
    layer, x = nn.Dropout(0.25), np.arange(1.0, 10001.0)
    y, same = layer.train(x, np.random.default_rng(0))
    assert same is layer
    kept = y != 0
    np.testing.assert_allclose(y[kept], x[kept] / 0.75)
    assert 0.73 < kept.mean() < 0.77  # four standard deviations
    again, _ = layer.train(x, np.random.default_rng(0))
    np.testing.assert_array_equal(y, again)
    assert layer(x) is x
    assert layer.train(x.astype(np.float32), np.random.default_rng(0))[0].dtype == np.float32
    np.testing.assert_array_equal(nn.Dropout(1.0).train(x, np.random.default_rng(0))[0], 0)
    assert nn.Dropout(0.0).train(x)[0] is x
    assert set(layer.train(np.ones(50, int), np.random.default_rng(0))[0]) == {0, 1 / 0.75}


def test_dropout_draws_the_same_in_every_run_of_the_checker():
    model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 1))
    assert_right(lambda model, x, rng: model.train(x, rng)[0], model, np.ones((2, 3)), np.random.default_rng(1))


def test_training_passes_through_containers_of_layers():
    inner = nn.Residual(nn.Sequential(nn.BatchNorm(2), nn.Dropout(0.5)), nn.BatchNorm(2))
    model = nn.Sequential(nn.Linear(2, 2), inner, nn.tanh)
    x = np.random.default_rng(0).normal(size=(4, 2))
    y, after = model.train(x, np.random.default_rng(5))
    h = linear(x, model.layers[0].weight, model.layers[0].bias).real
    batch = batch_norm_training(h, np.ones(2), np.zeros(2)).real
    kept = np.random.default_rng(5).random((4, 2)) >= 0.5
    np.testing.assert_allclose(y, np.tanh(batch + batch * kept / 0.5), rtol=1e-10)
    running = nn.named_buffers(after)
    assert list(running) == [
        f"layers.1.{part}.{name}" for part in ("layer.layers.0", "shortcut") for name in ("running_mean", "running_var")
    ]
    np.testing.assert_allclose(running["layers.1.shortcut.running_mean"], 0.1 * h.mean(axis=0), rtol=1e-10)
    np.testing.assert_allclose(running["layers.1.layer.layers.0.running_var"], 0.9 + 0.1 * h.var(axis=0, ddof=1), rtol=1e-10)
    plain = nn.Sequential(nn.Linear(2, 2), nn.Residual(np.tanh))
    assert plain.train(x)[1] is plain
