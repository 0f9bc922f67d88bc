"""A program while it is drawn: its values so far, at the inputs and beside them, and which further step is accepted.

Each step runs at the inputs and at two neighbours of them when it is drawn. So a value whose size, slope or curvature would
spoil a check by differences is never part of a program.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from autograd.check.programs.program import Constant, Program, Source, Step

Pick = Callable[[int], int]
"""Where all chance comes from: ``pick(n)`` is one of 0, ..., n - 1, and 0 is the simplest."""


class Choices(NamedTuple):
    """The chance of a whole program: ``branch()`` is a ``Pick`` for one part, ``more()`` whether another step is tried.

    Parts that take one choice each, however much they pick, can be left out one by one when a program is made smaller.
    """

    pick: Pick
    branch: Callable[[], Pick]
    more: Callable[[], bool]


Test = Callable[[Any], bool]

STEP = 2.0**-10
"""How far the two neighbours of the inputs are from them."""

LARGEST = 50.0
"""No value, and no slope of a value along the line of the neighbours, is larger."""

LARGEST_CURVATURE = 500.0

SMALLEST_SLOPE = 1e-3
"""A value that changes less along that line counts as constant, and is not accepted."""

LARGEST_ROUNDING = 1e-4
"""How far a value in single precision may be from the same in double precision."""

LARGEST_SIZE = 24
LARGEST_NDIM = 4

SHAPES: tuple[tuple[int, ...], ...] = (
    *((), (3,), (2, 3), (3, 3), (2, 2), (4,), (1,), (3, 1), (1, 3), (2, 1, 3), (2, 3, 2), (1, 1)),
    *((3,), (2, 3), (3, 3), (2, 2), (4,), (1, 2, 3, 2), (5,), (0,), (2, 0)),
)
"""Shapes of sources, simplest first. The common ones come twice; the last two are empty, and never that of the first source."""


def is_anything(v: Any) -> bool:
    """The test that every value passes."""
    return True


class Drawing:
    """The program so far. ``pool`` names the values that a step may use, ``unused`` those that none has used yet."""

    def __init__(self, choices: Choices, max_operators: int, dtypes: tuple[str, ...], smooth: bool) -> None:
        self.pick = pick = choices.pick
        self.smooth = smooth
        self.room = max_operators
        self.pool: list[str] = []
        self.unused: dict[str, None] = {}
        self._points: dict[str, tuple[Any, ...]] = {}
        self._sources: list[Source] = []
        self._constants: list[Constant] = []
        self._steps: list[Step] = []
        self._inputs: list[Any] = []
        chosen = [np.dtype(dtypes[pick(len(dtypes))]) for _ in range(1 + pick(3))]
        self._single = any(np.finfo(each).bits < 64 for each in chosen)
        self._n_points = 1 + 2 * smooth + self._single  # the inputs in double precision, their neighbours, the inputs as they are
        for number, dtype in enumerate(chosen):
            shapes = SHAPES if number else SHAPES[:-2]
            shape = shapes[pick(len(shapes))]
            self.pick = choices.branch()
            self._add_source(dtype, shape)
        self.pick = pick

    def _add_source(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
        x = self.numbers(shape)
        if dtype.kind == "c":
            x = x + 1j * self.numbers(shape)
        own = np.asarray(x, dtype)
        x = np.asarray(own, x.dtype)
        shift = STEP * _direction(len(self._sources), x)
        neighbours = [x + shift, x - shift] if self.smooth else []
        name = f"x{len(self._sources)}"
        self._sources.append(Source(name, shape, dtype.name))
        self._inputs.append(own)
        self._points[name] = (x, *neighbours, *([own] if self._single else []))
        self._offer(name)

    def _offer(self, name: str) -> None:
        self.pool.append(name)
        self.unused[name] = None

    # ------------------------------------------------------------------------------------------------ choices

    def flip(self) -> bool:
        """Heads or tails; False is the simpler."""
        return bool(self.pick(2))

    def one_of(self, *choices: Any) -> Any:
        """One of these; the first is the simplest."""
        return choices[self.pick(len(choices))]

    def number(self) -> float:
        """A number of size 0.2 to 2."""
        return (self.pick(181) + 20) / (-100 if self.flip() else 100)

    def numbers(self, shape: tuple[int, ...]) -> Any:
        """Numbers of two decimals between -2 and 2; where kinks are wanted, of five values alone, so that some are equal."""
        parts, halves = (401, 100) if self.smooth else (5, 1)
        return np.array([(self.pick(parts) - parts // 2) / halves for _ in range(int(np.prod(shape)))]).reshape(shape)

    def mask(self, shape: tuple[int, ...]) -> Any:
        """An array of bools."""
        return np.array([not self.flip() for _ in range(int(np.prod(shape)))], bool).reshape(shape)

    def axis(self, v: Any) -> int:
        """An axis of a value that has one, counted from either end."""
        return self.pick(int(v.ndim)) - int(v.ndim) * self.pick(2)

    def axes(self, v: Any) -> int | tuple[int, ...] | None:
        """All axes, or one, or two."""
        kind = self.pick(3) if v.ndim else 0
        if kind == 2 and v.ndim > 1:
            first = self.pick(v.ndim)
            return (first, (first + 1 + self.pick(v.ndim - 1)) % v.ndim - v.ndim)
        return self.axis(v) if kind else None

    # ------------------------------------------------------------------------------------------------ values

    def value(self, name: str) -> Any:
        """The value of that name at the inputs, in double precision."""
        return np.asarray(self._points[name][0])

    def find(self, test: Test = is_anything, kinds: str = "f") -> str | None:
        """The name of a value that passes the test, of a dtype of these kinds; None if there is none."""
        for names in (list(self.unused), self.pool) if self.pick(5) else (self.pool,):
            start = self.pick(len(names)) if names else 0
            for at in range(len(names)):
                name = names[start - at]
                v = self.value(name)
                if v.dtype.kind in kinds and test(v):
                    return name
        return None

    def far(self, condition: Any) -> bool:
        """Whether a value is far from a kink everywhere; where kinks are wanted, it always is."""
        return not self.smooth or bool(np.all(condition))

    def constant(self, value: Any, like: str | None = None) -> str:
        """The name of a new constant; an array in the precision of the value named ``like``."""
        if isinstance(value, np.ndarray):
            if like is not None and value.dtype == np.float64 and np.asarray(self._points[like][-1]).dtype == np.float32:
                value = value.astype(np.float32)
            value.flags.writeable = False
        name = f"c{len(self._constants)}"
        self._constants.append(Constant(name, value))
        self._points[name] = (value,) * self._n_points
        return name

    # ------------------------------------------------------------------------------------------------ steps

    def add(self, operator: str, *inputs: str | tuple[str, ...], **attrs: Any) -> str | None:
        """Run an operator as the next step: the name of its first output, or None if the step is not accepted."""
        return self.add_step(operator, inputs, attrs)

    def add_step(
        self,
        operator: str,
        inputs: tuple[str | tuple[str, ...], ...],
        attrs: dict[str, Any],
        *,
        named: tuple[tuple[str, str], ...] = (),
        hidden: tuple[int, ...] = (),
    ) -> str | None:
        """What ``add`` does, with more to say.

        named    inputs that the operator takes by keyword alone
        hidden   positions of outputs that no later step may find, for their slope is zero, or is what it is only up to a
                 choice of the kernel's. The caller may use them: ``outputs`` tells their names.
        """
        if not self.room:
            return None
        step = Step((), operator, inputs, tuple(attrs.items()), named)
        read = set(step.names_read())
        columns = [step.run({name: self._points[name][at] for name in read}) for at in range(self._n_points)]
        rows = list(zip(*columns, strict=True))
        if not all(self._accepts(row, number in hidden) for number, row in enumerate(rows)):
            return None
        first = sum(len(each.outputs) for each in self._steps)
        step = replace(step, outputs=tuple(f"v{first + at}" for at in range(len(rows))))
        self._steps.append(step)
        self.room -= 1
        for name in read:
            self.unused.pop(name, None)
        for number, (name, row) in enumerate(zip(step.outputs, rows, strict=True)):
            self._points[name] = row
            if number not in hidden:
                self._offer(name)
        return step.outputs[0]

    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs of the latest step."""
        return self._steps[-1].outputs

    def _accepts(self, row: tuple[Any, ...], hidden: bool) -> bool:
        """Whether a value is of a size, slope and curvature that differences can follow."""
        points = [np.asarray(each) for each in row]
        y = points[0]
        if y.dtype.kind not in "fc" or y.size > LARGEST_SIZE or y.ndim > LARGEST_NDIM:
            return False
        if not y.size:
            return True
        if not np.max(np.abs(y)) <= LARGEST:  # written so that NaN is not accepted either
            return False
        if self._single and not np.max(np.abs(points[-1] - y)) <= LARGEST_ROUNDING:
            return False
        if not self.smooth:
            return True
        slope, curvature = _slope_and_curvature(*points[:3])
        return slope <= LARGEST and curvature <= LARGEST_CURVATURE and (hidden or slope >= SMALLEST_SLOPE)

    # ------------------------------------------------------------------------------------------------ the end

    def finish(self) -> tuple[Program, tuple[Any, ...]] | None:
        """The program and its inputs; None if it has no step, or if an input moves its results too far.

        It returns its last value and some of those that no step uses, and each input that would else move nothing. What
        does not reach a result is left out, but for some programs.
        """
        if not self._steps:
            return None
        last = self.pool[-1]
        others = [name for name in self.unused if name != last and name.startswith("v")]
        results = [last, *others[: self.pick(5)]]
        steps = self._steps if self.pick(5) == 4 else _reaching(results, self._steps)
        read = {name for step in steps for name in step.names_read()}
        constants = tuple(each for each in self._constants if each.name in read)
        program = Program(tuple(self._sources), constants, tuple(steps), tuple(results))
        if self.smooth:
            silent = self._silent_sources(program)
            if silent is None:
                return None
            program = replace(program, results=tuple(dict.fromkeys([*results, *silent])))
        return program, tuple(self._inputs)

    def _silent_sources(self, program: Program) -> list[str] | None:
        """The sources that move no result of a program, each moved alone; None if one moves them too far."""
        silent = []
        points = [self._points[each.name][0] for each in self._sources]
        y = _parts(program(*points))
        for number, (source, x) in enumerate(zip(self._sources, points, strict=True)):
            if not x.size:
                continue
            shift = STEP * _direction(number, x)
            near = [_parts(program(*points[:number], moved, *points[number + 1 :])) for moved in (x + shift, x - shift)]
            found = [_slope_and_curvature(*each) for each in zip(y, *near, strict=True) if each[0].size]
            slope = max((each[0] for each in found), default=0.0)
            curvature = max((each[1] for each in found), default=0.0)
            if slope > LARGEST or curvature > LARGEST_CURVATURE:
                return None
            if slope < SMALLEST_SLOPE:
                silent.append(source.name)
        return silent


def _reaching(results: list[str], steps: list[Step]) -> list[Step]:
    """The steps that a result depends on."""
    needed = set(results)
    kept = []
    for step in reversed(steps):
        if needed.intersection(step.outputs):
            needed.update(step.names_read())
            kept.append(step)
    return kept[::-1]


def _direction(number: int, x: Any) -> Any:
    """Which way one source moves, always the same: no element stays, and none moves as its neighbours do."""
    rng = np.random.default_rng(number)
    size = rng.uniform(0.5, 1.5, x.shape) * rng.choice([-1.0, 1.0], x.shape)
    return size * np.exp(1j * rng.uniform(0, 6, x.shape)) if x.dtype.kind == "c" else size


def _slope_and_curvature(y: Any, above: Any, below: Any) -> tuple[float, float]:
    slope = float(np.max(np.abs(above - below))) / (2 * STEP)
    return slope, float(np.max(np.abs(above - y + (below - y)))) / STEP**2


def _parts(y: Any) -> list[Any]:
    return [np.asarray(each) for each in (y if isinstance(y, tuple) else (y,))]
