"""Gradients of solutions of ordinary differential equations.

Backwards, the adjoint equation is solved from each time to the one before (Pontryagin; Froehlich, Loos and Hasenauer, "Scalable
inference of ordinary differential equation models of biochemical processes", 2017, section 2.4.2), starting at the recorded
states. Forwards, the variational equation is solved along with the state. Both are solutions of differential equations in
turn, with the operator itself, so they have gradients of any order. Their accuracy is that of the tolerances given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.dag import plan_for
from autograd.engine import resolve
from autograd.forward import push_forward
from autograd.tape import Tape
from autograd.tape_gradient import gradient as tape_gradient
from autograd.tensor import Tensor, innermost_value
from registry.gradients import gradient
from registry.numpy_backend.scipy import integrate as _declared  # noqa: F401  # the operators come first

_OWN = ("rtol", "atol", "tcrit", "h0", "hmax", "hmin", "mxstep", "mxhnil", "mxordn", "mxords")
"""Options that also hold for the equation of a gradient; the others are about the Jacobian, or about what is printed."""


def _options(options: Mapping[str, Any]) -> dict[str, Any]:
    chosen = {name: options[name] for name in _OWN if name in options}
    for name in ("rtol", "atol"):
        if chosen.get(name) is not None:  # one for each component of the state: the equation of the gradient has others
            chosen[name] = float(np.min(chosen[name]))
    return chosen


def _joined(parts: Sequence[Any]) -> Any:
    return op.concatenate([op.reshape(each, shape=(-1,)) for each in parts], axis=0)


def _split(x: Any, shapes: Sequence[tuple[int, ...]]) -> list[Any]:
    parts, at = [], 0
    for shape in shapes:
        size = int(np.prod(shape))
        parts.append(op.reshape(x[at : at + size], shape=shape))
        at += size
    return parts


def _vector(dy: Any) -> Any:
    """What the equation's function returned, as one array or tensor."""
    dy = resolve(dy)
    return op.stack(list(dy), axis=0) if isinstance(dy, list | tuple) else dy


def _slope(function: Callable[..., Any], y: Any, t: Any, parameters: Sequence[Any], k: int) -> Any:
    """The right-hand side at the k-th time."""
    return op.reshape(_vector(function(y[k], t[k], *parameters)), shape=(-1,))


def _shape(x: Any) -> tuple[int, ...]:
    return np.shape(innermost_value(x))


# -------------------------------------------------------------------------------------------------- forwards


def _variational(function: Callable[..., Any], n_parameters: int, moved: Sequence[int], x: Any, t: Any, *given: Any) -> Any:
    """The right-hand side for the state and its tangent."""
    parameters, directions = given[:n_parameters], given[n_parameters:]
    size = len(x) // 2
    with Tape() as inner:
        sources = [inner.watch(x[:size]), *[inner.watch(each) for each in parameters]]
        dy = _vector(function(sources[0], t, *sources[1:]))
    if type(dy) is not Tensor or dy._tape is not inner:
        return _joined([dy, np.zeros(size)])
    tangents = {sources[0]._id: x[size:]}
    tangents.update({sources[1 + place]._id: each for place, each in zip(moved, directions, strict=True)})
    tangent = push_forward(inner, plan_for(inner, dy._id, tuple(tangents)), tangents, dy._id)
    return _joined([dy._value, np.zeros(size) if tangent is None else tangent])


def _tangent(tangents: Mapping[str, Any], saved: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    (y0, t, *parameters), y = saved[:-1], saved[-1]
    function = attrs["function"]
    d_y0, d_t, *d_parameters = tangents["inputs"]
    moved = [place for place, each in enumerate(d_parameters) if each is not None]
    slopes = [_slope(function, y, t, parameters, k) for k in range(y.shape[0] if d_t is not None else 0)]
    start = np.zeros(y.shape[1]) if d_y0 is None else op.reshape(d_y0, shape=(-1,))
    if d_t is not None:
        start = op.subtract(start, slopes[0] * d_t[0])
    right_side = partial(_variational, function, len(parameters), moved)
    inputs = [_joined([y0, start]), t, *parameters, *[d_parameters[place] for place in moved]]
    change = op.scipy_odeint(inputs, function=right_side, options=_options(attrs["options"]))[:, y.shape[1] :]
    if d_t is None:
        return change
    return op.add(change, op.stack([slope * d_t[k] for k, slope in enumerate(slopes)], axis=0))


# -------------------------------------------------------------------------------------------------- backwards


def _adjoint(function: Callable[..., Any], shapes: Sequence[tuple[int, ...]], x: Any, t: Any, *parameters: Any) -> Any:
    """The right-hand side for state, adjoint state, and the integrals that are the parameters' gradients."""
    size = (len(x) - sum(int(np.prod(each)) for each in shapes)) // 2
    y, adjoint = x[:size], x[size : 2 * size]
    with Tape() as inner:
        sources = [inner.watch(y), *[inner.watch(each) for each in parameters]]
        dy = _vector(function(sources[0], t, *sources[1:]))
        depends = type(dy) is Tensor and dy._tape is inner
        total = op.sum(op.multiply(dy, adjoint)) if depends else None
    if total is None:
        return _joined([dy, np.zeros(len(x) - size)])
    value = dy._value
    return _joined([value, *[-each for each in tape_gradient(inner, total, sources)]])


@gradient("scipy_odeint", save_all_inputs=True, outputs_to_save=True, batched=False, jvp_func=_tangent)
def odeint(dy, saved, attrs):
    (y0, t, *parameters), y = saved[:-1], saved[-1]
    function, options = attrs["function"], _options(attrs["options"])
    shapes = [_shape(each) for each in parameters]
    walked: list[Any] = []

    def walk():
        """The gradients of initial state, times and parameters, from the last time to the first."""
        if walked:
            return walked
        n_times, size = y.shape
        adjoint = dy[n_times - 1]
        sums = np.zeros(sum(int(np.prod(each)) for each in shapes))
        of_times = []
        for k in range(n_times - 1, 0, -1):
            of_times.append(op.sum(_slope(function, y, t, parameters, k) * dy[k]))
            if np.not_equal(innermost_value(t)[k], innermost_value(t)[k - 1]):
                state = _joined([y[k], adjoint, sums])
                times = op.stack([t[k], t[k - 1]], axis=0)
                solved = op.scipy_odeint(
                    [state, times, *parameters], function=partial(_adjoint, function, shapes), options=options
                )
                adjoint, sums = solved[1, size : 2 * size], solved[1, 2 * size :]
            if k == 1:
                of_times.append(-op.sum(_slope(function, y, t, parameters, 0) * adjoint))
            adjoint = op.add(adjoint, dy[k - 1])
        times = op.stack(of_times[::-1], axis=0) if of_times else np.zeros(n_times)
        walked.extend([op.reshape(adjoint, shape=_shape(y0)), times, *_split(sums, shapes)])
        return walked

    return {"inputs": [partial(lambda place: walk()[place], place) for place in range(2 + len(parameters))]}
