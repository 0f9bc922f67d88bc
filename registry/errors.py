"""The errors of gradtape: one family, each message an instruction.

A message names the operator and the input concerned, what was got, what was expected, and what to do next.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class GradtapeError(Exception):
    """Base of every error that gradtape raises on purpose."""


class SchemaError(GradtapeError, ValueError):
    """A schema text, or a value built from one, breaks a rule; says where in the text and what was expected."""

    def __init__(self, message: str, *, text: str = "", position: int | None = None, expected: str = "") -> None:
        self.text = text
        self.position = position
        self.expected = expected
        lines = [message]
        if expected:
            lines.append(f"expected: {expected}")
        if text:
            lines.append("  " + text.replace("\n", "\N{SYMBOL FOR NEWLINE}"))  # one line, so that the caret stands right
            if position is not None:
                lines.append("  " + " " * position + "^")
        super().__init__("\n".join(lines))


class RegistrationError(GradtapeError, ValueError):
    """A kernel, gradient, operator or backend cannot be registered or unregistered as asked."""


class KernelNotFoundError(GradtapeError, LookupError):
    """No kernel of that name is registered on the active backend."""


class KernelError(GradtapeError, TypeError):
    """A kernel was called with inputs or attributes that its schema does not allow, or broke its schema itself."""


class OutArrayError(KernelError, ValueError):
    """What was given to be written does not fit: no array, read-only, of another shape or dtype, or overlapping an input."""


class BackendError(GradtapeError, RuntimeError):
    """A backend is unknown, or none could be initialised."""


def close_matches(word: str, candidates: Iterable[str]) -> str:
    """The sentence that suggests near names, or "" when nothing is near.

    >>> close_matches("multipy", ["multiply", "add"])
    " Did you mean 'multiply'?"
    """
    cutoff = 0.6 if len(word) <= 5 else 0.75  # of two long words that share some letters, one is seldom meant for the other
    near = difflib.get_close_matches(word, list(dict.fromkeys(candidates)), n=3, cutoff=cutoff)
    if not near:
        return ""
    return " Did you mean " + " or ".join(repr(name) for name in near) + "?"
