"""Convolution: every mode, method and arrangement of axes, against SciPy and against sums written out."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograd import Tape, errors, grad

pytest.importorskip("scipy", reason="SciPy is not installed: pip install 'gradtape[scipy]'")

import scipy.signal

from autograd import operators as op
from autograd.scipy import signal
from tests.gradients.harness import Case, each_case

PAIRS = (-1.0, 1.0)


def case(name, *shapes, **options):
    ours, theirs = getattr(signal, name), getattr(scipy.signal, name)
    return Case(
        name,
        call=lambda _, a, b: ours(a, b, **options),
        reference=lambda a, b: theirs(a, b, **options),
        shapes=[shapes],
        domain=PAIRS,
        complex_domain=PAIRS,
        tolerance=1e-6,
        label=f"{shapes} {options}",
    )


def written_out(a, b, axes, dot_axes, mode="full"):
    """The definition, one element after the other."""
    (conv_a, conv_b), (dots_a, dots_b) = [[[k % x.ndim for k in g] for g, x in zip(given, (a, b))] for given in (axes, dot_axes)]
    left_a = [each for each in range(a.ndim) if each not in (*conv_a, *dots_a)]
    left_b = [each for each in range(b.ndim) if each not in (*conv_b, *dots_b)]
    a, b = a.transpose(*left_a, *dots_a, *conv_a), b.transpose(*left_b, *dots_b, *conv_b)
    shape_a, shape_b = a.shape[: len(left_a)], b.shape[: len(left_b)]
    y = None
    for i, j in itertools.product(np.ndindex(shape_a), np.ndindex(shape_b)):
        parts = [scipy.signal.convolve(a[i + d], b[j + d], mode, "direct") for d in np.ndindex(a[i].shape[: len(dots_a)])]
        part = sum(parts[1:], parts[0])
        if y is None:
            y = np.zeros(shape_a + shape_b + part.shape, part.dtype)
        y[i + j] = part
    return y


def arranged(shape_a, shape_b, axes, dot_axes, mode):
    return Case(
        "convolve",
        call=lambda _, a, b: signal.convolve(a, b, axes=axes, dot_axes=dot_axes, mode=mode),
        reference=lambda a, b: written_out(a, b, axes, dot_axes, mode),
        shapes=[(shape_a, shape_b)],
        domain=PAIRS,
        complex_domain=PAIRS,
        tolerance=1e-6,
        label=f"{shape_a} {shape_b} {axes} {dot_axes} {mode}",
    )


MODES = ("full", "same", "valid")

CASES = [
    *[case("convolve", *shapes, mode=mode, method=method)
      for shapes in [((5,), (3,)), ((2,), (4,)), ((3,), (3,)), ((1,), (1,))] for mode in MODES for method in ("auto", "fft")],
    *[case("convolve", *shapes, mode=mode) for shapes in [((3, 4), (2, 2)), ((2, 1, 3), (1, 1, 2))] for mode in MODES],
    *[case("convolve", (2, 4), (3, 2), mode=mode, method="direct") for mode in ("full", "same")],
    case("convolve", (), ()),
    *[case("correlate", *shapes, mode=mode) for shapes in [((5,), (3,)), ((3,), (5,)), ((3, 3), (2, 2))] for mode in MODES],
    *[case("fftconvolve", (5,), (2,), mode=mode) for mode in MODES],
    *[arranged((2, 4), (3, 2), ([1], [1]), ([], []), mode) for mode in MODES],
    *[arranged((2, 3, 4), (3, 2, 2), ([2], [1]), ([1], [0]), mode) for mode in MODES],
    arranged((2, 3), (2, 4), ([1], [1]), ([0], [0]), "full"),
    arranged((2, 3), (2, 4), ([1], [1]), ([0], [0]), "valid"),
    arranged((4, 2, 3), (3, 3, 2), ([-3, -1], [0, 2]), ([], []), "valid"),
    arranged((2, 2, 3), (2, 2, 3), ([2], [2]), ([0, 1], [1, 0]), "same"),
]  # fmt: skip


@each_case(CASES)
def test_rule(case, check):
    check(case)


def test_by_hand():
    # y = (a0 b0, a0 b1 + a1 b0, a1 b1), weighted by (1, 10, 100)
    weights = np.array([1.0, 10.0, 100.0])
    a, b = np.array([2.0, 3.0]), np.array([5.0, 7.0])
    da, db = grad(lambda a, b: (weights * signal.convolve(a, b)).sum(), (0, 1))(a, b)
    np.testing.assert_allclose(da, [5 + 70, 50 + 700])
    np.testing.assert_allclose(db, [2 + 30, 20 + 300])


def test_the_older_order_of_arguments():
    a, b = np.arange(12.0).reshape(2, 2, 3), np.arange(8.0).reshape(2, 2, 2)
    by_name = signal.convolve(a, b, axes=[(2,), (2,)], dot_axes=[(1,), (0,)], mode="valid")
    np.testing.assert_array_equal(signal.convolve(a, b, [(2,), (2,)], [(1,), (0,)], mode="valid"), by_name)
    np.testing.assert_array_equal(signal.convolve(a, b, [(2,), (2,)], [(1,), (0,)], "valid"), by_name)
    np.testing.assert_array_equal(
        signal.convolve(a[0, 0], b[0, 0], "same", "fft"), scipy.signal.fftconvolve(a[0, 0], b[0, 0], "same")
    )
    np.testing.assert_allclose(by_name, written_out(a, b, [(2,), (2,)], [(1,), (0,)], "valid"))


@given(
    n=st.integers(1, 9),
    k=st.integers(1, 9),
    p=st.integers(1, 2),
    q=st.integers(1, 3),
    d=st.integers(1, 2),
    mode=st.sampled_from(MODES),
)
def test_the_three_ways_to_compute_agree(n, k, p, q, d, mode):
    rng = np.random.default_rng(n * 10 + k)
    a, b = rng.standard_normal((p, d, n)), rng.standard_normal((q, d, k))
    options = {"axes": ([2], [2]), "dot_axes": ([1], [1]), "mode": mode}
    direct = signal.convolve(a, b, method="direct", **options)
    np.testing.assert_allclose(direct, signal.convolve(a, b, method="fft", **options), atol=1e-12)
    np.testing.assert_allclose(direct, written_out(a, b, options["axes"], options["dot_axes"], mode), atol=1e-12)


def test_long_signals_go_by_fourier_transforms():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 1, 4000)), rng.standard_normal((1, 1, 1000))
    np.testing.assert_allclose(op.scipy_convolve(a, b), op.scipy_convolve(a, b, method="direct"), atol=1e-10)
    g = grad(lambda b: (signal.convolve(a[0, 0], b) ** 2).sum())(b[0, 0])
    y = np.convolve(a[0, 0], b[0, 0])
    np.testing.assert_allclose(g, 2 * np.correlate(y, a[0, 0], "valid"), rtol=1e-9, atol=1e-7)


def test_lists_and_integers():
    assert grad(lambda x: signal.convolve([x, 1.0], [1, 2]).sum())(1.0) == 3.0
    np.testing.assert_array_equal(signal.convolve([1, 2], [3, 4]), [3, 10, 8])


def test_errors_say_what_is_wrong():
    with Tape() as tape:
        x = tape.watch(np.ones((3, 3)))
        with pytest.raises(ValueError, match="mode 'valid' got lengths"):
            signal.convolve(x, np.ones((2, 4)), mode="valid")
        with pytest.raises(ValueError, match="got mode 'circular'"):
            signal.convolve(x, x, mode="circular")
        with pytest.raises(ValueError, match="expected equally many"):
            signal.convolve(x, np.ones(3))
        with pytest.raises(ValueError, match="summed axes have lengths 3 and 2"):
            signal.convolve(x, np.ones((2, 3)), axes=([1], [1]), dot_axes=([0], [0]))
        with pytest.raises(errors.NotTrackedError, match=r"scipy\.signal\.lfilter has no gradient rule"):
            signal.lfilter([1.0], [1.0, 0.5], x)
        with pytest.raises(errors.NotTrackedError, match=r"fftconvolve\(axes=\.\.\.\)"):
            signal.fftconvolve(x, x, axes=0)
