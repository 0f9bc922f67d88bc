"""``python -m tests.coverage`` writes ``autograd/COVERAGE.md``."""

from __future__ import annotations

from tests.coverage.namespaces import HAS_SCIPY
from tests.coverage.table import FILE, current_text

if not HAS_SCIPY:
    raise SystemExit("SciPy is not installed, so its functions cannot be counted: pip install 'gradtape[scipy]'")
text = current_text()
FILE.write_text(text, encoding="utf-8")
print(f"{FILE.name}: {next(line for line in text.splitlines() if ' functions with ' in line)}")
