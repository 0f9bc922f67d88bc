"""Quantum circuits of ``pennylane`` with the interface autograd: gradients, Hessians and optimisation on default.qubit."""

from __future__ import annotations

import numpy
import pennylane as qml
from pennylane import numpy as np

DEVICE = qml.device("default.qubit", wires=2)
ANGLES = numpy.array([0.1, 0.7, 0.4])


def circuit(p):
    """Expectation of Z x Z: the rotation of the first wire is copied to the second, so it is cos(p1) whatever p0 and p2 are."""
    qml.RX(p[0], wires=0)
    qml.RY(p[1], wires=1)
    qml.CNOT(wires=[0, 1])
    qml.RZ(p[2], wires=1)
    return qml.expval(qml.PauliZ(0) @ qml.PauliZ(1))


def second_wire(p):
    """Expectation of Z on the second wire, cos(p0) cos(p1)."""
    qml.RX(p[0], wires=0)
    qml.RY(p[1], wires=1)
    qml.CNOT(wires=[0, 1])
    return qml.expval(qml.PauliZ(1))


def gradients(quick):
    """Gradient of a circuit of three angles."""
    at = np.array(ANGLES, requires_grad=True)
    known = [0, -numpy.sin(ANGLES[1]), 0]
    for method in ("backprop", "parameter-shift", "adjoint", "finite-diff"):
        node = qml.QNode(circuit, DEVICE, interface="autograd", diff_method=method)
        tolerance = 1e-6 if method == "finite-diff" else 1e-12
        yield f"by {method}", qml.grad(node)(at), known, "the expectation is cos(p1)", tolerance
    node = qml.QNode(circuit, DEVICE, interface="autograd", diff_method="backprop")
    yield "value", node(at), numpy.cos(ANGLES[1]), "the expectation is cos(p1)", 1e-12


def second_derivatives(quick):
    """Hessian of a circuit of two angles."""
    a, b = 0.3, 0.5
    sines, cosines = numpy.sin([a, b]), numpy.cos([a, b])
    off = sines.prod()
    known = [[-cosines.prod(), off], [off, -cosines.prod()]]
    for method in ("backprop", "parameter-shift"):
        node = qml.QNode(second_wire, DEVICE, interface="autograd", diff_method=method, max_diff=2)
        found = qml.jacobian(qml.grad(node))(np.array([a, b], requires_grad=True))
        yield f"by {method}", found, known, "the expectation is cos(p0) cos(p1)", 1e-12


def several_outputs(quick):
    """Jacobians of probabilities and of several expectations."""

    def probabilities(p):
        qml.RX(p, wires=0)
        qml.RY(2 * p, wires=1)
        return qml.probs(wires=[0, 1])

    node = qml.QNode(probabilities, DEVICE, interface="autograd", diff_method="backprop")
    a = 0.3
    one, two = numpy.array([numpy.cos(a / 2) ** 2, numpy.sin(a / 2) ** 2]), numpy.array([numpy.cos(a) ** 2, numpy.sin(a) ** 2])
    slope_one, slope_two = numpy.array([-1, 1]) * numpy.sin(a) / 2, numpy.array([-1, 1]) * numpy.sin(2 * a)
    known = numpy.ravel(numpy.outer(slope_one, two) + numpy.outer(one, slope_two))
    yield "four probabilities", qml.jacobian(node)(np.array(a)), known, "products of cos^2 and sin^2 of half angles", 1e-12

    def two(x, y):
        qml.RX(x, wires=0)
        qml.RY(y, wires=1)
        return qml.expval(qml.PauliZ(0)), qml.expval(qml.PauliX(1))

    for method in ("backprop", "parameter-shift", "adjoint"):
        node = qml.QNode(two, DEVICE, interface="autograd", diff_method=method)
        found = qml.jacobian(lambda x, y, node=node: qml.math.stack(node(x, y)))(np.array(0.3), np.array(0.5))
        known = [[-numpy.sin(0.3), 0], [0, numpy.cos(0.5)]]
        yield f"two expectations, by {method}", numpy.array(found), known, "cos(x) and sin(y)", 1e-12


def optimisers(quick):
    """Optimisers over circuits."""
    node = qml.QNode(second_wire, DEVICE, interface="autograd")
    optimiser, p = qml.GradientDescentOptimizer(0.4), np.array([0.5, 0.2], requires_grad=True)
    by_hand = numpy.array([0.5, 0.2])
    for _ in range(10 if quick else 40):
        p = optimiser.step(node, p)
        by_hand = by_hand + 0.4 * numpy.sin(by_hand) * numpy.cos(by_hand[::-1])
    yield "gradient descent", p, by_hand, "the same steps with the gradient by hand", 1e-10
    p, known = np.array([0.5, 0.2], requires_grad=True), numpy.array([0.5, 0.2])
    p = qml.QNGOptimizer(0.1).step(node, p)
    known = known + 0.1 * 4 * numpy.sin(known) * numpy.cos(known[::-1])
    yield "one natural-gradient step", p, known, "the Fubini-Study metric of two Pauli rotations is 1/4", 1e-10


def ground_state(quick):
    """Ground state of a Hamiltonian by a variational circuit."""
    hamiltonian = qml.Hamiltonian(
        [-0.8105, 0.1721, -0.2257, 0.1721, 0.1209, 0.1689, 0.0453], [
            qml.Identity(0), qml.PauliZ(0), qml.PauliZ(1), qml.PauliZ(0) @ qml.PauliZ(1), qml.PauliX(0) @ qml.PauliX(1),
            qml.PauliY(0) @ qml.PauliY(1), qml.PauliX(0),
        ],
    )  # fmt: skip

    @qml.qnode(DEVICE, interface="autograd", diff_method="backprop")
    def energy(p):
        qml.StronglyEntanglingLayers(p, wires=[0, 1])
        return qml.expval(hamiltonian)

    start = numpy.random.default_rng(2).normal(size=qml.StronglyEntanglingLayers.shape(2, 2))
    optimiser, p = qml.AdamOptimizer(0.1), np.array(start, requires_grad=True)
    for _ in range(60 if quick else 300):
        p = optimiser.step(energy, p)
    lowest = numpy.linalg.eigvalsh(qml.matrix(hamiltonian, wire_order=[0, 1]))[0]
    yield "energy", energy(p), lowest, "numpy.linalg.eigvalsh of its matrix", 0.05 if quick else 1e-4


def namespace(quick):
    """Plain functions in pennylane's own NumPy, which wraps ours."""
    x = np.array([1.0, 2.0])
    yield "gradient", qml.grad(lambda x: np.sum(np.sin(x) ** 2))(x), numpy.sin([2.0, 4.0]), "sin(2 x)", 1e-14
    inverse = qml.grad(lambda x: np.linalg.inv(np.diag(x))[0, 0])(x)
    yield "through linalg", inverse, [-1.0, 0.0], "-1 / x^2", 1e-14
    constant = qml.math.is_independent(lambda x: 3.0, "autograd", (x,))
    varies = qml.math.is_independent(lambda x: 2 * x, "autograd", (x,))
    yield "what depends on nothing", [float(constant), float(varies)], [1.0, 0.0], "by definition", 0


CHECKS = (gradients, second_derivatives, several_outputs, optimisers, ground_state, namespace)
