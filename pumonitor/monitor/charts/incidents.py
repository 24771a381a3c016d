"""Incidents of alerts over time as SVG: a row for each alert, a bar for each incident."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Final

from markupsafe import Markup

from pumonitor.monitor.charts.time_series import time_axis
from pumonitor.report.chart_parts import Spec, field, layer, layered, moment, second
from pumonitor.report.drawing.panels import draw_on_page

_WIDTH: Final = 932
_ROW: Final = 40
_BAR: Final = 12
_THINNEST: Final = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentBar:
    """An incident.

    Attributes
    ----------
    begin, end : datetime
    kind : str
        Its severity, which gives it its colour.
    text : str
        What it says where it is pointed at.
    link : str
    """

    begin: datetime
    end: datetime
    kind: str
    text: str
    link: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentRow:
    """The incidents of an alert."""

    label: str
    bars: Sequence[IncidentBar]


def draw_incidents(
    rows: Sequence[IncidentRow],
    *,
    begin: datetime,
    end: datetime,
    zone: tzinfo,
    title: str,
) -> Markup:
    """SVG of incidents, which takes its colours from the page's style sheet.

    Parameters
    ----------
    rows : sequence of IncidentRow
    begin, end : datetime
        Ends of the axis; bars are cut there.
    zone : tzinfo
        In which moments are written.
    title : str

    Returns
    -------
    Markup
        "" without rows, or if the axis has no length.
    """
    if not rows or begin >= end:
        return Markup("")
    ends = (moment(begin), moment(end))
    x: Spec = {"scale": {"domain": ends}, "axis": time_axis(begin, end, zone)}
    layers = [spec for index, row in enumerate(rows) for spec in _row(row, _ROW * index, ends, x)]
    spec = layered(*layers, width=_WIDTH, height=_ROW * len(rows))
    return Markup(  # noqa: S704 (texts in it are escaped)
        draw_on_page(spec, kind="series incidents", title=title, role="group")
    )


def _row(row: IncidentRow, top: int, ends: tuple[float, float], x: Spec) -> Iterator[Spec]:
    words = {"style": "said", "align": "left", "baseline": "alphabetic"}
    y = {"value": top + 20 + 0.5 * _BAR}
    name = [{"text": row.label}]
    yield layer(name, "text", look=words, x={"value": 0}, y={"value": top + 14}, text=field("text"))
    yield layer(name, "rule", look={"style": "grid"}, y=y)
    begin, end = ends
    thinnest = _THINNEST * (end - begin) / _WIDTH
    for bar in row.bars:
        left, right = max(moment(bar.begin), begin), min(moment(bar.end), end)
        if right < begin or left > end:
            continue
        drawn = [{"start": left, "end": max(right, left + thinnest)}]
        drawn[0] |= {"text": bar.text, "link": bar.link}  # type: ignore[dict-item]
        yield layer(
            drawn,
            "rect",
            look={"style": f"incident {bar.kind}"},
            x=field("start", "temporal", **x),
            x2=second("end"),
            y={"value": top + 20},
            y2={"value": top + 20 + _BAR},
            tooltip=field("text"),
            href=field("link"),
        )
