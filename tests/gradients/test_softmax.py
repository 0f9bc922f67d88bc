"""Softmax, its logarithm and its cross-entropy, against their definitions."""

import itertools

import numpy as np
import pytest

import autograd.numpy as anp
from autograd import Tape, grad, hessian, jacobian
from autograd import operators as op
from tests.gradients.harness import Case, each_case

SHAPES = [((2, 3),), ((3,),), ((2, 1, 3),), ((1, 1),), ((0, 3),)]
LABELS = np.array([2, 0])
WEIGHTS = np.array([[0.2, 0.3, 0.5], [0.0, 1.0, 0.0]])
UNEVEN = np.array([[0.2, 0.0, 2.0], [1.0, 1.0, -1.0]])


def softmax(x, axis=-1):
    return np.exp(x) / np.sum(np.exp(x), axis=axis, keepdims=True)


def log_softmax(x, axis=-1):
    return x - np.log(np.sum(np.exp(x), axis=axis, keepdims=True))


def cross_entropy(logits, labels):
    """By loops over the rows."""
    rows = list(np.ndindex(logits.shape[:-1]))
    total = logits.dtype.type(0)
    for row in rows:
        p = softmax(logits[row])
        if labels.shape == logits.shape:
            total -= np.sum(labels[row] * np.log(p))
        else:
            total -= np.log(p[labels[row]])
    return (total / len(rows)).astype(logits.dtype)[()]


def entropy_case(label, labels, shape):
    return Case(
        "softmax_cross_entropy",
        call=lambda np, logits: anp.softmax_cross_entropy(logits, labels),
        reference=lambda logits: cross_entropy(logits, np.asarray(labels)),
        shapes=[(shape,)],
        label=label,
    )


CASES = [
    Case("softmax", reference=softmax, shapes=SHAPES, complex_domain=(-0.5, 0.5)),
    Case("softmax", reference=softmax, shapes=[((2, 3),), ((2, 2, 2),)], attrs={"axis": 0}, label="axis 0"),
    Case("softmax", reference=softmax, shapes=[((2, 3, 2),)], attrs={"axis": (0, -1)}, label="axes"),
    Case("softmax", reference=softmax, shapes=[((2, 3),), ((),), (float,)], attrs={"axis": None}, label="all"),
    Case("log_softmax", reference=log_softmax, shapes=SHAPES, complex_domain=(-0.5, 0.5)),
    Case("log_softmax", reference=log_softmax, shapes=[((2, 3),), ((2, 2, 2),)], attrs={"axis": 0}, label="axis 0"),
    Case("log_softmax", reference=log_softmax, shapes=[((2, 3, 2),)], attrs={"axis": (0, -1)}, label="axes"),
    Case("log_softmax", reference=log_softmax, shapes=[((2, 3),), ((),)], attrs={"axis": None}, label="all"),
    entropy_case("classes", LABELS, (2, 3)),
    entropy_case("one row", np.array(1), (3,)),
    entropy_case("stack", np.array([[0, 1], [2, 2]]), (2, 2, 3)),
    entropy_case("unsigned", LABELS.astype(np.uint8), (2, 3)),
    entropy_case("list", [2, 0], (2, 3)),
    entropy_case("weights", WEIGHTS, (2, 3)),
    entropy_case("uneven weights", UNEVEN, (2, 3)),
    entropy_case("float32 weights", WEIGHTS.astype(np.float32), (2, 3)),
    Case(
        "softmax_cross_entropy",
        call=lambda np, logits, labels: anp.softmax_cross_entropy(logits, labels),
        reference=cross_entropy,
        shapes=[((2, 3), (2, 3))],
        label="tensor of weights",
    ),
]


def gradient_by_hand(logits, labels):
    """``(softmax * weight of the row - onehot) / rows``"""
    onehot = labels if labels.shape == logits.shape else np.eye(logits.shape[-1])[labels]
    g = softmax(logits) * onehot.sum(-1, keepdims=True) - onehot
    return (g / np.prod(logits.shape[:-1])).astype(logits.dtype)


CASES += [
    Case(
        "softmax_cross_entropy",
        call=lambda np, logits, labels=labels: op.softmax_cross_entropy(logits, labels=labels)[1],
        reference=lambda logits, labels=labels: gradient_by_hand(logits, labels),
        shapes=[((2, 3),)],
        label=label,
    )
    for label, labels in [("classes", LABELS), ("uneven weights", UNEVEN)]
]


@each_case(CASES)
def test_rule(case, check):
    check(case)


# ------------------------------------------------------------------------------------------------ special values


def test_large_logits():
    x = np.array([[1000.0, 1000.0, -1000.0]])
    np.testing.assert_array_equal(anp.softmax(x), [[0.5, 0.5, 0]])
    np.testing.assert_allclose(anp.log_softmax(x), [[-np.log(2), -np.log(2), -2000 - np.log(2)]])
    np.testing.assert_allclose(anp.softmax_cross_entropy(x, np.array([2])), 2000 + np.log(2))
    np.testing.assert_allclose(grad(anp.softmax_cross_entropy)(x, np.array([2])), [[0.5, 0.5, -1]])
    np.testing.assert_allclose(grad(lambda x: anp.log_softmax(x)[0, 2])(x), [[-0.5, -0.5, 1]])


def test_float32_logits_do_not_overflow():
    x = np.array([[200.0, 0.0]], np.float32)
    g = grad(anp.softmax_cross_entropy)(x, np.array([1]))
    assert g.dtype == np.float32
    np.testing.assert_allclose(g, [[1, -1]])


