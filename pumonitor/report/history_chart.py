"""Headline metrics over the windows up to one, each with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pumonitor.report import palette
from pumonitor.report.chart_parts import Spec, field, layer, layered, moment, second, time_axis

_WIDTH: Final = 260
_HEIGHT: Final = 110
_COLUMNS: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPoint:
    """An estimate of one window; None where it is undefined."""

    start: datetime
    value: float | None
    low: float | None
    high: float | None


def history_chart(history: Mapping[str, Sequence[HistoryPoint]]) -> Spec:
    """A small panel for each metric: intervals as rules, estimates as a line, the last one large.

    Parameters
    ----------
    history : mapping of str to sequence of HistoryPoint
        By heading, in order of time.
    """
    panels = [_panel(heading, points) for heading, points in history.items()]
    apart = {"scale": {"y": "independent"}}
    return {"concat": panels, "columns": _COLUMNS, "spacing": 18, "resolve": apart}


def _panel(heading: str, points: Sequence[HistoryPoint]) -> Spec:
    rows = [
        {
            "start": moment(one.start),
            "value": one.value,
            "low": one.low,
            "high": one.high,
            "size": 70 if one is points[-1] else 16,
        }
        for one in points
    ]
    ticks = time_axis(points[0].start, points[-1].start, most=4)
    axis = {"title": None, "grid": False, **ticks}
    x = field("start", "temporal", scale={"type": "utc"}, axis=axis)
    how: Spec = {"scale": {"zero": False, "nice": True}, "axis": {"title": None, "tickCount": 4}}
    value = field("value", **how)
    color = palette.CORRECTED
    return layered(
        layer(
            rows,
            "rule",
            look={"strokeWidth": 2, "color": color, "opacity": 0.35},
            x=x,
            y=field("low", **how),
            y2=second("high"),
        ),
        layer(rows, "line", look={"strokeWidth": 1.5, "color": color}, x=x, y=value),
        layer(
            rows,
            "point",
            look={"filled": True, "opacity": 1, "color": color},
            x=x,
            y=value,
            size=field("size", scale=None, legend=None),
        ),
        width=_WIDTH,
        height=_HEIGHT,
        title=heading,
    )
