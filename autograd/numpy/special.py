"""NumPy-shaped functions of the family special."""

from __future__ import annotations

__all__: list[str] = []
METHODS: tuple[str, ...] = ()
