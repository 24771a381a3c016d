"""A metric over windows as SVG: line, band, limits, reference, marks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Final, Literal

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
from pumonitor.monitor.charts.paths import Frame, band_path, line_path, with_room
from pumonitor.monitor.charts.ticks import moment_ticks, value_ticks
from pumonitor.text import moment_text, with_interval

_WIDTH: Final = 960
_HEIGHT: Final = 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 14, 22, 30
# Half of a date as wide pages and as narrow ones write it.
_HALF_DATE, _HALF_LARGE_DATE = 34, 84
_MOST_DOTS: Final = 150
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
    '<path class="axis" d="M{:.1f} {}v5"/><text class="{}" x="{:.1f}" y="{}">{}</text>'
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
    kind: Literal["alert", "version", "configuration", "audit", "note"]


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
    frame = frame_of(series, levels)
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
    # What is read out as one picture would hide the links in it.
    role = "group" if series.links else "img"
    return Markup(
        '<svg class="series" role="{}" viewBox="0 0 {} {}" aria-labelledby="{}-title">'
        '<title id="{}-title">{}</title>{}</svg>'
    ).format(role, *frame.size, identifier, identifier, title, Markup("").join(parts))


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
    bottom, top = with_room(float(shown.min()), float(shown.max()))
    frame = Frame(
        begin=0.0,
        end=float(len(value) - 1),
        bottom=bottom,
        top=top,
        size=(_SPARK_WIDTH, _SPARK_HEIGHT),
        margins=(2, 4, 2, 2),
    )
    x = frame.x(np.arange(len(value), dtype=float))
    parts = [
        Markup('<path class="band" d="{}"/>').format(band_path(x, frame.y(low), frame.y(high))),
        Markup('<path class="line" d="{}"/>').format(line_path(x, frame.y(value))),
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


def frame_of(series: Drawn, levels: Sequence[Level]) -> Frame | None:
    """Axes that hold all windows and levels; None if no window has a value."""
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
    bottom, top = with_room(float(shown.min()), float(shown.max()))
    return Frame(
        begin=series.starts[0].timestamp(),
        end=series.ends[-1].timestamp(),
        bottom=bottom,
        top=top,
        size=(_WIDTH, _HEIGHT),
        margins=(_LEFT, _RIGHT, _TOP, _BOTTOM),
    )


def _ground(
    frame: Frame, series: Drawn, zone: tzinfo, reference: tuple[datetime, datetime] | None
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
    for place, tick in enumerate(moment_ticks(series.starts[0], series.ends[-1], zone)):
        x = float(frame.x(tick.at.timestamp()))  # type: ignore[union-attr]
        # Where the page is narrow there is room for the words of a part of them.
        kind = "tick" if place % 3 == 0 else f"tick at-{place % 3}"
        text_x = x
        if x > width - _HALF_LARGE_DATE:
            kind, text_x = f"{kind} end", min(x + _HALF_DATE, width)
        yield _MOMENT_TICK.format(x, height - bottom, kind, text_x, height - bottom + 19, tick.text)
    yield Markup('<path class="axis" d="M{} {}H{}"/>').format(left, height - bottom, width - right)


def _levels(frame: Frame, levels: Sequence[Level]) -> Iterator[Markup]:
    left, right, _, _ = frame.margins
    for level in levels:
        y = float(frame.y(level.value))
        far = frame.size[0] - right
        yield _LEVEL.format(level.kind, left, y, far, far - 4, y - 4, level.text)


def _marks(frame: Frame, marks: Sequence[Mark]) -> Iterator[Markup]:
    _, _, top, bottom = frame.margins
    for mark in marks:
        at = mark.at.timestamp()
        if frame.begin <= at <= frame.end:
            x = float(frame.x(at))
            yield _MARK.format(
                mark.kind, mark.text, x, top - 4, frame.size[1] - bottom, x, top - 8, mark.number
            )


def _bands(frame: Frame, series: Drawn, x: FloatArray) -> Iterator[Markup]:
    d = band_path(x, frame.y(series.low), frame.y(series.high))
    yield Markup('<path class="band" d="{}"/>').format(d)
    if series.expected_low is not None and series.expected_high is not None:
        d = band_path(x, frame.y(series.expected_low), frame.y(series.expected_high))
        yield Markup('<path class="band expected" d="{}"/>').format(d)


def _lines(frame: Frame, series: Drawn, x: FloatArray) -> Iterator[Markup]:
    mature = np.where(series.provisional, np.nan, series.value)
    yield Markup('<path class="line" d="{}"/>').format(line_path(x, frame.y(mature)))
    if series.expected is not None:
        yield Markup('<path class="line expected" d="{}"/>').format(
            line_path(x, frame.y(series.expected))
        )


def _dots(frame: Frame, series: Drawn, x: FloatArray, zone: tzinfo) -> Iterator[Markup]:
    """Of windows that a finger can hit; the table beside the chart has them all."""
    y = frame.y(series.value)
    seen = np.flatnonzero(np.isfinite(series.value))
    lonely = _lonely(np.isfinite(series.value))
    if len(seen) > _MOST_DOTS:
        seen = np.union1d(seen[-_MOST_DOTS // 3 :], np.flatnonzero(lonely))
    for place in seen.tolist():
        said = f"{moment_text(series.starts[place], zone)}: "
        said += value_text(series.value[place], series.low[place], series.high[place])
        kind = "dot provisional" if series.provisional[place] else "dot"
        dot = Markup(
            '<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="3.5"><title>{}</title></circle>'
        ).format(kind, float(x[place]), float(y[place]), said)
        if series.links:
            dot = Markup('<a href="{}" aria-label="{}">{}</a>').format(
                series.links[place], said, dot
            )
        yield dot


def value_text(value: float, low: float, high: float) -> str:
    """A finite value, with its interval if there is one.

    Examples
    --------
    >>> value_text(0.62, 0.5, 0.7), value_text(0.62, np.nan, np.nan)
    ('0.620 (0.500 to 0.700)', '0.620')
    """
    return with_interval(float(value), float(low), float(high))


def _lonely(has_value: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Windows between two without a value: no line shows them."""
    before = np.concatenate([[False], has_value[:-1]])
    after = np.concatenate([has_value[1:], [False]])
    return np.asarray(has_value & ~before & ~after)
