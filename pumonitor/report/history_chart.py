"""Headline metrics over the windows up to one, each with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, cast

from pumonitor.report import palette
from pumonitor.report.theme import layered

if TYPE_CHECKING:
    import altair

__all__ = ["HistoryPoint", "history_chart"]

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


def history_chart(history: Mapping[str, Sequence[HistoryPoint]]) -> altair.ConcatChart:
    """A small panel for each metric: intervals as rules, estimates as a line, the last one large.

    Parameters
    ----------
    history : mapping of str to sequence of HistoryPoint
        By heading, in order of time.
    """
    import altair as alt

    panels = [_panel(heading, points) for heading, points in history.items()]
    return cast(
        "altair.ConcatChart",
        alt.concat(*panels, columns=_COLUMNS, spacing=18).resolve_scale(y="independent"),
    )


def _panel(heading: str, points: Sequence[HistoryPoint]) -> altair.LayerChart:
    import altair as alt

    rows: list[dict[str, Any]] = [
        {
            "start": one.start.isoformat(),
            "value": one.value,
            "low": one.low,
            "high": one.high,
            "size": 70 if one is points[-1] else 16,
        }
        for one in points
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(
            "start:T",
            scale=alt.Scale(type="utc"),
            axis=alt.Axis(title=None, tickCount=4, grid=False, labelFlush=False),
        )
    )
    scale = alt.Scale(zero=False, nice=True)
    axis = alt.Axis(title=None, tickCount=4)
    interval = base.mark_rule(strokeWidth=2, color=palette.CORRECTED, opacity=0.35).encode(
        y=alt.Y("low:Q", scale=scale, axis=axis), y2=alt.Y2("high:Q")
    )
    line = base.mark_line(strokeWidth=1.5, color=palette.CORRECTED).encode(
        y=alt.Y("value:Q", scale=scale, axis=axis)
    )
    dots = base.mark_point(filled=True, opacity=1, color=palette.CORRECTED).encode(
        y=alt.Y("value:Q", scale=scale, axis=axis), size=alt.Size("size:Q", scale=None, legend=None)
    )
    return layered(interval, line, dots).properties(width=_WIDTH, height=_HEIGHT, title=heading)
