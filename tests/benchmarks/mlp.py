"""W2, W3, W4: one training step of a multilayer perceptron: forward, softmax cross-entropy, backward, update."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from .workload import HIPS, Recorder, Side, Step, Workload

Update = Callable[[list[np.ndarray], Sequence[np.ndarray]], None]

LEARNING_RATE = 0.1


class Problem:
    """Layer sizes, activation and optimiser of a perceptron, and a batch of data for it."""

    def __init__(self, sizes: Sequence[int], batch: int, activation: str, optimiser: str = "sgd") -> None:
        rng = np.random.default_rng(2)
        self.activation = activation
        self.optimiser = optimiser
        self.x = rng.normal(size=(batch, sizes[0])).astype(np.float32)
        self.labels = rng.integers(sizes[-1], size=batch)
        self.params: list[np.ndarray] = []
        for n_in, n_out in pairwise(sizes):
            self.params.append((rng.normal(size=(n_in, n_out)) / np.sqrt(n_in)).astype(np.float32))
            self.params.append(np.zeros(n_out, np.float32))

    def fresh_params(self) -> list[np.ndarray]:
        """A copy of the parameters, weights and biases in turn."""
        return [each.copy() for each in self.params]

    def fresh_update(self) -> Update:
        """The optimiser with fresh state, as a function of parameters and gradients."""
        return {"sgd": sgd, "sgd in place": sgd_in_place}.get(self.optimiser) or Adam(self.params).update


def workloads(*, quick: bool) -> list[Workload]:
    """W2 with both optimisers, W3 and W4."""
    small = Problem((6, 5, 3), 4, "tanh") if quick else None
    small_relu = Problem((6, 5, 5, 3), 4, "relu") if quick else None
    small_adam = Problem((6, 5, 3), 4, "tanh", "adam") if quick else None
    return [
        workload("W2", "MLP step 64-32-10, batch 32, tanh, SGD, f32", 1.6, small or Problem((64, 32, 10), 32, "tanh")),
        workload("W2a", "the same with Adam", 1.6, small_adam or Problem((64, 32, 10), 32, "tanh", "adam")),
        workload(
            "W3", "MLP step 64-256-256-10, batch 128, relu, f32", 1.1,
            small_relu or Problem((64, 256, 256, 10), 128, "relu"),
        ),
        workload(
            "W4", "MLP step 784-512-512-10, batch 256, relu, f32", 1.03,
            small_relu or Problem((784, 512, 512, 10), 256, "relu"),
        ),
    ]  # fmt: skip


def workload(name: str, title: str, goal: float, problem: Problem) -> Workload:
    """One perceptron as a line of the table."""
    sides: dict[str, Side] = {
        "floor": partial(floor, problem),
        "ours": partial(ours, problem),
        "torch": partial(torch_side, problem),
        "MyGrad": partial(_mygrad, problem),
        HIPS: partial(_hips, problem),
    }
    return Workload(name, title, goal, sides, record=partial(recorder, problem, problem.params), rtol=2e-4)


# -------------------------------------------------------------------------------------------------- by hand


def sgd(params: list[np.ndarray], grads: Sequence[np.ndarray]) -> None:
    """``W -= lr * g``."""
    for param, grad in zip(params, grads, strict=True):
        param -= LEARNING_RATE * grad


def sgd_in_place(params: list[np.ndarray], grads: Sequence[np.ndarray]) -> None:
    """The same without an array of its own: it spends the gradients."""
    for param, grad in zip(params, grads, strict=True):
        grad *= LEARNING_RATE
        param -= grad


class Adam:
    """Adam (Kingma and Ba, 2015) over plain arrays; every side but the peers' own uses this one."""

    def __init__(self, params: Sequence[np.ndarray]) -> None:
        self.steps = 0
        self.means = [np.zeros_like(each) for each in params]
        self.squares = [np.zeros_like(each) for each in params]

    def update(self, params: list[np.ndarray], grads: Sequence[np.ndarray]) -> None:
        """One step, in place."""
        self.steps += 1
        for param, grad, mean, square in zip(params, grads, self.means, self.squares, strict=True):
            mean += 0.1 * (grad - mean)
            square += 0.001 * (grad * grad - square)
            corrected_mean = mean / (1 - 0.9**self.steps)
            corrected_square = square / (1 - 0.999**self.steps)
            param -= 0.001 * corrected_mean / (np.sqrt(corrected_square) + 1e-8)


def cross_entropy(logits: np.ndarray, labels: np.ndarray) -> tuple[Any, np.ndarray]:
    """The mean softmax cross-entropy and its gradient in the logits, ``(softmax - onehot) / batch``."""
    rows = np.arange(len(labels))
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_softmax = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    loss = -log_softmax[rows, labels].mean()
    dlogits = np.exp(log_softmax)
    dlogits[rows, labels] -= 1
    return loss, dlogits / len(labels)


