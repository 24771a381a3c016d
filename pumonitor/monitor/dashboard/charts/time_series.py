"""A metric over windows as SVG: line, band, limits, reference, marks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Final, Literal

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from pumonitor.monitor.dashboard.charts.ticks import moment_ticks, value_ticks
from pumonitor.report.numbers import number

__all__ = ["Drawn", "Level", "Mark", "draw_sparkline", "draw_time_series"]

FloatArray = NDArray[np.float64]

_WIDTH: Final = 960
_HEIGHT: Final = 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 14, 22, 30
_MOST_DOTS: Final = 150
_ROOM: Final = 0.06
_SPARK_WIDTH, _SPARK_HEIGHT = 132, 30

_SPARK_DOT: Final = Markup('<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="2.5"/>')
_REFERENCE: Final = Markup(
    '<rect class="reference" x="{:.1f}" y="{}" width="{:.1f}" height="{}"/>'
    '<text class="said" x="{:.1f}" y="{}">reference</text>'
)
_VALUE_TICK: Final = Markup(
    '<path class="grid" d="M{} {:.1f}H{}"/><text class="tick value" x="{}" y="{:.1f}">{}</text>'
)
_MOMENT_TICK: Final = Markup(
    '<path class="axis" d="M{:.1f} {}v5"/><text class="tick" x="{:.1f}" y="{}">{}</text>'
)
_LEVEL: Final = Markup(
    '<path class="{}" d="M{} {:.1f}H{}"/><text class="said end" x="{}" y="{:.1f}">{}</text>'
)
_MARK: Final = Markup(
    '<g class="mark {}"><title>{}</title><path d="M{:.1f} {}V{}"/>'
    '<text x="{:.1f}" y="{}">{}</text></g>'
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawn:
    """Windows of one series, in order; NaN where something is undefined.

    Attributes
    ----------
    starts, ends : sequence of datetime
    value, low, high : ndarray of shape (windows,)
    provisional : ndarray of bool
        Windows whose labels are not mature.
    expected, expected_low, expected_high : ndarray, optional
        What a provisional value is expected to become.
    links : sequence of str, optional
        Address of each window's page.
    """

    starts: Sequence[datetime]
    ends: Sequence[datetime]
    value: FloatArray
    low: FloatArray
    high: FloatArray
    provisional: NDArray[np.bool_]
    expected: FloatArray | None = None
    expected_low: FloatArray | None = None
    expected_high: FloatArray | None = None
    links: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Level:
    """A horizontal line: a rule's limit, or the reference's value."""

    value: float
    text: str
    kind: Literal["limit", "reference"]


@dataclass(frozen=True, slots=True)
class Mark:
    """A vertical line with a number that a list below the chart explains."""

    at: datetime
    number: int
    text: str
    kind: Literal["alert", "version", "configuration", "note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """Positions of moments and values in the drawing."""

    begin: float
    end: float
    bottom: float
    top: float
    size: tuple[int, int] = (_WIDTH, _HEIGHT)
    margins: tuple[int, int, int, int] = field(default=(_LEFT, _RIGHT, _TOP, _BOTTOM))

    def x(self, seconds: FloatArray | float) -> FloatArray:
        left, right, _, _ = self.margins
        share = (np.asarray(seconds) - self.begin) / (self.end - self.begin)
        return np.asarray(left + share * (self.size[0] - left - right))

    def y(self, value: FloatArray | float) -> FloatArray:
        _, _, top, bottom = self.margins
        share = (np.asarray(value, dtype=float) - self.bottom) / (self.top - self.bottom)
        return np.asarray(self.size[1] - bottom - share * (self.size[1] - top - bottom))


def draw_time_series(
    series: Drawn,
    *,
    title: str,
    zone: tzinfo,
    levels: Sequence[Level] = (),
    marks: Sequence[Mark] = (),
    reference: tuple[datetime, datetime] | None = None,
    identifier: str = "chart",
) -> Markup:
    """SVG of a series, which takes its colours from the page's style sheet.

    Parameters
    ----------
    series : Drawn
    title : str
        What is drawn, for readers who hear it.
    zone : tzinfo
        In which moments are written.
    levels : sequence of Level
    marks : sequence of Mark
    reference : (datetime, datetime), optional
        Period that the windows are compared with, shaded.
    identifier : str
        Unique on the page.

    Returns
    -------
    Markup
        "" if no window has a value.
    """
    frame = _frame(series, levels)
    if frame is None:
        return Markup("")
    middle = frame.x(_middles(series))
    parts = [
        *_ground(frame, series, zone, reference),
        *_levels(frame, levels),
        *_marks(frame, marks),
        *_bands(frame, series, middle),
        *_lines(frame, series, middle),
        *_dots(frame, series, middle, zone),
    ]
    return Markup(
        '<svg class="series" role="img" viewBox="0 0 {} {}" aria-labelledby="{}-title">'
        '<title id="{}-title">{}</title>{}</svg>'
    ).format(*frame.size, identifier, identifier, title, Markup("").join(parts))


def draw_sparkline(value: FloatArray, low: FloatArray, high: FloatArray, *, title: str) -> Markup:
    """A small drawing of the last windows' values and intervals.

    Examples
    --------
    >>> values = np.array([0.5, 0.52, np.nan, 0.4])
    >>> "<path" in draw_sparkline(values, values - 0.1, values + 0.1, title="F1, last 4 windows")
    True
    >>> draw_sparkline(values[2:3], values[2:3], values[2:3], title="F1")
    Markup('')
    """
    shown = np.concatenate([value, low, high])
    shown = shown[np.isfinite(shown)]
    if not shown.size or len(value) < 2:
        return Markup("")
    bottom, top = _with_room(float(shown.min()), float(shown.max()))
    frame = _Frame(
        begin=0.0,
        end=float(len(value) - 1),
        bottom=bottom,
        top=top,
        size=(_SPARK_WIDTH, _SPARK_HEIGHT),
        margins=(2, 4, 2, 2),
    )
    x = frame.x(np.arange(len(value), dtype=float))
    parts = [
        Markup('<path class="band" d="{}"/>').format(_band(x, frame.y(low), frame.y(high))),
        Markup('<path class="line" d="{}"/>').format(_line(x, frame.y(value))),
    ]
    last = int(np.flatnonzero(np.isfinite(value))[-1]) if np.isfinite(value).any() else None
    if last is not None:
        parts.append(_SPARK_DOT.format(float(x[last]), float(frame.y(value[last]))))
    return Markup(
        '<svg class="spark" role="img" viewBox="0 0 {} {}" aria-label="{}">{}</svg>'
    ).format(_SPARK_WIDTH, _SPARK_HEIGHT, title, Markup("").join(parts))


def _middles(series: Drawn) -> FloatArray:
    starts = np.array([one.timestamp() for one in series.starts])
    ends = np.array([one.timestamp() for one in series.ends])
    return np.asarray(0.5 * (starts + ends))


def _frame(series: Drawn, levels: Sequence[Level]) -> _Frame | None:
    if not np.isfinite(series.value).any():
        return None
    drawn = [series.value, series.low, series.high]
    drawn += [
        one
        for one in (series.expected, series.expected_low, series.expected_high)
        if one is not None
    ]
    drawn.append(np.array([one.value for one in levels], dtype=float))
    shown = np.concatenate(drawn)
    shown = shown[np.isfinite(shown)]
    bottom, top = _with_room(float(shown.min()), float(shown.max()))
    return _Frame(
        begin=series.starts[0].timestamp(),
        end=series.ends[-1].timestamp(),
        bottom=bottom,
        top=top,
    )


def _with_room(low: float, high: float) -> tuple[float, float]:
    room = _ROOM * (high - low) or 0.1 * abs(high) or 0.1
    return low - room if low < 0 or low > room else 0.0, high + room


def _ground(
    frame: _Frame, series: Drawn, zone: tzinfo, reference: tuple[datetime, datetime] | None
) -> Iterator[Markup]:
    """The reference's shade, and the grid with its numbers."""
    (width, height), (left, right, top, bottom) = frame.size, frame.margins
    if reference is not None:
        begin = max(reference[0].timestamp(), frame.begin)
        end = min(reference[1].timestamp(), frame.end)
        if begin < end:
            x, far = float(frame.x(begin)), float(frame.x(end))
            yield _REFERENCE.format(x, top, far - x, height - top - bottom, x + 4, top + 12)
    for tick in value_ticks(frame.bottom, frame.top):
        y = float(frame.y(float(tick.at)))  # type: ignore[arg-type]
        yield _VALUE_TICK.format(left, y, width - right, left - 6, y + 4, tick.text)
    for tick in moment_ticks(series.starts[0], series.ends[-1], zone):
        x = float(frame.x(tick.at.timestamp()))  # type: ignore[union-attr]
        yield _MOMENT_TICK.format(x, height - bottom, x, height - bottom + 19, tick.text)
    yield Markup('<path class="axis" d="M{} {}H{}"/>').format(left, height - bottom, width - right)


