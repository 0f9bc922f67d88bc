"""Special values of functions that order, move, join, read, reduce and make arrays: for each kind of fault, points like it.

Most functions only move elements. A row then multiplies the result with a number for each place, often ``numbered``, and the
gradient says from where each element came.
"""

from __future__ import annotations

import math

import numpy
import pytest

import autograd.numpy as np
from autograd import grad, jacobian
from tests.special_values.table import Row, each_row

NAN, INF = numpy.nan, numpy.inf
A = numpy.array
M = A([[3.0, 1.0], [2.0, 5.0]])
T = A([[[1.0, 2.0]], [[3.0, 4.0]]])  # two blocks of one row of two
TURNED = A([[[0.0, 2.0]], [[1.0, 3.0]]])  # numbers of the places when the first and the last axis have changed places
ONES = numpy.ones
MASK = A([True, False, True])


def numbered(y):
    """``y`` times the number of each place, counted through."""
    return y * numpy.arange(float(numpy.prod(np.shape(y), dtype=int))).reshape(np.shape(y))


def beside(nothing):
    """The sum of what should be nothing, beside the sum of everything, whose gradient is 1."""
    return lambda x: np.sum(nothing(x)) + np.sum(x)


def written(make):
    """Zeros written to the first place of ``make(x)``, and all of ``x`` added up: 0 where the write reached ``x``."""

    def f(x):
        x = x * 1.0
        y = make(x)
        y[0] = 0.0
        return np.sum(x)

    return f


ORDER = "order along an axis"
AXES = "axes named from the end"
ITSELF = "an array joined with itself"
READ = "positions given in every way"
NUMBER = "a number among arrays"
MASKED = "reductions with a mask"
MOMENTS = "moments over several axes"
NANS = "what is not a number is left out"
LINES = "lines through points"
COPIES = "the same values under another name"
MADE = "arrays made of tensors"
WHOLE = "whole numbers in between"
ROLLED = "rolled and turned"
MARGINS = "margins"
NOTHING = "none of it"
EDITED = "elements put in, left out and counted"

ORDERED = [
    Row(ORDER, "sort of columns", lambda x: np.sort(x, axis=0) * A([[1, 2], [3, 4]]), M, first=[[3, 2], [1, 4]]),
    Row(ORDER, "sort of all", lambda x: np.sort(x, axis=None) * A([1, 2, 3, 4]), M, first=[[3, 1], [2, 4]]),
    Row(
        ORDER, "squares of sorted columns", lambda x: np.sort(x, axis=-2) ** 2 * A([[1, 2], [3, 4]]), M,
        first=[[18, 4], [4, 40]], second=[[6, 4], [2, 8]],
    ),
    Row(
        ORDER, "taken by argsort", lambda x: np.take_along_axis(x, np.argsort(x, axis=0), axis=0) * A([[1, 2], [3, 4]]), M,
        first=[[3, 2], [1, 4]],
    ),
    Row(ORDER, "sort of ties", lambda x: np.sort(x) * A([1, 2, 6]), A([4.0, 4.0, 4.0]), first=[3, 3, 3]),
    Row(ORDER, "partition of ties", lambda x: np.partition(x, 1) * A([1, 2, 6]), A([4.0, 4.0, 4.0]), first=[3, 3, 3]),
    Row(ORDER, "partition, last of columns", lambda x: np.partition(x, -1, axis=0)[-1], M, first=[[1, 0], [0, 1]]),
    Row(ORDER, "partition, some tie", lambda x: np.partition(x, 0)[0], A([2.0, 1.0, 1.0]), first=[0, 0.5, 0.5]),
    Row(ORDER, "median of two axes", lambda x: np.median(x, axis=(0, -1)), A([[[1.0, 4.0]], [[2.0, 8.0]]]),
        first=[[[0, 0.5]], [[0.5, 0]]]),
    Row(ORDER, "median of ties", np.median, A([2.0, 2.0, 2.0]), first=[1 / 3, 1 / 3, 1 / 3]),
    Row(ORDER, "median of one", np.median, 2.0, first=1.0),
    # Position 0.25 * 3 = 0.75, between the smallest and the second.
    Row(ORDER, "quantile between", lambda x: np.quantile(x, [0.25]), A([0.0, 20.0, 10.0, 30.0]), first=[0.25, 0, 0.75, 0]),
    Row(ORDER, "quantile in q", lambda q: np.quantile(A([0.0, 1.0, 5.0]), q), 0.75, first=8.0),  # two steps of 1/2: slope 2 * 4
    Row(ORDER, "unique of a pair", lambda x: np.unique(x) * A([1, 2]), A([3.0, 1.0, 3.0]), first=[1, 1, 1]),
    Row(ORDER, "sort of one row", lambda x: np.sort(x, axis=0), A([[2.0, 1.0]]), first=[[1, 1]]),
]  # fmt: skip

