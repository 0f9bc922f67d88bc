"""Slopes of a function of one number, by differences that know how far they may be trusted.

A step that is too long sees the curvature, one that is too short sees rounding. So steps shrink by four and the differences are
extrapolated to step zero (Ridders, "Accurate computation of F'(x) and F'(x)F''(x)", Advances in Engineering Software 4, 1982);
the estimate is taken where two ways to it agree best, and how far they differ, with the rounding of one step, is its uncertainty.
The same runs give the slopes on either side, which differ at a kink, however smooth the mean of both looks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb, log2
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

SHRINK = 4.0
FIRST_STEP = 2.0**-4
LEVELS = 13
"""The longest step and how many there are: at the shortest, 3.7e-9, rounding has more than half of the digits."""

ROUNDING = 16.0
"""How many times the rounding error of one difference two answers may differ by that alone."""

SURE = 1e-4
"""What a slope must be known to, relative to the largest around it, for a verdict: better than the smallest fault of interest."""


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """The derivative at 0 of a function of one number to an array.

    value         by central differences; by those of one side where the function is finite on that side alone
    uncertainty   how far two estimates of it differ
    noise         what rounding of the function may do to it
    left, right   the slopes on either side, where they were looked at; infinite at a jump or a vertical tangent
    kinked        where they differ
    constant      where the function never changed, at any step
    change        how much it changed over the longest step, as a slope
    """

    value: Array
    uncertainty: Array
    noise: Array
    left: Array
    right: Array
    kinked: Array
    constant: Array
    change: Array

    @property
    def margin(self) -> Array:
        """How far the value may be from the truth, as far as the differences can tell."""
        return 3 * self.uncertainty + ROUNDING * self.noise


def slopes(
    f: Callable[[float], Array], y: Array, *, eps: Any = None, magnitude: Any = None, goal: Any = None, scale: Any = 0.0
) -> Slopes:
    """The derivative at 0 of ``f``, which takes a number and returns an array of floats; ``y`` is ``f(0)``.

    eps        relative rounding error of ``f``; that of double precision by default
    magnitude  how large the terms are whose sum ``f`` is; the size of ``y`` by default
    goal       the uncertainty at which a first, quick estimate is good enough; by default it never is
    scale      the size of slopes that matter here: rounding far below it needs no care

    The step is relative: ``f`` is run between -1/16 and 1/16, so scale the argument. Steps at which ``f`` is not finite are
    passed over; where all are, the value is NaN.

    >>> found = slopes(lambda t: np.array([np.exp(2 * t), abs(t)]), np.array([1.0, 0.0]))
    >>> [round(float(each), 9) for each in found.value], found.kinked.tolist()
    ([2.0, 0.0], [False, True])
    """
    y = np.asarray(y, float)
    eps = np.broadcast_to(np.asarray(np.finfo(float).eps if eps is None else eps, float), y.shape)
    magnitude = np.abs(y) if magnitude is None else np.maximum(np.abs(y), magnitude)
    with np.errstate(all="ignore"):
        if goal is not None:
            quick = _quick(f, y, eps * magnitude, np.asarray(goal, float), np.asarray(scale, float))
            if quick is not None:
                return quick
        return _careful(f, y, eps, magnitude)


def _quick(f: Callable[[float], Array], y: Array, rounding: Array, goal: Array, scale: Array) -> Slopes | None:
    """From two steps near the best ones for a function without surprises; None if there is any."""
    eps = float(np.max(np.where(np.isfinite(rounding), rounding / (np.abs(y) + (y == 0)), 0.0), initial=1e-16))
    long = 2.0 ** (round(log2(min(eps, 1e-6)) / 5) + 1)  # where cutting off and rounding are alike, for two extrapolated steps
    short = long / SHRINK
    ups, downs = [f(long), f(short)], [f(-long), f(-short)]
    rough, fine = [(up - down) / (2 * h) for up, down, h in zip(ups, downs, (long, short), strict=True)]
    bend, less = [np.abs(up - 2 * y + down) / h for up, down, h in zip(ups, downs, (long, short), strict=True)]
    value = fine + (fine - rough) / (SHRINK**2 - 1)
    uncertainty = np.abs(value - fine)
    noise = np.maximum(rounding, 2.3e-16 * np.maximum(np.abs(ups[1]), np.abs(downs[1]))) / short
    good = uncertainty <= goal + ROUNDING * noise
    good &= less <= 0.35 * bend + ROUNDING * noise + goal  # it falls to a quarter, but not at a kink
    good &= (ROUNDING * noise <= np.maximum(goal, SURE / 10 * scale)) | ((ups[0] == y) & (downs[0] == y))
    if not good.all():
        return None
    never = (ups[0] == y) & (ups[1] == y) & (downs[0] == y) & (downs[1] == y)
    change = np.maximum(np.abs(ups[0] - y), np.abs(downs[0] - y)) / long
    return Slopes(value, uncertainty, noise, value, value, np.zeros(y.shape, bool), never, change)


def _careful(f: Callable[[float], Array], y: Array, eps: Array, magnitude: Array) -> Slopes:
    steps = FIRST_STEP * SHRINK ** -np.arange(LEVELS)
    ups, downs = np.array([f(h) for h in steps]), np.array([f(-h) for h in steps])
    h = steps.reshape((-1,) + (1,) * y.ndim)
    error = np.maximum(eps * magnitude, _rounding(f, y))
    least = np.maximum(64 * error, 1e-10 * magnitude)  # what an iteration that ends elsewhere changes is no jump
    noise = np.fmax(error, eps * np.fmax(np.abs(ups), np.abs(downs))) / h
    value, uncertainty, noise_there = _extrapolated((ups - downs) / (2 * h), noise, 2)
    right, right_error, right_noise = _extrapolated((ups - y) / h, 2 * noise, 1)
    left, left_error, left_noise = _extrapolated((y - downs) / h, 2 * noise, 1)
    apart = 3 * (left_error + right_error) + ROUNDING * (left_noise + right_noise)
    right = np.where(_shrinks_slowly(ups - y, 0.3, least), np.copysign(np.inf, ups[-1] - y), right)
    left = np.where(_shrinks_slowly(downs - y, 0.3, least), np.copysign(np.inf, y - downs[-1]), left)
    kinked = _is_kinked(left, right, apart, np.abs(ups - 2 * y + downs) / h, 4 * noise)
    kinked |= _shrinks_slowly(ups - downs, 0.9, least)  # a jump
    vertical = np.isinf(left) & (left == right)
    value = np.where(vertical, left, value)
    uncertainty = np.where(vertical, 0.0, uncertainty)
    for side, its_error in ((left, left_error), (right, right_error)):
        alone = np.isnan(value) & ~np.isnan(side)  # the other side is outside the domain
        value = np.where(alone, side, value)
        uncertainty = np.where(alone, its_error, uncertainty)
        noise_there = np.where(alone, 0.0, noise_there)  # it is part of the error already
    never = ((ups == y) & (downs == y)).all(axis=0)
    change = np.max([np.where(np.isfinite(each[0]), np.abs(each[0] - y), 0.0) for each in (ups, downs)], axis=0) / FIRST_STEP
    return Slopes(value, uncertainty, noise_there, left, right, kinked, never, change)


def mixed_slope(f: Callable[[float, float], float], y: float, error: float) -> Slopes:
    """The second derivative of ``f`` at (0, 0), once in each of its two numbers; ``y`` is ``f(0, 0)``, known to ``error``.

    It is taken and trusted as ``slopes`` are; ``left`` and ``right`` are of the quarters in which both numbers have one sign.

    >>> found = mixed_slope(lambda s, t: float(np.exp(2 * s + 3 * t)), 1.0, 1e-16)
    >>> round(float(found.value), 6), bool(found.kinked)
    (6.0, False)
    """
    first_step = 4 * FIRST_STEP if error < 1e-10 * abs(y) else 1.0  # of four values: longer steps are wanted than for slopes
    steps = first_step * SHRINK ** -np.arange(8.0)
    with np.errstate(all="ignore"):
        above = np.array([f(h, h) for h in steps])
        below = np.array([f(-h, -h) for h in steps])
        across = np.array([f(h, -h) + f(-h, h) for h in steps])
        first, second = [np.array([f(h, 0.0) + f(0.0, h) for h in each]) for each in (steps, -steps)]
        h2, noise = steps**2, 4 * error / steps**2
        column = (above - across + below) / (4 * h2)
        value, uncertainty, noise_there = _extrapolated(column, noise, 2)
        sides = [(end - axes + y) / h2 for end, axes in ((below, second), (above, first))]
        (left, left_error, _), (right, right_error, _) = [_extrapolated(side, 4 * noise, 1) for side in sides]
        bends = np.abs(sides[1] - sides[0])
        stays = (bends[1:] > 0.7 * bends[:-1]) & (bends[1:] > 100 * noise[1:])  # where all is smooth it falls to a quarter
        kinked = _is_kinked(left, right, 3 * (left_error + right_error), bends, 8 * noise) & (stays.sum() >= 2)
        endless = ((np.abs(column[1:]) >= 3 * np.abs(column[:-1])) & (np.abs(column[1:]) > 64 * noise[1:])).all()  # a kink of f
        never = (np.abs(column) <= noise).all() & ~kinked
        return Slopes(
            np.where(endless, np.copysign(np.inf, column[-1]), value), np.where(endless, 0.0, uncertainty), noise_there,
            np.where(endless, -np.inf, left), np.where(endless, np.inf, right), kinked | endless, never,
            np.nan_to_num(np.abs(column[0]), nan=0.0, posinf=0.0),
        )  # fmt: skip


def noise_of(f: Callable[[float], Array], y: Array) -> Array:
    """How much of ``f`` is noise near 0, whatever its dtype says."""
    with np.errstate(all="ignore"):
        return _rounding(f, y)


def _extrapolated(column: Array, noise: Array, order: int) -> tuple[Array, Array, Array]:
    """From one estimate a step: the limit of step zero, how far two ways to it differ, and the noise at the steps used.

    The error of an estimate is a series in ``step**order``.
    """
    best = np.full(column.shape[1:], np.nan)
    uncertainty = np.full(column.shape[1:], np.inf)
    noise_there = np.zeros(column.shape[1:])
    table = column
    for level in range(1, 6):
        better = table[1:] + (table[1:] - table[:-1]) / (SHRINK ** (order * level) - 1)
        apart = np.fmax(np.abs(better - table[1:]), np.abs(better - table[:-1]))
        apart = np.where(np.isfinite(better), apart, np.inf)
        rows = noise[level:]
        at = np.argmin(apart + rows, axis=0)[None]
        here, its_noise = np.take_along_axis(apart, at, 0)[0], np.take_along_axis(rows, at, 0)[0]
        closer = here + its_noise < uncertainty + noise_there
        best = np.where(closer, np.take_along_axis(better, at, 0)[0], best)
        uncertainty, noise_there = np.where(closer, here, uncertainty), np.where(closer, its_noise, noise_there)
        table = better
    power = _of_unknown_power(column)
    apart = np.abs(np.diff(power, axis=0))
    rows = 4 * noise[3:]
    at = np.argmin(np.where(np.isfinite(apart), apart + rows, np.inf), axis=0)[None]
    here, its_noise = np.take_along_axis(apart, at, 0)[0], np.take_along_axis(rows, at, 0)[0]
    closer = here + its_noise < (uncertainty + noise_there) / 4  # a series in whole powers is the rule
    best = np.where(closer, np.take_along_axis(power[1:], at, 0)[0], best)
    return best, np.where(closer, here, uncertainty), np.where(closer, its_noise, noise_there)


def _of_unknown_power(column: Array) -> Array:
    """The limits of estimates whose error is some power of the step, by Aitken's method: ``x**1.5`` has half powers at 0."""
    first, second = np.diff(column[:-1], axis=0), np.diff(column[1:], axis=0)
    limit = column[2:] - second * second / (second - first)
    return np.where(np.abs(second) < 0.9 * np.abs(first), limit, np.where((first == 0) & (second == 0), column[2:], np.nan))


