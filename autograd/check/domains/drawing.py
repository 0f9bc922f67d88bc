"""Draw arrays, shapes and attribute values from one source of choices: hypothesis, or a plain random generator.

Everything is made of ``choose(n)``, a whole number below ``n`` of which smaller means simpler, so that a strategy made from it
shrinks well and the tables of domains need no hypothesis.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

Array = np.ndarray[Any, Any]
Interval = tuple[float, float]
T = TypeVar("T")

MOST_ELEMENTS = 12
"""Of one array: a full Jacobian by differences has to stay cheap."""

SPECIAL = (0.0, -0.0, 1.0, -1.0, 1e-300, -1e-300, 1e300, -1e300, math.inf, -math.inf, math.nan)
"""Values at which rules go wrong. Tiny ones are the least of the dtype; of huge ones the squares are still finite."""

_NDIMS = (1, 0, 2, 1, 3, 2, 2, 1)
SIDES = (1, 2, 3, 2, 3, 0, 2, 3, 4, 2)


class Draw:
    """What the tables of domains draw with. The numbers of one call all differ in size: there are no ties."""

    def __init__(self, choose: Callable[[int], int]) -> None:
        self.choose = choose
        self._used: set[float] = set()

    def pick(self, options: Sequence[T]) -> T:
        """One of the options, of which the first is the simplest."""
        return options[self.choose(len(options))] if len(options) > 1 else options[0]

    def flip(self) -> bool:
        """True or False; False is the simpler."""
        return self.choose(2) == 1

    def rarely(self, n: int = 8) -> bool:
        """True once in ``n`` times; neither end of the choices, which hypothesis tries more often than others."""
        return self.choose(n) == n // 2

    def whole(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``, both included."""
        return low + self.choose(high - low + 1)

    def shape(self, least: int = 0, most: int = 3, sides: Sequence[int] = SIDES) -> tuple[int, ...]:
        """A shape of ``least`` to ``most`` axes and at most ``MOST_ELEMENTS`` elements."""
        ndim = self.pick([each for each in _NDIMS if least <= each <= most] or [least])
        shape: list[int] = []
        for _ in range(ndim):
            left = MOST_ELEMENTS // max(math.prod(shape), 1)
            shape.append(self.pick([side for side in sides if side <= left] or [min(sides)]))
        return tuple(shape)

    def broadcastable(self, n: int, shape: tuple[int, ...] | None = None) -> list[tuple[int, ...]]:
        """``n`` shapes that broadcast to one: axes of it have length 1 in some, or are left out in front."""
        whole = self.shape() if shape is None else shape
        keeps = self.choose(n)
        return [whole if k == keeps else self._narrowed(whole) for k in range(n)]

    def _narrowed(self, whole: tuple[int, ...]) -> tuple[int, ...]:
        if not whole or self.choose(3) == 0:
            return whole
        kept = whole[self.choose(len(whole) + 1) :]
        return tuple(1 if self.choose(3) == 2 else side for side in kept)

    def numbers(self, count: int, *intervals: Interval) -> list[float]:
        """Numbers inside the intervals, no two of one size, on a grid as coarse as it may be that never meets a whole number."""
        step = 0.125
        while len(grid := _grid(step, intervals)) - 2 * len(self._used) < 3 * count:
            step /= 2
        free = [each for each in grid if abs(each) not in self._used]
        found = []
        for _ in range(count):
            each = free.pop(self.choose(len(free)))
            if -each in free:  # beside its opposite, a sum would be 0 but for rounding
                free.remove(-each)
            self._used.add(abs(each))
            found.append(each)
        return found

    def array(self, shape: tuple[int, ...], *intervals: Interval, dtype: str = "float64") -> Array:
        """An array of different numbers inside the intervals; both parts of complex ones lie in them."""
        size = math.prod(shape)
        values: Any = np.array(self.numbers(size, *intervals))
        if np.dtype(dtype).kind == "c":
            values = values + 1j * np.array(self.numbers(size, *intervals))
        x: Array = values.reshape(shape).astype(dtype)
        return x

    def integers(self, shape: tuple[int, ...], low: int, high: int) -> Array:
        """An array of whole numbers from ``low`` to ``high``, repeated ones among them."""
        return np.array([self.whole(low, high) for _ in range(math.prod(shape))], np.int64).reshape(shape)

    def mask(self, shape: tuple[int, ...]) -> Array:
        """An array of True and False; True is the simpler."""
        return np.array([not self.flip() for _ in range(math.prod(shape))], bool).reshape(shape)

    def axis(self, ndim: int, *, several: bool = False, optional: bool = False) -> Any:
        """An axis of an array, counted from either end; also a tuple of them, or None, where these may be."""
        kind = self.choose(1 + several + optional)
        if (kind == 1 and optional) or not ndim:
            return None if optional else (() if several else 0)
        if kind == 0:
            return self.whole(0, 2 * ndim - 1) - ndim if self.flip() else self.choose(ndim)
        chosen = self.several(range(ndim), self.whole(1, ndim))
        return tuple(each - ndim if self.flip() else each for each in chosen)

    def several(self, options: Sequence[T], count: int) -> list[T]:
        """``count`` of the options, each at most once, in any order."""
        rest = list(options)
        return [rest.pop(self.choose(len(rest))) for _ in range(count)]

    def index(self, shape: tuple[int, ...]) -> Any:
        """What may stand in the brackets of ``a[...]``: integers, slices, Ellipsis, None, arrays of integers, a mask."""
        if self.rarely():
            return self.mask(shape)
        front = self.choose(len(shape) + 1)
        parts: list[Any] = [self._index_of(length) for length in shape[:front]]
        if self.rarely(4):
            back = self.choose(len(shape) - front + 1)
            parts += [Ellipsis, *(self._index_of(length) for length in shape[len(shape) - back :])]
        if self.rarely(4):
            parts.insert(self.choose(len(parts) + 1), None)
        return parts[0] if len(parts) == 1 and self.flip() else tuple(parts)

    def _index_of(self, length: int) -> Any:
        kind = self.choose(4) if length else 0
        if kind == 0:
            bounds = [None, *range(-length - 1, length + 2)]
            return slice(self.pick(bounds), self.pick(bounds), self.pick((None, 1, 2, -1, -2)))
        if kind == 1:
            return self.whole(-length, length - 1)
        at = self.integers((self.whole(0, 3),) if kind == 2 else (), -length, length - 1)
        return at if at.ndim or self.flip() else at.tolist()


