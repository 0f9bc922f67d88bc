"""Why it differentiates: one file a family, the same names as in ``registry/numpy_backend``."""

from autograd.gradients import (  # noqa: F401  # each registers its family
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
