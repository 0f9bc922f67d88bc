"""Kernels of ten operators that compute in float32 and nothing else.

Integers and bools become float32; float64 and complex arrays are refused, since rounding them would go unnoticed. Python's ints
and floats take the type of what they meet, and so do float64 scalars, which are Python floats and stand for them in gradients.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from registry import KernelError, OutArrayError

BACKEND = Path(__file__).with_name("backend.toml")


def add(x1: Any, x2: Any) -> Any:
    return np.add(*_float32("add", x1, x2))


def add_out(x1: Any, x2: Any, *, out: Any) -> Any:
    return _into("add.out", np.add, _float32("add.out", x1, x2), out)


def subtract(x1: Any, x2: Any) -> Any:
    return np.subtract(*_float32("subtract", x1, x2))


def multiply(x1: Any, x2: Any) -> Any:
    return np.multiply(*_float32("multiply", x1, x2))


def divide(x1: Any, x2: Any) -> Any:
    return np.divide(*_float32("divide", x1, x2))


def negative(x: Any) -> Any:
    return np.negative(*_float32("negative", x))


def exp(x: Any) -> Any:
    return np.exp(*_float32("exp", x))


def exp_out(x: Any, *, out: Any) -> Any:
    return _into("exp.out", np.exp, _float32("exp.out", x), out)


def log(x: Any) -> Any:
    return np.log(*_float32("log", x))


def tanh(x: Any) -> Any:
    return np.tanh(*_float32("tanh", x))


def sum(a: Any, *, axis: Any, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    if dtype is not None and np.dtype(dtype) != np.float32:
        raise KernelError(f"operator 'sum': got dtype={dtype!r}, expected None or float32, the one type of backend 'float32'")
    options = {name: value for name, value in (("initial", initial), ("where", where)) if value is not None}
    return np.sum(*_float32("sum", a), axis=axis, keepdims=keepdims, **options)


def matmul(x1: Any, x2: Any) -> Any:
    return np.matmul(*_float32("matmul", x1, x2))


def _float32(operator: str, *inputs: Any) -> list[Any]:
    """The inputs as float32 arrays or Python numbers; raises KernelError for what float32 cannot hold."""
    operands = []
    for each in inputs:
        if isinstance(each, float) or type(each) is int:
            operands.append(each if type(each) is int else float(each))
            continue
        array = np.asarray(each)
        if array.dtype.kind in "biu":
            array = array.astype(np.float32)
        if array.dtype != np.float32:
            raise KernelError(
                f"operator {operator!r}: got an array of dtype {array.dtype}, expected float32, the one type of backend"
                " 'float32'; convert it with astype('float32')"
            )
        operands.append(array)
    return operands


def _into(operator: str, ufunc: np.ufunc, operands: list[Any], out: Any) -> Any:
    shape = np.broadcast_shapes(*map(np.shape, operands))
    if out.shape != shape or out.dtype != np.float32:
        raise OutArrayError(
            f"operator {operator!r}: out has shape {out.shape} and dtype {out.dtype}, expected {shape} and float32, those of the"
            " result"
        )
    return ufunc(*operands, out=out)
