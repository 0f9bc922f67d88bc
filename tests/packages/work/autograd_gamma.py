"""Gradients of the incomplete gamma and beta functions by ``autograd_gamma``, which defines them as primitives."""

from __future__ import annotations

import autograd_gamma
import numpy
import scipy.special

import autograd.numpy as np
from autograd import elementwise_grad, grad, hessian

X = numpy.array([0.5, 1.5, 3.0])

# The package differentiates in a and b by differences of order h**4 with h = 6e-6 x: about 1e-9 is what it can give.
ITS_OWN_DIFFERENCES = 1e-8


def in_shape(quick):
    """Incomplete gamma functions in their shape parameter."""
    at_one = numpy.exp(-X) * (numpy.log(X) + numpy.euler_gamma) + scipy.special.exp1(X)
    source = "d/da Q(a, x) at a = 1 is exp(-x) (log x + Euler's constant) + E1(x)"
    yield "of gammaincc", elementwise_grad(autograd_gamma.gammaincc)(numpy.ones(3), X), at_one, source, ITS_OWN_DIFFERENCES
    yield "of gammainc", elementwise_grad(autograd_gamma.gammainc)(numpy.ones(3), X), -at_one, source, ITS_OWN_DIFFERENCES
    total = grad(lambda a: np.sum(autograd_gamma.gammainccln(a, X)))(1.0)
    yield "of a sum of gammainccln", total, numpy.sum(at_one / numpy.exp(-X)), source + ", and Q(1, x) = exp(-x)", 1e-7


def in_argument(quick):
    """Incomplete gamma function in its argument."""
    density = numpy.exp(-X) * X**1.5 / scipy.special.gamma(2.5)
    source = "d/dx P(a, x) is x**(a - 1) exp(-x) / gamma(a)"
    yield "once", elementwise_grad(autograd_gamma.gammainc, 1)(2.5, X), density, source, 1e-13
    second = elementwise_grad(elementwise_grad(autograd_gamma.gammainc, 1), 1)(2.5, X)
    yield "twice", second, density * (1.5 / X - 1), source + ", differentiated", 1e-13
    bent = hessian(lambda x: np.sum(autograd_gamma.gammaincln(2.5, x)))(X)
    share = density / scipy.special.gammainc(2.5, X)
    yield "its logarithm, twice", bent, numpy.diag(share * (1.5 / X - 1) - share**2), source + ", of log P", 1e-12


def beta_functions(quick):
    """Incomplete beta function in its parameters."""
    a = grad(lambda a: autograd_gamma.betainc(a, 1.0, 0.3))(2.0)
    yield "a", a, 0.3**2 * numpy.log(0.3), "I(a, 1, x) is x**a", ITS_OWN_DIFFERENCES
    b = grad(lambda b: autograd_gamma.betaincln(1.0, b, 0.3))(2.0)
    known = -(0.7**2) * numpy.log(0.7) / (1 - 0.7**2)
    yield "b, of its logarithm", b, known, "I(1, b, x) is 1 - (1 - x)**b", ITS_OWN_DIFFERENCES


def inverses(quick):
    """Inverses of the incomplete gamma and beta functions."""
    y = numpy.array([0.2, 0.7])
    slope = elementwise_grad(autograd_gamma.gammaincinv, 1)(1.0, y)
    yield "gammaincinv in y", slope, 1 / (1 - y), "P(1, x) is 1 - exp(-x), so x = -log(1 - y)", 1e-8
    shape = grad(lambda b: autograd_gamma.betaincinv(1.0, b, 0.3))(2.0)
    known = -(0.7**0.5) * numpy.log(0.7) * -0.25
    yield "betaincinv in b", shape, known, "I(1, b, x) = y gives x = 1 - (1 - y)**(1/b)", 1e-8


CHECKS = (in_shape, in_argument, beta_functions, inverses)
