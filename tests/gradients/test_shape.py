"""The family shape: rows of operators and options, then what rows cannot say."""

import numpy
import pytest

import autograd.numpy as np
from autograd import Tape, Tensor, grad, hessian, jacobian
from autograd import operators as op
from tests.gradients.counting import counted_kernels
from tests.gradients.harness import Case, each_case


def rows(name, shapes, *variants, **fields):
    """Rows of one function: for each of ``variants`` a dictionary of keyword arguments."""
    fields = {"complex_domain": (-1, 1), **fields}
    return [Case(name, shapes=shapes, attrs=attrs, label=f"{attrs}", **fields) for attrs in variants]


def call(label, function, shapes, **fields):
    fields = {"complex_domain": (-1, 1), **fields}
    return Case(label.split()[0], call=function, label=label, shapes=shapes, **fields)


def placed(x):
    """What the transpose of ``diagonal(a, 1, -1, 0)`` makes of ``x``, element by element."""
    total = numpy.zeros((3, 2, 4), x.dtype)
    for at in range(2):
        total[at + 1, :, at] = x[:, at]
    return total


def reshaped(x, shape, order="C"):
    """NumPy 2.0 does not yet take ``shape`` by name."""
    return numpy.reshape(x, shape, order)


THREE, TWO, ONE = [((2, 3, 4),)], [((2, 3),)], [((4,),)]
ORDERS = ({"order": "C"}, {"order": "F"}, {"order": "A"})

