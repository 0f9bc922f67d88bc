"""How a random program takes a step that multiplies: products, convolutions, linear algebra."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from autograd.check.programs.arrays import APART, has_elements, is_matrix
from autograd.check.programs.drawing import Drawing
from autograd.check.programs.elementwise import Move, is_moderate

WELL_CONDITIONED = 15.0
"""The largest condition number of a matrix that is inverted or factored."""

GAP = 0.25
"""How far apart eigenvalues and singular values are, and from zero where that matters."""


def _operand(d: Drawing, shape: tuple[int, ...], like: str, kinds: str = "f") -> str:
    """A value of that shape, or a constant."""
    return d.find(lambda v: v.shape == shape, kinds) or d.constant(d.numbers(shape), like=like)


# ------------------------------------------------------------------------------------------------------- products


def _matmul(d: Drawing) -> str | None:
    name = d.find(has_elements, "fc")
    if name is None:
        return None
    n = d.value(name).shape[-1]
    second = d.find(lambda v: has_elements(v) and v.ndim <= 2 and v.shape[-2:][0] == n, "fc")
    return d.add("matmul", name, second or _operand(d, d.one_of((n, 2), (n,)), name))


def _dot(d: Drawing) -> str | None:
    name = d.find(lambda v: v.ndim <= 2 and v.size > 0, "fc")
    if name is None:
        return None
    shape = d.value(name).shape
    if not shape:
        return d.add("dot", name, d.find(kinds="fc") or name)
    n = shape[-1]
    second = d.find(lambda v: v.ndim in (1, 2) and v.shape[-2:][0] == n, "fc")
    return d.add("dot", name, second or _operand(d, d.one_of((n,), (n, 2)), name))


def _tensordot(d: Drawing) -> str | None:
    name = d.find(lambda v: has_elements(v) and v.ndim <= 3, "fc")
    if name is None:
        return None
    shape = d.value(name).shape
    axis = d.pick(len(shape))
    second = d.find(lambda v: has_elements(v) and v.shape[0] == shape[axis], "fc") or _operand(d, (shape[axis], 2), name)
    axes = d.one_of(((axis,), (0,)), 0) if d.value(second).ndim <= 2 else ((axis,), (0,))
    return d.add("tensordot", name, second, axes=axes)


PAIRS = ("ij,ij->ij", "ij,ij->", "ij,ij->i", "ij,ij->j", "ij,ij->ji", "...j,...j->...")
ONE = ("ij->ji", "ij->i", "ij->", "...j->...", "ij->j")


def _einsum(d: Drawing) -> str | None:
    name = d.find(is_matrix, "fc")
    if name is None:
        first = d.find(lambda v: v.ndim == 1 and v.size, "fc")
        second = d.find(lambda v: v.ndim == 1 and v.size, "fc")
        return first and second and d.add("einsum", (first, second), subscripts="i,j->ij")
    shape = d.value(name).shape
    kind = d.pick(4)
    if kind == 0:
        return d.add("einsum", (name, _operand(d, shape, name, "fc")), subscripts=d.one_of(*PAIRS))
    if kind == 1:
        return d.add("einsum", (name,), subscripts=d.one_of(*ONE, *(["ii->", "ii->i"] if shape[0] == shape[1] else [])))
    second = _operand(d, (shape[1], 2), name, "fc")
    if kind == 2:
        return d.add("einsum", (name, second), subscripts=d.one_of("ij,jk->ik", "ij,jk->ki", "ij,jk->k"))
    return d.add("einsum", (name, second, name), subscripts="ij,jk,ij->ik")


def _convolve(d: Drawing) -> str | None:
    name = d.find(lambda v: v.ndim == 1 and v.size)
    second = name and (d.find(lambda v: v.ndim == 1 and v.size) or d.constant(d.numbers((2,)), like=name))
    return name and second and d.add("convolve", name, second, mode=d.one_of("full", "valid"))


def _as_image(d: Drawing) -> str | None:
    """A matrix as a batch of one image of one channel."""
    name = d.find(is_matrix)
    if name is None:
        return None
    rows, columns = d.value(name).shape
    return d.add("reshape", name, shape=(1, 1, rows, columns))


def _conv2d(d: Drawing) -> str | None:
    image = _as_image(d)
    if image is None:
        return None
    weights = d.constant(d.numbers((d.one_of(1, 2), 1, 2, 2)), like=image)
    filters = d.find(lambda v: is_matrix(v) and max(v.shape) <= 3)
    if filters is not None and d.flip():
        weights = d.add("reshape", filters, shape=(1, 1, *d.value(filters).shape)) or weights
    return d.add("conv2d", image, weights, padding=2, stride=d.one_of(1, 2), dilation=d.one_of(1, 1, 2))


def _pool(operator: str, d: Drawing) -> str | None:
    image = _as_image(d)
    if image is None or min(d.value(image).shape[2:]) < 2:
        return None
    if operator == "max_pool2d" and not d.far(np.diff(np.sort(d.value(image), axis=None)) >= APART):
        return None
    return d.add(operator, image, kernel_size=2, stride=d.one_of(1, 2), padding=d.pick(2))


# ------------------------------------------------------------------------------------------------- linear algebra


def _is_square(v: Any) -> bool:
    return bool(is_matrix(v) and v.shape[0] == v.shape[1] and v.shape[0] <= 4)


def _is_invertible(v: Any) -> bool:
    if not _is_square(v):
        return False
    s = np.linalg.svd(v, compute_uv=False)
    return bool(s[-1] >= GAP and s[0] <= WELL_CONDITIONED * s[-1])


def _square(d: Drawing) -> str | None:
    """A square matrix with no large elements: one that is there, or other elements in a square, or an outer product."""
    name = d.find(lambda v: _is_square(v) and is_moderate(v))
    if name is not None:
        return name
    name = d.find(lambda v: v.size in (4, 9) and is_moderate(v))
    if name is not None:
        n = round(d.value(name).size ** 0.5)
        return d.add("reshape", name, shape=(n, n))
    name = d.find(lambda v: v.ndim == 1 and v.size in (2, 3) and bool(np.all(np.abs(v) <= 1.5)))
    return name and d.add("einsum", (name, name), subscripts="i,j->ij")


def _invertible(d: Drawing) -> str | None:
    name = d.find(_is_invertible, "fc")
    if name is None:
        square = _square(d)
        name = square and d.add("add", square, d.constant(4.0 * np.eye(len(d.value(square))), like=square))
    return name if name and _is_invertible(d.value(name)) else None


def _symmetric(d: Drawing) -> str | None:
    """A sum with the transpose, and so symmetric wherever the inputs move; with separate eigenvalues."""
    square = _square(d)
    turned = square and d.add("transpose", square)
    name = turned and square and d.add("add", square, turned)
    if name and not _separate(np.linalg.eigvalsh(d.value(name))):
        steps = np.diag(3.0 * np.arange(len(d.value(name))))
        name = d.add("add", name, d.constant(steps, like=name))
    return name if name and _separate(np.linalg.eigvalsh(d.value(name))) else None


def _separate(values: Any) -> bool:
    return bool(np.all(np.abs(np.diff(values)) >= GAP))


def _of_invertible(operator: str, d: Drawing) -> str | None:
    name = _invertible(d)
    return name and d.add_step(operator, (name,), {}, hidden=(0,) if operator == "slogdet" else ())


def _solve(d: Drawing) -> str | None:
    name = _invertible(d)
    if name is None:
        return None
    n = len(d.value(name))
    return d.add("solve", name, _operand(d, d.one_of((n,), (n, 2), (n, 1)), name, "fc"))


def _cholesky(d: Drawing) -> str | None:
    square = _square(d)
    turned = square and d.add("transpose", square)
    product = turned and square and d.add("matmul", square, turned)
    name = product and d.add("add", product, d.constant(1.5 * np.eye(len(d.value(product))), like=product))
    return name and d.add("cholesky", name)


def _eigvalsh(d: Drawing) -> str | None:
    name = _symmetric(d)
    return name and d.add("eigvalsh", name, UPLO=d.one_of("L", "U"))


def _eigh(d: Drawing) -> str | None:
    """Of the eigenvectors, whose signs are the kernel's choice, only their squares are used."""
    name = _symmetric(d)
    if name is None or d.add_step("eigh", (name,), {}, hidden=(1,)) is None:
        return None
    return d.add("square", d.outputs()[1])


