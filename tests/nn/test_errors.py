"""What layers and losses say of what does not fit: the layer, what was got, what was expected, what to do."""

from __future__ import annotations

import numpy as np
import pytest

from autograd import grad, nn

BCE = nn.binary_cross_entropy_with_logits
Z, L = np.zeros((2, 3)), np.array([0, 1])


def zeros(*shape):
    return np.zeros(shape)


CASES = [
    # layers and the shape of their input
    (lambda: nn.Linear(3, 2)(zeros(4, 5)), r"Linear: x has shape \(4, 5\), expected \(\.\.\., 3\); make the layer with n_in=5"),
    (lambda: nn.Linear(3, 2)(zeros(4, 1, 8, 8)), r"or put autograd\.nn\.flatten in front of it"),
    (lambda: nn.Linear(3, 2)(1.0), r"Linear: x has shape \(\), expected \(\.\.\., 3\); give an array of rows"),
    (
        lambda: nn.Conv2d(3, 2, 3)(zeros(1, 28, 28, 3)),
        r"Conv2d: x has shape .*n_in=28, or move the axis of channels: numpy\.moveaxis",
    ),
    (
        lambda: nn.Conv2d(1, 2, 3)(zeros(5, 28, 28)),
        r"expected \(N, 1, H, W\) or \(1, H, W\); add the axis of channels: x\[:, None\]",
    ),
    (lambda: nn.Conv2d(1, 2, 3)(zeros(28, 28)), r"Conv2d: x has shape \(28, 28\), expected \(N, 1, H, W\)"),
    (lambda: nn.Conv1d(2, 2, 3)(zeros(1, 3, 9)), r"Conv1d: x has shape \(1, 3, 9\), expected \(N, 2, L\).*n_in=3"),
    (lambda: nn.Conv2d(1, 2, 3)(zeros(1, 1, 2, 2)), r"window|kernel"),
    (lambda: nn.ConvTranspose2d(2, 2, 3)(zeros(1, 3, 4, 4)), r"ConvTranspose2d: x has shape \(1, 3, 4, 4\)"),
    (
        lambda: nn.ConvTranspose2d(1, 1, 1, padding=3)(zeros(1, 1, 2, 2)),
        r"the output would have the size \(-4, -4\); use less padding",
    ),
    (lambda: nn.MaxPool2d(2)(zeros(4, 4)), r"MaxPool2d: x has shape \(4, 4\), expected \(N, C, H, W\)"),
    (lambda: nn.AvgPool1d(2)(zeros(4)), r"AvgPool1d: x has shape \(4,\), expected \(N, C, L\)"),
    (lambda: nn.global_avg_pool(zeros(2, 3)), r"global_avg_pool: x has shape \(2, 3\), expected \(N, C, \.\.\.\)"),
    (lambda: nn.BatchNorm(3)(zeros(2, 4)), r"BatchNorm: x has shape \(2, 4\), expected \(N, 3, \.\.\.\); make .* n_channels=4"),
    (lambda: nn.BatchNorm(3).train(zeros(3)), r"BatchNorm: x has shape \(3,\).* give a batch"),
    (
        lambda: nn.BatchNorm(3).train(zeros(1, 3)),
        r"BatchNorm\.train: x has shape \(1, 3\), which is 1 value\(s\) a channel.*LayerNorm",
    ),
    (
        lambda: nn.LayerNorm((2, 3))(zeros(2, 4)),
        r"LayerNorm: x has shape \(2, 4\), expected \(\.\.\., 2, 3\); make .* shape=\(2, 4\)",
    ),
    (lambda: nn.GroupNorm(2, 4)(zeros(2, 3)), r"GroupNorm: x has shape \(2, 3\), expected \(N, 4, \.\.\.\)"),
    (lambda: nn.RNNCell(2, 3)(zeros(1, 4)), r"RNNCell: x has shape \(1, 4\), expected \(N, 2\)"),
    (lambda: nn.RNNCell(2, 3)(zeros(1, 4, 2)), r"RNN takes whole sequences \(N, L, 2\)"),
    (lambda: nn.GRU(2, 3)(zeros(4, 2)), r"GRU: x has shape \(4, 2\), expected \(N, L, 2\); give a batch: x\[None\]"),
    (lambda: nn.LSTM(2, 3)(zeros(1, 4, 5)), r"LSTM: x has shape \(1, 4, 5\), .*n_in=5"),
    (lambda: nn.LSTM(2, 3)(zeros(1, 0, 2)), r"there must be a step"),
    (lambda: nn.LSTM(2, 3).run(zeros(1, 4, 2), zeros(1, 3)), r"LSTMCell: state is not a pair, expected \(h, c\)"),
    (
        lambda: nn.LSTM(2, 3).run(zeros(1, 4, 2), (zeros(1, 3), zeros(2, 3))),
        r"LSTMCell: state has shape \(2, 3\), expected \(1, 3\)",
    ),
    (lambda: nn.GRU(2, 3).run(zeros(1, 4, 2), (zeros(1, 3),) * 2), r"GRUCell: state has a tuple, expected \(1, 3\)"),
    (lambda: nn.MultiHeadAttention(4, 2)(zeros(3, 4)), r"MultiHeadAttention: query has shape \(3, 4\), .* x\[None\]"),
    (lambda: nn.MultiHeadAttention(4, 2)(zeros(1, 3, 4), zeros(1, 3, 5)), r"key has shape \(1, 3, 5\), .*n_features=5"),
    (
        lambda: nn.attention(zeros(2, 3), zeros(4, 5), zeros(4, 5)),
        r"attention: query, key and value have shapes \(2, 3\), \(4, 5\)",
    ),
    (lambda: nn.attention(zeros(2, 3), zeros(0, 3), zeros(0, 3)), r"at least one key"),
    (
        lambda: nn.attention(zeros(2, 3), zeros(4, 3), zeros(4, 3), np.ones((2, 5), bool)),
        r"mask has shape \(2, 5\), expected one that",
    ),
    (lambda: nn.Residual(nn.Linear(2, 1))(zeros(3, 2)), r"Residual: what the layer gives has shape \(3, 1\), .*give a shortcut"),
    (lambda: nn.flatten(1.0), r"flatten: x has shape \(\), expected \(N, \.\.\.\)"),
    # settings
    (lambda: nn.Linear(0, 2), r"Linear: got n_in=0, expected a whole number of at least 1"),
    (lambda: nn.Linear(2, 2.5), r"Linear: got n_out=2\.5"),
    (lambda: nn.Conv2d(3, 4, 3, groups=2), r"Conv2d: got n_in=3 and n_out=4 with groups=2, expected both to be multiples"),
    (lambda: nn.Conv2d(3, 4, (3, 0)), r"Conv2d: got kernel_size\[1\]=0"),
    (lambda: nn.Conv2d(3, 4, (3, 3, 3)), r"Conv2d: got kernel_size=\(3, 3, 3\), expected a whole number or two"),
    (
        lambda: nn.ConvTranspose2d(1, 1, 2, stride=2, output_padding=2),
        r"output_padding=\(2, 2\), expected less than stride=\(2, 2\)",
    ),
    (lambda: nn.BatchNorm(2, momentum=1.5), r"BatchNorm: got momentum=1\.5, expected a number from 0 to 1"),
    (lambda: nn.LayerNorm(()), r"LayerNorm: got shape=\(\), expected at least one axis"),
    (lambda: nn.GroupNorm(2, 3), r"GroupNorm: got n_channels=3, expected a multiple of n_groups=2"),
    (lambda: nn.Dropout(1.5), r"Dropout: got p=1\.5"),
    (lambda: nn.MultiHeadAttention(5, 2), r"MultiHeadAttention: got n_features=5, expected a multiple of n_heads=2"),
    # losses
    (
        lambda: nn.mse(zeros(3, 1), zeros(3)),
        r"mse: the target has shape \(3,\), expected \(3, 1\).* not broadcast .* prediction\[:, 0\]",
    ),
    (lambda: nn.mae(zeros(0), zeros(0)), r"mae: got no elements, of shape \(0,\)"),
    (lambda: nn.mse(Z, Z, reduction="avg"), r"mse: got reduction='avg', expected one of \('mean', 'sum', 'none'\)"),
    (lambda: nn.huber(Z, Z, delta=0), r"huber: got delta=0, expected a positive number"),
    (lambda: nn.hinge(zeros(2), np.array([0, 1])), r"hinge: the target holds 0\.0, expected -1 and 1 alone; .* 2 \* labels - 1"),
    (lambda: nn.cross_entropy(Z, np.array([0, -1])), r"labels hold -1"),
    (lambda: nn.cross_entropy(Z, np.array([0, -1]), label_smoothing=0.1), r"labels hold -1, .*pass ignore_index=-1"),
    (lambda: nn.cross_entropy(Z, np.array([0.0, 1.0])), r"labels are float64 of shape \(2,\)"),
    (lambda: nn.cross_entropy(Z, np.array([0.0, 1.0]), reduction="none"), r"cross_entropy: labels are float64 of shape \(2,\)"),
    (lambda: nn.cross_entropy(Z, L, weights=[1.0, 2.0]), r"cross_entropy: weights have shape \(2,\), expected \(3,\)"),
    (lambda: nn.cross_entropy(Z, L, weights=[1.0, 2.0, -1.0]), r"one of at least 0 a class"),
    (lambda: nn.cross_entropy(Z, L, weights=[0.0, 0.0, 1.0]), r"the classes of all rows have a weight of 0"),
    (lambda: nn.cross_entropy(Z, np.array([9, 9]), ignore_index=9), r"every row is ignored"),
    (lambda: nn.cross_entropy(Z, Z, ignore_index=9), r"ignore_index goes with class numbers"),
    (lambda: nn.cross_entropy(Z, L, label_smoothing=2.0), r"cross_entropy: got label_smoothing=2\.0"),
    (lambda: nn.cross_entropy(Z, L, reduction="avg"), r"cross_entropy: got reduction='avg'"),
    (lambda: nn.cross_entropy(zeros(0, 3), L[:0]), r"at least one row and class|every row is ignored"),
    (lambda: nn.cross_entropy(Z, L, axis=3), r"logits has shape \(2, 3\), expected an array with an axis 3"),
    (lambda: BCE(Z, Z - 1), r"binary_cross_entropy_with_logits: the target holds -1\.0, expected 0 to 1; of -1 and 1 write"),
    (lambda: BCE(Z, Z + np.nan), r"the target holds nan"),
    (lambda: BCE(Z, Z, pos_weight=np.ones(2)), r"pos_weight has shape \(2,\), expected what broadcasts to \(2, 3\)"),
    (
        lambda: nn.kl_divergence(Z, Z - 1),
        r"kl_divergence: the target holds -1\.0, expected probabilities; or pass log_target=True",
    ),
    (lambda: nn.kl_divergence(0.0, 1.0), r"kl_divergence: target has shape \(\)"),
    (lambda: nn.ctc(zeros(2, 3), L), r"ctc: logits has shape \(2, 3\), expected \(N, T, C\)"),
    (lambda: nn.ctc(zeros(1, 3, 3), L), r"ctc: labels are int64 of shape \(2,\), expected integers of shape \(1, S\)"),
    (lambda: nn.ctc(zeros(1, 3, 3), [[1, 3]]), r"ctc: labels hold 3, expected class numbers from 0 to 2 other than blank=0"),
    (lambda: nn.ctc(zeros(1, 3, 3), [[1, 0]]), r"ctc: labels hold 0"),
    (lambda: nn.ctc(zeros(1, 2, 3), [[1, 1]]), r"example 0 has 2 frames, expected at least 3 for its 2 labels with 1 repetition"),
    (
        lambda: nn.ctc(zeros(1, 3, 3), [[1]], logit_lengths=[4]),
        r"ctc: got logit_lengths=array\(\[4\]\), expected 1 whole numbers from 1 to 3",
    ),
    (lambda: nn.ctc(zeros(1, 3, 3), [[1]], blank=3), r"ctc: got blank=3"),
    (lambda: nn.ctc(zeros(1, 3, 3), [[1]], reduction="avg"), r"ctc: got reduction='avg'"),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "says"), CASES, ids=[str(n) for n in range(len(CASES))])