MOVED = [
    Row(AXES, "moveaxis", lambda x: numbered(np.moveaxis(x, -1, 0)), T, first=TURNED),
    Row(AXES, "moveaxis of two", lambda x: numbered(np.moveaxis(x, (0, -1), (-1, 0))), T, first=TURNED),
    Row(AXES, "rollaxis to the middle", lambda x: numbered(np.rollaxis(x, -1, 1)), T, first=[[[0, 1]], [[2, 3]]]),
    Row(AXES, "rollaxis before the last", lambda x: numbered(np.rollaxis(x, -3, -1)), T, first=[[[0, 1]], [[2, 3]]]),
    Row(AXES, "swapaxes", lambda x: numbered(np.swapaxes(x, -1, -3)), T, first=TURNED),
    Row(AXES, "transpose", lambda x: numbered(np.transpose(x, (-1, 0, 1))), T, first=TURNED),
    Row(AXES, "squares of the transpose", lambda x: x.T**2 * A([[1, 2], [3, 4]]), M, first=[[6, 6], [8, 40]],
        second=[[2, 6], [4, 8]]),
    Row(AXES, "expand_dims by a tuple", lambda x: numbered(np.expand_dims(x, (0, -1))), ONES(2), first=[0, 1]),
    Row(AXES, "squeeze by a tuple", lambda x: numbered(np.squeeze(x, (-2,))), T, first=[[[0, 1]], [[2, 3]]]),
    Row(AXES, "squeeze of no axis", lambda x: numbered(np.squeeze(x, ())), T, first=[[[0, 1]], [[2, 3]]]),
    Row(AXES, "ravel by columns", lambda x: numbered(np.ravel(x, "F")), M, first=[[0, 2], [1, 3]]),
    Row(AXES, "reshape by columns", lambda x: numbered(np.reshape(x, (4, -1), order="F")), M, first=[[0, 2], [1, 3]]),
    Row(AXES, "unstack", lambda x: np.unstack(x, axis=-1)[1] * A([1, 2]), M, first=[[0, 1], [0, 2]]),
]  # fmt: skip

TURNS = [
    Row(ROLLED, "roll along two axes", lambda x: numbered(np.roll(x, (1, 1), (0, -1))), M, first=[[3, 2], [1, 0]]),
    Row(ROLLED, "roll twice along one", lambda x: numbered(np.roll(x, (1, 1), (0, 0))), M, first=[[0, 1], [2, 3]]),
    Row(ROLLED, "two shifts, one axis", lambda x: numbered(np.roll(x, (1, 2), -1)), M, first=[[1, 0], [3, 2]]),
    Row(ROLLED, "roll through all", lambda x: numbered(np.roll(x, 1)), M, first=[[1, 2], [3, 0]]),
    Row(ROLLED, "roll backwards, far", lambda x: numbered(np.roll(x, -7)), A([1.0, 2.0, 3.0]), first=[2, 0, 1]),
    Row(ROLLED, "flip along two axes", lambda x: numbered(np.flip(x, (0, -1))), M, first=[[3, 2], [1, 0]]),
    Row(ROLLED, "flip of a number", np.flip, 2.0, first=1.0),
    # Clockwise: the rows of the result are (x10, x00) and (x11, x01).
    Row(ROLLED, "rot90 clockwise", lambda x: numbered(np.rot90(x, -1)), M, first=[[1, 3], [0, 2]]),
    Row(ROLLED, "rot90 of other axes", lambda x: numbered(np.rot90(x, 1, axes=(-1, 0))), M, first=[[1, 3], [0, 2]]),
    Row(ROLLED, "product with itself rolled", lambda x: x * np.roll(x, 1), A([1.0, 2.0, 4.0]), first=[6, 5, 3], second=[2, 2, 2]),
]  # fmt: skip


def grown(x):
    for _ in range(2):
        x = np.append(x, x.max())
    return x


JOINED = [
    Row(ITSELF, "concatenate", lambda x: np.concatenate([x, x * x, x]), A([2.0, 3.0]), first=[6, 8], second=[2, 2]),
    Row(ITSELF, "concatenate of everything", lambda x: numbered(np.concatenate([x, x], axis=None)), A([[1.0, 2.0]]),
        first=[[2, 4]]),
    Row(ITSELF, "stack behind", lambda x: np.stack([x, x], axis=-1) * A([1, 2]), A([2.0, 3.0]), first=[3, 3]),
    # The second maximum is that of the element and of the first maximum, which is the element again.
    Row(ITSELF, "append of the maximum, twice", grown, A([1.0, 3.0]), first=[1, 3]),
    Row(ITSELF, "block of numbers", lambda x: np.block([[x, x], [1.0, x * x]]), 3.0, first=8.0, second=2.0),
    Row(ITSELF, "hstack of numbers", lambda x: np.hstack([x, 1.0, x]), 2.0, first=2.0),
    Row(ITSELF, "vstack with whole numbers", lambda x: np.vstack([x, [1, 2], x]), A([2.0, 3.0]), first=[2, 2]),
    Row(ITSELF, "column_stack", lambda x: np.column_stack([x, x]) * A([1, 10]), A([2.0, 3.0]), first=[11, 11]),
    Row(ITSELF, "dstack of its rows", lambda x: np.dstack(x) * A([1, 10]), M, first=[[1, 1], [10, 10]]),
    Row(ITSELF, "r_", lambda x: np.r_[x, 0.0, x] * A([1, 2, 3, 4, 5]), A([2.0, 3.0]), first=[5, 7]),
    Row(ITSELF, "append to itself along an axis", lambda x: np.append(x, 2 * x, axis=-1), M, first=[[3, 3], [3, 3]]),
    Row(ITSELF, "array of its elements", lambda x: np.array([[x[0], x[1]], [x[0], 2.0]]) * A([[0, 1], [2, 3]]), A([2.0, 3.0]),
        first=[2, 1]),
]  # fmt: skip

