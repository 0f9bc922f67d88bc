"""What layers and losses are compared with: formulas written out in NumPy, and their derivatives by an imaginary step.

``f(x + ih)`` of an analytic formula has the imaginary part ``h f'(x)``, without a difference that could cancel; so with a step of
1e-30 the derivative is exact to the last digits. A formula that compares numbers compares their real parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autograd import Tape
from autograd.check import check_gradient
from autograd.containers import flatten
from autograd.nn import named_parameters, replace, with_parameters

STEP = 1e-30


def complex_step(formula: Callable[..., Any], values: Mapping[str, Any], dy: Any) -> dict[str, Any]:
    """The gradient of ``sum(dy * formula(**values))`` in each of the arrays."""
    gradients = {}
    for name, value in values.items():
        g = np.zeros(value.shape)
        for at in np.ndindex(value.shape):
            moved = value.astype(complex)
            moved[at] += 1j * STEP
            g[at] = np.sum(dy * np.imag(formula(**{**values, name: moved}))) / STEP
        gradients[name] = g
    return gradients


def drawn(model: Any, seed: int) -> Any:
    """The model with other parameters, none of which is 0 or 1 throughout."""
    rng = np.random.default_rng(seed)
    return with_parameters(model, {name: rng.normal(size=each.shape) for name, each in named_parameters(model).items()})


def as_float32(model: Any) -> Any:
    """The layer with its parameters, and its own buffers, in single precision."""
    leaves, structure = flatten(model)
    single = structure.rebuild([each.astype(np.float32) for each in leaves])
    buffers = {name: getattr(single, name).astype(np.float32) for name in type(single).buffers}
    return replace(single, **buffers) if buffers else single


def assert_follows(model: Any, x: Any, formula: Callable[..., Any], call: Callable[..., Any]) -> None:
    """``call(model, x)`` and its gradients are those of ``formula(x=..., **parameters)``, to 1e-10; float32 stays float32."""
    parameters = named_parameters(model)
    values = {name.replace(".", "_"): each for name, each in parameters.items()} | {"x": x}
    expected = formula(**values)
    dy = np.random.default_rng(5).normal(size=np.shape(expected))
    y, gradients = value_and_gradients(call, model, x, dy)
    np.testing.assert_allclose(y, expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(call(model, x), expected, rtol=1e-10, atol=1e-12)
    slopes = complex_step(formula, values, dy)
    assert list(gradients) == [*parameters, "x"]
    for name, g in gradients.items():
        np.testing.assert_allclose(g, slopes[name.replace(".", "_")], rtol=1e-10, atol=1e-11, err_msg=name)

    y, gradients = value_and_gradients(call, as_float32(model), x.astype(np.float32), dy.astype(np.float32))
    assert y.dtype == np.float32
    for name, g in gradients.items():
        assert g.dtype == np.float32, name
        np.testing.assert_allclose(g, slopes[name.replace(".", "_")], rtol=2e-3, atol=2e-4, err_msg=name)


def value_and_gradients(call: Callable[..., Any], model: Any, x: Any, dy: Any) -> tuple[Any, dict[str, Any]]:
    """The output, and the gradient of ``sum(dy * output)`` in each parameter and in ``x``, by name."""
    with Tape() as tape:
        watched, watched_x = tape.watch((model, x))
        y = call(watched, watched_x)
    value, (g, gx) = tape.value_and_gradient(y, (watched, watched_x), dy)
    return value, {**named_parameters(g), "x": gx}


def assert_right(f: Callable[..., Any], *args: Any, order: int = 2) -> None:
    """The gradient checker finds nothing, to second order."""
    for each in range(1, order + 1):
        assert check_gradient(f, *args, order=each, allow=["vacuous"]).verdict != "vacuous" or each > 1
