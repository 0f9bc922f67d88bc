"""Layers, losses and initialisers: a model is a plain container of its arrays.

models        ``Module``, ``Sequential``, ``Residual``, ``flatten``
layers        ``Linear``, ``Conv1d``, ``Conv2d``, ``ConvTranspose2d``, ``MaxPool1d``, ``MaxPool2d``, ``AvgPool1d``, ``AvgPool2d``,
              ``global_avg_pool``, ``BatchNorm``, ``LayerNorm``, ``GroupNorm``, ``Dropout``, ``Embedding``
sequences     ``RNN``, ``GRU``, ``LSTM``, ``RNNCell``, ``GRUCell``, ``LSTMCell``, ``MultiHeadAttention``, ``attention``
activations   ``relu``, ``leaky_relu``, ``elu``, ``selu``, ``gelu``, ``silu``, ``mish``, ``tanh``, ``sigmoid``, ``log_sigmoid``,
              ``softplus``, ``softsign``, ``softmax``, ``log_softmax``
losses        ``mse``, ``mae``, ``huber``, ``hinge``, ``cross_entropy``, ``binary_cross_entropy_with_logits``, ``kl_divergence``,
              ``ctc``
by name       ``named_parameters``, ``named_gradients``, ``named_buffers``, ``with_parameters``, ``with_buffers``, ``replace``,
              ``parameter_names``, ``count_parameters``
initialisers  ``autograd.nn.initialisers``: ``glorot_uniform``, ``he_normal``, ``orthogonal``, ``truncated_normal``, ...

A layer is called to use it, and its ``train`` to train it; neither changes it. A step of training:

>>> import numpy as np
>>> from autograd import value_and_grad
>>> rng = np.random.default_rng(0)
>>> model = Sequential(Linear(2, 16, seed=rng), tanh, Linear(16, 2, seed=rng))
>>> x, labels = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 0, 1, 1])
>>> step = value_and_grad(lambda model: cross_entropy(model(x), labels))
>>> for _ in range(200):
...     loss, gradient = step(model)
...     for name, parameter in named_parameters(model).items():
...         parameter -= 0.5 * named_parameters(gradient)[name]
>>> bool(loss < 0.05), model(x).argmax(axis=1)
(True, array([0, 0, 1, 1]))
"""

from autograd.nn import initialisers
from autograd.nn.activations import (
    elu,
    gelu,
    leaky_relu,
    log_sigmoid,
    log_softmax,
    mish,
    relu,
    selu,
    sigmoid,
    silu,
    softmax,
    softplus,
    softsign,
    tanh,
)
from autograd.nn.attention import MultiHeadAttention, attention
from autograd.nn.cells import GRUCell, LSTMCell, RNNCell
from autograd.nn.conv import Conv1d, Conv2d, ConvTranspose2d
from autograd.nn.ctc import ctc
from autograd.nn.dropout import Dropout
from autograd.nn.embedding import Embedding
from autograd.nn.linear import Linear
from autograd.nn.losses import binary_cross_entropy_with_logits, cross_entropy, hinge, huber, kl_divergence, mae, mse
from autograd.nn.module import Module, replace
from autograd.nn.names import (
    count_parameters,
    named_buffers,
    named_gradients,
    named_parameters,
    parameter_names,
    with_buffers,
    with_parameters,
)
from autograd.nn.normalisation import BatchNorm, GroupNorm, LayerNorm
from autograd.nn.pooling import AvgPool1d, AvgPool2d, MaxPool1d, MaxPool2d, global_avg_pool
from autograd.nn.recurrent import GRU, LSTM, RNN
from autograd.nn.sequential import Residual, Sequential, flatten

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "AvgPool1d",
    "AvgPool2d",
    "BatchNorm",
    "Conv1d",
    "Conv2d",
    "ConvTranspose2d",
    "Dropout",
    "Embedding",
    "GRUCell",
    "GroupNorm",
    "LSTMCell",
    "LayerNorm",
    "Linear",
    "MaxPool1d",
    "MaxPool2d",
    "Module",
    "MultiHeadAttention",
    "RNNCell",
    "Residual",
    "Sequential",
    "attention",
    "binary_cross_entropy_with_logits",
    "count_parameters",
    "cross_entropy",
    "ctc",
    "elu",
    "flatten",
    "gelu",
    "global_avg_pool",
    "hinge",
    "huber",
    "initialisers",
    "kl_divergence",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "mae",
    "mish",
    "mse",
    "named_buffers",
    "named_gradients",
    "named_parameters",
    "parameter_names",
    "relu",
    "replace",
    "selu",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "softsign",
    "tanh",
    "with_buffers",
    "with_parameters",
]
