"""The function that is checked, as questions that several methods answer.

A question has two sides: along which direction an argument moves (a column of the Jacobian), and in what combination of the
outputs the answer is read (a row). Small functions are asked every element of both; of a large one a few dense combinations of
random sign are asked, in which no element is left out.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from math import log2
from typing import Any, ClassVar

import numpy as np

from autograd.backprop import pull_back
from autograd.check.differences import SURE, Slopes, slopes
from autograd.check.rounding import Inside
from autograd.dag import plan_for
from autograd.engine import resolve
from autograd.errors import GradientError
from autograd.forward import push_forward
from autograd.tape import Tape
from autograd.tape_gradient import gradient
from autograd.tensor import Tensor

Array = np.ndarray[Any, Any]
Outputs = Callable[..., Sequence[Any]]
"""A function of the checked leaves, as they were given, to the float leaves of what it returns."""

FEW_ROWS = 5
"""From how many rows on one walk for all pays."""

MODES = ("reverse", "forward")

MOST_ROWS = 32
"""Up to how many numbers of output each is asked alone."""


class Question(ABC):
    """A function of float leaves, its derivatives by differences, and what answers are to be compared with them.

    call     the function: leaves in, the float leaves of its result out
    given    the leaves: arrays, or Python numbers, which stay such
    weights  the combination of outputs that is always asked: an array for each output leaf; random by default
    rows     whether each output is asked alone too, where they are few
    own_precision  take the leaves as they are, for a function that insists on their dtype, and not in double precision
    """

    least: ClassVar[float] = 0.01
    """What must be known of a slope below double precision, relative to the largest, where the point is rounded too."""

    together: bool = False
    """Whether the gradients of several rows come from one walk, which a rule may follow wrongly."""

    answer: str = "reverse mode"
    """Who gives the gradients, as reports say it."""

    plain: bool = True
    """Whether single, short steps may settle an answer."""

    def __init__(
        self,
        call: Outputs,
        given: Sequence[Any],
        rng: np.random.Generator,
        *,
        weights: Sequence[Any] | None = None,
        rows: bool = True,
        own_precision: bool = False,
    ) -> None:
        self._call = call
        self._python = [type(each) if type(each) in (float, complex) else None for each in given]
        self.points = [(own if own_precision else doubled)(each) for each in given]
        self.scales = [scale_of(each) for each in self.points]
        self.rng = rng
        self.outputs = self.run(self.points)
        self.eps = np.concatenate([np.full(_real(each).size, _eps(each.dtype)) for each in self.outputs] or [np.zeros(0)])
        flat = self.flat(self.outputs)
        self.finite = bool(np.isfinite(flat).all())
        if weights is not None:
            first = [np.asarray(each, np.result_type(np.asarray(each), y)) for each, y in zip(weights, self.outputs, strict=True)]
        elif flat.size == 1 and self.outputs[0].dtype.kind == "f":
            first = [np.ones(each.shape) for each in self.outputs]
        else:
            first = [self.signed(each) for each in self.outputs]
        self._weights = [np.where(np.isfinite(y), w, 0) for w, y in zip(first, self.outputs, strict=True)]
        alone = rows and 1 < flat.size <= MOST_ROWS
        self.rows = [self._weights, *self._units()] if alone else [self._weights]
        self._matrix = np.array([self._as_reals(each) for each in self.rows])
        self.finite_rows = np.array([bool(np.isfinite(flat[row != 0]).all()) for row in self._matrix])
        self.y = self._matrix @ np.where(np.isfinite(flat), flat, 0.0)
        # each part of a complex number is rounded as the whole is
        sizes = np.concatenate([np.repeat(np.abs(y).ravel(), 1 + (y.dtype.kind == "c")) for y in self.outputs] or [np.zeros(0)])
        self._magnitude = np.abs(self._matrix) @ np.where(np.isfinite(sizes), sizes, 0.0)
        with np.errstate(all="ignore"):
            self.row_eps = (np.abs(self._matrix) @ np.where(np.isfinite(sizes), sizes * self.eps, 0.0)) / self._magnitude
        self.row_eps = np.where(np.isfinite(self.row_eps), self.row_eps, np.max(self.eps, initial=0.0))
        self._own_precision = own_precision
        if own_precision:
            self._count_what_is_rounded()

    def _count_what_is_rounded(self) -> None:
        """Below double precision, moving the point rounds as the function does: by as much as it changes over its own size."""
        double = float(np.finfo(float).eps)
        eps = max(
            [float(np.finfo(each.dtype).eps) for each in self.points] + [float(np.max(self.row_eps, initial=0.0))], default=double
        )
        if eps <= double:
            return
        self.plain = False
        steps = [scale * signed(self.rng, x) for x, scale in zip(self.points, self.scales, strict=True)]
        rows = [
            self._rows_of(self.run([moved_by(x, sign * 2.0**-4 * step) for x, step in zip(self.points, steps, strict=True)]))
            for sign in (1, -1)
        ]
        change = np.nan_to_num(np.max(np.abs(np.array(rows) - self.y), axis=0) * 16, nan=0.0, posinf=0.0)
        self.row_eps = np.full(self.row_eps.shape, eps / 2)
        self._magnitude = self._magnitude + change

    # ------------------------------------------------------------------------------------------------ running

    def run(self, points: Sequence[Array]) -> list[Array]:
        """The float outputs at these points, without a tape."""
        return [np.asarray(each) for each in self._call(*self.as_given(points))]

    def as_given(self, points: Sequence[Array]) -> list[Any]:
        """Points as the function takes them: Python numbers for those that were such."""
        return [each[()] if kind is None else kind(each) for each, kind in zip(points, self._python, strict=True)]

    @staticmethod
    def flat(outputs: Sequence[Array]) -> Array:
        """All outputs as one row of real numbers, a complex one as its two parts."""
        if len(outputs) == 1:
            return _real(outputs[0])
        return np.concatenate([_real(each) for each in outputs] or [np.zeros(0)])

    def _as_reals(self, weights: Sequence[Array]) -> Array:
        """Weights as a row that multiplies ``flat``: the real part of a product is what is asked."""
        return self.flat([np.conj(each) for each in weights])

    def _units(self) -> list[list[Array]]:
        units = []
        for number, y in enumerate(self.outputs):
            for at in np.ndindex(y.shape):
                for unit in (1, -1j) if y.dtype.kind == "c" else (1,):
                    row = [np.zeros(each.shape, each.dtype) for each in self.outputs]
                    row[number][at] = unit
                    units.append(row)
        return units

    def signed(self, like: Array) -> Array:
        """Random numbers like ``like``, as ``signed`` draws them."""
        return signed(self.rng, like)

    # ------------------------------------------------------------------------------------------------ answers

    @abstractmethod
    def gradients(self, rows: Sequence[Sequence[Array]] | None = None) -> list[list[Array]]:
        """``df/dx - i df/dy`` of each row in each leaf; of other rows than the question's if given."""

    def _rows_of(self, parts: Sequence[Array]) -> Array:
        """Rows of a result; what is not finite stays in the rows that it has a weight in."""
        flat = self.flat(parts)
        if np.isfinite(flat).all():
            return np.asarray(self._matrix @ flat)
        return np.array([np.sum(np.where(row != 0, row * flat, 0.0)) for row in self._matrix])

    # ------------------------------------------------------------------------------------------------ by differences

    def along(self, number: int, direction: Array) -> Callable[[float], Array]:
        """The rows as a function of how far leaf ``number`` has moved along ``direction``."""
        points = list(self.points)

        def moved(t: float) -> Array:
            points[number] = moved_by(self.points[number], t * direction)
            return self._rows_of(self.run(points))

        return moved

    def pairs(self, number: int, directions: Sequence[Array]) -> tuple[Array, Array, float]:
        """All rows a small step up and down each direction, and the step, at which cutting off and rounding err alike."""
        step = 2.0 ** round(log2(min(max(float(np.max(self.row_eps, initial=0.0)), 1e-16), 1e-6)) / 3)
        points = list(self.points)
        x = points[number]
        ups, downs = [], []
        for direction in directions:
            shift = step * direction
            points[number] = moved_by(x, shift)
            ups.append(self.flat(self.run(points)))
            points[number] = moved_by(x, -shift)
            downs.append(self.flat(self.run(points)))
        with np.errstate(all="ignore"):
            return np.array(ups) @ self._matrix.T, np.array(downs) @ self._matrix.T, step

    def slopes(self, number: int, direction: Array, goal: Array | None, scale: Any) -> Slopes:
        """The derivative of every row along a direction in one leaf, by differences."""
        return slopes(self.along(number, direction), self.y, eps=self.row_eps, magnitude=self._magnitude, goal=goal, scale=scale)

    @property
    def sure(self) -> Array:
        """What a slope must be known to for a verdict, relative to the largest around it: less in single precision."""
        if self._own_precision:
            return np.where(self.row_eps > np.finfo(float).eps, self.least, SURE)
        return np.asarray(np.maximum(SURE, 3 * self.row_eps**0.5))

    @property
    def rounding(self) -> Array:
        """How much of each row is rounding."""
        return np.asarray(self.row_eps * self._magnitude)

    def look_inside(self) -> bool:
        """Take the rounding inside the function into account, where that can be known; whether it is more than was thought."""
        return False

    def paths(self, number: int, direction: Array) -> Array:
        """The slope of every row along a direction in one leaf, if nothing on the way cancelled; 0 where that is not known."""
        return np.zeros(len(self.rows))

    def complex_step(self, number: int, direction: Array) -> Array | None:
        """The derivative along a direction by one run at an imaginary step, which rounds nothing; None if that cannot be.

        It is right only for functions that are analytic and written so: a ``real``, ``abs`` or comparison inside spoils it. So
        its agreement proves a derivative, and its disagreement proves nothing. After W. Squire and G. Trapp, "Using complex
        variables to estimate derivatives of real functions", SIAM Review 40, 1998.
        """
        if any(each.dtype.kind == "c" for each in (*self.points, *self.outputs)):
            return None
        points = [each.astype(complex) for each in self.points]
        points[number] = points[number] + 1e-30j * direction
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", np.exceptions.ComplexWarning)  # the imaginary part is dropped somewhere
                results = [np.asarray(each) for each in self._call(*[each[()] for each in points])]
        except Exception:  # a function that refuses complex numbers, by whatever error
            return None
        if [each.shape for each in results] != [each.shape for each in self.outputs]:
            return None
        return self._rows_of([np.asarray(each).imag / 1e-30 for each in results])