def _full_rank(d: Drawing) -> str | None:
    """A matrix with separate singular values, all well above zero."""

    def test(v: Any) -> bool:
        if not is_matrix(v) or max(v.shape) > 4:
            return False
        s = np.linalg.svd(v, compute_uv=False)
        return bool(s[-1] >= GAP and s[0] <= WELL_CONDITIONED * s[-1] and _separate(s))

    name = d.find(test)
    if name is None:
        name = d.find(lambda v: is_matrix(v) and is_moderate(v) and max(v.shape) <= 4)
        if name is not None:
            added = np.zeros(d.value(name).shape)
            np.fill_diagonal(added, [4.0, 7.0, 10.0, 13.0])
            name = d.add("add", name, d.constant(added, like=name))
    return name if name and test(d.value(name)) else None


def _svd(d: Drawing) -> str | None:
    name = _full_rank(d)
    if name is None or d.add_step("svd", (name,), {"full_matrices": False}, hidden=(0, 2)) is None:
        return None
    u, _, vh = d.outputs()
    return d.add("square", d.one_of(u, vh))


def _qr(d: Drawing) -> str | None:
    name = _full_rank(d)
    if name is None or d.value(name).shape[0] < d.value(name).shape[1] or d.add_step("qr", (name,), {}, hidden=(0, 1)) is None:
        return None
    return d.add("square", d.one_of(*d.outputs()))


def _of_full_rank(operator: str, d: Drawing) -> str | None:
    name = _full_rank(d)
    return name and d.add(operator, name)


MOVES: dict[str, Move] = {
    "matmul": _matmul,
    "dot": _dot,
    "tensordot": _tensordot,
    "einsum": _einsum,
    "convolve": _convolve,
    "conv2d": _conv2d,
    "max_pool2d": partial(_pool, "max_pool2d"),
    "avg_pool2d": partial(_pool, "avg_pool2d"),
    **{name: partial(_of_invertible, name) for name in ("inv", "det", "slogdet", "cofactors")},
    "solve": _solve,
    "cholesky": _cholesky,
    "eigvalsh": _eigvalsh,
    "eigh": _eigh,
    "svdvals": partial(_of_full_rank, "svdvals"),
    "svd": _svd,
    "qr": _qr,
    "pinv": partial(_of_full_rank, "pinv"),
}
"""One way to draw a step for each operator."""
