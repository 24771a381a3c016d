"""The drawing of a series over windows as a chart of Vega-Lite, which can be moved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Final

import numpy as np

from pumonitor.monitor.charts.paths import Frame
from pumonitor.monitor.charts.ticks import value_ticks
from pumonitor.monitor.charts.time_series import Drawn, Level, Mark, frame_of, value_text
from pumonitor.text import moments_text

_HEIGHT: Final = 320
_MANY: Final = 250
_X: Final = {"field": "middle", "type": "temporal", "scale": {"type": "utc", "nice": False}}
_FORMATS: Final = {
    **dict.fromkeys(("year", "quarter", "month", "date", "week", "day"), "%Y-%m-%d"),
    "hours": "%H:%M",
}
_DAY: Final = timedelta(days=1)
_MOST_TICKS: Final = 120
_AT_THE_END: Final = 0.97
"""From where on the number of a mark stands on its left, as there is no room on its right."""
_BROKEN: Final = {"invalid": "break-paths-filter-domains", "clip": True}


def interactive_time_series(
    series: Drawn,
    *,
    title: str,
    zone: tzinfo,
    levels: Sequence[Level] = (),
    marks: Sequence[Mark] = (),
    reference: tuple[datetime, datetime] | None = None,
) -> dict[str, Any] | None:
    """What `draw_time_series` draws of the same, to be moved and looked into.

    The script of the pages (``static/interactive.js``) compiles and runs it, with the colours of
    the style sheet. Expressions in it are ours alone: texts of people are data.

    Parameters
    ----------
    series : Drawn
    title : str
        What is drawn, for readers who hear it.
    zone : tzinfo
        By whose clocks time is drawn. An hour that clocks repeat in autumn is drawn over the first.
    levels : sequence of Level
    marks : sequence of Mark
    reference : (datetime, datetime), optional

    Returns
    -------
    dict or None
        A specification of Vega-Lite 6. A window's tooltip has its moment, value, interval, and what
        happened in it. None if no window has a value.
    """
    frame = frame_of(series, levels)
    if frame is None:
        return None
    return {
        "description": title,
        "width": "container",
        "height": _HEIGHT,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"values": list(_windows(series, marks, zone))},
        "layer": [
            _axes(frame, series, zone),
            *_reference(series, zone, reference),
            *_bands(series),
            *_levels(levels),
            *_marks(marks, series, zone),
            *_lines(series),
            _columns(),
        ],
    }


def _clock(moment: datetime, zone: tzinfo) -> int:
    """What clocks of the zone show, as if they showed UTC: milliseconds since 1970."""
    return int(moment.astimezone(zone).replace(tzinfo=UTC).timestamp() * 1000)


def _windows(series: Drawn, marks: Sequence[Mark], zone: tzinfo) -> Iterator[dict[str, Any]]:
    happened = _happened(series.starts, marks)
    of_each = {
        "value": series.value,
        "mature": np.where(series.provisional, np.nan, series.value),
        "provisional": np.where(series.provisional, series.value, np.nan),
        "low": series.low,
        "high": series.high,
        "expected": series.expected,
        "expected_low": series.expected_low,
        "expected_high": series.expected_high,
    }
    for place, (start, end) in enumerate(zip(series.starts, series.ends, strict=True)):
        first, last = _clock(start, zone), _clock(end, zone)
        numbers = {name: _number(of, place) for name, of in of_each.items() if of is not None}
        yield {
            "start": first,
            "end": last,
            "middle": (first + last) // 2,
            **numbers,
            "said": "\n".join([*_said(series, place, zone), *happened[place]]),
            **({"link": series.links[place]} if series.links else {}),
        }


def _said(series: Drawn, place: int, zone: tzinfo) -> Iterator[str]:
    """A window's numbers in the words of the drawing."""
    start, end = series.starts[place], series.ends[place]
    yield moments_text(start, end, zone)
    if np.isfinite(series.value[place]):
        yield value_text(series.value[place], series.low[place], series.high[place])
    else:
        yield "no value"
    if series.provisional[place]:
        yield "labels are still arriving"
    if series.expected is not None and np.isfinite(series.expected[place]):
        low, high = (
            np.nan if one is None else one[place]
            for one in (series.expected_low, series.expected_high)
        )
        yield f"expected when mature: {value_text(series.expected[place], low, high)}"


def _happened(starts: Sequence[datetime], marks: Sequence[Mark]) -> list[list[str]]:
    """Of each window what is marked in it, or in the time without windows after it."""
    found: list[list[str]] = [[] for _ in starts]
    begins = [one.timestamp() for one in starts]
    for mark in marks:
        place = int(np.searchsorted(begins, mark.at.timestamp(), side="right")) - 1
        if place >= 0:
            found[place].append(f"{mark.number}: {mark.text}")
    return found


def _number(of: Any, place: int) -> float | None:
    value = float(of[place])
    return value if np.isfinite(value) else None