CASES = [
    *rows(
        "reshape",
        THREE,
        *[{"shape": shape, **order} for shape in ((6, 4), (-1, 2), -1, (2, 3, 2, 2)) for order in ORDERS],
        reference=reshaped,
    ),
    *rows("ravel", THREE, *ORDERS, {"order": "K"}),
    *rows("reshape", [((),), (float,), ((1,),)], {"shape": (1, 1)}, {"shape": 1}, reference=reshaped),
    *rows("transpose", THREE, {}, {"axes": (2, 0, 1)}, {"axes": (-1, 1, 0)}, {"axes": None}),
    *rows("transpose", [*TWO, *ONE, ((),)], {}),
    *rows("swapaxes", THREE, {"axis1": 0, "axis2": -1}, {"axis1": 1, "axis2": 1}),
    *rows("moveaxis", THREE, {"source": 0, "destination": -1}, {"source": (0, -1), "destination": (1, 0)}),
    *rows("rollaxis", THREE, {"axis": 2}, {"axis": -1}, {"axis": 0, "start": 2}),
    *rows("rollaxis", THREE, {"axis": 0, "start": 3}, {"axis": 1, "start": -1}),
    *rows("permute_dims", THREE, {"axes": (1, 0, 2)}),
    *rows("matrix_transpose", THREE, {}),
    *rows("expand_dims", TWO, {"axis": 0}, {"axis": -1}, {"axis": (0, -2)}, {"axis": 1}),
    *rows("expand_dims", [((),), (float,)], {"axis": 0}),
    *rows("squeeze", [((1, 3, 1),)], {}, {"axis": 0}, {"axis": -1}, {"axis": (0, 2)}),
    *rows("broadcast_to", [((2, 1),), ((3,),), ((1,),), ((),), (float,)], {"shape": (4, 2, 3)}),
    *rows("broadcast_to", [((3,),), ((),)], {"shape": (3,)}),
    *rows("broadcast_to", [((1,),), (float,)], {"shape": 3}),
    call("broadcast_arrays two", lambda np, x, y: np.multiply(*np.broadcast_arrays(x, y)), [((3,), (2, 1))]),
    *rows("repeat", THREE, {"repeats": 2}, {"repeats": 2, "axis": 1}, {"repeats": [2], "axis": -1}),
    *rows("repeat", THREE, {"repeats": [1, 0, 3], "axis": 1}),
    *rows("repeat", TWO, {"repeats": numpy.array([1, 0, 2, 1, 1, 3])}, {"repeats": 0, "axis": 0}),
    *rows("repeat", [((),), (float,)], {"repeats": 3}),
    *rows("tile", TWO, {"reps": 2}, {"reps": (2, 1)}, {"reps": (2, 1, 3)}, {"reps": (1, 2)}, {"reps": 0}, {"reps": ()}),
    *rows("tile", [((),), (float,)], {"reps": (2, 2)}),
    *rows("flip", THREE, {}, {"axis": 0}, {"axis": -1}, {"axis": (0, 2)}),
    *rows("flipud", TWO, {}),
    *rows("fliplr", TWO, {}),
    *rows("rot90", TWO, {}, {"k": 2}, {"k": 3}, {"k": 4}, {"k": -1}),
    *rows("rot90", THREE, {"axes": (1, 2)}, {"axes": (2, 0), "k": 3}),
    *rows("roll", THREE, {"shift": 5}, {"shift": 1, "axis": 1}, {"shift": -3, "axis": -1}, {"shift": (1, 2), "axis": (0, 1)}),
    *rows("roll", THREE, {"shift": (1, 1), "axis": (2, 2)}, {"shift": 2, "axis": (0, -1)}),
    *rows("roll", THREE, {"shift": (1, 2)}, {"shift": (1, 2), "axis": 1}),
    *rows("diagonal", THREE, {}, {"offset": 1}, {"offset": -1, "axis1": 2, "axis2": 0}, {"axis1": 1, "axis2": -1}),
    *rows("trace", THREE, {}, {"offset": -1, "axis1": 1, "axis2": 2}),
    *rows("diag", [((3,),), ((2, 3),), ((3, 2),), ((3, 3),)], {}, {"k": 1}, {"k": -2}),
    *rows("diagflat", TWO, {}, {"k": -1}),
    *rows("triu", [*THREE, *TWO, *ONE], {}, {"k": 1}, {"k": -1}),
    *rows("tril", [*THREE, *TWO, *ONE], {}, {"k": 1}, {"k": -1}),
    *rows("copy", [*TWO, ((),), (float,)], {}),
    *rows("atleast_1d", [*TWO, *ONE, ((),), (float,)], {}),
    *rows("atleast_2d", [*TWO, *ONE, ((),), (float,)], {}),
    *rows("atleast_3d", [*THREE, *TWO, *ONE, ((),), (float,)], {}),
    *[
        call(f"concatenate axis={axis}", lambda np, x, y, axis=axis: np.concatenate([x, y], axis=axis), [((2, 3), (2, 3))])
        for axis in (0, 1, -1, None)
    ],
    call("concatenate unequal", lambda np, x, y: np.concatenate((x, y), axis=None), [((2, 3), (2,)), ((0,), (2,))]),
    call("concatenate itself", lambda np, x: np.concatenate([x, x * 2.0, x], axis=1), [((2, 3),)]),
    call("concatenate constant", lambda np, x: np.concatenate([[1.0], x, numpy.ones(2)]), [((2,),)]),
    *[
        call(f"stack axis={axis}", lambda np, x, y, axis=axis: np.stack([x, y, x], axis=axis), [((2, 3), (2, 3))])
        for axis in (0, 1, 2, -1, -2)
    ],
    call("stack scalars", lambda np, x, y: np.stack([x, y]), [((), ()), ((), float)]),
    call("vstack", lambda np, x, y: np.vstack([x, y]), [((3,), (2, 3)), ((3,), (3,)), ((), (1,))]),
    call("hstack", lambda np, x, y: np.hstack((x, y)), [((3,), (2,)), ((2, 3), (2, 1)), ((), (2,))]),
    call("dstack", lambda np, x, y: np.dstack((x, y)), [((3,), (3,)), ((2, 3), (2, 3, 2))]),
    call("column_stack", lambda np, x, y: np.column_stack((x, y)), [((3,), (3, 2)), ((3,), (3,))]),
    call("append flat", lambda np, x, y: np.append(x, y), [((2, 3), ()), ((2,), (2,))]),
    call("append axis", lambda np, x, y: np.append(x, y, axis=0), [((2, 3), (1, 3))]),
    call("split equal", lambda np, x: np.split(x, 2, axis=1)[1], [((3, 4),)]),
    call("split points", lambda np, x: np.split(x, [1, 3])[1], [((4, 2),)]),
    call("array_split", lambda np, x: np.array_split(x, 3, axis=-1)[0], [((2, 4),)]),
    call("array_split points", lambda np, x: np.array_split(x, [1, -1, 9])[1], [((5,),)]),
    call("hsplit", lambda np, x: np.hsplit(x, 2)[1], [((4,),), ((2, 4),)]),
    call("vsplit", lambda np, x: np.vsplit(x, 2)[0], [((4, 2),)]),
    call("dsplit", lambda np, x: np.dsplit(x, [1])[1], [((2, 1, 3),)]),
    Case(
        "unstack",  # which NumPy has from 2.1 on
        call=lambda np, x: np.stack(np.unstack(x, axis=1)[::-1]),
        reference=lambda x: numpy.stack([x[:, 2], x[:, 1], x[:, 0]]),
        shapes=[((2, 3, 2),)],
        complex_domain=(-1, 1),
    ),
    call("block rows", lambda np, x, y: np.block([[x, y], [y, x]]), [((2, 3), (2, 3)), ((3,), (3,))]),
    call("block depths", lambda np, x, y: np.block([[[x]], [[y]]]), [((2, 3), (2, 3)), ((1, 2, 3), (2, 3))]),
    call("block one", lambda np, x: np.block(x), [((2, 3),), ((),)]),
    call("block scalars", lambda np, x, y: np.block([x, 1.0, y]), [((), (2,)), ((2,), ())], dtypes=("float64",)),
    call("split all parts", lambda np, x: np.hstack(np.split(x, 3)[::-1]), [((6,),)]),
    *rows("pad", TWO, {"pad_width": 1}, {"pad_width": (0, 2)}, {"pad_width": ((1, 0), (2, 1))}, {"pad_width": ((1, 2),)}),
    *rows("pad", TWO, {"pad_width": 1, "constant_values": 3.0}, {"pad_width": 1, "constant_values": ((1.0, 2.0), (3.0, 4.0))}),
    *rows("pad", [((3, 4),)], *[
        {"pad_width": width, "mode": mode}
        for mode in ("edge", "reflect", "symmetric", "wrap") for width in (1, ((2, 0), (1, 3)), ((5, 7), (0, 9)))
    ]),
    call(
        "pad traced",
        lambda np, x, c: np.pad(x, ((1, 2), (0, 1)), constant_values=c),
        [((2, 2), ()), ((2, 2), (2,)), ((2, 2), (2, 2))],
    ),
    call("meshgrid xy", lambda np, x, y: np.multiply(*np.meshgrid(x, y)), [((3,), (2,))]),
    call("meshgrid ij", lambda np, *x: np.prod(np.stack(np.meshgrid(*x, indexing="ij")), axis=0), [((3,), (2,), (2,))]),
    call("meshgrid sparse", lambda np, x, y: np.subtract(*np.meshgrid(x, y, sparse=True)), [((3,), (2,))]),
    call("full_like", lambda np, x: np.full_like(numpy.zeros((2, 3), x.dtype), x), [((),), ((3,),)]),
    call("full", lambda np, x: np.full((2, 3), x), [((),), ((3,),)]),
    call("asarray", lambda np, x: np.asarray(x), [((2,),), ((),)]),
    call("array nested", lambda np, x: np.array([[x[0], 1.0], [2.0, x[1]]], dtype=x.dtype), [((2,),)]),
    Case(
        "place_diagonal",
        call=lambda np, x: op.place_diagonal(x, shape=(3, 2, 4), offset=1, axis1=-1, axis2=0),
        reference=placed,
        shapes=[((2, 2),)],
        complex_domain=(-1, 1),
    ),
]  # fmt: skip


