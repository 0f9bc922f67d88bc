"""A report as HTML: what it shows, that it is escaped, and that it needs nothing from elsewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from autograd.check import VERDICTS, Culprit, GradientReport, JacobianPair, Probe, check_derivative, check_gradient
from autograd.check.html import MOST_BLOCKS, MOST_COLUMNS, MOST_PROBES, MOST_ROWS, SYMBOLS

EVIL = "<script>alert('x')</script>&\""
X = np.array([0.3, -1.2, 2.0])


class Page(HTMLParser):
    """What a browser makes of it: the tags in balance, and the cells of each table."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.marked: list[str] = []
        self._rows: list[list[str]] = []
        self._caption = self._text = ""
        self.feed(text)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)
        self.attributes += attrs
        self._text = ""
        if tag == "table":
            self._rows, self._caption = [], ""
        elif tag == "tr":
            self._rows.append([])
        elif tag == "td" and dict(attrs).get("class") in ("bad", "odd"):
            self.marked.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag in ("td", "th"):
            self._rows[-1].append(self._text)
            if tag == "td" and self.marked and self.marked[-1] == "":
                self.marked[-1] = self._text
        elif tag == "caption":
            self._caption = self._text
        elif tag == "table":
            self.tables[self._caption] = self._rows

    def handle_data(self, data):
        self._text += data


def probe(verdict, where="argument 0"):
    sides = (-1.0, 1.0) if verdict == "kink" else (None, None)
    return Probe(where, "reverse mode", 1.0, 2.0, 1.0, 1e-6, 0.0, verdict, *sides)


@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_verdict_is_a_word_and_a_symbol_not_a_colour_alone(verdict):
    html = GradientReport("f", verdict, probes=(probe(verdict),))._repr_html_()
    Page(html)
    headline = re.search(r'<p class="headline (\w+)"><b>(.*?)</b></p>', html)
    assert headline[1] == {"right": "good", "wrong": "bad"}.get(verdict, "odd")
    assert headline[2].startswith(f"{SYMBOLS[verdict]} {verdict}: ")


def test_symbols_tell_verdicts_apart():
    assert set(SYMBOLS) == set(VERDICTS)
    assert len(set(SYMBOLS.values())) == len(VERDICTS)


def everywhere(text):
    """A report with a text in every place where one may stand."""
    one = np.array([[1.0]])
    culprit = Culprit(text, text, text, text, 1.0, 2.0, 1e-6, text, text, 1, text, text, (1, 2), (text,), text)
    pair = JacobianPair(text, text, text, one, one + 1, np.array([["wrong"]]), (text,), (text,))
    written = Probe(text, text, 1.0, 2.0, 1.0, 1e-6, 0.0, "wrong", judge=text)
    return GradientReport(text, "wrong", text, text, 1.0, 2.0, 1.0, 1e-6, (written,), culprit, (text,), 1, (pair,), text)


def test_everything_is_escaped():
    html = everywhere(EVIL)._repr_html_()
    page = Page(html)
    assert "<script" not in html
    assert "script" not in page.tags
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;&amp;&quot;" in html
    assert page.tags == Page(everywhere("name")._repr_html_()).tags
    assert page.attributes == Page(everywhere("name")._repr_html_()).attributes


def test_names_of_functions_and_keys_of_containers_come_out_as_text():
    def f(p):
        return np.sum(p[EVIL] ** 2)

    f.__name__ = EVIL
    html = check_derivative(f, lambda p: {EVIL: 3 * p[EVIL]}, {EVIL: X}, raise_error=False)._repr_html_()
    Page(html)
    assert "<script" not in html
    assert "of &lt;script&gt;" in html


def test_it_is_static_and_needs_nothing_from_elsewhere():
    page = Page(everywhere("name")._repr_html_())
    assert not page.tags & {"script", "img", "link", "iframe", "object", "form", "input", "button", "a"}
    assert {name for name, _ in page.attributes} <= {"class", "scope", "open", "title"}
    assert not re.search(r"url\(|https?:|@import|expression\(", everywhere("name")._repr_html_())


def test_the_same_report_gives_the_same_bytes():
    make = lambda: check_gradient(lambda x: np.sum(x * x), X)._repr_html_()  # noqa: E731
    assert make() == make()


def test_both_jacobians_stand_side_by_side_with_what_differs_marked():
    wrong = np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 5.0]])
    f = lambda x: np.array([2 * x[1], 2 * x[0]])  # noqa: E731
    html = check_derivative(f, lambda x: wrong, X, kind="jacobian", raise_error=False)._repr_html_()
    page = Page(html)
    assert page.tables["df"] == [
        ["", "[0]", "[1]", "[2]"],
        ["output[0]", "0", "2", "0"],
        ["output[1]", "2", "0", "✗ 5"],
    ]
    assert page.tables["differences"][2] == ["output[1]", "2", "0", "✗ 0"]
    assert page.marked == ["✗ 5", "✗ 0"]
    assert "font-weight: bold" in html
    assert "✗ wrong: 1 of 6 entries" in html
    assert "<details open><summary>Jacobians" in html


def test_entries_that_differ_in_late_digits_are_seen_to_differ():
    html = check_derivative(lambda x: np.sum(x), lambda x: [1.0, 1.0, 1.00001], X, raise_error=False)._repr_html_()
    assert Page(html).marked == ["✗ 1.00001", "✗ 1"]


