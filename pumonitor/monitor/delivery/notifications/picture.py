"""Picture of an alert: its metric over time, with the limit, the reference and the incident."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from pumonitor.monitor.delivery.notifications.words import metric_title
from pumonitor.monitor.rules.alerts.alert import Transition
from pumonitor.names import COUNTS, estimate_text
from pumonitor.plain_text import one_line
from pumonitor.report import palette
from pumonitor.report.theme import themed, to_png, unchecked
from pumonitor.text import day_text, moment_text

if TYPE_CHECKING:
    import altair

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
    with unchecked():
        return to_png(themed(series_chart(about, points)))


def series_chart(about: Transition, points: Sequence[SeriesPoint]) -> altair.LayerChart:
    """The chart, without the look that all charts share."""
    import altair as alt

    low, high = _domain(about, points)
    first, last = points[0].start, max(points[-1].end, about.window_end)
    share = points[-1].end - points[-1].start
    x = {
        "scale": alt.Scale(type="utc", domain=[_text(first), _text(last)], nice=False),
        "axis": alt.Axis(
            title=None, grid=False, tickCount=6, labelOverlap=True, labelFlush=False,
            format=_time_format(last - first, share),
        ),
    }  # fmt: skip
    y = {
        "scale": alt.Scale(domain=[low, high], nice=False, zero=False),
        "axis": alt.Axis(
            title=None, tickCount=5, domain=False, ticks=False, **_number_format(about, high - low)
        ),
    }
    chart = alt.layer(
        *_shades(about, first, x),
        *_bands(points, x, y),
        *_levels(about, low, high, y),
        *_lines(points, x, y),
        *_marks(about, points, x, y),
    )
    chart = chart.properties(
        width=_WIDTH,
        height=_HEIGHT,
        title=alt.TitleParams(
            metric_title(about.metric), subtitle=_subtitle(about, points), offset=10
        ),
    )
    return cast("altair.LayerChart", chart)


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


def _shades(about: Transition, first: datetime, x: dict[str, Any]) -> Iterator[altair.Chart]:
    """Shade the incident so far, and more strongly the window of the message."""
    since = about.firing_since or about.window_start
    began = max(since, first)
    if began < about.window_start:
        yield _shade(began, about.window_end, 0.10, about, x)
    yield _shade(about.window_start, about.window_end, 0.22, about, x)


def _shade(
    start: datetime, end: datetime, opacity: float, about: Transition, x: dict[str, Any]
) -> altair.Chart:
    import altair as alt

    data = alt.InlineData(values=[{"start": _text(start), "end": _text(end)}])
    mark = alt.Chart(data).mark_rect(color=_colour(about), opacity=opacity, clip=True)
    return cast("altair.Chart", mark.encode(x=alt.X("start:T", **x), x2="end:T"))


def _bands(
    points: Sequence[SeriesPoint], x: dict[str, Any], y: dict[str, Any]
) -> Iterator[altair.Chart]:
    """Draw the intervals, with a gap where there is none; a single one is a line."""
    import altair as alt

    for run in _runs(points, lambda point: point.low is not None and point.high is not None):
        data = alt.InlineData(values=[
            {"at": _text(one.middle), "low": one.low, "high": one.high} for one in run
        ])  # fmt: skip
        base = alt.Chart(data)
        mark = (
            base.mark_area(color=palette.CORRECTED, opacity=0.2, clip=True)
            if len(run) > 1
            else base.mark_rule(color=palette.CORRECTED, opacity=0.4, strokeWidth=2, clip=True)
        )
        yield cast(
            "altair.Chart", mark.encode(x=alt.X("at:T", **x), y=alt.Y("low:Q", **y), y2="high:Q")
        )


def _lines(
    points: Sequence[SeriesPoint], x: dict[str, Any], y: dict[str, Any]
) -> Iterator[altair.Chart]:
    import altair as alt

    for run in _runs(points, lambda point: point.value is not None):
        data = alt.InlineData(values=[{"at": _text(one.middle), "value": one.value} for one in run])
        place = {"x": alt.X("at:T", **x), "y": alt.Y("value:Q", **y)}
        base = alt.Chart(data)
        if len(run) > 1:
            yield cast(
                "altair.Chart",
                base.mark_line(color=palette.CORRECTED, strokeWidth=2, strokeJoin="round").encode(
                    **place
                ),
            )
        size = 18 if len(points) > 45 else 34
        yield cast(
            "altair.Chart",
            base.mark_circle(color=palette.CORRECTED, size=size, opacity=1).encode(**place),
        )


def _levels(
    about: Transition, low: float, high: float, y: dict[str, Any]
) -> Iterator[altair.Chart]:
    """Draw the reference and the limit as labelled horizontal lines."""
    import altair as alt

    levels = {
        "limit": (about.limit_value, palette.UNCORRECTED, [6, 4]),
        "reference": (about.reference, palette.MUTED, [2, 3]),
    }
    drawn = {name: value for name, (value, *_) in levels.items() if value is not None}
    places = _apart(drawn, low, high)
    for name, value in drawn.items():
        _, colour, dash = levels[name]
        data = alt.InlineData(values=[{"value": value}])
        line = alt.Chart(data).mark_rule(color=colour, strokeDash=dash, strokeWidth=1.6)
        yield cast("altair.Chart", line.encode(y=alt.Y("value:Q", **y)))
        words = f"{name} {estimate_text(about.metric, value)}"
        text = alt.Chart(data).mark_text(
            text=words, color=colour, align="left", baseline="middle", dx=6, fontSize=12
        )
        yield cast("altair.Chart", text.encode(x=alt.value(_WIDTH), y=alt.value(places[name])))


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


def _marks(
    about: Transition, points: Sequence[SeriesPoint], x: dict[str, Any], y: dict[str, Any]
) -> Iterator[altair.Chart]:
    """Draw the value of the message as a large point with its number."""
    import altair as alt

    own = next((one for one in points if one.start == about.window_start), None)
    value = about.value if own is None or own.value is None else own.value
    if value is None:
        return
    at = about.window_start + (about.window_end - about.window_start) / 2
    data = alt.InlineData(values=[{"at": _text(at), "value": value}])
    place = {"x": alt.X("at:T", **x), "y": alt.Y("value:Q", **y)}
    dot = alt.Chart(data).mark_point(
        filled=True, shape="diamond", size=150, color=_colour(about), opacity=1,
        stroke=palette.BACKGROUND, strokeWidth=1.5,
    )  # fmt: skip
    yield cast("altair.Chart", dot.encode(**place))


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


def _number_format(about: Transition, height: float) -> dict[str, Any]:
    if about.metric in COUNTS:
        return {"format": ",.0f", "tickMinStep": 1}
    decimals = min(max(1 - math.floor(math.log10(height / 2)), 0), 6) if height > 0 else 2
    return {"format": f",.{decimals}f"}


def _time_format(length: timedelta, window: timedelta) -> str:
    if window < timedelta(days=1):
        return "%-d %b %H:%M" if length > timedelta(days=1) else "%H:%M"
    return "%b %Y" if length > timedelta(days=300) else "%-d %b"


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