class ByTape(Question):
    """A question that is answered by tape: the function runs on tensors as well as on plain arrays."""

    _tape: Tape | None = None
    _looked = False
    _inside: Inside | None = None

    def look_inside(self) -> bool:
        """Take into account how far rounding of each value on the tape moves the rows; whether that is more than was thought."""
        if self._looked:
            return False
        self._looked = True
        self._inside = Inside(self._call, self.as_given(self.points), self.rows)
        inside = self._inside.rounding() / self.row_eps
        more = bool(np.any(inside > 2 * self._magnitude))
        self._magnitude = np.maximum(self._magnitude, inside)
        return more

    def paths(self, number: int, direction: Array) -> Array:
        """The slope of every row along a direction in one leaf, if nothing on the way cancelled."""
        if self._inside is None:
            return np.zeros(len(self.rows))
        step = 2.0**-17
        points = list(self.points)
        points[number] = moved_by(points[number], step * direction)
        return self._inside.paths(self.as_given(points), step)

    def record(self) -> None:
        """Run the function on a tape, once for all that is asked of it."""
        if self._tape is None:
            with Tape(persistent=True) as tape:
                watched = [tape.watch(each) for each in self.as_given(self.points)]
                results = [resolve(each) for each in self._call(*watched)]
            self._tape, self._watched = tape, watched
            self._results = [each if type(each) is Tensor and each._tape is tape else None for each in results]

    @property
    def tracked(self) -> bool:
        """Whether any output depends on an input, as far as the tape saw."""
        self.record()
        return any(each is not None for each in self._results)

    def gradients(self, rows: Sequence[Sequence[Array]] | None = None) -> list[list[Array]]:
        """``df/dx - i df/dy`` of each row in each leaf, in reverse mode; of other rows than the question's if given."""
        self.record()
        assert self._tape is not None
        if rows is None:
            together = self._gradients_together()
            if together is not None:
                return together
        chosen = self.rows if rows is None else rows
        return [sum_of_gradients(self._tape, self._watched, self._results, weights) for weights in chosen]

    def _gradients_together(self) -> list[list[Array]] | None:
        """The rows of single outputs by one walk with a batch of cotangents; None where that does not pay, or a rule cannot."""
        if len(self.rows) < FEW_ROWS or len(self.outputs) != 1 or self._results[0] is None or self.outputs[0].dtype.kind == "c":
            return None
        tape, result = self._tape, self._results[0]
        assert tape is not None
        first = self.gradients(self.rows[:1])
        dy = np.array([weights[0] for weights in self.rows[1:]], result.dtype)
        ids = tuple(each._id for each in self._watched)
        try:
            parts = pull_back(tape, plan_for(tape, result._id, ids), result._id, dy, ids, (len(dy),))
        except Exception:  # a rule that does not follow a batch; asked one by one it says what else is wrong with it
            return None
        self.together = True
        none = [np.zeros((len(dy), *x.shape), x.dtype) for x in self.points]
        dense = [zero if each is None else np.asarray(each) for each, zero in zip(parts, none, strict=True)]
        return first + [[each[row] for each in dense] for row in range(len(dy))]

    def tangent(self, directions: Sequence[Array]) -> Array:
        """The derivative of every row along these directions, one for each leaf, in forward mode."""
        self.record()
        assert self._tape is not None
        ids = tuple(each._id for each in self._watched)
        tangents = {
            n: np.asarray(each, point.dtype)[()]
            for n, each, point in zip(ids, directions, self.points, strict=True)
            if np.any(each)
        }
        parts = []
        for result, y in zip(self._results, self.outputs, strict=True):
            part = None
            if result is not None:
                part = push_forward(self._tape, plan_for(self._tape, result._id, ids), tangents, result._id)
            parts.append(np.zeros(y.shape, y.dtype) if part is None else np.broadcast_to(np.asarray(part, y.dtype), y.shape))
        with np.errstate(invalid="ignore"):
            return self._rows_of(parts)