READS = [
    Row(READ, "one element by two numbers", lambda x: x[[0, -3]] * A([1, 2]), ONES(3), first=[3, 0, 0]),
    Row(READ, "a column twice", lambda x: x[:, [2, 0, 2]] * A([1, 2, 3]), ONES((1, 3)), first=[[2, 0, 4]]),
    Row(READ, "rows again, backwards", lambda x: x[[0, 1, 1], ::-1][:, :1], M, first=[[0, 1], [0, 2]]),
    Row(READ, "numbers in a square", lambda x: x[A([[0, 0], [0, 1]])] ** 2, A([2.0, 3.0]), first=[12, 6], second=[6, 2]),
    Row(READ, "lists kept apart by a slice", lambda x: x[[0, 1], :, [1, 1]] * A([[1, 2], [3, 4]]), ONES((2, 2, 2)),
        first=[[[0, 1], [0, 2]], [[0, 3], [0, 4]]]),
    Row(READ, "bools in a list", lambda x: x[[True, False]], M, first=[[1, 1], [0, 0]]),
    Row(READ, "bools and a number", lambda x: x[[True, True], 1] * A([1, 2]), M, first=[[0, 1], [0, 2]]),
    Row(READ, "one bool", lambda x: x[True] ** 2, A([2.0, 3.0]), first=[4, 6], second=[2, 2]),
    Row(READ, "a mask of its own", lambda x: x[x > 0] ** 2, A([-1.0, 2.0]), first=[0, 4], second=[0, 2]),
    Row(READ, "backwards by two", lambda x: x[-1:0:-2] * A([1, 2]), ONES(4), first=[0, 2, 0, 1]),
    Row(READ, "ellipsis and a new axis", lambda x: x[..., None, [1, 1]], M, first=[[0, 2], [0, 2]]),
    Row(READ, "no element", beside(lambda x: x[[]]), ONES(2), first=[1, 1]),
    Row(READ, "of no axes", lambda x: x[()] * x[...] * x[None], A(3.0), first=27.0, second=18.0),
    Row(READ, "take, clipped", lambda x: np.take(x, [9, -9, 0], mode="clip") * A([1, 2, 4]), ONES(2), first=[6, 1]),
    Row(READ, "take, wrapped", lambda x: np.take(x, [3, -1], mode="wrap") * A([1, 2]), ONES(2), first=[0, 3]),
    Row(READ, "take of a number", lambda x: np.take(x, [[0, 0], [-1, 0]]), 2.0, first=4.0),
    Row(READ, "take of no axes", lambda x: np.take(x, [0, 0]) ** 2, A(3.0), first=12.0, second=4.0),
    Row(READ, "along no axis", lambda x: np.take_along_axis(x, A([0, 0]), axis=None) ** 2, A(3.0), first=12.0, second=4.0),
    Row(READ, "along an axis, again", lambda x: np.take_along_axis(x, A([[-1, -1]]), axis=0) * A([[1, 2]]), M,
        first=[[0, 0], [1, 2]]),
    Row(READ, "choose, wrapped", lambda x: np.choose([3, 0], [x, 2 * x], mode="wrap"), A([2.0, 3.0]), first=[2, 1]),
    Row(READ, "select, both hold", lambda x: np.select([x > 0, x > -9], [x * x, x]), A([2.0, -1.0]), first=[4, 1], second=[2, 0]),
    Row(READ, "compress, shorter", lambda x: np.compress([False, True], x, axis=-1), ONES((1, 3)), first=[[0, 1, 0]]),
]  # fmt: skip

NUMBERS = [
    Row(NUMBER, "where, chosen twice", lambda x: np.where([True, True, False], x, ONES(3)), 2.0, first=2.0),
    Row(NUMBER, "where, the other side", lambda x: np.where([True, True, False], ONES(3), x * x), 3.0, first=6.0, second=2.0),
    Row(NUMBER, "where over rows", lambda x: np.where(A([[True], [False]]), x, 0.0), ONES(3), first=[1, 1, 1]),
    Row(NUMBER, "where, an element and all", lambda x: np.where([True, True, False], x[0], x), ONES(3), first=[2, 0, 1]),
    Row(NUMBER, "where with a whole number", lambda x: np.where(x > 0, x, 0), A([-1.0, 2.0]), first=[0, 1]),
    Row(NUMBER, "select, the default", lambda x: np.select([MASK], [ONES(3)], x), 2.0, first=1.0),
    Row(NUMBER, "choose among arrays", lambda x: np.choose([0, 1, 0], [x, ONES(3)]), 2.0, first=2.0),
    Row(NUMBER, "clip, a bound", lambda x: np.clip(A([1.0, 5.0, 2.0]), x, 8.0), 3.0, first=2.0),
    Row(NUMBER, "piecewise, a constant", lambda x: np.piecewise(ONES(3), [MASK], [x, 2.0]), 3.0, first=2.0),
    Row(NUMBER, "insert into an array", lambda x: np.insert(ONES(3), [0, 2], x), 3.0, first=2.0),
]  # fmt: skip

