"""Gradients of Bessel functions in their argument (DLMF 10.6 and 10.29); those in the order have no closed form."""

import numpy as np

from autograd import operators as op
from autograd.errors import NotTrackedError
from autograd.tensor import innermost_value
from registry.gradients import gradient
from registry.numpy_backend.scipy import bessel as _declared  # noqa: F401  # the operators come first


def _no_order(name, argument):
    def refuse():
        raise NotTrackedError(
            f"{name}: the derivative in its order {argument!r} has no closed form and is not provided; pass {argument} as a plain"
            " number (stop_gradient or t.value)"
        )

    return refuse


@gradient("j0", inputs_to_save=("x",), elementwise=True)
def j0(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: -(dy * op.j1(x))}


@gradient("j1", inputs_to_save=("x",), elementwise=True)
def j1(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy * (0.5 * (op.j0(x) - op.jv(2.0, x)))}


@gradient("y0", inputs_to_save=("x",), elementwise=True)
def y0(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: -(dy * op.y1(x))}


@gradient("y1", inputs_to_save=("x",), elementwise=True)
def y1(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy * (0.5 * (op.y0(x) - op.yv(2.0, x)))}


@gradient("jv", inputs_to_save=("v", "z"), elementwise=True)
def jv(dy, saved, attrs):
    v, z = saved
    return {
        "v": _no_order("jv", "v"),
        "z": lambda: dy * (0.5 * (op.jv(op.subtract(v, 1.0), z) - op.jv(op.add(v, 1.0), z))),
    }


@gradient("yv", inputs_to_save=("v", "z"), elementwise=True)
def yv(dy, saved, attrs):
    v, z = saved
    return {
        "v": _no_order("yv", "v"),
        "z": lambda: dy * (0.5 * (op.yv(op.subtract(v, 1.0), z) - op.yv(op.add(v, 1.0), z))),
    }


@gradient("yn", inputs_to_save=("n", "x"), elementwise=True)
def yn(dy, saved, attrs):
    n, x = saved
    return {
        "n": _no_order("yn", "n"),
        "x": lambda: dy * (0.5 * (op.yv(op.subtract(n, 1.0), x) - op.yv(op.add(n, 1.0), x))),
    }


# -------------------------------------------------------------------------------------------------- modified


@gradient("i0", inputs_to_save=("x",), elementwise=True)
def i0(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy * op.i1(x)}


@gradient("i1", inputs_to_save=("x",), elementwise=True)
def i1(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy * (0.5 * (op.i0(x) + op.iv(2.0, x)))}


@gradient("iv", inputs_to_save=("v", "z"), elementwise=True)
def iv(dy, saved, attrs):
    v, z = saved
    return {
        "v": _no_order("iv", "v"),
        "z": lambda: dy * (0.5 * (op.iv(op.subtract(v, 1.0), z) + op.iv(op.add(v, 1.0), z))),
    }


@gradient("k0", inputs_to_save=("x",), elementwise=True)
def k0(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: -(dy * op.k1(x))}


@gradient("k1", inputs_to_save=("x",), elementwise=True)
def k1(dy, saved, attrs):
    (x,) = saved
    return {"x": lambda: dy * (-0.5 * (op.k0(x) + op.kv(2.0, x)))}


@gradient("kv", inputs_to_save=("v", "z"), elementwise=True)
def kv(dy, saved, attrs):
    v, z = saved
    return {
        "v": _no_order("kv", "v"),
        "z": lambda: dy * (-0.5 * (op.kv(op.subtract(v, 1.0), z) + op.kv(op.add(v, 1.0), z))),
    }


# -------------------------------------------------------------------------------------------------- scaled

# Of the first kind, the factor is exp(-|Re z|), which is not holomorphic: its part of a gradient is real. It has a kink at 0,
# where the mean of the two slopes is taken, as for |x|.


def _sign_of_real(z):
    return np.sign(np.real(innermost_value(z)))


@gradient("i0e", inputs_to_save=("x",), outputs_to_save=True, elementwise=True)
def i0e(dy, saved, attrs):
    x, y = saved
    return {"x": lambda: dy * (op.i1e(x) - _sign_of_real(x) * y)}


@gradient("i1e", inputs_to_save=("x",), outputs_to_save=True, elementwise=True)
def i1e(dy, saved, attrs):
    x, y = saved
    return {"x": lambda: dy * (0.5 * (op.i0e(x) + op.ive(2.0, x)) - _sign_of_real(x) * y)}


@gradient("ive", inputs_to_save=("v", "z"), outputs_to_save=True, elementwise=True, holomorphic=False)
def ive(dy, saved, attrs):
    v, z, y = saved

    def dz():
        through_iv = dy * (0.5 * (op.ive(op.subtract(v, 1.0), z) + op.ive(op.add(v, 1.0), z)))
        return through_iv - op.real(dy * (_sign_of_real(z) * y))

    return {"v": _no_order("ive", "v"), "z": dz}


@gradient("k0e", inputs_to_save=("x",), outputs_to_save=True, elementwise=True)
def k0e(dy, saved, attrs):
    x, y = saved
    return {"x": lambda: dy * (y - op.k1e(x))}


@gradient("k1e", inputs_to_save=("x",), outputs_to_save=True, elementwise=True)
def k1e(dy, saved, attrs):
    x, y = saved
    return {"x": lambda: dy * (y - 0.5 * (op.k0e(x) + op.kve(2.0, x)))}


@gradient("kve", inputs_to_save=("v", "z"), outputs_to_save=True, elementwise=True)
def kve(dy, saved, attrs):
    v, z, y = saved
    return {
        "v": _no_order("kve", "v"),
        "z": lambda: dy * (y - 0.5 * (op.kve(op.subtract(v, 1.0), z) + op.kve(op.add(v, 1.0), z))),
    }
