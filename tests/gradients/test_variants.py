"""Every operator's out and in-place variant computes the same as its functional form, on everything that the tables run.

The rows of the families' tables are run on a tape that keeps all values; each record is a call with its result, bit for bit.
"""

from __future__ import annotations

import importlib
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays, mutually_broadcastable_shapes

import autograd
from autograd import operators as op
from autograd.engine import binding_of
from registry import OutArrayError, find_kernel, get_gradient, get_kernel, get_schema, operator_names
from registry.operators import family_of
from registry.schema import SchemaKind

FAMILIES = sorted(
    path.stem.removeprefix("test_") for path in (Path(__file__).parents[2] / "registry/numpy_backend").glob("[!_]*.py")
)


def calls(family: str) -> dict[tuple[Any, ...], tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """Distinct calls that the rows of a family's table make: operator, operands, attributes."""
    found = {}
    for case in importlib.import_module(f"tests.gradients.test_{family}").CASES:
        for dtype in (*case.dtypes, *(["complex128"] if case.complex_domain is not None else [])):
            for inputs in case.variants(dtype):
                with autograd.Tape(keep="all") as tape:
                    case.ours(*[tape.watch(each) if _is_float(each) else each for each in inputs])
                for node in tape.nodes:
                    operands = node.values[: len(node.inputs)]
                    key = (node.kernel_name, repr(node.attrs), *map(_kind, operands))
                    found.setdefault(key, (node.kernel_name, operands, node.attrs))
                tape._free()
    return found


def _is_float(value: Any) -> bool:
    return isinstance(value, float | complex) or (hasattr(value, "dtype") and value.dtype.kind in "fc")


def _kind(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_kind, value))
    return (value.shape, value.dtype.str) if isinstance(value, np.ndarray) else type(value).__name__


def same(got: Any, expected: Any) -> bool:
    """Equal in dtype, shape and every bit; but NumPy's loops for complex scalars and arrays differ in the last one."""
    expected = np.asarray(expected)
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return False
    if got.dtype.kind == "c" and not got.shape:
        return bool(np.isclose(got, expected, rtol=4 * np.finfo(got.dtype).eps, atol=0, equal_nan=True))
    return np.array_equal(got, expected, equal_nan=True)


def outs_like(expected: Any) -> Any:
    """Arrays for the results, filled with something else."""
    if isinstance(expected, tuple):
        return tuple(outs_like(each) for each in expected)
    if isinstance(expected, list):
        return [outs_like(each) for each in expected]
    return np.full_like(np.asarray(expected), 77)


@pytest.mark.parametrize("family", FAMILIES)
def test_variants_of_what_the_tables_run(family):
    in_place = 0
    found = calls(family)
    assert found
    for name, operands, attrs in found.values():
        where = f"{name} {[_kind(each) for each in operands]} {attrs}"
        function = getattr(op, name)
        expected = function(*operands, **attrs)
        out = outs_like(expected)
        returned = function(*operands, **attrs, out=out)
        assert returned is out or all(a is b for a, b in zip(returned, out, strict=True)), where
        for got, want in zip(*((out, expected) if isinstance(expected, tuple) else ([out], [expected])), strict=True):
            assert same(got, want), where
        for wrong in wrong_outs(out):
            with pytest.raises(OutArrayError):
                function(*operands, **attrs, out=wrong)
        in_place += check_in_place(name, operands, attrs, expected, where)
    assert in_place or family in ("compare", "conv"), "no row of this table can be computed in place"


def wrong_outs(out: Any) -> list[Any]:
    """The same arrays with the first of another shape, or of another dtype."""
    first, rest = (out[0], out[1:]) if isinstance(out, tuple) else (out, ())
    other = np.float16 if first.dtype != np.float16 else np.float32
    wrong = [np.empty((2, *first.shape), first.dtype), np.empty(first.shape, other)]
    return [(each, *rest) if rest else each for each in wrong]


