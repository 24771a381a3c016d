"""Answers about monitors and their series."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from pumonitor.errors import no_such, shortened
from pumonitor.monitor.alerts.rules import alert_rules
from pumonitor.monitor.dashboard.api.answers import (
    MonitorAnswer,
    Monitors,
)
from pumonitor.monitor.dashboard.api.problems import ProblemError
from pumonitor.monitor.dashboard.api.queries import ListQuery, NoQuery, SeriesQuery
from pumonitor.monitor.dashboard.api.reading import Reading, key_asked, next_cursor
from pumonitor.monitor.dashboard.pages.monitor_lines import monitor_lines
from pumonitor.monitor.dashboard.pages.monitor_page import asked_series, metrics_shown
from pumonitor.monitor.reports.metric_over_windows import (
    MetricOverWindows,
    metric_over_windows,
)
from pumonitor.monitor.views.series import ExpectedView, PointView, SeriesView


def monitors_answer(reading: Reading, path: Mapping[str, str], query: ListQuery) -> Monitors:
    """Monitors by name."""
    after = key_asked(query, [""])
    names = [name for name in sorted(reading.access.visible()) if after is None or name > after[0]]
    shown = names[: query.limit]
    lines = monitor_lines(reading.site, reading.ledger, visible=shown, now=reading.now)
    return Monitors(
        items=[drawn.line for drawn in lines],
        next=next_cursor(query, shown[-1:] if len(names) > len(shown) else None),
    )


def monitor_answer(reading: Reading, path: Mapping[str, str], query: NoQuery) -> MonitorAnswer:
    """One monitor."""
    name = reading.seen(path["monitor"])
    ledger, monitor = reading.ledger, reading.site.monitors[name]
    configuration = ledger.configuration(name)
    (drawn,) = monitor_lines(reading.site, ledger, visible=[name], now=reading.now)
    series = ledger.newest_results(monitors=[name], metrics=["predictions"])
    return MonitorAnswer(
        **drawn.line.model_dump(),
        configuration=configuration,
        metrics=list(metrics_shown(ledger.metrics(name))),
        model_versions=sorted(set(series.model_version)),
        segments=sorted({segment for segment in series.segment if segment}),
        rules=sorted({rule.name for rule in alert_rules(monitor, configuration or "")}),
        may_change=reading.access.may_change(name),
    )


def series_answer(reading: Reading, path: Mapping[str, str], query: SeriesQuery) -> SeriesView:
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
    return SeriesView(
        monitor=name,
        metric=at.metric,
        title=known.get(at.metric, at.metric),
        segment=at.segment,
        as_of=at.as_of,
        is_cut=shown.is_cut,
        items=[_point(shown, index) for index in range(len(shown))],
    )


def _point(shown: MetricOverWindows, index: int) -> PointView:
    expected = ExpectedView(
        value=shown.expected[index],
        low=shown.expected_low[index],
        high=shown.expected_high[index],
    )
    return PointView(
        window_start=shown.starts[index],
        window_end=shown.ends[index],
        state=shown.states[index],
        model_version=shown.versions[index],
        revision=shown.revisions[index],
        as_of=shown.as_of[index],
        value=shown.value[index],
        low=shown.low[index],
        high=shown.high[index],
        reason=shown.reasons[index] or None,
        expected=None if expected.value is None else expected,
        **{name: values[index] for name, values in shown.counted.items()},
    )
