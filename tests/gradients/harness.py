"""Rows of a table of operators, and everything that is checked of each row.

A row says which function, on which inputs; the checks are the columns:

value      the same as NumPy's, of the same type, shape and dtype, on plain inputs and on tensors
first      reverse mode against central differences of NumPy's function
second     reverse over reverse, and forward over reverse, against central differences of the first derivative
forward    forward mode against central differences and, by the dot test, against reverse mode
float32    dtype of value and gradients, and their values against float64
batch      the Jacobian, one walk with a batch of cotangents, against one walk a row, and against ``jacfwd``
complex    ``df/dx - i df/dy`` of the real part of a projection, forward mode, and the second derivative

A family's test file reads::

    from tests.gradients.harness import Case, each_case

    CASES = [
        Case("exp", domain=(-3, 3), complex_domain=(-1, 1)),
        Case("sum", shapes=[((2, 3),)], attrs={"axis": -1}),
        Case("relu", reference=lambda x: numpy.maximum(x, 0)),
        Case("clip", call=lambda np, x: np.clip(x, -1, 1)),
        Case("floor", orders=0),
    ]

    @each_case(CASES)
    def test_rule(case, check):
        check(case)
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import numpy
import pytest

import autograd
import autograd.numpy as anp
from autograd import operators as op
from registry import get_schema
from tests.gradients.differences import assert_close, central_gradient, richardson

_UNARY_SHAPES = (((2, 3),), ((),), (float,), ((0, 2),))
_BINARY_SHAPES = (
    ((2, 3), (2, 3)),
    ((3,), (2, 3)),
    ((2, 3), (2, 1)),
    ((2, 1), (1, 3)),
    ((), (3,)),
    ((3,), float),
    (float, (2, 2)),
    (float, float),
    ((0, 3), (3,)),
)


@dataclass(frozen=True)
class Case:
    """One row.

    name            the function's name in ``autograd.numpy`` and in NumPy, dotted where it lies deeper (``linalg.norm``)
    call            ``call(np, *inputs)``, for anything but ``np.name(*inputs, **attrs)``; ``np`` is ``autograd.numpy`` or NumPy
    reference       ``reference(*inputs, **attrs)`` where NumPy has no such function, or ``call`` cannot run with NumPy
    inputs          the inputs themselves, or a function of a random generator that returns them; floats are cast to each dtype,
                    integers and bools stay constants
    shapes          otherwise one tuple for each variant, holding a shape for each input; ``float`` stands for a Python float.
                    Without it: a set of usual ones, broadcasting included, by the number of inputs that ``call`` or the
                    operator's schema takes, which is one or two
    domain          ``(low, high)`` for all inputs, or a list of these; values keep apart from each other, so no accidental ties
    attrs           keyword arguments
    dtypes          the real dtypes to check; the first is that of the numerical checks
    complex_domain  ``(low, high)`` of both parts of complex inputs, or a list of these, None in it for an input that stays
                    real; None alone for no complex check
    orders          how many derivatives there are to check: 0 for a constant operator, whose result leaves the tape
    tolerance       relative to the largest derivative, for float64; float32 has 1e-4 or this
    label           tells rows of one function apart in the test's name
    """

    name: str
    call: Callable[..., Any] | None = None
    reference: Callable[..., Any] | None = None
    inputs: Sequence[Any] | Callable[[numpy.random.Generator], Sequence[Any]] | None = None
    shapes: Sequence[tuple[Any, ...]] | None = None
    domain: Any = (-2.0, 2.0)
    attrs: dict[str, Any] = field(default_factory=dict)
    dtypes: tuple[str, ...] = ("float64", "float32")
    complex_domain: Any = None
    orders: int = 2
    tolerance: float = 1e-7
    label: str = ""

    def __post_init__(self) -> None:
        if self.inputs is not None and self.shapes is not None:
            raise ValueError(f"Case({self.name!r}): give inputs or shapes, not both")
        if self.orders not in (0, 1, 2):
            raise ValueError(f"Case({self.name!r}): orders is {self.orders}, expected 0, 1 or 2")

    def __str__(self) -> str:
        return f"{self.name}({self.label})" if self.label else self.name

    def ours(self, *inputs: Any) -> Any:
        """Our function of the row's inputs."""
        if self.call is not None:
            return self.call(anp, *inputs)
        return _find(anp, self.name)(*inputs, **self.attrs)

    def theirs(self, *inputs: Any) -> Any:
        """The reference for it."""
        if self.reference is not None:
            return self.reference(*inputs, **self.attrs)
        if self.call is not None:
            return self.call(numpy, *inputs)
        return _find(numpy, self.name)(*inputs, **self.attrs)

    def variants(self, dtype: str) -> Iterator[list[Any]]:
        """The inputs of each variant, in a dtype; the same values for every dtype."""
        rng = numpy.random.default_rng(zlib.crc32(str(self).encode()))
        is_complex = numpy.dtype(dtype).kind == "c"
        if self.inputs is not None:
            given = self.inputs(rng) if callable(self.inputs) else self.inputs
            yield [_cast(each, dtype, rng) for each in given]
            return
        for shapes in self.shapes or self._usual_shapes():
            yield _draw(rng, shapes, self.complex_domain if is_complex else self.domain, dtype)

    def _usual_shapes(self) -> Sequence[tuple[Any, ...]]:
        schema = get_schema(self.name)
        arity = 1 if schema is None else len(schema.inputs)
        if self.call is not None:
            arity = len([each for each in signature(self.call).parameters.values() if each.default is each.empty]) - 1
        if arity > 2:
            raise ValueError(f"Case({str(self)!r}): it takes {arity} inputs; give their shapes")
        return _BINARY_SHAPES if arity == 2 else _UNARY_SHAPES


