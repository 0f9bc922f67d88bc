"""Rows of complex numbers for functions whose tables have real ones alone: the same calls, with complex inputs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace

from tests.coverage.calls import Call
from tests.coverage.namespaces import EXTRA
from tests.coverage.rows import Row
from tests.gradients.harness import Case

COMPLEX_TOO = {
    f"numpy.{name}"
    for name in [
        *("amax", "amin", "apply_over_axes", "clip", "compress", "corrcoef", "delete", "fft.fftfreq", "fft.rfftfreq"),
        *("cumulative_prod", "cumulative_sum"),
        *("fill_diagonal", "fmax", "fmin", "fromfunction", "geomspace", "histogram_bin_edges", "intersect1d", "logspace", "max"),
        *(
            "median",
            "mgrid",
            "min",
            "nan_to_num",
            "nancumprod",
            "nancumsum",
            "nanmax",
            "nanmean",
            "nanmedian",
            "nanmin",
            "nanprod",
        ),
        *("nanstd", "nansum", "nanvar", "ogrid", "partition", "place", "poly1d", "polyfit", "ptp", "put", "put_along_axis"),
        *("putmask", "setdiff1d", "setxor1d", "sign", "take", "take_along_axis", "trim_zeros", "union1d", "unique_all"),
        *("unique_counts", "unique_inverse"),
    ]
} | {"scipy.special.log_ndtr", "scipy.special.xlog1py", "scipy.special.xlogy"}
"""Functions that take complex numbers, and have no row of them in any table."""

_NO_POLYGAMMA = "the derivative needs polygamma, which SciPy has for real numbers alone"

REAL_ALONE = {
    "numpy.histogram2d": "only the order of complex edges has a meaning",
    "numpy.histogramdd": "only the order of complex edges has a meaning",
    "numpy.unique_values": "NumPy gives complex values in no order",
} | dict.fromkeys(("scipy.special.digamma", "scipy.special.gamma", "scipy.special.psi", "scipy.special.rgamma"), _NO_POLYGAMMA)
"""Functions of complex numbers that are checked for real ones alone, each with its reason; distributions are of real numbers."""


def complex_case(case: Case) -> Case:
    """The row with complex inputs of about its domain."""
    low_high = case.domain
    if isinstance(low_high[0], int | float) and low_high[0] < 1:
        low_high = (max(low_high[0], -1), min(low_high[1], 1))
    return replace(case, complex_domain=low_high, label=f"{case.label} of complex numbers".strip())


def accepts_complex(case: Case) -> bool:
    """Whether the reference takes complex inputs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for inputs in complex_case(case).variants("complex128"):
                case.theirs(*inputs)
        except Exception:
            return False
    return True


def complex_rows(found: dict[str, list[tuple[Row, Call]]]) -> dict[str, list[Case]]:
    """The rows of complex numbers of every function of the list that is here."""
    cases: dict[str, list[Case]] = {}
    for name in sorted(COMPLEX_TOO & found.keys()):
        rows = {id(row): row.case for row, _ in found[name] if "first" in row.checks}
        cases[name] = [complex_case(case) for case in rows.values() if accepts_complex(case)]
    return cases


def unchecked(found: dict[str, list[tuple[Row, Call]]]) -> Iterator[str]:
    """Functions that take complex numbers, by their rows, and that no check sees with any."""
    for name, pairs in found.items():
        rows = {id(row): row for row, _ in pairs if "first" in row.checks}
        known = name in COMPLEX_TOO or name in REAL_ALONE or name.startswith((f"{EXTRA}.", "scipy.stats."))
        checked = known or any("complex" in row.checks for row in rows.values())
        if not checked and any(accepts_complex(row.case) for row in rows.values()):
            yield name
