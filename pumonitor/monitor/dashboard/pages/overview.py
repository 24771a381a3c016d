"""All monitors, a line each: those that need somebody first."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
from markupsafe import Markup

from pumonitor.monitor.charts.time_series import draw_sparkline
from pumonitor.monitor.dashboard.address import number_in
from pumonitor.monitor.dashboard.pages.challengers_found import (
    BetterChallenger,
    said_to_be_better,
)
from pumonitor.monitor.dashboard.pages.standing import MonitorStanding, standings_of
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.in_words import ago, estimate_text, interval_shown, marked, moment_text
from pumonitor.monitor.inspection.alerts_shown import AlertShown
from pumonitor.monitor.ledger.records.columns import HeadlineColumns
from pumonitor.names import title
from pumonitor.report.numbers import percent

__all__ = ["OverviewRow", "overview"]

_ON_A_PAGE: Final = 200
_NO_DRAWING: Final = Markup("")


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewRow:
    """A monitor's line.

    Attributes
    ----------
    monitor : str
    urgency : int
        Less is more urgent; below 4 it needs somebody.
    kind, state, why : str
        Of the badge: its colour and text, and what stands below.
    metric : str
    estimate, interval, estimate_of : str
        Of the newest window whose labels are mature, or of the newest without such.
    sparkline : Markup
    arrived : str
        Share of the newest window's confirmations that have arrived.
    newest, next_judged : str
    better : sequence of BetterChallenger
        Challengers that are surely better than the deployed model.
    """

    monitor: str
    urgency: int
    kind: str
    state: str
    why: str
    metric: str
    estimate: str = ""
    interval: str = ""
    estimate_of: str = ""
    sparkline: Markup = _NO_DRAWING
    arrived: str = "–"
    newest: str = "–"
    next_judged: str = "–"
    better: Sequence[BetterChallenger] = ()


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
        standings = standings_of(site, ledger, visible=visible, now=now)
    rows = [
        _row(
            one,
            site.zone(one.monitor),
            said_to_be_better(site.monitors[one.monitor], one.better),
            now=now,
        )
        for one in standings
    ]
    rows.sort(key=lambda row: (row.urgency, row.monitor))
    return {
        "rows": rows[(page - 1) * _ON_A_PAGE : page * _ON_A_PAGE],
        "page": page,
        "pages": pages,
        "is_cut": any(one.is_cut for one in standings),
        "lead": _lead(rows),
        "now": now,
    }


def _row(
    one: MonitorStanding, zone: ZoneInfo, better: Sequence[BetterChallenger], *, now: datetime
) -> OverviewRow:
    kind, state, why = badge_of(one)
    return OverviewRow(
        monitor=one.monitor,
        urgency=one.urgency,
        kind=kind,
        state=state,
        why=why,
        metric=one.metric,
        **_estimate(one, zone),
        sparkline=_sparkline(*one.series, metric=one.metric),
        arrived="–" if one.labels_arrived is None else percent(round(one.labels_arrived, 2)),
        newest="–" if one.last_prediction is None else ago(one.last_prediction, now),
        next_judged=_next_judged(one, now),
        better=better,
    )


def _estimate(one: MonitorStanding, zone: ZoneInfo) -> Mapping[str, Any]:
    """What the row says of the newest value."""
    found = one.headline
    if found is None:
        return {}
    start = moment_text(found.window_start, zone)
    if found.value is None:
        return {"estimate_of": f"undefined in {start}"}
    return {
        "estimate": marked(
            estimate_text(one.metric, found.value),
            "impossible" if found.infeasible or found.impossible else None,
        ),
        "interval": interval_shown(found.low, found.high),
        "estimate_of": f"{start}, {found.state}"
        f"{', impossible' if found.infeasible or found.impossible else ''}",
    }


def _sparkline(columns: HeadlineColumns, places: Sequence[int], *, metric: str) -> Markup:
    value, low, high = (
        np.array([some[place] for place in places], dtype=float)
        for some in (columns.value, columns.low, columns.high)
    )
    said = f"{title(metric)}, last {len(places)} windows"
    return draw_sparkline(value, low, high, title=said)


def badge_of(one: MonitorStanding) -> tuple[str, str, str]:
    """Colour, text and reason."""
    match one.condition:
        case "failing":
            said = f"{one.failing} window{'s' if one.failing > 1 else ''} cannot be counted"
            fires = f"; {one.fires_said}: {_rules(one.firing)}" if one.firing else ""
            return "failing", said, f"pumonitor doctor shows why{fires}"
        case "critical" | "warning":
            return one.condition, _rules(one.needy), one.needy[0].cause
        case "stopped":
            fires = f"{one.fires_said}; " if one.firing else ""
            return "warning", f"{fires}no new predictions", _muted(one)
        case "muted":
            return "quiet", one.fires_said, _muted(one)
        case "no results":
            return "unknown", "no results yet", ""
        case "fine":
            return "ok", "fine", ""


def _rules(firing: Sequence[AlertShown]) -> str:
    more = f" and {len(firing) - 1} more" if len(firing) > 1 else ""
    return f"{firing[0].alert.rule}{more}"


def _muted(one: MonitorStanding) -> str:
    """What still fires although somebody knows of it, or nobody needs to."""
    if not one.firing:
        return ""
    known = any(not shown.needs_somebody for shown in one.firing)
    return f"acknowledged or silenced: {_rules(one.firing)}" if known else _rules(one.firing)


def _next_judged(one: MonitorStanding, now: datetime) -> str:
    """When the labels of the next window are mature."""
    if one.has_stopped:
        return "once there are predictions"
    if one.next_mature is None:
        return "–"
    said = ago(one.next_mature, now)
    return said if one.next_mature > now else f"due {said}"


def _lead(rows: Sequence[OverviewRow]) -> str:
    needy = sum(row.urgency < 4 for row in rows)
    if not rows:
        return "No monitors"
    if not needy:
        return "No monitor needs attention" if len(rows) > 1 else "The monitor needs no attention"
    of = f"{needy} of {len(rows)} monitors" if len(rows) > 1 else "The monitor"
    return f"{of} {'needs' if needy == 1 else 'need'} attention"
