"""Metrics for Prometheus: estimates with intervals, alerts, and the monitor's own health."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Final, get_args

from pumonitor import __version__
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.inspection.conditions import read_conditions
from pumonitor.monitor.ledger.alerts.alerts import StoredAlerts
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.columns import ResultColumns
from pumonitor.monitor.ledger.records.windows import Backlog, MonitorWork
from pumonitor.monitor.page_addresses import PageAddresses
from pumonitor.monitor.rules.alerts.alert import Alert
from pumonitor.monitor.views.condition import Condition
from pumonitor.ports import Clock

if TYPE_CHECKING:
    from prometheus_client.core import GaugeMetricFamily, Metric

_SERIES: Final = ("monitor", "model_version", "segment")
_NO_WORK: Final = Backlog(windows=0, to_collect=0, to_evaluate=0, failing=0, oldest_unfinished=None)
_MOST: Final = 1_000_000
_STATES: Final = ("unknown", "ok", "pending", "firing", "recovering")
# Expected values and changes are left out: a time series needs the present estimates.
_LEFT_OUT: Final = ("_expected", "_threshold")


def exposition(
    ledger: Ledger,
    *,
    monitors: Mapping[str, Monitor],
    clock: Clock,
    pages: PageAddresses | None = None,
) -> Callable[[], bytes]:
    """The state of the ledger now, in Prometheus' text format.

    Estimates are those of the newest mature window of each series, with the end of that window
    beside them: a series that has stopped keeps its last numbers, recognisable by their age.
    Undefined estimates are left out, so there is no NaN. At most a million results are read.

    Parameters
    ----------
    ledger : Ledger
    monitors : mapping of str to Monitor
        Monitors of the configuration.
    clock : Clock
        Ages are computed from it.
    pages : PageAddresses, optional
        Of the pages, for links from dashboards.
    """

    def collect() -> Iterator[Metric]:
        now = clock()
        yield _info("build_info", "the version of pumonitor", version=__version__)
        if pages is not None:
            yield _info("pages_info", "the address of the pages", address=pages.base)
        yield from _conditions(ledger, monitors, now)
        yield from _work(ledger, tuple(monitors), now)
        yield from _outbox(ledger)
        yield from _estimates(ledger, tuple(monitors))
        yield from _alerts(StoredAlerts(ledger.database).current())

    return lambda: in_text_format(collect())


def in_text_format(metrics: Iterable[Metric]) -> bytes:
    """What `prometheus_client.generate_latest` writes of gauges, in a third of its time.

    It looks at every label of every line anew, and all lines of an alert have the same seven. Names
    are ours and valid; texts of people are values of labels.
    """
    from prometheus_client.utils import floatToGoString

    @lru_cache(maxsize=65_536)
    def label(name: str, value: str) -> str:
        value = value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
        return f'{name}="{value}"'

    lines = []
    for metric in metrics:
        lines += [f"# HELP {metric.name} {metric.documentation}", f"# TYPE {metric.name} gauge"]
        for sample in metric.samples:
            labels = ",".join([label(*one) for one in sorted(sample.labels.items())])
            braced = f"{{{labels}}}" if labels else ""
            value = floatToGoString(sample.value)  # type: ignore[no-untyped-call]
            lines.append(f"{sample.name}{braced} {value}")
    return "".join(f"{line}\n" for line in lines).encode()


def _estimates(ledger: Ledger, monitors: tuple[str, ...]) -> Iterator[Metric]:
    from prometheus_client.core import GaugeMetricFamily

    estimate = GaugeMetricFamily(
        "pumonitor_estimate",
        "An estimate of the newest mature window, and the ends of its interval; the ends are "
        "missing where it, or the class prior it is computed with, is impossible.",
        labels=[*_SERIES, "metric", "bound"],
    )
    infeasible = GaugeMetricFamily(
        "pumonitor_estimate_infeasible",
        "1 where the estimate, or the class prior it is computed with, is impossible: do not judge "
        "the model by it.",
        labels=[*_SERIES, "metric"],
    )
    ended = GaugeMetricFamily(
        "pumonitor_window_end_timestamp_seconds",
        "End of the newest mature window.",
        labels=_SERIES,
    )
    found = ledger.newest_results(monitors=monitors, mature=True, limit=_MOST)
    of_monitor = {
        monitor: list(places)
        for monitor, places in groupby(range(len(found)), key=found.monitor.__getitem__)
    }
    for place in (place for monitor in monitors for place in of_monitor.get(monitor, ())):
        series = _series_at(found, place)
        metric = found.metric[place]
        if place == 0 or series != _series_at(found, place - 1):
            ended.add_metric(series, found.window_end[place].timestamp())
        if metric.endswith(_LEFT_OUT):
            continue
        value, impossible = found.value[place], found.impossible[place]
        bounds = {"value": value, "low": found.low[place], "high": found.high[place]}
        for bound, number in bounds.items():
            if number is not None and (bound == "value" or not impossible):
                estimate.add_metric([*series, metric, bound], number)
        if value is not None:
            flagged = found.infeasible[place] or impossible
            infeasible.add_metric([*series, metric], float(flagged))
    yield estimate
    yield infeasible
    yield ended


def _series_at(found: ResultColumns, place: int) -> list[str]:
    return [found.monitor[place], found.model_version[place], found.segment[place]]


def _alerts(alerts: tuple[Alert, ...]) -> Iterator[Metric]:
    from prometheus_client.core import GaugeMetricFamily

    names = ["monitor", "rule", "rule_key", "metric", "severity", "model_version", "segment"]
    firing = GaugeMetricFamily(
        "pumonitor_alert_firing", "1 while an incident of the rule is open.", labels=names
    )
    state = GaugeMetricFamily(
        "pumonitor_alert_state", "1 for the current state of the alert.", labels=[*names, "state"]
    )
    for one in alerts:
        labels = [getattr(one, name) for name in names]
        firing.add_metric(labels, float(one.is_firing))
        for name in _STATES:
            state.add_metric([*labels, name], float(one.state == name))
    yield firing
    yield state


def _gauge(name: str, text: str, label: str) -> GaugeMetricFamily:
    from prometheus_client.core import GaugeMetricFamily

    return GaugeMetricFamily(f"pumonitor_{name}", text, labels=[label])


def _info(name: str, what: str, **label: str) -> Metric:
    ((key, value),) = label.items()
    info = _gauge(name, f"Always 1; the label has {what}.", key)
    info.add_metric([value], 1.0)
    return info


def _conditions(ledger: Ledger, monitors: Mapping[str, Monitor], now: datetime) -> Iterator[Metric]:
    from prometheus_client.core import GaugeMetricFamily

    condition = GaugeMetricFamily(
        "pumonitor_monitor_condition",
        "1 for the present condition of the monitor, as the pages show it.",
        labels=["monitor", "condition"],
    )
    for view in read_conditions(ledger, monitors, now=now):
        for name in get_args(Condition):
            condition.add_metric([view.name, name], float(view.condition == name))
    yield condition


def _work(ledger: Ledger, monitors: tuple[str, ...], now: datetime) -> Iterator[Metric]:
    """Windows of each monitor, work that is due, and times of the last prediction and success."""
    windows = _gauge("windows", "Number of planned windows in any state.", "monitor")
    unfinished = _gauge(
        "windows_unfinished", "Number of windows of which an evaluation is due.", "monitor"
    )
    failing = _gauge(
        "windows_failing",
        "Number of windows of which an evaluation is due and the last attempt failed.",
        "monitor",
    )
    age = _gauge(
        "oldest_unfinished_window_age_seconds",
        "Time since the oldest evaluation that is due became due; 0 if none is due.",
        "monitor",
    )
    success = _gauge(
        "last_success_timestamp_seconds", "Time of the latest evaluation of a window.", "monitor"
    )
    predicted = _gauge(
        "last_prediction_timestamp_seconds",
        "Time of the latest prediction that the last round found.",
        "monitor",
    )
    backlogs, works = ledger.backlogs(now=now), ledger.work(monitors, now=now)
    for monitor in monitors:
        work = works.get(monitor, MonitorWork())
        for gauge, moment in ((success, work.last_evaluated), (predicted, work.last_prediction)):
            if moment is not None:
                gauge.add_metric([monitor], moment.timestamp())
        backlog = backlogs.get(monitor, _NO_WORK)
        windows.add_metric([monitor], backlog.windows)
        unfinished.add_metric([monitor], backlog.to_collect + backlog.to_evaluate)
        failing.add_metric([monitor], backlog.failing)
        oldest = backlog.oldest_unfinished
        age.add_metric(
            [monitor], 0.0 if oldest is None else max((now - oldest).total_seconds(), 0.0)
        )
    lost = _gauge(
        "windows_with_lost_rows",
        "Number of windows of which rows or labels are gone that were counted before, so that the "
        "earlier results stay.",
        "monitor",
    )
    refused = Counter(look.monitor for look in ledger.refused_looks())
    for monitor in monitors:
        lost.add_metric([monitor], refused[monitor])
    yield from (windows, unfinished, failing, lost, age, success, predicted)


def _outbox(ledger: Ledger) -> Iterator[Metric]:
    """Messages of each destination that wait, their age, and those that it refused."""
    waiting = _gauge(
        "outbox_messages", "Number of messages that wait to be delivered.", "destination"
    )
    oldest_message = _gauge(
        "outbox_oldest_age_seconds",
        "Age of the oldest message that waits to be delivered.",
        "destination",
    )
    set_aside = _gauge(
        "outbox_set_aside", "Number of messages that the destination refused.", "destination"
    )
    for name, some in ledger.outbox.waiting().items():
        waiting.add_metric([name], some.messages)
        oldest_message.add_metric([name], some.oldest.total_seconds() if some.messages else 0.0)
        set_aside.add_metric([name], some.set_aside)
    yield from (waiting, oldest_message, set_aside)