def floor(problem: Problem) -> Step:
    """Forward, backward and update by hand."""
    params, update = problem.fresh_params(), problem.fresh_update()
    x, labels, tanh = problem.x, problem.labels, problem.activation == "tanh"
    n_layers = len(params) // 2

    def step() -> Sequence[Any]:
        inputs = []
        h = x
        for layer in range(n_layers):
            inputs.append(h)
            z = h @ params[2 * layer] + params[2 * layer + 1]
            if layer < n_layers - 1:
                h = np.tanh(z) if tanh else np.maximum(0, z)
        loss, dz = cross_entropy(z, labels)
        grads: list[np.ndarray] = []
        for layer in reversed(range(n_layers)):
            h = inputs[layer]
            grads = [h.T @ dz, dz.sum(0), *grads]
            if layer > 0:
                dh = dz @ params[2 * layer].T
                dz = dh * (1 - h * h) if tanh else dh * (h > 0)
        update(params, grads)
        return loss, *grads

    return step


# -------------------------------------------------------------------------------------------------- ours


def recorder(problem: Problem, params: list[np.ndarray]) -> Recorder:
    """Our forward part: the loss on a tape."""
    from autograd import Tape
    from autograd import numpy as anp

    x, labels = problem.x, problem.labels
    activate = anp.tanh if problem.activation == "tanh" else anp.relu

    def record() -> tuple[Any, Any, Any]:
        with Tape() as tape:
            watched = tape.watch(params)
            h = x
            for w, b in zip(watched[:-2:2], watched[1:-2:2]):
                h = activate(h @ w + b)
            loss = anp.softmax_cross_entropy(h @ watched[-2] + watched[-1], labels=labels)
        return tape, loss, watched

    return record


def ours(problem: Problem) -> Step:
    """The step on a tape, with the update in place on the plain arrays."""
    params, update = problem.fresh_params(), problem.fresh_update()
    record = recorder(problem, params)

    def step() -> Sequence[Any]:
        tape, loss, watched = record()
        value, grads = tape.value_and_gradient(loss, watched)
        update(params, grads)
        return value, *grads

    return step


# -------------------------------------------------------------------------------------------------- peers


def torch_side(problem: Problem) -> Step:
    """PyTorch, eager, with its own optimiser."""
    import torch

    torch.set_num_threads(1)
    params = [torch.tensor(each, requires_grad=True) for each in problem.params]
    x, labels = torch.tensor(problem.x), torch.tensor(problem.labels)
    activate = torch.tanh if problem.activation == "tanh" else torch.relu
    adam = problem.optimiser == "adam"
    optimiser = torch.optim.Adam(params, 0.001) if adam else torch.optim.SGD(params, LEARNING_RATE)

    def step() -> Sequence[Any]:
        h = x
        for w, b in zip(params[:-2:2], params[1:-2:2]):
            h = activate(torch.addmm(b, h, w))
        loss = torch.nn.functional.cross_entropy(torch.addmm(params[-1], h, params[-2]), labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        return loss.detach(), *(each.grad for each in params)

    return step


def _mygrad(problem: Problem) -> Step:
    import mygrad
    from mygrad.nnet.activations import relu
    from mygrad.nnet.losses import softmax_crossentropy

    params, update = [mygrad.tensor(each) for each in problem.fresh_params()], problem.fresh_update()
    activate = mygrad.tanh if problem.activation == "tanh" else relu

    def step() -> Sequence[Any]:
        h = problem.x
        for w, b in zip(params[:-2:2], params[1:-2:2]):
            h = activate(h @ w + b)
        loss = softmax_crossentropy(h @ params[-2] + params[-1], problem.labels)
        loss.backward()
        grads = [each.grad for each in params]
        update([each.data for each in params], grads)
        return loss.item(), *grads

    return step


def _hips(problem: Problem) -> Step:
    from autograd import numpy as anp
    from autograd import value_and_grad

    rows = np.arange(len(problem.labels))

    def loss_of(params: list[Any]) -> Any:
        h = problem.x
        for w, b in zip(params[:-2:2], params[1:-2:2]):
            z = h @ w + b
            h = anp.tanh(z) if problem.activation == "tanh" else anp.maximum(0, z)
        logits = h @ params[-2] + params[-1]
        shifted = logits - anp.max(logits, axis=1, keepdims=True)
        log_softmax = shifted - anp.log(anp.sum(anp.exp(shifted), axis=1, keepdims=True))
        return -anp.mean(log_softmax[rows, problem.labels])

    params, update = problem.fresh_params(), problem.fresh_update()
    function = value_and_grad(loss_of)

    def step() -> Sequence[Any]:
        value, grads = function(params)
        update(params, grads)
        return value, *grads

    return step