def special_values(draw: Draw, a: Array) -> Array:
    """The array with some of its elements replaced by ``SPECIAL`` values, or by one of its other elements."""
    x = np.array(a)
    info = np.finfo(x.dtype)
    flat = x.reshape(-1)
    for at in range(flat.size):
        if draw.choose(3) == 0:
            continue
        value = draw.pick(SPECIAL)
        if draw.rarely(4):
            value = flat[draw.choose(flat.size)]
        elif value and math.isfinite(value) and abs(value) not in (0, 1):
            value = math.copysign(float(info.tiny if abs(value) < 1 else float(info.max) ** 0.3), value)
        flat[at] = value
    return flat.reshape(x.shape)


def from_generator(rng: np.random.Generator) -> Draw:
    """A source of choices that is a plain random generator.

    >>> from_generator(np.random.default_rng(0)).array((2,), (0.0, 1.0)).shape
    (2,)
    """
    return Draw(lambda n: int(rng.integers(n)))


@lru_cache(maxsize=512)
def _grid(step: float, intervals: tuple[Interval, ...]) -> list[float]:
    """The odd multiples of half a step inside the intervals, those near 1 first."""
    points = []
    for low, high in intervals:
        first = math.ceil(low / step - 0.5)
        points += [(k + 0.5) * step for k in range(first, math.floor(high / step - 0.5) + 1)]
    return sorted(points, key=lambda each: (abs(each - 1), each))
