"""The family shape: rows of operators and options, then what rows cannot say."""

import numpy
import pytest

import autograd.numpy as np
from autograd import NotTrackedError, Tape, Tensor, grad, hessian, jacobian
from autograd import operators as op
from tests.gradients.harness import Case, each_case


def rows(name, shapes, *variants, **fields):
    """Rows of one function: for each of ``variants`` a dictionary of keyword arguments."""
    fields = {"complex_domain": (-1, 1), **fields}
    return [Case(name, shapes=shapes, attrs=attrs, label=f"{attrs}", **fields) for attrs in variants]


def call(label, function, shapes, **fields):
    fields = {"complex_domain": (-1, 1), **fields}
    return Case(label.split()[0], call=function, label=label, shapes=shapes, **fields)


THREE, TWO, ONE = [((2, 3, 4),)], [((2, 3),)], [((4,),)]
ORDERS = ({"order": "C"}, {"order": "F"}, {"order": "A"})

CASES = [
    *rows("reshape", THREE, *[{"shape": shape, **order} for shape in ((6, 4), (-1, 2), -1, (2, 3, 2, 2)) for order in ORDERS]),
    *rows("ravel", THREE, *ORDERS, {"order": "K"}),
    *rows("reshape", [((),), (float,), ((1,),)], {"shape": (1, 1)}, {"shape": 1}),
    *rows("transpose", THREE, {}, {"axes": (2, 0, 1)}, {"axes": (-1, 1, 0)}, {"axes": None}),
    *rows("transpose", [*TWO, *ONE, ((),)], {}),
    *rows("swapaxes", THREE, {"axis1": 0, "axis2": -1}, {"axis1": 1, "axis2": 1}),
    *rows("moveaxis", THREE, {"source": 0, "destination": -1}, {"source": (0, -1), "destination": (1, 0)}),
    *rows("rollaxis", THREE, {"axis": 2}, {"axis": -1}, {"axis": 0, "start": 2}, {"axis": 0, "start": 3}, {"axis": 1, "start": -1}),
    *rows("permute_dims", THREE, {"axes": (1, 0, 2)}),
    *rows("matrix_transpose", THREE, {}),
    *rows("expand_dims", TWO, {"axis": 0}, {"axis": -1}, {"axis": (0, -2)}, {"axis": 1}),
    *rows("expand_dims", [((),), (float,)], {"axis": 0}),
    *rows("squeeze", [((1, 3, 1),)], {}, {"axis": 0}, {"axis": -1}, {"axis": (0, 2)}),
    *rows("broadcast_to", [((2, 1),), ((3,),), ((1,),), ((),), (float,)], {"shape": (4, 2, 3)}),
    *rows("broadcast_to", [((3,),), ((),)], {"shape": (3,)}),
    *rows("broadcast_to", [((1,),), (float,)], {"shape": 3}),
    call("broadcast_arrays two", lambda np, x, y: np.broadcast_arrays(x, y)[1] * 1.0, [((3,), (2, 1))]),
    *rows("repeat", THREE, {"repeats": 2}, {"repeats": 2, "axis": 1}, {"repeats": [2], "axis": -1}, {"repeats": [1, 0, 3], "axis": 1}),
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
    *rows("roll", THREE, {"shift": (1, 1), "axis": (2, 2)}, {"shift": 2, "axis": (0, -1)}, {"shift": (1, 2)}, {"shift": (1, 2), "axis": 1}),
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
    call("split all parts", lambda np, x: np.hstack(np.split(x, 3)[::-1]), [((6,),)]),
    *rows("pad", TWO, {"pad_width": 1}, {"pad_width": (0, 2)}, {"pad_width": ((1, 0), (2, 1))}, {"pad_width": ((1, 2),)}),
    *rows("pad", TWO, {"pad_width": 1, "constant_values": 3.0}, {"pad_width": 1, "constant_values": ((1.0, 2.0), (3.0, 4.0))}),
    *rows("pad", [((3, 4),)], *[
        {"pad_width": width, "mode": mode}
        for mode in ("edge", "reflect", "symmetric", "wrap") for width in (1, ((2, 0), (1, 3)), ((5, 7), (0, 9)))
    ]),
    call("pad traced", lambda np, x, c: np.pad(x, ((1, 2), (0, 1)), constant_values=c), [((2, 2), ()), ((2, 2), (2,)), ((2, 2), (2, 2))]),
    call("meshgrid xy", lambda np, x, y: np.meshgrid(x, y)[0], [((3,), (2,))]),
    call("meshgrid ij", lambda np, x, y, z: np.meshgrid(x, y, z, indexing="ij")[2], [((3,), (2,), (2,))]),
    call("meshgrid sparse", lambda np, x, y: np.meshgrid(x, y, sparse=True)[1], [((3,), (2,))]),
    call("full_like", lambda np, x: np.full_like(numpy.zeros((2, 3), x.dtype), x), [((),), ((3,),)]),
    call("full", lambda np, x: np.full((2, 3), x), [((),), ((3,),)]),
    call("asarray", lambda np, x: np.asarray(x), [((2,),), ((),)]),
    call("array nested", lambda np, x: np.array([[x[0], 1.0], [2.0, x[1]]], dtype=x.dtype), [((2,),)]),
    Case("place_diagonal", call=lambda np, x: op.place_diagonal(x, shape=(3, 2, 4), offset=1, axis1=-1, axis2=0),
         reference=lambda x: numpy.moveaxis(numpy.stack([numpy.vstack([numpy.zeros((1, 3)), numpy.diag(row)]) for row in x], 1), 0, 2)
         .transpose(1, 0, 2)[[0, 1, 2]] if False else _placed(x), shapes=[((2, 3),)]),
]  # fmt: skip
