"""``ctc``: the loss of a sequence of labels that is shorter than its frames, over all ways to align the two."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd import operators as op
from autograd.engine import resolve
from autograd.nn.shapes import shape_of, wrong_shape

_NOTHING = -1e30
"""The logarithm of a probability of 0 here: finite, so that sums of it have derivatives, and within the range of float32."""


def ctc(
    logits: Any, labels: Any, *, logit_lengths: Any = None, label_lengths: Any = None, blank: int = 0, reduction: str = "mean"
) -> Any:
    """The mean over all examples of ``-log(probability of the labels)``, summed over all alignments (Graves and others, 2006).

    logits          ``(N, T, C)``: for each frame one for each class; their softmax is taken here
    labels          ``(N, S)``, class numbers other than ``blank``; those beyond ``label_lengths`` count nothing
    logit_lengths   ``(N,)``, how many frames each example has; all if not given; so also ``label_lengths``
    reduction       "mean" over the examples, of the loss of each divided by its number of labels (at least 1), as in PyTorch;
                    "sum" and "none" do not divide

    An alignment has a label or a blank in each frame; labels that follow one another are one, unless a blank stands between.
    Raises ValueError for an example that has fewer frames than an alignment needs, and for labels and lengths that do not fit.

    >>> round(float(ctc(np.zeros((1, 2, 2)), np.array([[1]]))), 6)  # three of four equal alignments: -log(3 / 4)
    0.287682
    """
    logits, labels = resolve(logits), np.asarray(labels)
    shape = shape_of(logits)
    if len(shape) != 3 or 0 in shape:
        raise wrong_shape("ctc", "logits", shape, "(N, T, C)", "the batch comes first, then the frames, then the classes")
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"ctc: got reduction={reduction!r}, expected 'mean', 'sum' or 'none'")
    n_rows, n_frames, n_classes = shape
    if labels.ndim != 2 or len(labels) != n_rows or labels.dtype.kind not in "iu":
        raise ValueError(f"ctc: labels are {labels.dtype} of shape {labels.shape}, expected integers of shape ({n_rows}, S)")
    frames = _lengths("logit_lengths", logit_lengths, n_rows, n_frames)
    counts = _lengths("label_lengths", label_lengths, n_rows, labels.shape[1])
    inside = np.arange(labels.shape[1]) < counts[:, None]
    _check(labels, inside, frames, counts, blank, n_classes)

    places = np.full((n_rows, 2 * labels.shape[1] + 1), blank)  # a blank before, between and after the labels
    places[:, 1::2] = np.where(inside, labels, blank)
    jumps = np.zeros(places.shape, bool)  # where the blank before a label may be left out
    jumps[:, 2:] = (places[:, 2:] != blank) & (places[:, 2:] != places[:, :-2])

    logs = op.log_softmax(logits, axis=-1)
    emitted = op.take_along_axis(logs, np.broadcast_to(places[:, None, :], (n_rows, n_frames, places.shape[1])), axis=2)
    start = np.arange(places.shape[1]) < 2
    alpha = op.where(start, op.getitem(emitted, index=(slice(None), 0)), _NOTHING)
    for frame in range(1, n_frames):
        before = op.pad(alpha, pad_width=((0, 0), (2, 0)), constant_values=_NOTHING)
        one_back = op.getitem(before, index=(slice(None), slice(1, -1)))
        two_back = op.where(jumps, op.getitem(before, index=(slice(None), slice(None, -2))), _NOTHING)
        total = op.logaddexp(op.logaddexp(alpha, one_back), two_back)
        new = op.add(total, op.getitem(emitted, index=(slice(None), frame)))
        alpha = op.where((frame < frames)[:, None], new, alpha)
    ends = np.stack([2 * counts, np.maximum(2 * counts - 1, 0)], axis=1)
    last = op.take_along_axis(alpha, ends, axis=1)
    last = op.where(np.stack([np.ones(n_rows, bool), counts > 0], axis=1), last, _NOTHING)
    losses = op.negative(op.logsumexp(last, axis=1))
    if reduction == "none":
        return losses
    dtype = losses.dtype
    return op.sum(losses) if reduction == "sum" else op.mean(op.divide(losses, np.maximum(counts, 1).astype(dtype)))


def _lengths(name: str, lengths: Any, n_rows: int, longest: int) -> Any:
    if lengths is None:
        return np.full(n_rows, longest)
    lengths = np.asarray(lengths)
    least = 1 if name == "logit_lengths" else 0
    if lengths.shape != (n_rows,) or lengths.dtype.kind not in "iu" or not np.all((lengths >= least) & (lengths <= longest)):
        raise ValueError(f"ctc: got {name}={lengths!r}, expected {n_rows} whole numbers from {least} to {longest}")
    return lengths.astype(np.intp)


def _check(labels: Any, inside: Any, frames: Any, counts: Any, blank: int, n_classes: int) -> None:
    """Raise ValueError for labels that are no classes, and for examples without any alignment."""
    if not 0 <= blank < n_classes:
        raise ValueError(f"ctc: got blank={blank!r}, expected a class number from 0 to {n_classes - 1}")
    wrong = labels[inside & ((labels < 0) | (labels >= n_classes) | (labels == blank))]
    if wrong.size:
        raise ValueError(
            f"ctc: labels hold {wrong[0]}, expected class numbers from 0 to {n_classes - 1} other than blank={blank}; pass"
            " label_lengths where rows are filled up"
        )
    repeats = np.sum((labels[:, 1:] == labels[:, :-1]) & inside[:, 1:], axis=1)
    short = np.flatnonzero(frames < counts + repeats)
    if short.size:
        row = short[0]
        raise ValueError(
            f"ctc: example {row} has {frames[row]} frames, expected at least {counts[row] + repeats[row]} for its {counts[row]}"
            f" labels with {repeats[row]} repetition(s), each of which needs a blank; leave it out, or give more frames"
        )
