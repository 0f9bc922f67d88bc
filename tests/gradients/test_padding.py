"""Margins of every mode, as NumPy fills them."""

import numpy
import pytest

import autograd.numpy as np
from autograd import NotTrackedError, Tape, grad, hessian, jacobian
from tests.gradients.harness import Case, each_case

WIDTHS = (1, (0, 2), ((2, 0), (1, 3)), ((5, 7), (0, 9)))


def rows(mode, *options, shapes=(((3, 4),),), widths=WIDTHS, **fields):
    return [
        Case("pad", shapes=shapes, attrs={"pad_width": width, "mode": mode, **each}, label=f"{mode} {width} {each}", **fields)
        for width in widths
        for each in options or ({},)
    ]


CASES = [
    *rows("constant", {}, {"constant_values": ((1.0, 2.0), (3.0, 4.0))}, complex_domain=(-1, 1)),
    *rows("edge", complex_domain=(-1, 1)),
    *rows("wrap", complex_domain=(-1, 1)),
    *rows("reflect", {}, {"reflect_type": "even"}, {"reflect_type": "odd"}, complex_domain=(-1, 1)),
    *rows("symmetric", {}, {"reflect_type": "odd"}, complex_domain=(-1, 1)),
    *rows("linear_ramp", {}, {"end_values": 2.0}, {"end_values": ((5.0, -4.0), (1.5, 2.0))}, complex_domain=(-1, 1)),
    *rows("mean", {}, {"stat_length": 2}, {"stat_length": ((1, 2), (3, 9))}, complex_domain=(-1, 1)),
    *rows("maximum", {}, {"stat_length": 2}),
    *rows("minimum", {}, {"stat_length": ((1, 2), (3, 1))}),
    *rows("median", {}, {"stat_length": 3}),
    *rows("reflect", {"reflect_type": "odd"}, shapes=[((1, 3),)], widths=(2,)),
    *rows("symmetric", {"reflect_type": "odd"}, shapes=[((1, 3),), ((2,),)], widths=(5,)),
    *rows("edge", shapes=[((0, 2),)], widths=(((0, 0), (1, 2)),)),
    *rows("mean", shapes=[((),), ((2, 0, 3),)], widths=(0,)),
    Case(
        "pad",
        label="constants and ends that are traced",
        call=lambda np, x, c: np.pad(np.pad(x, ((1, 2), (0, 1)), constant_values=c), 2, mode="linear_ramp", end_values=c),
        shapes=[((2, 2), ()), ((2, 2), (2,)), ((2, 2), (2, 2)), ((2, 2), float)],
    ),
    Case("pad", label="numpy", call=lambda _, x: numpy.pad(x, 2, "mean"), shapes=[((3,),)]),
]  # fmt: skip


@each_case(CASES)
def test_rule(case, check):
    check(case)


def test_by_hand():
    x = numpy.array([1.0, 2.0, 4.0])
    odd = jacobian(lambda x: np.pad(x, (2, 1), mode="reflect", reflect_type="odd"))(x)
    assert odd.tolist() == [[2, 0, -1], [2, -1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, -1, 2]]
    ramp = jacobian(lambda x: np.pad(x, (0, 2), mode="linear_ramp"))(x)
    assert ramp[3:].tolist() == [[0, 0, 0.5], [0, 0, 0]]
    assert grad(lambda x: np.pad(x, (1, 0), mode="maximum")[0])(numpy.array([2.0, 2.0, 1.0])).tolist() == [0.5, 0.5, 0]
    assert grad(lambda x: np.pad(x, (1, 0), mode="median")[0])(x).tolist() == [0, 1, 0]
    assert grad(lambda c: np.sum(np.pad(numpy.ones(2), (1, 2), constant_values=(c, 5.0))))(3.0) == 1.0
    assert hessian(lambda x: np.sum(np.pad(x, 1, mode="mean") ** 2))(numpy.array([1.0, 2.0])).tolist() == [[3, 1], [1, 3]]


def test_widths_for_some_axes():
    x = numpy.arange(6.0).reshape(2, 3)
    for widths in ({1: 2}, {0: (1, 0), -1: (0, 2)}):
        whole = [widths.get(axis, widths.get(axis - 2, (0, 0))) for axis in (0, 1)]
        expected = numpy.pad(x, [each if isinstance(each, tuple) else (each, each) for each in whole], "edge")
        with Tape() as tape:
            got = np.pad(tape.watch(x), widths, mode="edge")
        numpy.testing.assert_array_equal(got.value, expected)


def test_on_plain_arrays_everything_is_numpys():
    def fill(row, width, axis, kwargs):
        row[: width[0]] = kwargs["value"]

    x = numpy.array([1, 2, 3])
    numpy.testing.assert_array_equal(np.pad(x, 1, fill, value=7), numpy.pad(x, 1, fill, value=7))
    assert np.pad(x, 1, mode="mean").dtype == x.dtype


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"mode": lambda *row: None}, NotTrackedError, "a function as mode"),
        ({"mode": "nothing"}, ValueError, "got mode 'nothing', expected one of"),
        ({"mode": "edge", "constant_values": 1.0}, ValueError, "constant_values"),
        ({"mode": "maximum", "stat_length": 0}, ValueError, "stat_length=0"),
    ],
)
def test_what_cannot_be_padded_says_so(options, error, message):
    with pytest.raises(error, match=message):
        grad(lambda x: np.sum(np.pad(x, 1, **options)))(numpy.ones(2))


def test_wrong_widths():
    with Tape() as tape:
        x = tape.watch(numpy.ones((0, 2)))
        with pytest.raises(TypeError, match="whole numbers"):
            np.pad(x, 1.5)
        with pytest.raises(ValueError, match="negative"):
            np.pad(x, -1)
        with pytest.raises(ValueError, match="axis 0 is empty"):
            np.pad(x, 1, mode="reflect")
