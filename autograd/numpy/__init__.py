"""NumPy's functions over tensors: ``import autograd.numpy as np``.

One file a family, named as in ``registry/numpy_backend``. On plain arrays the functions do what NumPy's do. Names that are
not listed here are NumPy's own; given a tensor, those raise and name themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as _numpy

from autograd.assignable import fill_assignable_array as _fill_assignable_array
from autograd.methods import add_methods as _add_methods
from autograd.methods import numpy_functions as _numpy_functions
from autograd.numpy import (
    arithmetic as _arithmetic,
)
from autograd.numpy import (
    array_methods as _array_methods,
)
from autograd.numpy import (
    assignment as _assignment,
)
from autograd.numpy import (
    compare as _compare,
)
from autograd.numpy import (
    conv as _conv,
)
from autograd.numpy import (
    explog as _explog,
)
from autograd.numpy import (
    indexing as _indexing,
)
from autograd.numpy import (
    later as _later,
)
from autograd.numpy import (
    products as _products,
)
from autograd.numpy import (
    reduction as _reduction,
)
from autograd.numpy import (
    shape as _shape,
)
from autograd.numpy import (
    softmax as _softmax,
)
from autograd.numpy import (
    special as _special,
)
from autograd.numpy import (
    trig as _trig,
)
from autograd.numpy.arithmetic import *  # noqa: F403  # the families list their names
from autograd.numpy.assignment import *  # noqa: F403
from autograd.numpy.compare import *  # noqa: F403
from autograd.numpy.conv import *  # noqa: F403
from autograd.numpy.explog import *  # noqa: F403
from autograd.numpy.indexing import *  # noqa: F403
from autograd.numpy.products import *  # noqa: F403
from autograd.numpy.reduction import *  # noqa: F403
from autograd.numpy.shape import *  # noqa: F403
from autograd.numpy.softmax import *  # noqa: F403
from autograd.numpy.special import *  # noqa: F403
from autograd.numpy.trig import *  # noqa: F403

_FAMILIES = (
    _arithmetic, _assignment, _compare, _conv, _explog, _indexing, _products, _reduction, _shape, _softmax, _special, _trig,
)  # fmt: skip

__all__ = [name for family in _FAMILIES for name in family.__all__] + list(_later.PLACES)

for _family in _FAMILIES:
    for _name in _family.__all__:
        _theirs = getattr(_numpy, _name, None)
        if _theirs is not None:
            _numpy_functions[_theirs] = getattr(_family, _name)
    _add_methods({_name: getattr(_family, _name) for _name in _family.METHODS})

_add_methods(_array_methods.METHODS)
_add_methods(_array_methods.ATTRIBUTES)
_fill_assignable_array()  # after Tensor, whose methods it has too
_later.register()

_ours = {*__all__, *globals()}
_rest = {name: vars(_numpy)[name] for name in _numpy.__all__ if name in vars(_numpy) and name not in _ours}
globals().update(_rest)  # NumPy's own, for code that reads the namespace as a dictionary or imports all of it
__all__ += [*_rest, "random"]  # noqa: F405  # NumPy imports it when it is asked for


def __getattr__(name: str) -> Any:
    return _later.find(name) if name in _later.PLACES else getattr(_numpy, name)
