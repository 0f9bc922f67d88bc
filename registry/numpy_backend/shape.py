"""Shapes."""

import numpy as np

from registry.declare import operator

operator("reshape(Tensor a, int[1] shape, *, str order='C') -> Tensor", lambda a, shape, order: np.reshape(a, shape, order=order))
operator("broadcast_to(Tensor array, int[1] shape) -> Tensor", np.broadcast_to)
operator("transpose(Tensor a, int[]? axes=None) -> Tensor", np.transpose)
operator("swapaxes(Tensor a, int axis1, int axis2) -> Tensor", np.swapaxes)
operator("stack(Tensor[] arrays, int axis=0) -> Tensor", lambda arrays, axis: np.stack(arrays, axis))
operator("zeros(*, int[] shape, ScalarType dtype) -> Tensor", lambda shape, dtype: np.zeros(shape, dtype))
operator("astype(Tensor x, ScalarType dtype) -> Tensor", lambda x, dtype: np.asarray(x).astype(dtype)[()])
operator("copy(Tensor a) -> Tensor", lambda a: np.array(a)[()])
