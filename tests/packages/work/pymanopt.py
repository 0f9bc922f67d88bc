"""Optimisation on manifolds by ``pymanopt``: gradients and Hessians of costs over one and over several arguments."""

from __future__ import annotations

import numpy
import pymanopt
import scipy.linalg
from pymanopt import manifolds, optimizers

import autograd.numpy as np

RANDOM = numpy.random.default_rng(7)
SYMMETRIC = (lambda a: a + a.T)(RANDOM.standard_normal((6, 6)))
EIGENVALUES = numpy.linalg.eigvalsh(SYMMETRIC)


def best(manifold, cost, start, optimizer=None):
    function = pymanopt.function.autograd(manifold)(cost)
    optimizer = optimizer or optimizers.TrustRegions(verbosity=0)
    return optimizer.run(pymanopt.Problem(manifold, function), initial_point=start)


def on_a_sphere(quick):
    """The largest eigenvalue, as a maximum on the sphere."""
    start = numpy.ones(6) / 6**0.5
    ways = {
        "by trust regions": optimizers.TrustRegions(verbosity=0),
        "by conjugate gradients": optimizers.ConjugateGradient(verbosity=0),
        "by steepest descent": optimizers.SteepestDescent(verbosity=0, max_iterations=500),
    }
    for way, optimizer in list(ways.items())[: 1 if quick else 3]:
        found = best(manifolds.Sphere(6), lambda x: -np.dot(x, np.dot(SYMMETRIC, x)), start, optimizer)
        yield way, -found.cost, EIGENVALUES[-1], "numpy.linalg.eigvalsh", 1e-6


def subspaces(quick):
    """Sums of largest eigenvalues, as maxima over subspaces."""
    start = numpy.linalg.qr(RANDOM.standard_normal((6, 2)))[0]
    found = best(manifolds.Stiefel(6, 2), lambda x: -np.trace(x.T @ SYMMETRIC @ x), start)
    yield "two, on a Stiefel manifold", -found.cost, EIGENVALUES[-2:].sum(), "numpy.linalg.eigvalsh", 1e-8
    hermitian = SYMMETRIC + 1j * (lambda a: a - a.T)(RANDOM.standard_normal((6, 6)))
    start = numpy.linalg.qr(RANDOM.standard_normal((6, 2)) + 1j * RANDOM.standard_normal((6, 2)))[0]
    found = best(manifolds.ComplexGrassmann(6, 2), lambda x: -np.real(np.trace(np.conj(x.T) @ hermitian @ x)), start)
    yield "two, of complex subspaces", -found.cost, numpy.linalg.eigvalsh(hermitian)[-2:].sum(), "numpy.linalg.eigvalsh", 1e-8


def mean_of_matrices(quick):
    """The geometric mean of two positive definite matrices."""
    first, second = (a @ a.T + numpy.eye(3) for a in RANDOM.standard_normal((2, 3, 3)))
    roots = [numpy.linalg.inv(numpy.linalg.cholesky(each)) for each in (first, second)]

    def cost(x):
        return sum(np.sum(np.log(np.linalg.eigvalsh(root @ x @ root.T)) ** 2) for root in roots)

    found = best(manifolds.SymmetricPositiveDefinite(3), cost, (first + second) / 2)
    root = scipy.linalg.sqrtm(first)
    inverse = numpy.linalg.inv(root)
    known = root @ scipy.linalg.sqrtm(inverse @ second @ inverse) @ root
    yield "of least squared distances", found.point, known, "A^1/2 (A^-1/2 B A^-1/2)^1/2 A^1/2 (Bhatia 2007)", 1e-6


def product(quick):
    """A cost of two arguments on a product of manifolds."""
    manifold = manifolds.Product((manifolds.Sphere(3), manifolds.Euclidean(2)))
    cost = pymanopt.function.autograd(manifold)(lambda u, v: (u[0] * v[0] - 1) ** 2 + 0.1 * np.sum(v**2))
    u, v, along_u, along_v = (numpy.array(each) for each in ([0.6, 0.8, 0], [1.0, 2], [0.1, 0, 0], [0.0, 1]))
    gradient = numpy.concatenate(cost.get_gradient_operator()(u, v))
    yield "gradient", gradient, [-0.8, 0, 0, -0.48 + 0.2, 0.4], "by hand", 1e-14
    hessian = numpy.concatenate(cost.get_hessian_operator()(u, v, along_u, along_v))
    yield "Hessian times a direction", hessian, [0.2, 0, 0, 0.04, 0.2], "by hand: 2 v0^2, 4 u0 v0 - 2, 0.2", 1e-14


CHECKS = (on_a_sphere, subspaces, mean_of_matrices, product)
