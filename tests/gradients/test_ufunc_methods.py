"""Options of ufuncs (where, out, dtype, casting, axes) and their methods, through ``autograd.numpy`` and through plain NumPy."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd
import autograd.numpy as np
from autograd import NotTrackedError, OutArrayError, Tape, Tensor, grad, jacobian
from autograd.methods import function_of_ufunc
from registry.operators import is_constant
from tests.gradients.harness import Case, each_case

inf, nan = numpy.inf, numpy.nan
MASK = numpy.array([[True, False, True], [False, True, True]])
ROW = numpy.array([True, False, True])
TWO, THREE = [((2, 3),)], [((2, 3, 2),)]
PAIR = [((2, 3), (2, 3)), ((3,), (2, 1))]
POSITIVE = (0.5, 2.0)
COMPLEX = {"complex_domain": (-1, 1)}


def plain(function):
    """A function of tensors that is called as plain NumPy has it."""
    return lambda np, *inputs: function(numpy, *inputs)


def call(label, function, shapes, **fields):
    """Two rows: by our function, and by NumPy's own, which finds ours through its protocol."""
    name = label.split()[0].split(".")[0]
    return [
        Case(name, call=function, label=label, shapes=shapes, **fields),
        Case(
            name,
            call=plain(function),
            reference=lambda *inputs: function(numpy, *inputs),
            label=f"{label} numpy",
            shapes=shapes,
            **fields,
        ),
    ]


def reduced(name, shapes, *options, **fields):
    rows = [
        call(f"{name}.reduce {each}", lambda np, x, each=each: getattr(np, name).reduce(x, **each), shapes, **fields)
        for each in options
    ]
    return [row for pair in rows for row in pair]


def method(name, method, shapes, *arguments, **fields):
    rows = [
        call(f"{name}.{method} {each}", lambda np, x, each=each: getattr(getattr(np, name), method)(x, *each), shapes, **fields)
        for each in arguments
    ]
    return [row for pair in rows for row in pair]


