"""The chart that can be moved shows what the drawing shows, and runs no text of anybody."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import altair
import numpy as np
import pytest

from pumonitor.monitor.charts.interactive import interactive_time_series
from pumonitor.monitor.charts.time_series import Drawn, Level, Mark, frame_of

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)
HOSTILE = "\"]);alert(datum['x'])//"


def series(value, *, expected=None, begin=BEGIN, step=DAY):
    value = np.array(value, dtype=float)
    number = len(value)
    is_provisional = np.zeros(number, dtype=bool)
    is_provisional[-1] = expected is not None
    later = np.where(is_provisional, expected or np.nan, np.nan)
    return Drawn(
        starts=[begin + place * step for place in range(number)],
        ends=[begin + (place + 1) * step for place in range(number)],
        value=value,
        low=value - 0.05,
        high=value + 0.02,
        provisional=is_provisional,
        expected=None if expected is None else later,
        expected_low=None if expected is None else later - 0.1,
        expected_high=None if expected is None else later + 0.1,
        links=[f"/windows/{place}" for place in range(number)],
    )


def chart(of, *, zone=UTC, **options):
    return interactive_time_series(of, title="Recall", zone=zone, **options)


def everything(*, text="a note"):
    return chart(
        series([0.5, np.nan, 0.7, 0.6], expected=0.66),
        levels=[Level(0.55, "below 0.55", "limit")],
        marks=[Mark(BEGIN + DAY, 1, text, "alert"), Mark(BEGIN + 2.5 * DAY, 2, text, "note")],
        reference=(BEGIN - DAY, BEGIN + DAY),
    )


def layer(found, style):
    [one] = [one for one in found["layer"] if one["mark"].get("style") == style]
    return one


def test_vega_lite_takes_it():
    found = everything()
    altair.LayerChart.from_dict(found)
    json.dumps(found, allow_nan=False)


def test_numbers_are_those_of_the_series_and_what_is_undefined_is_left_out():
    one, gap, _, last = everything()["data"]["values"]
    assert (one["value"], one["mature"], one["provisional"]) == (0.5, 0.5, None)
    assert (one["low"], one["high"]) == (0.45, 0.52)
    assert (gap["value"], gap["low"]) == (None, None)
    assert (last["mature"], last["provisional"], last["expected"]) == (None, 0.6, 0.66)
    assert last["link"] == "/windows/3"


def test_a_tooltip_says_what_a_window_is_and_what_happened_in_it():
    said = [one["said"].split("\n") for one in everything()["data"]["values"]]
    assert said[0] == ["2026-03-01 00:00 to 2026-03-02 00:00", "0.500 (0.450 to 0.520)"]
    assert said[1][1:] == ["no value", "1: a note"]
    assert said[2][2:] == ["2: a note"]
    assert said[3][1:] == [
        "0.600 (0.550 to 0.620)",
        "labels are still arriving",
        "expected when mature: 0.660 (0.560 to 0.760)",
    ]


def test_axes_limits_marks_and_reference_are_those_of_the_drawing():
    found = everything()
    of = series([0.5, np.nan, 0.7, 0.6], expected=0.66)
    frame = frame_of(of, [Level(0.55, "", "limit")])
    assert found["layer"][0]["encoding"]["y"]["scale"]["domain"] == [frame.bottom, frame.top]
    assert layer(found, "limit")["data"]["values"] == [{"level": 0.55, "text": "below 0.55"}]
    at = {style: layer(found, style)["data"]["values"] for style in ("alert", "mark")}
    assert [one["number"] for one in at["alert"]] == [1]
    assert [one["number"] for one in at["mark"]] == [2]
    # Only what lies in the windows is shaded.
    [shade] = layer(found, "reference")["data"]["values"]
    milliseconds = BEGIN.timestamp() * 1000
    assert shade == {"start": milliseconds, "end": milliseconds + 86_400_000}


def test_dates_stand_where_windows_start_and_numbers_of_marks_inside():
    last = Mark(BEGIN + 3.99 * DAY, 3, "at the end", "note")
    found = chart(series([0.5, 0.7, 0.6, 0.6]), marks=[Mark(BEGIN, 1, "first", "note"), last])
    axis = found["layer"][0]["encoding"]["x"]["axis"]
    begin = int(BEGIN.timestamp() * 1000)
    expected = ", ".join(str(begin + place * 86_400_000) for place in range(5))
    assert axis["values"] == {"expr": f"[{expected}]"}
    # A month that begins is a day as any other.
    assert {axis["format"][one] for one in ("year", "month", "date")} == {"%Y-%m-%d"}
    numbers = [one for one in found["layer"] if one["mark"].get("style") == "number"]
    assert [(one["mark"]["align"], one["data"]["values"][0]["number"]) for one in numbers] == [
        ("left", 1),
        ("right", 3),
    ]


def test_time_is_drawn_by_the_clocks_of_the_zone():
    zone = ZoneInfo("America/New_York")
    midnight = datetime(2026, 3, 7, tzinfo=zone).astimezone(UTC)
    of = series([0.5, 0.6], begin=midnight)
    first = chart(of, zone=zone)["data"]["values"][0]
    assert first["start"] == datetime(2026, 3, 7, tzinfo=UTC).timestamp() * 1000
    assert first["said"].startswith("2026-03-07 00:00")


def test_texts_of_people_are_data():
    found = everything(text=HOSTILE)
    assert HOSTILE in found["data"]["values"][1]["said"]
    for one in [found, *found["layer"]]:
        one.pop("data", None)
    assert "alert(" not in json.dumps(found)


@pytest.mark.parametrize("of", [series([np.nan, np.nan])])
def test_without_a_value_there_is_none(of):
    assert chart(of) is None
