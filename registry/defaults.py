"""Default texts of a schema as Python values: `[0,1]` is `(0, 1)`, `mean` is `"mean"`.

A schema keeps a default as the text that was written, because schemas pair up by text. Kernels take the value.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from registry.errors import SchemaError

_WORDS = {"None": None, "True": True, "False": False, "inf": float("inf"), "nan": float("nan")}


@lru_cache(maxsize=512)
def default_value(text: str) -> object:
    """The value that a default text stands for; raises `SchemaError` when it stands for none.

    >>> default_value("[1,-2]"), default_value("1e-05"), default_value("mean")
    ((1, -2), 1e-05, 'mean')
    """
    stripped = text.strip()
    if stripped in _WORDS:
        return _WORDS[stripped]
    if all(part.isidentifier() for part in stripped.split(".")):
        return stripped
    if stripped[:1] == "[" and stripped[-1:] == "]":
        inner = stripped[1:-1].strip()
        return tuple(default_value(item) for item in inner.split(",")) if inner else ()
    if stripped[:1] in ("'", '"'):
        # Only a default in quotes needs Python's own reader, and hardly any schema has one.
        from ast import literal_eval

        readers: tuple[Callable[[str], object], ...] = (literal_eval,)
    else:
        readers = (int, float, complex)
    for reader in readers:
        try:
            return reader(stripped)
        except (ValueError, SyntaxError):
            continue
    raise SchemaError(
        f"the default {text!r} is no value",
        text=text,
        position=0,
        expected="None, True, False, a number, a word, a text in quotes, or a list of these such as [0,1]",
    )
