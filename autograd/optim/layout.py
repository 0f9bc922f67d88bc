"""``Layout``: how the arrays of a model are worked through, so that an update costs few calls and hardly any memory.

A NumPy call costs a third of a microsecond before it does anything, and an array that does not fit the cache is read from memory
by each call anew. So small parameters are gathered into one vector, on which each operation is one call, and what comes out is
subtracted from each of them; large ones are worked through in blocks that fit the cache, in place, without being gathered. Either
way an optimiser sees vectors of real numbers: a complex number counts as two, after its gradient has been conjugated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from autograd.errors import OptimiserError
from autograd.optim.leaves import Array, Leaves, dtype_of

LARGE = 4096
"""Parameters of so many numbers are not gathered."""

BLOCK = 16384
"""How many numbers are worked through at a time. A step with 8192 takes a tenth longer; with 32768 about as long."""

N_VECTORS = 5
"""The parameters, their gradient, what is to be subtracted, and two for intermediate results."""

N_NUMBERS = 8
"""How many numbers of a step there may be."""


class Moments(dict[str, Array]):
    """What is remembered of each parameter: views of vectors, which is why none can be replaced; copies are plain dicts."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        return dict, (dict(self),)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise OptimiserError(
            "the arrays of a state cannot be replaced; write into them, as state['sum']['w'][...] = 0, or change a copy of the"
            " state"
        )

    __setitem__ = __delitem__ = update = pop = popitem = clear = setdefault = __ior__ = _refuse


class _Workspace:
    """Vectors for what is computed in one precision, and the numbers of the step in it."""

    def __init__(self, dtype: np.dtype[Any], size: int) -> None:
        self.vectors = [np.zeros(size, dtype) for _ in range(N_VECTORS)]
        self.numbers = np.zeros(N_NUMBERS, dtype)
        self.each_number = [self.numbers[n : n + 1].reshape(()) for n in range(N_NUMBERS)]
        """An operand of this dtype costs half of a Python number."""


class _Piece:
    """Parameters that are worked through together.

    numbers      their positions among the leaves
    parameters   small parameters themselves; of a large one the block
    block        where the block begins and ends; None for small ones
    """

    __slots__ = (
        "all_leaves", "block", "changes", "imaginary", "into_g", "into_p", "moments", "numbers", "parameters", "vectors",
        "workspace",
    )  # fmt: skip

    def __init__(self, numbers: list[int], parameters: list[Any], block: slice | None, moments: Sequence[Array]) -> None:
        self.numbers = numbers
        self.parameters = parameters
        self.block = block
        self.moments = tuple(moments)

    def settle(self, workspace: _Workspace, dtype: np.dtype[Any], n_leaves: int) -> None:
        """Take as much of the vectors of a workspace as is needed, and name the parts of them."""
        width = _width(dtype)
        shapes = [np.shape(parameter) for parameter in self.parameters] if self.block is None else []
        self.workspace = workspace
        self.vectors = [vector[: self.size(dtype)] for vector in workspace.vectors]
        p, g, a = self.vectors[:3]
        self.into_p: Array = p.view(dtype)
        self.into_g: Array = g.view(dtype)
        self.imaginary = g[1::2] if width == 2 else None
        ends = np.cumsum([width * int(np.prod(shape)) for shape in shapes]).tolist()
        self.changes = [_shaped(a[start:end], dtype, shape) for start, end, shape in zip([0, *ends], ends, shapes, strict=False)]
        self.all_leaves = self.numbers == list(range(n_leaves))

    def size(self, dtype: np.dtype[Any]) -> int:
        """How many real numbers these parameters are; a block of a complex one is of real numbers already."""
        if self.block is not None:
            return int(self.parameters[0].size)
        return _width(dtype) * sum(int(np.size(parameter)) for parameter in self.parameters)


