"""Drawings show what they are given, at the right places."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from xml.etree import ElementTree
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pumonitor.monitor.charts.time_series import (
    Drawn,
    Level,
    Mark,
    draw_sparkline,
    draw_time_series,
)
from pumonitor.report.drawing.ticks import moment_ticks, value_ticks

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def series(value, *, half=0.05, provisional=(), links=()):
    value = np.array(value, dtype=float)
    number = len(value)
    is_provisional = np.zeros(number, dtype=bool)
    is_provisional[list(provisional)] = True
    return Drawn(
        starts=[BEGIN + place * DAY for place in range(number)],
        ends=[BEGIN + (place + 1) * DAY for place in range(number)],
        value=value,
        low=value - half,
        high=value + half,
        provisional=is_provisional,
        links=links,
    )


def drawn(of, **options):
    text = draw_time_series(of, title="Recall", zone=UTC, **options)
    return ElementTree.fromstring(str(text).replace("<svg", '<svg xmlns=""', 1))  # noqa: S314


def points(path):
    return [
        (float(x), float(y)) for x, y in re.findall(r"[ML](-?[\d.]+),(-?[\d.]+)", path.get("d"))
    ]


def paths_of(root, kind):
    return [one for one in root.iter("path") if one.get("class") == kind]


def path_of(root, kind):
    [found] = paths_of(root, kind)
    return found


def test_heights_are_those_of_the_axis():
    root = drawn(series([0.2, 0.4, 0.8]))
    at = {
        float(text.text): float(text.get("y")) - 4.1
        for text in root.iter("text")
        if text.get("class") == "tick" and float(text.get("x")) < 0
    }
    low, high = min(at), max(at)
    for (_, y), value in zip(points(path_of(root, "line")), [0.2, 0.4, 0.8], strict=True):
        expected = at[low] + (value - low) / (high - low) * (at[high] - at[low])
        assert y == pytest.approx(expected, abs=0.11)


def test_windows_are_evenly_apart_and_within_the_drawing():
    x = [x for x, _ in points(path_of(drawn(series(np.linspace(0.1, 0.9, 9))), "line"))]
    assert np.diff(x) == pytest.approx(np.full(8, np.diff(x)[0]), abs=0.11)
    assert min(x) > 0
    assert max(x) < 888


def test_a_missing_value_breaks_line_and_band():
    root = drawn(series([0.5, 0.6, np.nan, 0.7, np.nan, 0.5, 0.4]))
    assert len(paths_of(root, "line")) == len(paths_of(root, "band")) == 3
    # A lonely window has no line, and its dot still.
    assert len(list(root.iter("circle"))) == 5


def test_provisional_windows_are_dots_without_a_line():
    root = drawn(series([0.5, 0.6, 0.7, 0.8], provisional=[2, 3]))
    assert len(points(path_of(root, "line"))) == 2
    kinds = [one.get("class") for one in root.iter("circle")]
    assert kinds == ["dot", "dot", "dot provisional", "dot provisional"]


def test_band_holds_the_ends_of_intervals():
    root = drawn(series([0.3, 0.5], half=0.1))
    outline = points(path_of(root, "band"))
    line = points(path_of(root, "line"))
    (_, top), (_, top_2), (_, bottom_2), (_, bottom) = outline
    assert (top + bottom) / 2 == pytest.approx(line[0][1], abs=0.11)
    assert (top_2 + bottom_2) / 2 == pytest.approx(line[1][1], abs=0.11)
    assert bottom - top == pytest.approx(bottom_2 - top_2, abs=0.21)


def test_limits_marks_and_reference_say_what_they_are():
    root = drawn(
        series([0.5] * 10),
        levels=[Level(0.4, "below 0.4", "limit")],
        marks=[
            Mark(BEGIN + 4 * DAY, 1, "<b>fired</b>", "alert"),
            Mark(BEGIN - 4 * DAY, 2, "before", "version"),
        ],
        reference=(BEGIN - DAY, BEGIN + 3 * DAY),
    )
    texts = [one.text for one in root.iter("text")]
    assert "below 0.4" in texts
    assert "reference" in texts
    marks = [one for one in root.iter("g") if one.find("path[@class='mark alert']") is not None]
    assert [one.find("title").text for one in marks] == ["<b>fired</b>"]
    assert "1" in texts
    assert "2" not in texts


def test_every_dot_of_a_short_series_leads_to_its_window():
    root = drawn(series([0.5, 0.6], links=["/a?x=1&y=2", "/b"]))
    assert [one.get("href") for one in root.iter("a")] == ["/a?x=1&y=2", "/b"]


def test_a_window_says_its_numbers_and_what_happened_in_it():
    of = replace(
        series([0.5, np.nan, 0.7, 0.6], provisional=[3], links=["/0", "/1", "/2", "/3"]),
        expected=np.array([np.nan, np.nan, np.nan, 0.66]),
        versions=["3", "", "3", "4"],
    )
    marks = [
        Mark(BEGIN + DAY, 1, "a\n<note>", "alert"),
        Mark(BEGIN + 2.5 * DAY, 2, "later", "note"),
    ]
    root = drawn(of, marks=marks)
    windows = [one for one in root.iter() if one.find("rect[@class='column']") is not None]
    texts = [one.find("title").text.split("\n") for one in windows]
    assert texts == [
        ["2026-03-01 00:00 to 2026-03-02 00:00 UTC", "0.500 (0.450 to 0.550)", "version 3"],
        ["2026-03-02 00:00 to 2026-03-03 00:00 UTC", "no value", r"1: a\n<note>"],
        [
            "2026-03-03 00:00 to 2026-03-04 00:00 UTC",
            "0.700 (0.650 to 0.750)",
            "version 3",
            "2: later",
        ],
        [
            "2026-03-04 00:00 to 2026-03-05 00:00 UTC",
            "0.600 (0.550 to 0.650)",
            "labels are still arriving",
            "expected when mature: 0.660",
            "version 4",
        ],
    ]
    # The keyboard passes by what has no dot.
    assert [one.get("href") for one in windows] == ["/0", None, "/2", "/3"]
    columns = [one.find("rect") for one in windows]
    ends = [(float(one.get("x")), float(one.get("width"))) for one in columns]
    for (x, width), (next_x, _) in pairwise(ends):
        assert x + width == pytest.approx(next_x, abs=0.11)


def test_a_thousand_windows_have_few_dots_and_all_of_the_line():
    root = drawn(series(0.5 + 0.1 * np.sin(np.arange(1000))))
    assert len(points(path_of(root, "line"))) == 1000
    assert len(list(root.iter("circle"))) <= 151
    # Nobody could point at a column of less than a pixel.
    assert len([one for one in root.iter("rect") if one.get("class") == "column"]) <= 151


def test_nothing_to_draw_is_nothing():
    assert draw_time_series(series([np.nan, np.nan]), title="", zone=UTC) == ""
    assert draw_sparkline(np.array([0.5]), np.array([0.4]), np.array([0.6]), title="") == ""


def test_small_drawings_are_named_and_many_of_them_share_a_page():
    values = np.array([0.5, 0.6])
    drawn_small = draw_sparkline(values, values, values, title="F1 of <a>")
    assert 'aria-label="F1 of &lt;a&gt;"' in drawn_small
    assert " id=" not in drawn_small


def test_a_level_series_is_drawn():
    assert len(points(path_of(drawn(series([0.5, 0.5], half=0.0)), "line"))) == 2


@given(
    low=st.floats(-1e6, 1e6, allow_nan=False),
    width=st.floats(1e-6, 1e6),
    most=st.integers(2, 10),
)
def test_values_of_the_grid_are_within_and_not_too_many(low, width, most):
    high = low + width
    if not high > low:
        return
    ticks = [value for value, _ in value_ticks(low, high, most=most)]
    slack = 1e-6 * max(abs(low), abs(high), width)
    assert all(low - slack <= one <= high + slack for one in ticks)
    assert ticks == sorted(set(ticks))
    assert len(ticks) <= 1.5 * most + 2


@given(
    begin=st.datetimes(datetime(1990, 1, 1), datetime(2050, 1, 1)),  # noqa: DTZ001
    hours=st.floats(1, 24 * 365 * 12),
    zone=st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"]),
)
def test_moments_of_the_grid_are_within_ascend_and_are_round(begin, hours, zone):
    where = ZoneInfo(zone)
    start = begin.replace(tzinfo=UTC)
    end = start + timedelta(hours=hours)
    ticks, _ = moment_ticks(start, end, where)
    assert all(start <= one <= end for one in ticks)
    assert ticks == sorted(ticks)
    assert len(ticks) <= 11
    if hours > 24 * 9:
        assert all(one.hour == 0 and one.minute == 0 for one in ticks)


@pytest.mark.parametrize("days", [5, 12, 13, 29, 61])
def test_the_last_date_ends_inside_the_drawing(days):
    root = drawn(series(np.linspace(0.1, 0.9, days)))
    [along] = [one for one in root.iter("g") if one.get("class") == "along"]
    dates = list(along)
    assert dates
    for one in dates:
        at_its_end = one.get("text-anchor") == "end"
        assert float(one.get("x")) + (0 if at_its_end else 84) <= 888 + 14
