"""One evaluation, every face: the same numbers in the same words, an impossible prior marked."""

from __future__ import annotations

import io
import re
from html import unescape

import numpy as np
import pytest
from rich.console import Console

import pumonitor
from pumonitor.cli.comparison_table import rendered as comparison_rendered
from pumonitor.cli.estimates_table import rendered
from pumonitor.names import UNCORRECTED_OF
from pumonitor.report.forest_chart import forest_rows
from pumonitor.report.html import render_html
from pumonitor.views.estimates import estimate_views, logged_estimates


def rows(seed=1):
    rng = np.random.default_rng(seed)
    is_positive = rng.random(4_000) < 0.1
    labels = is_positive & (rng.random(4_000) < 0.5)
    return labels, rng.normal(2.0 * is_positive)


@pytest.fixture(scope="module")
def usual():
    return pumonitor.evaluate(*rows(), threshold=1.5, class_prior=(0.08, 0.13))


@pytest.fixture(scope="module")
def impossible():
    """Three times as many positives as there are: precision comes out far above 1."""
    return pumonitor.evaluate(*rows(), threshold=2.5, class_prior=0.4)


def printed(parts):
    console = Console(width=200, record=True, file=io.StringIO())
    for part in parts:
        console.print(part)
    return console.export_text()


def of_report(evaluation):
    """Texts of the table of estimates: title to value and interval."""
    page = render_html(evaluation)
    found = re.findall(
        r'"measure">(.*?)</span>.*?"value">(.*?)</td>\s*<td class="interval">(.*?)</td>',
        page,
        re.DOTALL,
    )
    return {unescape(title): (unescape(value), unescape(ends)) for title, value, ends in found}


@pytest.mark.parametrize("which", ["usual", "impossible"])
def test_terminal_and_report_have_the_view_s_texts(which, request):
    evaluation = request.getfixturevalue(which)
    text = printed(rendered(evaluation, name="x", width=120))
    lines = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()]
    report = of_report(evaluation)
    views = estimate_views(evaluation)
    assert set(report) == {view.title for view in views.values()}
    for name, view in views.items():
        assert report[view.title] == (
            view.value_text,
            "" if view.value is None else view.interval_text,
        )
        if name in UNCORRECTED_OF.values() or name.endswith("_threshold"):
            continue
        line = next(line for line in lines if line[0] == view.title and len(line) > 2)
        assert line[1] == view.value_text
        assert line[2].startswith(view.interval_text)


def test_what_stands_on_an_impossible_class_prior_is_marked_everywhere(impossible):
    views = estimate_views(impossible)
    assert views["precision"].came_out > 1
    assert views["f1"].value_text.endswith("!")
    assert (views["f1"].low, views["f1"].interval_text) == (None, "not known")
    assert views["recall"].value_text[-1] != "!"
    logged = logged_estimates(impossible.estimates)
    marked = {name for name, view in views.items() if view.infeasible}
    assert marked == {
        name.removeprefix("pu/").removesuffix("_infeasible")
        for name in logged
        if name.endswith("_infeasible")
    }
    (row,) = forest_rows(impossible, ("f1",))
    assert "!" in row["text"]


def test_a_comparison_marks_it_as_well():
    labels, scores = rows()
    compared = pumonitor.compare(
        labels,
        {"a": scores, "b": -scores},
        threshold={"a": 2.5, "b": 2.5},
        class_prior=0.4,
        label_origin="random",
    )
    text = printed(comparison_rendered(compared, name="x", width=160))
    views = estimate_views(pumonitor.evaluate(labels, scores, threshold=2.5, class_prior=0.4))
    assert views["f1"].value_text in text
    assert views["f1"].value_text.endswith("!")


def test_logged_numbers_are_those_of_the_views_in_full(usual):
    logged = logged_estimates(usual.estimates)
    for name, view in estimate_views(usual).items():
        if view.value is None:
            assert logged[f"pu/{name}_undefined"] == 1
            continue
        assert logged[f"pu/{name}"] == view.value
        assert logged.get(f"pu/{name}_low") == view.low
