"""Derivatives to third order and Markov chains of ``mici``, on plain and on curved spaces."""

from __future__ import annotations

import mici
import numpy
from mici.autodiff import autograd_wrapper as operators

import autograd.numpy as np

Q = numpy.array([0.3, 1.2, -0.7])
MATRIX = numpy.arange(9.0).reshape(3, 3) ** 0.5


def quartic(q):
    """Sum of q**4 / 4, and q0 q1."""
    return np.sum(q**4) / 4 + q[0] * q[1]


def quartic_gradient(q):
    return q**3 + numpy.array([q[1], q[0], 0.0])


def quartic_hessian(q):
    return 3 * numpy.diag(q**2) + numpy.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])


def derivatives(quick):
    """The differential operators of the autograd backend, on polynomials."""
    source = "by hand"
    gradient, value = operators.grad_and_value(quartic)(Q)
    yield "gradient", gradient, quartic_gradient(Q), source, 1e-14
    yield "value", value, 0.94045, source, 1e-14
    yield "Hessian", operators.hessian_grad_and_value(quartic)(Q)[0], quartic_hessian(Q), source, 1e-14
    third = operators.mtp_hessian_grad_and_value(quartic)(Q)[0](MATRIX)
    yield "third derivative times a matrix", third, 6 * Q * numpy.diag(MATRIX), source, 1e-13

    def three(q):
        return np.array([q[0] * q[1], np.sin(q[2]), q[0] ** 3])

    product, jacobian, _ = operators.mhp_jacobian_and_value(three)(Q)
    known = [[Q[1], Q[0], 0], [0, 0, numpy.cos(Q[2])], [3 * Q[0] ** 2, 0, 0]]
    yield "Jacobian", jacobian, known, source, 1e-14
    by_hand = [MATRIX[0, 1] + 6 * Q[0] * MATRIX[2, 0], MATRIX[0, 0], -numpy.sin(Q[2]) * MATRIX[1, 2]]
    yield "matrix times vector of Hessians", product(MATRIX), by_hand, source, 1e-14


def sample(system, integrator, start, quick, length):
    sampler = mici.samplers.DynamicMultinomialHMC(system, integrator, rng=numpy.random.default_rng(20))
    warm_up, main = (20, 60) if quick else (50, length)
    outputs = sampler.sample_chains(warm_up, main, [start], display_progress=False)
    return outputs.traces["pos"][0]


def chain(quick):
    """A chain of Hamiltonian Monte Carlo for a normal distribution in three dimensions."""
    mean, precision = numpy.array([1.0, -0.5, 2.0]), numpy.array([[2.0, 0.6, 0.0], [0.6, 1.0, 0.2], [0.0, 0.2, 1.5]])

    def density(q):
        return 0.5 * np.dot(q - mean, np.dot(precision, q - mean))

    by_hand = mici.systems.EuclideanMetricSystem(density, grad_neg_log_dens=lambda q: precision @ (q - mean))
    ours = mici.systems.EuclideanMetricSystem(density, backend="autograd")
    chains = [
        sample(system, mici.integrators.LeapfrogIntegrator(system), numpy.zeros(3), quick, 600) for system in (ours, by_hand)
    ]
    yield "its positions", chains[0][:30], chains[1][:30], "the same chain with the gradient written by hand", 1e-8
    yield "mean", chains[0].mean(0), mean, f"the mean of the distribution; {len(chains[0])} draws", 0.6 if quick else 0.15
    yield (
        "covariance",
        numpy.cov(chains[0].T),
        numpy.linalg.inv(precision),
        "the inverse of the precision",
        0.9 if quick else 0.25,
    )


def on_a_sphere(quick):
    """A constrained chain on the sphere, for the von Mises-Fisher distribution."""

    def constraint(q):
        return np.array([np.dot(q, q) - 1.0])

    def density(q):
        return -2 * q[0]

    ours = mici.systems.DenseConstrainedEuclideanMetricSystem(density, constr=constraint, backend="autograd")
    positions = sample(ours, mici.integrators.ConstrainedLeapfrogIntegrator(ours), numpy.array([1.0, 0, 0]), quick, 400)
    yield "distance from the centre", (positions**2).sum(1), numpy.ones(len(positions)), "the constraint", 1e-7
    known = [1 / numpy.tanh(2) - 1 / 2, 0, 0]
    yield "mean direction", positions.mean(0), known, "coth k - 1 / k (Fisher 1953), k = 2", 0.5 if quick else 0.15


def with_a_metric(quick):
    """Forces in the metric of a softened Hessian, which needs third derivatives."""
    gradient = operators.grad_and_value(quartic)
    system = mici.systems.SoftAbsRiemannianMetricSystem(quartic, grad_neg_log_dens=gradient, backend="autograd")

    def energy(q):
        return system.h(mici.states.ChainState(pos=q, mom=Q[::-1], dir=1))

    def slope(step):
        return numpy.array([(energy(Q + step * e) - energy(Q - step * e)) / (2 * step) for e in numpy.eye(3)])

    forces = system.dh_dpos(mici.states.ChainState(pos=Q, mom=Q[::-1], dir=1))
    known = (4 * slope(1e-3) - slope(2e-3)) / 3
    yield "derivative of the Hamiltonian", forces, known, "differences of the Hamiltonian, extrapolated", 1e-8


CHECKS = (derivatives, chain, on_a_sphere, with_a_metric)
