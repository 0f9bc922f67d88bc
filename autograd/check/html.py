"""A report as HTML, for notebooks: static, without scripts or anything from elsewhere, in light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from autograd.check.report import Culprit, GradientReport, JacobianPair, Probe

SYMBOLS = {
    "right": "✓",
    "wrong": "✗",
    "kink": "∧",
    "not finite": "∞",
    "not deterministic": "≠",
    "too noisy to tell": "≈",
    "vacuous": "∅",
}
"""What marks a verdict beside its colour, which not everybody sees."""

MOST_ROWS, MOST_COLUMNS, MOST_BLOCKS, MOST_PROBES = 12, 6, 4, 16
"""What is shown of a Jacobian, how many Jacobians, and how many answers; what is left out is counted."""

STYLE = """<style>
.gradtape-check { --good: 0, 140, 100; --bad: 205, 80, 0; --odd: 190, 140, 0; line-height: 1.4; }
@media (prefers-color-scheme: dark) { .gradtape-check { --good: 40, 190, 145; --bad: 240, 115, 40; --odd: 230, 180, 50; } }
.gradtape-check .headline { border-left: 0.4em solid; padding: 0.3em 0.7em; }
.gradtape-check .good { border-color: rgb(var(--good)); background: rgba(var(--good), 0.15); }
.gradtape-check .bad { border-color: rgb(var(--bad)); background: rgba(var(--bad), 0.18); }
.gradtape-check .odd { border-color: rgb(var(--odd)); background: rgba(var(--odd), 0.18); }
.gradtape-check table { display: inline-table; border-collapse: collapse; margin: 0.5em 1.5em 0.2em 0; vertical-align: top; }
.gradtape-check caption { caption-side: top; text-align: left; font-style: italic; color: inherit; white-space: nowrap; }
.gradtape-check th, .gradtape-check td { border: 1px solid rgba(128, 128, 128, 0.4); padding: 0.15em 0.5em; color: inherit; }
.gradtape-check th { font-weight: normal; opacity: 0.75; text-align: left; }
.gradtape-check td { font-family: monospace; text-align: right; white-space: pre; background: none; }
.gradtape-check td.text { text-align: left; white-space: pre-wrap; }
.gradtape-check td.bad, .gradtape-check td.odd { font-weight: bold; }
.gradtape-check .side { overflow-x: auto; white-space: nowrap; }
.gradtape-check p { margin: 0.3em 0; }
</style>"""


def report_as_html(report: GradientReport) -> str:
    """A headline in the colour and with the symbol of the verdict, the culprit, Jacobians side by side, and the other answers."""
    parts = [f'<p class="headline {_colour(report.verdict)}"><b>{SYMBOLS[report.verdict]} {escape(report.headline)}</b></p>']
    if report.culprit is not None:
        parts.append(_culprit(report.culprit))
    parts += [f"<p>note: {escape(each)}</p>" for each in report.notes]
    parts += _jacobians(report)
    parts += _probes(report)
    return "\n".join(['<div class="gradtape-check">', STYLE, *parts, "</div>"])


def _colour(verdict: str) -> str:
    return {"right": "good", "wrong": "bad"}.get(verdict, "odd")


def _culprit(culprit: Culprit) -> str:
    rows = [
        f'<tr><th scope="row">{escape(name)}</th><td class="text">{escape(value)}</td></tr>' for name, value in culprit.fields()
    ]
    return "\n".join(["<table><caption>the culprit</caption>", *rows, "</table>"])


# -------------------------------------------------------------------------------------------------- Jacobians


def _jacobians(report: GradientReport) -> list[str]:
    """The blocks with entries that are not right, or all; folded away where the whole is right."""
    blocks: dict[tuple[str, str], list[JacobianPair]] = {}
    for pair in report.jacobians:
        blocks.setdefault((pair.output, pair.input), []).append(pair)
    bad = [pairs for pairs in blocks.values() if any(_marked(each.verdicts).any() for each in pairs)]
    every = bad or list(blocks.values())
    if not every:
        return []
    parts = [part for pairs in every[:MOST_BLOCKS] for part in _side_by_side(pairs)]
    if len(every) > MOST_BLOCKS:
        parts.append(f"<p>… and {len(every) - MOST_BLOCKS} more of them</p>")
    return [f"<details{'' if report.ok else ' open'}><summary>Jacobians</summary>", *parts, "</details>"]


def _marked(verdicts: Any) -> Any:
    return ~np.isin(verdicts, ["right", "vacuous"])


def _side_by_side(pairs: Sequence[JacobianPair]) -> Iterable[str]:
    """One block: what each mode says, where they differ, and what the differences say."""
    first = pairs[0]
    same = [each for each in pairs[1:] if np.allclose(each.found, first.found, rtol=1e-6, atol=0.0, equal_nan=True)]
    shown = [each for each in pairs if not any(each is other for other in same)]
    titles = [" and ".join(each.how for each in (first, *same)), *(each.how for each in shown[1:])]
    verdicts = np.array([each.verdicts for each in shown])
    lines = [_chosen(_marked(verdicts).any(axis=(0, 2)), MOST_ROWS), _chosen(_marked(verdicts).any(axis=(0, 1)), MOST_COLUMNS)]
    yield f"<p>{escape(first.output)} by {escape(first.input)}</p>"
    yield '<div class="side">'
    for pair, title in zip(shown, titles, strict=True):
        yield _table(title, pair, pair.found, pair.expected, lines)
    yield _table("differences", first, first.expected, first.found, lines)
    yield "</div>"
    yield f"<p>{_summary(np.concatenate([each.verdicts for each in shown]), first.verdicts.shape, lines)}</p>"


def _table(title: str, pair: JacobianPair, values: Any, others: Any, lines: Sequence[Sequence[int]]) -> str:
    rows, columns = [_with_gaps(chosen, n) for chosen, n in zip(lines, pair.verdicts.shape, strict=True)]
    names = [
        [str(n) for n in range(length)] if len(given) != length else given
        for given, length in zip((pair.rows, pair.columns), pair.verdicts.shape, strict=True)
    ]
    heads = "".join(f'<th scope="col">{"…" if n is None else escape(names[1][n])}</th>' for n in columns)
    parts = [f"<table><caption>{escape(title)}</caption>", f"<tr><th></th>{heads}</tr>"]
    for row in rows:
        if row is None:
            parts.append(f"<tr><th>…</th>{'<td>…</td>' * len(columns)}</tr>")
            continue
        cells = [
            "<td>…</td>" if n is None else _cell(values[row, n], others[row, n], str(pair.verdicts[row, n])) for n in columns
        ]
        parts.append(f'<tr><th scope="row">{escape(names[0][row])}</th>{"".join(cells)}</tr>')
    return "\n".join([*parts, "</table>"])


def _summary(verdicts: Any, shape: tuple[int, ...], lines: Sequence[Sequence[int]]) -> str:
    """How many entries are marked, with which symbol, and how much of the table is left out."""
    counts = {each: int(np.sum(verdicts == each)) for each in SYMBOLS}
    marks = [
        f"{SYMBOLS[each]} {each}: {n} of {verdicts.size} entries"
        for each, n in counts.items()
        if n and each not in ("right", "vacuous")
    ]
    hidden = [
        f"{n - len(shown)} more {what}"
        for n, shown, what in zip(shape, lines, ("rows", "columns"), strict=True)
        if n > len(shown)
    ]
    left_out = [f"… {' and '.join(hidden)} left out"] if hidden else []
    return escape("; ".join([*(marks or [f"all {verdicts.size} entries agree"]), *left_out]))


def _chosen(marked: Any, most: int) -> list[int]:
    """Which lines to show: those with marked entries before others, all in their order."""
    order = [*np.flatnonzero(marked), *np.flatnonzero(~marked)]
    return sorted(int(each) for each in order[:most])


def _with_gaps(lines: Sequence[int], n: int) -> list[int | None]:
    """The numbers of lines, and None wherever some are missing."""
    shown: list[int | None] = []
    before = -1
    for each in [*lines, n]:
        if each > before + 1:
            shown.append(None)
        if each < n:
            shown.append(each)
        before = each
    return shown


def _cell(value: Any, other: Any, verdict: str) -> str:
    """A number, marked by more than a colour where it is not right."""
    if verdict in ("right", "vacuous"):
        return f"<td>{float(value):.5g}</td>"
    title = escape(f"{verdict}: {float(value)!r}")
    return f'<td class="{_colour(verdict)}" title="{title}">{SYMBOLS[verdict]} {_apart(float(value), float(other))}</td>'


def _apart(value: float, other: float) -> str:
    """A number with as many digits as it takes to see that it differs from the other."""
    digits = next((each for each in (5, 7, 10) if f"{value:.{each}g}" != f"{other:.{each}g}"), 5)
    return f"{value:.{digits}g}"


# -------------------------------------------------------------------------------------------------- answers


def _probes(report: GradientReport) -> list[str]:
    """A table of the answers, those that are not right first."""
    if not report.probes:
        return []
    probes = sorted(report.probes, key=lambda each: each.ok or each.verdict == "vacuous")
    names = ("where", "by", "found", "expected", "differ by", "tolerance", "verdict")
    head = "".join(f'<th scope="col">{each}</th>' for each in names)
    rows = [_probe(each) for each in probes[:MOST_PROBES]]
    more = [f"<p>… and {len(probes) - MOST_PROBES} more</p>"] if len(probes) > MOST_PROBES else []
    opening = "<details>" if report.ok or report.jacobians else "<details open>"
    count = f"{len(probes)} answer{'s' if len(probes) > 1 else ''}"
    return [f"{opening}<summary>{count}</summary>", f"<table><tr>{head}</tr>", *rows, "</table>", *more, "</details>"]


def _probe(probe: Probe) -> str:
    expected = f"{probe.expected:.7g}"
    if probe.verdict == "kink":
        expected = f"{probe.left:.7g} | {probe.right:.7g}"
    numbers = (f"{probe.found:.7g}", expected, f"{probe.error:.1e}", f"{probe.tolerance:.1e}")
    cells = "".join(f"<td>{each}</td>" for each in numbers)
    texts = "".join(f'<td class="text">{escape(each)}</td>' for each in (probe.where, probe.how))
    colour = "" if probe.ok or probe.verdict == "vacuous" else f" {_colour(probe.verdict)}"
    return f'<tr>{texts}{cells}<td class="text{colour}">{SYMBOLS[probe.verdict]} {escape(probe.verdict)}</td></tr>'
