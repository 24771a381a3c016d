"""Where each monitor stands: its newest estimate, what fires, what is due; in numbers.

The overview and the JSON API show the same.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, get_args

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.dashboard.pages.challengers_found import better_challengers
from pumonitor.monitor.dashboard.pages.monitor_page import usual_metric
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.inspection.alerts_shown import (
    SEVERITIES,
    AlertShown,
    alerts_shown,
    by_urgency,
)
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.columns import HeadlineColumns, WorkColumns
from pumonitor.monitor.rules.alerts.alert import Severity
from pumonitor.monitor.windows.due.due_windows import have_stopped
from pumonitor.ports import State

Condition = Literal["failing", "critical", "warning", "stopped", "muted", "no results", "fine"]
"""How urgently somebody is needed, the most urgent first.

- "failing": windows cannot be counted.
- "critical", "warning": an alert of that severity fires that nobody has acknowledged or silenced.
- "stopped": there are no new predictions.
- "muted": all alerts that fire are acknowledged, silenced or mere information.
- "no results", "fine".
"""

_IN_ORDER: Final = get_args(Condition)
_URGENT: Final = 4
_WINDOWS: Final = 30
_MOST_NUMBERS: Final = 16 * _WINDOWS
"""Of a monitor, on average: its metric and predictions of eight versions in each window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadlineEstimate:
    """The newest estimate of the metric that a monitor is judged by.

    It is of the newest window whose labels are mature, or of the newest without such; there of the
    model version with most predictions.
    """

    metric: str
    model_version: str
    window_start: datetime
    window_end: datetime
    state: State
    value: float | None
    low: float | None
    high: float | None
    infeasible: bool
    impossible: bool
    assumed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorStanding:
    """A monitor at one moment.

    Attributes
    ----------
    monitor, metric : str
        The metric that it is judged by.
    condition : str
    firing : sequence of AlertShown
        Alerts that fire, those that need somebody first.
    headline : HeadlineEstimate or None
    series : tuple of (HeadlineColumns, sequence of int)
        The metric over the latest windows: columns of all monitors, and where its entries are, one
        a window: of the model version with most predictions.
    labels_arrived : float or None
        Share of the newest window's expected confirmations that have arrived.
    failing, to_collect, to_evaluate : int
        Windows; as of `Backlog`.
    last_prediction, last_evaluated, next_mature : datetime or None
        As of `WorkColumns`.
    has_stopped : bool
        Whether no window is due before there are new predictions.
    is_cut : bool
        Whether more was found than is read of so many monitors: some may lack their estimate.
    better : tuple of str
        Challengers that the last round found surely better than the deployed model.
    """

    monitor: str
    metric: str
    condition: Condition
    firing: Sequence[AlertShown]
    headline: HeadlineEstimate | None
    series: tuple[HeadlineColumns, Sequence[int]]
    labels_arrived: float | None
    failing: int = 0
    to_collect: int = 0
    to_evaluate: int = 0
    last_prediction: datetime | None = None
    last_evaluated: datetime | None = None
    next_mature: datetime | None = None
    has_stopped: bool = False
    is_cut: bool = False
    better: tuple[str, ...] = ()

    @property
    def urgency(self) -> int:
        """Less is more urgent."""
        return _IN_ORDER.index(self.condition)

    @property
    def needs_somebody(self) -> bool:
        """Whether somebody should look at it."""
        return self.urgency < _URGENT

    @property
    def severity(self) -> Severity | None:
        """The worst of the alerts that fire, whoever knows of them; None if none fires."""
        found = {one.alert.severity for one in self.firing}
        return min(found, key=SEVERITIES.index, default=None)

    @property
    def fires_said(self) -> str:
        """How many alerts of the worst severity fire; "" if none does."""
        many = sum(one.alert.severity == self.severity for one in self.firing)
        kind = "alert of information" if self.severity == "info" else f"{self.severity} alert"
        if many < 2:
            return f"a {kind} fires" if many else ""
        return f"{many} {kind.replace('alert', 'alerts')} fire"

    @property
    def needy(self) -> list[AlertShown]:
        """Alerts that make its condition critical or a warning."""
        return [
            one
            for one in self.firing
            if one.needs_somebody and one.alert.severity == self.condition
        ]


