"""Picture of an alert: its metric over time, with the limit, the reference and the incident."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final, cast

import numpy as np

from pumonitor.monitor.delivery.notifications.words import metric_title
from pumonitor.monitor.rules.alerts.alert import Transition
from pumonitor.names import COUNTS, estimate_text
from pumonitor.plain_text import one_line
from pumonitor.report import palette
from pumonitor.report.chart_parts import Spec, field, layer, layered, moment, second, time_axis
from pumonitor.report.drawing.ticks import number_ticks
from pumonitor.report.theme import to_png
from pumonitor.text import day_text, moment_text

_WIDTH, _HEIGHT, _LABEL_GAP = 560, 210, 15
_ABOVE: Final = 0.06
"""Empty space above and below, as a share of the height."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesPoint:
    """A window of the series, as it was known when the alert was decided.

    Attributes
    ----------
    start, end : datetime
    value, low, high : float or None
        None where the metric has none.
    """

    start: datetime
    end: datetime
    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def middle(self) -> datetime:
        """Middle of the window, where its point is drawn."""
        return self.start + (self.end - self.start) / 2


ReadSeries = Callable[[Transition], Sequence[SeriesPoint]]
"""From a transition to the windows up to its own, in order of time; empty where there are none."""


def draw_series(about: Transition, points: Sequence[SeriesPoint]) -> bytes | None:
    """A PNG picture, None where there are fewer than two values to draw."""
    if sum(point.value is not None for point in points) < 2:
        return None
    return to_png(series_chart(about, points))


def series_chart(about: Transition, points: Sequence[SeriesPoint]) -> Spec:
    """The chart, without the look that all charts share."""
    low, high = _domain(about, points)
    first, last = points[0].start, max(points[-1].end, about.window_end)
    x: Spec = {
        "scale": {"type": "utc", "domain": [moment(first), moment(last)], "nice": False},
        "axis": {"title": None, "grid": False, **time_axis(first, last, most=6)},
    }
    y: Spec = {
        "scale": {"domain": [low, high], "nice": False, "zero": False},
        "axis": {"title": None, "domain": False, "ticks": False, **_value_axis(about, low, high)},
    }
    title = {"text": metric_title(about.metric), "subtitle": _subtitle(about, points), "offset": 10}
    return {
        **layered(
            *_shades(about, first, x),
            *_bands(points, low, high, x, y),
            *_levels(about, low, high, y),
            *_lines(points, x, y),
            *_marks(about, points, x, y),
            width=_WIDTH,
            height=_HEIGHT,
        ),
        "title": title,
    }


def _domain(about: Transition, points: Sequence[SeriesPoint]) -> tuple[float, float]:
    """Range of the axis: all values and levels, and all intervals except the widest tenth."""
    levels = [one for one in (about.limit_value, about.reference) if one is not None]
    needed = [*levels, *(point.value for point in points if point.value is not None)]
    lows = [point.low for point in points if point.low is not None]
    highs = [point.high for point in points if point.high is not None]
    if lows and highs:
        needed += [float(np.quantile(lows, 0.1)), float(np.quantile(highs, 0.9))]
        needed += [end for end in (about.low, about.high) if end is not None]
    low, high = min(needed), max(needed)
    space = _ABOVE * (high - low) or 0.05 * max(abs(high), 1e-9)
    if about.metric in COUNTS or 0 <= low <= space:
        return 0.0, high + space
    return low - space, high + space


def _shades(about: Transition, first: datetime, x: Spec) -> Iterator[Spec]:
    """Shade the incident so far, and more strongly the window of the message."""
    began = max(about.firing_since or about.window_start, first)
    periods = [(about.window_start, 0.22)]
    if began < about.window_start:
        periods.insert(0, (began, 0.10))
    for start, opacity in periods:
        yield layer(
            [{"start": moment(start), "end": moment(about.window_end)}],
            "rect",
            look={"color": _colour(about), "opacity": opacity},
            x=field("start", "temporal", **x),
            x2=second("end"),
        )


def _bands(
    points: Sequence[SeriesPoint], low: float, high: float, x: Spec, y: Spec
) -> Iterator[Spec]:
    """Draw the intervals as far as the axis goes, with gaps."""
    for run in _runs(points, lambda point: point.low is not None and point.high is not None):
        rows = [
            {
                "at": moment(point.middle),
                "low": min(max(cast("float", point.low), low), high),
                "high": min(max(cast("float", point.high), low), high),
            }
            for point in run
        ]
        yield layer(
            rows,
            "area",
            look={"color": palette.CORRECTED, "opacity": 0.2},
            x=field("at", "temporal", **x),
            y=field("low", **y),
            y2=second("high"),
        )


