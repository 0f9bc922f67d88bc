"""The family indexing: rows of every kind of index, then what it costs, repeated positions, and batches."""

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd.numpy as np
from autograd import NotTrackedError, Tape, grad, hessian, jacobian
from autograd import operators as op
from tests.gradients.counting import counted_kernels
from tests.gradients.harness import Case, each_case

SHAPE = (3, 4, 2)
ROWS = numpy.array([0, 2, 0, 0])
COLUMNS = numpy.array([1, -1, 1, 3])
MASK = numpy.array([[True, False, True, True], [False, False, True, False], [True, True, True, False]])

INDICES = {
    "int": 1,
    "negative int": -1,
    "numpy int": numpy.int64(2),
    "zero-dimensional array": numpy.array(1),
    "ints": (1, -2, 0),
    "slice": slice(1, None),
    "slices": (slice(None), slice(None, None, -2), slice(0, 1)),
    "empty slice": slice(2, 1),
    "ellipsis": ...,
    "ellipsis int": (..., 1),
    "int ellipsis": (0, ...),
    "none": None,
    "none among slices": (slice(None), None, 1, ..., None),
    "empty tuple": (),
    "array": ROWS,
    "array of two axes": ROWS.reshape(2, 2),
    "array that increases": numpy.array([0, 2]),
    "array with an alias": numpy.array([-1, 2]),
    "empty array": numpy.array([], int),
    "empty list": [],
    "list": [0, 0, 1],
    "list of bools": [True, False, True],
    "unsigned": numpy.array([2, 0, 2], "uint8"),
    "two arrays": (ROWS, COLUMNS),
    "rows by their number": (numpy.arange(3), numpy.array([3, 3, 0])),
    "rows by their number, backwards": (numpy.arange(3)[::-1], numpy.array([3, 3, 0])),
    "arrays that broadcast": (numpy.array([[0], [2]]), numpy.array([1, 3])),
    "arrays that broadcast and repeat": (numpy.array([[0], [0]]), numpy.array([1, 3])),
    "open mesh": numpy.ix_([0, 2], [3, 1, 0], [1]),
    "all arrays": (ROWS, COLUMNS, numpy.array([0, 1, 0, 1])),
    "array behind a slice": (slice(None), COLUMNS),
    "array behind two": (slice(None), slice(None), [1, 0, 1]),
    "array behind ellipsis": (..., [1, 1]),
    "array beside an int": (0, COLUMNS),
    "array beside a cut slice": (slice(1, 3), COLUMNS),
    "arrays held apart": (ROWS, slice(None), numpy.array([0, 1, 0, 0])),
    "int and array held apart": (0, slice(None), numpy.array([0, 1, 0])),
    "array and int held apart": (ROWS, slice(1, 3), 1),
    "arrays held apart by ellipsis": (ROWS, ..., numpy.array([0, 1, 0, 0])),
    "arrays held apart by an ellipsis of no axis": (slice(0, 2), 0, ..., numpy.array([0, 0])),
    "arrays held apart by none": (ROWS, None, COLUMNS),
    "none before an array": (None, ROWS),
    "none behind an array": (ROWS, None),
    "none and held apart": (ROWS, None, slice(None), numpy.array([1, 1, 0, 0])),
    "mask": MASK,
    "mask of one axis": numpy.array([False, True, True]),
    "mask of everything": numpy.ones(SHAPE, bool),
    "mask of nothing": numpy.zeros(SHAPE, bool),
    "mask behind a slice": (slice(None), numpy.array([True, False, False, True])),
    "mask of two axes behind a slice": (slice(None), MASK[0][:, None] & numpy.array([True, False])),
    "mask and array": (numpy.array([True, False, True]), numpy.array([1, 1])),
    "mask and array held apart": (numpy.array([True, False, True]), slice(None), numpy.array([1, 1])),
    "mask and int": (MASK, 1),
    "true": True,
    "false": False,
    "true among others": (True, slice(None), ROWS),
}

