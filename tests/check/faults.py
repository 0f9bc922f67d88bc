"""Faults that people make in gradient rules, planted one at a time in rules that are right."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.indexed import IndexedGradient
from autograd.tensor import innermost_value
from registry.gradients import get_gradient, register_gradient


@contextmanager
def planted(name: str, change: Callable[[dict[str, Any], Any, Any], dict[str, Any]], *, stale: str = "") -> Iterator[None]:
    """The rule of an operator with ``change(gradient map, dy, saved)`` in its place, for as long as the block lasts.

    A forward rule of its own is taken away, so that the changed rule serves both modes. ``stale`` names an input for which the
    rule is asked with saved values as they were a step earlier.
    """
    right = get_gradient(name)

    def rule(dy, saved, attrs):
        gradients = dict(right.grad_func(dy, saved, attrs))
        if stale in gradients:
            gradients[stale] = right.grad_func(dy, [_earlier(each) for each in saved], attrs)[stale]
        return change(gradients, dy, saved)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of the registry, that a gradient is replaced
        register_gradient(
            replace(right, grad_func=rule, by_input=None, jvp_func=None, fresh=False, takes_indexed=False), override=True
        )
    try:
        yield
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            register_gradient(right, override=True)


def _earlier(value: Any) -> Any:
    """A saved value a hundredth smaller, as before a step of training; shapes and whole numbers are as they are."""
    if isinstance(value, list):
        return [_earlier(each) for each in value]
    plain = innermost_value(value)
    return (
        op.multiply(value, 0.99)
        if isinstance(plain, np.ndarray | np.floating | float) and np.asarray(plain).dtype.kind in "fc"
        else value
    )


def each_thunk(change: Callable[[Any], Any]) -> Callable[[dict[str, Any], Any, Any], dict[str, Any]]:
    """A change of every gradient of a rule by one function of it."""

    def changed(gradients, dy, saved):
        return {name: _through(change, thunk) for name, thunk in gradients.items()}

    return changed


def one_thunk(name: str, change: Callable[[Any], Any]) -> Callable[[dict[str, Any], Any, Any], dict[str, Any]]:
    """A change of the gradient for one input."""

    def changed(gradients, dy, saved):
        return {**gradients, name: _through(change, gradients[name])}

    return changed


def _through(change, thunk):
    if isinstance(thunk, list | tuple):
        return [partial(_called, change, each) for each in thunk]
    return partial(_called, change, thunk)


def _called(change, thunk):
    g = thunk()
    return change(g.dense() if type(g) is IndexedGradient else g)


def last_element_doubled(g):
    """One entry of a gradient, counted from the end of its own axes, twice as large."""
    if not np.shape(g):
        return 2.0 * g
    mask = np.zeros(np.shape(g), bool)
    mask[(*[-1] * len(np.shape(g)),)] = True
    return op.multiply(g, np.where(mask, 2.0, 1.0).astype(g.dtype if g.dtype.kind == "f" else g.real.dtype))


@dataclass(frozen=True)
class Fault:
    """A kind of fault: its name, what it does to a gradient, and what a diagnosis of it contains (None: nothing of its own)."""

    name: str
    change: Callable[[Any], Any]
    says: str | None


FAULTS = (
    Fault("sign", lambda g: -g, "wrong sign"),
    Fault("twice", lambda g: 2.0 * g, "factor 2"),
    Fault("half", lambda g: 0.5 * g, "factor 2"),
    Fault("a thousandth too large", lambda g: 1.001 * g, "factor of 1.001"),
    Fault("one entry", last_element_doubled, None),
    Fault("zero", lambda g: 0.0 * g, "zero where it should not be"),
    Fault("conjugate", lambda g: op.conjugate(g), "conjugate"),
)