@each_case(CASES)
def test_rule(case, check):
    check(case)


# ---------------------------------------------------------------------------------------------------- types


def test_astype_between_floats_keeps_the_gradient_in_the_type_of_the_operand():
    x = numpy.array([1.5, 2.5], dtype="float32")
    g = grad(lambda x: np.sum(x.astype("float64") * x.astype(float)))(x)
    assert g.dtype == "float32"
    assert g.tolist() == [3, 5]
    assert grad(lambda x: np.sum(np.astype(x, "float32")) ** 2)(numpy.array([1.0, 2.0])).dtype == "float64"
    assert hessian(lambda x: np.sum(x.astype("float64") ** 3))(numpy.array([2.0], dtype="float32")).tolist() == [[12]]


def test_astype_to_complex_and_back():
    x = numpy.array([1.0, 2.0])
    numpy.testing.assert_allclose(grad(lambda x: np.sum(np.real((x.astype(complex) * 1j) ** 2)))(x), -2 * x)
    z = numpy.array([1.0 + 2.0j])
    with pytest.warns(numpy.exceptions.ComplexWarning):
        assert grad(lambda z: np.sum(z.astype(float) ** 2))(z).tolist() == [2 + 0j]


def test_astype_to_integers_is_a_constant():
    x = numpy.array([1.5, 2.5])
    assert grad(lambda x: np.sum(x.astype(int) * x))(x).tolist() == [1, 2]
    with Tape() as tape:
        t = tape.watch(x)
        assert type(t.astype(bool)) is numpy.ndarray
    with pytest.raises(TypeError, match="cannot be cast"):
        np.astype(x, "float32", casting="safe")


# ---------------------------------------------------------------------------------------------------- making arrays


