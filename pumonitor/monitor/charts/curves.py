"""Numbers against a number as SVG: curves with bands and bounds, ranges, marked places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from markupsafe import Markup

from pumonitor._arrays import FloatArray
from pumonitor.monitor.charts.paths import Frame, band_path, line_path
from pumonitor.monitor.charts.ticks import value_ticks

_SIZE: Final = (360, 250)
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 12, 18, 42
_ROW: Final = 13
_MOST_TICKS: Final = 5

_RANGE: Final = Markup('<rect class="{}" x="{:.1f}" y="{}" width="{:.1f}" height="{}"/>')
_VALUE_TICK: Final = Markup(
    '<path class="grid" d="M{} {:.1f}H{}"/><text class="tick value" x="{}" y="{:.1f}">{}</text>'
)
_ALONG_TICK: Final = Markup(
    '<path class="axis" d="M{:.1f} {}v5"/><text class="tick" x="{:.1f}" y="{}">{}</text>'
)
_PLACE: Final = Markup(
    '<g class="place {}"><path d="M{:.1f} {}V{}"/>'
    '<text class="said {}" x="{:.1f}" y="{}">{}</text></g>'
)
_INSIDE: Final = Markup(
    '<clipPath id="{}-inside">'
    '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/></clipPath>'
)
_PATH: Final = Markup('<path class="{}" clip-path="url(#{}-inside)" d="{}"/>')
_EDGE: Final = 1.5
"""Half the width of a line, which is not cut where it runs along an axis."""

_DOT: Final = Markup(
    '<g class="point"><path d="M{:.1f} {:.1f}V{:.1f}"/>'
    '<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="4"><title>{}</title></circle></g>'
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Line:
    """A curve; NaN where it has no value.

    Attributes
    ----------
    x, y : ndarray of shape (points,)
    low, high : ndarray, optional
        Its band.
    lowest, highest : ndarray, optional
        Its bounds.
    kind : str
        How it is drawn.
    """

    x: FloatArray
    y: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None
    lowest: FloatArray | None = None
    highest: FloatArray | None = None
    kind: Literal["estimate", "uncorrected", "others", "confirmed"] = "estimate"


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers along the axis that are shaded, such as an interval."""

    low: float
    high: float
    kind: Literal["interval", "possible"] = "interval"


@dataclass(frozen=True, slots=True)
class Place:
    """A number along the axis that is marked, such as a threshold."""

    at: float
    text: str
    kind: Literal["now", "chosen", "best"] = "now"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """An estimate with its interval, and the words for it."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    text: str


def draw_curves(
    lines: Sequence[Line],
    *,
    title: str,
    identifier: str,
    x_title: str,
    across: tuple[float, float],
    upward: tuple[float, float] = (0.0, 1.0),
    ranges: Sequence[Range] = (),
    places: Sequence[Place] = (),
    dots: Sequence[Dot] = (),
) -> Markup:
    """SVG of curves, which takes its colours from the page's style sheet.

    Parameters
    ----------
    lines : sequence of Line
    title : str
        What is drawn, for readers who hear it.
    identifier : str
        Unique on the page.
    x_title : str
        What the numbers along the axis are.
    across, upward : (float, float)
        Ends of the axes. A line that goes on beyond them is cut where it leaves the drawing, so
        that it cannot be read as a number there.
    ranges : sequence of Range
    places : sequence of Place
    dots : sequence of Dot

    Returns
    -------
    Markup
        "" if no line has a value.

    Examples
    --------
    >>> x = np.array([0.0, 0.5, 1.0])
    >>> drawn = draw_curves([Line(x=x, y=1 - x)], title="Recall by threshold", identifier="a",
    ...                     x_title="Threshold", across=(0.0, 1.0))
    >>> 'class="line estimate"' in drawn
    True
    """
    if not any(np.isfinite(one.y).any() for one in lines) or not across[0] < across[1]:
        return Markup("")
    frame = Frame(
        begin=across[0],
        end=across[1],
        bottom=upward[0],
        top=upward[1],
        size=_SIZE,
        margins=(_LEFT, _RIGHT, _TOP + _ROW * max(len(places) - 1, 0), _BOTTOM),
    )
    parts = [
        *_ranges(frame, ranges),
        *_ground(frame, x_title),
        _inside(frame, identifier),
        *(part for one in lines for part in _band_and_bounds(frame, one, identifier)),
        *_places(frame, places),
        *(_line(frame, one, identifier) for one in reversed(lines)),
        *_dots(frame, dots),
    ]
    return Markup(
        '<svg class="curves" role="img" viewBox="0 0 {} {}" aria-labelledby="{}-title">'
        '<title id="{}-title">{}</title>{}</svg>'
    ).format(*_SIZE, identifier, identifier, title, Markup("").join(parts))


def steps(edges: FloatArray, heights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The outline of bars between edges.

    Examples
    --------
    >>> x, y = steps(np.array([0.0, 1.0, 2.0]), np.array([3.0, 5.0]))
    >>> x.tolist(), y.tolist()
    ([0.0, 1.0, 1.0, 2.0], [3.0, 3.0, 5.0, 5.0])
    """
    return np.repeat(edges, 2)[1:-1], np.repeat(heights, 2)