def _lines(points: Sequence[SeriesPoint], x: Spec, y: Spec) -> Iterator[Spec]:
    place: Spec = {"x": field("at", "temporal", **x), "y": field("value", **y)}
    dots = {"filled": True, "opacity": 1, "size": 18 if len(points) > 45 else 34}
    for run in _runs(points, lambda point: point.value is not None):
        rows = [{"at": moment(point.middle), "value": point.value} for point in run]
        color = {"color": palette.CORRECTED}
        if len(run) > 1:
            line = {**color, "strokeWidth": 2, "strokeJoin": "round"}
            yield layer(rows, "line", look=line, **place)
        yield layer(rows, "point", look={**color, **dots}, **place)


def _levels(about: Transition, low: float, high: float, y: Spec) -> Iterator[Spec]:
    """Draw the reference and the limit as labelled horizontal lines."""
    levels = {
        "limit": (about.limit_value, palette.UNCORRECTED, [6, 4]),
        "reference": (about.reference, palette.MUTED, [2, 3]),
    }
    drawn = {name: value for name, (value, *_) in levels.items() if value is not None}
    heights = _apart(drawn, low, high)
    for name, value in drawn.items():
        _, colour, dash = levels[name]
        rows = [{"value": value, "text": f"{name} {estimate_text(about.metric, value)}"}]
        line = {"color": colour, "strokeDash": dash, "strokeWidth": 1.6}
        yield layer(rows, "rule", look=line, y=field("value", **y))
        yield layer(
            rows,
            "text",
            look={"color": colour, "align": "left", "baseline": "middle", "dx": 6},
            x={"value": _WIDTH},
            y={"value": heights[name]},
            text=field("text", "nominal"),
        )


def _apart(levels: dict[str, float], low: float, high: float) -> dict[str, float]:
    """Heights of the labels, far enough from each other to be read."""
    places = {name: _HEIGHT * (high - value) / (high - low) for name, value in levels.items()}
    ordered = sorted(places, key=lambda name: places[name])
    for upper, lower in pairwise(ordered):
        missing = _LABEL_GAP - (places[lower] - places[upper])
        if missing > 0:
            places[upper] -= missing / 2
            places[lower] += missing / 2
    return places


def _marks(about: Transition, points: Sequence[SeriesPoint], x: Spec, y: Spec) -> Iterator[Spec]:
    """Draw the value of the message as a large point with its number."""
    own = next((one for one in points if one.start == about.window_start), None)
    value = about.value if own is None or own.value is None else own.value
    if value is None:
        return
    at = about.window_start + (about.window_end - about.window_start) / 2
    yield layer(
        [{"at": moment(at), "value": value}],
        "point",
        look={
            "filled": True,
            "shape": "diamond",
            "size": 150,
            "opacity": 1,
            "color": _colour(about),
            "stroke": palette.BACKGROUND,
            "strokeWidth": 1.5,
        },
        x=field("at", "temporal", **x),
        y=field("value", **y),
    )


def _runs(
    points: Sequence[SeriesPoint], has: Callable[[SeriesPoint], bool]
) -> Iterable[list[SeriesPoint]]:
    """Runs of consecutive windows that satisfy a condition."""
    run: list[SeriesPoint] = []
    for point in points:
        if not has(point) or (run and point.start > run[-1].end):
            if run:
                yield run
            run = []
        if has(point):
            run.append(point)
    if run:
        yield run


def _subtitle(about: Transition, points: Sequence[SeriesPoint]) -> str:
    version = f"version {about.model_version}" if about.model_version else ""
    is_short = about.window_end - about.window_start < timedelta(days=1)
    own = moment_text(about.window_start) if is_short else day_text(about.window_start)
    with_interval = any(point.low is not None for point in points)
    parts = [
        one_line(", ".join(part for part in (about.monitor, about.segment, version) if part)),
        "band: 95% interval" if with_interval else "",
        f"diamond: {'good again' if about.reason == 'good' else 'this alert'}, {own}",
    ]
    return "  ·  ".join(part for part in parts if part)


def _colour(about: Transition) -> str:
    return palette.CORRECTED if about.kind == "resolved" else palette.UNCORRECTED


def _value_axis(about: Transition, low: float, high: float) -> Spec:
    """Whole numbers of what is counted; digits that tell ticks apart of others."""
    if about.metric in COUNTS:
        whole = [value for value in number_ticks(low, high, 5) if value == int(value)]
        return {"values": whole, "format": ",.0f"}
    height = high - low
    decimals = min(max(1 - math.floor(math.log10(height / 2)), 0), 6) if height > 0 else 2
    return {"tickCount": 5, "format": f",.{decimals}f"}