def test_arrays_of_nested_lists_with_tensors():
    def f(x):
        return np.sum(np.array([[x, 2.0], [x * x, 1.0]]) * numpy.array([[1.0, 2.0], [3.0, 4.0]]))

    assert grad(f)(2.0) == 13.0
    assert grad(lambda x: np.sum(np.asarray(x) ** 2))(numpy.array([1.0, 2.0])).tolist() == [2, 4]
    assert grad(lambda x: np.sum(np.array([x, x]), axis=0)[1])(numpy.ones(2)).tolist() == [0, 2]
    with Tape() as tape:
        x = tape.watch(numpy.float32(1.0))
        assert np.array([x, x], dtype="float64").dtype == "float64"
        assert np.array([x, x]).dtype == "float32"
        assert np.array(x, ndmin=2).shape == (1, 1)
        assert np.ascontiguousarray(x).shape == (1,)
        assert np.asanyarray(x) is x


def test_arrays_of_plain_things_are_numpys():
    something = object()
    assert np.array([something])[0] is something
    assert np.array([1, 2], ndmin=2).shape == (1, 2)
    given = numpy.ones(2)
    assert np.asarray(given) is given
    assert np.array(given) is not given
    assert np.array(3).shape == ()


def test_ragged_lists_are_an_error():
    with pytest.raises(ValueError, match="ragged"):
        grad(lambda x: np.sum(np.array([[x, x], [x]])))(1.0)


def test_filled_arrays():
    assert grad(lambda x: np.sum(np.full_like(numpy.zeros(3), x)))(2.0) == 3.0
    assert grad(lambda x: np.sum(np.full((2, 2), x)))(2.0) == 4.0
    assert grad(lambda x: np.sum(np.full_like(x, x[0])))(numpy.ones(3)).tolist() == [3, 0, 0]
    assert np.full_like(numpy.zeros(2, "float32"), 1.5).tolist() == [1.5, 1.5]
    with Tape() as tape:
        x = tape.watch(numpy.ones((2, 3), "float32"))
        for f in (np.zeros_like, np.ones_like, np.empty_like, numpy.zeros_like):
            made = f(x)
            assert isinstance(made, numpy.ndarray)
            assert (made.shape, made.dtype) == ((2, 3), "float32")
        assert np.full_like(numpy.zeros(2, "float32"), x[0, 0] * 2.0).dtype == "float32"


# ---------------------------------------------------------------------------------------------------- joining and cutting


def test_concatenate_of_a_maximum_with_its_own_operand():
    def f(x):
        for _ in range(2):
            x = np.concatenate((x.max(axis=0).reshape((1, 1)), x))
        return np.sum(x)

    assert grad(f)(numpy.array([[1.0]])).tolist() == [[3]]


def test_a_tensor_may_stand_for_the_list_of_its_rows():
    w = numpy.arange(4.0)
    assert grad(lambda x: np.sum(np.concatenate(x) * w))(numpy.ones((2, 2))).tolist() == [[0, 1], [2, 3]]
    assert grad(lambda x: np.sum(np.vstack(x) * w.reshape(2, 2)))(numpy.ones((2, 2))).tolist() == [[0, 1], [2, 3]]


def test_the_parts_of_constants_are_never_cut():
    x, constants = numpy.ones(3), [numpy.ones(3)] * 20
    with counted_kernels("getitem") as calls:
        assert grad(lambda x: np.sum(np.concatenate([*constants, x])))(x).tolist() == [1, 1, 1]
    assert calls["getitem"] == 1


def test_dtypes_of_joined_arrays():
    x = numpy.ones(2, "float32")
    g = grad(lambda x: np.sum(np.concatenate([x, numpy.ones(2)]) ** 2))(x)
    assert g.dtype == "float32"
    assert g.tolist() == [2, 2]
    assert np.concatenate([x, x], dtype="float64").dtype == "float64"
    assert np.stack([x, x], dtype="float64").dtype == "float64"


def test_cutting_is_numpys_on_plain_arrays():
    x = numpy.arange(7.0)
    for points in (2, 3, 7, 9, [2, 3], [0, 9], [-2], numpy.array([1, 4])):
        for ours, theirs in zip(np.array_split(x, points), numpy.array_split(x, points), strict=True):
            numpy.testing.assert_array_equal(ours, theirs)
    with pytest.raises(ValueError, match="do not divide"):
        np.split(x, 3)
    with pytest.raises(ValueError, match="sections"):
        np.array_split(x, 0)
    for wrong in (np.hsplit, np.vsplit, np.dsplit):
        with pytest.raises(ValueError, match="axes"):
            wrong(numpy.float64(1.0) if wrong is np.hsplit else x, 1)


# ---------------------------------------------------------------------------------------------------- known traps


