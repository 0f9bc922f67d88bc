"""Recurrent layers: a cell along the steps of sequences ``(N, L, n_in)``, the batch first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.nn.cells import GRUCell, LSTMCell, RNNCell
from autograd.nn.module import Module
from autograd.nn.shapes import shape_of, wrong_shape


class _Recurrent(Module):
    """A cell, and the loop over the steps."""

    def __init__(self, cell: Any, reverse: bool) -> None:
        self.cell = cell
        self.reverse = reverse

    def __call__(self, x: Any) -> Any:
        """The outputs of all steps, ``(N, L, n_hidden)``, from a state of zeros."""
        return self.run(x)[0]

    def run(self, x: Any, state: Any = None) -> tuple[Any, Any]:
        """``(outputs of all steps, last state)`` from a state; None starts from zeros.

        With ``reverse`` the last step comes first, and the outputs still stand at their steps.
        """
        cell, shape = self.cell, shape_of(x)
        n_in = shape_of(cell.weight_input)[0]
        if len(shape) != 3 or shape[2] != n_in or not shape[1]:
            advice = "give a batch: x[None]" if len(shape) == 2 else "there must be a step"
            if len(shape) == 3 and shape[2] != n_in:
                advice = f"make the layer with n_in={shape[2]}"
            raise wrong_shape(type(self).__name__, "x", shape, f"(N, L, {n_in})", advice)
        n_rows, length, _ = shape
        weights = cell._weights()
        state = cell._state(x, n_rows, state)
        rows = op.reshape(op.swapaxes(x, axis1=0, axis2=1), shape=(length * n_rows, n_in))
        z = op.reshape(op.add(op.matmul(rows, weights[0]), weights[1]), shape=(length, n_rows, -1))
        outputs = []
        for step in reversed(range(length)) if self.reverse else range(length):
            state = cell._step(op.getitem(z, index=step), state, weights)
            outputs.append(cell._output(state))
        return op.stack(outputs[::-1] if self.reverse else outputs, axis=1), state


class RNN(_Recurrent):
    """``RNNCell`` along the steps: ``(N, L, n_in)`` to ``(N, L, n_hidden)``.

    ``layer(x)`` gives the outputs of all steps, so that layers stand in a row in ``Sequential``; ``layer.run(x, state)`` gives
    ``(outputs, last state)``. Its parameters are those of the cell, under ``cell.``, and so are further arguments.

    >>> RNN(2, 3)(np.ones((5, 7, 2))).shape
    (5, 7, 3)
    """

    def __init__(
        self,
        n_in: int,
        n_hidden: int,
        *,
        activation: Callable[[Any], Any] = op.tanh,
        reverse: bool = False,
        seed: int | np.random.Generator = 0,
        dtype: Any = np.float64,
        **initialisers: Any,
    ) -> None:
        super().__init__(RNNCell(n_in, n_hidden, activation=activation, seed=seed, dtype=dtype, **initialisers), reverse)


class GRU(_Recurrent):
    """``GRUCell`` along the steps: ``(N, L, n_in)`` to ``(N, L, n_hidden)``; see ``RNN``.

    >>> outputs, state = GRU(2, 3).run(np.ones((5, 7, 2)))
    >>> outputs.shape, bool(np.all(outputs[:, -1] == state))
    ((5, 7, 3), True)
    """

    def __init__(
        self,
        n_in: int,
        n_hidden: int,
        *,
        reverse: bool = False,
        seed: int | np.random.Generator = 0,
        dtype: Any = np.float64,
        **initialisers: Any,
    ) -> None:
        super().__init__(GRUCell(n_in, n_hidden, seed=seed, dtype=dtype, **initialisers), reverse)


class LSTM(_Recurrent):
    """``LSTMCell`` along the steps: ``(N, L, n_in)`` to ``(N, L, n_hidden)``; see ``RNN``. Its state is ``(h, c)``.

    >>> outputs, (h, c) = LSTM(2, 3).run(np.ones((5, 7, 2)))
    >>> outputs.shape, h.shape, c.shape
    ((5, 7, 3), (5, 3), (5, 3))
    """

    def __init__(
        self,
        n_in: int,
        n_hidden: int,
        *,
        reverse: bool = False,
        seed: int | np.random.Generator = 0,
        dtype: Any = np.float64,
        **initialisers: Any,
    ) -> None:
        super().__init__(LSTMCell(n_in, n_hidden, seed=seed, dtype=dtype, **initialisers), reverse)
