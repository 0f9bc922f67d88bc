"""Attention: each query's mean of the values, weighted by how well their keys match it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.engine import resolve
from autograd.nn.dropout import dropped
from autograd.nn.initialisers import Initialiser, glorot_uniform
from autograd.nn.module import Module
from autograd.nn.shapes import fraction, positive, refuse_complex, shape_of, wrong_shape
from autograd.tensor import innermost_value


def attention(query: Any, key: Any, value: Any, mask: Any = None, *, causal: bool = False) -> Any:
    """``softmax(query @ key.T / sqrt(E)) @ value``: ``(..., L, E)``, ``(..., S, E)`` and ``(..., S, V)`` to ``(..., L, V)``.

    mask     broadcasts to ``(..., L, S)``. Of booleans: True where the query may attend to the key (as PyTorch's
             ``scaled_dot_product_attention``, and the opposite of its ``MultiheadAttention``). Of floats: added to the products
    causal   a query attends to keys at its own position and before it, aligned at the first; a mask counts besides

    A query that may attend to nothing gets zeros. Raises ValueError for shapes that do not fit, TypeError for other masks.
    (Vaswani and others, 2017)

    >>> x = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> attention(x, x, x, causal=True)[0]
    array([1., 0.])
    """
    return _attend(query, key, value, mask, causal, 0.0, None)


def _attend(query: Any, key: Any, value: Any, mask: Any, causal: bool, p: float, rng: Any) -> Any:
    shapes = shape_of(query), shape_of(key), shape_of(value)
    _check("attention", *shapes)
    refuse_complex("attention", query, key)
    scores = op.matmul(op.multiply(query, 1 / math.sqrt(shapes[0][-1])), op.swapaxes(key, axis1=-2, axis2=-1))
    allowed = _allowed(shape_of(scores), causal, mask)
    if mask is not None and _plain(mask).dtype.kind == "f":
        scores = op.add(scores, mask if allowed is None else op.where(allowed, mask, 0.0))
    attends: Any = True
    if allowed is not None:
        attends = allowed.any(axis=-1, keepdims=True)
        scores = op.where(allowed | ~attends, scores, -np.inf)
    weights = op.softmax(scores, axis=-1)
    if not np.all(attends):
        weights = op.where(attends, weights, 0.0)
    return op.matmul(dropped(weights, p, rng, "MultiHeadAttention.train"), value)


def _plain(mask: Any) -> Any:
    return np.asarray(innermost_value(resolve(mask)))


def _allowed(shape: tuple[int, ...], causal: bool, mask: Any) -> Any:
    """Where a query may attend, as an array of booleans; None for everywhere."""
    allowed = np.tril(np.ones(shape[-2:], bool)) if causal else None
    if mask is None:
        return allowed
    plain = _plain(mask)
    if plain.dtype.kind not in "bf":
        raise TypeError(
            f"attention: mask has dtype {plain.dtype}, expected booleans (True: may attend) or floats (added to the products);"
            " write mask.astype(bool)"
        )
    try:
        fits = np.broadcast_shapes(plain.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        advice = "of a mask (N, S) of padding give mask[:, None, None, :], of one (N, L, S) mask[:, None]"
        raise wrong_shape("attention", "mask", plain.shape, f"one that broadcasts to {shape}", advice)
    open_places = plain if plain.dtype.kind == "b" else plain != -np.inf
    if plain.dtype.kind == "f" and open_places.all():
        return allowed
    return open_places if allowed is None else open_places & allowed


def _check(who: str, query: tuple[int, ...], key: tuple[int, ...], value: tuple[int, ...]) -> None:
    fits = min(map(len, (query, key, value))) >= 2 and query[-1] == key[-1] and key[-2] == value[-2] and key[-2] > 0
    if not fits:
        raise ValueError(
            f"{who}: query, key and value have shapes {query}, {key} and {value}, expected (..., L, E), (..., S, E) and"
            " (..., S, V) with at least one key; a batch and heads stand in front"
        )


class MultiHeadAttention(Module):
    """Attention in ``n_heads`` equal shares of the features, each of projections of its own: ``(N, L, n_features)`` to the same.

    ``layer(x)`` attends to ``x`` itself, ``layer(query, key, value)`` to others, ``(N, S, n_features)``; ``value`` is ``key`` if
    it is not given. ``mask`` and ``causal`` are those of ``attention``, with the axes ``(N, n_heads, L, S)``: a mask ``(L, S)``
    counts for all, one ``(N, 1, 1, S)`` leaves out padding.

    weight_query, weight_key, weight_value, weight_output   ``(n_features, n_features)``, drawn by ``initialiser``
    bias_query, bias_key, bias_value, bias_output           ``(n_features,)``, zeros; None without ``bias``
    dropout                                                 of the weights of attention, in training

    >>> MultiHeadAttention(8, 2)(np.ones((3, 5, 8)), causal=True).shape
    (3, 5, 8)
    """

    def __init__(
        self,
        n_features: int,
        n_heads: int,
        *,
        dropout: float = 0.0,
        bias: bool = True,
        initialiser: Initialiser = glorot_uniform,
        seed: int | np.random.Generator = 0,
        dtype: Any = np.float64,
    ) -> None:
        positive("MultiHeadAttention", n_features=n_features, n_heads=n_heads)
        fraction("MultiHeadAttention", dropout=dropout)
        if n_features % n_heads:
            raise ValueError(f"MultiHeadAttention: got n_features={n_features}, expected a multiple of n_heads={n_heads}")
        rng = np.random.default_rng(seed)
        shape = (n_features, n_features)
        self.weight_query: Any = initialiser(shape, rng, dtype)
        self.bias_query: Any = np.zeros(n_features, dtype) if bias else None
        self.weight_key: Any = initialiser(shape, rng, dtype)
        self.bias_key: Any = np.zeros(n_features, dtype) if bias else None
        self.weight_value: Any = initialiser(shape, rng, dtype)
        self.bias_value: Any = np.zeros(n_features, dtype) if bias else None
        self.weight_output: Any = initialiser(shape, rng, dtype)
        self.bias_output: Any = np.zeros(n_features, dtype) if bias else None
        self.n_heads, self.dropout = n_heads, dropout

    def __call__(self, query: Any, key: Any = None, value: Any = None, *, mask: Any = None, causal: bool = False) -> Any:
        """What the queries find."""
        return self._run(query, key, value, mask, causal, 0.0, None)

    def train(
        self,
        query: Any,
        rng: np.random.Generator | None = None,
        key: Any = None,
        value: Any = None,
        *,
        mask: Any = None,
        causal: bool = False,
    ) -> tuple[Any, Any]:
        """The same with dropout, and this layer."""
        return self._run(query, key, value, mask, causal, self.dropout, rng), self

    def _run(self, query: Any, key: Any, value: Any, mask: Any, causal: bool, p: float, rng: Any) -> Any:
        key = query if key is None else key
        value = key if value is None else value
        n_features = shape_of(self.weight_query)[0]
        for name, each in (("query", query), ("key", key), ("value", value)):
            shape = shape_of(each)
            if len(shape) != 3 or shape[2] != n_features:
                advice = "give a batch: x[None]" if len(shape) == 2 else f"make the layer with n_features={shape[-1]}"
                raise wrong_shape(
                    "MultiHeadAttention", name, shape, f"(N, length, {n_features})", advice if shape else "give a batch"
                )
        heads = _attend(
            self._heads(query, self.weight_query, self.bias_query),
            self._heads(key, self.weight_key, self.bias_key),
            self._heads(value, self.weight_value, self.bias_value),
            mask, causal, p, rng,
        )  # fmt: skip
        joined = op.reshape(op.swapaxes(heads, axis1=1, axis2=2), shape=shape_of(query))
        return self._projected(joined, self.weight_output, self.bias_output)

    def _projected(self, x: Any, weight: Any, bias: Any) -> Any:
        y = op.matmul(x, weight)
        return y if bias is None else op.add(y, bias)

    def _heads(self, x: Any, weight: Any, bias: Any) -> Any:
        """``(N, n_heads, length, share)`` of what a projection gives."""
        n_rows, length, n_features = shape_of(x)
        apart = op.reshape(self._projected(x, weight, bias), shape=(n_rows, length, self.n_heads, n_features // self.n_heads))
        return op.swapaxes(apart, axis1=1, axis2=2)