def standings_of(
    site: Site, ledger: Ledger, *, visible: Collection[str], now: datetime
) -> list[MonitorStanding]:
    """Where monitors stand, read by as many statements for one as for a hundred.

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
    found = ledger.overview(metrics, now=now, number=_WINDOWS, limit=limit)
    alerts: dict[str, list[AlertShown]] = {}
    for one in by_urgency(alerts_shown(ledger.alerts, now=now, monitors=visible, firing=True)):
        alerts.setdefault(one.alert.monitor, []).append(one)
    newest, series = _places(found.newest), _places(found.series)
    better = better_challengers(ledger, site.monitors, visible)
    work = {name: place for place, name in enumerate(found.work.monitor)}
    return [
        _standing(
            site.monitors[name],
            (found.newest, newest.get(name, [])),
            (found.series, series.get(name, [])),
            alerts.get(name, []),
            _work(found.work, work.get(name)),
            better.get(name, ()),
            now=now,
        )
        for name in visible
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What is due of one monitor."""

    failing: int = 0
    to_collect: int = 0
    to_evaluate: int = 0
    last_prediction: datetime | None = None
    last_evaluated_at: datetime | None = None
    next_mature: datetime | None = None


def _work(columns: WorkColumns, place: int | None) -> _Work:
    if place is None:
        return _Work()
    return _Work(**{name: getattr(columns, name)[place] for name in _Work.__slots__})


def _places(columns: HeadlineColumns) -> dict[str, list[int]]:
    """Where the entries of each monitor are."""
    found: dict[str, list[int]] = {}
    for place, name in enumerate(columns.monitor):
        found.setdefault(name, []).append(place)
    return found


def _standing(
    monitor: Monitor,
    newest: tuple[HeadlineColumns, Sequence[int]],
    series: tuple[HeadlineColumns, Sequence[int]],
    firing: Sequence[AlertShown],
    work: _Work,
    better: tuple[str, ...],
    *,
    now: datetime,
) -> MonitorStanding:
    metric, last = usual_metric(monitor), work.last_prediction
    has_stopped = last is not None and have_stopped(monitor, last, now=now)
    columns, places = newest
    return MonitorStanding(
        monitor=monitor.name,
        metric=metric,
        condition=_condition(
            firing, failing=work.failing, has_stopped=has_stopped, has_results=bool(places)
        ),
        firing=firing,
        headline=_headline(columns, _newest(columns, places, metric)),
        series=(series[0], _shown(*series, metric)),
        labels_arrived=_labels_arrived(columns, places),
        failing=work.failing,
        to_collect=work.to_collect,
        to_evaluate=work.to_evaluate,
        last_prediction=last,
        last_evaluated=work.last_evaluated_at,
        next_mature=work.next_mature,
        has_stopped=has_stopped,
        is_cut=columns.is_cut or series[0].is_cut,
        better=better,
    )


def _condition(
    firing: Sequence[AlertShown], *, failing: int, has_stopped: bool, has_results: bool
) -> Condition:
    severities = {one.alert.severity for one in firing if one.needs_somebody}
    found: Mapping[Condition, bool] = {
        "failing": failing > 0,
        "critical": "critical" in severities,
        "warning": "warning" in severities,
        "stopped": has_stopped,
        "muted": bool(firing),
        "no results": not has_results,
    }
    return next((name for name, holds in found.items() if holds), "fine")


def _headline(columns: HeadlineColumns, place: int | None) -> HeadlineEstimate | None:
    if place is None:
        return None
    return HeadlineEstimate(
        **{name: getattr(columns, name)[place] for name in HeadlineEstimate.__slots__}
    )


def _newest(columns: HeadlineColumns, places: Sequence[int], metric: str) -> int | None:
    """Where its newest mature value is, or the newest of all; of the version most predicted by."""
    predictions = _predictions(columns, places)
    own = [place for place in places if columns.metric[place] == metric]
    mature = [place for place in own if columns.state[place] != "provisional"]

    def rank(place: int) -> tuple[datetime, float]:
        start = columns.window_start[place]
        return start, predictions.get((start, columns.model_version[place]), 0.0)

    return max(mature or own, key=rank, default=None)


def _shown(columns: HeadlineColumns, places: Sequence[int], metric: str) -> list[int]:
    """Of each window where the metric is, of the version with most predictions."""
    predictions = _predictions(columns, places)
    chosen: dict[datetime, int] = {}
    for place in places:
        if columns.metric[place] == metric:
            start, version = columns.window_start[place], columns.model_version[place]
            other = chosen.get(start)
            if other is None or predictions.get((start, version), 0.0) > predictions.get(
                (start, columns.model_version[other]), 0.0
            ):
                chosen[start] = place
    return list(chosen.values())


def _predictions(
    columns: HeadlineColumns, places: Sequence[int]
) -> dict[tuple[datetime, str], float]:
    """By window and version."""
    return {
        (columns.window_start[place], columns.model_version[place]): columns.value[place] or 0.0
        for place in places
        if columns.metric[place] == "predictions"
    }


def _labels_arrived(columns: HeadlineColumns, places: Sequence[int]) -> float | None:
    own = [place for place in places if columns.metric[place] == "label_maturity"]
    newest = max((columns.window_start[place] for place in own), default=None)
    place = _newest(
        columns,
        [place for place in places if columns.window_start[place] == newest],
        "label_maturity",
    )
    return None if place is None else columns.value[place]
