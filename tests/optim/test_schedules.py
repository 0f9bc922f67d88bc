"""Learning rates by step: first, last and some values by hand, all values as torch's schedulers, and the plateau by a table."""

from __future__ import annotations

import pickle
from dataclasses import replace
from math import cos, inf, nan, pi, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograd import optim
from autograd.optim import Constant, CosineDecay, ExponentialDecay, OneCycle, ReduceOnPlateau, StepDecay

HALF = sqrt(0.5)
BY_HAND = [
    (Constant(0.3), {0: 0.3, 10**9: 0.3}),
    (StepDecay(0.8, every=3, factor=0.5), {0: 0.8, 2: 0.8, 3: 0.4, 5: 0.4, 6: 0.2}),
    (ExponentialDecay(0.8, factor=0.5), {0: 0.8, 1: 0.4, 3: 0.1}),
    (ExponentialDecay(0.8, factor=0.25, every=4), {0: 0.8, 2: 0.4, 4: 0.2}),
    (CosineDecay(0.8, steps=4), {0: 0.8, 1: 0.4 * (1 + HALF), 2: 0.4, 3: 0.4 * (1 - HALF), 4: 0.0, 99: 0.0}),
    (CosineDecay(0.8, steps=4, final=0.2), {0: 0.8, 2: 0.5, 4: 0.2, 99: 0.2}),
    (CosineDecay(0.8, steps=8, warmup=4), {0: 0.2, 1: 0.4, 3: 0.8, 4: 0.8, 6: 0.4, 7: 0.4 * (1 - HALF), 8: 0.0}),
    (CosineDecay(0.8, steps=1), {0: 0.8, 1: 0.0}),
    (OneCycle(1.0, steps=10), {0: 0.04, 1: (1.04 - 0.96 * cos(pi / 2)) / 2, 2: 1.0, 9: 4e-6, 10: 4e-6}),
    (OneCycle(1.0, steps=11, warmup=0.0), {0: 1.0, 5: 0.5 + 2e-6, 10: 4e-6}),
    (OneCycle(0.5, steps=5, warmup=0.6, start_divisor=5.0, final_divisor=10.0), {0: 0.1, 1: 0.3, 2: 0.5, 3: 0.255, 4: 0.01}),
]


@pytest.mark.parametrize(("schedule", "expected"), BY_HAND, ids=lambda each: repr(each)[:50])
def test_values_by_hand(schedule, expected):
    assert {step: schedule(step) for step in expected} == pytest.approx(expected, rel=1e-12, abs=1e-17)
    assert all(type(schedule(step)) is float for step in expected)


@pytest.mark.parametrize(
    ("schedule", "name", "settings", "n_steps"),
    [
        (StepDecay(0.8, every=3, factor=0.5), "StepLR", {"step_size": 3, "gamma": 0.5}, 12),
        (ExponentialDecay(0.8, factor=0.9), "ExponentialLR", {"gamma": 0.9}, 12),
        (CosineDecay(0.8, steps=12, final=0.1), "CosineAnnealingLR", {"T_max": 12, "eta_min": 0.1}, 12),
        (OneCycle(0.8, steps=12), "OneCycleLR", {"max_lr": 0.8, "total_steps": 12}, 11),
        (OneCycle(0.8, steps=12, warmup=0.5), "OneCycleLR", {"max_lr": 0.8, "total_steps": 12, "pct_start": 0.5}, 11),
    ],
    ids=lambda each: repr(each)[:40],
)
def test_all_values_as_torch(schedule, name, settings, n_steps):
    torch = pytest.importorskip("torch")
    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.8)
    peer = getattr(torch.optim.lr_scheduler, name)(optimiser, **settings)
    for step in range(n_steps + 1):
        assert schedule(step) == pytest.approx(peer.get_last_lr()[0], rel=1e-12, abs=1e-15)
        optimiser.step()
        if step < n_steps:
            peer.step()


@given(st.integers(1, 50), st.integers(0, 49), st.floats(0, 1), st.integers(0, 80))
def test_cosine_stays_between_its_ends_and_falls_after_the_warmup(steps, warmup, final, step):
    schedule = CosineDecay(1.0, steps=steps, warmup=min(warmup, steps - 1), final=final)
    assert 0 < schedule(step) + (final == 0) <= 1 + (final == 0)
    if step >= schedule.warmup:
        assert final - 1e-12 <= schedule(step + 1) <= schedule(step) + 1e-12


