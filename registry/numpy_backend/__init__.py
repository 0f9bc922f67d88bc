"""The embedded default backend: NumPy. One file a family; an operator's schema and its kernel stand together."""

from registry.backends import register_backend


class NumpyBackend:
    """The NumPy backend has nothing to start and nothing to dispose."""

    def __repr__(self) -> str:
        return "<NumPy backend>"


register_backend("numpy", NumpyBackend, priority=1)

from registry.numpy_backend import (  # noqa: E402, F401  # each registers its family
    arithmetic,
    assignment,
    compare,
    conv,
    decompositions,
    explog,
    fft,
    indexing,
    linalg,
    polynomials,
    products,
    reduction,
    shape,
    softmax,
    special,
    trig,
)
