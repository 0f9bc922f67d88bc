"""The roots of a polynomial: eigenvalues of its companion matrix, whose derivatives need no eigenvectors."""

import numpy as np

from registry.declare import operator

operator("roots(Tensor p) -> Tensor", np.roots)
