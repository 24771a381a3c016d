"""A monitor: one metric over windows, what happened meanwhile, and how to look elsewhere."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from markupsafe import Markup

from pumonitor.monitor.charts.time_series import Level, draw_time_series
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.config.sections.rules import LimitRule
from pumonitor.monitor.dashboard.address import SeriesAddress, with_known_names
from pumonitor.monitor.dashboard.pages.challengers_found import (
    better_challengers,
    said_to_be_better,
)
from pumonitor.monitor.dashboard.pages.marks import marks_shown, notes_shown
from pumonitor.monitor.dashboard.pages.side_by_side import (
    segments_beside,
    values_beside,
    versions_beside,
)
from pumonitor.monitor.dashboard.pages.window_rows import window_rows
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.inspection.alerts_shown import alert_views
from pumonitor.monitor.inspection.conditions import read_conditions
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.columns import ResultColumns
from pumonitor.monitor.ledger.records.results import PublishedResult
from pumonitor.monitor.ledger.results.read_series import LIMIT
from pumonitor.monitor.reports.metric_over_windows import (
    MetricOverWindows,
    metric_over_windows,
    metrics_read,
)
from pumonitor.monitor.reports.realised_looks import realised_looks
from pumonitor.monitor.views.alerts import AlertView
from pumonitor.monitor.views.incidents import incident_views
from pumonitor.monitor.windows.evaluation.baseline import baseline_period
from pumonitor.names import COUNTS, MEANING, TITLES, UNCORRECTED_OF
from pumonitor.views.model import write_views_csv

_FIRST_SHOWN: Final = ("f1", "recall", "precision", "auc", "aul", "class_prior")


def usual_metric(monitor: Monitor) -> str:
    """The metric that a monitor's page begins with: what its first rule tests, else F1."""
    named = (getattr(rule, "metric", None) for rule in monitor.rules)
    return next((one for one in named if one is not None), _FIRST_SHOWN[0])


def metrics_shown(names: Sequence[str]) -> dict[str, str]:
    """Metrics that a page can show and their titles: the usual ones first."""
    known = {**TITLES, **COUNTS, "label_maturity": "Share of confirmations that have arrived"}
    order = [*_FIRST_SHOWN, *known]
    return {name: known[name] for name in dict.fromkeys(order) if name in names and name in known}


def monitor_page(
    site: Site,
    name: str,
    query: Mapping[str, str],
    *,
    window_link: Callable[[datetime, str, str], str],
) -> dict[str, Any]:
    """What the page of a monitor shows.

    Parameters
    ----------
    site : Site
    name : str
    query : mapping of str to str
        As `SeriesAddress.read` takes it.
    window_link : callable
        Address of a window's page, from its start, model version and segment.

    Raises
    ------
    InputError
        If the query cannot be read.
    """
    monitor, zone, now = site.monitors[name], site.zone(name), site.clock()
    with site.at_once() as ledger:
        metrics = metrics_shown(ledger.metrics(name))
        series = ledger.newest_results(monitors=[name], metrics=["predictions"])
        versions = sorted(set(series.model_version))
        segments = sorted({one for one in series.segment if one})
        query = with_known_names(query, versions=versions, segments=segments)
        at, columns = asked_series(ledger, monitor, query, metrics=list(metrics))
        shown = metric_over_windows(columns, at.metric, windows=at.windows)
        alerts = alert_views(ledger, now=now, monitors=[name], in_full=True)
        notes = notes_shown(ledger, name, shown, at)
        marks = marks_shown(ledger, name, shown, at, notes, zone=zone)
        beside = _beside(ledger, monitor, shown, at)
        losses = ledger.refused_looks(name)
        standing = ledger.standings.all().get(name)
        better = better_challengers(ledger, site.monitors, [name]).get(name, ())
        (condition,) = read_conditions(ledger, {name: monitor}, now=now)
    period = baseline_period(monitor)
    links = [
        window_link(start, version, at.segment)
        for start, version in zip(shown.starts, shown.versions, strict=True)
    ]
    uncorrected = UNCORRECTED_OF.get(at.metric)
    chart = Markup("")
    if len(shown):
        chart = draw_time_series(
            replace(shown, links=links),
            title=f"{metrics.get(at.metric, at.metric)} of {name} over windows",
            zone=zone,
            levels=_levels(monitor, at),
            marks=marks,
            reference=None
            if period.start is None or period.end is None
            else (period.start, period.end),
        )
    return {
        "monitor": name,
        "condition": condition,
        "at": at,
        "zone": zone,
        "now": now,
        "metrics": metrics,
        "title": metrics.get(at.metric, at.metric),
        "meaning": MEANING.get(at.metric, ""),
        "uncorrected": uncorrected if uncorrected in metrics else None,
        "corrected": next((a for a, b in UNCORRECTED_OF.items() if b == at.metric), None),
        "versions": versions,
        "segments": segments,
        "shown": shown,
        "window_rows": window_rows(
            shown, at.metric, zone=zone, links=links, has_versions=len(versions) > 1
        ),
        "marks": marks,
        "notes": notes,
        **beside,
        "losses": losses,
        "set_aside": () if standing is None else standing.set_aside,
        "incidents": incident_views(alerts),
        "firing": _firing(alerts),
        "has_challengers": monitor.challengers is not None,
        "better": said_to_be_better(monitor, better),
        "chart": chart,
    }