SPREAD = math.sqrt(3.5)  # of M2: mean 3, squares 4 + 1 + 0 + 9
M2 = A([[1.0, 2.0], [3.0, 6.0]])

MASKS = [
    Row(MASKED, "mean of rows", lambda x: np.mean(x, axis=1, keepdims=True, where=[[True, False], [True, True]]), M,
        first=[[1, 0], [0.5, 0.5]]),
    Row(MASKED, "mean, a mask for all rows", lambda x: np.mean(x, where=[True, False]), M, first=[[0.5, 0], [0.5, 0]]),
    Row(MASKED, "var", lambda x: np.var(x, where=MASK), A([1.0, 5.0, 3.0]), first=[-1, 0, 1], second=[0, 0, 0]),
    Row(MASKED, "var beside NaN", lambda x: np.var(x, where=MASK), A([1.0, NAN, 3.0]), first=[-1, 0, 1]),
    Row(MASKED, "std, ddof", lambda x: np.std(x, ddof=1, where=MASK), A([1.0, 5.0, 3.0]),
        first=[-math.sqrt(0.5), 0, math.sqrt(0.5)]),
    Row(MASKED, "var, correction", lambda x: np.var(x, correction=1), A([1.0, 3.0]), first=[-2, 2]),
    Row(MASKED, "var about zero", lambda x: np.var(x, mean=0.0), A([1.0, 3.0]), first=[1, 3], second=[1, 1]),
    Row(MASKED, "max", lambda x: np.max(x, initial=-INF, where=MASK), A([1.0, 9.0, 3.0]), first=[0, 0, 1]),
    Row(MASKED, "min of nothing", lambda x: np.min(x, initial=7.0, where=False), A([1.0, 9.0]), first=[0, 0]),
    Row(MASKED, "prod beside a zero", lambda x: np.prod(x, where=MASK), A([2.0, 0.0, 3.0]), first=[3, 0, 2], second=[1, 0, 1]),
    Row(MASKED, "sum of two axes", lambda x: np.sum(x**2, axis=(0, -1), where=[True, False]), M, first=[[6, 0], [4, 0]],
        second=[[2, 0], [2, 0]]),
    Row(MASKED, "initial value, followed", lambda x: np.max([1.0, 5.0], initial=x), 9.0, first=1.0),
    Row(MASKED, "initial value, of whole numbers", lambda x: np.sum([1, 2], initial=x), 1.5, error="initial is a tensor"),
]  # fmt: skip

SEVERAL = [
    Row(MOMENTS, "var", lambda x: np.var(x, axis=(0, -1)), M2, first=[[-1, -0.5], [0, 1.5]], second=[[0, 0], [0, 0]]),
    Row(MOMENTS, "std", lambda x: np.std(x, axis=(-1, 0)), M2, first=(M2 - 3) / (4 * SPREAD)),
    Row(MOMENTS, "std of each alone", lambda x: np.std(x, axis=()), M2, first=[[0, 0], [0, 0]]),
    Row(MOMENTS, "mean", lambda x: np.mean(x, axis=(0, 1), keepdims=True) ** 2, M2, first=[[1.5, 1.5], [1.5, 1.5]],
        second=[[0.5, 0.5], [0.5, 0.5]]),
    Row(MOMENTS, "max of ties", lambda x: np.max(x, axis=(0, 1)), ONES((2, 2)), first=[[0.25, 0.25], [0.25, 0.25]]),
    # The factor that is zero sees the product of the others; two at a time, one of them the zero, see the other two.
    Row(MOMENTS, "prod with a zero", lambda x: np.prod(x, axis=(0, 1)), A([[2.0, 0.0], [3.0, 1.0]]), first=[[0, 6], [0, 0]],
        second=[[3, 11], [2, 6]]),
    Row(MOMENTS, "average in its weights", lambda w: np.average(A([1.0, 3.0]), weights=w), ONES(2), first=[-0.5, 0.5],
        second=[0.5, -0.5]),
]  # fmt: skip

