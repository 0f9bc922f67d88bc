"""W8: an LSTM over 50 time steps, forward and backward through time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .workload import HIPS, Recorder, Side, Step, Workload


class Problem:
    """A batch of sequences, a target for the last hidden state, and the parameters of one layer."""

    def __init__(self, length: int, batch: int, width: int, hidden: int) -> None:
        rng = np.random.default_rng(8)
        self.hidden = hidden
        self.x = rng.normal(size=(length, batch, width))
        self.target = rng.normal(size=(batch, hidden))
        self.w = rng.normal(size=(width + hidden, 4 * hidden)) / np.sqrt(width + hidden)
        self.b = np.zeros(4 * hidden)
        self.start = np.zeros((batch, hidden))


def workloads(*, quick: bool) -> list[Workload]:
    """One LSTM; the gradient in its weights and biases."""
    problem = Problem(3, 2, 3, 4) if quick else Problem(50, 16, 64, 64)
    sides: dict[str, Side] = {
        "floor": partial(_floor, problem),
        "ours": partial(_ours, problem),
        "torch": partial(_torch, problem),
        "MyGrad": partial(_mygrad, problem),
        HIPS: partial(_hips, problem),
    }
    title = "LSTM, T 50, batch 16, input 64, hidden 64, f64"
    return [Workload("W8", title, 1.5, sides, record=partial(recorder, problem))]


def sigmoid(z: np.ndarray) -> np.ndarray:
    """The logistic function."""
    return 1 / (1 + np.exp(-z))


def _floor(problem: Problem) -> Step:
    w, b, n = problem.w, problem.b, problem.hidden

    def step() -> Sequence[Any]:
        h = c = problem.start
        trace = []
        for x in problem.x:
            joined = np.concatenate([x, h], axis=1)
            z = joined @ w + b
            gates = sigmoid(z[:, : 3 * n])
            i, f, o = gates[:, :n], gates[:, n : 2 * n], gates[:, 2 * n :]
            g = np.tanh(z[:, 3 * n :])
            before = c
            c = f * c + i * g
            squashed = np.tanh(c)
            h = o * squashed
            trace.append((joined, i, f, o, g, before, squashed))
        error = h - problem.target
        loss = np.mean(error * error)

        dw, db = np.zeros_like(w), np.zeros_like(b)
        dh, dc = 2 * error / error.size, np.zeros_like(c)
        for joined, i, f, o, g, before, squashed in reversed(trace):
            dc = dc + dh * o * (1 - squashed * squashed)
            do = dh * squashed * o * (1 - o)
            di = dc * g * i * (1 - i)
            df = dc * before * f * (1 - f)
            dg = dc * i * (1 - g * g)
            dz = np.concatenate([di, df, do, dg], axis=1)
            dw += joined.T @ dz
            db += dz.sum(0)
            dh = (dz @ w.T)[:, -n:]
            dc = dc * f
        return loss, dw, db

    return step


def _layer(problem: Problem, np_like: Any, sigmoid: Any, w: Any, b: Any) -> Any:
    """The loss, on the arrays of a module with NumPy's names."""
    n = problem.hidden
    h = c = problem.start
    for x in problem.x:
        z = np_like.concatenate([x, h], axis=1) @ w + b
        gates = sigmoid(z[:, : 3 * n])
        i, f, o = gates[:, :n], gates[:, n : 2 * n], gates[:, 2 * n :]
        c = f * c + i * np_like.tanh(z[:, 3 * n :])
        h = o * np_like.tanh(c)
    return np_like.mean((h - problem.target) ** 2)


def recorder(problem: Problem) -> Recorder:
    """Our forward part: the loss on a tape."""
    from autograd import Tape
    from autograd import numpy as anp

    def record() -> tuple[Any, Any, Any]:
        with Tape() as tape:
            watched = tape.watch((problem.w, problem.b))
            loss = _layer(problem, anp, anp.sigmoid, *watched)
        return tape, loss, watched

    return record


def _ours(problem: Problem) -> Step:
    record = recorder(problem)

    def step() -> Sequence[Any]:
        tape, loss, watched = record()
        value, gradients = tape.value_and_gradient(loss, watched)
        return value, *gradients

    return step


def _torch(problem: Problem) -> Step:
    import torch

    torch.set_num_threads(1)
    w, b = (torch.tensor(each, requires_grad=True) for each in (problem.w, problem.b))
    steps, target, start = (torch.tensor(each) for each in (problem.x, problem.target, problem.start))

    def step() -> Sequence[Any]:
        w.grad = b.grad = None
        h = c = start
        for x in steps:
            i, f, o, g = torch.addmm(b, torch.cat([x, h], dim=1), w).chunk(4, dim=1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        loss = torch.nn.functional.mse_loss(h, target)
        loss.backward()
        return loss.detach(), w.grad, b.grad

    return step


def _mygrad(problem: Problem) -> Step:
    import mygrad
    from mygrad.nnet.activations import sigmoid

    def step() -> Sequence[Any]:
        w, b = mygrad.tensor(problem.w), mygrad.tensor(problem.b)
        loss = _layer(problem, mygrad, sigmoid, w, b)
        loss.backward()
        return loss.item(), w.grad, b.grad

    return step


def _hips(problem: Problem) -> Step:
    from autograd import numpy as anp
    from autograd import value_and_grad

    function = value_and_grad(lambda w, b: _layer(problem, anp, lambda z: 1 / (1 + anp.exp(-z)), w, b), (0, 1))

    def step() -> Sequence[Any]:
        value, gradients = function(problem.w, problem.b)
        return value, *gradients

    return step
