"""The picture: what is in it, read from the chart, and that it is drawn whatever the series."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from pumonitor.monitor.delivery.notifications.message import AlertMessage
from pumonitor.monitor.delivery.notifications.picture import SeriesPoint, draw_series, series_chart
from pumonitor.report import palette
from pumonitor.report.chart_parts import moment
from tests.monitor.delivery.notifications.alerts import DAY, FIRST, alert
from tests.report.by_vega import check_same


def points(
    values: list[float | None], *, half: float | None = 0.03, every: timedelta = DAY
) -> list[SeriesPoint]:
    return [
        SeriesPoint(
            start=FIRST + number * every,
            end=FIRST + (number + 1) * every,
            value=value,
            low=None if value is None or half is None else value - half,
            high=None if value is None or half is None else value + half,
        )
        for number, value in enumerate(values)
    ]


class Drawn:
    """A chart, to be asked what is in it."""

    def __init__(self, one: AlertMessage, series: list[SeriesPoint]) -> None:
        self._chart: dict[str, Any] = series_chart(one.transition, series)

    def layers(self, kind: str, **mark: Any) -> list[dict[str, Any]]:
        return [
            layer
            for layer in self._chart["layer"]
            if layer["mark"]["type"] == kind
            and all(layer["mark"].get(name) == value for name, value in mark.items())
        ]

    def rows(self, kind: str, **mark: Any) -> list[list[dict[str, Any]]]:
        return [layer["data"]["values"] for layer in self.layers(kind, **mark)]


def test_it_shows_series_band_levels_and_the_window() -> None:
    one = alert(9, value=0.7, low=0.66, high=0.74, firing_since=FIRST + 7 * DAY)
    series = points([0.82, 0.81, 0.83, 0.8, 0.82, 0.81, 0.83, 0.72, 0.71, 0.70])

    chart = Drawn(one, series)
    (line,) = chart.rows("line")
    assert [row["value"] for row in line] == [point.value for point in series]
    (band,) = chart.rows("area")
    assert (band[0]["low"], band[0]["high"]) == (pytest.approx(0.79), pytest.approx(0.85))
    levels = [row["value"] for (row,) in chart.rows("rule")]
    assert levels == [0.75, 0.82]
    names = [row["text"] for (row,) in chart.rows("text")]
    assert names == ["limit 0.750", "reference 0.820"]
    since, window = chart.rows("rect")
    assert since[0]["start"] == moment(FIRST + 7 * DAY)
    assert window == [{"start": moment(FIRST + 9 * DAY), "end": moment(FIRST + 10 * DAY)}]
    ((dot,),) = chart.rows("point", shape="diamond")
    assert dot == {"at": moment(FIRST + 9.5 * DAY), "value": 0.7}


def test_it_is_drawn_as_vega_draws_it() -> None:
    one = alert(9, value=0.7, low=0.66, high=0.74, firing_since=FIRST + 7 * DAY)
    series = points([0.82, 0.81, None, 0.8, 0.82, 0.81, 0.83, 0.72, 0.71, 0.70])
    check_same(series_chart(one.transition, series))


def test_gaps_stay_gaps() -> None:
    series = points([0.8, 0.81, None, 0.8, None, 0.79, 0.8])
    chart = Drawn(alert(6, value=0.8), series)
    assert [len(run) for run in chart.rows("line")] == [2, 2]
    assert [len(run) for run in chart.rows("area")] == [2, 1, 2]
    missing = [point for number, point in enumerate(points([0.8] * 6)) if number != 3]
    assert [len(run) for run in Drawn(alert(5, value=0.8), missing).rows("line")] == [3, 2]


def test_names_of_levels_that_lie_close_do_not_overlap() -> None:
    one = alert(5, limit_value=0.8, reference=0.801)
    heights = [
        layer["encoding"]["y"]["value"] for layer in Drawn(one, points([0.8] * 6)).layers("text")
    ]
    assert abs(heights[0] - heights[1]) >= 15


def test_one_wide_interval_does_not_flatten_the_rest() -> None:
    series = points([0.80, 0.81, 0.79, 0.8, 0.81, 0.8, 0.79, 0.8, 0.81, 0.8, 0.8, 0.79])
    wide = SeriesPoint(start=series[4].start, end=series[4].end, value=0.81, low=0.0, high=1.0)
    found = Drawn(alert(11, value=0.79), [*series[:4], wide, *series[5:]])
    low, high = found.layers("line")[0]["encoding"]["y"]["scale"]["domain"]
    assert 0.6 < low < 0.77
    assert high < 0.95
    (band,) = found.rows("area")
    assert (band[4]["low"], band[4]["high"]) == (low, high), "it is drawn as far as the axis goes"


def test_what_is_over_is_not_shown_as_alarming() -> None:
    found = Drawn(alert(5, kind="resolved", reason="good"), points([0.8] * 6))
    assert found.layers("point", shape="diamond")[0]["mark"]["color"] == palette.CORRECTED
    found = Drawn(alert(5), points([0.8] * 6))
    assert found.layers("point", shape="diamond")[0]["mark"]["color"] == palette.UNCORRECTED


RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("series", "others"),
    [
        (points([0.8 + 0.01 * float(RNG.normal()) for _ in range(60)]), {}),
        (points([float(RNG.poisson(20)) for _ in range(8)], half=None), {"metric": "predictions"}),
        (points([0.5, 0.5]), {"limit_value": None, "reference": None, "value": None}),
        (points([0.0, 0.0, 0.0]), {"limit_value": 0.0, "reference": None, "value": 0.0}),
        (points([0.8] * 30, every=timedelta(hours=1)), {}),
        (points([-3.0, 1e6, None, 2.0]), {"limit_value": -2.0, "reference": 1e6}),
    ],
)
def test_it_can_be_drawn(series: list[SeriesPoint], others: dict[str, Any]) -> None:
    last = series[-1]
    one = alert(**{"window_start": last.start, "window_end": last.end, **others})
    picture = draw_series(one.transition, series)
    assert picture is not None
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < 400_000


@pytest.mark.parametrize("series", [[], points([0.8]), points([None, 0.8, None])])
def test_one_value_is_no_picture(series: list[SeriesPoint]) -> None:
    assert draw_series(alert().transition, series) is None