GAP = A([1.0, NAN, 3.0])
LEFT_OUT = [
    Row(NANS, "nansum", np.nansum, GAP, first=[1, 0, 1]),
    Row(NANS, "nanprod", np.nanprod, A([2.0, NAN, 3.0]), first=[3, 0, 2], second=[1, 0, 1]),
    Row(NANS, "nanstd", np.nanstd, GAP, first=[-0.5, 0, 0.5]),
    Row(NANS, "nanvar, ddof", lambda x: np.nanvar(x, ddof=1), GAP, first=[-2, 0, 2], second=[0, 0, 0]),
    Row(NANS, "nanvar about its mean", lambda x: np.nanvar(x, mean=np.nanmean(x, keepdims=True)), GAP, first=[-1, 0, 1]),
    Row(NANS, "nanmax of ties", np.nanmax, A([3.0, NAN, 3.0]), first=[0.5, 0, 0.5]),
    Row(NANS, "nanmin beside inf", np.nanmin, A([INF, NAN, 3.0]), first=[0, 0, 1]),
    Row(NANS, "nanmedian", np.nanmedian, A([1.0, NAN, 3.0, 8.0]), first=[0, 0, 1, 0]),
    Row(NANS, "nanquantile", lambda x: np.nanquantile(x, 0.25), A([0.0, NAN, 4.0]), first=[0.75, 0, 0.25]),
    Row(NANS, "nancumsum", np.nancumsum, GAP, first=[3, 0, 1]),
    Row(NANS, "nancumprod", np.nancumprod, A([2.0, NAN, 3.0]), first=[5, 0, 2], second=[1, 0, 1]),  # 2x + xz
    Row(NANS, "nanmean beside a row of NaN", lambda x: np.nanmean(x, axis=1)[1], A([[NAN, NAN], [1.0, 3.0]]),
        first=[[0, 0], [0.5, 0.5]]),
    Row(NANS, "nanvar beside a row of NaN", lambda x: np.nanvar(x, axis=1)[1], A([[NAN, NAN], [1.0, 3.0]]),
        first=[[0, 0], [-1, 1]]),
    Row(NANS, "nanmedian of NaN, dropped", lambda x: np.nansum(np.nanmedian(x, axis=1)), A([[NAN, NAN], [1.0, 3.0]]),
        first=[[0, 0], [0.5, 0.5]]),
    Row(NANS, "nan_to_num", np.nan_to_num, A([NAN, 2.0, INF]), first=[0, 1, 0], float32=False),  # sums over the largest number
]  # fmt: skip

POINTS = [
    Row(LINES, "beyond the points, in heights", lambda f: np.interp([-1.0, 9.0], [0.0, 1.0], f), A([2.0, 5.0]), first=[1, 1]),
    Row(LINES, "beyond the points", lambda x: np.interp(x, [0.0, 1.0], [2.0, 5.0]), A([-1.0, 9.0]), first=[0, 0]),
    Row(LINES, "at points, to the right", lambda x: np.interp(x, [0.0, 1.0, 3.0], [0.0, 2.0, 3.0]), A([0.0, 1.0, 3.0]),
        first=[2, 0.5, 0.5]),
    Row(LINES, "at points, in heights", lambda f: np.interp([0.0, 1.0], [0.0, 1.0], f) ** 2, A([2.0, 5.0]), first=[4, 10],
        second=[2, 2]),
    # y = 2 + 4 (x - a) / (b - a); both moved together, it falls by 4 / (b - a).
    Row(LINES, "in the places", lambda p: np.interp(0.5, p, [2.0, 6.0]), A([0.0, 1.0]), first=[-2, -2], second=[-4, 4]),
    Row(LINES, "what lies to the left", lambda x: np.interp([-1.0, 0.5], [0.0, 1.0], [2.0, 5.0], left=x * x), 7.0, first=14.0,
        second=2.0),
    Row(LINES, "around a period", lambda x: np.interp(x, [0.0, 1.0], [0.0, 1.0], period=2.0), A([2.5, 1.5]), first=[1, -1]),
    Row(LINES, "around a period, in heights", lambda f: np.interp(1.75, [0.0, 1.0], f, period=2.0), A([2.0, 5.0]),
        first=[0.75, 0.25]),
    Row(LINES, "in the period", lambda p: np.interp(2.5, [0.0, 1.0], [0.0, 1.0], period=p), 2.0, first=-1.0),
    Row(LINES, "one point, in its height", lambda f: np.interp([0.0, 5.0], [1.0], f), A([3.0]), first=[2]),
    Row(LINES, "one point", lambda x: np.interp(x, [1.0], [3.0]), A([0.0, 1.0, 5.0]), first=[0, 0, 0]),
    Row(LINES, "no width", lambda f: np.interp(1.0, [0.0, 1.0, 1.0, 2.0], f), A([2.0, 3.0, 5.0, 7.0]), first=[0, 0, 1, 0]),
]  # fmt: skip

