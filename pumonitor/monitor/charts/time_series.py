"""A metric over windows as SVG: line, band, limits, reference, marks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, tzinfo
from typing import Any, Final, Literal

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
from pumonitor.plain_text import one_line
from pumonitor.report.chart_parts import Spec, field, layer, layered, moment, rows_of, second
from pumonitor.report.drawing.panels import draw_on_page
from pumonitor.report.drawing.ticks import moment_texts, moment_ticks
from pumonitor.text import window_text, with_interval

_WIDTH: Final = 888
_HEIGHT: Final = 248
_MOST_DOTS: Final = 150
_MOST_COLUMNS: Final = 400
_HALF_LARGE_DATE: Final = 70
"""Half of a date as narrow pages write it, beyond the room on the right."""
_ROOM: Final = 0.06
_DOT: Final = 49
UPWARD: Final = {
    "style": "page",
    **dict.fromkeys(("domain", "ticks"), False),
    "title": None,
    "labelPadding": 6,
    "minExtent": 46,
}
"""The axis of values on pages."""
_BARE: Final = {
    "style": "page",
    **dict.fromkeys(("labels", "ticks", "grid", "domain"), False),
    "title": None,
    "values": (),
}
"""An axis that is not drawn."""


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
    versions : sequence of str, optional
        Model version of each window; "" where it has none.
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
    versions: Sequence[str] = ()

    def newest(self, number: int) -> Drawn:
        """The newest windows alone."""
        parts = {part.name: getattr(self, part.name) for part in fields(Drawn)}
        shown = {name: part[-number:] for name, part in parts.items() if part is not None}
        return Drawn(**shown)


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
    shown: list[FloatArray | None] = [series.value, series.low, series.high]
    shown += [series.expected, series.expected_low, series.expected_high]
    bottom_and_top = _ends([*shown, np.array([level.value for level in levels])])
    if bottom_and_top is None or not np.isfinite(series.value).any():
        return Markup("")
    begin, end = series.starts[0], series.ends[-1]
    y: Spec = {"scale": {"domain": bottom_and_top, "nice": False}, "axis": UPWARD}
    x: Spec = {
        "scale": {"domain": [moment(begin), moment(end)]},
        "axis": {**time_axis(begin, end, zone), "grid": False},
    }
    rows = list(_rows(series))
    middle = field("middle", "temporal", **x)
    spec = layered(
        *_reference(reference, begin, end, x),
        *_levels(levels, y),
        *_marks(marks, begin, end, x),
        *(
            layer(rows, "area", look={"style": style}, x=middle, y=field(low, **y), y2=second(high))
            for low, high, style in (
                ("low", "high", "band"),
                ("expected_low", "expected_high", "band expected"),
            )
        ),
        layer(rows, "line", look={"style": "line"}, x=middle, y=field("mature", **y)),
        layer(rows, "line", look={"style": "line expected"}, x=middle, y=field("expected", **y)),
        *_dots(rows, middle, y),
        layer(
            list(_columns(series, rows, marks, zone)),
            "rect",
            look={"style": "column"},
            x=field("start", "temporal", **x),
            x2=second("end"),
            tooltip=field("text"),
            href=field("link"),
        ),
        width=_WIDTH,
        height=_HEIGHT,
    )
    # What is read out as one picture would hide the links in it.
    role = "group" if series.links else "img"
    return Markup(  # noqa: S704 (texts in it are escaped)
        draw_on_page(spec, kind="series", title=title, identifier=identifier, role=role)
    )


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
    ends = _ends([value, low, high])
    if ends is None or len(value) < 2:
        return Markup("")
    rows = rows_of(at=np.arange(len(value), dtype=float), value=value, low=low, high=high)
    x = field("at", scale={"domain": [0, len(rows) - 1]}, axis=_BARE)
    y: Spec = {"scale": {"domain": ends, "nice": False}, "axis": _BARE}
    last = [row for row in rows if row["value"] is not None][-1:]
    spec = layered(
        layer(rows, "area", look={"style": "band"}, x=x, y=field("low", **y), y2=second("high")),
        layer(rows, "line", look={"style": "line"}, x=x, y=field("value", **y)),
        layer(last, "point", look={"style": "dot", "size": 25}, x=x, y=field("value", **y)),
        width=120,
        height=18,
    )
    return Markup(draw_on_page(spec, kind="spark", title=title))  # noqa: S704 (it is escaped)


def time_axis(begin: datetime, end: datetime, zone: tzinfo) -> Spec:
    """Ticks at round moments of a zone, in its words."""
    moments, form = moment_ticks(begin, end, zone)
    return {
        "style": "page",
        "title": None,
        "labelPadding": 5,
        "labelFlush": _HALF_LARGE_DATE,
        "values": [moment(at) for at in moments],
        "texts": moment_texts(moments, form),
    }


def _ends(shown: Sequence[FloatArray | None]) -> list[float] | None:
    """Of an axis that holds all numbers; from 0 where they are near."""
    numbers = np.concatenate([numbers for numbers in shown if numbers is not None])
    numbers = numbers[np.isfinite(numbers)]
    if not numbers.size:
        return None
    low, high = float(numbers.min()), float(numbers.max())
    room = _ROOM * (high - low) or 0.1 * abs(high) or 0.1
    return [low - room if low < 0 or low > room else 0.0, high + room]


def _rows(series: Drawn) -> Iterator[dict[str, Any]]:
    """Of each window its numbers, the class of its dot if it has one, and then its link.

    The keyboard stops at windows with a dot: the table beside the chart has them all.
    """
    has_value = np.isfinite(series.value)
    dotted = np.flatnonzero(has_value)
    if len(dotted) > _MOST_DOTS:
        dotted = np.union1d(dotted[-_MOST_DOTS // 3 :], np.flatnonzero(_lonely(has_value)))
    has_dot = np.isin(np.arange(len(has_value)), dotted).tolist()
    nothing = np.full(len(has_value), np.nan)
    numbers = rows_of(
        value=series.value,
        mature=np.where(series.provisional, np.nan, series.value),
        low=series.low,
        high=series.high,
        expected=nothing if series.expected is None else series.expected,
        expected_low=nothing if series.expected_low is None else series.expected_low,
        expected_high=nothing if series.expected_high is None else series.expected_high,
    )
    for index, row in enumerate(numbers):
        start, end = moment(series.starts[index]), moment(series.ends[index])
        dot = "dot provisional" if series.provisional[index] else "dot"
        yield {
            **row,
            "start": start,
            "middle": 0.5 * (start + end),
            "end": end,
            "dot": dot if has_dot[index] else None,
            "link": series.links[index] if series.links and has_dot[index] else None,
        }


def _columns(
    series: Drawn, rows: Sequence[Mapping[str, Any]], marks: Sequence[Mark], zone: tzinfo
) -> Iterator[dict[str, Any]]:
    """Windows that can be pointed at, with what they say; of very many those with a dot."""
    events = _events(series.starts, marks)
    for index, row in enumerate(rows):
        if row["dot"] or len(rows) <= _MOST_COLUMNS:
            lines = [*_window_lines(series, index, zone), *events[index]]
            yield {**row, "text": "\n".join(lines)}


def _dots(rows: Sequence[Mapping[str, Any]], x: Spec, y: Spec) -> Iterator[Spec]:
    for style in ("dot", "dot provisional"):
        dots = [row for row in rows if row["dot"] == style]
        yield layer(dots, "point", look={"style": style, "size": _DOT}, x=x, y=field("value", **y))


def _reference(
    reference: tuple[datetime, datetime] | None, begin: datetime, end: datetime, x: Spec
) -> Iterator[Spec]:
    if reference is None:
        return
    first, last = max(reference[0], begin), min(reference[1], end)
    if first < last:
        rows = [{"start": moment(first), "end": moment(last), "text": "reference"}]
        start = field("start", "temporal", **x)
        yield layer(rows, "rect", look={"style": "reference"}, x=start, x2=second("end"))
        words = {"style": "said", "align": "left", "dx": 4}
        yield layer(rows, "text", look=words, x=start, y={"value": 8}, text=field("text"))


def _levels(levels: Sequence[Level], y: Spec) -> Iterator[Spec]:
    words = {"style": "said", "align": "right", "baseline": "alphabetic", "dx": -4, "dy": -4}
    for level in levels:
        rows, at = [{"value": level.value, "text": level.text}], field("value", **y)
        yield layer(rows, "rule", look={"style": level.kind}, y=at)
        yield layer(rows, "text", look=words, x={"value": _WIDTH}, y=at, text=field("text"))


def _marks(marks: Sequence[Mark], begin: datetime, end: datetime, x: Spec) -> Iterator[Spec]:
    for mark in marks:
        if begin <= mark.at <= end:
            rows = [{"at": moment(mark.at), "number": mark.number, "text": mark.text}]
            at, style = field("at", "temporal", **x), f"mark {mark.kind}"
            ends: Spec = {"y": {"value": -4}, "y2": {"value": _HEIGHT}}
            yield layer(rows, "rule", look={"style": style}, x=at, **ends, tooltip=field("text"))
            words = {"style": "mark", "baseline": "alphabetic"}
            yield layer(rows, "text", look=words, x=at, y={"value": -8}, text=field("number"))


def _window_lines(series: Drawn, index: int, zone: tzinfo) -> Iterator[str]:
    """A window's time, version and numbers."""
    yield window_text(series.starts[index], series.ends[index], zone)
    if np.isfinite(series.value[index]):
        yield value_text(series.value[index], series.low[index], series.high[index])
    else:
        yield "no value"
    if series.provisional[index]:
        yield "labels are still arriving"
    if series.expected is not None and np.isfinite(series.expected[index]):
        low, high = (
            np.nan if ends is None else ends[index]
            for ends in (series.expected_low, series.expected_high)
        )
        yield f"expected when mature: {value_text(series.expected[index], low, high)}"
    if series.versions and series.versions[index]:
        yield f"version {one_line(series.versions[index])}"


def _events(starts: Sequence[datetime], marks: Sequence[Mark]) -> list[list[str]]:
    """Of each window what is marked in it, or in the time without windows after it."""
    texts: list[list[str]] = [[] for _ in starts]
    begins = [start.timestamp() for start in starts]
    for mark in marks:
        index = int(np.searchsorted(begins, mark.at.timestamp(), side="right")) - 1
        if index >= 0:
            texts[index].append(f"{mark.number}: {one_line(mark.text)}")
    return texts


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