def _axes(frame: Frame, series: Drawn, zone: tzinfo) -> dict[str, Any]:
    """Axes of the drawing. Time begins and ends with the windows, by their columns.

    Ticks stand where windows start, and as many have words as there is room for; windows shorter
    than a day have too many, and round hours instead.
    """
    time: dict[str, Any] = {"title": None, "grid": False, "format": _FORMATS}
    starts, ends = series.starts, series.ends
    if ends[0] - starts[0] < _DAY:
        time["labelOverlap"] = True
    else:
        time["labelOverlap"] = "parity"
        # As an expression: the interpreter reads a moment in a list of values as a year.
        moments = (str(_clock(one, zone)) for one in (*starts, ends[-1]))
        time["values"] = {"expr": f"[{', '.join(moments)}]"}
        time["ticks"] = len(starts) < _MOST_TICKS
    ticks = [one.at for one in value_ticks(frame.bottom, frame.top)]
    return {
        "mark": {"type": "point", "opacity": 0},
        "encoding": {
            "x": {
                **_X,
                "axis": time,
            },
            "y": {
                **_value("value"),
                "scale": {"domain": [frame.bottom, frame.top], "nice": False, "zero": False},
                "axis": {"title": None, "values": ticks, "format": ",~r"},
            },
        },
    }


def _value(field: str) -> dict[str, Any]:
    return {"field": field, "type": "quantitative"}


def _reference(
    series: Drawn, zone: tzinfo, reference: tuple[datetime, datetime] | None
) -> Iterator[dict[str, Any]]:
    if reference is None:
        return
    begin, end = max(reference[0], series.starts[0]), min(reference[1], series.ends[-1])
    if begin < end:
        data = {"values": [{"start": _clock(begin, zone), "end": _clock(end, zone)}]}
        x = {**_X, "field": "start"}
        yield {
            "data": data,
            "mark": {"type": "rect", "style": "reference", "clip": True},
            "encoding": {"x": x, "x2": {"field": "end"}},
        }
        yield {
            "data": data,
            "mark": {"type": "text", "style": "said", "text": "reference", "clip": True}
            | {"align": "left", "baseline": "top", "dx": 4, "dy": 18},
            "encoding": {"x": x, "y": {"value": 0}},
        }


def _bands(series: Drawn) -> Iterator[dict[str, Any]]:
    ends = [("low", "high", "band")]
    if series.expected_low is not None and series.expected_high is not None:
        ends.append(("expected_low", "expected_high", "expected-band"))
    for low, high, style in ends:
        yield {
            "mark": {"type": "area", "style": style, **_BROKEN},
            "encoding": {"x": _X, "y": _value(low), "y2": {"field": high}},
        }


def _levels(levels: Sequence[Level]) -> Iterator[dict[str, Any]]:
    if not levels:
        return
    data = {"values": [{"level": one.value, "text": one.text} for one in levels]}
    y = _value("level")
    yield {
        "data": data,
        "mark": {"type": "rule", "style": "limit"},
        "encoding": {"y": y},
    }
    yield {
        "data": data,
        "mark": {"type": "text", "style": "said", "align": "right", "dx": -4, "dy": -7},
        "encoding": {"x": {"value": "width"}, "y": y, "text": {"field": "text"}},
    }


def _marks(marks: Sequence[Mark], series: Drawn, zone: tzinfo) -> Iterator[dict[str, Any]]:
    """Lines with their numbers, those at the right end on the left of the line."""
    begin, end = series.starts[0], series.ends[-1]
    last = begin + _AT_THE_END * (end - begin)
    kinds = {
        (style, align): [
            {"at": _clock(one.at, zone), "number": one.number}
            for one in marks
            if (one.kind == "alert") is (style == "alert") and (one.at > last) is (align == "right")
        ]
        for style in ("mark", "alert")
        for align in ("left", "right")
    }
    for (style, align), values in kinds.items():
        if not values:
            continue
        x = {**_X, "field": "at"}
        yield {
            "data": {"values": values},
            "mark": {"type": "rule", "style": style, "clip": True},
            "encoding": {"x": x},
        }
        yield {
            "data": {"values": values},
            "mark": {"type": "text", "style": "number", "clip": True}
            | {"align": align, "baseline": "top", "dx": 4 if align == "left" else -4, "dy": 3},
            "encoding": {"x": x, "y": {"value": 0}, "text": {"field": "number"}},
        }


def _lines(series: Drawn) -> Iterator[dict[str, Any]]:
    drawn = [("line", "mature", "line")]
    if series.expected is not None:
        drawn.append(("line", "expected", "expected-line"))
    drawn += [("point", "mature", "dot"), ("point", "provisional", "provisional-dot")]
    # Of many windows the dots would hide the line until somebody looks closer.
    small = {"size": 5} if len(series.starts) > _MANY else {}
    for kind, field, style in drawn:
        yield {
            "mark": {"type": kind, "style": style, **_BROKEN, **(small if kind == "point" else {})},
            "encoding": {"x": _X, "y": _value(field)},
        }


def _columns() -> dict[str, Any]:
    """Over each window, from bottom to top: what a mouse or a finger meets."""
    return {
        "params": [
            {
                "name": "grid",
                "select": {
                    "type": "interval",
                    "encodings": ["x"],
                    # A wheel alone scrolls the page, as everywhere else on it.
                    "zoom": "wheel![event.ctrlKey || event.metaKey]",
                },
                "bind": "scales",
            },
            {
                "name": "met",
                "select": {"type": "point", "on": "pointerover", "clear": "pointerout"},
            },
        ],
        "mark": {"type": "rect", "style": "column", "clip": True},
        "encoding": {
            "x": {**_X, "field": "start"},
            "x2": {"field": "end"},
            "tooltip": {"field": "said", "type": "nominal"},
            "opacity": {"condition": {"param": "met", "empty": False, "value": 0.12}, "value": 0},
        },
    }
