"""All monitors, a line each: those that need somebody first."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
from markupsafe import Markup

from pumonitor.monitor.config.configuration import Monitor
from pumonitor.monitor.dashboard.charts.time_series import draw_sparkline
from pumonitor.monitor.dashboard.in_words import ago, estimate_text, interval_shown, moment_text
from pumonitor.monitor.dashboard.pages.alerts_page import AlertShown, alerts_shown
from pumonitor.monitor.dashboard.pages.monitor_page import usual_metric
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.ledger.records.columns import HeadlineColumns, WorkColumns
from pumonitor.monitor.windows.due.due_windows import have_stopped
from pumonitor.names import title
from pumonitor.report.numbers import percent

__all__ = ["OverviewRow", "overview"]

_WINDOWS: Final = 30
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What is due of one monitor."""

    failing: int = 0
    last_prediction: datetime | None = None
    next_mature: datetime | None = None


def overview(site: Site, *, visible: Collection[str]) -> dict[str, Any]:
    """What the first page shows, read by as many statements for one monitor as for a hundred.

    Parameters
    ----------
    site : Site
    visible : collection of str
        Monitors that the reader may see.
    """
    now = site.clock()
    metrics = {name: usual_metric(site.monitors[name]) for name in visible}
    with site.at_once() as ledger:
        found = ledger.overview(metrics, now=now, number=_WINDOWS)
        alerts: dict[str, list[AlertShown]] = {}
        for one in alerts_shown(ledger, now=now, monitors=visible):
            alerts.setdefault(one.alert.monitor, []).append(one)
    newest, series, work = _places(found.newest), _places(found.series), _work(found.work)
    rows = [
        _row(
            site.monitors[name],
            (found.newest, newest.get(name, [])),
            (found.series, series.get(name, [])),
            alerts.get(name, []),
            work=work.get(name, _Work()),
            now=now,
        )
        for name in visible
    ]
    rows.sort(key=lambda row: (row.urgency, row.monitor))
    return {"rows": rows, "lead": _lead(rows), "now": now}


def _places(columns: HeadlineColumns) -> dict[str, list[int]]:
    """Where the entries of each monitor are."""
    found: dict[str, list[int]] = {}
    for place, name in enumerate(columns.monitor):
        found.setdefault(name, []).append(place)
    return found


def _work(columns: WorkColumns) -> dict[str, _Work]:
    return {
        name: _Work(failing=failing, last_prediction=last, next_mature=due)
        for name, failing, last, due in zip(
            columns.monitor,
            columns.failing,
            columns.last_prediction,
            columns.next_mature,
            strict=True,
        )
    }


def _row(
    monitor: Monitor,
    newest: tuple[HeadlineColumns, Sequence[int]],
    series: tuple[HeadlineColumns, Sequence[int]],
    alerts: Sequence[AlertShown],
    *,
    work: _Work,
    now: datetime,
) -> OverviewRow:
    metric, last = usual_metric(monitor), work.last_prediction
    has_stopped = last is not None and have_stopped(monitor, last, now=now)
    columns, places = newest
    urgency, kind, state, why = _state(
        alerts, failing=work.failing, has_stopped=has_stopped, has_results=bool(places)
    )
    return OverviewRow(
        monitor=monitor.name,
        urgency=urgency,
        kind=kind,
        state=state,
        why=why,
        metric=metric,
        **_estimate(columns, places, metric, ZoneInfo(monitor.zone)),
        sparkline=_sparkline(*series, metric=metric),
        arrived=_arrived(columns, places),
        newest="–" if last is None else ago(last, now),
        next_judged=_next_judged(work, now, has_stopped=has_stopped),
    )


def _estimate(
    columns: HeadlineColumns, places: Sequence[int], metric: str, zone: ZoneInfo
) -> Mapping[str, Any]:
    """What the row says of the newest value."""
    place = _newest(columns, places, metric)
    if place is None:
        return {}
    start = moment_text(columns.window_start[place], zone)
    if columns.value[place] is None:
        return {"estimate_of": f"undefined in {start}"}
    return {
        "estimate": estimate_text(metric, columns.value[place]),
        "interval": interval_shown(columns.low[place], columns.high[place]),
        "estimate_of": f"{start}, {columns.state[place]}",
    }


def _newest(columns: HeadlineColumns, places: Sequence[int], metric: str) -> int | None:
    """Where its newest mature value is, or the newest of all; of the version most predicted by."""
    predictions = {
        (columns.window_start[place], columns.model_version[place]): columns.value[place] or 0.0
        for place in places
        if columns.metric[place] == "predictions"
    }
    own = [place for place in places if columns.metric[place] == metric]
    mature = [place for place in own if columns.state[place] != "provisional"]

    def rank(place: int) -> tuple[datetime, float]:
        start = columns.window_start[place]
        return start, predictions.get((start, columns.model_version[place]), 0.0)

    return max(mature or own, key=rank, default=None)


def _sparkline(columns: HeadlineColumns, places: Sequence[int], *, metric: str) -> Markup:
    by_window = {columns.window_start[place]: place for place in places}
    value, low, high = (
        np.array([some[place] for place in by_window.values()], dtype=float)
        for some in (columns.value, columns.low, columns.high)
    )
    said = f"{title(metric)}, last {len(by_window)} windows"
    return draw_sparkline(value, low, high, title=said)


def _arrived(columns: HeadlineColumns, places: Sequence[int]) -> str:
    own = [place for place in places if columns.metric[place] == "label_maturity"]
    newest = max((columns.window_start[place] for place in own), default=None)
    place = _newest(
        columns,
        [place for place in places if columns.window_start[place] == newest],
        "label_maturity",
    )
    share = None if place is None else columns.value[place]
    return "–" if share is None else percent(round(share, 2))


def _state(
    alerts: Sequence[AlertShown], *, failing: int, has_stopped: bool, has_results: bool
) -> tuple[int, str, str, str]:
    """Urgency, colour, badge and reason."""
    if failing:
        said = f"{failing} window{'s' if failing > 1 else ''} cannot be counted"
        return 0, "failing", said, "pumonitor doctor shows why"
    firing = [one for one in alerts if one.alert.is_firing]
    for urgency, severity in enumerate(("critical", "warning"), start=1):
        some = [one for one in firing if one.needs_somebody and one.alert.severity == severity]
        if some:
            more = f" and {len(some) - 1} more" if len(some) > 1 else ""
            return urgency, severity, f"{some[0].alert.rule}{more}", some[0].cause
    if has_stopped:
        return 3, "warning", "no new predictions", ""
    if firing:
        return 4, "quiet", "acknowledged or silenced", firing[0].alert.rule
    return (6, "ok", "fine", "") if has_results else (5, "unknown", "no results yet", "")


def _next_judged(work: _Work, now: datetime, *, has_stopped: bool) -> str:
    """When the labels of the next window are mature."""
    if has_stopped:
        return "once there are predictions"
    if work.next_mature is None:
        return "–"
    said = ago(work.next_mature, now)
    return said if work.next_mature > now else f"due {said}"


def _lead(rows: Sequence[OverviewRow]) -> str:
    needy = sum(row.urgency < 4 for row in rows)
    if not rows:
        return "No monitors"
    if not needy:
        return "No monitor needs attention" if len(rows) > 1 else "The monitor needs no attention"
    of = f"{needy} of {len(rows)} monitors" if len(rows) > 1 else "The monitor"
    return f"{of} {'needs' if needy == 1 else 'need'} attention"
