"""Losses: how far predictions are from targets, as one number to take the gradient of.

``reduction`` is "mean" (of all elements, or of all rows where a loss counts rows), "sum", or "none" for each element or row.
Targets are taken in the dtype of the predictions, so that float32 stays float32. All are exact far out: for logits of 1e4 and
more, and probabilities of 0 and 1, in value and derivatives.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd import operators as op
from autograd.engine import resolve
from autograd.nn.shapes import fraction, refuse_complex, shape_of, wrong_shape
from autograd.tensor import Tensor, innermost_value

_REDUCTIONS = ("mean", "sum", "none")


def mse(prediction: Any, target: Any, *, reduction: str = "mean") -> Any:
    """The mean of ``|prediction - target|**2``. Raises ValueError for two shapes: no broadcasting.

    >>> mse(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    np.float64(2.0)
    """
    error = op.subtract(*_alike("mse", prediction, target, real=False))
    if np.iscomplexobj(innermost_value(error)):
        return _reduced("mse", op.add(op.square(op.real(error)), op.square(op.imag(error))), reduction)
    return _reduced("mse", op.square(error), reduction)


def mae(prediction: Any, target: Any, *, reduction: str = "mean") -> Any:
    """The mean of ``|prediction - target|``; its derivative where the two are equal is 0. No broadcasting.

    >>> mae(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    np.float64(1.0)
    """
    return _reduced("mae", op.absolute(op.subtract(*_alike("mae", prediction, target, real=False))), reduction)


def huber(prediction: Any, target: Any, *, delta: float = 1.0, reduction: str = "mean") -> Any:
    """The mean of ``error**2 / 2`` where ``|error| <= delta``, and ``delta * (|error| - delta / 2)`` beyond. No broadcasting.

    >>> huber(np.array([0.5, 3.0]), np.array([0.0, 0.0]), reduction="none")
    array([0.125, 2.5 ])
    """
    if not delta > 0:
        raise ValueError(f"huber: got delta={delta!r}, expected a positive number")
    error = op.subtract(*_alike("huber", prediction, target))
    inside = op.clip(error, -delta, delta)  # one formula for both, which has no kink and no square that could overflow
    return _reduced("huber", op.multiply(inside, op.subtract(error, op.multiply(inside, 0.5))), reduction)


def hinge(scores: Any, target: Any, *, margin: float = 1.0, reduction: str = "mean") -> Any:
    """The mean of ``max(0, margin - target * score)``, for targets of -1 and 1. No broadcasting.

    Raises ValueError for other targets, such as class numbers 0 and 1: write ``2 * labels - 1``.

    >>> hinge(np.array([2.0, 0.5]), np.array([1, -1]))
    np.float64(0.75)
    """
    scores, target = _alike("hinge", scores, target)
    plain = innermost_value(target)
    if not np.all((plain == 1) | (plain == -1)):
        raise ValueError(
            f"hinge: the target holds {_other_than(plain, (1, -1))}, expected -1 and 1 alone; of class numbers 0 and 1 write"
            " 2 * labels - 1"
        )
    return _reduced("hinge", op.relu(op.subtract(margin, op.multiply(target, scores))), reduction)


def cross_entropy(
    logits: Any,
    labels: Any,
    *,
    weights: Any = None,
    label_smoothing: float = 0.0,
    ignore_index: int | None = None,
    axis: int = -1,
    reduction: str = "mean",
) -> Any:
    """The mean over all rows of ``-log(softmax(logits))`` at the label; the classes stand in the last axis, or in ``axis``.

    labels            class numbers, integers of the shape of ``logits`` without the classes; or a probability for each class, in
                      the shape of ``logits``: then a row counts ``-sum(labels * log(softmax(logits)))``
    weights           one for each class: a row counts as much as its class. The mean of class numbers is then divided by the sum
                      of the rows' weights; that of probabilities by the number of rows, as in PyTorch
    label_smoothing   this share of each row's label goes to all classes alike
    ignore_index      a class number that stands for no label: such rows count nothing, and are not divided by

    Raises ValueError for labels and weights that do not fit, and where every row is ignored, which has no mean; IndexError for
    class numbers that are too large.

    >>> logits = np.array([[0.0, np.log(3.0)], [1e4, 0.0]])
    >>> cross_entropy(logits, np.array([1, 0]), reduction="none").round(4)  # -log(3 / 4), and 0
    array([0.2877, 0. ])
    """
    labels = _array(labels)
    if axis != -1:
        logits = resolve(logits)
        logits = _classes_last("logits", logits, axis, shape_of(logits))
        labels = _classes_last("labels", labels, axis, shape_of(logits))
    if weights is None and label_smoothing == 0 and ignore_index is None and reduction == "mean" and type(labels) is not Tensor:
        try:
            if labels.size:
                return op.softmax_cross_entropy(logits, labels=labels)[0]
        except ValueError:
            if labels.dtype.kind not in "iub" or labels.shape != shape_of(logits):
                raise
    logits = resolve(logits)
    fraction("cross_entropy", label_smoothing=label_smoothing)
    shares, divisor = _shares(logits, labels, weights, label_smoothing, ignore_index)
    if reduction in ("mean", "sum") and type(shares) is not Tensor:
        _check_rows(logits)
        mean = op.softmax_cross_entropy(logits, labels=shares)[0]
        factor = math.prod(shape_of(logits)[:-1]) / (divisor if reduction == "mean" else 1)
        return mean if factor == 1 else op.multiply(mean, float(factor))
    logs = op.log_softmax(logits, axis=-1)
    costs = op.where(op.not_equal(shares, 0), op.negative(logs), 0.0)  # a share of 0 counts 0, also of log(0)
    rows = op.sum(op.multiply(shares, costs), axis=-1)
    if reduction == "mean":
        return op.divide(op.sum(rows), float(divisor))
    return _reduced("cross_entropy", rows, reduction)


def _check_rows(logits: Any) -> None:
    if 0 in shape_of(logits):
        raise ValueError(
            f"cross_entropy: logits have shape {shape_of(logits)}, expected at least one row and class; leave out empty batches"
        )


def _classes_last(name: str, x: Any, axis: int, logits_shape: tuple[int, ...]) -> Any:
    """The axis of the classes moved to the end; labels that are class numbers have none."""
    shape = shape_of(x)
    if name == "labels" and len(shape) < len(logits_shape):
        return x
    if not -len(shape) <= axis < len(shape):
        raise wrong_shape("cross_entropy", name, shape, f"an array with an axis {axis}", "give the axis of the classes")
    axes = [n for n in range(len(shape)) if n != axis % len(shape)] + [axis % len(shape)]
    return op.transpose(x, axes=tuple(axes))


def _shares(logits: Any, labels: Any, weights: Any, smoothing: float, ignore_index: int | None) -> tuple[Any, float]:
    """How much ``-log(softmax)`` of each class counts in each row, and by what the sum is divided for the mean."""
    shape, dtype = shape_of(logits), innermost_value(logits).dtype
    by_class: Any = None if weights is None else np.asarray(weights, dtype)
    if by_class is not None and (by_class.shape != shape[-1:] or not np.all(by_class >= 0)):
        raise ValueError(f"cross_entropy: weights have shape {by_class.shape}, expected {shape[-1:]}, one of at least 0 a class")
    if shape_of(labels) == shape:
        if ignore_index is not None:
            raise ValueError("cross_entropy: ignore_index goes with class numbers; of probabilities, make ignored rows 0")
        shares = labels if type(labels) is Tensor else labels.astype(dtype)
        divisor = float(math.prod(shape[:-1]))
    else:
        shares, divisor = _shares_of_numbers(shape, dtype, labels, by_class, ignore_index)
    if smoothing:
        rows = op.sum(shares, axis=-1, keepdims=True)
        shares = op.add(op.multiply(shares, 1 - smoothing), op.multiply(rows, smoothing / shape[-1]))
    return (shares if by_class is None else op.multiply(shares, by_class)), divisor


def _shares_of_numbers(
    shape: tuple[int, ...], dtype: Any, labels: Any, by_class: Any, ignore_index: int | None
) -> tuple[Any, float]:
    if type(labels) is Tensor or labels.shape != shape[:-1] or labels.dtype.kind not in "iu":
        kind = "a tensor" if type(labels) is Tensor else str(labels.dtype)
        raise ValueError(
            f"cross_entropy: labels are {kind} of shape {shape_of(labels)}; for logits of shape {shape} expected class numbers"
            f" (integers) of shape {shape[:-1]}, or one float for each class of shape {shape}"
        )
    kept = np.ones(labels.shape, bool) if ignore_index is None else labels != ignore_index
    numbers = np.where(kept, labels, 0)
    if not kept.any():
        raise ValueError("cross_entropy: every row is ignored, or there is none, which has no mean; leave out such a batch")
    if numbers.min() < 0 or numbers.max() >= shape[-1]:
        wrong = numbers.min() if numbers.min() < 0 else numbers.max()
        raise (ValueError if wrong < 0 else IndexError)(  # as the kernel has it for a number that is too large
            f"cross_entropy: labels hold {wrong}, expected class numbers from 0 to {shape[-1] - 1}; pass ignore_index={wrong} if"
            " it stands for no label"
        )
    shares = np.zeros(shape, dtype)
    np.put_along_axis(shares, numbers[..., None], kept[..., None], axis=-1)
    divisor = float(kept.sum()) if by_class is None else float(by_class[numbers[kept]].sum(dtype=float))
    if divisor == 0:
        raise ValueError("cross_entropy: the classes of all rows have a weight of 0, which has no mean; leave out such a batch")
    return shares, divisor


def binary_cross_entropy_with_logits(
    logits: Any, target: Any, *, weights: Any = None, pos_weight: Any = None, reduction: str = "mean"
) -> Any:
    """The mean of ``-target * log(sigmoid(logits)) - (1 - target) * log(1 - sigmoid(logits))``; targets from 0 to 1.

    weights      one for each element, or what broadcasts to it; the mean is still divided by the number of elements
    pos_weight   what the first term counts, so that the positive examples weigh more; one for each class in the last axis

    Raises ValueError for targets that are not from 0 to 1, and for two shapes: no broadcasting.

    >>> binary_cross_entropy_with_logits(np.array([0.0, 1e4, -1e4]), np.array([1, 1, 1]), reduction="none").round(4)
    array([6.931e-01, 0.000e+00, 1.000e+04])
    """
    who = "binary_cross_entropy_with_logits"
    logits, target = _alike(who, logits, target)
    plain = innermost_value(target)
    if not np.all((plain >= 0) & (plain <= 1)):
        raise ValueError(f"{who}: the target holds {_outside(plain)}, expected 0 to 1; of -1 and 1 write (target + 1) / 2")
    # Both terms are at least 0, so that none cancels the other, and each derivative is a sigmoid.
    positive = op.multiply(target, op.softplus(op.negative(logits)))
    if pos_weight is not None:
        positive = op.multiply(positive, _plain_like(who, "pos_weight", pos_weight, logits))
    losses = op.add(positive, op.multiply(op.subtract(1.0, target), op.softplus(logits)))
    if weights is not None:
        losses = op.multiply(losses, _plain_like(who, "weights", weights, logits))
    return _reduced(who, losses, reduction)


def kl_divergence(log_prediction: Any, target: Any, *, log_target: bool = False, reduction: str = "mean") -> Any:
    """The mean over all rows of ``sum(target * (log(target) - log_prediction))``, over the last axis.

    ``log_prediction`` holds logarithms of probabilities, as ``log_softmax`` gives them; ``target`` probabilities, or their
    logarithms with ``log_target``. A target of 0 counts 0, whatever the prediction. Raises ValueError for probabilities below
    0, and for two shapes: no broadcasting. PyTorch calls this mean "batchmean".

    >>> kl_divergence(np.log([[0.5, 0.5]]), np.array([[1.0, 0.0]])).round(4)  # log 2
    np.float64(0.6931)
    """
    log_prediction, target = _alike("kl_divergence", log_prediction, target)
    if not shape_of(target):
        raise wrong_shape("kl_divergence", "target", (), "(..., classes)", "give a probability for each class")
    plain = innermost_value(target)
    if not log_target and not np.all(plain >= 0):
        raise ValueError(
            f"kl_divergence: the target holds {plain[~(plain >= 0)][0]}, expected probabilities; or pass log_target=True"
        )
    counts = plain != (-np.inf if log_target else 0)
    logs = op.where(counts, target, 0.0) if log_target else op.log(op.where(counts, target, 1.0))
    shares = op.exp(target) if log_target else target
    rows = op.sum(op.multiply(shares, op.subtract(logs, op.where(counts, log_prediction, 0.0))), axis=-1)
    return _reduced("kl_divergence", rows, reduction)


# -------------------------------------------------------------------------------------------------- arguments


def _array(values: Any) -> Any:
    if type(values) is np.ndarray and values.base is None:
        return values
    values = resolve(values)
    return values if isinstance(values, Tensor | np.ndarray) else np.asarray(values)


def _alike(who: str, prediction: Any, target: Any, *, real: bool = True) -> tuple[Any, Any]:
    """Both, if they have one shape; the target in the dtype of the prediction, unless that would lose something."""
    prediction, target = _array(prediction), _array(target)
    if real:
        refuse_complex(who, prediction, target)
    shapes = shape_of(prediction), shape_of(target)
    if shapes[0] != shapes[1]:
        advice = "the two are not broadcast against each other: reshape one, as in prediction[:, 0]"
        raise wrong_shape(who, "the target", shapes[1], f"{shapes[0]}, that of the prediction", advice)
    dtype = innermost_value(prediction).dtype
    if type(target) is not Tensor and target.dtype != dtype and np.dtype(dtype).kind in "fc" and target.dtype.kind != "c":
        target = target.astype(dtype)
    return prediction, target


def _plain_like(who: str, name: str, values: Any, logits: Any) -> Any:
    values = _array(values)
    shape = shape_of(logits)
    try:
        fits = np.broadcast_shapes(shape_of(values), shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise wrong_shape(who, name, shape_of(values), f"what broadcasts to {shape}", "give one for each element or class")
    return values if type(values) is Tensor else values.astype(innermost_value(logits).dtype)


def _other_than(plain: Any, right: tuple[float, ...]) -> Any:
    return plain[~np.isin(plain, right)].flat[0]


def _outside(plain: Any) -> Any:
    return plain[~((plain >= 0) & (plain <= 1))].flat[0]


def _reduced(who: str, losses: Any, reduction: str) -> Any:
    if reduction not in _REDUCTIONS:
        raise ValueError(f"{who}: got reduction={reduction!r}, expected one of {_REDUCTIONS}")
    if reduction == "mean":
        if 0 in shape_of(losses):
            raise ValueError(f"{who}: got no elements, of shape {shape_of(losses)}, which have no mean; leave out empty batches")
        return op.mean(losses)
    return op.sum(losses) if reduction == "sum" else losses
