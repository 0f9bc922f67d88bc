"""The errors of the tape and the walk; the family begins in ``registry.errors``."""

from __future__ import annotations

from registry.errors import (
    BackendError,
    GradtapeError,
    KernelError,
    KernelNotFoundError,
    OutArrayError,
    RegistrationError,
    SchemaError,
)

__all__ = [
    "BackendError",
    "GradientError",
    "GradtapeError",
    "InPlaceError",
    "KernelError",
    "KernelNotFoundError",
    "NotTrackedError",
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
