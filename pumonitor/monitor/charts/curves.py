"""Numbers against a number as SVG: curves with bands and bounds, ranges, marked places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from markupsafe import Markup

from pumonitor._arrays import FloatArray
from pumonitor.monitor.charts.time_series import UPWARD
from pumonitor.report.chart_parts import Spec, field, layer, layered, rows_of, second
from pumonitor.report.drawing.panels import draw_on_page

_WIDTH, _HEIGHT = 296, 190
_ROW: Final = 13
_AT_RIGHT: Final = 0.6
_DOT: Final = 64


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
    if not any(np.isfinite(line.y).any() for line in lines) or not across[0] < across[1]:
        return Markup("")
    x: Spec = {
        "scale": {"domain": [*across], "nice": False},
        "axis": {"style": "page", "title": x_title, "grid": False, "labelFlush": False},
    }
    y: Spec = {
        "scale": {"domain": [*upward], "nice": False},
        "axis": UPWARD,
    }
    spec = layered(
        *_ranges(ranges, across, x),
        *(part for line in lines for part in _band_and_bounds(line, x, y)),
        *_places(places, across, x),
        *(
            layer(
                rows_of(x=line.x, y=line.y),
                "line",
                look={"style": f"line {line.kind}", "clip": True},
                x=field("x", **x),
                y=field("y", **y),
            )
            for line in reversed(lines)
        ),
        *_dots(dots, across, upward, x, y),
        width=_WIDTH,
        height=_HEIGHT,
    )
    return Markup(  # noqa: S704 (texts in it are escaped)
        draw_on_page(spec, kind="curves", title=title, identifier=identifier)
    )


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


def _ranges(ranges: Sequence[Range], across: tuple[float, float], x: Spec) -> Iterator[Spec]:
    for one in ranges:
        begin, end = max(one.low, across[0]), min(one.high, across[1])
        if begin < end:
            rows = [{"begin": begin, "end": end}]
            look = {"style": f"range {one.kind}"}
            yield layer(rows, "rect", look=look, x=field("begin", **x), x2=second("end"))


def _places(places: Sequence[Place], across: tuple[float, float], x: Spec) -> Iterator[Spec]:
    """Each with its words in a row of its own, so that near ones can be read."""
    for index, place in enumerate(places):
        if across[0] <= place.at <= across[1]:
            height = -6 - _ROW * (len(places) - 1 - index)
            at_right = place.at - across[0] > _AT_RIGHT * (across[1] - across[0])
            rows, at = [{"at": place.at, "text": place.text}], field("at", **x)
            style, top = f"place {place.kind}", {"value": height - 9}
            yield layer(rows, "rule", look={"style": style}, x=at, y=top, y2={"value": _HEIGHT})
            words = {
                "style": f"said {style}",
                "baseline": "alphabetic",
                "align": "right" if at_right else "left",
                "dx": -4 if at_right else 4,
            }
            yield layer(rows, "text", look=words, x=at, y={"value": height}, text=field("text"))


def _band_and_bounds(line: Line, x: Spec, y: Spec) -> Iterator[Spec]:
    if line.low is not None and line.high is not None:
        yield layer(
            rows_of(x=line.x, low=line.low, high=line.high),
            "area",
            look={"style": "band", "clip": True},
            x=field("x", **x),
            y=field("low", **y),
            y2=second("high"),
        )
    for bound in (line.lowest, line.highest):
        if bound is not None:
            look = {"style": "bound", "clip": True}
            rows = rows_of(x=line.x, y=bound)
            yield layer(rows, "line", look=look, x=field("x", **x), y=field("y", **y))


def _dots(
    dots: Sequence[Dot], across: tuple[float, float], upward: tuple[float, float], x: Spec, y: Spec
) -> Iterator[Spec]:
    """As far as the drawing goes."""
    for dot in dots:
        if not (across[0] <= dot.x <= across[1] and np.isfinite(dot.y)):
            continue
        ends = (dot.y if end is None else end for end in (dot.low, dot.high))
        low, value, high = np.clip([next(ends), dot.y, next(ends)], *upward).tolist()
        rows = [{"x": dot.x, "y": value, "low": low, "high": high, "text": dot.text}]
        at = field("x", **x)
        reach: Spec = {"y": field("low", **y), "y2": second("high")}
        yield layer(rows, "rule", look={"style": "point"}, x=at, **reach)
        look = {"style": "dot", "size": _DOT}
        yield layer(rows, "point", look=look, x=at, y=field("y", **y), tooltip=field("text"))
