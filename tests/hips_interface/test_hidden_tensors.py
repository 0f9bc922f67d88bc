"""Primitives that get an object which holds their arguments too, as quantum circuits hold their parameters."""

from __future__ import annotations

import gc

import numpy as onp
import pytest

import autograd.numpy as np
from autograd import Tape, grad, hessian, jacobian
from autograd.errors import GradientError
from autograd.extend import defvjp, primitive
from autograd.numpy.numpy_boxes import ArrayBox


class Program:
    """``sin(a) cos(b)`` of two parameters, which it hides."""

    def __init__(self, parameters):
        self.parameters = parameters

    def run(self):
        a, b = self.parameters
        return np.sin(a) * np.cos(b)

    def slopes(self):
        """The derivatives, which are the same program a quarter of a turn on; it is run as one that can be differentiated."""
        a, b = self.parameters
        return of_parameters(a + onp.pi / 2, b), of_parameters(a, b + onp.pi / 2)


@primitive
def run(parameters, program):
    return program.run()


def slopes_of_run(ans, parameters, program):
    def pull_back(g):
        # What is a box belongs to the level that is being walked; one level is taken off, as published code does.
        return [g * (each._value if isinstance(each, ArrayBox) else each) for each in program.slopes()]

    return pull_back


defvjp(run, slopes_of_run)


def of_parameters(*parameters):
    return run(list(parameters), Program(list(parameters)))


def of_program(x):
    return of_parameters(x[0], x[1])


AT = onp.array([1.5, -0.7])
SINES, COSINES = onp.sin(AT), onp.cos(AT)
FIRST = [COSINES[0] * COSINES[1], -SINES[0] * SINES[1]]
SECOND = [[-SINES[0] * COSINES[1], -COSINES[0] * SINES[1]], [-COSINES[0] * SINES[1], -SINES[0] * COSINES[1]]]
THIRD_IN_A = [[-COSINES[0] * COSINES[1], SINES[0] * SINES[1]], [SINES[0] * SINES[1], -COSINES[0] * COSINES[1]]]


def test_gradient_of_a_program_that_hides_its_parameters():
    onp.testing.assert_allclose(grad(of_program)(AT), FIRST, rtol=1e-14)


def test_second_derivatives_of_a_program_that_hides_its_parameters():
    onp.testing.assert_allclose(jacobian(grad(of_program))(AT), SECOND, rtol=1e-14)
    onp.testing.assert_allclose(hessian(of_program)(AT), SECOND, rtol=1e-14)


def test_third_derivatives_of_a_program_that_hides_its_parameters():
    onp.testing.assert_allclose(jacobian(jacobian(grad(of_program)))(AT)[0], THIRD_IN_A, rtol=1e-14)


def test_hidden_tensor_that_is_no_argument_is_refused():
    def f(x):
        return run([x[0], 2.0], Program([x[0], x[1]]))

    with pytest.raises(GradientError, match="not among its positional arguments"):
        grad(f)(AT)


def test_hidden_tensor_returned_as_it_is():
    through = primitive(lambda parameters, program: program.parameters[0])
    defvjp(through, lambda ans, parameters, program: lambda g: [g, 0.0])

    def f(x, same):
        parameters = [x[0], x[1]]
        return 2 * through(parameters, Program(parameters if same else [np.sin(x[0]), x[1]]))

    onp.testing.assert_array_equal(grad(f)(AT, True), [2, 0])
    with pytest.raises(GradientError, match="not among its positional arguments"):
        grad(f)(AT, False)


def test_rule_may_return_tensors_of_the_tape_that_is_walked():
    product = primitive(lambda parameters, program: program.parameters[0] * program.parameters[1])
    defvjp(product, lambda ans, _, program: lambda g: [g * program.parameters[1], g * program.parameters[0]])

    def f(x):
        parameters = [x[0], x[1]]
        return np.sin(product(parameters, Program(parameters)))

    a, b = AT
    onp.testing.assert_allclose(grad(f)(AT), onp.cos(a * b) * AT[::-1], rtol=1e-14)
    mixed = onp.cos(a * b) - a * b * onp.sin(a * b)
    known = [[-(b**2) * onp.sin(a * b), mixed], [mixed, -(a**2) * onp.sin(a * b)]]
    onp.testing.assert_allclose(jacobian(grad(f))(AT), known, rtol=1e-14)


def test_such_a_gradient_is_a_bare_value_at_the_end():
    product = primitive(lambda parameters, program: program.parameters[0] * program.parameters[1])
    defvjp(product, lambda ans, _, program: lambda g: [program.parameters[1], program.parameters[0]])
    slopes = grad(lambda a, b: product([a, b], Program([a, b])), (0, 1))(1.5, -0.7)
    assert slopes == (-0.7, 1.5)
    assert [isinstance(each, float) for each in slopes] == [True, True]


def test_tape_is_closed_again_after_the_rules_ran():
    with Tape(persistent=True) as tape:
        x = tape.watch(AT)
        y = of_program(x)
    for _ in range(2):
        onp.testing.assert_allclose(tape.gradient(y, x), FIRST, rtol=1e-14)
        assert isinstance(x + 1, onp.ndarray)
    del tape, x, y
    gc.collect()  # the program has tensors of the tape whose record has the program
