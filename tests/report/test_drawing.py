"""What is drawn here is what Vega draws of the same chart."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from pumonitor.report import palette
from pumonitor.report.charts import chart_names, chart_of
from pumonitor.report.drawing.panels import draw
from pumonitor.report.drawing.text_width import shortened, text_width
from pumonitor.report.drawing.ticks import apart, nice, number_ticks, tick_text
from pumonitor.report.history_chart import HistoryPoint, history_chart
from pumonitor.report.prior_chart import PriorHistory, PriorLevel, PriorPoint, prior_chart
from pumonitor.results import Evaluation
from tests.report.by_vega import check_same, elements

FIRST, DAY = datetime(2026, 1, 1, tzinfo=UTC), timedelta(days=1)


def test_charts_have_the_words_and_the_lines_that_vega_draws(any_evaluation: Evaluation) -> None:
    for name in chart_names(any_evaluation):
        check_same(chart_of(any_evaluation, name))  # type: ignore[arg-type]


@pytest.mark.parametrize("days", [1, 2, 5, 60, 500])
def test_windows_are_drawn_where_vega_draws_them(days: int) -> None:
    points = [
        HistoryPoint(start=FIRST + day * DAY, value=0.5 + 0.1 * np.sin(day), low=0.31, high=0.72)
        for day in range(days)
    ]
    check_same(history_chart({"Precision": points}))


def test_the_class_prior_is_drawn_where_vega_draws_it() -> None:
    points = [
        PriorPoint(
            start=FIRST + day * DAY,
            end=FIRST + (day + 1) * DAY,
            value=0.05 + 0.01 * np.sin(day),
            low=0.02,
            high=0.09,
            own=0.1,
            changes={"prior": 0.5, "nothing": 0.5},
        )
        for day in range(30)
        if day != 14
    ]
    level = PriorLevel(
        start=FIRST, end=FIRST + 7 * DAY, value=0.04, low=0.03, high=0.05, given=True
    )
    history = PriorHistory(points=points, level=level, version=(FIRST + 20 * DAY, "<7>"))
    check_same(prior_chart(history))


def test_colours_and_dashes_tell_corrected_from_uncorrected(usual: Evaluation) -> None:
    svg = draw(chart_of(usual, "roc"))  # type: ignore[arg-type]
    assert f'stroke="{palette.UNCORRECTED}" stroke-width="2.25" stroke-dasharray="6,4"' in svg
    assert f'stroke="{palette.CORRECTED}" stroke-width="2.25"/>' in svg


def test_words_are_escaped() -> None:
    rows = [{"x": 0.5, "label": "<b> & co"}]
    x = {"field": "x", "type": "quantitative"}
    text = {"field": "label", "type": "nominal"}
    svg = draw(
        {
            "data": {"values": rows},
            "mark": {"type": "text"},
            "encoding": {"x": x, "y": {"value": 3}, "text": text},
            "width": 50,
            "height": 20,
        }
    )
    assert "&lt;b&gt; &amp; co" in svg
    assert elements(svg)


def test_a_format_that_is_not_known_is_refused() -> None:
    with pytest.raises(ValueError, match="format 'e' is not one that drawings know"):
        tick_text(1.0, "e", step=1.0)


@pytest.mark.parametrize(
    ("value", "how", "step", "shown"),
    [
        (0.00002, ".3~%", 0.1, "0.002%"),
        (-0.25, "", 0.05, "−0.25"),
        (-0.0, "", 0.5, "0.0"),
        (1200.0, "", 200.0, "1,200"),
        (1.0, ".0%", 0.5, "100%"),
    ],
)
def test_numbers_of_ticks(value: float, how: str, step: float, shown: str) -> None:
    assert tick_text(value, how, step=step) == shown


def test_ticks_are_round_and_within() -> None:
    assert number_ticks(0.013, 0.187, 4) == [0.05, 0.1, 0.15]
    assert number_ticks(3.0, 3.0, 4) == [3.0]
    assert nice(0.31, 0.72) == (0.3, 0.75)


def test_labels_that_overlap_are_thinned_evenly() -> None:
    assert apart([(0, 10), (8, 18), (16, 26), (24, 34), (32, 42)]) == [0, 2, 4]
    assert apart([(0, 5), (6, 9)]) == [0, 1]


def test_long_labels_end_in_an_ellipsis() -> None:
    text = shortened("Best balanced accuracy of all", limit=90)
    assert text.endswith("…")
    assert text_width(text) <= 90 < text_width("Best balanced accuracy of all")