def test_rollaxis_with_a_negative_axis():
    w = numpy.arange(6.0).reshape(3, 1, 2)
    g = grad(lambda x: np.sum(np.rollaxis(x, -1) * w))(numpy.ones((1, 2, 3)))
    assert g.tolist() == [[[0, 2, 4], [1, 3, 5]]]


def test_diag_of_a_matrix_that_is_not_square():
    assert grad(lambda x: np.sum(np.diag(x)))(numpy.ones((2, 3))).tolist() == [[1, 0, 0], [0, 1, 0]]


def test_roll_by_tuples():
    w = numpy.arange(4.0).reshape(2, 2)
    assert grad(lambda x: np.sum(np.roll(x, (1, 1), (0, 1)) * w))(numpy.ones((2, 2))).tolist() == [[3, 2], [1, 0]]


def test_pad_by_hand():
    assert grad(lambda x: np.sum(np.pad(x, 1)))(numpy.ones(3)).tolist() == [1, 1, 1]
    assert grad(lambda x: np.sum(np.pad(x, 1, mode="edge")))(numpy.ones(3)).tolist() == [2, 1, 2]
    assert grad(lambda c: np.sum(np.pad(numpy.ones((2, 2)), 1, constant_values=c)))(3.0) == 12.0
    g = grad(lambda c: np.sum(np.pad(numpy.ones(2), (1, 2), constant_values=(c, 5.0))))(3.0)
    assert g == 1.0


def test_tile_by_nothing():
    assert grad(lambda x: np.sum(np.tile(x, 0)) + np.sum(x))(numpy.ones(2)).tolist() == [1, 1]


def test_order_k_is_the_order_in_memory():
    x = numpy.arange(24.0).reshape(2, 3, 4)
    for view in (lambda x: x[::-1, :, ::2], lambda x: x.transpose(1, 0, 2), lambda x: x.T[::2], lambda x: x[:, 1]):
        numpy.testing.assert_array_equal(np.ravel(view(x), order="K"), numpy.ravel(view(x), order="K"))
        places = view(x).ravel(order="K").astype(int)
        w = numpy.zeros(24)
        w[places] = numpy.arange(1.0, places.size + 1)
        g = grad(lambda x: np.sum(view(x).flatten("K") * numpy.arange(1.0, places.size + 1)))(x)  # noqa: B023  # called at once
        numpy.testing.assert_array_equal(g.ravel(), w)


def test_methods():
    x = numpy.array([[1.0, 2.0], [3.0, 4.0]])
    w = numpy.arange(4.0)
    for f in (
        lambda t: np.sum(t.ravel() * w),
        lambda t: np.sum(t.flatten() * w),
        lambda t: np.sum(t.copy().reshape(4) * w),
        lambda t: np.sum(t.swapaxes(0, 1).T.ravel() * w),
        lambda t: np.sum(t.astype(float).reshape(1, 4).squeeze() * w),
        lambda t: np.sum(t.repeat(2, axis=0)[::2].reshape(-1) * w),
        lambda t: np.sum(numpy.concatenate(list(t)) * w),
        lambda t: np.sum(numpy.reshape(t, (4,)) * w),
    ):
        assert grad(f)(x).tolist() == [[0, 1], [2, 3]]
    assert grad(lambda t: t.diagonal().sum() + t.trace())(x).tolist() == [[2, 0], [0, 2]]


def test_a_batch_of_cotangents_through_a_chain_of_shapes():
    def f(x):
        return np.ravel(np.roll(np.pad(np.tile(x.T, (1, 2)), 1, mode="wrap"), 3), order="F")

    x = numpy.arange(6.0).reshape(2, 3)
    expected = numpy.stack([f(unit.reshape(2, 3)) for unit in numpy.eye(6)], axis=-1).reshape(-1, 2, 3)
    numpy.testing.assert_array_equal(jacobian(f)(x), expected)


def test_results_are_tensors_only_where_they_can_be_followed():
    with Tape() as tape:
        x = tape.watch(numpy.ones((2, 2)))
        assert all(type(each) is Tensor for each in np.split(x, 2))
        assert all(type(each) is Tensor for each in np.atleast_2d(x, x[0]))
        mixed = np.broadcast_arrays(x, numpy.ones(2))
        assert [type(each) for each in mixed] == [Tensor, numpy.ndarray]


def test_questions_about_a_tensor_have_plain_answers():
    with Tape() as tape:
        x = tape.watch(np.ones((2, 3)))
        z = tape.watch(np.ones(2, complex))
    assert (np.shape(x), np.ndim(x), np.size(x), np.size(x, 1)) == ((2, 3), 2, 6, 3)
    assert (np.iscomplexobj(x), np.isrealobj(x), np.iscomplexobj(z), np.isrealobj(z)) == (False, True, True, False)
