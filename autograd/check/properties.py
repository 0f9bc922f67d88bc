"""What holds for every call of an operator, wherever it is differentiable: memory, shapes and dtypes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autograd.check.calls import Call
from autograd.check.layouts import laid_out, layout_of, source
from autograd.containers import flatten
from autograd.engine import binding_of, call_kernel, run
from autograd.errors import GradtapeError
from autograd.functional import make_vjp

Array = np.ndarray[Any, Any]


def call_faults(name: str, inputs: Sequence[Any], attrs: Mapping[str, Any] | None = None) -> list[str]:
    """What is wrong with one call of an operator, apart from the numbers of its gradient; an empty list if nothing is.

    Value and gradients are the same for inputs of any memory layout as for contiguous copies, to rounding; a gradient has the
    shape and dtype of its input; neither kernel nor rule changes an input or an attribute, or leaves one locked. What the kernel
    raises is raised, and what says that there is no derivative at this point.

    >>> call_faults("sum", [np.ones((2, 3)).T], {"axis": 0})
    []
    """
    call = Call(name, tuple(inputs), dict(attrs or {}))
    plain = call.map(lambda x: np.array(x, order="C"))
    faults = _changed_by_kernel(call)
    before = _snapshot(call)
    try:
        value, gradients = value_and_gradients(call)
    except (GradtapeError, np.linalg.LinAlgError):  # there is no derivative here, and the rule or LAPACK says so
        raise
    except Exception as error:
        return [f"its gradient raises {type(error).__name__}: {error} (inputs: {_layouts(call)})"]
    finally:
        faults += _changes(before)
    places = list(differentiable(call))
    for (place, x), gradient in zip(places, gradients, strict=True):
        faults += _form_faults(f"the gradient in {place}", gradient, x)
    if not _all_plain(call):
        value_there, gradients_there = value_and_gradients(plain)
        faults += _differences("the value", value, value_there, _layouts(call))
        for (place, _), here, there in zip(places, gradients, gradients_there, strict=True):
            faults += _differences(f"the gradient in {place}", [here], [there], _layouts(call))
    return faults


def differentiable(call: Call) -> list[tuple[str, Any]]:
    """The float and complex inputs of a call, those in lists too, each with its name."""
    found: list[tuple[str, Any]] = []
    for name, value in zip(call.input_names(), call.inputs, strict=True):
        parts = [(f"{name}[{k}]", each) for k, each in enumerate(value)] if isinstance(value, list) else [(name, value)]
        found += [(place, each) for place, each in parts if each is not None and np.asarray(each).dtype.kind in "fc"]
    return found


def value_and_gradients(call: Call, seed: int = 0) -> tuple[list[Array], list[Any]]:
    """The outputs of a call on the active backend, and the gradients of their sum with random weights in its float inputs."""
    rng = np.random.default_rng(seed)
    attrs, structure = call.all_attrs(), flatten([list(call.inputs)])[1]
    leaves = flatten([list(call.inputs)])[0]
    at = [k for k, each in enumerate(leaves) if each is not None and np.asarray(each).dtype.kind in "fc"]

    def f(*values: Any) -> Any:
        whole = list(leaves)
        for k, value in zip(at, values, strict=True):
            whole[k] = value
        return run(call.name, structure.rebuild(whole)[0], attrs)

    if not at:
        return [np.asarray(each) for each in _outputs(f())], []
    pull_back, y = make_vjp(f, tuple(range(len(at))))(*[leaves[k] for k in at])
    outputs = [np.asarray(each) for each in _outputs(y)]
    weights = [_weights(rng, each) for each in outputs]
    if not any(each.dtype.kind in "fc" for each in outputs):
        return outputs, [np.zeros_like(leaves[k]) for k in at]
    return outputs, list(pull_back(flatten(y)[1].rebuild(weights)))


def _outputs(y: Any) -> list[Any]:
    return list(y) if isinstance(y, tuple | list) else [y]


def _weights(rng: np.random.Generator, y: Array) -> Array:
    weights: Any = rng.uniform(0.5, 1.5, y.shape) * rng.choice([-1.0, 1.0], y.shape)
    if y.dtype.kind == "c":
        weights = weights + 1j * rng.uniform(0.5, 1.5, y.shape)
    return np.asarray(weights, y.dtype if y.dtype.kind in "fc" else float)


def _form_faults(what: str, found: Any, like: Any) -> list[str]:
    faults = []
    if np.shape(found) != np.shape(like):
        faults.append(f"{what} has shape {np.shape(found)}, expected {np.shape(like)}, the shape of the input")
    dtype = np.asarray(found).dtype
    if not isinstance(like, float | complex) or isinstance(like, np.generic):
        expected = np.asarray(like).dtype
        if dtype != expected:
            faults.append(f"{what} has dtype {dtype}, expected {expected}, the dtype of the input")
    return faults


def _differences(what: str, found: Sequence[Any], expected: Sequence[Any], layouts: str) -> list[str]:
    for here, there in zip(map(np.asarray, found), map(np.asarray, expected), strict=True):
        where = f"{what} for {layouts} inputs"
        if (here.shape, here.dtype) != (there.shape, there.dtype):
            return [f"{where} is {here.dtype}{list(here.shape)}, that for contiguous copies {there.dtype}{list(there.shape)}"]
        gap = largest_gap(here, there)
        if gap > 1:
            return [f"{where} differs from that for contiguous copies by up to {gap:.1e} times the tolerance"]
    return []


def largest_gap(found: Array, expected: Array, rtol: float | None = None) -> float:
    """The largest difference of two arrays over the tolerance: by dtype, relative to the largest finite element expected.

    Equal infinities do not differ, nor do two NaNs; an infinity or a NaN against a number is infinitely far away.

    >>> largest_gap(np.array([1.0, np.nan]), np.array([1.0, np.nan]))
    0.0
    """
    if not expected.size:
        return 0.0
    if expected.dtype.kind not in "fc":
        return 0.0 if np.array_equal(found, expected) else np.inf
    tolerance = tolerance_of(found.dtype, expected.dtype) if rtol is None else rtol
    with np.errstate(all="ignore"):
        same = (found == expected) | (np.isnan(found) & np.isnan(expected))
        finite = np.isfinite(expected)
        scale = float(np.max(np.abs(expected), where=finite, initial=0.0)) or 1.0
        gaps = np.where(same, 0.0, np.abs(found - expected) / (scale * tolerance))
    gaps = np.where(np.isfinite(gaps), gaps, np.inf)
    return float(np.max(gaps))


def tolerance_of(*dtypes: np.dtype[Any]) -> float:
    """How far two results may differ, relative to their size: two thirds of the digits of the least precise dtype."""
    return float(max(float(np.finfo(each).eps) for each in dtypes if each.kind in "fc") ** (2 / 3))


def _snapshot(call: Call) -> list[tuple[str, Array, bytes, bool]]:
    arrays: list[tuple[str, Any]] = [(f"input {n}", x) for n, x in zip(call.input_names(), call.inputs, strict=True)]
    arrays += [(f"attribute {n}", x) for n, x in call.attrs.items()]
    flat = [(name, each) for name, x in arrays for each in (x if isinstance(x, list | tuple) else [x])]
    return [(name, x, x.tobytes(), bool(x.flags.writeable)) for name, x in flat if isinstance(x, np.ndarray)]


def _changed_by_kernel(call: Call) -> list[str]:
    """What the kernel alone changes, of copies in the same layouts; on a tape it could not: there its inputs are read-only."""
    copies = call.map(lambda x: laid_out(x, layout_of(x)))
    before = _snapshot(copies)
    call_kernel(binding_of(call.name), list(copies.inputs), copies.all_attrs())
    return _changes(before)


def _changes(before: list[tuple[str, Array, bytes, bool]]) -> list[str]:
    faults = []
    for name, x, was, writeable in before:
        if x.tobytes() != was:
            faults.append(f"{name} was changed in place, to {source(x)}")
        if bool(x.flags.writeable) != writeable:
            faults.append(f"{name} was left {'locked' if writeable else 'writeable'}")
    return faults


def _all_plain(call: Call) -> bool:
    return all(not isinstance(x, np.ndarray) or layout_of(x) == "C" for x in call.leaves())


def _layouts(call: Call) -> str:
    return ", ".join(dict.fromkeys(layout_of(x) for x in call.leaves() if isinstance(x, np.ndarray)))
