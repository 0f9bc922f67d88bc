"""Small modules with kernels, as a package with a backend has one, and a look at all that loading may change."""

from __future__ import annotations

import textwrap
from types import ModuleType

from autograd import operators as op
from registry import backends, gradients, kernels, operators

TINY = {"backend": "tiny", "namespace": "tiny_backend"}


def module_of(text, name="tiny_backend"):
    """A module with this text."""
    module = ModuleType(name)
    exec(textwrap.dedent("import numpy as np\n") + textwrap.dedent(text), vars(module))
    return module


FUNCTIONS = {
    "exp": "def exp(x): log.append('exp'); return np.exp(x)",
    "exp_out": "def exp_out(x, *, out): log.append('exp_out'); return np.exp(x, out=out)",
    "multiply": "def multiply(x1, x2): log.append('multiply'); return np.multiply(x1, x2)",
}


def module_with(*names, log=None):
    """A module with some of these kernels, which note in ``log`` that they run."""
    module = module_of("\n".join(FUNCTIONS[name] for name in names))
    module.log = [] if log is None else log
    return module


SWISH = "swish(Tensor x) -> Tensor"
SWISH_MODULE = """
from registry import GradConfig

def swish(x):
    return x / (1 + np.exp(-x))

def _rule(dy, saved, attrs):
    (x,) = saved
    s = 1 / (1 + op.exp(-x))
    return {"x": lambda: dy * s * (1 + x * (1 - s))}

GRADIENTS = [GradConfig("swish", _rule, inputs_to_save=("x",), elementwise=True)]
"""


def swish_module():
    module = module_of(SWISH_MODULE)
    module.op = op
    return module


def everything():
    """Every table that loading may change."""
    return (
        {(name, each): id(config) for name, table in kernels._kernels.items() for each, config in table.items()},
        {name: id(config) for name, config in gradients._gradients.items()},
        dict(operators._schemas),
        set(operators._inferred),
        dict(backends._factories),
        dict(kernels.live_backends),
    )