def test_schedules_are_records():
    for schedule, _ in BY_HAND:
        assert pickle.loads(pickle.dumps(schedule)) == schedule
        assert eval(repr(schedule), vars(optim)) == schedule  # a checkpoint compares settings by their text


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: Constant(-1.0), "rate"),
        (lambda: StepDecay(1.0, every=0), "every"),
        (lambda: ExponentialDecay(nan, factor=0.5), "rate"),
        (lambda: ExponentialDecay(1.0, factor=-0.5), "factor"),
        (lambda: CosineDecay(1.0, steps=0), "steps"),
        (lambda: CosineDecay(1.0, steps=5, warmup=5), "warmup"),
        (lambda: OneCycle(1.0, steps=1), "steps"),
        (lambda: OneCycle(1.0, steps=5, warmup=1.0), "warmup"),
        (lambda: OneCycle(1.0, steps=5, start_divisor=0.5), "start_divisor"),
        (lambda: ReduceOnPlateau(1.0, factor=1.0), "factor"),
        (lambda: ReduceOnPlateau(1.0, mode="low"), "mode"),
    ],
)
def test_settings_that_make_no_sense_are_refused_by_name(make, word):
    with pytest.raises(ValueError, match=word):
        make()


# -------------------------------------------------------------------------------------------------- plateaus

PLATEAUS = [
    # settings, losses, the rate after each of them
    ({"patience": 0}, [3, 3, 2, 2, 2], [1, 0.5, 0.5, 0.25, 0.125]),
    ({"patience": 1}, [3, 3, 3, 3, 3], [1, 1, 0.5, 0.5, 0.25]),
    ({"patience": 1}, [3, 4, 2, 4, 1, 4, 4], [1, 1, 1, 1, 1, 1, 0.5]),
    ({"patience": 0, "threshold": 0.1}, [10, 9.5, 8.9, 8.1], [1, 0.5, 0.5, 0.25]),  # below 9, then not below 8.01
    ({"patience": 0, "threshold": 0.1}, [-10, -10.5, -11.5], [1, 0.5, 0.5]),  # of a negative best, below -11
    ({"patience": 0, "threshold": 0.1, "mode": "max"}, [10, 10.5, 11.5], [1, 0.5, 0.5]),
    ({"patience": 0}, [nan, 1, nan], [0.5, 0.5, 0.25]),
    ({"patience": 0, "smallest": 0.3}, [1, 1, 1, 1], [1, 0.5, 0.3, 0.3]),
    ({"patience": 0}, [inf, 1], [0.5, 0.5]),
]


@pytest.mark.parametrize(("settings", "losses", "expected"), PLATEAUS)
def test_plateaus_by_hand(settings, losses, expected):
    plateau = ReduceOnPlateau(1.0, factor=0.5, **settings)
    state, found = plateau.init(), []
    for loss in losses:
        before = dict(state)
        new = plateau.update(state, loss)
        assert state == before  # a state is not changed
        state = new
        found.append(plateau.rate_of(state))
    assert found == expected


@given(st.lists(st.floats(0.1, 10), max_size=40), st.integers(0, 4), st.sampled_from(["min", "max"]))
def test_plateaus_as_torch(losses, patience, mode):
    torch = pytest.importorskip("torch")
    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    peer = torch.optim.lr_scheduler.ReduceLROnPlateau(optimiser, mode=mode, factor=0.5, patience=patience)
    plateau = ReduceOnPlateau(1.0, factor=0.5, patience=patience, mode=mode)
    state = plateau.init()
    for loss in losses:
        state = plateau.update(state, loss)
        peer.step(loss)
        if optimiser.param_groups[0]["lr"] > 1e-7:  # where a reduction would be below 1e-8, torch makes none
            assert plateau.rate_of(state) == optimiser.param_groups[0]["lr"]


def test_a_rate_that_a_plateau_lowered_reaches_the_optimiser():
    plateau = ReduceOnPlateau(1.0, factor=0.5, patience=0)
    state = plateau.update(plateau.update(plateau.init(), 1.0), 1.0)
    assert replace(optim.Adam(1.0), learning_rate=plateau.rate_of(state)) == optim.Adam(0.5)
