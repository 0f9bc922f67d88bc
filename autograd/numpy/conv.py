"""NumPy-shaped functions of the family conv."""

from __future__ import annotations

__all__: list[str] = []
METHODS: tuple[str, ...] = ()