def sum_of_gradients(tape: Tape, watched: Sequence[Tensor], results: Sequence[Any], weights: Sequence[Array]) -> list[Array]:
    """The gradient of all results together in each watched leaf, for a cotangent of each; results off the tape add nothing."""
    total: list[Array] = [np.zeros(each.shape, each.dtype) for each in watched]
    for result, dy in zip(results, weights, strict=True):
        if type(result) is Tensor and result._tape is tape and (np.any(dy) or not np.size(dy)):  # an empty one shows if rules run
            parts = gradient(tape, result, watched, dy=np.asarray(dy).astype(result.dtype))
            total = [before + np.asarray(part) for before, part in zip(total, parts, strict=True)]
    return total


def is_float(value: Any) -> bool:
    """Whether a plain value is a float or complex number, or an array of them."""
    if type(value) is np.ndarray:
        return value.dtype.kind in "fc"
    return isinstance(value, np.ndarray | np.generic | float | complex) and np.asarray(value).dtype.kind in "fc"


def signed(rng: np.random.Generator, like: Array) -> Array:
    """Random numbers of any sign (or phase) and of size 1/2 to 3/2: no element vanishes, and no sum by chance."""
    size = rng.uniform(0.5, 1.5, like.shape)
    if like.dtype.kind == "c":
        return np.asarray(size * np.exp(1j * rng.uniform(0, 2 * np.pi, like.shape)), like.dtype)
    return np.asarray(size * rng.choice([-1.0, 1.0], like.shape), like.dtype)


