"""Gradients of arithmetic.

Where there is no derivative, these are the choices: |x| at 0 has 0, as have hypot and a complex |z| at the origin; equal
inputs of maximum and minimum share equally, so a clip at its very bound passes half; sqrt at 0 has inf.
"""

from typing import Any

import numpy as np

from autograd import operators as op
from autograd.gradients.limits import curvature_at_zero
from autograd.tensor import innermost_value
from registry.gradients import GradConfig, gradient, register_gradient

_SCALARS: tuple[Any, ...] = (int, float, np.generic)


# ------------------------------------------------------------------------------------------- sums and products


# The commonest operators give one function an input: the walk then builds no map for them.

register_gradient(
    GradConfig(
        "add",
        by_input={"x1": lambda dy, saved, attrs: dy, "x2": lambda dy, saved, attrs: dy},
        elementwise=True,
        keeps_zeros=True,
    )
)

register_gradient(
    GradConfig(
        "subtract",
        by_input={"x1": lambda dy, saved, attrs: dy, "x2": lambda dy, saved, attrs: -dy},
        elementwise=True,
        keeps_zeros=True,
    )
)

register_gradient(
    GradConfig(
        "multiply",
        by_input={"x1": lambda dy, saved, attrs: dy * saved[1], "x2": lambda dy, saved, attrs: dy * saved[0]},
        inputs_to_save=("x1", "x2"),
        needs={"x1": ("x2",), "x2": ("x1",)},
        elementwise=True,
        fresh=True,
    )
)


@gradient(
    "divide",
    inputs_to_save=("x2",),
    outputs_to_save=True,
    needs={"x1": ("x2",), "x2": ("x2", "output")},
    elementwise=True,
)
def divide(dy, saved, attrs):
    x2, y = saved
    quotient: list[Any] = []

    def dx1():
        if not quotient:
            quotient.append(dy / x2)
        return quotient[0]

    # Dividing by x2 rather than by its square, which overflows and underflows long before the quotient does.
    return {"x1": dx1, "x2": lambda: -(dx1() * y)}


@gradient("remainder", inputs_to_save=("x1", "x2"), needs={"x1": (), "x2": ("x1", "x2")}, elementwise=True)
def remainder(dy, saved, attrs):
    x1, x2 = saved
    return {
        "x1": lambda: dy,
        "x2": lambda: -(dy * np.floor_divide(innermost_value(x1), innermost_value(x2))),
    }


@gradient("fmod", inputs_to_save=("x1", "x2"), needs={"x1": (), "x2": ("x1", "x2")}, elementwise=True)
def fmod(dy, saved, attrs):
    def dx2():
        x1, x2 = map(innermost_value, saved)
        # trunc(x1 / x2) would round 2.9999999999999999 up; the multiple that fmod took away is exact.
        return -(dy * np.rint(np.divide(np.subtract(x1, np.fmod(x1, x2)), x2)))

    return {"x1": lambda: dy, "x2": dx2}


register_gradient(
    GradConfig(
        "negative",
        by_input={"x": lambda dy, saved, attrs: -dy},
        elementwise=True,
        keeps_zeros=True,
        fresh=True,
    )
)


@gradient("positive", elementwise=True, keeps_zeros=True)
def positive(dy, saved, attrs):
    return {"x": lambda: dy}


# ------------------------------------------------------------------------------------------- powers


def _power_base(dy, x1, x2):
    """``dy * x2 * x1 ** (x2 - 1)``, which is 0 for ``x2 = 0`` also at ``x1 = 0``."""
    if isinstance(x2, _SCALARS):
        if x2 == 2:
            return dy * (x1 + x1)
        if x2 == 0.5:
            return dy / (2.0 * op.sqrt(x1))
        if x2 == 0:
            return op.where_or_zero(False, dy)
        return dy * (x2 * op.power(x1, x2 - 1))
    exponent = op.subtract(x2, 1.0)  # 1.0, because an unsigned 0 - 1 wraps around
    undefined = np.equal(innermost_value(x1), 0) & np.equal(innermost_value(x2), 0)
    if undefined.any():
        exponent = op.where(undefined, 0.0, exponent)
    return dy * op.multiply(x2, op.power(x1, exponent))