def _rounding(f: Callable[[float], Array], y: Array) -> Array:
    """How much of ``f`` is noise, from differences of high order between neighbours, which smooth functions do not have.

    After J. J. More and S. M. Wild, "Estimating computational noise", SIAM Journal on Scientific Computing 33, 2011.
    """
    levels = np.zeros(y.shape)
    for side in (-(2.0**-18), 2.0**-18):  # to the side of a kink
        values = np.array([f(side + i * 2.0**-36) for i in range(8)])
        estimates = []
        for order in (4, 5, 6):
            rough = np.diff(values, order, axis=0)
            estimates.append(np.sqrt(np.mean(rough * rough, axis=0) / comb(2 * order, order)))
        levels = np.fmax(levels, np.median(estimates, axis=0))
    return np.where(np.isfinite(levels), levels, 0.0)


def _shrinks_slowly(rise: Array, part: float, least: Array) -> Array:
    """Whether a rise keeps more than this part of itself, step after step; any slope leaves it a quarter, a root half."""
    sizes = np.abs(rise[-6:])
    return np.asarray(((sizes[1:] >= part * sizes[:-1]) & (sizes[1:] > least)).all(axis=0))


def _is_kinked(left: Array, right: Array, margin: Array, bends: Array, noise: Array) -> Array:
    """Whether the slopes differ, and still do at the shortest step that shows it: a narrow bend does not."""
    jump = np.abs(right - left)
    infinite = (np.isinf(left) | np.isinf(right)) & (left != right) & ~np.isnan(left) & ~np.isnan(right)
    seen = noise <= 0.05 * jump
    last = seen.shape[0] - 1 - np.argmax(seen[::-1], axis=0)[None]
    at_last = np.take_along_axis(bends, last, 0)[0]
    large = (jump > margin) & (jump > SURE * np.abs(left)) & (jump > SURE * np.abs(right))
    return np.asarray(infinite | (np.isfinite(jump) & large & seen.any(axis=0) & (at_last > 0.5 * jump)))