CASES = [
    *reduced("add", THREE, {}, {"axis": (0, -1)}, {"axis": None, "initial": 2.0}, {"axis": 1, "keepdims": True}, **COMPLEX),
    *reduced("add", TWO, {"where": MASK}, {"dtype": "float64"}),
    *reduced("multiply", TWO, {}, {"axis": None}, {"where": MASK, "axis": 1}, **COMPLEX),
    *reduced("maximum", THREE, {"axis": (0, 2)}, {"axis": 1, "where": MASK[..., None], "initial": -5.0}),
    *reduced("minimum", THREE, {}, {"axis": None, "keepdims": True}),
    *reduced("logaddexp", THREE, {}, {"axis": (0, 1)}, {"axis": 1, "where": MASK[..., None]}, {"axis": 0, "initial": 1.0}),
    *reduced("logaddexp2", TWO, {"axis": 1}, {"axis": None, "keepdims": True}),
    *reduced("hypot", TWO, {}, {"axis": (0, 1), "keepdims": True}, {"axis": 1, "initial": 2.0, "where": MASK}, domain=POSITIVE),
    *reduced("subtract", TWO, {}, {"axis": -1, "keepdims": True}, {"axis": 1, "initial": 3.0, "where": MASK}, **COMPLEX),
    *reduced("divide", TWO, {"axis": 1}, {"axis": 0, "initial": 2.0}, domain=POSITIVE),
    *reduced("arctan2", TWO, {"axis": 0}, domain=POSITIVE),
    *reduced("fmax", THREE, {"axis": (0, 2)}, {"axis": 1, "where": MASK[..., None], "initial": -1.0}),
    *reduced("fmin", THREE, {"axis": 0, "keepdims": True}),
    *method("add", "accumulate", TWO, (), (1,), **COMPLEX),
    *method("add", "accumulate", TWO, (-1, "float64")),
    *method("multiply", "accumulate", TWO, (), (-1,), **COMPLEX),
    *method("maximum", "accumulate", THREE, (), (1,), (-1,)),
    *method("minimum", "accumulate", TWO, (0,), (1,)),
    *method("logaddexp", "accumulate", TWO, (0,), (1,)),
    *method("subtract", "accumulate", TWO, (1,), **COMPLEX),
    *method("fmax", "accumulate", TWO, (1,)),
    *method("add", "reduceat", [((5,),)], ([0, 2],), ([3, 0, 2, 2, 4],), **COMPLEX),
    *method("multiply", "reduceat", [((2, 4),)], ([0, 2, 1], 1), ([1], -1)),
    *method("maximum", "reduceat", [((2, 4),)], ([0, 3, 1], 1)),
    *method("minimum", "reduceat", [((4, 2),)], ([0, 2],)),
    *method("subtract", "reduceat", [((4,),)], ([0, 1],)),
    *call("add.outer", lambda np, x, y: np.add.outer(x, y), [((3,), (2, 2)), ((), (2,))], **COMPLEX),
    *call("multiply.outer", lambda np, x, y: np.multiply.outer(x, y), [((2, 2), (3,)), ((3,), float)]),
    *call("power.outer", lambda np, x, y: np.power.outer(x, y), [((3,), (2,))], domain=POSITIVE),
    *call("arctan2.outer", lambda np, x: np.arctan2.outer([1.0, 2.0], x), [((3,),)], domain=POSITIVE),
    *call("log where", lambda np, x: np.log(x, out=numpy.ones((2, 3), x.dtype), where=MASK), TWO, domain=POSITIVE),
    *call("add where", lambda np, x, y: np.add(x, y, out=numpy.ones((2, 2, 3), (x + y).dtype), where=ROW), PAIR, **COMPLEX),
    *call("multiply where all", lambda np, x, y: np.multiply(x, y, out=None, where=numpy.ones((2, 2, 3), bool)), PAIR),
    *call("add dtype", lambda np, x, y: np.add(x, y, dtype="complex128"), PAIR, dtypes=("float64",)),
    *call("exp casting", lambda np, x: np.exp(x, casting="safe", order="F", subok=False), TWO),
    *call("modf", lambda np, x: np.modf(x)[0], [((2, 3),), ((),)]),
    *call("frexp", lambda np, x: np.frexp(x)[0], [((2, 3),), ((),)], domain=(1.1, 1.9)),
    *call("divmod", lambda np, x, y: np.divmod(x, y)[1], [((2, 3), (3,))], domain=[(-8, 8), (1.5, 2.5)]),
    *call("vecdot", lambda np, x, y: np.vecdot(x, y), [((2, 3), (2, 3)), ((3,), (2, 3)), ((3,), (3,))], **COMPLEX),
    *call("vecdot axis", lambda np, x, y: np.vecdot(x, y, axis=0, keepdims=True), [((3, 2), (3, 2))], **COMPLEX),
    *call("vecdot axes", lambda np, x, y: np.vecdot(x, y, axes=[1, 0]), [((2, 3), (3,))]),
    *call("matmul axes", lambda np, x, y: np.matmul(x, y, axes=[(0, 1), (0, 1), (0, 1)]), [((4, 3, 2), (3, 5, 2))]),
    *call("matmul dtype", lambda np, x, y: np.matmul(x, y, dtype="float64"), [((2, 3), (3,))]),
]  # fmt: skip

if hasattr(numpy, "matvec"):  # since NumPy 2.2
    CASES += [
        *call("matvec", lambda np, x, y: np.matvec(x, y), [((4, 2, 3), (3,)), ((2, 3), (4, 3))], **COMPLEX),
        *call("matvec axes", lambda np, x, y: np.matvec(x, y, axes=[(0, 1), 0, 0]), [((2, 3, 4), (3, 4))]),
        *call("vecmat", lambda np, x, y: np.vecmat(x, y), [((2,), (4, 2, 3)), ((4, 2), (2, 3))], **COMPLEX),
    ]


@each_case(CASES)
def test_rule(case, check):
    check(case)


# ---------------------------------------------------------------------------------------------------- every ufunc

UFUNCS = sorted(name for name in dir(numpy) if isinstance(getattr(numpy, name), numpy.ufunc))
FOR_INTEGERS = {
    "bitwise_and", "bitwise_count", "bitwise_invert", "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift",
    "bitwise_xor", "gcd", "invert", "isnat", "lcm", "left_shift", "right_shift",
}  # fmt: skip


@pytest.mark.parametrize("name", UFUNCS)
def test_every_ufunc_of_numpy_has_a_rule_is_constant_or_says_that_it_has_neither(name):
    theirs = getattr(numpy, name)
    function = function_of_ufunc(theirs)
    assert (function is None) == (name in FOR_INTEGERS)
    if function is not None:
        assert hasattr(np, name)
        assert getattr(np, name) is not theirs
        assert (getattr(np, name).nin, getattr(np, name).nout) == (theirs.nin, theirs.nout)
        return
    with Tape() as tape:
        x = tape.watch(numpy.ones(2))
        with pytest.raises(NotTrackedError, match=rf"numpy\.{theirs.__name__} has no loop for floats"):
            theirs(*[x] * theirs.nin)
        if theirs.nin == 2:
            for each in ("reduce", "accumulate"):
                with pytest.raises(NotTrackedError, match=rf"numpy\.{theirs.__name__}\.{each} has no loop for floats"):
                    getattr(theirs, each)(x)
    tape._free()  # NumPy 2.0 never lets go of the arguments of a method that raised


