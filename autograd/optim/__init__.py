"""Optimisers: frozen records of settings, which change the arrays of a model in place and keep what they remember in a dict.

by gradients    ``SGD``, ``Lion``, ``Adagrad``, ``Adadelta``, ``RMSProp``, ``Adam``, ``AdamW``, ``Adamax``, ``NAdam``
by the loss     ``LBFGS``, and ``minimize`` for all methods of ``scipy.optimize.minimize``
by names        ``groups``, ``freeze``, ``Frozen``
clipping        ``clip_by_value``, ``clip_by_global_norm``, ``global_norm``, ``clipped``
rates           ``Constant``, ``StepDecay``, ``ExponentialDecay``, ``CosineDecay``, ``OneCycle``, ``ReduceOnPlateau``

A model is any container of arrays. A step of training:

>>> import numpy as np
>>> from autograd import value_and_grad
>>> model = {"slope": np.array(0.0), "offset": np.array(0.0)}
>>> x = np.linspace(-1, 1, 20)
>>> step = value_and_grad(lambda model: ((model["slope"] * x + model["offset"] - (3 * x - 1)) ** 2).mean())
>>> optimiser = Adam(CosineDecay(0.1, steps=200))
>>> state = optimiser.init(model)
>>> for _ in range(200):
...     loss, gradient = step(model)
...     model, state = optimiser.update(model, gradient, state)
>>> bool(loss < 1e-3), round(float(model["slope"]), 1), round(float(model["offset"]), 1)
(True, 3.0, -1.0)
"""

from autograd.optim.adam import Adam, Adamax, AdamW, NAdam
from autograd.optim.adaptive import Adadelta, Adagrad, RMSProp
from autograd.optim.clipped import clipped
from autograd.optim.clipping import clip_by_global_norm, clip_by_value, global_norm
from autograd.optim.groups import Frozen, freeze, groups
from autograd.optim.lbfgs import LBFGS, Minimum
from autograd.optim.minimize import minimize
from autograd.optim.momentum import SGD, Lion
from autograd.optim.optimiser import Optimiser, State
from autograd.optim.schedules import Constant, CosineDecay, ExponentialDecay, OneCycle, ReduceOnPlateau, StepDecay

__all__ = [
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Constant",
    "CosineDecay",
    "ExponentialDecay",
    "Frozen",
    "Lion",
    "Minimum",
    "NAdam",
    "OneCycle",
    "Optimiser",
    "RMSProp",
    "ReduceOnPlateau",
    "State",
    "StepDecay",
    "clip_by_global_norm",
    "clip_by_value",
    "clipped",
    "freeze",
    "global_norm",
    "groups",
    "minimize",
]
