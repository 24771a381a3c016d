"""Parts of a chart: specifications of Vega-Lite as plain dictionaries.

`pumonitor.report.drawing` draws them, and Altair reads them where somebody asks for charts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from pumonitor._arrays import FloatArray
from pumonitor.report import palette
from pumonitor.report.drawing.ticks import moment_ticks
from pumonitor.report.theme import CORRECTED_NAME, UNCORRECTED_NAME

Spec = dict[str, Any]
"""A chart, a layer of one, or a channel."""

MARKED: Final = {"color": palette.INK, "strokeDash": [3, 3], "strokeWidth": 1.25}
"""Look of the rule at a number that was chosen."""


def layer(
    rows: Sequence[Mapping[str, Any]],
    mark: str,
    *,
    look: Mapping[str, Any],
    source: str | None = None,
    **encoding: Spec,
) -> Spec:
    """A mark for each of the rows, or one through all of them.

    `source` names what all of them are, corrected or uncorrected numbers, for channels that show
    the column "source".

    Examples
    --------
    >>> sorted(layer([{"x": 1.0}], "rule", look={"color": "#1f2933"}, x=field("x")))
    ['data', 'encoding', 'mark']
    """
    made: Spec = {
        "data": {"values": list(rows)},
        "mark": {"type": mark, **look},
        "encoding": encoding,
    }
    if source is not None:
        made["transform"] = [{"calculate": f"'{source}'", "as": "source"}]
    return made


def rows_of(**columns: FloatArray) -> list[dict[str, Any]]:
    """Rows of columns of numbers, None where one is missing.

    Examples
    --------
    >>> import numpy as np
    >>> rows_of(x=np.array([0.0, 1.0]), y=np.array([0.5, np.nan]))
    [{'x': 0.0, 'y': 0.5}, {'x': 1.0, 'y': None}]
    """
    plain = (
        [value if math.isfinite(value) else None for value in column.tolist()]
        for column in columns.values()
    )
    return [dict(zip(columns, values, strict=True)) for values in zip(*plain, strict=True)]


def layered(
    *layers: Spec, width: float, height: float | Mapping[str, float], title: str | None = None
) -> Spec:
    """Layers over each other, the first at the bottom, in a plotted area of that size."""
    named = {} if title is None else {"title": title}
    return {"layer": list(layers), "width": width, "height": height, **named}


def field(name: str, kind: str = "quantitative", **channel: Any) -> Spec:
    """A channel that shows a column of the rows: quantitative, temporal or nominal."""
    return {"field": name, "type": kind, **channel}


def second(name: str) -> Spec:
    """The column of the other end of what a mark spans."""
    return {"field": name}


def moment(at: datetime) -> float:
    """A moment as charts take it: milliseconds since 1970."""
    return 1000 * at.timestamp()


def time_axis(begin: datetime, end: datetime, *, most: int) -> Spec:
    """Ticks at round moments of UTC, about so many."""
    moments, form = moment_ticks(begin, end, most=most)
    if begin == end:
        moments, form = [begin], "%Y-%m-%d"
    form = "%m-%d %H:%M" if form == "%H:%M" and end - begin > timedelta(days=1) else form
    return {"values": [moment(at) for at in moments], "format": form, "labelFlush": False}


def source_scale(looks: Sequence[Any]) -> Spec:
    """What corrected and uncorrected numbers look like."""
    return {"domain": [CORRECTED_NAME, UNCORRECTED_NAME], "range": list(looks)}


def by_source(*, with_legend: bool = True) -> dict[str, Spec]:
    """Colour and dash of a line by its source, with one legend for both."""
    legend = {"symbolType": "stroke", "symbolSize": 400} if with_legend else None
    colors = source_scale([palette.CORRECTED, palette.UNCORRECTED])
    dashes = source_scale([[1, 0], [6, 4]])
    return {
        "color": field("source", "nominal", scale=colors, legend=legend),
        "strokeDash": field("source", "nominal", scale=dashes, legend=legend),
    }
