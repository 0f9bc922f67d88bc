"""Random programs: compositions of the operators, at inputs where a check by differences can see their gradients.

``random_program(seed)`` needs NumPy alone; ``programs()`` is a strategy for hypothesis, which shrinks what fails.
"""

from __future__ import annotations

from functools import partial
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd.check.programs import arrays, elementwise, products
from autograd.check.programs.drawing import Choices, Drawing, Pick
from autograd.check.programs.program import Constant, Program, Source, Step

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["DTYPES", "LEFT_OUT", "MOVES", "Constant", "Program", "Source", "Step", "programs", "random_program"]

MOVES = elementwise.MOVES | arrays.MOVES | products.MOVES
"""The operators that programs consist of, each with a function that tries to add it to a program."""

JOINING = tuple(name for name in (*elementwise.BINARY, "divide", "power", "where", "concatenate", "stack", "matmul"))
"""Operators that are drawn more often than others, so that a program is a net and not a broom."""

LEFT_OUT = {
    "heaviside": "its derivative is zero wherever it is defined",
    "eig": "eigenvalues may be real or complex, and their order may change, from one input to the next",
    "eigvals": "eigenvalues may be real or complex, and their order may change, from one input to the next",
    "roots": "roots may be real or complex, and their order may change, from one input to the next",
    "spectral": "part of rules for functions of a matrix, with conditions between its inputs",
    "basis": "part of rules for eigenvectors, with conditions between its inputs",
    "cofactors_derivative": "the derivative of cofactors, which is in",
    "sinc_derivative": "the derivative of sinc, which is in",
    "conv2d_input_gradient": "the derivative of conv2d, which is in",
    "conv2d_weight_gradient": "the derivative of conv2d, which is in",
    "avg_pool2d_gradient": "the derivative of avg_pool2d, which is in",
    "max_pool2d_gradient": "the derivative of max_pool2d, which is in; the array it was taken at is an attribute",
    "max_pool2d_tangent": "the derivative of max_pool2d, which is in; the array it was taken at is an attribute",
    "checkpoint": "takes a function",
    "custom_gradient": "takes a function",
}
"""Operators with a gradient that no program contains, each with its reason. Those of autograd.scipy need SciPy."""

DTYPES = ("float64",) * 6 + ("float32", "complex128")
"""Of which dtype inputs are: each is drawn from these, so that a dtype is as frequent as it is named."""

TRIES = 8
"""How many operators are tried, for each step, before a program ends early."""


def _draw(choices: Choices, max_operators: int, dtypes: tuple[str, ...], smooth: bool) -> tuple[Program, tuple[Any, ...]] | None:
    moves, joining = tuple(MOVES.values()), tuple(MOVES[name] for name in JOINING)
    with np.errstate(all="ignore"):  # what a step makes that is not finite is refused, not warned of
        drawing = Drawing(choices, max_operators, dtypes, smooth)
        while drawing.room and choices.more():
            number = choices.pick(len(moves) + 3 * len(joining))
            move = moves[number] if number < len(moves) else joining[(number - len(moves)) % len(joining)]
            drawing.pick = choices.branch()
            move(drawing)
        drawing.pick = choices.pick
        return drawing.finish()


def random_program(
    seed: int, max_operators: int = 30, *, dtypes: tuple[str, ...] = DTYPES, smooth: bool = True
) -> tuple[Program, tuple[Any, ...]]:
    """A program of up to ``max_operators`` operators and arrays to call it with: the same ones for the same seed.

    dtypes   of which dtype the inputs are, each drawn from these
    smooth   the program is smooth around its inputs, moderate in value and slope, and each input moves a result.
             False: inputs of few values, so that ties and kinks are frequent; values are finite and moderate still.

    Values are used again, by several steps or twice by one; operands broadcast; some are constants, some empty.

    >>> program, inputs = random_program(1, max_operators=3)
    >>> program == random_program(1, max_operators=3)[0]
    True
    >>> len(program.steps) <= 3
    True
    """
    _check(max_operators, dtypes)
    rng = np.random.default_rng(seed)

    def pick(n: int) -> int:
        return int(rng.integers(n))

    while True:
        room = 1 + pick(max_operators)
        more = chain(repeat(True, TRIES * room), repeat(False))
        drawn = _draw(Choices(pick, lambda: pick, partial(next, more)), room, dtypes, smooth)
        if drawn is not None:
            return drawn


def programs(
    max_operators: int = 30, *, dtypes: tuple[str, ...] = DTYPES, smooth: bool = True
) -> SearchStrategy[tuple[Program, tuple[Any, ...]]]:
    """A strategy for hypothesis that draws a program and its inputs, as ``random_program`` does, and shrinks both.

    Raises ImportError without hypothesis.

    >>> from hypothesis import given
    >>> @given(programs(max_operators=5))
    ... def test(drawn):
    ...     program, inputs = drawn
    ...     program(*inputs)
    """
    try:
        from hypothesis import reject
        from hypothesis import strategies as st
    except ImportError as error:
        raise ImportError("programs() needs hypothesis: pip install 'gradtape[check]'") from error
    _check(max_operators, dtypes)

    @st.composite
    def strategy(draw: Any) -> tuple[Program, tuple[Any, ...]]:
        def pick(n: int) -> int:
            return int(draw(st.integers(0, n - 1))) if n > 1 else 0

        def branch() -> Pick:
            rng = np.random.default_rng(pick(1 << 16))
            return lambda n: int(rng.integers(n))

        drawn = _draw(Choices(pick, branch, lambda: pick(2 * max_operators) > 0), max_operators, dtypes, smooth)
        return reject() if drawn is None else drawn

    return strategy()


def _check(max_operators: int, dtypes: tuple[str, ...]) -> None:
    if max_operators < 1 or not dtypes or any(np.dtype(each).kind not in "fc" for each in dtypes):
        raise ValueError(
            f"a random program: got max_operators={max_operators!r}, dtypes={dtypes!r}; expected at least 1 operator and dtypes"
            " of floats or complex numbers"
        )
