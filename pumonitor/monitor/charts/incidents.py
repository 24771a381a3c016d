"""Incidents of alerts over time as SVG: a row for each alert, a bar for each incident."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Final

from markupsafe import Markup

from pumonitor.monitor.charts.paths import Frame
from pumonitor.monitor.charts.ticks import moment_ticks

_WIDTH: Final = 960
_ROW: Final = 40
_SIDE, _TOP, _BOTTOM = 14, 6, 28
_BAR: Final = 12
_THINNEST: Final = 3.0
_HALF_TEXT: Final = 34.0

_LABEL: Final = Markup('<text class="said" x="{}" y="{}">{}</text>')
_GROUND: Final = Markup('<path class="grid" d="M{} {}H{}"/>')
_DRAWN: Final = Markup(
    '<a href="{}" aria-label="{}"><title>{}</title>'
    '<rect class="incident {}" x="{:.1f}" y="{}" width="{:.1f}" height="{}" rx="2"/></a>'
)
_TICK: Final = Markup(
    '<path class="grid" d="M{:.1f} {}V{}"/><text class="tick" x="{:.1f}" y="{}">{}</text>'
)


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
    height = _TOP + _ROW * len(rows) + _BOTTOM
    frame = Frame(
        begin=begin.timestamp(),
        end=end.timestamp(),
        bottom=0.0,
        top=1.0,
        size=(_WIDTH, height),
        margins=(_SIDE, _SIDE, _TOP, _BOTTOM),
    )
    parts = [*_ticks(frame, begin, end, zone)]
    for place, row in enumerate(rows):
        parts += _row(frame, row, top=_TOP + _ROW * place)
    return Markup(
        '<svg class="series incidents" role="group" viewBox="0 0 {} {}" aria-label="{}">{}</svg>'
    ).format(_WIDTH, height, title, Markup("").join(parts))


def _ticks(frame: Frame, begin: datetime, end: datetime, zone: tzinfo) -> Iterator[Markup]:
    bottom = frame.size[1] - _BOTTOM
    for tick in moment_ticks(begin, end, zone):
        x = float(frame.x(tick.at.timestamp()))  # type: ignore[union-attr]
        inside = min(max(x, _SIDE + _HALF_TEXT), _WIDTH - _SIDE - _HALF_TEXT)
        yield _TICK.format(x, _TOP, bottom, inside, bottom + 18, tick.text)


def _row(frame: Frame, row: IncidentRow, *, top: int) -> Iterator[Markup]:
    yield _LABEL.format(_SIDE, top + 14, row.label)
    y = top + 20
    yield _GROUND.format(_SIDE, y + _BAR // 2, _WIDTH - _SIDE)
    for bar in row.bars:
        left = max(float(frame.x(bar.begin.timestamp())), float(_SIDE))
        right = min(float(frame.x(bar.end.timestamp())), float(_WIDTH - _SIDE))
        if right < _SIDE or left > _WIDTH - _SIDE:
            continue
        width = max(right - left, _THINNEST)
        yield _DRAWN.format(bar.link, bar.text, bar.text, bar.kind, left, y, width, _BAR)
