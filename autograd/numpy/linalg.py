"""NumPy-shaped functions of the family linalg."""

from __future__ import annotations

__all__: list[str] = []
METHODS: tuple[str, ...] = ()