def _power_exponent(dy, x1, x2):
    """``dy * x1 ** x2 * log(x1)``, and 0 for ``x1 = 0``, ``x2 >= 0``, where the power does not change with its exponent."""
    base, exponent = innermost_value(x1), innermost_value(x2)
    positive_base = x1
    constant = np.equal(base, 0) & np.greater_equal(exponent, 0)
    if constant.any():
        positive_base = op.where(constant, 1.0, x1)
    elif np.iscomplexobj(exponent) and not np.iscomplexobj(base):
        positive_base = op.multiply(x1, 1.0 + 0.0j)  # a negative base has a logarithm then
    return dy * op.multiply(op.power(x1, x2), op.log(positive_base))


for _name in ("power", "float_power"):
    register_gradient(
        GradConfig(
            _name,
            by_input={
                "x1": lambda dy, saved, attrs: _power_base(dy, saved[0], saved[1]),
                "x2": lambda dy, saved, attrs: _power_exponent(dy, saved[0], saved[1]),
            },
            inputs_to_save=("x1", "x2"),
            elementwise=True,
        )
    )

register_gradient(
    GradConfig(
        "square",
        by_input={"x": lambda dy, saved, attrs: dy * (saved[0] + saved[0])},
        inputs_to_save=("x",),
        elementwise=True,
        fresh=True,
    )
)


register_gradient(
    GradConfig(
        "sqrt",
        by_input={"x": lambda dy, saved, attrs: dy / (saved[0] + saved[0])},
        outputs_to_save=True,
        elementwise=True,
        fresh=True,
    )
)


@gradient("cbrt", outputs_to_save=True, elementwise=True)
def cbrt(dy, saved, attrs):
    (y,) = saved
    return {"x": lambda: dy / (3.0 * op.square(y))}


@gradient("reciprocal", outputs_to_save=True, elementwise=True)
def reciprocal(dy, saved, attrs):
    (y,) = saved
    return {"x": lambda: -(dy * y * y)}


# ------------------------------------------------------------------------------------------- sizes and signs


def _direction(x, y):
    """The gradient of ``y = |x|``, which is 0 at 0."""
    if np.iscomplexobj(innermost_value(x)):
        return op.conjugate(x) / _without_zeros(y)
    return np.sign(innermost_value(x))


def _absolute_tangent(tangents, saved, attrs):
    x, y = saved
    return op.real(op.multiply(tangents["x"], _direction(x, y)))


@gradient("fabs", inputs_to_save=("x",), outputs_to_save=True, elementwise=True, jvp_func=_absolute_tangent)
@gradient(
    "absolute", inputs_to_save=("x",), outputs_to_save=True, elementwise=True, holomorphic=False, jvp_func=_absolute_tangent
)
def absolute(dy, saved, attrs):
    x, y = saved

    def dx():
        g = dy * _direction(x, y)
        curvature = curvature_at_zero("abs", dy, y)
        return g if curvature is None else g + curvature * op.conjugate(x)

    return {"x": dx}


def _hypot_tangent(tangents, saved, attrs):
    x1, x2, y = saved
    parts = [op.multiply(tangent, x) for tangent, x in ((tangents["x1"], x1), (tangents["x2"], x2)) if tangent is not None]
    return op.divide(parts[0] if len(parts) == 1 else op.add(*parts), _without_zeros(y))


@gradient("hypot", inputs_to_save=("x1", "x2"), outputs_to_save=True, elementwise=True, jvp_func=_hypot_tangent)
def hypot(dy, saved, attrs):
    x1, x2, y = saved

    def part(x):
        g = dy * op.divide(x, _without_zeros(y))
        curvature = curvature_at_zero("hypot", dy, y)
        return g if curvature is None else g + curvature * x

    return {"x1": lambda: part(x1), "x2": lambda: part(x2)}


def _without_zeros(y):
    """``y`` with 1 for each 0: a divisor of what is 0 there too, so that the quotient is 0."""
    zero = np.equal(innermost_value(y), 0)
    return op.where(zero, 1.0, y) if zero.any() else y


@gradient("copysign", inputs_to_save=("x1", "x2"), elementwise=True)
def copysign(dy, saved, attrs):
    x1, x2 = map(innermost_value, saved)
    return {
        "x1": lambda: dy * np.sign(x1) * np.copysign(1.0, x2),
        "x2": lambda: op.where_or_zero(False, dy),
    }


@gradient("heaviside", inputs_to_save=("x1",), elementwise=True)
def heaviside(dy, saved, attrs):
    (x1,) = saved
    return {
        "x1": lambda: op.where_or_zero(False, dy),
        "x2": lambda: op.where_or_zero(np.equal(innermost_value(x1), 0), dy),
    }