def _levels(frame: _Frame, levels: Sequence[Level]) -> Iterator[Markup]:
    left, right, _, _ = frame.margins
    for level in levels:
        y = float(frame.y(level.value))
        far = frame.size[0] - right
        yield _LEVEL.format(level.kind, left, y, far, far - 4, y - 4, level.text)


def _marks(frame: _Frame, marks: Sequence[Mark]) -> Iterator[Markup]:
    _, _, top, bottom = frame.margins
    for mark in marks:
        at = mark.at.timestamp()
        if frame.begin <= at <= frame.end:
            x = float(frame.x(at))
            yield _MARK.format(
                mark.kind, mark.text, x, top - 4, frame.size[1] - bottom, x, top - 8, mark.number
            )


def _bands(frame: _Frame, series: Drawn, x: FloatArray) -> Iterator[Markup]:
    d = _band(x, frame.y(series.low), frame.y(series.high))
    yield Markup('<path class="band" d="{}"/>').format(d)
    if series.expected_low is not None and series.expected_high is not None:
        d = _band(x, frame.y(series.expected_low), frame.y(series.expected_high))
        yield Markup('<path class="band expected" d="{}"/>').format(d)


def _lines(frame: _Frame, series: Drawn, x: FloatArray) -> Iterator[Markup]:
    mature = np.where(series.provisional, np.nan, series.value)
    yield Markup('<path class="line" d="{}"/>').format(_line(x, frame.y(mature)))
    if series.expected is not None:
        yield Markup('<path class="line expected" d="{}"/>').format(
            _line(x, frame.y(series.expected))
        )


