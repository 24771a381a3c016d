"""Answers about monitors and their series."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any

from pumonitor.errors import no_such, shortened
from pumonitor.monitor.alerts.rules import alert_rules
from pumonitor.monitor.dashboard.api.answers import (
    Headline,
    MonitorAnswer,
    MonitorLine,
    Monitors,
    Point,
    Series,
)
from pumonitor.monitor.dashboard.api.problems import ProblemError
from pumonitor.monitor.dashboard.api.queries import ListQuery, NoQuery, SeriesQuery
from pumonitor.monitor.dashboard.api.reading import Reading, key_asked, next_cursor
from pumonitor.monitor.dashboard.pages.monitor_page import asked_series, metrics_shown
from pumonitor.monitor.dashboard.pages.standing import (
    HeadlineEstimate,
    MonitorStanding,
    standings_of,
)
from pumonitor.monitor.reports.metric_over_windows import (
    MetricOverWindows,
    metric_over_windows,
)

_Key = tuple[str, str, datetime | None, str]
"""Monitor, metric, start of the window, model version."""


def monitors_answer(reading: Reading, path: Mapping[str, str], query: ListQuery) -> Monitors:
    """Monitors by name."""
    after = key_asked(query, [""])
    names = [name for name in sorted(reading.access.visible()) if after is None or name > after[0]]
    shown = names[: query.limit]
    standings = standings_of(reading.site, reading.ledger, visible=shown, now=reading.now)
    reasons = _reasons(reading, standings)
    return Monitors(
        items=[MonitorLine(**_line(reading, one, reasons)) for one in standings],
        next=next_cursor(query, shown[-1:] if len(names) > len(shown) else None),
    )


def monitor_answer(reading: Reading, path: Mapping[str, str], query: NoQuery) -> MonitorAnswer:
    """One monitor."""
    name = reading.seen(path["monitor"])
    ledger, monitor = reading.ledger, reading.site.monitors[name]
    configuration = ledger.configuration(name)
    (one,) = standings_of(reading.site, ledger, visible=[name], now=reading.now)
    series = ledger.newest_results(monitors=[name], metrics=["predictions"])
    return MonitorAnswer(
        **_line(reading, one, _reasons(reading, [one])),
        configuration=configuration,
        metrics=list(metrics_shown(ledger.metrics(name))),
        model_versions=sorted(set(series.model_version)),
        segments=sorted({segment for segment in series.segment if segment}),
        rules=sorted({rule.name for rule in alert_rules(monitor, configuration or "")}),
        may_change=reading.access.may_change(name),
    )


def _line(
    reading: Reading, one: MonitorStanding, reasons: Mapping[_Key, str | None]
) -> dict[str, Any]:
    needy = one.needy
    return {
        "name": one.monitor,
        "zone": reading.site.monitors[one.monitor].zone,
        "condition": one.condition,
        "needs_somebody": one.needs_somebody,
        "metric": one.metric,
        "headline": None
        if one.headline is None
        else Headline(
            **{name: getattr(one.headline, name) for name in HeadlineEstimate.__slots__},
            undefined_reason=reasons.get(_key(one)),
        ),
        "firing": len(one.firing),
        "severity": one.severity,
        "cause": needy[0].cause if needy else "",
        "labels_arrived": one.labels_arrived,
        "last_prediction": one.last_prediction,
        "last_evaluated": one.last_evaluated,
        "next_mature": one.next_mature,
        "has_stopped": one.has_stopped,
        "failing": one.failing,
        "to_collect": one.to_collect,
        "to_evaluate": one.to_evaluate,
        "better_challengers": list(one.better),
    }


def _key(one: MonitorStanding) -> _Key:
    found = one.headline
    if found is None:
        return one.monitor, one.metric, None, ""
    return one.monitor, found.metric, found.window_start, found.model_version


def _reasons(reading: Reading, standings: Sequence[MonitorStanding]) -> dict[_Key, str | None]:
    """Why headlines are undefined; read where there are such, by one statement for all."""
    some = [one for one in standings if one.headline is not None and one.headline.value is None]
    if not some:
        return {}
    starts = [one.headline.window_start for one in some if one.headline is not None]
    found = reading.ledger.series_of(
        sorted({one.metric for one in some}),
        monitors=[one.monitor for one in some],
        since=min(starts),
        until=max(starts) + timedelta.resolution,
    )
    keys = zip(found.monitor, found.metric, found.window_start, found.model_version, strict=True)
    return dict(zip(keys, found.undefined_reason, strict=True))


def series_answer(reading: Reading, path: Mapping[str, str], query: SeriesQuery) -> Series:
    """One metric of a monitor over windows."""
    name, ledger = reading.seen(path["monitor"]), reading.ledger
    known = metrics_shown(ledger.metrics(name))
    if query.metric is not None and query.metric not in known:
        detail = f"{name} has {no_such('metric', shortened(query.metric), known)}"
        raise ProblemError(HTTPStatus.NOT_FOUND, detail)
    asked = query.model_dump(exclude={"until", "as_of"}, exclude_none=True)
    for one in ("until", "as_of"):
        moment = query.moment(one)
        if moment is not None:
            asked[one] = moment.isoformat()
    address = {key: str(value) for key, value in asked.items()}
    monitor = reading.site.monitors[name]
    at, columns = asked_series(ledger, monitor, address, metrics=list(known))
    shown = metric_over_windows(columns, at.metric, windows=at.windows)
    return Series(
        monitor=name,
        metric=at.metric,
        title=known.get(at.metric, at.metric),
        segment=at.segment,
        as_of=at.as_of,
        is_cut=shown.is_cut,
        items=[_point(shown, place) for place in range(len(shown))],
    )


def _point(shown: MetricOverWindows, place: int) -> Point:
    expected = {
        "value": _number(shown.expected[place]),
        "low": _number(shown.expected_low[place]),
        "high": _number(shown.expected_high[place]),
    }
    return Point(
        window_start=shown.starts[place],
        window_end=shown.ends[place],
        state=shown.states[place],
        model_version=shown.model_versions[place],
        revision=shown.revisions[place],
        as_of=shown.as_of[place],
        value=_number(shown.value[place]),
        low=_number(shown.low[place]),
        high=_number(shown.high[place]),
        reason=shown.reasons[place] or None,
        expected=None if expected["value"] is None else expected,  # type: ignore[arg-type]
        **{name: _number(values[place]) for name, values in shown.counted.items()},
    )


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
