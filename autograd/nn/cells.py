"""One step of a recurrent network: ``cell(x, state)`` is the next state.

A layer over a whole sequence (``autograd.nn.recurrent``) multiplies all inputs by the weight at once, and then takes the steps;
so each cell has its parts apart: ``_weights``, once a sequence, and ``_step``, which takes what the input amounts to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.nn.initialisers import Initialiser, glorot_uniform, orthogonal
from autograd.nn.module import Module
from autograd.nn.shapes import positive, shape_of, wrong_shape


class _Cell(Module):
    """What the three cells share: weights for ``n_gates`` results side by side."""

    def __init__(
        self,
        n_in: int,
        n_hidden: int,
        n_gates: int,
        initialiser: Initialiser,
        hidden_initialiser: Initialiser,
        seed: Any,
        dtype: Any,
    ) -> None:
        positive(type(self).__name__, n_in=n_in, n_hidden=n_hidden)
        rng = np.random.default_rng(seed)
        gates = range(n_gates)  # each is a matrix of its own to the initialiser
        self.weight_input: Any = np.concatenate([initialiser((n_in, n_hidden), rng, dtype) for _ in gates], axis=1)
        self.weight_hidden: Any = np.concatenate([hidden_initialiser((n_hidden, n_hidden), rng, dtype) for _ in gates], axis=1)
        self.bias: Any = np.zeros(n_gates * n_hidden, dtype)

    def __call__(self, x: Any, state: Any = None) -> Any:
        """The state after one step: ``x`` is ``(N, n_in)``; ``state`` as the cell returns it, None for zeros."""
        kind, shape, n_in = type(self).__name__, shape_of(x), shape_of(self.weight_input)[0]
        if len(shape) != 2 or shape[1] != n_in:
            advice = (
                f"{kind.removesuffix('Cell')} takes whole sequences (N, L, {n_in})"
                if len(shape) == 3
                else "give one step of a batch"
            )
            raise wrong_shape(kind, "x", shape, f"(N, {n_in})", advice)
        weights = self._weights()
        return self._step(op.add(op.matmul(x, weights[0]), weights[1]), self._state(x, shape[0], state), weights)

    def _weights(self) -> tuple[Any, ...]:
        """``(for the input, bias, for the state, ...)`` as ``_step`` wants them."""
        return self.weight_input, self.bias, self.weight_hidden

    def _step(self, z: Any, state: Any, weights: tuple[Any, ...]) -> Any:
        raise NotImplementedError

    def _output(self, state: Any) -> Any:
        return state

    def _state(self, x: Any, n_rows: int, state: Any) -> Any:
        """The state given, if it fits, or zeros in the dtype of the input and the weights."""
        n_hidden = shape_of(self.weight_hidden)[0]
        if state is None:
            return np.zeros((n_rows, n_hidden), np.result_type(getattr(x, "dtype", float), self.weight_hidden.dtype))
        if isinstance(state, tuple) or shape_of(state) != (n_rows, n_hidden):
            got = "a tuple" if isinstance(state, tuple) else f"shape {shape_of(state)}"
            raise ValueError(f"{type(self).__name__}: state has {got}, expected ({n_rows}, {n_hidden}); None starts from zeros")
        return state


class RNNCell(_Cell):
    """``activation(x @ weight_input + h @ weight_hidden + bias)``; the state is ``h``, ``(N, n_hidden)``.

    weight_input   ``(n_in, n_hidden)``, Glorot uniform
    weight_hidden  ``(n_hidden, n_hidden)``, orthogonal
    bias           ``(n_hidden,)``, zeros: the sum of PyTorch's two

    >>> RNNCell(2, 3)(np.ones((5, 2))).shape
    (5, 3)
    """

    def __init__(
        self,
        n_in: int,
        n_hidden: int,
        *,
        activation: Callable[[Any], Any] = op.tanh,
        initialiser: Initialiser = glorot_uniform,
        hidden_initialiser: Initialiser = orthogonal,
        seed: int | np.random.Generator = 0,
        dtype: Any = np.float64,
    ) -> None:
        super().__init__(n_in, n_hidden, 1, initialiser, hidden_initialiser, seed, dtype)
        self.activation = activation

    def _step(self, z: Any, state: Any, weights: tuple[Any, ...]) -> Any:
        return self.activation(op.add(z, op.matmul(state, weights[2])))


class GRUCell(_Cell):
    """Gated recurrent unit (Cho and others, 2014), in PyTorch's form; the state is ``h``, ``(N, n_hidden)``.

    With ``r, z, n`` side by side in the weights, in this order::

        r = sigmoid(x @ W_r + h @ U_r + b_r)
        z = sigmoid(x @ W_z + h @ U_z + b_z)
        n = tanh(x @ W_n + b_n + r * (h @ U_n + c))
        h = (1 - z) * n + z * h

    weight_input   ``(n_in, 3 n_hidden)``, W, each of the three Glorot uniform
    weight_hidden  ``(n_hidden, 3 n_hidden)``, U, each orthogonal
    bias           ``(3 n_hidden,)``, b, zeros: of r and z the sum of PyTorch's two
    bias_hidden    ``(n_hidden,)``, c, zeros

    >>> GRUCell(2, 3)(np.ones((5, 2))).shape
    (5, 3)
    """

    def __init__(
        self,
        n_in: int,
        n_hidden: int,
        *,
        initialiser: Initialiser = glorot_uniform,
        hidden_initialiser: Initialiser = orthogonal,
        seed: int | np.random.Generator = 0,
        dtype: Any = np.float64,
    ) -> None:
        super().__init__(n_in, n_hidden, 3, initialiser, hidden_initialiser, seed, dtype)
        self.bias_hidden: Any = np.zeros(n_hidden, dtype)

    def _step(self, z: Any, state: Any, weights: tuple[Any, ...]) -> Any:
        n = shape_of(self.bias_hidden)[0]
        u = op.matmul(state, weights[2])
        both, last = (..., slice(None, 2 * n)), (..., slice(2 * n, None))
        gates = op.sigmoid(op.add(op.getitem(z, index=both), op.getitem(u, index=both)))
        reset, update = op.getitem(gates, index=(..., slice(None, n))), op.getitem(gates, index=(..., slice(n, None)))
        inner = op.multiply(reset, op.add(op.getitem(u, index=last), self.bias_hidden))
        new = op.tanh(op.add(op.getitem(z, index=last), inner))
        return op.add(new, op.multiply(update, op.subtract(state, new)))


class LSTMCell(_Cell):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997); the state is ``(h, c)``, each ``(N, n_hidden)``.

    With ``i, f, g, o`` side by side in the weights, in this order, which is PyTorch's::

        i, f, o = sigmoid(x @ W + h @ U + b)    of each its own part of W, U and b
        g = tanh(x @ W_g + h @ U_g + b_g)
        c = f * c + i * g
        h = o * tanh(c)

    weight_input   ``(n_in, 4 n_hidden)``, W, each of the four Glorot uniform
    weight_hidden  ``(n_hidden, 4 n_hidden)``, U, each orthogonal
    bias           ``(4 n_hidden,)``, b, the sum of PyTorch's two: ones for f, so that it remembers from the start, else zeros

    >>> h, c = LSTMCell(2, 3)(np.ones((5, 2)))
    >>> h.shape, c.shape
    ((5, 3), (5, 3))
    """

    def __init__(
        self,
        n_in: int,
        n_hidden: int,
        *,
        initialiser: Initialiser = glorot_uniform,
        hidden_initialiser: Initialiser = orthogonal,
        seed: int | np.random.Generator = 0,
        dtype: Any = np.float64,
    ) -> None:
        super().__init__(n_in, n_hidden, 4, initialiser, hidden_initialiser, seed, dtype)
        self.bias[n_hidden : 2 * n_hidden] = 1

    def _weights(self) -> tuple[Any, ...]:
        """In the order i, f, o, g: one sigmoid then does for three neighbours, at every step."""
        n = shape_of(self.weight_hidden)[0]
        parts = (slice(None, 2 * n), slice(3 * n, None), slice(2 * n, 3 * n))
        ordered = [
            op.concatenate([op.getitem(each, index=(..., part)) for part in parts], axis=-1)
            for each in (self.weight_input, self.bias, self.weight_hidden)
        ]
        return tuple(ordered)

    def _step(self, z: Any, state: Any, weights: tuple[Any, ...]) -> Any:
        h, c = state
        n = shape_of(c)[1]
        z = op.add(z, op.matmul(h, weights[2]))
        gates = op.sigmoid(op.getitem(z, index=(slice(None), slice(None, 3 * n))))
        new = op.tanh(op.getitem(z, index=(slice(None), slice(3 * n, None))))
        i = op.getitem(gates, index=(slice(None), slice(None, n)))
        f = op.getitem(gates, index=(slice(None), slice(n, 2 * n)))
        o = op.getitem(gates, index=(slice(None), slice(2 * n, None)))
        c = op.add(op.multiply(f, c), op.multiply(i, new))
        return op.multiply(o, op.tanh(c)), c

    def _output(self, state: Any) -> Any:
        return state[0]

    def _state(self, x: Any, n_rows: int, state: Any) -> Any:
        if state is None:
            zeros = super()._state(x, n_rows, None)
            return zeros, zeros
        if not isinstance(state, tuple | list) or len(state) != 2:
            raise ValueError("LSTMCell: state is not a pair, expected (h, c) as the cell returns it; None starts from zeros")
        return tuple(super(LSTMCell, self)._state(x, n_rows, each) for each in state)
