"""All monitors, a line each: those that need somebody first."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
from markupsafe import Markup

from pumonitor.monitor.charts.time_series import draw_sparkline
from pumonitor.monitor.dashboard.address import number_in
from pumonitor.monitor.dashboard.pages.challengers_found import said_to_be_better
from pumonitor.monitor.dashboard.pages.monitor_lines import DrawnLine, monitor_lines
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.views.condition import MonitorLine, headline_text, urgency
from pumonitor.names import estimate_text, title
from pumonitor.text import ago_text, interval_shown, marked, moment_cell, percent_text

__all__ = ["overview"]

_ON_A_PAGE: Final = 200


def overview(site: Site, query: Mapping[str, str], *, visible: Collection[str]) -> dict[str, Any]:
    """What the first page shows, read by as many statements for one monitor as for a hundred.

    Parameters
    ----------
    site : Site
    query : mapping of str to str
        Of its address: which page of a long list.
    visible : collection of str
        Monitors that the reader may see.
    """
    pages = max(-(-len(visible) // _ON_A_PAGE), 1)
    page = number_in(query, "page", usual=1, most=pages)
    now = site.clock()
    with site.at_once() as ledger:
        drawn = monitor_lines(site, ledger, visible=visible, now=now)
    drawn.sort(key=lambda one: urgency(one.line))
    shown = drawn[(page - 1) * _ON_A_PAGE : page * _ON_A_PAGE]
    return {
        "rows": [_row(site, one, now=now) for one in shown],
        "page": page,
        "pages": pages,
        "is_cut": any(one.is_cut for one in drawn),
        "lead": headline_text([one.line for one in drawn]),
        "now": now,
    }


def _row(site: Site, drawn: DrawnLine, *, now: datetime) -> dict[str, Any]:
    """The line of a monitor, and its texts."""
    line, zone = drawn.line, site.zone(drawn.line.name)
    arrived = line.labels_arrived
    return {
        "line": line,
        "zone": zone,
        **_estimate(line, zone),
        "sparkline": _sparkline(drawn),
        "arrived": "–" if arrived is None else percent_text(round(arrived, 2)),
        "newest": "–" if line.last_prediction is None else ago_text(line.last_prediction, now),
        "next_judged": _next_judged(line, now),
        "better": said_to_be_better(site.monitors[line.name], line.better_challengers),
    }


def _estimate(line: MonitorLine, zone: ZoneInfo) -> Mapping[str, Any]:
    """What the row says of the newest value."""
    headline = line.headline
    if headline is None:
        return {"estimate_of": "no estimate yet"}
    start = moment_cell(headline.window_start, zone)
    if headline.value is None:
        return {"estimate_of": f"undefined in {start}"}
    is_impossible = headline.infeasible or headline.impossible
    return {
        "estimate": marked(
            estimate_text(line.metric, headline.value), "impossible" if is_impossible else None
        ),
        "interval": interval_shown(headline.low, headline.high),
        "estimate_of": f"{start}, {headline.state}{', impossible' if is_impossible else ''}",
    }


def _sparkline(drawn: DrawnLine) -> Markup:
    value, low, high = (
        np.array([some[index] for index in drawn.indices], dtype=float)
        for some in (drawn.columns.value, drawn.columns.low, drawn.columns.high)
    )
    said = f"{title(drawn.line.metric)}, last {len(drawn.indices)} windows"
    return draw_sparkline(value, low, high, title=said)


def _next_judged(line: MonitorLine, now: datetime) -> str:
    """When the labels of the next window are mature."""
    if line.has_stopped:
        return "once there are predictions"
    if line.next_mature is None:
        return "–"
    said = ago_text(line.next_mature, now)
    return said if line.next_mature > now else f"due {said}"