# ---------------------------------------------------------------------------------------------------- the checks


def check_value(case: Case) -> None:
    """Value, type, shape and dtype are NumPy's; a tensor's value is the same; a constant leaves the tape."""
    for dtype in (*case.dtypes, *(["complex128"] if case.complex_domain is not None else [])):
        for inputs in case.variants(dtype):
            expected, plain = _leaves(case.theirs(*inputs)), _leaves(case.ours(*inputs))
            tape = autograd.Tape()
            with tape:
                traced = _leaves(case.ours(*[tape.watch(each) if _is_float(each) else each for each in inputs]))
            assert len(expected) == len(plain) == len(traced), f"{case}: the number of outputs"
            python = all(type(each) in (float, complex) for each in inputs)
            for want, got, tensor in zip(expected, plain, traced, strict=True):
                assert isinstance(tensor, autograd.Tensor) == (case.orders > 0), f"{case}: traced to {type(tensor)}"
                value = tensor.value if case.orders else tensor
                for each in (got, value):
                    where = f"{case} {dtype} {_describe(inputs)}"
                    assert numpy.shape(each) == numpy.shape(want), where
                    if not python:
                        assert numpy.asarray(each).dtype == numpy.asarray(want).dtype, where
                    rtol = 1e-5 if numpy.asarray(want).dtype in (numpy.float32, numpy.complex64) else 1e-13
                    numpy.testing.assert_allclose(each, want, rtol=rtol, atol=rtol, err_msg=where)


def check_first(case: Case) -> None:
    """The gradient for a random cotangent is that of central differences of the reference, in every argument."""
    for inputs in case.variants(case.dtypes[0]):
        _compare_gradient(case, inputs)


def check_second(case: Case) -> None:
    """The gradient of a random projection of the gradient, by both modes over reverse, is that of central differences."""
    for inputs in case.variants(case.dtypes[0]):
        _compare_second(case, inputs)


def check_forward(case: Case) -> None:
    """The derivative along random tangents: central differences, and the dot test against reverse mode."""
    for inputs in case.variants(case.dtypes[0]):
        _compare_forward(case, inputs)