class Layout(Leaves):
    """The leaves of one model, the moments of its optimiser, and the order in which they are worked through."""

    def __init__(self, who: str, model: Any, moment_names: tuple[str, ...]) -> None:
        super().__init__(who, model)
        self.moment_names = moment_names
        self._pieces: list[_Piece] = []
        self._ordered: dict[int, Array] = {}
        by_number: dict[int, list[Array]] = {}
        for dtype in dict.fromkeys(dtype_of(self.values[number]) for number in self.trained):
            by_number |= self._arrange(dtype, [number for number in self.trained if dtype_of(self.values[number]) == dtype])
        self._is_gathered = len(self._pieces) == 1 and self._pieces[0].block is None
        self.moments = {
            moment: Moments({self.names[number]: by_number[number][place] for number in self.trained})
            for place, moment in enumerate(moment_names)
        }

    def _arrange(self, dtype: np.dtype[Any], numbers: list[int]) -> dict[int, list[Array]]:
        """Make the pieces of all parameters of one dtype, small ones first; returns the moments of each."""
        computed = _computed_in(dtype)
        real = np.zeros((), computed).real.dtype
        small = [number for number in numbers if not _is_large(self.values[number])]
        numbers = small + [number for number in numbers if number not in small]
        sizes = [_width(dtype) * int(np.size(self.values[number])) for number in numbers]
        ends = np.cumsum(sizes).tolist()
        moments = [np.zeros(ends[-1], real) for _ in self.moment_names]
        pieces = []
        first = start = 0
        for place, (number, size, end) in enumerate(zip(numbers, sizes, ends, strict=True)):
            if place >= len(small):
                flat = self.values[number].reshape(-1).view(real)
                for begin in range(0, size, BLOCK):
                    block = slice(begin, min(begin + BLOCK, size))
                    of_block = [each[end - size + block.start : end - size + block.stop] for each in moments]
                    pieces.append(_Piece([number], [flat[block]], block, of_block))
            elif place + 1 == len(small) or ends[place + 1] - start > BLOCK:
                together = numbers[first : place + 1]
                pieces.append(_Piece(together, [self.values[n] for n in together], None, [each[start:end] for each in moments]))
                first, start = place + 1, end
        workspace = _Workspace(real, max(piece.size(computed) for piece in pieces))
        for piece in pieces:
            piece.settle(workspace, computed, len(self.values))
        self._pieces += pieces
        return {
            number: [_shaped(each[end - size : end], computed, np.shape(self.values[number])) for each in moments]
            for number, size, end in zip(numbers, sizes, ends, strict=True)
        }

    def take_over(self, state: Mapping[str, Any]) -> None:
        """Copy the moments of a state. Raises OptimiserError if they are not those of this model."""
        for moment, by_name in self.moments.items():
            given = state[moment]
            if not isinstance(given, Mapping) or set(given) != set(by_name):
                got = list(given) if isinstance(given, Mapping) else type(given).__name__
                raise OptimiserError(
                    f"{self.who}: the state is that of another model: it has {moment!r} for {got}, expected {list(by_name)}; make"
                    " it with init(model)"
                )
            for name, own in by_name.items():
                if np.shape(given[name]) != own.shape:
                    raise OptimiserError(
                        f"{self.who}: the state is that of another model: {moment!r} of {name} has shape {np.shape(given[name])},"
                        f" expected {own.shape}; make it with init(model)"
                    )
        for moment, by_name in self.moments.items():
            for name, own in by_name.items():
                own[...] = state[moment][name]

    def holds(self, model: Any, state: Mapping[str, Any]) -> bool:
        """Whether this is the layout of this very model and state: the same arrays."""
        return self.are_those_of(model) and all(state[moment] is own for moment, own in self.moments.items())

    def subtract(
        self, change: Callable[..., None], numbers: Sequence[float], gradients: list[Any], reads_parameters: bool
    ) -> None:
        """Subtract from every parameter what ``change(p, g, a, b, d, numbers, *moments)`` leaves in ``a``."""
        if not self._is_gathered:
            self.check_kinds(gradients)
        filled: Any = None
        line: Any = None
        for piece in self._pieces:
            workspace = piece.workspace
            if workspace is not filled:
                filled, own = workspace, workspace.numbers
                for place, value in enumerate(numbers):
                    own[place] = value
            p, g, a, b, d = piece.vectors
            if piece.block is not None:
                if piece.block.start == 0:
                    line = self._in_line(piece.numbers[0], gradients[piece.numbers[0]])
                g = self._block_of(line, piece)
                p = piece.parameters[0]
                change(p, g, a, b, d, workspace.each_number, *piece.moments)
                np.subtract(p, a, p)
                continue
            try:
                self._gather(gradients if piece.all_leaves else [gradients[number] for number in piece.numbers], piece)
            except TypeError:  # nothing has been changed: this piece is the only one
                self.check_kinds(gradients)
                raise
            if reads_parameters:
                np.concatenate(piece.parameters, None, piece.into_p)
            change(p, g, a, b, d, workspace.each_number, *piece.moments)
            self._scatter(piece)

    def _gather(self, gradients: list[Any], piece: _Piece) -> None:
        if np.concatenate([each.ravel() for each in gradients], 0, piece.into_g) is not piece.into_g:
            raise TypeError("there are tensors among the gradients")
        if piece.imaginary is not None:
            np.negative(piece.imaginary, piece.imaginary)

    def _in_line(self, number: int, gradient: Array) -> Array:
        """The gradient of a large parameter as one line; by a copy if its numbers lie in another order, as in a transpose."""
        if not gradient.flags.c_contiguous:
            ordered = self._ordered.get(number)
            if ordered is None:
                ordered = self._ordered[number] = np.empty(gradient.shape, self.values[number].dtype)
            ordered[...] = gradient
            gradient = ordered
        return gradient.reshape(-1)

    def _block_of(self, line: Array, piece: _Piece) -> Array:
        """The gradient of a block: a view where it can be used as it is, or else a copy."""
        assert piece.block is not None
        if piece.imaginary is None and line.dtype == piece.into_g.dtype:
            return line[piece.block]
        width = _width(piece.into_g.dtype)
        self._gather([line[piece.block.start // width : piece.block.stop // width]], piece)
        return piece.vectors[1]

    def _scatter(self, piece: _Piece) -> None:
        subtract = np.subtract
        if self.in_place:
            for parameter, change in zip(piece.parameters, piece.changes):
                subtract(parameter, change, parameter)
            return
        for place, (number, change) in enumerate(zip(piece.numbers, piece.changes, strict=True)):
            value = self.values[number]
            if isinstance(value, np.ndarray):
                subtract(value, change, value)
            else:
                self.values[number] = piece.parameters[place] = type(value)(value - change[()])


def _is_large(value: Any) -> bool:
    return (
        isinstance(value, np.ndarray)
        and value.size >= LARGE
        and value.flags.c_contiguous
        and _computed_in(value.dtype) == value.dtype
    )


def _computed_in(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """At least float32, in which Adam's 1e-8 is not 0, in the byte order of the machine."""
    return np.dtype(np.float32) if dtype.kind == "f" and dtype.itemsize == 2 else dtype.newbyteorder("=")


def _width(dtype: np.dtype[Any]) -> int:
    return 2 if dtype.kind == "c" else 1


def _shaped(part: Array, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """A part of a vector of real numbers as an array of a parameter's shape."""
    return (part.view(dtype) if dtype.kind == "c" else part).reshape(shape)
