"""What the strategies draw: calls that kernels take, arrays in every layout, attributes of every kind; and what is complete."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

import autograd.scipy.integrate
import autograd.scipy.linalg
import autograd.scipy.signal
import autograd.scipy.special
import autograd.scipy.stats  # noqa: F401  # these five register the operators that SciPy computes
from autograd.check import strategies
from autograd.check.calls import Call
from autograd.check.domains import WITHOUT_ROW, domains
from autograd.check.domains.drawing import MOST_ELEMENTS, Draw, from_generator, special_values
from autograd.check.domains.from_schema import drawn_from_schema
from autograd.check.layouts import LAYOUTS, layout_of
from autograd.engine import binding_of, call_kernel
from autograd.errors import GradientError
from registry.attributes import fits
from registry.gradients import get_gradient
from registry.kernels import KernelConfig, register_kernel, unregister_kernel
from registry.operators import get_schema, operator_names
from registry.schema import FunctionSchema

SEEDS = range(25)


def with_gradient():
    return [name for name in operator_names() if get_gradient(name) is not None]


def draws(name, seeds=SEEDS):
    """Calls of an operator as its row draws them, in every dtype of the row."""
    row = domains()[name]
    for seed in seeds:
        inputs, attrs = row.draw(from_generator(np.random.default_rng(seed)), row.dtypes[seed % len(row.dtypes)])
        yield Call(name, tuple(inputs), attrs)


def result(call):
    inputs = [list(each) if isinstance(each, list) else each for each in call.inputs]
    y = call_kernel(binding_of(call.name), inputs, call.all_attrs())
    return y if isinstance(y, tuple | list) else (y,)


# ---------------------------------------------------------------------------------------------------- the table of domains


def test_every_operator_with_a_gradient_has_a_row_or_a_reason():
    names = set(with_gradient())
    assert len(names) > 200
    assert sorted(names - set(domains()) - set(WITHOUT_ROW)) == []
    assert sorted(set(domains()) - names) == []
    assert sorted((set(WITHOUT_ROW) | {"primitive", "primitive_with_jvp"}) - names - {"primitive", "primitive_with_jvp"}) == []
    assert not set(WITHOUT_ROW) & set(domains())
    assert all(WITHOUT_ROW.values())


@pytest.mark.parametrize("name", sorted(domains()))
def test_what_a_row_draws_is_taken_and_finite(name):
    schema = get_schema(name)
    dtypes = set()
    for call in draws(name):
        assert len(call.inputs) == len(schema.inputs), call
        for y in result(call):
            assert np.all(np.isfinite(y)), call
        for argument in schema.attributes:
            if argument.name in call.attrs:
                assert fits(str(argument.type), call.attrs[argument.name]), call
        dtypes |= {np.asarray(each).dtype.name for each in call.leaves()}
    assert set(domains()[name].dtypes) <= dtypes


@pytest.mark.parametrize("name", sorted(domains()))
def test_a_row_draws_something_to_differentiate_and_is_cheap(name):
    calls = list(draws(name))
    sizes = [sum(np.size(x) for x in call.leaves() if np.asarray(x).dtype.kind in "fc") for call in calls]
    assert sum(size > 0 for size in sizes) > len(calls) // 2
    assert max(sizes) <= 72


NO_TIES = ("maximum", "fmin", "clip", "max", "sort", "running_max", "max_pool2d", "add", "where")


@pytest.mark.parametrize("name", NO_TIES)
def test_no_two_numbers_of_a_call_are_equal(name):
    for call in draws(name):
        numbers = [value for x in call.leaves() if np.asarray(x).dtype.kind in "f" for value in np.ravel(x).tolist()]
        assert len(set(numbers)) == len(numbers), call


@pytest.mark.parametrize(("name", "distance"), [("absolute", 0.3), ("relu", 0.2), ("sqrt", 0.3), ("hypot", 0.3)])
def test_kinks_and_poles_are_far_away(name, distance):
    for call in draws(name):
        assert min((np.abs(np.real(x)).min() for x in call.leaves() if np.size(x)), default=1) >= distance


def test_rows_draw_every_shape():
    shapes = {np.shape(x) for call in draws("multiply", range(300)) for x in call.inputs}
    assert () in shapes
    assert any(0 in shape for shape in shapes)
    assert any(1 in shape for shape in shapes)
    assert {len(shape) for shape in shapes} == {0, 1, 2, 3}
    pairs = [tuple(np.shape(x) for x in call.inputs) for call in draws("multiply", range(300))]
    assert any(one != two for one, two in pairs)
    assert any(len(one) < len(two) for one, two in pairs)
    assert any(len(one) > len(two) for one, two in pairs)
    kinds = {type(x) for call in draws("multiply", range(300)) for x in call.inputs}
    assert {np.ndarray, np.float64, float} <= kinds
    mixed = [{np.asarray(x).dtype.name for x in call.inputs} for call in draws("multiply", range(300))]
    assert {"float32", "float64"} in mixed


def test_matrices_whose_vectors_could_turn_round_are_not_drawn():
    for call in draws("eigh", range(60)):
        (a,) = call.inputs
        v = np.linalg.eigh(a, **call.attrs)[1]
        for at in np.ndindex(a.shape[-2:]):
            moved = a.copy()
            moved[(..., *at)] += 0.05
            w = np.linalg.eigh(moved, **call.attrs)[1]
            assert np.all(np.sum(v * w, axis=-2) > 0.5), call


@pytest.mark.parametrize("name", [name for name, row in domains().items() if row.symmetric])
def test_what_a_kernel_reads_one_triangle_of_is_symmetric(name):
    for call in draws(name):
        (a,) = (x for n, x in zip(call.input_names(), call.inputs, strict=True) if n in domains()[name].symmetric)
        np.testing.assert_array_equal(a, a.conj().mT)


# ---------------------------------------------------------------------------------------------------- the strategies


@given(strategies.shapes(1, 2, sides=(1, 3)))
def test_shapes_are_what_was_asked_for(shape):
    assert len(shape) in (1, 2)
    assert set(shape) <= {1, 3}


@given(strategies.shapes())
def test_shapes_are_small(shape):
    assert np.prod(shape, dtype=int) <= MOST_ELEMENTS


@given(strategies.broadcastable_shapes(3, (2, 3)))
def test_shapes_broadcast_to_the_one_given(shapes):
    assert np.broadcast_shapes(*shapes) == (2, 3)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_arrays_come_in_every_layout(layout):
    x = find(strategies.arrays(shape=(2, 2)), lambda x: layout_of(x) == layout)
    assert layout_of(x) == layout


@given(strategies.arrays(st.sampled_from(["float32", "complex128"]), shape=strategies.shapes(1), elements=[(1, 2), (5, 6)]))
def test_arrays_have_dtype_shape_and_elements(x):
    assert x.ndim
    assert x.dtype in (np.float32, np.complex128)
    for part in (x.real, x.imag) if x.dtype.kind == "c" else (x,):
        assert np.all(((part > 1) & (part < 2)) | ((part > 5) & (part < 6)))
        assert np.unique(part).size == part.size


@pytest.mark.parametrize(
    "there",
    [
        lambda x: np.isnan(x).any(),
        lambda x: np.isposinf(x).any(),
        lambda x: np.isneginf(x).any(),
        lambda x: (np.signbit(x) & (x == 0)).any(),
        lambda x: (np.abs(x) > 1e11).any() & np.isfinite(x).all(),
        lambda x: ((x != 0) & (np.abs(x) < 1e-37)).any(),
        lambda x: np.isfinite(x).all() and np.unique(x).size < x.size,
    ],
    ids=["nan", "inf", "-inf", "-0", "huge", "tiny", "tie"],
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_special_values_occur_on_request(there, dtype):
    assert there(find(strategies.arrays(dtype, shape=(3,), special=True), there, settings=settings(max_examples=3000)))
    assert there(
        find(strategies.calls("sort", special=True, dtypes=[dtype]), lambda call: there(call.inputs[0]),
             settings=settings(max_examples=3000)).inputs[0]
    )  # fmt: skip


def test_arrays_are_not_special_unless_asked():
    for seed in range(200):
        x = from_generator(np.random.default_rng(seed)).array((4,), (-2.0, 2.0))
        assert np.isfinite(x).all()
        assert (x != np.round(x)).all()


def test_special_values_are_in_the_range_of_the_dtype():
    for seed in range(200):
        d = from_generator(np.random.default_rng(seed))
        x = special_values(d, np.array([0.5, 0.25, 2.0], "float32"))
        assert x.dtype == np.float32
        assert np.all(np.isnan(x) | np.isinf(x) | (x == 0) | (np.abs(x) >= np.finfo("float32").tiny))


AXES = {
    "none": lambda attrs: attrs.get("axis", 0) is None,
    "left out": lambda attrs: "axis" not in attrs,
    "negative": lambda attrs: isinstance(attrs.get("axis"), int) and attrs["axis"] < 0,
    "several": lambda attrs: isinstance(attrs.get("axis"), tuple) and len(attrs["axis"]) == 2,
    "keepdims": lambda attrs: attrs.get("keepdims") is True,
    "dtype": lambda attrs: attrs.get("dtype") is not None,
}


@pytest.mark.parametrize("kind", AXES)
def test_attributes_of_every_kind(kind):
    found = find(strategies.attributes("sum", np.ones((2, 3))), AXES[kind], settings=settings(max_examples=2000))
    assert AXES[kind](found)


@given(strategies.attributes("sum", np.ones((2, 3, 2))))
def test_axes_are_within_range(attrs):
    np.sum(np.ones((2, 3, 2)), axis=attrs.get("axis"), keepdims=attrs.get("keepdims", False))


INDICES = {
    "slice": lambda index: isinstance(index, slice),
    "ellipsis": lambda index: isinstance(index, tuple) and Ellipsis in [each for each in index if type(each) is not np.ndarray],
    "new axis": lambda index: isinstance(index, tuple) and None in [each for each in index if type(each) is not np.ndarray],
    "integer": lambda index: isinstance(index, int),
    "array": lambda index: isinstance(index, np.ndarray) and index.dtype.kind == "i",
    "mask": lambda index: isinstance(index, np.ndarray) and index.dtype.kind == "b",
    "empty": lambda index: index == () if isinstance(index, tuple) else False,
}


@pytest.mark.parametrize("kind", INDICES)
def test_indices_of_every_kind(kind):
    found = find(
        strategies.attributes("getitem", np.ones((2, 3))), lambda attrs: INDICES[kind](attrs["index"]),
        settings=settings(max_examples=3000),
    )  # fmt: skip
    np.ones((2, 3))[found["index"]]


def test_calls_are_the_same_for_the_same_choices():
    one, two = (str(next(iter(draws("conv2d", [7])))) for _ in range(2))
    assert one == two


@given(strategies.calls("add", layouts=("negative",), dtypes=["float32"]))
def test_calls_have_the_layouts_and_dtypes_asked_for(call):
    for x in call.inputs:
        if isinstance(x, np.ndarray) and x.size > 1:
            assert any(step < 0 for step in x.strides)
        assert np.asarray(x).dtype == np.float32 or type(x) is float


def test_calls_of_given_inputs():
    strategy = strategies.calls("power", inputs=[strategies.arrays(shape=(2,), elements=(1, 2)), 3.0])
    call = find(strategy, lambda call: True)
    assert call.inputs[0].shape == (2,)
    assert call.inputs[1] == 3.0
    strategy = strategies.calls("sum", inputs=[1.0], attrs={"axis": None, "keepdims": st.booleans()})
    call = find(strategy, lambda call: call.attrs["keepdims"])
    assert dict(call.attrs) == {"axis": None, "keepdims": True}


def test_simplest_calls_are_simple():
    found = find(strategies.calls("exp"), lambda call: np.size(call.inputs[0]) > 0)
    x = np.asarray(found.inputs[0])
    assert x.size == 1  # which form of a single number it is hangs on hypothesis' own choices
    assert abs(float(x.ravel()[0])) < 3
    assert not found.attrs


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("exq", "there is no operator 'exq'.*Import the module"),
        ("checkpoint", "operator 'checkpoint' takes a function.*or pass inputs="),
    ],
)
def test_what_cannot_be_drawn_is_said(name, words):
    with pytest.raises(GradientError, match=words):
        strategies.calls(name)


# ---------------------------------------------------------------------------------------------------- without a row


SCHEMAS = {
    "one(Tensor x) -> Tensor": lambda x: x,
    "two(Tensor x1, Tensor x2) -> Tensor": np.multiply,
    "product(Tensor x1, Tensor x2) -> Tensor": np.matmul,
    "square(Tensor a) -> Tensor": np.linalg.det,
    "equal(Tensor a, Tensor b) -> Tensor": lambda a, b: np.stack([a, b]),
    "many(Tensor[] arrays, int axis=0) -> Tensor": np.concatenate,
    "axes(Tensor a, *, int[1]? axis=None, bool keepdims=False) -> Tensor": np.sum,
    "must(Tensor a, *, int axis) -> Tensor": lambda a, axis: np.sort(a, axis),
    "some(Tensor a, Tensor? b=None) -> Tensor": lambda a, b: a if b is None else a + b,
    "index(Tensor a, *, Index index) -> Tensor": lambda a, index: a[index],
    "parts(Tensor x, *, float scale, int power, str mode='full', Any other=None) -> Tensor": lambda x, **attrs: x,
    "typed(Tensor x, *, ScalarType dtype) -> Tensor": lambda x, dtype: x.astype(dtype),
    "unit(Tensor x) -> Tensor": lambda x: _refuse_outside(x, 0, 1),
    "above(Tensor x) -> Tensor": lambda x: _refuse_outside(x, 1, np.inf),
}


def _refuse_outside(x, low, high):
    if not ((x > low) & (x < high)).all():
        raise ValueError("outside")
    return x


@pytest.mark.parametrize("text", SCHEMAS)
def test_an_operator_of_a_users_is_drawn_from_its_schema(text):
    schema, taken = FunctionSchema.parse(text), 0
    for seed in range(60):
        d = from_generator(np.random.default_rng(seed))
        inputs, attrs = drawn_from_schema(d, schema, "float64")
        defaults = {each.name: each.default_value for each in schema.attributes if each.default is not None}
        for argument in schema.attributes:
            if argument.name in attrs:
                assert fits(str(argument.type), attrs[argument.name])
        try:
            SCHEMAS[text](*inputs, **{**defaults, **attrs})
        except (ValueError, IndexError):  # AxisError and LinAlgError are ValueErrors
            continue
        taken += 1
    assert taken > 5


def test_shapes_that_multiply_as_matrices_do_are_among_them():
    schema = FunctionSchema.parse("product(Tensor x1, Tensor x2) -> Tensor")
    drawn = [drawn_from_schema(from_generator(np.random.default_rng(seed)), schema, "float64")[0] for seed in range(100)]
    shapes = {(a.shape, b.shape) for a, b in drawn}
    assert any(len(a) == len(b) == 2 and a[1] == b[0] and a[0] != a[1] != b[1] for a, b in shapes)


def test_a_kernel_whose_schema_was_inferred_is_drawn_too():
    register_kernel(KernelConfig("users_own", "numpy", lambda x, y, *, power=2: x * y**power))
    try:
        call = find(strategies.calls("users_own"), lambda call: call.attrs.get("power") == 2)
        assert len(call.inputs) == 2
    finally:
        unregister_kernel("users_own", "numpy")


# ---------------------------------------------------------------------------------------------------- choices


def test_smaller_choices_are_simpler():
    d = Draw(lambda n: 0)
    assert d.pick("abc") == "a"
    assert d.flip() is False
    assert d.whole(2, 5) == 2
    assert d.shape() == (1,)
    assert d.mask((2,)).all()


def test_numbers_never_repeat_in_a_call():
    d = from_generator(np.random.default_rng(0))
    numbers = [each for _ in range(8) for each in d.numbers(6, (0.1, 0.9))]
    assert len(set(numbers)) == 48
    assert 0.1 <= min(numbers) <= max(numbers) <= 0.9


# ---------------------------------------------------------------------------------------------------- imports


def python(code):
    return subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)


def test_the_checks_load_hypothesis_only_when_they_draw():
    ran = python("import autograd.check, autograd.check.kernel, autograd.check.backend, sys; print('hypothesis' in sys.modules)")
    assert (ran.stdout, ran.stderr) == ("False\n", "")


def test_a_missing_hypothesis_names_the_extra():
    ran = python("import sys; sys.modules['hypothesis'] = None\nimport autograd.check.strategies")
    assert "ImportError: autograd.check.strategies needs hypothesis" in ran.stderr
    assert "pip install 'gradtape[check]'" in ran.stderr
