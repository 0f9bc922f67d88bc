"""What several tests of the command line need: modules of a user's in the current folder, and a second backend."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest

from registry.backends import register_backend, remove_backend
from registry.gradients import unregister_gradient
from registry.kernels import (
    KernelConfig,
    copy_registered_kernels,
    get_kernels_for_backend,
    register_kernel,
    unregister_kernel,
)
from registry.operators import undeclare

MODULE = """
import math
import numpy
import autograd.numpy as np

START = {"w": numpy.array([1.5, -0.5]), "n": 3}

def loss(w, x=numpy.array([0.5, -1.0, 2.0]), n=2):
    return np.sum((w * x) ** n)

def square(x=3.0, *, scale=2.0): return scale * x * x
def kink(x=0.0): return abs(x)
def constant(x): return np.floor(x) * 1.0
def constant_on_vectors(x): return np.sum(x * x) * (x.ndim - 1.0)
def hot(): return 1.0
def setting(n=3): return float(n)
def of_number(x): return np.exp(x) if x > 0 else -x
def sine(x): return np.sin(x)
def of_vector(x): return x[0] * x[1] * x[2] if x.ndim == 1 else 1 / 0
def of_matrix(a): return np.sum(a[:, 0] * a[:, 1])
def of_square(a): return np.linalg.det(a)
def logarithm(x): return np.sum(np.log(x))
def several(*xs): return np.sum(xs[0] * xs[1])
def by_name(x, *, y): return np.sum(x * y)
def of_dict(p): return np.sum(p["w"] ** p["n"])
def tagged(p): return np.sum(p["w"] ** 2)
def tagged_alone(x): return x ** 3
tagged.check_at = ({"w": numpy.array([2.0])},)
tagged_alone.check_at = 2.0
def off_tape(x): return x * x if isinstance(x, float) else math.sin(x)
def noisy(x): return x * numpy.random.default_rng().normal()
def chatty(x): print("I am run"); return x * x
def near_the_edge(x=-1e-9):
    if x > 0: raise ValueError("only up to 0")
    return x * x

class Model:
    def __init__(self, power): self.power = power
    def __call__(self, x): return np.sum(x ** self.power)
    @staticmethod
    def energy(x): return np.sum(x * x)

model = Model(3)
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty current folder, of whose modules nothing stays imported; and Python's path as an installed command has it."""
    before = set(sys.modules)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each not in ("", str(tmp_path))])
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def functions(here):
    """The functions above, in a module of the current folder."""
    (here / "of_mine.py").write_text(MODULE)


@pytest.fixture
def wrong_cube(here):
    """A module whose operator has a wrong rule, and a function that uses it."""
    (here / "cubes.py").write_text(
        "import autograd.numpy as np\n"
        "from autograd import operators as op\n"
        "from registry import gradient, operator\n\n"
        'operator("cube_of(Tensor x) -> Tensor", lambda x: x**3)\n\n\n'
        '@gradient("cube_of", inputs_to_save=("x",), elementwise=True)\n'
        "def cube_of(dy, saved, attrs):\n"
        "    (x,) = saved\n"
        '    return {"x": lambda: dy * 2 * x**2}\n\n\n'
        "def total(x):\n"
        "    return np.sum(op.cube_of(x) * 2.0)\n"
    )
    yield
    unregister_gradient("cube_of")
    unregister_kernel("cube_of", "numpy")
    undeclare("cube_of")


@pytest.fixture
def twin():
    """A backend with every kernel of NumPy's but one, whose ``sin`` is 1% too large."""
    copy_registered_kernels("numpy", "twin")
    register_backend("twin", object)
    unregister_kernel("tanh", "twin")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        register_kernel(KernelConfig("sin", "twin", lambda x: np.sin(x) * np.array(1.01, np.asarray(x).dtype)), override=True)
    yield
    remove_backend("twin")
    for config in get_kernels_for_backend("twin"):
        unregister_kernel(config.kernel_name, "twin")
