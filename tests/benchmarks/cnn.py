"""W5: one training step of a small convolutional network on images of 28 x 28."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .mlp import LEARNING_RATE, cross_entropy, sgd
from .workload import HIPS, Recorder, Side, Step, Workload

KERNEL = 5


class Problem:
    """A batch of images, and the parameters: two convolutions and one matrix, each with its bias."""

    def __init__(self, batch: int) -> None:
        rng = np.random.default_rng(5)

        def normal(*shape: int, fan_in: int) -> np.ndarray:
            return (rng.normal(size=shape) / np.sqrt(fan_in)).astype(np.float32)

        self.x = rng.normal(size=(batch, 1, 28, 28)).astype(np.float32)
        self.labels = rng.integers(10, size=batch)
        self.params = [
            normal(8, 1, KERNEL, KERNEL, fan_in=25), np.zeros(8, np.float32),
            normal(16, 8, KERNEL, KERNEL, fan_in=200), np.zeros(16, np.float32),
            normal(256, 10, fan_in=256), np.zeros(10, np.float32),
        ]  # fmt: skip

    def fresh_params(self) -> list[np.ndarray]:
        """A copy of the parameters."""
        return [each.copy() for each in self.params]


def workloads(*, quick: bool) -> list[Workload]:
    """One convolutional network."""
    problem = Problem(2 if quick else 32)
    sides: dict[str, Side] = {
        "floor": partial(_floor, problem),
        "ours": partial(_ours, problem),
        "torch": partial(_torch, problem),
        "MyGrad": partial(_mygrad, problem),
        HIPS: partial(_hips, problem),
    }
    title = "CNN step 1x28x28, conv 8 - pool - conv 16 - pool - fc, batch 32, f32"
    record = partial(recorder, problem, problem.params)
    return [Workload("W5", title, 0.9, sides, record=record, rtol=5e-4)]


# -------------------------------------------------------------------------------------------------- by hand


def _columns(x: np.ndarray) -> np.ndarray:
    """im2col: one row for each place of the kernel, one column for each of its entries."""
    windows = sliding_window_view(x, (KERNEL, KERNEL), axis=(2, 3))
    batch, channels, height, width = windows.shape[:4]
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(batch * height * width, channels * KERNEL * KERNEL)


def _convolve(columns: np.ndarray, w: np.ndarray, b: np.ndarray, batch: int, size: int) -> np.ndarray:
    y = columns @ w.reshape(len(w), -1).T + b
    return y.reshape(batch, size, size, len(w)).transpose(0, 3, 1, 2)


def _convolve_back(dy: np.ndarray, columns: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = dy.transpose(0, 2, 3, 1).reshape(-1, len(w))
    return (rows.T @ columns).reshape(w.shape), rows.sum(0), rows


def _columns_back(dcolumns: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """col2im: each entry of a window goes back to its pixel."""
    batch, channels, height, width = shape
    places = (height - KERNEL + 1, width - KERNEL + 1)
    windows = dcolumns.reshape(batch, *places, channels, KERNEL, KERNEL)
    dx = np.zeros(shape, dcolumns.dtype)
    for row in range(KERNEL):
        for column in range(KERNEL):
            part = windows[:, :, :, :, row, column].transpose(0, 3, 1, 2)
            dx[:, :, row : row + places[0], column : column + places[1]] += part
    return dx


def _pool(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    batch, channels, height, width = x.shape
    blocks = x.reshape(batch, channels, height // 2, 2, width // 2, 2)
    y = blocks.max(axis=(3, 5))
    return y, blocks == y[:, :, :, None, :, None]


def _pool_back(dy: np.ndarray, chosen: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return (chosen * dy[:, :, :, None, :, None]).reshape(shape)


def _floor(problem: Problem) -> Step:
    params = problem.fresh_params()
    x, labels = problem.x, problem.labels
    batch = len(x)

    def step() -> Sequence[Any]:
        w1, b1, w2, b2, w3, b3 = params
        columns1 = _columns(x)
        h1 = np.maximum(0, _convolve(columns1, w1, b1, batch, 24))
        pooled1, chosen1 = _pool(h1)
        columns2 = _columns(pooled1)
        h2 = np.maximum(0, _convolve(columns2, w2, b2, batch, 8))
        pooled2, chosen2 = _pool(h2)
        flat = pooled2.reshape(batch, -1)
        loss, dlogits = cross_entropy(flat @ w3 + b3, labels)

        dw3, db3 = flat.T @ dlogits, dlogits.sum(0)
        dpooled2 = (dlogits @ w3.T).reshape(pooled2.shape)
        dh2 = _pool_back(dpooled2, chosen2, h2.shape) * (h2 > 0)
        dw2, db2, rows2 = _convolve_back(dh2, columns2, w2)
        dpooled1 = _columns_back(rows2 @ w2.reshape(len(w2), -1), pooled1.shape)
        dh1 = _pool_back(dpooled1, chosen1, h1.shape) * (h1 > 0)
        dw1, db1, _ = _convolve_back(dh1, columns1, w1)

        grads = [dw1, db1, dw2, db2, dw3, db3]
        sgd(params, grads)
        return loss, *grads

    return step


# -------------------------------------------------------------------------------------------------- ours


def recorder(problem: Problem, params: list[np.ndarray]) -> Recorder:
    """Our forward part: the loss on a tape."""
    from autograd import Tape
    from autograd import numpy as anp

    x, labels = problem.x, problem.labels

    def record() -> tuple[Any, Any, Any]:
        with Tape() as tape:
            watched = tape.watch(params)
            w1, b1, w2, b2, w3, b3 = watched
            h = anp.max_pool2d(anp.relu(anp.conv2d(x, w1, b1)), 2)
            h = anp.max_pool2d(anp.relu(anp.conv2d(h, w2, b2)), 2)
            loss = anp.softmax_cross_entropy(h.reshape(len(x), -1) @ w3 + b3, labels=labels)
        return tape, loss, watched

    return record


def _ours(problem: Problem) -> Step:
    params = problem.fresh_params()
    record = recorder(problem, params)

    def step() -> Sequence[Any]:
        tape, loss, watched = record()
        value, grads = tape.value_and_gradient(loss, watched)
        sgd(params, grads)
        return value, *grads

    return step


# -------------------------------------------------------------------------------------------------- peers


def _torch(problem: Problem) -> Step:
    import torch
    from torch.nn import functional

    torch.set_num_threads(1)
    params = [torch.tensor(each, requires_grad=True) for each in problem.params]
    x, labels = torch.tensor(problem.x), torch.tensor(problem.labels)
    optimiser = torch.optim.SGD(params, LEARNING_RATE)

    def step() -> Sequence[Any]:
        w1, b1, w2, b2, w3, b3 = params
        h = functional.max_pool2d(torch.relu(functional.conv2d(x, w1, b1)), 2)
        h = functional.max_pool2d(torch.relu(functional.conv2d(h, w2, b2)), 2)
        loss = functional.cross_entropy(h.reshape(len(x), -1) @ w3 + b3, labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        return loss.detach(), *(each.grad for each in params)

    return step


def _mygrad(problem: Problem) -> Step:
    import mygrad
    from mygrad.nnet.activations import relu
    from mygrad.nnet.layers import conv_nd, max_pool
    from mygrad.nnet.losses import softmax_crossentropy

    params = [mygrad.tensor(each) for each in problem.fresh_params()]

    def step() -> Sequence[Any]:
        w1, b1, w2, b2, w3, b3 = params
        h = max_pool(relu(conv_nd(problem.x, w1, stride=1) + b1.reshape(1, -1, 1, 1)), (2, 2), 2)
        h = max_pool(relu(conv_nd(h, w2, stride=1) + b2.reshape(1, -1, 1, 1)), (2, 2), 2)
        loss = softmax_crossentropy(h.reshape(len(problem.x), -1) @ w3 + b3, problem.labels)
        loss.backward()
        grads = [each.grad for each in params]
        sgd([each.data for each in params], grads)
        return loss.item(), *grads

    return step


def _hips(problem: Problem) -> Step:
    from autograd import numpy as anp
    from autograd import value_and_grad

    convolve = import_module("autograd.scipy.signal").convolve
    rows = np.arange(len(problem.labels))

    def layer(x: Any, w: Any, b: Any) -> Any:
        flipped = w[:, :, ::-1, ::-1]
        y = convolve(x, flipped, axes=([2, 3], [2, 3]), dot_axes=([1], [1]), mode="valid") + b.reshape(1, -1, 1, 1)
        batch, channels, height, width = y.shape
        blocks = anp.maximum(0, y).reshape((batch, channels, height // 2, 2, width // 2, 2))
        return anp.max(anp.max(blocks, axis=5), axis=3)

    def loss_of(params: list[Any]) -> Any:
        w1, b1, w2, b2, w3, b3 = params
        h = layer(layer(problem.x, w1, b1), w2, b2)
        logits = h.reshape((len(problem.x), -1)) @ w3 + b3
        shifted = logits - anp.max(logits, axis=1, keepdims=True)
        log_softmax = shifted - anp.log(anp.sum(anp.exp(shifted), axis=1, keepdims=True))
        return -anp.mean(log_softmax[rows, problem.labels])

    params = problem.fresh_params()
    function = value_and_grad(loss_of)

    def step() -> Sequence[Any]:
        value, grads = function(params)
        sgd(params, grads)
        return value, *grads

    return step
