"""The family fft: rows over lengths, norms and axes, then what the transforms keep and what they refuse."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd.numpy as np
from autograd import NotTrackedError, Tape, grad, hessian, jacobian, jvp, vjp
from autograd import operators as op
from tests.gradients.differences import central_gradient
from tests.gradients.harness import Case, each_case

PARTS = (-1.0, 1.0)
ONE_AXIS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
OF_REAL_NUMBERS = ("rfft", "ihfft", "rfftn", "rfft2")
NORMS = (None, "backward", "ortho", "forward")


def transform(name, shape, label, **attrs):
    """Complex input where the transform takes it."""
    return Case(
        f"fft.{name}",
        shapes=[(shape,)],
        attrs=attrs,
        domain=PARTS,
        complex_domain=None if name in OF_REAL_NUMBERS else PARTS,
        label=label,
    )


LENGTHS = [(4, None), (5, None), (5, 3), (5, 4), (4, 3), (4, 4), (3, 6), (3, 7), (4, 7), (2, 1), (1, 4)]
SEVERAL_AXES = [
    {},
    {"axes": (0,)},
    {"axes": (-1, 0)},
    {"axes": (1, 1)},
    {"s": (3, 4), "axes": (0, 2)},
    {"s": (3, -1), "axes": (-1, 0), "norm": "ortho"},
]

CASES = [
    *[
        transform(name, (length,), f"length={length},n={n}", n=n)
        for name in ONE_AXIS
        for length, n in LENGTHS
        if not (length == 1 and n is None)
    ],
    *[
        transform(name, (5,), f"norm={norm},n={n}", n=n, norm=norm)
        for name in ONE_AXIS
        for norm in NORMS
        for n in (4, 5)
    ],
    *[transform(name, (2, 3, 2), f"axis={axis}", axis=axis, n=4) for name in ONE_AXIS for axis in (0, 1, -1, -2)],
    *[
        transform(name, (2, 3, 2), ",".join(f"{key}={value}" for key, value in attrs.items()), **attrs)
        for name in ("fftn", "ifftn", "rfftn", "irfftn")
        for attrs in SEVERAL_AXES
    ],
    *[transform(name, (2, 2, 3), "usual") for name in ("fft2", "ifft2", "rfft2", "irfft2")],
    *[transform(name, (2, 3), "axes", s=(3, 2), axes=(1, 0)) for name in ("fft2", "ifft2", "rfft2", "irfft2")],
    *[
        transform(name, (2, 5), f"axes={axes}", axes=axes)
        for name in ("fftshift", "ifftshift")
        for axes in (None, 0, -1, (0, 1), (-1, 0))
    ],
]  # fmt: skip


@each_case(CASES)
def test_rule(case, check):
    check(case)


# ---------------------------------------------------------------------------------------------------- values by hand


def test_a_transform_by_hand():
    # of (a, b): (a + b, a - b). The gradient of |a - b|^2 = (a - b)^2 is 2 (a - b) (1, -1)
    g = grad(lambda x: np.abs(np.fft.fft(x)[1]) ** 2)(numpy.array([5.0, 2.0]))
    numpy.testing.assert_allclose(g, [6.0, -6.0])


def test_power_spectrum_of_real_numbers():
    # sum |X_k|^2 = n sum x^2 (Parseval), over all n frequencies
    x = numpy.array([1.0, -2.0, 0.5, 3.0, 1.5])
    numpy.testing.assert_allclose(grad(lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2))(x), 2 * 5 * x)
    numpy.testing.assert_allclose(hessian(lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2))(x), 10 * numpy.eye(5), atol=1e-12)


def test_gradient_of_a_complex_signal_is_not_conjugated():
    # f = Re(sum c_k X_k) with X = F z: df/dx - i df/dy is c F itself
    rng = numpy.random.default_rng(0)
    c, z = rng.standard_normal((2, 4)) + 1j * rng.standard_normal((2, 4))
    numpy.testing.assert_allclose(grad(lambda z: np.real(np.sum(c * np.fft.fft(z))))(z), numpy.fft.fft(c))


@pytest.mark.parametrize("n", [6, 7])
def test_parts_that_the_half_transform_ignores_have_no_gradient(n):
    # the imaginary part of frequency 0, and of the last one for even n, changes nothing
    z = numpy.fft.rfft(numpy.arange(n) ** 2.0)
    g = grad(lambda z: np.sum(np.fft.irfft(z, n) * numpy.sin(numpy.arange(n))))(z)
    assert g[0].imag == 0
    assert (g[-1].imag == 0) == (n % 2 == 0)
    assert numpy.abs(g[1:-1].imag).min() > 1e-3


def test_what_is_cut_off_has_gradient_zero_and_padding_none():
    g = grad(lambda x: np.sum(np.abs(np.fft.fft(x, 3)) ** 2))(numpy.ones(5))
    numpy.testing.assert_allclose(g, [6, 6, 6, 0, 0], atol=1e-12)
    assert jacobian(lambda x: np.real(np.fft.fft(x, 8)))(numpy.ones(5)).shape == (8, 5)


def test_inverse_transforms_give_the_identity():
    x = numpy.array([1.0, 4.0, -2.0, 0.5, 3.0])
    for there, back in [
        (np.fft.fft, lambda y: np.real(np.fft.ifft(y))),
        (np.fft.rfft, lambda y: np.fft.irfft(y, 5)),
        (np.fft.ihfft, lambda y: np.fft.hfft(y, 5)),
        (np.fft.fftshift, np.fft.ifftshift),
    ]:
        numpy.testing.assert_allclose(jacobian(lambda x: back(there(x)))(x), numpy.eye(5), atol=1e-12)  # noqa: B023


def test_convolution_theorem_for_gradients():
    rng = numpy.random.default_rng(1)
    a, v, w = rng.standard_normal(5), rng.standard_normal(3), rng.standard_normal(7)

    def by_transform(a, v):
        return np.sum(w * np.fft.irfft(np.fft.rfft(a, 7) * np.fft.rfft(v, 7), 7))

    expected = grad(lambda a, v: np.sum(w * np.convolve(a, v)), (0, 1))(a, v)
    for got, want in zip(grad(by_transform, (0, 1))(a, v), expected, strict=True):
        numpy.testing.assert_allclose(got, want, atol=1e-12)


def test_third_derivative_through_a_transform():
    # f(t) = sum |F (t, t^2)|^2 = 2 (t^2 + t^4): f''' = 48 t
    f = lambda t: np.sum(np.abs(np.fft.fft(np.stack([t, t * t]))) ** 2)  # noqa: E731
    assert grad(grad(grad(f)))(2.0) == pytest.approx(96.0)


@given(
    name=st.sampled_from(ONE_AXIS),
    shape=st.lists(st.integers(2, 5), min_size=1, max_size=3),
    n=st.none() | st.integers(1, 9),
    norm=st.sampled_from(NORMS),
    data=st.data(),
)
def test_the_gradient_is_the_transpose(name, shape, n, norm, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    rng = numpy.random.default_rng(data.draw(st.integers(0, 99)))
    x, v = rng.standard_normal((2, *shape))
    if name not in OF_REAL_NUMBERS:
        x, v = x + 1j * v, v - 2j * x
    f = lambda x: getattr(np.fft, name)(x, n, axis, norm)  # noqa: E731
    y, pull_back = vjp(f, x)
    w = rng.standard_normal(y.shape) + (1j * rng.standard_normal(y.shape) if y.dtype.kind == "c" else 0)
    _, along = jvp(f, (x,), (v,))
    numpy.testing.assert_allclose(along, f(v), atol=1e-12)
    (g,) = pull_back(w)
    assert numpy.sum(g * v).real == pytest.approx(numpy.sum(w * f(v)).real, abs=1e-10)


# ---------------------------------------------------------------------------------------------------- ways to call


def test_plain_numpy_arrives_here():
    x = numpy.array([1.0, 2.0, 4.0, -1.0])
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fftn", "ifftn", "rfftn", "irfftn", "fftshift", "ifftshift"):
        ours, theirs = getattr(np.fft, name), getattr(numpy.fft, name)
        by_numpy = grad(lambda x: np.sum(np.abs(theirs(x)) ** 2))(x)  # noqa: B023
        numpy.testing.assert_array_equal(by_numpy, grad(lambda x: np.sum(np.abs(ours(x)) ** 2))(x))  # noqa: B023
        expected = central_gradient(lambda x: float(numpy.sum(numpy.abs(theirs(x)) ** 2)), [x])[0]  # noqa: B023
        numpy.testing.assert_allclose(by_numpy, expected, rtol=1e-8, atol=1e-8)


def test_names_without_arrays_are_numpys():
    assert np.fft.fftfreq is numpy.fft.fftfreq
    assert np.fft.rfftfreq is numpy.fft.rfftfreq
    public = {name for name in dir(numpy.fft) if not name.startswith("_") and callable(getattr(numpy.fft, name))}
    assert public <= set(np.fft.__all__) | {"test"}


def test_out_on_plain_arrays_and_with_tensors():
    x, out = numpy.arange(4.0), numpy.zeros(4, complex)
    assert np.fft.fft(x, out=out) is out
    numpy.testing.assert_array_equal(out, numpy.fft.fft(x))

    def f(x):
        y = np.fft.fft(x, out=numpy.zeros(4, complex))
        return np.sum(np.abs(y) ** 2)

    numpy.testing.assert_allclose(grad(f)(x), 8 * x)
    assert op.fft(x, out=out) is out


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
def test_the_operators_write_into_arrays(name):
    x = numpy.arange(1.0, 6.0)
    expected = getattr(numpy.fft, name)(x, 6)
    out = numpy.empty_like(expected)
    assert getattr(op, name)(x, n=6, out=out) is out
    numpy.testing.assert_array_equal(out, expected)


def test_linear_operators_keep_nothing():
    with Tape() as tape:
        np.fft.irfft(np.fft.rfft(tape.watch(numpy.ones(8))))
    assert tape.saved_bytes() == 0


def test_float32_stays():
    x = numpy.arange(6, dtype=numpy.float32)
    assert np.fft.rfft(x).dtype == numpy.complex64
    assert grad(lambda x: np.sum(np.abs(np.fft.rfft(x))))(x + 1).dtype == numpy.float32


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: np.fft.fft(x, 0), ValueError, "Invalid number of FFT data points"),
        (lambda x: np.fft.fft(x, norm="unit"), ValueError, "Invalid norm value"),
        (lambda x: np.fft.hfft(x, norm="unit"), ValueError, "Invalid norm value"),
        (lambda x: np.fft.fftn(x, s=(2, 3), axes=(0,)), ValueError, "got 2 lengths s for 1 axes"),
        (lambda x: np.fft.rfftn(x, axes=()), ValueError, "got no axis"),
        (lambda x: np.fft.fft(x, 4, axis=3), numpy.exceptions.AxisError, "axis 3 is out of bounds"),
        (lambda x: np.fft.rfft(x + 1j), TypeError, "rfft"),
        (lambda x: np.fft.fft(numpy.ones(3), n=x[0]), NotTrackedError, "fft: n is a tensor"),
    ],
)
def test_errors(call, error, message):
    with Tape() as tape, pytest.raises(error, match=message):
        call(tape.watch(numpy.ones(4)))


def test_axes_left_out_together_with_lengths_warn_as_in_numpy():
    with Tape() as tape, pytest.warns(DeprecationWarning, match="axes"):
        y = np.fft.fftn(tape.watch(numpy.ones((2, 3))), s=(2,))
    assert y.shape == (2, 2)
