"""Recurrent layers and attention against their formulas written out in NumPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograd import grad, nn
from autograd.numpy import stack
from tests.nn.reference import assert_follows, assert_right, drawn


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def parts(values, count):
    return [values[..., n * (values.shape[-1] // count) : (n + 1) * (values.shape[-1] // count)] for n in range(count)]


def rnn_step(x, state, weight_input, weight_hidden, bias):
    return np.tanh(x @ weight_input + state @ weight_hidden + bias)


def gru_step(x, state, weight_input, weight_hidden, bias, bias_hidden):
    (w_r, w_z, w_n), (u_r, u_z, u_n), (b_r, b_z, b_n) = (parts(each, 3) for each in (weight_input, weight_hidden, bias))
    r = sigmoid(x @ w_r + state @ u_r + b_r)
    z = sigmoid(x @ w_z + state @ u_z + b_z)
    n = np.tanh(x @ w_n + b_n + r * (state @ u_n + bias_hidden))
    return (1 - z) * n + z * state


def lstm_step(x, state, weight_input, weight_hidden, bias):
    h, c = state
    i, f, g, o = parts(x @ weight_input + h @ weight_hidden + bias, 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


KINDS = {
    "RNN": (nn.RNN, nn.RNNCell, rnn_step), "GRU": (nn.GRU, nn.GRUCell, gru_step), "LSTM": (nn.LSTM, nn.LSTMCell, lstm_step),
}  # fmt: skip


def sequence(step, x, state, reverse, **parameters):
    """The outputs of all steps at their places, and the last state."""
    outputs = [None] * x.shape[1]
    for n in reversed(range(x.shape[1])) if reverse else range(x.shape[1]):
        state = step(x[:, n], state, **parameters)
        outputs[n] = state[0] if isinstance(state, tuple) else state
    return np.stack(outputs, axis=1), state


def start(kind, n_rows, n_hidden, rng=None):
    """A state of zeros, or a drawn one."""
    made = [np.zeros((n_rows, n_hidden)) if rng is None else rng.normal(size=(n_rows, n_hidden)) for _ in range(2)]
    return tuple(made) if kind == "LSTM" else made[0]


def of_cell(parameters):
    return {name.removeprefix("cell_"): each for name, each in parameters.items()}


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_layers(kind, reverse):
    make, _, step = KINDS[kind]
    layer = drawn(make(3, 2, reverse=reverse), 1)
    x = np.random.default_rng(2).normal(size=(2, 4, 3))

    def formula(x, **parameters):
        return sequence(step, x, start(kind, 2, 2), reverse, **of_cell(parameters))[0]

    assert_follows(layer, x, formula, lambda layer, x: layer(x))
    assert_right(lambda layer, x: layer(x), layer, x[:1, :2], order=2 if kind == "RNN" else 1)


@pytest.mark.parametrize("kind", KINDS)
def test_last_state_from_a_given_one(kind):
    make, _, step = KINDS[kind]
    layer, rng = drawn(make(3, 2), 3), np.random.default_rng(4)
    x, given_state = rng.normal(size=(2, 3, 3)), start(kind, 2, 2, rng)

    def formula(x, **parameters):
        state = sequence(step, x, given_state, False, **of_cell(parameters))[1]
        return np.stack(state) if kind == "LSTM" else state

    def call(layer, x):
        state = layer.run(
            x, tuple(each.astype(x.dtype) for each in given_state) if kind == "LSTM" else given_state.astype(x.dtype)
        )[1]
        return stack(state) if kind == "LSTM" else state

    assert_follows(layer, x, formula, call)


@pytest.mark.parametrize("kind", KINDS)
def test_cells_and_their_gradient_in_the_state(kind):
    _, make, step = KINDS[kind]
    cell, rng = drawn(make(3, 2), 5), np.random.default_rng(6)
    x, state = rng.normal(size=(4, 3)), start(kind, 4, 2, rng)
    parameters = nn.named_parameters(cell)
    np.testing.assert_allclose(cell(x, state), step(x, state, **parameters), rtol=1e-12)
    np.testing.assert_allclose(cell(x), step(x, start(kind, 4, 2), **parameters), rtol=1e-12)
    assert_right(lambda cell, x, state: cell(x, state), cell, x[:1], start(kind, 1, 2, rng))


@given(batch=st.integers(1, 3), length=st.integers(1, 4), cut=st.integers(0, 3), kind=st.sampled_from(sorted(KINDS)))
def test_a_sequence_in_two_pieces(batch, length, cut, kind):
    """Running on from the state that the first piece left gives what the whole gives."""
    layer = drawn(KINDS[kind][0](2, 3), length)
    x = np.random.default_rng(batch).normal(size=(batch, length + cut, 2))
    outputs, state = layer.run(x)
    first, middle = layer.run(x[:, :length])
    if cut:
        second, middle = layer.run(x[:, length:], middle)
        first = np.concatenate([first, second], axis=1)
    np.testing.assert_allclose(first, outputs, rtol=1e-12)
    np.testing.assert_allclose(middle, state, rtol=1e-12)
    for row in range(batch):
        np.testing.assert_allclose(layer(x[row : row + 1])[0], outputs[row], rtol=1e-10, atol=1e-12)


def test_what_the_cells_start_from():
    cell = nn.LSTMCell(3, 2, seed=1)
    np.testing.assert_array_equal(cell.bias, [0, 0, 1, 1, 0, 0, 0, 0])
    for n in range(4):
        square = cell.weight_hidden[:, 2 * n : 2 * n + 2]
        np.testing.assert_allclose(square.T @ square, np.eye(2), atol=1e-12)
    assert abs(cell.weight_input).max() <= np.sqrt(6 / 5)
    assert nn.RNN(2, 2, activation=nn.relu).cell.activation is nn.relu


# -------------------------------------------------------------------------------------------------- attention


def softmax(scores):
    scores = scores - scores.real.max(axis=-1, keepdims=True)
    return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)


def multi_head(x, allowed, key=None, bias=0.0, n_heads=2, **p):
    """Each head of each example by itself."""
    key = x if key is None else key
    q, k, v = (each @ p[f"weight_{n}"] + p.get(f"bias_{n}", 0.0) for n, each in (("query", x), ("key", key), ("value", key)))
    heads = np.zeros(q.shape, complex)
    share = x.shape[2] // n_heads
    for n, h in itertools.product(range(len(x)), range(n_heads)):
        at = (n, slice(None), slice(h * share, (h + 1) * share))
        scores = q[at] @ k[at].T / np.sqrt(share) + bias
        places = np.broadcast_to(allowed, (len(x), n_heads, *scores.shape))[n, h]
        heads[at] = softmax(np.where(places, scores, -1e300)) @ v[at]
    return heads @ p["weight_output"] + p.get("bias_output", 0.0)


X = np.random.default_rng(7).normal(size=(2, 3, 4))
KEY = np.random.default_rng(8).normal(size=(2, 5, 4))
PADDING = np.array([[True, True, False], [True, False, False]])[:, None, None, :]
FLOAT = np.dtype(float)
ADDED = np.random.default_rng(9).normal(size=(3, 3))

ATTENTION = {
    "itself": ({}, {"allowed": True}),
    "causal": ({"causal": True}, {"allowed": np.tri(3, dtype=bool)}),
    "padding": ({"mask": PADDING}, {"allowed": PADDING}),
    "causal and padding": ({"mask": PADDING, "causal": True}, {"allowed": PADDING & np.tri(3, dtype=bool)}),
    "added": ({"mask": ADDED}, {"allowed": True, "bias": ADDED}),
    "added -inf": ({"mask": np.where(np.tri(3) > 0, ADDED, -np.inf)}, {"allowed": np.tri(3, dtype=bool), "bias": ADDED}),
    "others": ({"key": KEY}, {"allowed": True, "key": KEY}),
}


@pytest.mark.parametrize("name", ATTENTION)
def test_multi_head_attention(name):
    arguments, expected = ATTENTION[name]
    layer = drawn(nn.MultiHeadAttention(4, 2, bias=name != "itself"), 1)

    def call(layer, x):
        cast = {n: each.astype(x.dtype) if getattr(each, "dtype", None) is FLOAT else each for n, each in arguments.items()}
        return layer(x, **cast)

    assert_follows(layer, X, lambda x, **p: multi_head(x, **expected, **p), call)


def test_attention_to_second_order():
    assert_right(lambda q, k, v: nn.attention(q, k, v), X[0, :2, :2], KEY[0, :3, :2], KEY[1, :3, :1])
    layer = drawn(nn.MultiHeadAttention(2, 1, bias=False), 2)  # a bias of the keys moves all scores of a query alike
    assert_right(lambda layer, x: layer(x, causal=True), layer, X[:1, :2, :2])


def test_a_query_without_keys_gets_zeros_and_has_no_influence():
    mask = np.array([[True, False, True], [False, False, False], [True, True, True]])
    np.testing.assert_array_equal(nn.attention(X[0], X[0], X[0], mask.tolist()), nn.attention(X[0], X[0], X[0], mask))
    np.testing.assert_array_equal(nn.attention(X[0], X[0], X[0], ADDED.tolist()), nn.attention(X[0], X[0], X[0], ADDED))
    for given_mask in (mask, np.where(mask, 0.0, -np.inf)):
        y = nn.attention(X[0], X[0], X[0], given_mask)
        np.testing.assert_array_equal(y[1], 0)
        np.testing.assert_allclose(y[2], nn.attention(X[0], X[0], X[0])[2])
        g = grad(lambda q, m: (nn.attention(q, X[0], X[0], m) ** 2).sum())(X[0], given_mask)
        assert np.isfinite(g).all()
        np.testing.assert_array_equal(g[1], 0)


def test_a_mask_can_be_learned():
    g = grad(lambda mask: (nn.attention(X[0], X[0], X[0], mask) ** 2).sum())(ADDED)
    np.testing.assert_allclose(g.sum(axis=1), 0, atol=1e-12)  # a constant on a row changes nothing
    assert_right(lambda mask: nn.attention(X[0], X[0], X[0], mask), ADDED)


def test_scores_of_any_size_are_safe():
    q = np.array([[1e4, 0.0], [0.0, 1e4]])
    np.testing.assert_array_equal(nn.attention(q, q, np.eye(2)), np.eye(2))
    assert np.isfinite(grad(lambda q: nn.attention(q, q, np.eye(2)).sum())(q)).all()


def test_dropout_of_attention():
    layer = drawn(nn.MultiHeadAttention(4, 2, dropout=0.5), 3)
    y, same = layer.train(X, np.random.default_rng(1))
    assert same is layer
    assert not np.allclose(y, layer(X))
    np.testing.assert_array_equal(y, layer.train(X, np.random.default_rng(1))[0])
    runs = np.array([layer.train(X, np.random.default_rng(n))[0] for n in range(1000)])
    uncertain = runs.std(axis=0) / np.sqrt(len(runs))
    assert np.all(np.abs(runs.mean(axis=0) - layer(X)) < 5 * uncertain)  # the expected value is what it gives in use
    with pytest.raises(TypeError, match=r"MultiHeadAttention\.train: got rng=None"):
        layer.train(X)


@given(batch=st.integers(1, 3), n_queries=st.integers(1, 3), n_keys=st.integers(1, 3), heads=st.integers(1, 2))
def test_attention_of_any_shape(batch, n_queries, n_keys, heads):
    layer = drawn(nn.MultiHeadAttention(2 * heads, heads), batch)
    rng = np.random.default_rng(heads)
    x, key = rng.normal(size=(batch, n_queries, 2 * heads)), rng.normal(size=(batch, n_keys, 2 * heads))
    expected = multi_head(x, True, key, n_heads=heads, **nn.named_parameters(layer)).real
    np.testing.assert_allclose(layer(x, key), expected, rtol=1e-9, atol=1e-10)