def test_ufuncs_on_plain_arrays_are_numpys():
    x = numpy.array([-1.5, 0.0, 2.5])
    for name in UFUNCS:
        theirs, ours = getattr(numpy, name), getattr(np, name)
        if name in FOR_INTEGERS or theirs.signature is not None:
            continue
        inputs = [x] * theirs.nin if name != "ldexp" else [x, numpy.array([1, 2, 3])]
        with numpy.errstate(all="ignore"):
            expected, got = theirs(*inputs), ours(*inputs)
            for want, each in zip(expected, got, strict=True) if theirs.nout > 1 else [(expected, got)]:
                numpy.testing.assert_array_equal(each, want)
                assert each.dtype == want.dtype
            masked = theirs(*inputs, out=tuple(numpy.ones_like(each) for each in numpy.atleast_2d(expected)), where=x > 0)
            other = ours(*inputs, out=tuple(numpy.ones_like(each) for each in numpy.atleast_2d(expected)), where=x > 0)
            numpy.testing.assert_array_equal(other, masked)


def test_constant_ufuncs_give_plain_results():
    x = numpy.array([-1.5, 0.0, 2.5])
    with Tape() as tape:
        t = tape.watch(x)
        for f in (
            lambda np, x: np.less(x, 0.0, where=[True, False, True], out=numpy.ones(3, bool)),
            lambda np, x: np.floor(x, out=numpy.zeros(3)),
            lambda np, x: np.logical_and.reduce(x),
            lambda np, x: np.logical_or.accumulate(x),
            lambda np, x: np.greater.outer(x, x),
            lambda np, x: np.spacing(x),
            lambda np, x: np.sign(x),
            lambda np, x: np.modf(x)[1],
            lambda np, x: np.frexp(x)[1],
            lambda np, x: np.divmod(x, 2.0)[0],
        ):
            for module in (np, numpy):
                got, want = f(module, t), f(numpy, x)
                assert type(got) is not Tensor
                numpy.testing.assert_array_equal(got, want)
                assert got.dtype == want.dtype


# ---------------------------------------------------------------------------------------------------- special points


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 1.0, 1.0], [[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]]),
        ([1.0, 0.0, 1.0], [[1, 0, 0], [1, 0, 0], [1 / 2, 0, 1 / 2]]),
        ([0.0, 2.0, 1.0], [[1, 0, 0], [0, 1, 0], [0, 1, 0]]),
        ([-inf, inf, inf], [[1, 0, 0], [0, 1, 0], [0, 1 / 2, 1 / 2]]),
        ([1.0, nan, 2.0], [[1, 0, 0], [0, 1, 0], [0, 1, 0]]),
    ],
    ids=str,
)
def test_running_extremes_share_ties_equally(values, expected):
    x = numpy.array(values)
    numpy.testing.assert_allclose(jacobian(np.maximum.accumulate)(x), expected)
    numpy.testing.assert_allclose(autograd.jacfwd(np.maximum.accumulate)(x), expected)
    numpy.testing.assert_allclose(jacobian(lambda x: np.minimum.accumulate(-x))(x), -numpy.array(expected))


def test_fmax_shares_ties_and_leaves_nan_out():
    assert grad(lambda x: np.fmax.reduce(x))(numpy.array([2.0, nan, 2.0, 1.0, 2.0])).tolist() == [1 / 3, 0, 1 / 3, 0, 1 / 3]
    assert grad(lambda x: np.fmin.reduce(x))(numpy.array([2.0, nan, 2.0])).tolist() == [1 / 2, 0, 1 / 2]
    assert numpy.isnan(np.fmax.reduce(numpy.array([nan, nan])))
    with Tape() as tape:
        assert numpy.isnan(np.fmax.reduce(tape.watch(numpy.array([nan, nan]))).value)


def test_a_ufunc_is_not_called_where_the_mask_says_no():
    x = numpy.array([2.0, -1.0, 0.0])
    for module in (np, numpy):  # warnings are errors here: log of what is not positive would warn
        g = grad(lambda x: np.sum(module.log(x, out=numpy.zeros(3), where=x > 0)))(x)  # noqa: B023  # called at once
        assert g.tolist() == [0.5, 0, 0]

    def f(x):
        out = x * 3.0
        numpy.log(x, out=out, where=x > 0)
        return np.sum(out)

    assert grad(f)(x).tolist() == [0.5, 3, 3]


