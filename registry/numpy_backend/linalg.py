"""Linear algebra."""

import numpy as np

from registry.declare import operator

operator("matmul(Tensor x1, Tensor x2) -> Tensor", np.matmul)
