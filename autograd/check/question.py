"""The function that is checked, as a question that three methods answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd.check.differences import central_difference
from autograd.check.report import Probe
from autograd.containers import flatten
from autograd.errors import GradientError
from autograd.functional import make_jvp, make_vjp

NOISE = 16.0
"""How many times the rounding error of one evaluation two answers may differ."""


class Question:
    """A function of its float leaves, in double precision, with its gradient: what ``check_gradient`` asks about."""

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], seed: int) -> None:
        self._f = f
        self._rng = np.random.default_rng(seed)
        self._leaves, self._structure = flatten(args)
        paths = [path for number, each in enumerate(args) for path in flatten(each)[1].paths(f"argument {number}")]
        self._places = [place for place, each in enumerate(self._leaves) if _has_derivative(each)]
        if not self._places:
            raise GradientError("check_gradient: no argument is a float or an array of floats: nothing to check")
        self.paths = [paths[place] for place in self._places]
        self.given = [self._leaves[place] for place in self._places]
        self.points = [_doubled(each) for each in self.given]
        first, again = self._outputs(self.points), self._outputs(self.points)
        if not all(np.array_equal(*pair, equal_nan=True) for pair in zip(first, again, strict=True)):
            raise GradientError("check_gradient: the function gives two values for one point; fix its random seed")
        single = len(first) == 1 and first[0].shape == () and first[0].dtype.kind == "f"
        self._weights = [np.ones((), first[0].dtype)] if single else [self._signed(each) for each in first]
        self._eps = max((float(np.finfo(each.dtype).eps) for each in first if each.dtype.kind in "fc"), default=0.0)
        self._magnitude = float(sum(np.sum(np.abs(w * y)) for w, y in zip(self._weights, first, strict=True)))
        self._scales = [_scale(each) for each in self.points]
        pairs = zip(self.given, self.points, strict=True)
        self._sources = [given if np.asarray(given).dtype == x.dtype else x for given, x in pairs]
        self._gradients = self._pull_back(self._sources)
        self._push: Callable[[Any], Any] | None = None

    def _call(self, *values: Any) -> Any:
        leaves = list(self._leaves)
        for place, value in zip(self._places, values, strict=True):
            leaves[place] = value
        return self._f(*self._structure.rebuild(leaves))

    def _outputs(self, points: list[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        return [np.asarray(each) for each in flatten(self._call(*[each[()] for each in points]))[0]]

    def _signed(self, like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Random numbers of any sign (or phase) and of size 1/2 to 3/2: no element vanishes, and no sum by chance."""
        size = self._rng.uniform(0.5, 1.5, like.shape)
        if like.dtype.kind == "c":
            return np.asarray(size * np.exp(1j * self._rng.uniform(0, 2 * np.pi, like.shape)), like.dtype)
        if like.dtype.kind != "f":
            return np.zeros(like.shape)
        return np.asarray(size * self._rng.choice([-1.0, 1.0], like.shape), like.dtype)

    def _pull_back(self, points: list[Any]) -> list[np.ndarray[Any, Any]]:
        pull_back, y = make_vjp(self._call, tuple(range(len(points))))(*points)
        structure = flatten(y)[1]
        weights = [each.astype(np.asarray(leaf).dtype) for each, leaf in zip(self._weights, flatten(y)[0], strict=True)]
        return [np.asarray(each) for each in pull_back(structure.rebuild(weights))]

    def directions(self, number: int, max_elements: int, n_directions: int) -> list[np.ndarray[Any, Any]]:
        """What to probe of one leaf: each element alone, or a few dense directions; in the leaf's own scale."""
        x = self.points[number]
        if x.size > max_elements:
            return [self._scales[number] * self._signed(x) for _ in range(n_directions)]
        alone = np.eye(x.size, dtype=bool).reshape(x.size, *x.shape)
        return [np.where(mask, self._scales[number] * self._signed(x), 0) for mask in alone]

    def ask(self, number: int, direction: np.ndarray[Any, Any], rtol: float, forward: bool) -> list[Probe]:
        """One probe in reverse mode, and one in forward mode, along a direction in one leaf."""
        terms = self._gradients[number] * direction
        difference = central_difference(lambda t: self._along(number, t * direction), self._eps)
        answers = [("reverse mode", float(np.sum(terms).real))]
        if forward:
            answers.append(("forward mode", self._push_forward(number, direction)))
        scale = max(abs(difference.value), _norm(terms), NOISE * difference.noise / rtol) or 1.0
        settled = difference.uncertainty <= rtol * scale
        places = np.argwhere(direction)
        where, length = self.paths[number], 1.0
        if len(places) == 1:  # then the answers shown are those of the element, not of a step as large as it is
            where += _index(tuple(places[0]))
            step = direction[tuple(places[0])]
            length = float(step) if direction.dtype.kind == "f" else float(abs(step))
        probes = []
        for how, found in answers:
            error = abs(found - difference.value) / scale if scale < np.inf else np.inf
            probes.append(Probe(where, how, found / length, difference.value / length, error, rtol, settled=settled))
        return probes

    def _along(self, number: int, shift: np.ndarray[Any, Any]) -> tuple[float, float]:
        points = list(self.points)
        points[number] = points[number] + shift
        terms = [w * y for w, y in zip(self._weights, self._outputs(points), strict=True)]
        return float(sum(np.sum(each).real for each in terms)), float(sum(np.sum(np.abs(each)) for each in terms))

    def _push_forward(self, number: int, direction: np.ndarray[Any, Any]) -> float:
        if self._push is None:
            self._push = make_jvp(self._call, tuple(range(len(self.points))))(*self._sources)
        tangents = [np.zeros_like(each) for each in self.points]
        tangents[number] = direction
        parts = flatten(self._push(tuple(tangents))[1])[0]
        return float(sum(np.sum(w * part).real for w, part in zip(self._weights, parts, strict=True)))

    def narrow(self, number: int, direction: np.ndarray[Any, Any], asked: list[Probe], rtol: float, forward: bool) -> list[Probe]:
        """Halve a direction whose answer is wrong, again and again, down to one wrong element if that can be seen."""
        while np.count_nonzero(direction) > 1:
            places = np.flatnonzero(direction)
            halves = []
            for part in (places[: len(places) // 2], places[len(places) // 2 :]):
                half = np.zeros_like(direction)
                half.flat[part] = direction.flat[part]
                halves.append((self.ask(number, half, rtol, forward), half))
            wrong = [each for each in halves if not all(probe.ok for probe in each[0])]
            if not wrong:
                break
            asked, direction = max(wrong, key=lambda each: max(probe.error for probe in each[0]))
        return asked

    def compare_precisions(self) -> list[Probe]:
        """For leaves in less than double precision: the worst element of their own gradient, against the doubles'."""
        dtypes = [np.asarray(each).dtype for each in self.given]
        if dtypes == [each.dtype for each in self.points]:
            return []
        eps = float(max(np.finfo(each).eps for each in dtypes))
        tolerance = 3 * eps**0.5
        least = eps * self._magnitude / tolerance
        probes = []
        columns = zip(self.paths, dtypes, self._scales, self._pull_back(self.given), self._gradients, strict=True)
        for path, dtype, scale, own, double in columns:
            sizes = np.abs(double) * scale
            errors = np.abs(own - double) * scale / np.maximum(np.maximum(sizes, _rms(sizes)), least or 1.0)
            worst = np.unravel_index(np.argmax(errors), errors.shape)
            found, expected = float(own[worst].real), float(double[worst].real)
            where = f"{path}{_index(worst)} as {dtype}"
            error = float(errors[worst])
            probes.append(Probe(where, "reverse mode", found, expected, error, tolerance, "double precision"))
        return probes


def _has_derivative(leaf: Any) -> bool:
    plain = isinstance(leaf, np.ndarray | np.generic | float | complex)
    return plain and np.asarray(leaf).dtype.kind in "fc" and np.size(leaf) > 0


def _doubled(leaf: Any) -> np.ndarray[Any, Any]:
    """A copy in double precision, or in its own if that is higher; read-only, so that no run can change the next."""
    x = np.array(leaf)
    x = x.astype(np.result_type(x.dtype, np.float64))
    x.flags.writeable = False
    return x


def _rms(x: np.ndarray[Any, Any]) -> float:
    return _norm(x) / float(np.sqrt(x.size))


def _norm(x: np.ndarray[Any, Any]) -> float:
    """The Euclidean norm, without overflow or underflow of the squares."""
    sizes = np.abs(x)
    largest = float(np.max(sizes))
    return largest * float(np.sqrt(np.sum((sizes / largest) ** 2))) if 0 < largest < np.inf else largest


def _scale(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """How far to step in each element: as far as the element is large, and not much less than its neighbours are."""
    rms = _rms(x)
    return np.maximum(np.abs(x), 0.1 * rms) if rms > 0 else np.ones(x.shape)


def _index(place: tuple[Any, ...]) -> str:
    return f"[{', '.join(str(int(each)) for each in place)}]" if place else ""
