"""Functions of the family softmax, which NumPy does not have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autograd import operators as op
from autograd.engine import array_of
from autograd.tensor import Tensor

__all__ = ["log_softmax", "softmax", "softmax_cross_entropy"]
METHODS: tuple[str, ...] = ()


def softmax(x: Any, axis: int | Sequence[int] | None = -1) -> Any:
    """``exp(x) / sum(exp(x))`` along an axis (several, or all with None), by the shift that never overflows.

    >>> import numpy as np
    >>> softmax(np.array([0.0, np.log(3.0), -np.inf]))
    array([0.25, 0.75, 0.  ])
    """
    return op.softmax(x, axis=axis)


def log_softmax(x: Any, axis: int | Sequence[int] | None = -1) -> Any:
    """``x - log(sum(exp(x)))`` along an axis (several, or all with None), by the shift that never overflows.

    >>> import numpy as np
    >>> log_softmax(np.array([1000.0, 1000.0, -np.inf]))
    array([-0.69314718, -0.69314718,        -inf])
    """
    return op.log_softmax(x, axis=axis)


def softmax_cross_entropy(logits: Any, labels: Any) -> Any:
    """The mean over all rows of ``-log(softmax(logits))`` at the label of the row: classes stand in the last axis.

    ``labels`` are class numbers, integers of shape ``logits.shape[:-1]``; or one weight for each class, in the shape of
    ``logits``: then it is the mean of ``-sum(labels * log_softmax(logits))``. Raises ValueError for other labels.

    >>> import numpy as np
    >>> round(float(softmax_cross_entropy(np.array([[0.0, np.log(3.0)]]), np.array([1]))), 6)  # -log(3 / 4)
    0.287682
    """
    if isinstance(labels, list | tuple):
        labels = array_of("softmax_cross_entropy", labels)
    if type(labels) is not Tensor:
        return op.softmax_cross_entropy(logits, labels=labels)[0]
    per_class = op.multiply(labels, op.log_softmax(logits, axis=-1))
    return op.divide(op.negative(op.sum(per_class)), math.prod(per_class.shape[:-1]))