def check_float32(case: Case) -> None:
    """Gradients and tangents have the dtype and shape of their inputs, and agree with those of the first dtype."""
    for dtype in case.dtypes[1:]:
        tolerance = max(1e-4, case.tolerance)
        for inputs, precise in zip(case.variants(dtype), case.variants(case.dtypes[0]), strict=True):
            narrow = _gradients(case, inputs)
            for got, want, each in zip(narrow, _gradients(case, precise), _floats(inputs), strict=True):
                where = f"{case} {dtype} {_describe(inputs)}"
                assert numpy.shape(got) == numpy.shape(each), where
                assert type(got) is float or got.dtype == numpy.asarray(each).dtype, f"{where}: gradient is {got.dtype}"
                assert_close(got, want, tolerance, where)
            f, floats = _of_floats(case, inputs)
            y, dy = autograd.jvp(f, floats, [_ones(each) for each in floats])
            for value, tangent in zip(_leaves(y), _leaves(dy), strict=True):
                assert numpy.asarray(tangent).dtype == numpy.asarray(value).dtype, f"{case}: tangent is {tangent.dtype}"


def check_batch(case: Case) -> None:
    """A walk with a batch of cotangents gives what single walks give; so does forward mode, column by column."""
    for inputs in case.variants(case.dtypes[0]):
        f, floats = _of_floats(case, inputs)
        _, pull_back = autograd.vjp(f, *floats)
        values = _leaves(f(*floats))
        jacobians = _leaves(autograd.jacobian(f, tuple(range(len(floats))))(*floats))
        where = f"{case} {_describe(inputs)}"
        for number, (value, rows) in enumerate(zip(values, _grouped(jacobians, len(floats)), strict=True)):
            shape = numpy.shape(value)
            for at in numpy.ndindex(shape):
                cotangents = [numpy.zeros(numpy.shape(each), _dtype(each)) for each in values]
                cotangents[number][at] = 1
                single = pull_back(_like(f(*floats), cotangents))
                for jacobian, row in zip(rows, single, strict=True):
                    whole = numpy.asarray(jacobian)[at]
                    found = (
                        whole if numpy.asarray(row).dtype.kind == "c" else numpy.real(whole)
                    )  # a single walk asks for one part
                    assert_close(found, row, 1e-12, f"{where}, row {at}")
            for jacobian, each in zip(rows, floats, strict=True):
                assert numpy.shape(jacobian) == shape + numpy.shape(each), where
        if len(values) == 1:
            for number, jacobian in enumerate(jacobians):
                if numpy.size(floats[number]):
                    forward = autograd.jacfwd(f, number)(*floats)
                    assert_close(forward, jacobian, 1e-10, f"{where}, forward, argument {number}")


def check_complex(case: Case) -> None:
    """``df/dx - i df/dy`` for a real projection, with complex and with mixed inputs; forward mode; second derivatives."""
    for inputs in case.variants("complex128"):
        _compare_gradient(case, inputs)
        _compare_forward(case, inputs)
        if case.orders > 1:
            _compare_second(case, inputs)


CHECKS: dict[str, Callable[[Case], None]] = {
    "value": check_value,
    "first": check_first,
    "second": check_second,
    "forward": check_forward,
    "float32": check_float32,
    "batch": check_batch,
    "complex": check_complex,
}


def checks_of(case: Case) -> dict[str, Callable[[Case], None]]:
    """The checks that apply to a row."""
    skipped = set()
    if case.orders < 1:
        skipped |= CHECKS.keys() - {"value"}
    if case.orders < 2:
        skipped.add("second")
    if case.complex_domain is None:
        skipped.add("complex")
    return {name: check for name, check in CHECKS.items() if name not in skipped}


def check_case(case: Case) -> None:
    """All checks that apply to a row."""
    for check in checks_of(case).values():
        check(case)


def each_case(cases: Sequence[Case]) -> pytest.MarkDecorator:
    """Parametrise a test over ``case`` and ``check``: one test for every row and column."""
    rows = [pytest.param(case, check, id=f"{case}-{name}") for case in cases for name, check in checks_of(case).items()]
    return pytest.mark.parametrize(("case", "check"), rows)


# ---------------------------------------------------------------------------------------------------- comparisons