NAMED = [
    Row(COPIES, "asarray of a list", lambda x: np.asarray([x, x * x]), 3.0, first=7.0, second=2.0),
    Row(COPIES, "array with more axes", lambda x: np.array(x, ndmin=3) ** 2, A([2.0, 3.0]), first=[4, 6], second=[2, 2]),
    Row(COPIES, "asanyarray", np.asanyarray, A([2.0, 3.0]), first=[1, 1]),
    Row(COPIES, "ascontiguousarray of a number", np.ascontiguousarray, 2.0, value=[2.0], first=1.0),
    Row(COPIES, "asfortranarray of no axes", lambda x: np.asfortranarray(x) * A([1, 2]), A(2.0), first=3.0),
    Row(COPIES, "fromiter", lambda x: np.fromiter((x**k for k in range(4)), float, count=3) * A([0, 1, 2]), 3.0, first=13.0,
        second=4.0),
    Row(COPIES, "fromiter of plain ones", lambda x: x * np.fromiter(range(4), float), 3.0, first=6.0),
    Row(COPIES, "there and back in precision", lambda x: x.astype(numpy.float32).astype(float), A([2.0, 3.0]), first=[1, 1]),
    Row(COPIES, "through complex numbers", lambda x: np.real(np.astype(x, complex) ** 2), A([2.0, 3.0]), first=[4, 6],
        second=[2, 2]),
    Row(COPIES, "written to asarray", written(np.asarray), A([2.0, 3.0]), first=[0, 1]),
    Row(COPIES, "written to a copy by asarray", written(lambda x: np.asarray(x, copy=True)), A([2.0, 3.0]), first=[1, 1]),
    Row(COPIES, "written to columns of a matrix", written(np.asfortranarray), M, first=[[1, 1], [1, 1]]),
    Row(COPIES, "written to astype", written(lambda x: x.astype(float)), A([2.0, 3.0]), first=[1, 1]),
    Row(COPIES, "written to astype without a copy", written(lambda x: x.astype(float, copy=False)), A([2.0, 3.0]), first=[0, 1],
        float32=False),  # of which there would be a copy
    Row(COPIES, "written to tile", written(lambda x: np.tile(x, 1)), A([2.0, 3.0]), first=[1, 1]),
    Row(COPIES, "written to no turn", written(lambda x: np.rot90(x, 4)), M, first=[[0, 0], [1, 1]]),
    Row(COPIES, "written to no margin", written(lambda x: np.pad(x, 0, "mean")), A([2.0, 3.0]), first=[1, 1]),
    Row(COPIES, "written to a sparse grid", written(lambda x: np.meshgrid(x, sparse=True)[0]), A([2.0, 3.0]), first=[1, 1]),
]  # fmt: skip


def from_a_copy(x):
    c = np.copy(numpy.ones(3))
    c[1:] = x * x
    return c * A([1, 2, 3])


FULL = [
    Row(MADE, "full_like", lambda x: np.full_like(ONES(3), x) ** 2, 2.0, first=12.0, second=6.0),
    Row(MADE, "full_like, another shape", lambda x: np.full_like(x, x[0], shape=(2, 2)), A([2.0, 3.0]), first=[4, 0]),
    Row(MADE, "full of rows", lambda x: np.full((3, 2), x), A([2.0, 3.0]), first=[3, 3]),
    Row(MADE, "ones_like", lambda x: np.ones_like(x) * x, A([2.0, 3.0]), first=[1, 1]),
    Row(MADE, "a copy, assigned into", from_a_copy, A([2.0, 3.0]), first=[8, 18], second=[4, 6]),
    Row(MADE, "linspace, its start", lambda x: np.linspace(x, 3.0, 5), 1.0, first=2.5),
    Row(MADE, "linspace, no end", lambda x: np.linspace(x, 3.0, 5, endpoint=False), 1.0, first=3.0),  # 1 + 4/5 + ... + 1/5
    Row(MADE, "linspace, its step", lambda x: np.linspace(0.0, x, 5, retstep=True)[1], 1.0, first=0.25),
    Row(MADE, "linspace of one", lambda x: np.linspace(x, 3.0, 1), 1.0, first=1.0),
    Row(MADE, "linspace of columns", lambda x: np.linspace(0.0, x, 3, axis=-1)[:, 1], A([2.0, 4.0]), first=[0.5, 0.5]),
    Row(MADE, "logspace", lambda x: np.logspace(0.0, x, 2, base=2.0), 3.0, first=8 * math.log(2), second=8 * math.log(2) ** 2),
    Row(MADE, "logspace, its base", lambda b: np.logspace(0.0, 2.0, 3, base=b), 3.0, first=7.0, second=2.0),  # 1 + b + b^2
    Row(MADE, "geomspace", lambda x: np.geomspace(1.0, x, 3), 4.0, first=1.25, second=-1 / 32),  # 1 + x^(1/2) + x
    Row(MADE, "geomspace below zero", lambda x: np.geomspace(-1.0, x, 3), -4.0, first=1.25, second=1 / 32),
    Row(MADE, "arange", np.arange, 3.0, error="how many elements"),
    Row(MADE, "linspace of whole numbers", lambda x: np.linspace(0, x, 3, dtype=int), 4.0, error="linspace"),
]  # fmt: skip

