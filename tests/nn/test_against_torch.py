"""Layers and losses against PyTorch, where it is installed: outputs and all gradients agree to 1e-10 in double precision."""

from __future__ import annotations

import numpy as np
import pytest

from autograd import nn, vjp
from tests.nn.reference import drawn, value_and_gradients

torch = pytest.importorskip("torch")
F = torch.nn.functional

RNG = np.random.default_rng(7)
IMAGES, ROWS, SEQUENCES = RNG.normal(size=(2, 4, 7, 6)), RNG.normal(size=(5, 4)), RNG.normal(size=(3, 5, 4))


def as_torch(array, **options):
    return torch.tensor(np.array(array), dtype=torch.float64, **options)


def transposed(array):
    return np.array(array).T


def same(array):
    return np.array(array)


def assert_same(ours, theirs, x, layer=None, their_layer=None, arrays=()):
    """``arrays``: our name, theirs, and how one becomes the other (both ways)."""
    if layer is not None:
        their_layer.double()
        parameters = nn.named_parameters(layer)
        assert sorted(parameters) == sorted(name for name, _, _ in arrays)
        with torch.no_grad():
            for name, other, change in arrays:
                getattr(their_layer, other).copy_(as_torch(change(parameters[name])))
    their_x = as_torch(x, requires_grad=True)
    their_y = theirs(their_x)
    dy = np.random.default_rng(0).normal(size=tuple(their_y.shape))
    their_y.backward(as_torch(dy))
    if layer is None:
        y, pull_back = vjp(ours, x)
        gradients = {"x": pull_back(dy)[0]}
    else:
        y, gradients = value_and_gradients(ours, layer, x, dy)
    np.testing.assert_allclose(y, their_y.detach().numpy(), rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(gradients["x"], their_x.grad.numpy(), rtol=1e-10, atol=1e-11)
    for name, other, change in arrays:
        g = getattr(their_layer, other).grad.numpy()
        np.testing.assert_allclose(gradients[name], change(g), rtol=1e-10, atol=1e-11, err_msg=name)


WEIGHT, BIAS = ("weight", "weight", same), ("bias", "bias", same)

LAYERS = {
    "Linear": (nn.Linear(4, 3), torch.nn.Linear(4, 3), SEQUENCES, [("weight", "weight", transposed), BIAS]),
    "Conv2d": (nn.Conv2d(4, 6, (3, 2)), torch.nn.Conv2d(4, 6, (3, 2)), IMAGES, [WEIGHT, BIAS]),
    "Conv2d all": (
        nn.Conv2d(4, 6, 3, stride=2, padding=(2, 1), dilation=2, groups=2),
        torch.nn.Conv2d(4, 6, 3, stride=2, padding=(2, 1), dilation=2, groups=2), IMAGES, [WEIGHT, BIAS],
    ),
    "Conv2d same": (nn.Conv2d(4, 2, 3, padding="same"), torch.nn.Conv2d(4, 2, 3, padding="same"), IMAGES, [WEIGHT, BIAS]),
    "Conv1d": (
        nn.Conv1d(4, 6, 3, stride=2, padding=1, groups=2), torch.nn.Conv1d(4, 6, 3, stride=2, padding=1, groups=2),
        IMAGES[..., 0], [WEIGHT, BIAS],
    ),
    "ConvTranspose2d": (
        nn.ConvTranspose2d(4, 6, 3, stride=(3, 2), padding=1, output_padding=(2, 1), groups=2),
        torch.nn.ConvTranspose2d(4, 6, 3, stride=(3, 2), padding=1, output_padding=(2, 1), groups=2), IMAGES, [WEIGHT, BIAS],
    ),
    "MaxPool2d": (nn.MaxPool2d((3, 2), 2, padding=1), torch.nn.MaxPool2d((3, 2), 2, padding=1), IMAGES, []),
    "AvgPool2d": (nn.AvgPool2d((3, 2), 2, padding=1), torch.nn.AvgPool2d((3, 2), 2, padding=1), IMAGES, []),
    "MaxPool1d": (nn.MaxPool1d(3, 2, padding=1), torch.nn.MaxPool1d(3, 2, padding=1), IMAGES[0], []),
    "AvgPool1d": (nn.AvgPool1d(3), torch.nn.AvgPool1d(3), IMAGES[0], []),
    "LayerNorm": (nn.LayerNorm((7, 6)), torch.nn.LayerNorm((7, 6)), IMAGES, [WEIGHT, BIAS]),
    "GroupNorm": (nn.GroupNorm(2, 4), torch.nn.GroupNorm(2, 4), IMAGES, [WEIGHT, BIAS]),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name):
    layer, theirs, x, arrays = LAYERS[name]
    assert_same(lambda layer, x: layer(x), theirs, x, drawn(layer, 1), theirs, arrays)


@pytest.mark.parametrize("x", [ROWS, IMAGES, IMAGES[:1]], ids=["rows", "images", "one image"])
def test_batch_norm(x):
    layer = drawn(nn.BatchNorm(4), 1)
    theirs = (torch.nn.BatchNorm1d if x.ndim == 2 else torch.nn.BatchNorm2d)(4)
    assert_same(lambda layer, x: layer.train(x)[0], theirs, x, layer, theirs, [WEIGHT, BIAS])
    for n in range(2):
        layer = layer.train(x + n)[1]
        if n:
            theirs(as_torch(x + n))
        np.testing.assert_allclose(layer.running_mean, theirs.running_mean.numpy(), rtol=1e-12)
        np.testing.assert_allclose(layer.running_var, theirs.running_var.numpy(), rtol=1e-12)
    theirs.eval()
    theirs.zero_grad()
    assert_same(lambda layer, x: layer(x), theirs, x, layer, theirs, [WEIGHT, BIAS])


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_recurrent_layers(kind):
    n = 3
    layer, theirs = drawn(getattr(nn, kind)(4, n), 2), getattr(torch.nn, kind)(4, n, batch_first=True).double()
    with torch.no_grad():
        theirs.bias_hh_l0.zero_()
    arrays = [
        ("cell.weight_input", "weight_ih_l0", transposed), ("cell.weight_hidden", "weight_hh_l0", transposed),
        ("cell.bias", "bias_ih_l0", same),
    ]  # fmt: skip
    if kind == "GRU":  # theirs has a second bias for each of the three; the last one alone is not the same as the first

        def last(array):
            return array[2 * n :] if len(array) > n else np.concatenate([np.zeros(2 * n), array])

        arrays.append(("cell.bias_hidden", "bias_hh_l0", last))
    assert_same(lambda layer, x: layer(x), lambda x: theirs(x)[0], SEQUENCES, layer, theirs, arrays)


MASK = np.tri(5, dtype=bool)
PADDING = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1], [1, 0, 0, 0, 0]], bool)
ADDED = RNG.normal(size=(5, 5))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({}, {}),
        ({"causal": True}, {"attn_mask": torch.tensor(~MASK)}),
        ({"mask": PADDING[:, None, None]}, {"key_padding_mask": torch.tensor(~PADDING)}),
        ({"mask": ADDED}, {"attn_mask": as_torch(ADDED)}),
    ],
    ids=["plain", "causal", "padding", "added"],
)
def test_attention(ours, theirs):
    layer, their_layer = drawn(nn.MultiHeadAttention(4, 2), 3), torch.nn.MultiheadAttention(4, 2, batch_first=True).double()
    parts = ("query", "key", "value")
    with torch.no_grad():
        their_layer.in_proj_weight.copy_(as_torch(np.concatenate([getattr(layer, f"weight_{each}").T for each in parts])))
        their_layer.in_proj_bias.copy_(as_torch(np.concatenate([getattr(layer, f"bias_{each}") for each in parts])))
        their_layer.out_proj.weight.copy_(as_torch(layer.weight_output.T))
        their_layer.out_proj.bias.copy_(as_torch(layer.bias_output))
    x = as_torch(SEQUENCES, requires_grad=True)
    y = their_layer(x, x, x, need_weights=False, **theirs)[0]
    dy = np.random.default_rng(0).normal(size=tuple(y.shape))
    y.backward(as_torch(dy))
    value, g = value_and_gradients(lambda layer, x: layer(x, **ours), layer, SEQUENCES, dy)
    np.testing.assert_allclose(value, y.detach().numpy(), rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(g["x"], x.grad.numpy(), rtol=1e-10, atol=1e-11)
    weights = np.concatenate([g[f"weight_{each}"].T for each in parts])
    np.testing.assert_allclose(weights, their_layer.in_proj_weight.grad.numpy(), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(g["weight_output"], their_layer.out_proj.weight.grad.numpy().T, rtol=1e-10, atol=1e-10)


P, Q = RNG.normal(size=(4, 3)), RNG.random((4, 3))
SOFT, WEIGHTS = Q / Q.sum(axis=1, keepdims=True), RNG.random(3) + 0.5
LABELS, IGNORED = np.array([0, 2, 1, 2]), np.array([0, -100, 1, 2])


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weights"])
@pytest.mark.parametrize("labels", [LABELS, IGNORED, SOFT], ids=["labels", "ignored", "probabilities"])
def test_cross_entropy(labels, weights, smoothing, reduction):
    ignored = {"ignore_index": -100} if labels is IGNORED else {}
    settings = {"label_smoothing": smoothing, "reduction": reduction}
    their_weights = None if weights is None else as_torch(weights)
    assert_same(
        lambda p: nn.cross_entropy(p, labels, weights=weights, **settings, **ignored),
        lambda p: F.cross_entropy(p, torch.tensor(labels), their_weights, **settings), P,
    )  # fmt: skip


LOSSES = {
    "mse": (lambda p, r: nn.mse(p, Q, reduction=r), lambda p, r: F.mse_loss(p, as_torch(Q), reduction=r)),
    "mae": (lambda p, r: nn.mae(p, Q, reduction=r), lambda p, r: F.l1_loss(p, as_torch(Q), reduction=r)),
    "huber": (
        lambda p, r: nn.huber(p, Q, delta=0.7, reduction=r), lambda p, r: F.huber_loss(p, as_torch(Q), delta=0.7, reduction=r),
    ),
    "bce": (
        lambda p, r: nn.binary_cross_entropy_with_logits(p, Q, weights=SOFT, pos_weight=WEIGHTS, reduction=r),
        lambda p, r: F.binary_cross_entropy_with_logits(
            p, as_torch(Q), as_torch(SOFT), pos_weight=as_torch(WEIGHTS), reduction=r,
        ),
    ),
    "kl": (
        lambda p, r: nn.kl_divergence(nn.log_softmax(p), SOFT, reduction=r if r == "mean" else "sum"),
        lambda p, r: F.kl_div(F.log_softmax(p, -1), as_torch(SOFT), reduction="batchmean" if r == "mean" else "sum"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", LOSSES)
def test_losses(name, reduction):
    ours, theirs = LOSSES[name]
    assert_same(lambda p: ours(p, reduction), lambda p: theirs(p, reduction), P)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_ctc(reduction):
    logits, labels = RNG.normal(size=(3, 7, 5)), np.array([[1, 1, 2], [3, 4, 0], [2, 0, 0]])
    counts, frames = np.array([3, 2, 0]), np.array([7, 5, 3])
    given = [torch.tensor(each) for each in (labels, frames, counts)]
    assert_same(
        lambda z: nn.ctc(z, labels, logit_lengths=frames, label_lengths=counts, reduction=reduction),
        lambda z: F.ctc_loss(F.log_softmax(z, -1).transpose(0, 1), *given, reduction=reduction), logits,
    )  # fmt: skip


ACTIVATIONS = {
    "elu": F.elu, "gelu": lambda x: F.gelu(x, approximate="tanh"), "leaky_relu": F.leaky_relu, "log_sigmoid": F.logsigmoid,
    "log_softmax": lambda x: F.log_softmax(x, -1), "mish": F.mish, "relu": F.relu, "selu": F.selu, "sigmoid": torch.sigmoid,
    "silu": F.silu, "softmax": lambda x: F.softmax(x, -1), "softplus": F.softplus, "softsign": F.softsign, "tanh": torch.tanh,
}  # fmt: skip


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    assert_same(getattr(nn, name), ACTIVATIONS[name], np.concatenate([3 * ROWS.ravel(), [1e4, -1e4, 50.0, -50.0, 0.0]]))
