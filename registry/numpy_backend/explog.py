"""Exponentials and logarithms."""

import numpy as np

from registry.declare import operator

operator("exp(Tensor x) -> Tensor", np.exp)
operator("exp2(Tensor x) -> Tensor", np.exp2)
operator("expm1(Tensor x) -> Tensor", np.expm1)
operator("log(Tensor x) -> Tensor", np.log)
operator("log2(Tensor x) -> Tensor", np.log2)
operator("log10(Tensor x) -> Tensor", np.log10)
operator("log1p(Tensor x) -> Tensor", np.log1p)
operator("logaddexp(Tensor x1, Tensor x2) -> Tensor", np.logaddexp)
operator("logaddexp2(Tensor x1, Tensor x2) -> Tensor", np.logaddexp2)