CASES = [
    *[
        Case("getitem", call=lambda np, x, index=index: x[index], shapes=[(SHAPE,)], label=label)
        for label, index in INDICES.items()
    ],
    Case("getitem", call=lambda np, x: x[MASK], shapes=[(SHAPE,)], complex_domain=(-1, 1), label="complex mask"),
    Case("getitem", call=lambda np, x: x[ROWS, :, 1], shapes=[(SHAPE,)], complex_domain=(-1, 1), label="complex apart"),
    Case("getitem", call=lambda np, x: x[ROWS, COLUMNS], shapes=[(SHAPE,)], complex_domain=(-1, 1), label="complex arrays"),
    Case("getitem", call=lambda np, x: x[()], shapes=[((),)], label="scalar"),
    Case("getitem", call=lambda np, x: x[None, ...], shapes=[((),)], label="scalar with an axis"),
    Case(
        "getitem",
        call=lambda np, x: x[0, :2] * x[1:, 2] + x[ROWS[:2]][:, 1] * np.sum(x[MASK]) + x[..., 1][0, 0],
        shapes=[(SHAPE,)],
        label="several kinds at once",
    ),
    *[
        Case("take", shapes=[(SHAPE,)], attrs=attrs, label=f"{attrs}")
        for attrs in (
            {"indices": [0, 5, 5, -1]},
            {"indices": 3},
            {"indices": [[0, 2], [2, 2]], "axis": 0},
            {"indices": [1, 1, 3, -1], "axis": 1},
            {"indices": 1, "axis": -1},
            {"indices": [4, -5, 1], "axis": 1, "mode": "wrap"},
            {"indices": [4, -5, 1], "axis": 1, "mode": "clip"},
            {"indices": [30, -5, 1], "mode": "wrap"},
            {"indices": [30, -5, 1], "mode": "clip"},
        )
    ],
    *[
        Case("take_along_axis", shapes=[((2, 3),)], attrs={"indices": numpy.array(at), "axis": axis}, label=f"{at} {axis}")
        for at, axis in (
            ([[2, 0, 1], [1, 1, 1]], 1),
            ([[0, 0, 1, 2], [2, 2, 2, -1]], -1),
            ([[1, 0, 0]], 0),
            ([[2, 1]], 1),
            ([5, 0, 0], None),
        )
    ],
    Case("take_along_axis", shapes=[((1, 3),)], attrs={"indices": numpy.array([[0, 1], [2, 2]]), "axis": 1}, label="broadcast"),
    Case("compress", call=lambda np, x: np.compress([True, False, True], x, axis=0), shapes=[(SHAPE,)]),
    *[Case("sort", shapes=[(SHAPE,), ((4,),)], attrs={"axis": axis}, label=f"axis={axis}") for axis in (-1, 0, None)],
    Case("sort", shapes=[((2, 3),)], complex_domain=(-1, 1), label="complex"),
    Case("argsort", shapes=[((2, 3),)], orders=0),
    Case("argsort", shapes=[((2, 3),)], attrs={"axis": None}, orders=0, label="flat"),
    Case("searchsorted", call=lambda np, v: np.searchsorted([-1.0, 0.0], v, side="right"), shapes=[((3,),), ((),)], orders=0),
    Case("nonzero", shapes=[((2, 3),)], orders=0),
    Case("flatnonzero", shapes=[((2, 3),)], orders=0),
    Case("argwhere", shapes=[((2, 3),)], orders=0),
]  # fmt: skip


@each_case(CASES)
def test_rule(case, check):
    check(case)


# ---------------------------------------------------------------------------------------------------- any index at all


def one_by_one(shape, index, weights):
    """The gradient of ``sum(x[index] * weights)`` by NumPy's own bookkeeping: where does each element come from?"""
    positions = numpy.arange(numpy.prod(shape)).reshape(shape)[index]
    total = numpy.zeros(numpy.prod(shape))
    for position, weight in zip(numpy.ravel(positions), numpy.ravel(weights), strict=True):
        total[position] += weight
    return total.reshape(shape)


