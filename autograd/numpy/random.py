"""``numpy.random`` under the name that ``import autograd.numpy.random as npr`` asks for. Random numbers are constants."""

from __future__ import annotations

from typing import Any

import numpy.random as _random
from numpy.random import *  # noqa: F403  # the namespace is NumPy's

__all__ = list(_random.__all__)


def __getattr__(name: str) -> Any:
    return getattr(_random, name)