def _compare_gradient(case: Case, inputs: list[Any]) -> None:
    f, floats = _of_floats(case, inputs, case.theirs)
    cotangents = _cotangents(case, inputs)
    expected = central_gradient(lambda *x: _project(f(*x), cotangents), floats)
    for position, (got, want) in enumerate(zip(_gradients(case, inputs), expected, strict=True)):
        assert_close(got, want, case.tolerance, f"{case} {_describe(inputs)}, argument {position}", like=expected)


def _compare_forward(case: Case, inputs: list[Any]) -> None:
    f, floats = _of_floats(case, inputs)
    theirs, _ = _of_floats(case, inputs, case.theirs)
    tangents = _directions(floats)
    y, dy = autograd.jvp(f, floats, tangents)
    where = f"{case} {_describe(inputs)}"
    for value, tangent in zip(_leaves(y), _leaves(dy), strict=True):
        assert numpy.shape(tangent) == numpy.shape(value), f"{where}: tangent of shape {numpy.shape(tangent)}"
    cotangents = _cotangents(case, inputs)

    def along(step: float) -> float:
        return _project(theirs(*[x + step * v for x, v in zip(floats, tangents, strict=True)]), cotangents)

    got = _project(dy, cotangents)
    assert_close(got, richardson(along), case.tolerance, f"{where}: forward mode")
    rows = zip(_gradients(case, inputs), tangents, strict=True)
    assert_close(got, sum(float(numpy.sum(g * v).real) for g, v in rows), 1e-10, f"{where}: dot test", like=[1.0])


def _compare_second(case: Case, inputs: list[Any]) -> None:
    f, floats = _of_floats(case, inputs)
    cotangents = _cotangents(case, inputs)
    directions = _directions(floats)
    numbers = tuple(range(len(floats)))

    def first(*x: Any) -> Any:
        gradients = autograd.grad(lambda *x: _project(f(*x), cotangents), numbers)(*x)
        return _project(gradients, directions)

    expected = central_gradient(lambda *x: float(first(*x)), floats)
    where = f"{case} {_describe(inputs)}"
    with autograd.Tape() as tape:
        depends = type(first(*[tape.watch(each) for each in floats])) is autograd.Tensor
    seconds = [0 * numpy.asarray(each) for each in floats]  # what a first derivative that is a constant has
    if depends:
        seconds = autograd.grad(first, numbers)(*floats)
        _, pushed = autograd.jvp(first, floats, directions)
        rows = zip(seconds, directions, strict=True)
        total = sum(float(numpy.sum(g * v).real) for g, v in rows)
        assert_close(pushed, total, 1e-9, f"{where}: forward over reverse", like=[*seconds, 1.0])
    for position, (got, want) in enumerate(zip(seconds, expected, strict=True)):
        assert_close(got, want, 10 * case.tolerance, f"{where}: second derivative, argument {position}", like=expected)


# ---------------------------------------------------------------------------------------------------- inputs


def _draw(rng: numpy.random.Generator, shapes: tuple[Any, ...], domain: Any, dtype: str) -> list[Any]:
    """Inputs of these shapes: each value in a cell of its own of the domain, so that no two are close to each other."""
    domains = [domain] * len(shapes) if domain is None or not isinstance(domain[0], Sequence | None) else list(domain)
    total = sum(math.prod(() if shape is float else shape) for shape in shapes)
    drawn, at = [], 0
    parts = [(rng.permutation(total) + rng.uniform(0.25, 0.75, total)) / max(total, 1) for _ in range(2)]
    for shape, limits in zip(shapes, domains, strict=True):
        size = math.prod(() if shape is float else shape)
        unit = [each[at : at + size] for each in parts]
        at += size
        if numpy.dtype(dtype).kind == "c" and limits is not None:
            low, high = limits
            values = (low + (high - low) * unit[0]) + 1j * (low + (high - low) * unit[1])
            values = values.astype(dtype)
        else:
            low, high = limits or (0.5, 1.5)
            values = (low + (high - low) * unit[0]).astype("float64" if numpy.dtype(dtype).kind == "c" else dtype)
        drawn.append(values.item() if shape is float else values.reshape(shape)[()])
    return drawn