def test_where_keeps_old_values_of_what_our_functions_made():
    def f(x):
        c = np.ones(3)
        np.log(x, out=c, where=x > 0)
        np.multiply(x, x, out=c, where=[False, True, False])
        numpy.exp(x, out=c, where=[False, False, True])
        return np.sum(c * numpy.array([1.0, 10.0, 100.0]))

    numpy.testing.assert_allclose(grad(f)(numpy.array([2.0, -1.0, 0.0])), [0.5, -20.0, 100.0])

    def g(x):
        c = np.ones(3)
        numpy.add(c, x, out=c, where=[True, False, True])
        numpy.multiply(c, c, out=c, where=[False, False, True])
        return np.sum(c)

    assert grad(g)(numpy.array([2.0, -1.0, 3.0])).tolist() == [1, 0, 8]


def test_neighbours_and_fractions_by_hand():
    x = numpy.array([-2.5, 0.0, 3.75, inf])
    assert grad(lambda x: np.sum(np.nextafter(x, inf)))(x).tolist() == [1, 1, 1, 1]
    assert grad(lambda x: np.sum(np.nextafter(0.0, x)))(x).tolist() == [0, 0, 0, 0]
    assert grad(lambda x: np.sum(np.modf(x)[0]))(x).tolist() == [1, 1, 1, 0]
    with Tape() as tape:
        t = tape.watch(x)
        numpy.testing.assert_array_equal(np.modf(t)[0].value, [-0.5, 0, 0.75, 0])
        numpy.testing.assert_array_equal(np.frexp(t)[0].value, numpy.frexp(x)[0])
    assert grad(lambda x: np.frexp(x)[0])(3.0) == 0.25  # 3 is 0.75 times 4
    assert grad(lambda x: np.frexp(x)[0])(5e-324) == inf  # 2 ** 1073 is more than a float holds
    assert grad(lambda x: np.ldexp(x, 3))(0.1) == 8.0


def test_power_reduce_is_the_power_of_a_power():
    """(2 ** 3) ** 2, where NumPy's own loop takes the last exponent alone."""
    x = numpy.array([2.0, 3.0, 2.0])
    with Tape() as tape:
        y = np.power.reduce(tape.watch(x))
    assert y.value == 64.0
    numpy.testing.assert_allclose(grad(np.power.reduce)(x), [6 * 2.0**5, 64 * 2 * numpy.log(2), 64 * numpy.log(8)])


def test_folds_of_nothing():
    empty = numpy.zeros((0, 2))
    with Tape() as tape:
        t = tape.watch(empty)
        assert np.hypot.reduce(t, axis=0).tolist() == [0, 0]
        assert np.logaddexp.reduce(t, axis=0).tolist() == [-inf, -inf]
        assert np.maximum.accumulate(t).shape == (0, 2)
        assert np.divide.accumulate(t).shape == (0, 2)
        for f in (np.maximum.reduce, np.subtract.reduce, np.fmax.reduce):
            with pytest.raises(ValueError, match="no identity"):
                f(t)
    tape._free()  # NumPy 2.0 never lets go of the arguments of a method that raised


# ---------------------------------------------------------------------------------------------------- results with a place


def test_out_of_methods():
    x = numpy.array([[1.0, 2.0], [3.0, 4.0]])
    for f in (
        lambda x, out: np.add.reduce(x, out=out),
        lambda x, out: np.subtract.reduce(x, axis=0, out=(out,)),
        lambda x, out: np.maximum.accumulate(x[0], out=out),
        lambda x, out: np.add.reduceat(x[0], [0, 1], out=out),
    ):
        with Tape() as tape:
            out, t = numpy.zeros(2), tape.watch(x)
            y = f(t, out)
            assert numpy.isnan(out).all(), "a plain array does not hold what only the tape follows"
        numpy.testing.assert_array_equal(y.value, f(x, numpy.zeros(2)))
        assert tape.gradient(y, t, dy=numpy.ones(2)).shape == (2, 2)
    assert grad(lambda x: np.sum(np.add.outer(x, x, out=numpy.zeros((2, 2)))))(x[0]).tolist() == [4, 4]


def test_two_results_with_places():
    x = numpy.array([2.5, -1.25])
    with Tape() as tape:
        t = tape.watch(x)
        whole = numpy.zeros(2)
        part, same = np.modf(t, None, whole)
        assert same is whole
        assert whole.tolist() == [2.0, -1.0]
        exponent = numpy.zeros(2, "int32")
        assert np.frexp(t, out=(None, exponent))[1] is exponent
        rest = t * 1.0
        quotient, remainder = np.divmod(t, 2.0, out=(numpy.zeros(2), rest))
        assert remainder is rest
        assert (quotient.tolist(), rest.tolist()) == ([1.0, -1.0], [0.5, 0.75])
    assert tape.gradient(part, t, dy=numpy.ones(2)).tolist() == [1, 1]