def test_a_value_that_does_not_fit(wrong, says):
    with pytest.raises(ValueError, match=says):
        wrong()


OTHERS = [
    (TypeError, lambda: nn.Sequential([nn.Linear(1, 1)]), r"Sequential: layer 0 is list .*; write the layers one by one"),
    (TypeError, lambda: nn.Sequential(nn.Dropout), r"layer 0 is the class Dropout, .*; make one of it"),
    (TypeError, lambda: nn.Residual(3), r"Residual: layer 0 is int 3"),
    (TypeError, lambda: nn.Dropout(0.5).train(Z), r"Dropout\.train: got rng=None, expected a numpy\.random\.Generator"),
    (TypeError, lambda: nn.Sequential(nn.Dropout()).train(Z, 3), r"got rng=3"),
    (TypeError, lambda: nn.Embedding(3, 2)(np.array([0.5])), r"Embedding: got indices of dtype float64, expected integers"),
    (TypeError, lambda: grad(lambda x: nn.Embedding(3, 2)(x).sum())(1.0), r"Embedding: got indices of a tensor"),
    (IndexError, lambda: nn.Embedding(3, 2)([3]), r"Embedding: indices hold 3, expected 0 to 2; make the layer with more rows"),
    (IndexError, lambda: nn.Embedding(3, 2)([-1]), r"Embedding: indices hold -1"),
    (IndexError, lambda: nn.cross_entropy(Z, np.array([0, 3])), r"labels hold 3"),
    (IndexError, lambda: nn.cross_entropy(Z, np.array([0, 3]), reduction="none"), r"cross_entropy: labels hold 3"),
    (TypeError, lambda: nn.LayerNorm(3)(Z * 1j), r"LayerNorm: got complex numbers, expected real ones"),
    (TypeError, lambda: nn.BatchNorm(3).train(Z * 1j), r"BatchNorm: got complex"),
    (TypeError, lambda: nn.GroupNorm(1, 3)(Z * 1j), r"GroupNorm: got complex"),
    (TypeError, lambda: nn.huber(Z * 1j, Z), r"huber: got complex"),
    (TypeError, lambda: BCE(Z * 1j, Z), r"binary_cross_entropy_with_logits: got complex"),
    (TypeError, lambda: nn.attention(Z * 1j, Z, Z), r"attention: got complex"),
    (TypeError, lambda: nn.attention(Z, Z, Z, np.ones((2, 2), int)), r"attention: mask has dtype int64, expected booleans"),
]


@pytest.mark.parametrize(("error", "wrong", "says"), OTHERS, ids=[str(n) for n in range(len(OTHERS))])
def test_what_is_wrong_in_kind(error, wrong, says):
    with pytest.raises(error, match=says):
        wrong()


def test_an_error_of_another_cause_is_not_explained_away():
    with pytest.raises(TypeError) as caught:
        nn.Linear(1, 1)(np.array(["a"]))
    assert "n_in" not in str(caught.value)


def test_errors_inside_a_gradient_name_the_layer_too():
    with pytest.raises(ValueError, match=r"Linear: x has shape \(2, 3\)"):
        grad(lambda model: model(Z).sum())(nn.Sequential(nn.Linear(2, 1)))
