from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pumonitor.report import palette
from pumonitor.report.figures import prior_figures
from pumonitor.report.prior_chart import PriorHistory, PriorLevel, PriorPoint, prior_chart
from pumonitor.report.theme import to_png, to_svg

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
CHANGES = {"nothing": 0.1, "prior": 0.6, "prior and ranking": 0.2, "label frequency": 0.1}


def _point(day: int, *, own: float | None = 0.06, **changes: float) -> PriorPoint:
    return PriorPoint(
        start=FIRST + day * DAY,
        end=FIRST + (day + 1) * DAY,
        value=0.05,
        low=0.02,
        high=0.09,
        own=own,
        changes=changes or {"nothing": 1.0},
    )


def _history(*points: PriorPoint) -> PriorHistory:
    return PriorHistory(
        points=points,
        level=PriorLevel(
            start=FIRST - 9 * DAY, end=FIRST + DAY, value=0.04, low=0.03, high=0.05, given=True
        ),
    )


def _spec(history: PriorHistory) -> dict[str, Any]:
    spec: dict[str, Any] = prior_chart(history)
    return spec


def _bars(history: PriorHistory) -> dict[str, list[float]]:
    """Chances that are drawn, by lane."""
    spec = _spec(history)
    return {
        lane["encoding"]["y"]["axis"]["title"]: [
            round(one["chance"], 3) for one in lane["data"]["values"]
        ]
        for lane in spec["vconcat"][1]["vconcat"]
    }


def _rows(history: PriorHistory) -> list[dict[str, Any]]:
    """Those of the windows."""
    rows: list[dict[str, Any]] = _spec(history)["vconcat"][0]["layer"][0]["data"]["values"]
    return rows


def test_each_kind_of_change_has_its_lane_alone_or_with_another() -> None:
    assert _bars(_history(_point(0), _point(1, **CHANGES))) == {
        "Share of positives": [0.8],
        "Share confirmed": [0.1],
        "Ranking": [0.2],
        "Other cases": [],
    }


def test_the_level_is_marked_as_far_as_its_period_is_drawn() -> None:
    svg = to_svg(prior_chart(_history(_point(0), _point(1))))
    assert "given: 4%" in svg
    after = _history(_point(3), _point(4))
    assert "given" not in to_svg(prior_chart(after))
    assert "0.04" not in json.dumps(_spec(after)["vconcat"][0]["layer"])


def test_a_new_version_is_marked_where_it_took_over() -> None:
    history = _history(_point(0), _point(1))
    assert "version 7" not in to_svg(prior_chart(history))
    marked = replace(history, version=(FIRST + DAY, "7"))
    assert "version 7" in to_svg(prior_chart(marked))


def test_lines_break_where_windows_are_missing() -> None:
    assert all(row["value"] is not None for row in _rows(_history(_point(0), _point(1))))
    after = _rows(_history(_point(0), _point(4)))
    assert [row["value"] is None for row in after] == [False, True, False]


def test_own_estimates_far_away_are_drawn_at_the_edge_and_none_is_drawn_as_nothing() -> None:
    history = _history(_point(0, own=None), _point(1, own=1.0), _point(2, own=0.0))
    first, beyond, below = (row["own"] for row in _rows(history))
    assert first is None
    assert 0.09 < beyond <= 1
    assert 0 < below < 0.02
    assert "nan" not in json.dumps(_spec(history), allow_nan=False).lower()


def test_it_renders_with_colours_that_all_have_a_dark_counterpart() -> None:
    changes = {**CHANGES, "negatives": 0.2}
    chart = prior_chart(_history(_point(0), _point(1, **changes), _point(2)))
    drawn = set(re.findall(r'"(#[^"]*)"', to_svg(chart)))
    assert {palette.CORRECTED, palette.UNCORRECTED} <= drawn <= set(palette.DARK)
    assert to_png(chart)[:4] == b"\x89PNG"


def test_the_figure_says_whether_the_level_was_given() -> None:
    history = _history(_point(0), _point(1))
    assert "what was given" in prior_figures(history)[0].reading
    estimated = replace(history, level=replace(history.level, given=False))
    assert "first estimated" in prior_figures(estimated)[0].reading
    assert prior_figures(None) == []