def _dots(frame: _Frame, series: Drawn, x: FloatArray, zone: tzinfo) -> Iterator[Markup]:
    """Of windows that a finger can hit; the table beside the chart has them all."""
    y = frame.y(series.value)
    seen = np.flatnonzero(np.isfinite(series.value))
    lonely = _lonely(np.isfinite(series.value))
    if len(seen) > _MOST_DOTS:
        seen = np.union1d(seen[-_MOST_DOTS // 3 :], np.flatnonzero(lonely))
    for place in seen.tolist():
        start, value = series.starts[place], float(series.value[place])
        said = f"{start.astimezone(zone):%Y-%m-%d %H:%M}: {number(value)}"
        if np.isfinite(series.low[place]) and np.isfinite(series.high[place]):
            said += f" ({number(float(series.low[place]))} to {number(float(series.high[place]))})"
        kind = "dot provisional" if series.provisional[place] else "dot"
        dot = Markup(
            '<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="3.5"><title>{}</title></circle>'
        ).format(kind, float(x[place]), float(y[place]), said)
        if series.links:
            dot = Markup('<a href="{}" aria-label="{}">{}</a>').format(
                series.links[place], said, dot
            )
        yield dot


def _lonely(has_value: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Windows between two without a value: no line shows them."""
    before = np.concatenate([[False], has_value[:-1]])
    after = np.concatenate([has_value[1:], [False]])
    return np.asarray(has_value & ~before & ~after)


def _line(x: FloatArray, y: FloatArray) -> str:
    """A path through all points, broken where one is missing."""
    has_value = np.isfinite(y)
    begins = has_value & ~np.concatenate([[False], has_value[:-1]])
    return "".join(
        f"{'M' if first else 'L'}{one:.1f} {other:.1f}"
        for one, other, first in zip(
            x[has_value].tolist(), y[has_value].tolist(), begins[has_value].tolist(), strict=True
        )
    )


def _band(x: FloatArray, low: FloatArray, high: FloatArray) -> str:
    """Around every run of points with both ends; a single one is a thin bar."""
    has_both = np.isfinite(low) & np.isfinite(high)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], has_both, [False]]).astype(int)))
    drawn = []
    for begin, end in edges.reshape(-1, 2).tolist():
        along, below, above = x[begin:end], low[begin:end], high[begin:end]
        if end - begin == 1:
            along = np.array([along[0] - 1.5, along[0] + 1.5])
            below, above = np.repeat(below, 2), np.repeat(above, 2)
        outline = [
            *zip(along.tolist(), above.tolist(), strict=True),
            *zip(along[::-1].tolist(), below[::-1].tolist(), strict=True),
        ]
        drawn.append("M" + "L".join(f"{one:.1f} {other:.1f}" for one, other in outline) + "Z")
    return "".join(drawn)