def monitor_csv(site: Site, name: str, query: Mapping[str, str]) -> str:
    """The results behind a monitor's page, with the columns of ``pumonitor results``.

    Raises
    ------
    InputError
        If the query cannot be read.
    """
    with site.at_once() as ledger:
        metrics = list(metrics_shown(ledger.metrics(name)))
        at, columns = asked_series(ledger, site.monitors[name], query, metrics=metrics)
    starts = set(metric_over_windows(columns, at.metric, windows=at.windows).starts)
    rows = (row for row in columns.results() if row.window_start in starts)
    file = io.StringIO()
    write_views_csv(rows, file, model=PublishedResult)
    return file.getvalue()


def asked_series(
    ledger: Ledger,
    monitor: Monitor,
    query: Mapping[str, str],
    *,
    metrics: list[str],
) -> tuple[SeriesAddress, ResultColumns]:
    """What an address asks for, and its results."""
    at = SeriesAddress.read(
        query, metric=usual_metric(monitor), metrics=metrics, zone=ZoneInfo(monitor.zone)
    )
    # As many as one or two model versions a window have; all that may be read if that is too few.
    enough = (
        len(metrics_read(at.metric)) * (at.windows + 1) * (2 if at.model_version is None else 1)
    )
    for limit in (min(enough, LIMIT), LIMIT):
        columns = ledger.series_of(
            metrics_read(at.metric),
            monitors=[monitor.name],
            until=at.until,
            model_version=at.model_version,
            segment=at.segment,
            as_of=at.as_of,
            limit=limit,
        )
        if not columns.is_cut or len(metric_over_windows(columns, at.metric)) >= at.windows:
            break
    return at, columns


def _levels(monitor: Monitor, at: SeriesAddress) -> list[Level]:
    """Limits of the rules on the metric shown, for all rows or this segment."""
    found = []
    for rule in monitor.rules:
        if not isinstance(rule, LimitRule) or rule.metric != at.metric:
            continue
        ((column, value),) = (rule.segment or {"": ""}).items()
        of = f"{column}={value}" if column else ""
        of_each = rule.per is not None and at.segment.startswith(f"{rule.per}=")
        if of_each or (rule.per is None and of == at.segment):
            found.append(Level(rule.limit, f"{rule.condition} {rule.limit:g}", "limit"))
            if rule.warning is not None:
                said = f"warning {rule.warning.amount:g}"
                found.append(Level(rule.warning.amount, said, "limit"))
    return found


def _beside(
    ledger: Ledger, monitor: Monitor, shown: MetricOverWindows, at: SeriesAddress
) -> dict[str, Any]:
    """Series beside each other, and what was expected beside what became of it."""
    if not len(shown):
        return {"beside_versions": [], "beside_segments": [], "realised": []}
    values = values_beside(ledger, monitor.name, at, since=shown.starts[0])
    # What was expected then is on the page as of that moment.
    realised = (
        ledger.realised(
            monitor.name,
            at.metric,
            segment=at.segment,
            model_version=at.model_version,
            since=shown.starts[0],
            until=at.until,
        )
        if at.as_of is None
        else ()
    )
    return {
        "beside_versions": versions_beside(values, at, monitor),
        "beside_segments": [] if at.segment else segments_beside(values, at, shown, monitor),
        "realised": realised_looks(realised),
    }


def _firing(alerts: Sequence[AlertView]) -> str:
    """How many alerts fire."""
    firing = sum(alert.is_firing for alert in alerts)
    return "" if not alerts else f"{firing or 'None'} of {len(alerts)} alerts fire"
