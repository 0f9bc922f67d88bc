"""What HIPS autograd keeps under ``misc``.

``flatten``              a nested container of arrays as one vector, and back
``const_graph``          a function whose graph is the same at every call
``misc.optimizers``      ``sgd``, ``rmsprop``, ``adam``
``misc.fixed_points``    ``fixed_point``, differentiable by the implicit function theorem
"""

from autograd.misc import tracers
from autograd.misc.flatten import flatten
from autograd.misc.tracers import const_graph

__all__ = ["const_graph", "flatten", "tracers"]