@gradient("ldexp", inputs_to_save=("x2",), elementwise=True)
def ldexp(dy, saved, attrs):
    (x2,) = saved
    return {"x1": lambda: op.ldexp(dy, x2)}  # x2 are integers, which no tape follows


@gradient("nextafter", elementwise=True)
def nextafter(dy, saved, attrs):
    """The neighbour of ``x1`` moves as ``x1`` does; of ``x2`` only the side counts on which it lies."""
    return {"x1": lambda: dy, "x2": lambda: op.where_or_zero(False, dy)}


# ------------------------------------------------------------------------------------------- the larger, the smaller


@gradient("maximum", inputs_to_save=("x1", "x2"), elementwise=True)
def maximum(dy, saved, attrs):
    x1, x2 = saved
    return {"x1": lambda: _where_greater(dy, x1, x2), "x2": lambda: _where_greater(dy, x2, x1)}


@gradient("minimum", inputs_to_save=("x1", "x2"), elementwise=True)
def minimum(dy, saved, attrs):
    x1, x2 = saved
    return {"x1": lambda: _where_greater(dy, x2, x1), "x2": lambda: _where_greater(dy, x1, x2)}


@gradient("fmax", inputs_to_save=("x1", "x2"), elementwise=True)
def fmax(dy, saved, attrs):
    x1, x2 = saved
    return {
        "x1": lambda: _where_greater(dy, x1, x2) + _where_alone(dy, x1, x2),
        "x2": lambda: _where_greater(dy, x2, x1) + _where_alone(dy, x2, x1),
    }


@gradient("fmin", inputs_to_save=("x1", "x2"), elementwise=True)
def fmin(dy, saved, attrs):
    x1, x2 = saved
    return {
        "x1": lambda: _where_greater(dy, x2, x1) + _where_alone(dy, x1, x2),
        "x2": lambda: _where_greater(dy, x1, x2) + _where_alone(dy, x2, x1),
    }


@gradient("clip", inputs_to_save=("a", "a_min", "a_max"), elementwise=True)
def clip(dy, saved, attrs):
    """The rule of ``minimum(maximum(a, a_min), a_max)``."""
    a, a_min, a_max = map(innermost_value, saved)

    def below_max():
        if a_max is None:
            return dy
        return _where_greater(dy, a_max, a if a_min is None else np.maximum(a, a_min))

    return {
        "a": lambda: below_max() if a_min is None else _where_greater(below_max(), a, a_min),
        "a_min": lambda: _where_greater(below_max(), a_min, a),
        "a_max": lambda: _where_greater(dy, a if a_min is None else np.maximum(a, a_min), a_max),
    }


def _where_greater(dy, more, less):
    """``dy`` where ``more > less``, half of it where the two are equal, else exactly 0."""
    more, less = innermost_value(more), innermost_value(less)
    g = op.where_or_zero(np.greater(more, less), dy)
    tie = np.equal(more, less)
    return g + 0.5 * op.where_or_zero(tie, dy) if tie.any() else g


def _where_alone(dy, mine, other):
    """``dy`` where only ``other`` is NaN."""
    return op.where_or_zero(np.isnan(innermost_value(other)) & ~np.isnan(innermost_value(mine)), dy)


# ------------------------------------------------------------------------------------------- complex numbers

# For a real function of z = x + iy, a gradient is df/dx - i df/dy. So the rule of a holomorphic function has no conjugate,
# and those below are not holomorphic: they treat x and y apart.


@gradient("real", elementwise=True, holomorphic=False, linear=("val",))
def real(dy, saved, attrs):
    return {"val": lambda: dy}


@gradient("imag", infos_to_save=("val",), elementwise=True, holomorphic=False, linear=("val",))
def imag(dy, saved, attrs):
    (val,) = saved
    return {"val": lambda: -1j * dy if np.dtype(val.dtype).kind == "c" else op.where_or_zero(False, dy)}


@gradient("conjugate", elementwise=True, holomorphic=False, linear=("x",))
def conjugate(dy, saved, attrs):
    return {"x": lambda: op.conjugate(dy)}


@gradient("angle", inputs_to_save=("z",), elementwise=True, holomorphic=False)
def angle(dy, saved, attrs):
    (z,) = saved

    def dz():
        if not np.iscomplexobj(innermost_value(z)):
            return op.where_or_zero(False, dy)
        return dy * (-180j / np.pi if attrs["deg"] else -1j) / z

    return {"z": dz}
