"""Gradients of convolution: each is a convolution with the other factor reversed."""

from __future__ import annotations

from typing import Any

from autograd import operators as op
from registry.gradients import gradient
from registry.numpy_backend.scipy import signal as _declared  # noqa: F401  # the operators come first


def _reversed(x: Any) -> Any:
    return op.flip(x, axis=tuple(range(2 - len(x.shape), 0)))


def _exchanged(x: Any) -> Any:
    return op.swapaxes(x, axis1=0, axis2=1)


@gradient(
    "scipy_convolve",
    inputs_to_save=("x1", "x2"),
    infos_to_save=("x1", "x2"),
    needs={"x1": ("x2",), "x2": ("x1",)},
    linear=("x1", "x2"),
)
def convolve(dy, saved, attrs):
    x1, x2, (shape1, _), (shape2, _) = saved
    batch, steps = dy.shape[: len(dy.shape) - len(shape1)], dy.shape[len(dy.shape) - len(shape1) + 2 :]
    n_p, n_q = shape1[0], shape2[0]
    full = attrs["mode"] == "full"
    inverse = {"mode": "valid" if full else "full", "method": attrs["method"]}

    def dx1():
        rows = op.reshape(dy, shape=(-1, n_q, *steps))
        g = op.scipy_convolve(rows, _exchanged(_reversed(x2)), **inverse)
        return op.reshape(g, shape=batch + shape1)

    def dx2():
        rows = op.reshape(op.swapaxes(dy, axis1=-len(shape1), axis2=1 - len(shape1)), shape=(-1, n_p, *steps))
        other = _exchanged(x1)
        if full:
            g = op.scipy_convolve(rows, _reversed(other), **inverse)
        else:
            g = _reversed(_exchanged(op.scipy_convolve(other, _reversed(rows), mode="valid", method=attrs["method"])))
        return op.reshape(g, shape=batch + shape2)

    return {"x1": dx1, "x2": dx2}
