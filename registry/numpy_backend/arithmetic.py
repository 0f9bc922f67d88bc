"""Arithmetic kernels."""

import numpy as np

from registry.declare import operator

operator("add(Tensor x1, Tensor x2) -> Tensor", np.add)
operator("subtract(Tensor x1, Tensor x2) -> Tensor", np.subtract)
operator("multiply(Tensor x1, Tensor x2) -> Tensor", np.multiply)
operator("divide(Tensor x1, Tensor x2) -> Tensor", np.divide)
operator("floor_divide(Tensor x1, Tensor x2) -> Tensor", np.floor_divide, constant=True)
operator("remainder(Tensor x1, Tensor x2) -> Tensor", np.remainder)
operator("power(Tensor x1, Tensor x2) -> Tensor", np.power)
operator("negative(Tensor x) -> Tensor", np.negative)
operator("positive(Tensor x) -> Tensor", np.positive)
operator("absolute(Tensor x) -> Tensor", np.absolute)
operator("real(Tensor x) -> Tensor", lambda x: np.real(x))
operator("imag(Tensor x) -> Tensor", lambda x: np.imag(x))