# ---------------------------------------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda x: np.add(x, x, where=x > 1), NotTrackedError, r"numpy\.add got where= without out="),
        (lambda x: numpy.add(x, x, where=x > 1), NotTrackedError, r"numpy\.add got where= without out="),
        (lambda x: np.add(x, x, where=numpy.ones(3)), TypeError, "mask of dtype float64"),
        (lambda x: np.add(x, x, out=numpy.zeros(2), where=x > 1), (OutArrayError, ValueError), r"\(2,\)"),
        (lambda x: np.add(x, x, out=numpy.zeros(3, int), where=x > 1), NotTrackedError, "int64"),
        (lambda x: np.add(x, x, dtype=int), TypeError, "same_kind"),
        (lambda x: np.add(x, 1j, dtype=float), TypeError, "same_kind"),
        (lambda x: np.add(x, x, dtype="float32", casting="safe"), TypeError, "safe"),
        (lambda x: np.add(x, x, nothing=3), TypeError, r"add\(\) got an unexpected keyword argument 'nothing'"),
        (lambda x: np.matmul(x, x, where=True and [True]), TypeError, "where"),
        (lambda x: np.vecdot(x, x, nothing=3), TypeError, "nothing"),
        (lambda x: np.modf(x, None, None, None), TypeError, "modf"),
        (lambda x: np.add.accumulate(x[0]), TypeError, "scalar"),
        (lambda x: np.add.reduceat(x, [7]), IndexError, "7"),
        (lambda x: np.subtract.reduce(np.outer(x, x), axis=(0, 1)), ValueError, "not reorderable"),
        (lambda x: np.maximum.reduce(x, where=x > 1), ValueError, "identity"),
        (lambda x: np.hypot.reduce(x, axis=3), numpy.exceptions.AxisError, "3"),
        (lambda x: np.sin.reduce(x), (NotTrackedError, ValueError), "binary"),
        (lambda x: numpy.frompyfunc(lambda x: x, 1, 1)(x), NotTrackedError, "calls a Python function"),
        (lambda x: np.vectorize(lambda x: x)(x), NotTrackedError, "vectorize"),
    ],
)
def test_what_cannot_be_followed_says_so(use, error, message):
    with Tape() as tape, pytest.raises(error, match=message):
        use(tape.watch(numpy.array([1.0, 2.0, 3.0])))
    tape._free()  # NumPy 2.0 never lets go of the arguments of a method that raised


def test_no_constant_ufunc_hides_a_derivative():
    """What is declared constant is flat nearly everywhere: the same to both sides of almost every number."""
    x = numpy.random.default_rng(0).uniform(-3, 3, 50)
    for name in UFUNCS:
        theirs = getattr(numpy, name)
        if is_constant(theirs.__name__) and theirs.nin == 1:
            numpy.testing.assert_array_equal(theirs(x), theirs(x + 1e-9))


@given(st.data())
def test_folds_agree_with_numpys_for_all_axes_and_masks(data):
    name = data.draw(st.sampled_from(["add", "multiply", "maximum", "minimum", "logaddexp", "hypot", "fmax"]))
    shape = tuple(data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)))
    axes = data.draw(st.sets(st.integers(0, len(shape) - 1)).map(tuple) | st.none())
    mask = data.draw(st.none() | st.lists(st.booleans(), min_size=shape[-1], max_size=shape[-1]))
    options = {"axis": axes, "keepdims": data.draw(st.booleans())}
    if mask is not None:
        options |= {"where": numpy.array(mask), "initial": 0.25}
    x = numpy.random.default_rng(len(shape)).uniform(0.5, 1.5, shape)
    expected = getattr(numpy, name).reduce(x, **options)
    with Tape() as tape:
        t = tape.watch(x)
        y = getattr(np, name).reduce(t, **options)
    numpy.testing.assert_allclose(y.value, expected, rtol=1e-13)
    assert numpy.shape(y.value) == numpy.shape(expected)
    g = tape.gradient(y, t, dy=numpy.ones(numpy.shape(expected)))
    step = 1e-6 * (x - 0.4)
    moved = [numpy.sum(getattr(numpy, name).reduce(x + sign * step, **options)) for sign in (1, -1)]
    numpy.testing.assert_allclose(numpy.sum(g * step), (moved[0] - moved[1]) / 2, rtol=1e-4, atol=1e-12)