def test_modes_that_agree_share_a_table_and_others_have_their_own():
    one = np.array([[1.0, 2.0]])
    marks = np.array([["wrong", "right"]])
    pair = lambda how, found: JacobianPair("output", "x", how, found, one + np.array([[1.0, 0.0]]), marks)  # noqa: E731
    same = GradientReport("f", "wrong", jacobians=(pair("reverse mode", one), pair("forward mode", one)))
    assert set(Page(same._repr_html_()).tables) == {"reverse mode and forward mode", "differences"}
    apart = GradientReport("f", "wrong", jacobians=(pair("reverse mode", one), pair("forward mode", one + 5)))
    assert set(Page(apart._repr_html_()).tables) == {"reverse mode", "forward mode", "differences"}


def test_of_a_right_report_the_tables_are_folded():
    html = check_gradient(lambda x: np.sum(x * x), X)._repr_html_()
    assert "<details><summary>Jacobians" in html
    assert "<details open>" not in html
    assert "all 3 entries agree" in html


def test_a_large_jacobian_is_cut_and_says_by_how_much_and_keeps_what_differs():
    n, m = 30, 20
    found, marks = np.zeros((n, m)), np.full((n, m), "right", dtype=object)
    found[27, 18], marks[27, 18] = 7.0, "wrong"
    report = GradientReport("f", "wrong", jacobians=(JacobianPair("output", "x", "reverse mode", found, 0 * found, marks),))
    html = report._repr_html_()
    table = Page(html).tables["reverse mode"]
    numbers = [row for row in table[1:] if row[0] != "…"]
    assert len(numbers) == MOST_ROWS
    assert [row[0] for row in table[1:]] == [*map(str, range(MOST_ROWS - 1)), "…", "27", "…"]
    assert table[0] == ["", *map(str, range(MOST_COLUMNS - 1)), "…", "18", "…"]
    assert "✗ 7" in table[-2]
    assert f"… {n - MOST_ROWS} more rows and {m - MOST_COLUMNS} more columns left out" in html


def test_many_blocks_and_many_answers_are_counted():
    one = np.array([[1.0]])
    pairs = [JacobianPair("output", f"x{n}", "reverse mode", one, one + 1, np.array([["wrong"]])) for n in range(MOST_BLOCKS + 3)]
    probes = [probe("right"), *(probe("wrong", f"x{n}") for n in range(MOST_PROBES + 1))]
    html = GradientReport("f", "wrong", probes=tuple(probes), jacobians=tuple(pairs))._repr_html_()
    assert "… and 3 more of them" in html
    assert "… and 2 more</p>" in html
    assert f"{MOST_PROBES + 2} answers" in html
    assert "✓ right" not in html  # those that are right come last


def test_the_answers_are_a_table():
    page = Page(GradientReport("f", "kink", probes=(probe("kink"), probe("right", "x[1]")))._repr_html_())
    assert page.tables[""] == [
        ["where", "by", "found", "expected", "differ by", "tolerance", "verdict"],
        ["argument 0", "reverse mode", "1", "-1 | 1", "1.0e+00", "1.0e-06", "∧ kink"],
        ["x[1]", "reverse mode", "1", "2", "1.0e+00", "1.0e-06", "✓ right"],
    ]


def test_the_culprit_is_a_small_table():
    def twice(x):
        return 4 * x

    html = check_derivative(lambda x: np.sum(x * x), twice, X, raise_error=False)._repr_html_()
    rows = dict(Page(html).tables["the culprit"])
    assert rows["culprit"].startswith("twice, written by hand, at test_html.py:")
    assert (rows["input"], rows["found"]) == ("x[2]", "8")
    assert rows["diagnosis"] == "factor 2: it is twice the right one"


# -------------------------------------------------------------------------------------------------- the text


def test_a_text_is_no_wider_than_a_page_and_no_flood():
    p = {"layers": [{"weights": np.arange(1.0, 31.0).reshape(6, 5)}]}
    report = check_derivative(
        lambda p: np.sum(p["layers"][0]["weights"] ** 2),
        lambda p: {"layers": [{"weights": p["layers"][0]["weights"]}]},
        p,
        raise_error=False,
    )
    lines = str(report).splitlines()
    assert max(map(len, lines)) <= 120
    assert len(lines) <= 20
    assert "  ... and 26 more" in lines
    where = [
        Probe(f"x[{n}]", how, 1.0, 2.0, 1.0, 1e-6, 0.0, "wrong") for n in range(6) for how in ("reverse mode", "forward mode")
    ]
    assert "  ... and 2 more" in str(GradientReport("f", "wrong", probes=tuple(where))).splitlines()
    noted = str(GradientReport("f", "kink", notes=("word " * 100,))).splitlines()
    assert len(noted) == 6
    assert max(map(len, noted)) <= 120
    assert all(line.startswith("        word") for line in noted[2:])


def test_two_modes_that_say_the_same_are_said_once():
    from autograd import custom_gradient
    from autograd import numpy as anp

    square = custom_gradient(lambda x: (anp.sum(x * x), lambda dy: dy * 4.0 * x))
    report = check_gradient(lambda x: square(x), X, raise_error=False)
    assert len(report.probes) == 6
    assert str(report).count("argument 0[") == 3
    assert str(report).count("in both modes") == 3


def test_columns_are_aligned():
    rows = [probe("wrong", "x"), probe("wrong", "x['long'][3]")]
    text = str(
        GradientReport("f", "wrong", probes=tuple(rows), culprit=Culprit("exp", "numpy", "x", "[1]", 1.0, 2.0, 1e-6, "sign"))
    )
    lines = text.splitlines()
    assert len({line.index("reverse mode says") for line in lines[1:3]}) == 1
    assert len({re.match(r"  \w+ +", line).end() for line in lines[3:]}) == 1
