"""Default texts of a schema as Python values: `[0,1]` is `(0, 1)`, `mean` is `"mean"`.

A schema keeps a default as the text that was written, because schemas pair up by text. Kernels take the value.
"""

from __future__ import annotations

import re
from functools import lru_cache

from registry.errors import SchemaError

_WORDS = {"None": None, "True": True, "False": False, "inf": float("inf"), "nan": float("nan")}

_QUOTED = re.compile(r"""'([^'\\]|\\.)*' | "([^"\\]|\\.)*" """, re.VERBOSE)

# A list is read by recursion, which must end before Python's own limit.
_DEEPEST = 8


@lru_cache(maxsize=512)
def default_value(text: str) -> object:
    """The value that a default text stands for; raises `SchemaError` when it stands for none.

    >>> default_value("[1,-2]"), default_value("1e-05"), default_value("mean")
    ((1, -2), 1e-05, 'mean')
    """
    try:
        return _value(text, 0)
    except (ValueError, SyntaxError):
        raise SchemaError(
            f"the default {text!r} is no value",
            text=text,
            position=0,
            expected="None, True, False, a number, a word, a text in quotes, or a list of these such as [0,1]",
        ) from None


def _value(text: str, depth: int) -> object:
    stripped = text.strip()
    if stripped in _WORDS:
        return _WORDS[stripped]
    if all(part.isidentifier() for part in stripped.split(".")):
        return stripped
    if stripped[:1] in ("'", '"'):
        return _quoted(stripped)
    if stripped[:1] != "[" or stripped[-1:] != "]":
        return _number(stripped)
    if depth == _DEEPEST:
        raise ValueError(stripped)
    inner = stripped[1:-1].strip()
    return tuple(_value(item, depth + 1) for item in inner.split(",")) if inner else ()


def _quoted(text: str) -> object:
    # Only a default in quotes needs Python's own reader, and hardly any schema has one.
    from ast import literal_eval

    if _QUOTED.fullmatch(text) is None:
        raise ValueError(text)
    return literal_eval(text)


def _number(text: str) -> complex:
    # float would read an int of 5000 digits, which int refuses, as inf.
    if text.lstrip("+-").replace("_", "").isdecimal():
        return int(text)
    try:
        return float(text)
    except ValueError:
        return complex(text)
