"""Functions and derivatives that are not ours, as a question: any callable on arrays, and a derivative written by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd.check.differences import Slopes, mixed_slope, noise_of
from autograd.check.gradient import fresh
from autograd.check.question import Question
from autograd.containers import flatten

Array = np.ndarray[Any, Any]

MOST_VECTORS = 8
"""Up to how many elements a Hessian is asked column by column: each number of it takes forty runs of the function."""


class Misshapen(Exception):
    """A derivative has not the shape that it must have."""

    def __init__(self, found: str, expected: str, values: Any = None) -> None:
        super().__init__(f"found {found}, expected {expected}")
        self.values = values


class Plain:
    """A function of any library: the float leaves of ``x`` in, as new arrays of their own dtype; those of ``f(x)`` out."""

    def __init__(self, f: Callable[..., Any], x: Any, args: tuple[Any, ...]) -> None:
        self._f = f
        self._args = args
        self.leaves, self.structure = flatten(as_array(x) if type(x) is list else x)
        self.leaves = [plain(each) for each in self.leaves]
        self.places = [place for place, each in enumerate(self.leaves) if _kind(each) in ("f", "c") and np.size(each)]
        self.given = [self.leaves[place] for place in self.places]
        paths = self.structure.paths()
        self.steps = [paths[place] for place in self.places]
        self.paths = [f"x{each}" for each in self.steps]
        self.output_steps: list[str] = []
        self.outputs: list[str] = []
        self._output_places: list[int] = []
        self.shapes: list[tuple[int, ...]] = []
        self.refused: str | None = None

    def rebuilt(self, values: Sequence[Any]) -> Any:
        """``x`` with these values for its float leaves."""
        leaves = list(self.leaves)
        for place, value, given in zip(self.places, values, self.given, strict=True):
            leaves[place] = value if type(given) in (float, complex) else _like(given, value)
        return self.structure.rebuild(leaves)

    def arguments(self) -> list[Any]:
        """The further arguments; a random generator among them in the state in which it was given."""
        return [fresh(each) for each in self._args]

    def __call__(self, *values: Any) -> list[Any]:
        try:
            y = self._f(self.rebuilt(values), *self.arguments())
        except (ArithmeticError, ValueError) as error:
            complex_step = any(_kind(value) == "c" != _kind(x) for value, x in zip(values, self.given, strict=True))
            if not self.shapes or complex_step:
                raise
            self.refused = f"{type(error).__name__}: {error}"  # outside its domain it is not finite
            return [np.full(shape, np.nan) for shape in self.shapes]
        leaves, structure = flatten(as_array(y))
        leaves = [plain(each) for each in leaves]
        if not self.shapes:
            self._output_places = [place for place, each in enumerate(leaves) if _kind(each) in ("f", "c")]
            paths = structure.paths()
            self.output_steps = [paths[place] for place in self._output_places]
            self.outputs = [f"output{each}" for each in self.output_steps]
        floats = [leaves[place] for place in self._output_places]
        self.shapes = [np.shape(each) for each in floats]
        return floats


def plain(leaf: Any) -> Any:
    """Any library's array as NumPy's; everything else as it is."""
    if isinstance(leaf, np.ndarray | np.generic) or not hasattr(leaf, "__array__"):
        return leaf.toarray() if hasattr(leaf, "toarray") else leaf
    return np.asarray(leaf)


def as_array(value: Any) -> Any:
    """A list or tuple of plain numbers, also nested, as the array that it stands for; everything else as it is."""
    if type(value) not in (list, tuple) or not value or not _of_numbers(value):
        return value
    try:
        return np.array(value)
    except ValueError:  # rows of different lengths: a container
        return value


def _of_numbers(value: Any) -> bool:
    if type(value) in (list, tuple):
        return all(_of_numbers(each) for each in value)
    return isinstance(value, int | float | complex | np.number)


def _kind(leaf: Any) -> str:
    return np.asarray(leaf).dtype.kind if isinstance(leaf, np.ndarray | np.generic | float | complex) else ""


def _like(given: Any, value: Any) -> Any:
    """A new array (or scalar) of the dtype that was given; complex where the step is."""
    dtype = np.asarray(given).dtype
    values = np.asarray(value)
    if values.dtype.kind == "c" and dtype.kind != "c":
        dtype = np.result_type(dtype, np.complex64)
    copied = np.array(values, dtype=dtype)
    return copied if isinstance(given, np.ndarray) else copied[()]


class ByHand(Question):
    """A plain function, and a derivative that somebody wrote: ``blocks`` of it, for each output leaf and each input leaf."""

    def __init__(self, call: Plain, df: Callable[..., Any], name: str, kind: str, rng: np.random.Generator) -> None:
        super().__init__(call, call.given, rng, own_precision=True)
        self.answer = name
        self.function = call
        self.df = df
        self.kind = kind

    def blocks(self) -> list[list[Array]]:
        """The derivative as its author gives it, of each output leaf in each input leaf; raises Misshapen."""
        call = self.function
        found = self.df(call.rebuilt(self.as_given(self.points)), *call.arguments())
        if self.kind == "gradient":
            return [self.gradient_leaves(found, self.outputs[0].shape)]
        if call.output_steps == call.steps == [""]:
            return [[_checked(found, self.outputs[0].shape + self.points[0].shape, "x")]]
        leaves = _by_path(found, [out + path for out in call.output_steps for path in call.steps])
        return [
            [
                _checked(leaves[out + path], y.shape + x.shape, f"output{out} by x{path}")
                for path, x in zip(call.steps, self.points, strict=True)
            ]
            for out, y in zip(call.output_steps, self.outputs, strict=True)
        ]

    def gradient_leaves(self, found: Any, before: tuple[int, ...] = ()) -> list[Array]:
        """What is of the structure of ``x``, as an array for each float leaf, with axes of length one ``before`` its own."""
        call = self.function
        if call.structure.is_leaf:
            return [_checked(found, self.points[0].shape, "x").reshape(before + self.points[0].shape)]
        leaves = _by_path(found, call.steps)
        return [
            _checked(leaves[path], x.shape, f"x{path}").reshape(before + x.shape)
            for path, x in zip(call.steps, self.points, strict=True)
        ]

    def gradients(self, rows: Sequence[Sequence[Array]] | None = None) -> list[list[Array]]:
        """Each row of outputs times the derivative."""
        blocks = self.blocks()
        answers = []
        for weights in self.rows if rows is None else rows:
            total = []
            for leaf, x in enumerate(self.points):
                with np.errstate(invalid="ignore"):
                    parts = [
                        np.tensordot(w[w != 0], block[leaf][w != 0], axes=1)  # without zeros: they make NaN of inf
                        for w, block in zip(weights, blocks, strict=True)
                    ]
                summed = np.asarray(sum(parts))
                total.append(summed.real if x.dtype.kind == "f" else summed.astype(np.result_type(x.dtype, summed.dtype)))
            answers.append(total)
        return answers


def _by_path(found: Any, expected: Sequence[str]) -> dict[str, Any]:
    """The leaves of a container by their paths: some libraries sort the keys of a dictionary."""
    leaves, structure = flatten(found)
    named = dict(zip(structure.paths(), leaves, strict=True))
    missing = [each for each in expected if each not in named]
    if missing:
        raise Misshapen(f"a container of {', '.join(named) or 'nothing'}", f"one of {', '.join(expected)}")
    return named


def _checked(found: Any, shape: tuple[int, ...], where: str) -> Array:
    values = np.asarray(plain(as_array(found)))
    if values.dtype.kind not in "biufc":
        raise Misshapen(f"{type(found).__name__} for {where}", f"an array of shape {shape}")
    if values.shape != shape:
        raise Misshapen(f"shape {values.shape} for {where}", f"shape {shape}", values)
    return values if values.dtype.kind in "fc" else values.astype(float)


class Curvature(ByHand):
    """A plain function of one real number, and the product of its Hessian with a vector; a row is a vector, not an output."""

    plain = False
    least = 0.05

    def __init__(self, call: Plain, df: Callable[..., Any], name: str, rng: np.random.Generator, n_vectors: int) -> None:
        super().__init__(call, df, name, "hessian_vector_product", rng)
        self._error = float(np.max(self.rounding, initial=0.0))
        size = sum(each.size for each in self.points)
        mixed = [[scale * self.signed(x) for x, scale in zip(self.points, self.scales, strict=True)] for _ in range(n_vectors)]
        self.by_element = 1 < size <= MOST_VECTORS
        self.rows = (
            [mixed[0], *self._elements()]
            if self.by_element
            else mixed
            if size > 1
            else [[np.ones(x.shape, x.dtype) for x in self.points]]
        )
        self._lengths = np.array([self._length(each) for each in self.rows])
        self.finite_rows = np.full(len(self.rows), self.finite)
        self.row_eps = np.full(len(self.rows), float(self.row_eps[0]))
        self._y = float(self.y[0])
        self._error = max(self._error, float(noise_of(lambda t: np.array([self._at(mixed[0], t)]), self.y[:1])[0]))
        self.vectors = [
            f"d/d{path}{list(map(int, at)) if at else ''}"
            for path, x in zip(call.paths, self.points, strict=True)
            for at in np.ndindex(x.shape)
        ]

    def _elements(self) -> list[list[Array]]:
        units = []
        for number, x in enumerate(self.points):
            for at in np.ndindex(x.shape):
                unit = [np.zeros(each.shape, each.dtype) for each in self.points]
                unit[number][at] = 1
                units.append(unit)
        return units

    def _length(self, vector: Sequence[Array]) -> float:
        """How far to go along a vector: for one element, as far as that is large."""
        if sum(int(np.count_nonzero(each)) for each in vector) > 1:
            return 1.0
        return float(sum(np.sum(scale * each) for scale, each in zip(self.scales, vector, strict=True)))

    def _at(self, vector: Sequence[Array], t: float) -> float:
        return float(self.flat(self.run([x + t * each for x, each in zip(self.points, vector, strict=True)]))[0])

    def gradients(self, rows: Sequence[Sequence[Array]] | None = None) -> list[list[Array]]:
        """The product with each vector."""
        call = self.function
        x = self.as_given(self.points)
        answers = []
        for vector in self.rows if rows is None else rows:
            found = self.df(call.rebuilt(x), call.rebuilt(self.as_given(vector)), *call.arguments())
            answers.append(self.gradient_leaves(found))
        return answers

    def slopes(self, number: int, direction: Array, goal: Array | None, scale: Any) -> Slopes:
        """The second derivative along a direction in one leaf and along each vector, by differences of the function."""
        column = []
        for vector, length in zip(self.rows, self._lengths, strict=True):

            def moved(s: float, t: float, vector: Sequence[Array] = vector, length: float = float(length)) -> float:
                points = [x + t * length * each for x, each in zip(self.points, vector, strict=True)]
                points[number] = points[number] + s * direction
                return float(self.flat(self.run(points))[0])

            column.append(mixed_slope(moved, self._y, self._error))
        fields = [np.array([getattr(each, name) for each in column]) for name in Slopes.__slots__]
        numbers = [each / self._lengths if each.dtype.kind == "f" else each for each in fields]
        return Slopes(*numbers)

    def complex_step(self, number: int, direction: Array) -> Array | None:
        """None: an imaginary step gives first derivatives."""
        return None