@st.composite
def indices(draw, shape):
    """A tuple of ints, slices, masks, integer arrays, None and Ellipsis that fits the shape."""
    parts, length = [], draw(st.integers(1, 3))
    n_used = draw(st.integers(0, len(shape)))
    for n in shape[:n_used]:
        kind = draw(st.sampled_from(["int", "slice", "array", "mask", "column"]))
        if kind == "int":
            parts.append(draw(st.integers(-n, n - 1)))
        elif kind == "slice":
            parts.append(draw(st.slices(n)))
        elif kind == "mask" and n >= length:
            parts.append(numpy.isin(numpy.arange(n), draw(st.permutations(range(n)))[:length]))
        else:
            array = numpy.array(draw(st.lists(st.integers(-n, n - 1), min_size=length, max_size=length)))
            parts.append(array[:, None] if kind == "column" else array)
    if draw(st.booleans()):
        parts.insert(draw(st.integers(0 if n_used == len(shape) else len(parts), len(parts))), ...)
    if draw(st.booleans()):
        parts.insert(draw(st.integers(0, len(parts))), None)
    return tuple(parts)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_index_gives_what_bookkeeping_gives(data):
    shape = data.draw(st.sampled_from([(4,), (3, 4), (2, 3, 4), (3, 1, 2, 3)]))
    index = data.draw(indices(shape))
    x = numpy.arange(numpy.prod(shape), dtype=float).reshape(shape)
    y = x[index]
    weights = numpy.arange(1.0, 1.0 + y.size).reshape(y.shape)
    if y.size:
        numpy.testing.assert_array_equal(grad(lambda x: np.sum(x[index] * weights))(x), one_by_one(shape, index, weights))
    rows = jacobian(lambda x: x[index] * 1.0)(x)
    assert rows.shape == y.shape + shape
    for at in numpy.ndindex(y.shape):
        unit = numpy.zeros(y.shape)
        unit[at] = 1
        numpy.testing.assert_array_equal(rows[at], one_by_one(shape, index, unit))


@pytest.mark.parametrize("label", INDICES)
def test_second_derivatives_in_one_batch(label):
    index = INDICES[label]
    x = numpy.random.default_rng(0).normal(size=SHAPE)
    diagonal = 6 * one_by_one(SHAPE, index, x[index]) if x[index].size else numpy.zeros(SHAPE)
    expected = numpy.zeros((x.size, x.size))
    numpy.fill_diagonal(expected, diagonal.ravel())
    numpy.testing.assert_allclose(hessian(lambda x: np.sum(x[index] ** 3))(x).reshape(x.size, x.size), expected, atol=1e-12)


# ---------------------------------------------------------------------------------------------------- what it costs


def test_reading_elements_one_by_one_is_put_together_once():
    """n reads of an n-vector: one kernel puts n pieces together; n dense gradients would be n kernels and n*n numbers."""
    n = 200
    x = numpy.arange(float(n))
    with counted_kernels("scatter_add", "add", "zeros") as calls:
        with Tape() as tape:
            t = tape.watch(x)
            total = np.sum(np.stack([t[i] * t[i] for i in range(n)]))
        calls.clear()
        assert tape.gradient(total, t).tolist() == (2 * x).tolist()
    assert calls["scatter_add"] == 1
    assert calls["add"] == calls["zeros"] == 0


def test_iteration_is_put_together_once():
    with counted_kernels("scatter_add") as calls:
        assert grad(lambda x: sum(row[0] * row[1] for row in x))(numpy.ones((50, 2))).tolist() == [[1, 1]] * 50
    assert calls["scatter_add"] == 51  # one for each row, and one for all


def test_the_positions_of_pieces_are_read_back_one_by_one_in_second_derivatives():
    n = 20
    with counted_kernels("scatter_add") as calls:
        assert numpy.trace(hessian(lambda x: sum(x[i] ** 3 for i in range(n)))(numpy.ones(n))) == 6 * n
    assert calls["scatter_add"] <= 4


# ---------------------------------------------------------------------------------------------------- repeated positions


def test_repeated_positions_add_up():
    c = numpy.array([1.0, 2.0, 3.0])
    assert grad(lambda x: np.sum(x[[0, 0, 1]] * c))(numpy.ones(3)).tolist() == [3, 3, 0]
    assert grad(lambda x: np.sum(x[[-1, 2, 1]] * c))(numpy.ones(3)).tolist() == [0, 3, 3]
    assert grad(lambda x: np.sum(x[[True, False, True]]))(numpy.ones(3)).tolist() == [1, 0, 1]


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "float16", "longdouble"])
@pytest.mark.parametrize("width", [1, 3])
def test_many_repeated_rows(dtype, width):
    rng = numpy.random.default_rng(1)
    chosen = rng.integers(-5, 5, 200)
    dy = rng.integers(-3, 4, (200, width)).astype(dtype)
    expected = numpy.zeros((5, width), dtype)
    for row, each in zip(chosen, dy, strict=True):
        expected[row] += each
    total = op.scatter_add([dy], indices=[chosen], shape=(5, width), dtype=dtype)
    assert total.dtype == dtype
    numpy.testing.assert_array_equal(total, expected)


