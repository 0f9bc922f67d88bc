"""Gradients clipped by value and by their norm: by hand, as torch, and where the squares overflow or vanish."""

from __future__ import annotations

from math import inf, isnan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograd import Tape
from autograd.errors import GradtapeError
from autograd.optim import clip_by_global_norm, clip_by_value, global_norm


def test_by_value():
    gradient = {"a": np.array([-3.0, 0.5, 2.0]), "z": np.array([3 - 0.5j, 0.5 + 4j]), "s": -7.0, "n": None, "i": np.array([9])}
    a, z = gradient["a"], gradient["z"]
    clipped = clip_by_value(gradient, 1.5)
    assert clipped["a"] is a
    assert clipped["z"] is z
    assert a.tolist() == [-1.5, 0.5, 1.5]
    assert z.tolist() == [1.5 - 0.5j, 0.5 + 1.5j]  # both parts, each for itself
    assert (clipped["s"], clipped["n"], clipped["i"].tolist()) == (-1.5, None, [9])
    assert np.isnan(clip_by_value([np.array([np.nan])], 1.0)[0]).all()
    assert clip_by_value([np.array([-inf, inf], np.float32)], 2.0)[0].tolist() == [-2, 2]


def test_by_norm():
    gradient = {"w": np.array([[3.0], [0.0]]), "z": np.array([0 + 4j]), "s": 12.0}
    clipped, norm = clip_by_global_norm(gradient, 6.5, eps=0.0)
    assert norm == 13
    assert clipped["w"] is gradient["w"]
    assert (clipped["w"].tolist(), clipped["z"].tolist(), clipped["s"]) == ([[1.5], [0]], [2j], 6.0)
    same, norm = clip_by_global_norm(clipped, 6.5)  # exactly the limit: stays
    assert same is clipped
    assert norm == 6.5


def test_the_small_number_of_torch_by_hand():
    clipped, norm = clip_by_global_norm([np.array([4.0])], 1.0)
    assert norm == 4
    assert clipped[0][0] == 4.0 * (1.0 / 4.000001)
    assert clip_by_global_norm([np.array([4.0])], 1.0, eps=4.0)[0][0] == 0.5


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        ([3e30, 4e30], np.float32, 5e30),  # whose squares are inf in float32
        ([3e-30, 4e-30], np.float32, 5e-30),  # and 0
        ([3e300, 4e300], np.float64, 5e300),
        ([3e-300, 4e-300], np.float64, 5e-300),
        ([300.0, 400.0], np.float16, 500.0),
        ([3e30j, 4e30], np.complex64, 5e30),
        ([0.0, 0.0], np.float64, 0.0),
        ([], np.float64, 0.0),
        ([inf, 1.0], np.float64, inf),
        ([-inf, 1.0], np.float32, inf),
    ],
)
def test_norms_beyond_the_range_of_squares(values, dtype, expected):
    gradient = [np.array(values, dtype)]
    assert global_norm(gradient) == pytest.approx(expected, rel=1e-3 if dtype is np.float16 else 1e-6)
    if 0 < expected < inf:
        clipped, norm = clip_by_global_norm(gradient, expected / 2, eps=0.0)
        assert norm == pytest.approx(expected, rel=1e-3)
        np.testing.assert_allclose(clipped[0], np.array(values) / 2, rtol=1e-3)
        assert clipped[0].dtype == dtype


def test_nan_and_inf_are_seen_in_the_result():
    clipped, norm = clip_by_global_norm({"a": np.array([np.nan, 1.0]), "b": np.ones(2)}, 1.0)
    assert isnan(norm)
    assert np.isnan(clipped["a"]).all()
    assert np.isnan(clipped["b"]).all()
    for parts in ([np.nan], [inf]), ([inf], [np.nan]), ([np.nan, inf],):
        assert isnan(global_norm([np.array(each) for each in parts]))
    with pytest.warns(RuntimeWarning, match="invalid value"):
        clipped, norm = clip_by_global_norm({"a": np.array([inf, 1.0]), "b": np.ones(2)}, 1.0)
    assert norm == inf
    assert np.isnan(clipped["a"]).tolist() == [True, False]
    assert not clipped["b"].any()


def test_one_array_for_two_parameters_is_scaled_once():
    shared = np.array([3.0])
    clipped, norm = clip_by_global_norm({"a": shared, "b": shared}, sqrt(18) / 2, eps=0.0)
    assert norm == sqrt(18)
    np.testing.assert_allclose([clipped["a"], clipped["b"]], 1.5, rtol=1e-15)


def test_views_and_read_only_arrays_are_replaced():
    base, locked = np.full(4, 3.0), np.full(4, 4.0)
    locked.setflags(write=False)
    for clip in (lambda g: clip_by_value(g, 1.0), lambda g: clip_by_global_norm(g, 1.0)[0]):
        gradient = clip([base[:2], np.broadcast_to(base[0], (2,)), locked])
        assert all(np.abs(each).max() <= 1 for each in gradient)
        assert (base == 3).all()
        assert (locked == 4).all()


@given(st.lists(st.lists(st.floats(-1e3, 1e3), max_size=5), max_size=4), st.floats(1e-3, 1e3))
def test_the_norm_is_limited_and_the_direction_kept(values, limit):
    gradient = [np.array(each) for each in values]
    whole = np.concatenate([np.zeros(0), *gradient])
    clipped, norm = clip_by_global_norm(gradient, limit)
    assert norm == pytest.approx(np.sqrt((whole**2).sum()), rel=1e-12)
    after = np.concatenate([np.zeros(0), *clipped])
    assert np.linalg.norm(after) <= limit * (1 + 1e-12)
    factor = min(1.0, limit / (norm + 1e-6)) if norm > limit else 1.0
    np.testing.assert_allclose(after, whole * factor, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("limit", [0.01, 1.0, 100.0])
def test_as_torch(limit):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    gradient = [rng.normal(size=(3, 2)), rng.normal(size=4)]
    for ours, theirs in (
        (lambda g: clip_by_global_norm(g, limit)[0], lambda p: torch.nn.utils.clip_grad_norm_(p, limit)),
        (lambda g: clip_by_value(g, limit), lambda p: torch.nn.utils.clip_grad_value_(p, limit)),
    ):
        parameters = [torch.zeros(each.shape, dtype=torch.float64, requires_grad=True) for each in gradient]
        for parameter, each in zip(parameters, gradient, strict=True):
            parameter.grad = torch.tensor(each.copy())
        theirs(parameters)
        for got, parameter in zip(ours([each.copy() for each in gradient]), parameters, strict=True):
            np.testing.assert_allclose(got, parameter.grad.numpy(), rtol=1e-12)


@pytest.mark.parametrize("clip", [clip_by_value, clip_by_global_norm])
def test_what_cannot_be_clipped_is_refused(clip):
    for limit in (0, -1.0, float("nan"), "1"):
        with pytest.raises(ValueError, match=f"{clip.__name__}: "):
            clip([np.ones(1)], limit)
    with pytest.raises(GradtapeError, match="thunks"):
        clip({"w": lambda: np.ones(1)}, 1.0)
    with Tape() as tape, pytest.raises(GradtapeError, match="Tensor"):
        clip([tape.watch(np.ones(1))], 1.0)
    tape._free()
