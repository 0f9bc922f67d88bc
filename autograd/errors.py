"""The errors of the tape and the walk; the family begins in ``registry.errors``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.errors import (
    BackendError,
    GradtapeError,
    KernelError,
    KernelNotFoundError,
    OutArrayError,
    RegistrationError,
    SchemaError,
)

if TYPE_CHECKING:
    from autograd.anomaly_text import Anomaly

__all__ = [
    "AnomalyError",
    "BackendError",
    "CheckpointError",
    "GradientError",
    "GradtapeError",
    "InPlaceError",
    "KernelError",
    "KernelNotFoundError",
    "NotTrackedError",
    "OptimiserError",
    "OutArrayError",
    "RegistrationError",
    "SchemaError",
    "TapeError",
]


class TapeError(GradtapeError, RuntimeError):
    """A tape is used in a state, or from a thread, in which it cannot do what is asked."""


class GradientError(GradtapeError, ValueError):
    """A gradient cannot be computed as asked, or a gradient function returned what does not fit its operator."""


class NotTrackedError(GradtapeError, TypeError):
    """A tensor met code that the tape cannot follow: the result would be a constant without a word."""


class InPlaceError(GradtapeError, RuntimeError):
    """An array that the backward pass needs was changed after it was saved."""


class CheckpointError(GradtapeError, ValueError):
    """A file of a model or a training is damaged, is something else, or does not belong to what it is loaded into."""


class OptimiserError(GradtapeError, ValueError):
    """A setting of an optimiser, or a model, gradient or state that it was given, does not fit; nothing was changed."""


class AnomalyError(GradtapeError, ArithmeticError):
    """A kernel made NaN or inf out of finite input, inside a block of ``detect_anomaly``; ``anomaly`` says which and where."""

    def __init__(self, anomaly: Anomaly) -> None:
        super().__init__(anomaly)
        self.anomaly = anomaly