def test_pieces_of_every_kind_add_up():
    shape = (3, 4)
    pieces = [0, (slice(None), 1), (numpy.array([0, 0, 2]),), (MASK,), (slice(None), [1, 1]), (-1, [3, 3]), (1, 2)]
    x = numpy.zeros(shape)
    values = [numpy.full(x[index].shape, 2.0**number) for number, index in enumerate(pieces)]
    expected = sum(one_by_one(shape, index, value) for index, value in zip(pieces, values, strict=True))
    numpy.testing.assert_array_equal(op.scatter_add(values, indices=pieces, shape=shape, dtype="float64"), expected)


def test_scatter_add_with_batch_axes_is_scatter_add_of_each():
    rng = numpy.random.default_rng(2)
    for label, index in INDICES.items():
        piece = numpy.zeros(SHAPE)[index]
        values = rng.integers(-4, 5, (2, 3, *piece.shape)).astype(float)
        got = op.scatter_add([values], indices=[index], shape=(2, 3, *SHAPE), dtype="float64", batch=2)
        for at in numpy.ndindex(2, 3):
            numpy.testing.assert_array_equal(got[at], one_by_one(SHAPE, index, values[at]), err_msg=label)


# ---------------------------------------------------------------------------------------------------- wrong indices


def test_a_tensor_is_no_index():
    x = numpy.ones(3)
    for index in (lambda x: x[0], lambda x: x, lambda x: (x, 0), lambda x: x.value):
        with pytest.raises(IndexError, match="index of dtype float64, expected integers or bools"):
            grad(lambda x, index=index: np.sum(x[index(x)]))(x)
    with pytest.raises(NotTrackedError, match="expected integers"):
        grad(lambda x: np.sum(np.take(x, x)))(x)
    with pytest.raises(IndexError, match="out of bounds"):
        grad(lambda x: x[5])(x)
    assert grad(lambda x: np.sum(x[x.astype(int)]))(x).tolist() == [0, 3, 0]


def test_an_index_array_cannot_change_before_the_gradient_is_taken():
    chosen = numpy.array([0, 1])
    with Tape() as tape:
        x = tape.watch(numpy.ones(3))
        y = np.sum(x[chosen])
        with pytest.raises(ValueError, match="read-only"):
            chosen[0] = 2
    assert tape.gradient(y, x).tolist() == [1, 1, 0]
    chosen[0] = 2


# ---------------------------------------------------------------------------------------------------- sorting


def test_sort_of_a_matrix():
    x = numpy.array([[3.0, 1.0], [2.0, 5.0]])
    assert grad(lambda x: np.sum(np.sort(x, axis=1)[:, 0]))(x).tolist() == [[0, 1], [1, 0]]


def test_equal_values_share_what_sort_gives_them():
    w = numpy.array([1.0, 2.0, 4.0, 8.0])
    x = numpy.array([5.0, 3.0, 5.0, 1.0])
    assert grad(lambda x: np.sum(np.sort(x) * w))(x).tolist() == [6, 2, 6, 1]
    assert grad(lambda x: np.sort(x)[-1])(x).tolist() == grad(np.max)(x).tolist() == [0.5, 0, 0.5, 0]
    both = grad(lambda x: np.sum(np.sort(x, axis=0)[0] * numpy.array([1.0, 2.0])))(numpy.array([[1.0, 3.0], [1.0, 4.0]]))
    assert both.tolist() == [[0.5, 2], [0.5, 0]]
    rows = jacobian(lambda x: np.sort(x))(x)
    numpy.testing.assert_array_equal(rows[2:, [0, 2]], numpy.full((2, 2), 0.5))


def test_sorting_order_is_refused_and_positions_are_constants():
    with pytest.raises(NotTrackedError, match="order="):
        np.sort(numpy.ones(2), order="a")
    x = numpy.array([3.0, 1.0, 2.0])
    assert grad(lambda x: np.sum(x[np.argsort(x)] * numpy.arange(3.0)))(x).tolist() == [2, 0, 1]
    assert grad(lambda x: np.sum(x[x.argsort(stable=True)[:1]]))(x).tolist() == [0, 1, 0]
    assert grad(lambda x: np.sum(x[x.nonzero()]))(x).tolist() == [1, 1, 1]
    assert grad(lambda x: x.take(1) * x.take([0, 1])[0])(x).tolist() == [1, 3, 0]
    assert grad(lambda x: np.sum(numpy.take_along_axis(x, numpy.argsort(x), 0) * numpy.arange(3.0)))(x).tolist() == [2, 0, 1]