def _cast(value: Any, dtype: str, rng: numpy.random.Generator) -> Any:
    """A given input in a dtype; Python scalars, integers and bools stay as they are."""
    if not _is_float(value) or type(value) in (float, complex):
        return value
    plain = numpy.asarray(value)
    if numpy.dtype(dtype).kind == "c" and plain.dtype.kind == "f":
        plain = plain + 1j * rng.uniform(-0.5, 0.5, plain.shape)
    return plain.astype(dtype)[()]


def _cotangents(case: Case, inputs: list[Any]) -> list[Any]:
    """A random cotangent for each output, of its dtype."""
    return _directions(_leaves(case.theirs(*inputs)), seed=1)


def _directions(values: Sequence[Any], seed: int = 2) -> list[Any]:
    """A random direction for each value, of its shape and dtype."""
    rng = numpy.random.default_rng(seed)
    directions = []
    for each in values:
        direction = rng.uniform(0.5, 1.5, numpy.shape(each)) * rng.choice([-1, 1], numpy.shape(each))
        if _dtype(each).kind == "c":
            direction = direction + 1j * rng.uniform(-1, 1, numpy.shape(each))
        direction = numpy.asarray(direction).astype(_dtype(each) if _dtype(each).kind in "fc" else "float64")
        directions.append(direction.item() if type(each) in (float, complex) else direction[()])
    return directions


def _gradients(case: Case, inputs: list[Any]) -> Sequence[Any]:
    f, floats = _of_floats(case, inputs)
    y, pull_back = autograd.vjp(f, *floats)
    return pull_back(_like(y, _cotangents(case, inputs)))


def _of_floats(case: Case, inputs: list[Any], f: Callable[..., Any] | None = None) -> tuple[Callable[..., Any], list[Any]]:
    """The function with integer and boolean inputs fixed, and its other inputs."""
    function = f or case.ours
    positions = [position for position, each in enumerate(inputs) if _is_float(each)]

    def of_floats(*floats: Any) -> Any:
        full = list(inputs)
        for position, each in zip(positions, floats, strict=True):
            full[position] = each
        return function(*full)

    return of_floats, [inputs[position] for position in positions]


def _project(outputs: Any, cotangents: Sequence[Any]) -> Any:
    """The real part of the sum of all outputs, each times its cotangent."""
    total: Any = 0.0
    for each, cotangent in zip(_leaves(outputs), cotangents, strict=True):
        total = total + op.real(op.sum(op.multiply(each, cotangent)))
    return total


def _find(module: Any, name: str) -> Any:
    for part in name.split("."):
        module = getattr(module, part)
    return module


def _leaves(outputs: Any) -> list[Any]:
    if isinstance(outputs, tuple | list):
        return [leaf for each in outputs for leaf in _leaves(each)]
    return [outputs]


def _like(structure: Any, leaves: Sequence[Any]) -> Any:
    if not isinstance(structure, tuple | list):
        return leaves[0]
    return type(structure)(leaves) if type(structure) in (tuple, list) else type(structure)(*leaves)


def _grouped(flat: list[Any], size: int) -> list[list[Any]]:
    return [flat[at : at + size] for at in range(0, len(flat), size)]


def _floats(inputs: Sequence[Any]) -> list[Any]:
    return [each for each in inputs if _is_float(each)]


def _is_float(value: Any) -> bool:
    return not isinstance(value, str | tuple | list) and _dtype(value).kind in "fc"


def _dtype(value: Any) -> numpy.dtype[Any]:
    return numpy.asarray(value).dtype


def _ones(value: Any) -> Any:
    return type(value)(1) if type(value) in (float, complex) else numpy.ones(value.shape, value.dtype)[()]


def _describe(inputs: Sequence[Any]) -> str:
    return ", ".join(type(each).__name__ if not hasattr(each, "shape") else f"{each.dtype}{each.shape}" for each in inputs)