def moved_by(x: Array, shift: Array) -> Array:
    """``x + shift`` in the dtype of ``x``."""
    moved = x + shift
    return moved if moved.dtype == x.dtype else moved.astype(x.dtype)


def own(leaf: Any) -> Array:
    """A point as it was given, in its own precision; read-only."""
    x = np.array(leaf)
    x.flags.writeable = False
    return x


def doubled(leaf: Any) -> Array:
    """A copy in double precision, or in its own if that is higher; read-only, so that no run can change the next."""
    x = np.array(leaf)
    x = x.astype(np.result_type(x.dtype, np.float64))
    x.flags.writeable = False
    return x


def scale_of(x: Array) -> Array:
    """How far to step in each element: as far as the element is large, and not much less than its neighbours are."""
    if not x.size or not np.isfinite(x).any():
        return np.ones(x.shape)
    sizes = np.where(np.isfinite(x), np.abs(x), 0.0)
    largest = float(np.max(sizes))
    if largest == 0:
        return np.ones(x.shape)
    rms = largest * float(np.sqrt(np.mean((sizes / largest) ** 2)))  # without overflow of the squares
    return np.maximum(sizes, 0.1 * rms)


def _real(y: Array) -> Array:
    if y.dtype.kind == "c":
        return np.ascontiguousarray(y, complex).ravel().view(float)
    return np.asarray(y, float).ravel()


def _eps(dtype: Any) -> float:
    return max(float(np.finfo(dtype).eps), float(np.finfo(float).eps))


def check_floats(given: Sequence[Any], who: str) -> None:
    """Raise GradientError if there is nothing to check."""
    if not given:
        raise GradientError(f"{who}: no argument is a float or an array of floats: nothing to check; pass x.astype(float)")