def test_classes_that_are_masked_out():
    x = np.array([[0.0, -np.inf, np.log(3.0)]])
    np.testing.assert_allclose(anp.softmax(x), [[0.25, 0, 0.75]])
    np.testing.assert_allclose(anp.log_softmax(x), [[np.log(0.25), -np.inf, np.log(0.75)]])
    np.testing.assert_allclose(anp.softmax_cross_entropy(x, np.array([0])), np.log(4))
    np.testing.assert_allclose(grad(anp.softmax_cross_entropy)(x, np.array([0])), [[-0.75, 0, 0.75]])
    # d/dx of y_0 is y_0 (e_0 - y)
    np.testing.assert_allclose(grad(lambda x: anp.softmax(x)[0, 0])(x), [[0.25 * 0.75, 0, -0.25 * 0.75]])
    np.testing.assert_allclose(grad(lambda x: anp.log_softmax(x)[0, 0])(x), [[0.75, 0, -0.75]])
    np.testing.assert_allclose(hessian(lambda x: anp.softmax_cross_entropy(x, np.array([0])))(x)[0, 1], np.zeros((1, 3)))


def test_weight_zero_at_a_class_that_is_masked_out():
    x, weights = np.array([[0.0, -np.inf]]), np.array([[1.0, 0.0]])
    np.testing.assert_array_equal(grad(anp.softmax_cross_entropy)(x, weights), [[0, 0]])
    np.testing.assert_array_equal(anp.softmax_cross_entropy(x, weights), 0)


def test_jacobian_of_softmax_is_diag_y_minus_y_y():
    x = np.array([0.3, -1.0, 2.0])
    y = softmax(x)
    np.testing.assert_allclose(jacobian(anp.softmax)(x), np.diag(y) - np.outer(y, y))


def test_hessian_of_the_cross_entropy():
    # in one row (diag p - p p) / rows, between rows zero
    x = np.array([[0.3, -1.0, 2.0], [1.0, 0.0, -0.5]])
    expected = np.zeros((2, 3, 2, 3))
    for row in range(2):
        p = softmax(x[row])
        expected[row, :, row] = (np.diag(p) - np.outer(p, p)) / 2
    np.testing.assert_allclose(hessian(lambda x: anp.softmax_cross_entropy(x, LABELS))(x), expected, atol=1e-15)
    np.testing.assert_allclose(jacobian(grad(lambda x: anp.softmax_cross_entropy(x, WEIGHTS)))(x), expected, atol=1e-15)


def test_third_derivative():
    # one row, two classes, label 0: the loss in the difference t = x_1 - x_0 is log(1 + exp t), f''' = s (1-s) (1-2s)
    f = lambda t: anp.softmax_cross_entropy(anp.stack([0.0 * t, t]), np.array(0))  # noqa: E731
    s = 1 / (1 + np.exp(-0.7))
    assert grad(grad(grad(f)))(0.7) == pytest.approx(s * (1 - s) * (1 - 2 * s))


def test_all_forms_of_the_labels_agree():
    x = np.array([[0.3, -1.0, 2.0], [1.0, 0.0, -0.5]])
    onehot = np.eye(3)[LABELS]
    forms = (LABELS, LABELS.tolist(), onehot, onehot > 0.5)
    for labels, f in itertools.product(forms, (anp.softmax_cross_entropy, grad(anp.softmax_cross_entropy))):
        np.testing.assert_allclose(f(x, labels), f(x, LABELS), atol=1e-16)
    composed = grad(lambda x: -anp.mean(anp.log_softmax(x)[np.arange(2), LABELS]))(x)
    np.testing.assert_allclose(grad(anp.softmax_cross_entropy)(x, LABELS), composed, atol=1e-16)


def test_integer_logits_that_nobody_differentiates():
    np.testing.assert_allclose(anp.softmax([0, 0]), [0.5, 0.5])
    np.testing.assert_allclose(anp.log_softmax([0, 0]), [-np.log(2)] * 2)
    np.testing.assert_allclose(anp.softmax_cross_entropy([[0, 0]], [1]), np.log(2))


def test_the_tape_keeps_the_logits_and_the_gradient_in_them():
    x = np.ones((50, 10))
    with Tape() as tape:
        anp.softmax_cross_entropy(tape.watch(x), np.zeros(50, int))
    assert tape.saved_bytes() == 2 * x.nbytes


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0), (0, 2, 1)])
def test_the_gradient_does_not_depend_on_how_the_logits_lie_in_memory(order):
    rng = np.random.default_rng(4)
    logits, labels = rng.normal(size=(2, 3, 4)), rng.integers(4, size=(2, 3))
    back = np.argsort(order)
    laid_out = np.ascontiguousarray(logits.transpose(order)).transpose(back)
    g = grad(lambda x: anp.softmax_cross_entropy(x, labels))(laid_out)
    expected = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    expected -= np.eye(4)[labels]
    np.testing.assert_allclose(g, expected / 6, rtol=1e-12)


# ------------------------------------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.array([0, -1]), "labels hold -1, expected class numbers from 0 to 2"),
        (np.array([0.0, 1.0]), "labels are float64 of shape \\(2,\\); for logits of shape \\(2, 3\\) expected class numbers"),
        (np.array([0, 1, 2]), "labels are int64 of shape \\(3,\\)"),
        (np.zeros((2, 3), int), "labels are int64 of shape \\(2, 3\\)"),
    ],
)
def test_labels_that_do_not_fit(labels, message):
    with pytest.raises(ValueError, match=message):
        anp.softmax_cross_entropy(np.zeros((2, 3)), labels)


def test_a_label_beyond_the_last_class():
    with pytest.raises(IndexError, match="3"):
        anp.softmax_cross_entropy(np.zeros((2, 3)), np.array([0, 3]))