BETWEEN = [
    Row(WHOLE, "floor", lambda x: np.floor(x) * x, A([1.5, -2.5]), first=[1, -3], second=[0, 0]),
    Row(WHOLE, "trunc", lambda x: np.trunc(x) * x, A([1.5, -2.5]), first=[1, -2]),
    Row(WHOLE, "round, half to even", lambda x: np.round(x) * x, A([2.5, 3.5, -0.5]), first=[2, 4, 0]),
    Row(WHOLE, "as int, squared", lambda x: x.astype(int) ** 2 * x, A([1.5, -2.5]), first=[1, 4]),
    Row(WHOLE, "as bool", lambda x: x.astype(bool) * x, A([0.0, -2.5]), first=[0, 1]),
    Row(WHOLE, "sign at zero", lambda x: np.sign(x) * x, A([0.0, -2.0]), first=[0, -1]),
    Row(WHOLE, "mod, in the divisor", lambda y: np.mod(A([7.0, -7.0]), y), 3.0, first=1.0),  # -2 and 3
    Row(WHOLE, "fmod, in the divisor", lambda y: np.fmod(A([7.0, -7.0]), y), A([3.0, 3.0]), first=[-2, 2]),
    Row(WHOLE, "divmod, in the divisor", lambda y: divmod(7.0, y)[1], 3.0, first=-2.0),
    Row(WHOLE, "floor division", lambda x: x // 2.0 * x, A([5.0, -5.0]), first=[2, -3]),
    Row(WHOLE, "squares of the fraction", lambda x: (x % 1.0) ** 2, 2.25, first=0.5, second=2.0),
    Row(WHOLE, "modf", lambda x: np.modf(x)[0] ** 2, A([2.25, -2.25]), first=[0.5, -0.5], second=[2, 2]),
    Row(WHOLE, "frexp", lambda x: np.frexp(x)[0], 6.0, first=0.125),
    Row(WHOLE, "heaviside, its middle", lambda h: np.heaviside(A([0.0, 1.0, 0.0]), h), 0.5, first=2.0),
]  # fmt: skip

LINE = A([1.0, 2.0, 3.0])
PADDED = [
    Row(MARGINS, "no mode", lambda x: np.pad(x, ((1, 2), (0, 1))) ** 2, M, first=[[6, 2], [4, 10]], second=[[2, 2], [2, 2]]),
    Row(MARGINS, "edge in a corner", lambda x: np.pad(x, 1, "edge"), A([[2.0]]), first=[[9]]),
    Row(MARGINS, "reflect", lambda x: np.pad(x, (1, 0), "reflect"), LINE, first=[1, 2, 1]),
    Row(MARGINS, "symmetric", lambda x: np.pad(x, (1, 0), "symmetric"), LINE, first=[2, 1, 1]),
    Row(MARGINS, "wrap", lambda x: np.pad(x, (1, 0), "wrap"), LINE, first=[1, 1, 2]),
    Row(MARGINS, "reflect, again and again", lambda x: np.pad(x, (5, 0), "reflect"), A([1.0, 2.0]), first=[3, 4]),
    Row(MARGINS, "reflect, odd", lambda x: np.pad(x, (1, 0), "reflect", reflect_type="odd"), LINE, first=[3, 0, 1]),
    Row(MARGINS, "reflect of one", lambda x: np.pad(x, 2, "reflect"), A([2.0]), first=[5]),
    Row(MARGINS, "ramp", lambda x: np.pad(x, (2, 0), "linear_ramp"), LINE, first=[1.5, 1, 1]),
    Row(MARGINS, "ramp, its end", lambda x: np.pad(LINE, (2, 0), "linear_ramp", end_values=x), 3.0, first=1.5),
    Row(MARGINS, "maximum of ties", lambda x: np.pad(x, (2, 0), "maximum"), A([2.0, 2.0]), first=[2, 2]),
    Row(MARGINS, "mean", lambda x: np.pad(x, (3, 0), "mean"), LINE, first=[2, 2, 2]),
    Row(MARGINS, "median of a few", lambda x: np.pad(x, (0, 2), "median", stat_length=1), LINE, first=[1, 1, 3]),
    Row(MARGINS, "constants, followed", lambda x: np.pad(LINE, (1, 2), constant_values=(x, 2 * x)) ** 2, 1.0, first=18.0,
        second=18.0),
    Row(MARGINS, "a constant of its own", lambda x: np.pad(x, 1, constant_values=np.sum(x)), A([2.0, 3.0]), first=[3, 3]),
]  # fmt: skip

EMPTY = {
    "tile": lambda x: np.tile(x, (0, 2)),
    "repeat": lambda x: np.repeat(x, 0),
    "repeat, each": lambda x: np.repeat(x, [0, 0]),
    "resize": lambda x: np.resize(x, (0, 3)),
    "resize of nothing": lambda x: np.resize(x[:0], (2, 2)),
    "sort": lambda x: np.sort(x[:0]),
    "product": lambda x: np.prod(x[:0]),
    "max with a start": lambda x: np.max(x[:0], initial=1.0),
    "cumsum": lambda x: np.cumsum(x[:0]),
    "concatenate": lambda x: np.concatenate([x[:0], x[:0]]),
    "more parts than elements": lambda x: np.array_split(x, 3)[2],
    "delete": lambda x: np.delete(x, [0, 1]),
    "broadcast": lambda x: np.broadcast_to(x[:1], (0, 1)),
    "linspace": lambda x: np.linspace(x, x, 0),
    "interp": lambda x: np.interp(x[:0], [0.0, 1.0], [2.0, 3.0]),
    "dot": lambda x: np.dot(x[:0], x[:0]),
    "mean of rows, none": lambda x: np.mean(np.reshape(x[:0], (0, 2)), axis=1),
    "median of rows, none": lambda x: np.median(np.reshape(x[:0], (0, 2)), axis=1),
    "where": lambda x: np.where(numpy.zeros(0, bool), x[:0], x[0]),
    "unique": lambda x: np.unique(x[:0]),
}
NONE = [Row(NOTHING, name, beside(nothing), A([2.0, 3.0]), first=[1, 1]) for name, nothing in EMPTY.items()]
NONE += [
    Row(NOTHING, "repeat, some", lambda x: np.repeat(x, [0, 2]) ** 2, A([2.0, 3.0]), first=[0, 12], second=[0, 4]),
    Row(NOTHING, "repeat by True", lambda x: np.repeat(x, True), A([2.0, 3.0]), first=[1, 1]),
    Row(NOTHING, "resize of nothing, alone", lambda x: np.resize(x[:0], 2), A([2.0, 3.0]), value=[0, 0], first=[0, 0]),
    Row(NOTHING, "resize, one and a half", lambda x: np.resize(x, 3), A([2.0, 3.0]), first=[2, 1]),
]

EDITS = [
    Row(EDITED, "insert, twice at one place", lambda x: np.insert(ONES(2), [1, 1], x) * A([1, 2, 3, 4]), A([5.0, 6.0]),
        first=[2, 3]),
    Row(EDITED, "insert of itself", lambda x: np.insert(x, 1, x[0] * x[1]), A([2.0, 3.0]), first=[4, 3], second=[1, 1]),
    Row(EDITED, "insert before every column", lambda x: np.insert(x, [0, 2], [[7], [8]], axis=1), M, first=[[1, 1], [1, 1]]),
    Row(EDITED, "delete from the end", lambda x: numbered(np.delete(x, [-1, -3])), LINE, first=[0, 0, 0]),
    Row(EDITED, "delete by a mask", lambda x: np.delete(x, MASK), LINE, first=[0, 1, 0]),
    Row(EDITED, "cut behind the end", lambda x: np.split(x, [1, 9])[1], LINE, first=[0, 1, 1]),
    Row(EDITED, "trim_zeros", lambda x: numbered(np.trim_zeros(x)), A([0.0, 1.0, 0.0, 2.0]), first=[0, 0, 1, 2]),
    Row(EDITED, "bincount, a list of weights", lambda w: np.bincount([0, 2, 2], [w[0], w[1], w[1] ** 2]), A([2.0, 3.0]),
        first=[1, 7]),
    Row(EDITED, "histogram, a list of weights", lambda w: np.histogram([1.0, 3.0, 9.0], [0.0, 2.0, 4.0], weights=[w, w**2, w])[0],
        3.0, first=7.0, second=2.0),
    Row(EDITED, "histogram, density", lambda w: np.histogram([0.5, 1.5], [0.0, 1.0, 3.0], weights=w, density=True)[0][0],
        A([1.0, 3.0]), first=[3 / 16, -1 / 16]),  # w0 / (w0 + w1)
    Row(EDITED, "cov of a row", np.cov, A([1.0, 3.0]), first=[-2, 2], second=[0, 0]),
    # r = 1/2; its slope is (y - mean) / (sx sy) - r (x - mean) / sx^2 with sx^2 = sy^2 = 2.
    Row(EDITED, "corrcoef", lambda x: np.corrcoef(x, A([1.0, 3.0, 2.0]))[0, 1], LINE, first=[-0.25, 0.5, -0.25]),
]  # fmt: skip

ALL = [
    *ORDERED, *MOVED, *TURNS, *JOINED, *READS, *NUMBERS, *MASKS, *SEVERAL, *LEFT_OUT, *POINTS, *NAMED, *FULL, *BETWEEN, *PADDED,
    *NONE, *EDITS,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Mean of empty slice:RuntimeWarning", "ignore:Degrees of freedom:RuntimeWarning",
                            "ignore:All-NaN slice:RuntimeWarning")  # fmt: skip
@each_row(ALL)
def test_special_value(row, check):
    check(row)


def test_partition_brings_each_gradient_home():
    x = numpy.random.default_rng(0).permutation(numpy.arange(2000.0))  # so many that NumPy does not simply sort them
    weights = numpy.arange(2000.0) ** 2
    of_value = numpy.zeros(2000)
    of_value[numpy.partition(x, 700).astype(int)] = weights
    assert grad(lambda x: np.sum(np.partition(x, 700) * weights))(x).tolist() == of_value[x.astype(int)].tolist()


@pytest.mark.parametrize("read", [lambda x: np.take(x, [0, 0]), lambda x: np.take_along_axis(x, A([0, 0]), axis=None)])
def test_each_read_of_no_axes_has_its_own_cotangent(read):
    assert jacobian(lambda x: read(x) * A([1.0, 2.0]))(A(3.0)).tolist() == [1, 2]
