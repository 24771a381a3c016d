"""The lines of monitors: condition, newest estimate, what is due; for the overview and the API."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pumonitor.monitor.dashboard.pages.challengers_found import better_challengers
from pumonitor.monitor.dashboard.pages.monitor_page import usual_metric
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.inspection.conditions import condition_of, firing_alerts
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.columns import HeadlineColumns
from pumonitor.monitor.ledger.records.windows import MonitorWork
from pumonitor.monitor.views.condition import Headline, MonitorLine
from pumonitor.monitor.windows.due.due_windows import have_stopped

_WINDOWS: Final = 30
_MOST_NUMBERS: Final = 16 * _WINDOWS
"""Of a monitor, on average: its metric and predictions of eight versions in each window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnLine:
    """The line of a monitor with what its sparkline is drawn from.

    Attributes
    ----------
    line : MonitorLine
    columns : HeadlineColumns
        The metric over the latest windows, of all monitors.
    indices : sequence of int
        Where its entries are, one a window: of the model version with most predictions.
    is_cut : bool
        Whether more was found than is read of so many monitors: some may lack their estimate.
    """

    line: MonitorLine
    columns: HeadlineColumns
    indices: Sequence[int]
    is_cut: bool


def monitor_lines(
    site: Site, ledger: Ledger, *, visible: Collection[str], now: datetime
) -> list[DrawnLine]:
    """The lines of monitors, read by as many statements for one as for a hundred.

    Parameters
    ----------
    site : Site
    ledger : Ledger
        At one moment.
    visible : collection of str
        Monitors, in the order in which they are returned.
    now : datetime
    """
    metrics = {name: usual_metric(site.monitors[name]) for name in visible}
    limit = _MOST_NUMBERS * max(len(metrics), 1)
    overview = ledger.overview(metrics, number=_WINDOWS, limit=limit)
    work = ledger.work(visible, now=now)
    firing = firing_alerts(ledger, visible, now=now)
    newest, series = _indices(overview.newest), _indices(overview.series)
    better = better_challengers(ledger, site.monitors, visible)
    headlines = _headlines(ledger, overview.newest, newest, metrics)
    drawn = []
    for name in visible:
        monitor, of_monitor = site.monitors[name], work.get(name, MonitorWork())
        last = of_monitor.last_prediction
        condition = condition_of(monitor, of_monitor, firing.get(name, ()), now=now)
        line = MonitorLine(
            **condition.model_dump(),
            zone=monitor.zone,
            metric=metrics[name],
            headline=headlines.get(name),
            labels_arrived=_labels_arrived(overview.newest, newest.get(name, [])),
            last_prediction=last,
            last_evaluated=of_monitor.last_evaluated,
            next_mature=of_monitor.next_mature,
            has_stopped=last is not None and have_stopped(monitor, last, now=now),
            failing=of_monitor.failing,
            to_collect=of_monitor.to_collect,
            to_evaluate=of_monitor.to_evaluate,
            better_challengers=list(better.get(name, ())),
        )
        drawn.append(
            DrawnLine(
                line=line,
                columns=overview.series,
                indices=_shown(overview.series, series.get(name, []), metrics[name]),
                is_cut=overview.newest.is_cut or overview.series.is_cut,
            )
        )
    return drawn


def _indices(columns: HeadlineColumns) -> dict[str, list[int]]:
    """Where the entries of each monitor are."""
    found: dict[str, list[int]] = {}
    for index, name in enumerate(columns.monitor):
        found.setdefault(name, []).append(index)
    return found


def _headlines(
    ledger: Ledger,
    columns: HeadlineColumns,
    indices: dict[str, list[int]],
    metrics: dict[str, str],
) -> dict[str, Headline]:
    """The newest estimates by monitor; why they are undefined is read where there are such."""
    chosen = {
        name: index
        for name, some in indices.items()
        if (index := _newest(columns, some, metrics[name])) is not None
    }
    undefined = {name: index for name, index in chosen.items() if columns.value[index] is None}
    reasons = {}
    if undefined:
        starts = [columns.window_start[index] for index in undefined.values()]
        found = ledger.series_of(
            sorted({metrics[name] for name in undefined}),
            monitors=list(undefined),
            since=min(starts),
            until=max(starts) + timedelta.resolution,
        )
        keys = zip(
            found.monitor, found.metric, found.window_start, found.model_version, strict=True
        )
        reasons = dict(zip(keys, found.undefined_reason, strict=True))
    names = [name for name in Headline.model_fields if name != "undefined_reason"]
    headlines = {}
    for name, index in chosen.items():
        values = {field: getattr(columns, field)[index] for field in names}
        key = (name, values["metric"], values["window_start"], values["model_version"])
        headlines[name] = Headline(**values, undefined_reason=reasons.get(key))
    return headlines


def _newest(columns: HeadlineColumns, indices: Sequence[int], metric: str) -> int | None:
    """Where its newest mature value is, or the newest of all; of the version most predicted by."""
    predictions = _predictions(columns, indices)
    own = [index for index in indices if columns.metric[index] == metric]
    mature = [index for index in own if columns.state[index] != "provisional"]

    def rank(index: int) -> tuple[datetime, float]:
        start = columns.window_start[index]
        return start, predictions.get((start, columns.model_version[index]), 0.0)

    return max(mature or own, key=rank, default=None)


def _shown(columns: HeadlineColumns, indices: Sequence[int], metric: str) -> list[int]:
    """Of each window where the metric is, of the version with most predictions."""
    predictions = _predictions(columns, indices)
    chosen: dict[datetime, int] = {}
    for index in indices:
        if columns.metric[index] == metric:
            start, version = columns.window_start[index], columns.model_version[index]
            other = chosen.get(start)
            if other is None or predictions.get((start, version), 0.0) > predictions.get(
                (start, columns.model_version[other]), 0.0
            ):
                chosen[start] = index
    return list(chosen.values())


def _predictions(
    columns: HeadlineColumns, indices: Sequence[int]
) -> dict[tuple[datetime, str], float]:
    """By window and version."""
    return {
        (columns.window_start[index], columns.model_version[index]): columns.value[index] or 0.0
        for index in indices
        if columns.metric[index] == "predictions"
    }


def _labels_arrived(columns: HeadlineColumns, indices: Sequence[int]) -> float | None:
    own = [index for index in indices if columns.metric[index] == "label_maturity"]
    newest = max((columns.window_start[index] for index in own), default=None)
    index = _newest(
        columns,
        [index for index in indices if columns.window_start[index] == newest],
        "label_maturity",
    )
    return None if index is None else columns.value[index]
