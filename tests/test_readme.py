"""The README's Python blocks run as they stand, and print what their comments say."""

from __future__ import annotations

import contextlib
import io
import pathlib
import re

import pytest

import registry

README = pathlib.Path(__file__).parent.parent / "README.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def _run(block: str) -> list[str]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, "README.md", "exec"), {"__name__": "readme"})
    return printed.getvalue().splitlines()


@pytest.fixture
def _clean_registry():
    yield
    if registry.get_kernel("smooth_step", "numpy") is not None:
        registry.unregister_kernel("smooth_step", "numpy")
        registry.unregister_gradient("smooth_step")
        registry.undeclare("smooth_step")


@pytest.mark.usefixtures("_clean_registry")
@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_block_runs(number):
    printed = _run(BLOCKS[number])
    expected = re.findall(r"^print\(.*\)  # (.*)$|^# (\d+ \w+ \{.*)$", BLOCKS[number], flags=re.MULTILINE)
    for line in (first or second for first, second in expected):
        if ";" in line or "diagonal" in line:  # a remark, not a print
            continue
        assert line in printed, f"the README promises {line!r}; printed were {printed}"


def test_first_screen_has_two_commands():
    block = re.search(r"^```sh\n(.*?)^```", README.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert block is not None
    assert len(block.group(1).strip().splitlines()) == 2