def check_in_place(name: str, operands: tuple[Any, ...], attrs: dict[str, Any], expected: Any, where: str) -> bool:
    """Run the in-place variant on a copy of the receiver; whether there is one and the result fits."""
    variant = family_of(name).get(SchemaKind.inplace)
    if variant is None or not isinstance(operands[0], np.ndarray):
        return False
    receiver = operands[0].copy()
    before = receiver.copy()
    fits = np.shape(expected) == receiver.shape and np.asarray(expected).dtype == receiver.dtype
    function = getattr(op, str(variant.name))
    if fits:
        assert function(receiver, *operands[1:], **attrs) is receiver, where
        assert same(receiver, expected), where
        return bool(receiver.size)
    with pytest.raises(OutArrayError):
        function(receiver, *operands[1:], **attrs)
    assert same(receiver, before), f"{where}: written before the error"
    return False


def test_every_operator_has_the_variants_that_its_schema_allows():
    for name in operator_names():
        schema = get_schema(name)
        family = family_of(name)
        assert SchemaKind.out in family, name
        has_receiver = bool(schema.arguments.positional) and str(schema.arguments.positional[0].type) == "Tensor"
        one_result = [str(each.type) for each in schema.returns] == ["Tensor"]
        assert (SchemaKind.inplace in family) == (has_receiver and one_result), name
        for variant in family.values():
            assert binding_of(str(variant.name)).schema == variant.schema
            assert callable(find_kernel(str(variant.name), "numpy").kernel_func)


def test_numpy_writes_itself_where_it_can():
    """Ufuncs and the functions of NumPy that take ``out=`` are run with it; the others are copied."""
    native = {name for name in operator_names() if get_kernel(name, "numpy").out_func is not None}
    ufuncs = {name for name in operator_names() if isinstance(get_kernel(name, "numpy").kernel_func, np.ufunc)}
    assert len(ufuncs) > 60
    assert native >= ufuncs
    assert native >= {"sum", "prod", "max", "min", "mean", "var", "std", "any", "all", "cumsum", "cumprod", "argmax", "argmin"}
    assert native >= {"power", "clip", "round", "concatenate", "stack", "take", "dot", "einsum", "matmul"}


def test_a_kernel_with_code_for_out_makes_no_array_of_its_own():
    """Of a megabyte, the peak of what is allocated says whether the result was made first and copied."""
    x, out = np.linspace(0.0, 1.0, 131_072), np.empty(131_072)
    peaks = []
    for function in (op.exp, op.softmax):
        function(x, out=out)  # what is made once is made now
        tracemalloc.start()
        function(x, out=out)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[0] < 100_000 < 1_000_000 < peaks[1]


ELEMENTWISE = [
    name
    for name in operator_names()
    if (gradient := get_gradient(name)) is not None and gradient.elementwise and not get_schema(name).attributes
]


@given(st.data())
def test_random_calls_of_elementwise_operators(data):
    """Any dtypes and shapes that broadcast: the out variant gives the functional result, or both refuse the operands."""
    name = data.draw(st.sampled_from(ELEMENTWISE))
    arity = len(get_schema(name).inputs)
    shapes = data.draw(mutually_broadcastable_shapes(num_shapes=arity, max_dims=3, max_side=3)).input_shapes
    dtypes = st.sampled_from(["float64", "float32", "float16", "complex64", "int64", "int8", "bool"])
    operands = []
    for shape in shapes:
        dtype = data.draw(dtypes)
        small = {
            "b": st.booleans(),
            "i": st.integers(0, 3),
            "f": st.floats(-2, 2, width=16),
            "c": st.complex_numbers(max_magnitude=2, width=64),
        }
        operands.append(data.draw(arrays(dtype, shape, elements=small[np.dtype(dtype).kind], fill=st.nothing())))
    function = getattr(op, name)
    with np.errstate(all="ignore"):
        try:
            expected = function(*operands)
        except (TypeError, ValueError, autograd.GradtapeError) as error:
            with pytest.raises(type(error)):
                function(*operands, out=np.empty(np.broadcast_shapes(*shapes)))
            return
        out = outs_like(expected)
        assert function(*operands, out=out) is out
    assert same(out, expected), name
