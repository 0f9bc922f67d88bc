"""Activations: functions of one array, element by element but for the softmaxes. Layers of ``Sequential`` as they are.

All keep the dtype; none overflows, in value or derivative, while its result is a number of that dtype.
"""

from __future__ import annotations

import math
from typing import Any

from autograd import operators as op
from autograd.numpy.softmax import log_softmax, softmax

__all__ = [
    "elu", "gelu", "leaky_relu", "log_sigmoid", "log_softmax", "mish", "relu", "selu", "sigmoid", "silu", "softmax", "softplus",
    "softsign", "tanh",
]  # fmt: skip

tanh = op.tanh
relu = op.relu
sigmoid = op.sigmoid
softplus = op.softplus


def leaky_relu(x: Any, slope: float = 0.01) -> Any:
    """``x`` where it is positive, ``slope * x`` elsewhere; the derivative at 0 is ``slope``.

    >>> import numpy as np
    >>> leaky_relu(np.array([-2.0, 3.0]), 0.1)
    array([-0.2, 3. ])
    """
    return op.where(op.greater(x, 0), x, op.multiply(x, slope))


def elu(x: Any, alpha: float = 1.0) -> Any:
    """``x`` where it is positive, ``alpha * (exp(x) - 1)`` elsewhere (Clevert and others, 2016).

    >>> import numpy as np
    >>> elu(np.array([-np.inf, 3.0]))
    array([-1., 3.])
    """
    above = op.greater(x, 0)
    below = op.where(above, 0.0, x)  # else the exponential of a large number would be infinite, and then not chosen
    return op.where(above, x, op.multiply(op.expm1(below), alpha))


def selu(x: Any) -> Any:
    """``1.0507 * elu(x, 1.6733)``, which keeps mean 0 and variance 1 (Klambauer and others, 2017); draw weights by lecun_normal.

    >>> import numpy as np
    >>> selu(np.array([-np.inf, 1.0])).round(4)
    array([-1.7581, 1.0507])
    """
    return op.multiply(elu(x, _SELU_ALPHA), _SELU_SCALE)


_SELU_ALPHA = 1.6732632423543772
_SELU_SCALE = 1.0507009873554805


def gelu(x: Any, exact: bool = False) -> Any:
    """``x * P(normal variable <= x)`` (Hendrycks and Gimpel, 2016).

    By default in the form ``x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x**3))) / 2`` of that paper, which is at most 0.0005 off;
    ``exact=True`` takes the error function, as PyTorch's default does, and needs ``gradtape[scipy]``.

    >>> import numpy as np
    >>> gelu(np.array([-1e4, 0.0, 1e4]))
    array([ -0., 0., 10000.])
    """
    if exact:
        from autograd.scipy.special import erfc

        return op.multiply(op.multiply(x, 0.5), erfc(op.multiply(x, -math.sqrt(0.5))))
    inner = op.multiply(x, op.add(op.multiply(op.square(x), 0.044715), 1.0))
    return op.multiply(x, op.sigmoid(op.multiply(inner, 2 * math.sqrt(2 / math.pi))))


def silu(x: Any) -> Any:
    """``x * sigmoid(x)``, also called swish.

    >>> import numpy as np
    >>> silu(np.array([-1e4, 0.0, 1e4]))
    array([ -0., 0., 10000.])
    """
    return op.multiply(x, op.sigmoid(x))


def mish(x: Any) -> Any:
    """``x * tanh(softplus(x))`` (Misra, 2019).

    >>> import numpy as np
    >>> mish(np.array([-1e4, 0.0, 1e4]))
    array([ -0., 0., 10000.])
    """
    return op.multiply(x, op.tanh(op.softplus(x)))


def softsign(x: Any) -> Any:
    """``x / (1 + |x|)``.

    >>> import numpy as np
    >>> softsign(np.array([-1.0, 0.0, 3.0]))
    array([-0.5 , 0. , 0.75])
    """
    return op.divide(x, op.add(op.absolute(x), 1.0))


def log_sigmoid(x: Any) -> Any:
    """``log(sigmoid(x))``, also where the sigmoid is 0 to the last digit.

    >>> import numpy as np
    >>> log_sigmoid(np.array([-1e4, 0.0])).round(4)
    array([-1.000e+04, -6.931e-01])
    """
    return op.negative(op.softplus(op.negative(x)))
