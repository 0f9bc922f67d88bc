"""Who finds which fault, and in what time: ``autograd.check`` beside PyTorch's ``gradcheck``, slow and fast.

The same functions in both, with one operation whose gradient is planted wrong. By itself, with a Python that has torch, numpy and
networkx: ``python -m tests.benchmarks.gradient_checkers`` from the root of the repository.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import numpy

import autograd.numpy as np
from autograd import custom_gradient
from autograd import operators as op
from autograd.check import check_gradient

Change = Callable[[Any], Any]
"""What a fault does to a gradient; it is written with what NumPy's arrays and PyTorch's tensors have in common."""


def doubled_at(place: int) -> Change:
    """One entry, counted through, twice as large."""

    def change(g: Any) -> Any:
        flat = g.reshape(-1) * 1.0
        flat[place] = flat[place] * 2.0
        return flat.reshape(g.shape)

    return change


FAULTS: dict[str, Change | None] = {
    "none": None,
    "sign": lambda g: -g,
    "factor 2": lambda g: 2.0 * g,
    "factor 1.001": lambda g: 1.001 * g,
    "zero": lambda g: 0.0 * g,
    "one entry": doubled_at(7),
}


@dataclass(frozen=True)
class Function:
    """A function in both spellings: each takes the square function (which may be wrong) and the inputs."""

    name: str
    inputs: tuple[numpy.ndarray, ...]
    ours: Callable[..., Any]
    theirs: Callable[..., Any]


def functions(large: int) -> list[Function]:
    """The functions that are checked; ``large`` is the length of the last one's input."""
    import torch

    rng = numpy.random.default_rng(0)
    x, w1, w2 = rng.normal(size=(5, 4)), rng.normal(size=(4, 8)), rng.normal(size=(8, 3))
    square = rng.normal(size=(4, 4)) + 4 * numpy.eye(4)
    chain = rng.uniform(0.5, 1.5, 20)
    return [
        Function(
            "chain of 20",
            (chain,),
            lambda sq, x: np.sum(np.tanh(sq(x)) * np.sin(x) + np.exp(-x)),
            lambda sq, x: torch.sum(torch.tanh(sq(x)) * torch.sin(x) + torch.exp(-x)),
        ),
        Function(
            "elementwise, 20 to 20",
            (chain,),
            lambda sq, x: np.sin(sq(x)) * np.log(x),
            lambda sq, x: torch.sin(sq(x)) * torch.log(x),
        ),
        Function(
            "two layers, 76 inputs",
            (x, w1, w2),
            lambda sq, x, a, b: np.sum(op.log_softmax(np.tanh(sq(x) @ a) @ b)[:, 0]),
            lambda sq, x, a, b: torch.sum(torch.log_softmax(torch.tanh(sq(x) @ a) @ b, -1)[:, 0]),
        ),
        Function(
            "inverse of 4x4",
            (square,),
            lambda sq, a: np.sum(np.linalg.inv(sq(a))[0]) + np.linalg.slogdet(a)[1],
            lambda sq, a: torch.sum(torch.linalg.inv(sq(a))[0]) + torch.linalg.slogdet(a)[1],
        ),
        Function(
            f"{large} elements",
            (rng.uniform(0.5, 1.5, large),),
            lambda sq, x: np.sum(np.sin(sq(x))),
            lambda sq, x: torch.sum(torch.sin(sq(x))),
        ),
    ]


def our_square(change: Change | None) -> Callable[[Any], Any]:
    """``x * x`` with a gradient that a fault has changed."""
    if change is None:
        return np.square

    @custom_gradient
    def square(x: Any) -> Any:
        return x * x, lambda dy: change(dy * 2.0 * x)

    return square


def their_square(change: Change | None) -> Callable[[Any], Any]:
    """The same in PyTorch."""
    import torch

    if change is None:
        return torch.square

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, dy: Any) -> Any:
            (x,) = ctx.saved_tensors
            return change(dy * 2.0 * x)

    return Square.apply


def checkers(function: Function, change: Change | None) -> dict[str, Callable[[], str]]:
    """By checker, a run of it that returns its verdict."""
    import torch

    square, square_of_torch = our_square(change), their_square(change)
    tensors = [torch.tensor(each, requires_grad=True) for each in function.inputs]

    def ours(modes: tuple[str, ...]) -> str:
        report = check_gradient(lambda *xs: function.ours(square, *xs), *function.inputs, modes=modes, raise_error=False)
        return report.verdict + (f", {report.culprit.kernel_name}" if report.culprit is not None else "")

    def theirs(fast: bool) -> str:
        f = lambda *xs: function.theirs(square_of_torch, *xs)  # noqa: E731
        return "right" if torch.autograd.gradcheck(f, tensors, fast_mode=fast, raise_exception=False) else "wrong"

    return {
        "ours": lambda: ours(("reverse",)),
        "ours, both modes": lambda: ours(("reverse", "forward")),
        "torch slow": lambda: theirs(False),
        "torch fast": lambda: theirs(True),
    }


def table(*, large: int = 2000, rounds: int = 3) -> str:
    """Each function with each fault: what each checker says, and its milliseconds (median of some rounds, in turn)."""
    names = ("ours", "ours, both modes", "torch slow", "torch fast")
    lines = ["| function | fault | " + " | ".join(names) + " |", "|---|---|" + "---|" * len(names)]
    found = dict.fromkeys(names, 0)
    faults = 0
    for function in functions(large):
        for fault, change in FAULTS.items():
            runs = checkers(function, change)
            verdicts = {name: run() for name, run in runs.items()}
            seconds: dict[str, list[float]] = {name: [] for name in runs}
            for _ in range(rounds):
                for name, run in runs.items():
                    start = perf_counter()
                    run()
                    seconds[name].append(perf_counter() - start)
            cells = [f"{verdicts[name]}, {1e3 * median(seconds[name]):.1f} ms" for name in names]
            lines.append(f"| {function.name} | {fault} | " + " | ".join(cells) + " |")
            if change is not None:
                faults += 1
                for name in names:
                    found[name] += verdicts[name].startswith("wrong")
    return "\n".join([*lines, "", *(f"{name}: {found[name]} of {faults} faults found" for name in names)])


if __name__ == "__main__":
    print(table(large=int(sys.argv[1]) if len(sys.argv) > 1 else 2000))