def over_thresholds(
    lowest: FloatArray, highest: FloatArray, height: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The outline of what is known at the lowest score of each cell.

    A threshold between two cells flags what the upper one does: there the outline steps, as the
    number itself does. Within a cell it is a slope between the two numbers that are known.

    Examples
    --------
    >>> x, y = over_thresholds(np.array([0.0, 0.5]), np.array([0.1, 0.9]), np.array([7.0, 3.0]))
    >>> x.tolist(), y.tolist()
    ([0.0, 0.1, 0.5], [7.0, 3.0, 3.0])
    """
    return np.column_stack([lowest, highest]).ravel()[:-1], np.repeat(height, 2)[1:]


def _inside(frame: Frame, identifier: str) -> Markup:
    """Where lines are drawn."""
    (width, height), (left, right, top, bottom) = frame.size, frame.margins
    return _INSIDE.format(
        identifier,
        *(left - _EDGE, top - _EDGE),
        *(width - left - right + 2 * _EDGE, height - top - bottom + 2 * _EDGE),
    )


def _ground(frame: Frame, x_title: str) -> Iterator[Markup]:
    """The grid with its numbers, and what the axis means."""
    (width, height), (left, right, _, bottom) = frame.size, frame.margins
    for tick in value_ticks(frame.bottom, frame.top, most=_MOST_TICKS):
        y = float(frame.y(float(tick.at)))  # type: ignore[arg-type]
        yield _VALUE_TICK.format(left, y, width - right, left - 6, y + 4, tick.text)
    for tick in value_ticks(frame.begin, frame.end, most=_MOST_TICKS):
        x = float(frame.x(float(tick.at)))  # type: ignore[arg-type]
        yield _ALONG_TICK.format(x, height - bottom, x, height - bottom + 18, tick.text)
    yield Markup('<path class="axis" d="M{} {}H{}"/>').format(left, height - bottom, width - right)
    middle = 0.5 * (left + width - right)
    yield Markup('<text class="said middle" x="{:.1f}" y="{}">{}</text>').format(
        middle, height - 6, x_title
    )


def _ranges(frame: Frame, ranges: Sequence[Range]) -> Iterator[Markup]:
    _, _, top, bottom = frame.margins
    for one in ranges:
        begin, end = max(one.low, frame.begin), min(one.high, frame.end)
        if begin < end:
            x, far = float(frame.x(begin)), float(frame.x(end))
            yield _RANGE.format(f"range {one.kind}", x, top, far - x, frame.size[1] - top - bottom)


def _places(frame: Frame, places: Sequence[Place]) -> Iterator[Markup]:
    """Each with its words in a row of its own, so that near ones can be read."""
    _, _, top, bottom = frame.margins
    for row, one in enumerate(places):
        if frame.begin <= one.at <= frame.end:
            x = float(frame.x(one.at))
            towards = "end" if x > 0.6 * frame.size[0] else "begin"
            beside = x + (-4 if towards == "end" else 4)
            height = top - 6 - _ROW * (len(places) - 1 - row)
            yield _PLACE.format(
                one.kind,
                *(x, height - 9, frame.size[1] - bottom),
                *(towards, beside, height, one.text),
            )


def _band_and_bounds(frame: Frame, line: Line, identifier: str) -> Iterator[Markup]:
    x = frame.x(line.x)
    if line.low is not None and line.high is not None:
        yield _PATH.format("band", identifier, band_path(x, frame.y(line.low), frame.y(line.high)))
    for bound in (line.lowest, line.highest):
        if bound is not None:
            yield _PATH.format("bound", identifier, line_path(x, frame.y(bound)))


def _line(frame: Frame, line: Line, identifier: str) -> Markup:
    path = line_path(frame.x(line.x), frame.y(line.y))
    return _PATH.format(f"line {line.kind}", identifier, path)


def _dots(frame: Frame, dots: Sequence[Dot]) -> Iterator[Markup]:
    for one in dots:
        if not (frame.begin <= one.x <= frame.end and np.isfinite(one.y)):
            continue
        x, y = float(frame.x(one.x)), float(_height(frame, one.y))
        ends = [y if end is None else float(_height(frame, end)) for end in (one.low, one.high)]
        yield _DOT.format(x, ends[0], ends[1], x, y, one.text)


def _height(frame: Frame, value: FloatArray | float) -> FloatArray:
    """As far as the drawing goes."""
    return frame.y(np.clip(np.asarray(value, dtype=float), frame.bottom, frame.top))
