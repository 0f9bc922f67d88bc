"""Losses against their formulas, their numbers by hand, and at extremes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograd import grad, hessian, nn, value_and_grad
from tests.nn.reference import assert_right, complex_step

BCE = nn.binary_cross_entropy_with_logits
RNG = np.random.default_rng(0)
P, Q = RNG.normal(size=(4, 3)), RNG.normal(size=(4, 3))
T = RNG.random((4, 3))
SOFT = T / T.sum(axis=1, keepdims=True)
LABELS = np.array([0, 2, 1, 2])
WEIGHTS = np.array([0.5, 2.0, 1.25])
SIGNS = np.where(Q > 0, 1, -1)


def absolute(z):
    return np.where(z.real > 0, z, -z)


def log_softmax(z):
    return z - np.log(np.sum(np.exp(z), axis=-1, keepdims=True))


def cross_entropy_rows(z, shares, weights=1.0, smoothing=0.0):
    """``shares`` is one probability for each class."""
    spread = (1 - smoothing) * shares + smoothing * shares.sum(axis=1, keepdims=True) / shares.shape[1]
    return -np.sum(weights * spread * log_softmax(z), axis=-1)


def bce_elements(z, positive_counts=1.0):
    p = 1 / (1 + np.exp(-z))
    return -positive_counts * T * np.log(p) - (1 - T) * np.log(1 - p)


ONE_HOT = np.eye(3)[LABELS]
KEPT = np.array([1.0, 0.0, 1.0, 1.0])
IGNORED = np.where(KEPT > 0, LABELS, -7)

# name: the loss, its formula for each element or row, and what the mean divides their sum by (None: their number)
CASES = {
    "mse": (lambda p, r: nn.mse(p, Q, reduction=r), lambda p: (p - Q) ** 2, None),
    "mae": (lambda p, r: nn.mae(p, Q, reduction=r), lambda p: absolute(p - Q), None),
    "huber": (
        lambda p, r: nn.huber(p, Q, delta=0.7, reduction=r),
        lambda p: np.where(np.abs(p.real - Q) <= 0.7, (p - Q) ** 2 / 2, 0.7 * (absolute(p - Q) - 0.35)), None,
    ),
    "hinge": (
        lambda p, r: nn.hinge(p, SIGNS, margin=0.8, reduction=r),
        lambda p: np.where((0.8 - SIGNS * p).real > 0, 0.8 - SIGNS * p, 0), None,
    ),
    "cross_entropy": (lambda p, r: nn.cross_entropy(p, LABELS, reduction=r), lambda p: cross_entropy_rows(p, ONE_HOT), None),
    "cross_entropy one-hot": (
        lambda p, r: nn.cross_entropy(p, ONE_HOT.astype(int), reduction=r), lambda p: cross_entropy_rows(p, ONE_HOT), None,
    ),
    "cross_entropy probabilities": (
        lambda p, r: nn.cross_entropy(p, SOFT, reduction=r), lambda p: cross_entropy_rows(p, SOFT), None,
    ),
    "cross_entropy weights": (
        lambda p, r: nn.cross_entropy(p, LABELS, weights=WEIGHTS, reduction=r),
        lambda p: cross_entropy_rows(p, ONE_HOT, WEIGHTS), 0.5 + 1.25 + 2.0 + 1.25,
    ),
    "cross_entropy probabilities, weights": (
        lambda p, r: nn.cross_entropy(p, SOFT, weights=WEIGHTS, reduction=r),
        lambda p: cross_entropy_rows(p, SOFT, WEIGHTS), None,
    ),
    "cross_entropy smoothing": (
        lambda p, r: nn.cross_entropy(p, LABELS, label_smoothing=0.3, reduction=r),
        lambda p: cross_entropy_rows(p, ONE_HOT, smoothing=0.3), None,
    ),
    "cross_entropy all": (
        lambda p, r: nn.cross_entropy(p, IGNORED, weights=WEIGHTS, label_smoothing=0.3, ignore_index=-7, reduction=r),
        lambda p: KEPT * cross_entropy_rows(p, ONE_HOT, WEIGHTS, 0.3), 0.5 + 2.0 + 1.25,
    ),
    "cross_entropy ignored": (
        lambda p, r: nn.cross_entropy(p, IGNORED, ignore_index=-7, reduction=r),
        lambda p: KEPT * cross_entropy_rows(p, ONE_HOT), 3,
    ),
    "bce": (lambda p, r: BCE(p, T, reduction=r), bce_elements, None),
    "bce weights": (
        lambda p, r: BCE(p, T, weights=SOFT, pos_weight=WEIGHTS, reduction=r), lambda p: SOFT * bce_elements(p, WEIGHTS), None,
    ),
    "kl": (
        lambda p, r: nn.kl_divergence(nn.log_softmax(p), SOFT, reduction=r),
        lambda p: np.sum(SOFT * (np.log(SOFT) - log_softmax(p)), axis=1), None,
    ),
    "kl of logarithms": (
        lambda p, r: nn.kl_divergence(nn.log_softmax(p), np.log(SOFT), log_target=True, reduction=r),
        lambda p: np.sum(SOFT * (np.log(SOFT) - log_softmax(p)), axis=1), None,
    ),
}  # fmt: skip


def reduced(elements, reduction, divisor):
    if reduction == "none":
        return elements
    return elements.sum() / (1 if reduction == "sum" else divisor or elements.size)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", CASES)
def test_value_and_gradient(name, reduction):
    loss, formula, divisor = CASES[name]
    expected = reduced(formula(P), reduction, divisor)
    np.testing.assert_allclose(loss(P, reduction), expected, rtol=1e-12)
    weights = np.random.default_rng(1).normal(size=np.shape(expected))
    slopes = complex_step(lambda p: reduced(formula(p), reduction, divisor), {"p": P}, weights)["p"]
    np.testing.assert_allclose(grad(lambda p: (weights * loss(p, reduction)).sum())(P), slopes, rtol=1e-10, atol=1e-13)
    single = P.astype(np.float32)
    value, g = value_and_grad(lambda p: (weights.astype(np.float32) * loss(p, reduction)).sum())(single)
    assert value.dtype == g.dtype == loss(single, reduction).dtype == np.float32
    np.testing.assert_allclose(g, slopes, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_gradient_checker(name):
    loss, _, _ = CASES[name]
    for reduction in ("mean", "none"):
        assert_right(lambda p, reduction=reduction: loss(p, reduction), P[:, :])


def test_classes_in_another_axis():
    images, labels = RNG.normal(size=(2, 3, 2, 2)), RNG.integers(3, size=(2, 2, 2))
    expected = nn.cross_entropy(np.moveaxis(images, 1, -1), labels)
    np.testing.assert_allclose(nn.cross_entropy(images, labels, axis=1), expected, rtol=1e-14)
    one_hot = np.moveaxis(np.eye(3)[labels], -1, 1)
    np.testing.assert_allclose(nn.cross_entropy(images, one_hot, axis=1), expected, rtol=1e-14)
    g = grad(lambda x: nn.cross_entropy(x, labels, axis=1, label_smoothing=0.1))(images)
    np.testing.assert_allclose(g.sum(axis=1), 0, atol=1e-15)


def test_labels_can_be_differentiated():
    g = grad(lambda soft: nn.cross_entropy(P, soft))(SOFT)
    np.testing.assert_allclose(g, -log_softmax(P) / 4, rtol=1e-12)
    g = grad(lambda soft: nn.kl_divergence(log_softmax(P), soft))(SOFT)
    np.testing.assert_allclose(g, (np.log(SOFT) + 1 - log_softmax(P)) / 4, rtol=1e-12)
    assert_right(lambda t: BCE(P, t, pos_weight=2.0), T, order=1)
    assert_right(lambda q: nn.mse(P, q), Q)


def test_complex_predictions():
    z = P + 1j * Q
    np.testing.assert_allclose(nn.mse(z, T), np.mean((P - T) ** 2 + Q**2), rtol=1e-12)
    np.testing.assert_allclose(grad(lambda z: nn.mse(z, T))(z), 2 * np.conj(z - T) / z.size, rtol=1e-12)


# -------------------------------------------------------------------------------------------------- extremes, by hand


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_cross_entropy_of_certain_logits(dtype):
    logits = np.array([[1e4, -1e4, 0.0], [1e4, -1e4, 0.0]], dtype)
    for reduction, expected in (("none", [0, 2e4]), ("mean", 1e4), ("sum", 2e4)):
        np.testing.assert_array_equal(nn.cross_entropy(logits, np.array([0, 1]), reduction=reduction), expected)
    np.testing.assert_array_equal(grad(lambda z: nn.cross_entropy(z, np.array([0, 1])))(logits), [[0, 0, 0], [0.5, -0.5, 0]])
    smooth = nn.cross_entropy(logits, np.array([0, 1]), label_smoothing=0.75, reduction="none")
    np.testing.assert_allclose(smooth, [0.25 * 0 + 0.25 * 3e4, 0.25 * 2e4 + 0.25 * 3e4], rtol=1e-6)
    h = hessian(lambda z: nn.cross_entropy(z, np.array([0, 1])))(logits)
    np.testing.assert_array_equal(h, 0)  # every probability is 0 or 1
    equal = hessian(lambda z: nn.cross_entropy(z, np.array([0])))(np.full((1, 2), 1e4, dtype))
    np.testing.assert_allclose(equal[0, :, 0], [[0.25, -0.25], [-0.25, 0.25]], rtol=1e-6)


def test_cross_entropy_of_classes_that_cannot_be():
    logits = np.array([[0.0, -np.inf, math.log(3.0)]])
    for arguments in ({}, {"reduction": "none"}, {"weights": np.ones(3)}, {"weights": np.ones(3), "reduction": "none"}):
        np.testing.assert_allclose(nn.cross_entropy(logits, np.array([0]), **arguments), np.log(4))
        g = grad(lambda z, arguments=arguments: nn.cross_entropy(z, np.array([0]), **arguments).sum())(logits)
        np.testing.assert_allclose(g, [[0.25 - 1, 0, 0.75]], rtol=1e-12)
    assert nn.cross_entropy(logits, np.array([1])) == np.inf


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_binary_cross_entropy_of_certain_logits(dtype):
    logits, target = np.array([1e4, -1e4, 1e4, -1e4, 20.0, -20.0], dtype), np.array([1, 0, 0, 1, 1, 0])
    tiny = math.log1p(math.exp(-20))

    def loss(z, reduction="sum"):
        return BCE(z, target, reduction=reduction)

    np.testing.assert_allclose(loss(logits, "none"), [0, 0, 1e4, 1e4, tiny, tiny], rtol=1e-6)
    slope = 1 / (1 + math.exp(20))
    np.testing.assert_allclose(grad(loss)(logits), [0, 0, 1, -1, -slope, slope], rtol=1e-6)
    curvature = np.diagonal(hessian(loss)(logits))
    np.testing.assert_allclose(curvature, [0, 0, 0, 0, slope * (1 - slope), slope * (1 - slope)], rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(grad(loss)(np.zeros(6, dtype)), np.array([-1, 1, 1, -1, -1, 1]) / 2)
    np.testing.assert_allclose(BCE(logits, target.astype(bool)), (2e4 + 2 * tiny) / 6, rtol=1e-6)


def test_kl_divergence_of_probabilities_0_and_1():
    target, logs = np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[0.0, -np.inf], np.log([0.25, 0.75])])
    by_hand = [0, 0.5 * math.log(2) + 0.5 * math.log(2 / 3)]
    np.testing.assert_allclose(nn.kl_divergence(logs, target, reduction="none"), by_hand, atol=1e-16)
    with np.errstate(divide="ignore"):
        as_logs = np.log(target)
    np.testing.assert_allclose(nn.kl_divergence(logs, as_logs, log_target=True, reduction="none"), by_hand, atol=1e-16)
    np.testing.assert_array_equal(grad(nn.kl_divergence)(logs, target), -target / 2)
    np.testing.assert_allclose(nn.kl_divergence(nn.log_softmax(np.array([[1e4, 0.0]])), np.array([[0.0, 1.0]])), 1e4)
    assert nn.kl_divergence(logs[:1], np.array([[0.5, 0.5]])) == np.inf


def test_huber_far_out_and_at_its_seams():
    x = np.array([-1e30, -1.0, 0.0, 1.0, 1e30], np.float32)

    def loss(x):
        return nn.huber(x, np.zeros(5), reduction="sum")

    np.testing.assert_allclose(nn.huber(x, np.zeros(5), reduction="none"), [1e30, 0.5, 0, 0.5, 1e30], rtol=1e-6)
    np.testing.assert_array_equal(grad(loss)(x), [-1, -1, 0, 1, 1])
    np.testing.assert_array_equal(np.diagonal(hessian(loss)(np.array([-3.0, -0.5, 0.0, 0.5, 3.0]))), [0, 1, 1, 1, 0])


def test_hinge_at_its_kink():
    np.testing.assert_array_equal(grad(lambda s: nn.hinge(s, [1, -1], reduction="sum"))(np.array([1.0, -0.5])), [0, 1])


# -------------------------------------------------------------------------------------------------- any numbers


@given(rows=st.integers(1, 5), classes=st.integers(1, 5), size=st.sampled_from([1.0, 100.0, 1e4]), seed=st.integers(0, 99))
def test_cross_entropy_of_any_shape(rows, classes, size, seed):
    rng = np.random.default_rng(seed)
    z, labels = size * rng.normal(size=(rows, classes)), rng.integers(classes, size=rows)
    value, g = value_and_grad(nn.cross_entropy)(z, labels)
    expected = np.mean(
        [max(row) + math.log(sum(math.exp(v - max(row)) for v in row)) - row[k] for row, k in zip(z, labels, strict=True)]
    )
    np.testing.assert_allclose(value, expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(g.sum(axis=1), 0, atol=1e-15)  # moving all logits of a row changes nothing
    rows_alone = [nn.cross_entropy(z[n : n + 1], labels[n : n + 1]) for n in range(rows)]
    np.testing.assert_allclose(nn.cross_entropy(z, labels, reduction="none"), rows_alone, rtol=1e-12, atol=1e-12)


# -------------------------------------------------------------------------------------------------- ctc


def ctc_by_enumeration(probabilities, labels):
    """The probability of the labels: the sum over every path of classes that collapses to them."""
    total = 0
    for path in itertools.product(range(probabilities.shape[1]), repeat=len(probabilities)):
        collapsed = [k for n, k in enumerate(path) if k and (n == 0 or path[n - 1] != k)]
        if collapsed == list(labels):
            total += np.prod([frame[k] for frame, k in zip(probabilities, path, strict=True)])
    return -np.log(total)


def softmax(z):
    return np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True)


FRAMES = np.random.default_rng(3).normal(size=(3, 4, 3))
CTC_LABELS, CTC_COUNTS, CTC_FRAMES = np.array([[1, 1], [2, 1], [1, 0]]), np.array([2, 2, 0]), np.array([4, 3, 2])


def ctc_formula(logits):
    rows = zip(logits, CTC_LABELS, CTC_COUNTS, CTC_FRAMES, strict=True)
    return np.array([ctc_by_enumeration(softmax(z[:n]), labels[:k]) for z, labels, k, n in rows])


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_ctc(reduction):
    def loss(z):
        return nn.ctc(z, CTC_LABELS, logit_lengths=CTC_FRAMES, label_lengths=CTC_COUNTS, reduction=reduction)

    formula = {
        "none": ctc_formula, "sum": lambda z: ctc_formula(z).sum(), "mean": lambda z: (ctc_formula(z) / [2, 2, 1]).mean(),
    }[reduction]  # fmt: skip
    np.testing.assert_allclose(loss(FRAMES), formula(FRAMES), rtol=1e-12)
    weights = np.array([1.0, -2.0, 0.5]) if reduction == "none" else 1.0
    slopes = complex_step(formula, {"logits" if reduction == "none" else "z": FRAMES}, weights)
    np.testing.assert_allclose(grad(lambda z: (weights * loss(z)).sum())(FRAMES), *slopes.values(), rtol=1e-9, atol=1e-12)
    assert loss(FRAMES.astype(np.float32)).dtype == np.float32


def test_ctc_to_second_order_and_far_out():
    assert_right(lambda z: nn.ctc(z, CTC_LABELS[:2]), FRAMES[:2])
    certain = 1e4 * np.eye(3)[[[1, 0, 1, 0]]]  # each frame is sure of its class, and they spell the labels
    for dtype in (np.float64, np.float32):
        value, g = value_and_grad(lambda z: nn.ctc(z, np.array([[1, 1]])))(certain.astype(dtype))
        assert value == 0
        np.testing.assert_allclose(g, 0, atol=1e-6)
        value, g = value_and_grad(lambda z: nn.ctc(z, np.array([[2]])))(certain.astype(dtype))
        np.testing.assert_allclose(value, 2e4 - math.log(2), rtol=1e-6)  # two ways: 2 for one of the 1s, a blank for the other
        assert np.isfinite(g).all()


@given(frames=st.integers(1, 4), labels=st.lists(st.integers(1, 2), min_size=0, max_size=2), seed=st.integers(0, 50))
def test_ctc_of_any_length(frames, labels, seed):
    z = np.random.default_rng(seed).normal(size=(1, frames, 3))
    needed = len(labels) + sum(a == b for a, b in itertools.pairwise(labels))
    given_labels = np.array([labels], int).reshape(1, -1)
    if frames < needed:
        with pytest.raises(ValueError, match=f"example 0 has {frames} frames, expected at least {needed}"):
            nn.ctc(z, given_labels)
    else:
        np.testing.assert_allclose(
            nn.ctc(z, given_labels, reduction="sum"), ctc_by_enumeration(softmax(z[0]), labels), rtol=1e-10
        )
