"""Sinks for notifications, the series drawn in messages, and the refresh of Alertmanager."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pumonitor.monitor.alerts.routing import key_of_beginning
from pumonitor.monitor.config.configuration import Configuration
from pumonitor.monitor.config.sections.destinations import Destination
from pumonitor.monitor.delivery.http.posting import Limits
from pumonitor.monitor.delivery.notifications.alertmanager import AlertmanagerSink
from pumonitor.monitor.delivery.notifications.apprise import AppriseSink
from pumonitor.monitor.delivery.notifications.message import AlertMessage, outbox_destination
from pumonitor.monitor.delivery.notifications.picture import ReadSeries, SeriesPoint
from pumonitor.monitor.delivery.notifications.webhook import WebhookSink
from pumonitor.monitor.delivery.sending.delivery import Deliverer, Patience
from pumonitor.monitor.delivery_ports import Sink
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.results import PublishedResult
from pumonitor.monitor.reports.window_history import newest_known
from pumonitor.monitor.rules.alerts.alert import Transition
from pumonitor.ports import Clock

_WINDOWS_DRAWN: Final = 60

_COUNTED: Final[Mapping[str, Callable[[PublishedResult], int | None]]] = {
    "labeled_positives": lambda row: row.n_labeled,
    "predictions": lambda row: (row.n_labeled or 0) + (row.n_unlabeled or 0),
}
"""Numbers of rows, which are stored with every result."""


def alert_sinks(
    configuration: Configuration,
    *,
    read_series: ReadSeries,
    clock: Clock,
    limits: Limits | None = None,
) -> dict[str, Sink]:
    """A sink for each destination, by its name in the outbox."""
    return {
        outbox_destination(name): make_sink(
            destination,
            mask=configuration.mask,
            read_series=read_series,
            clock=clock,
            limits=limits,
        )
        for name, destination in configuration.destinations.items()
    }


def make_sink(
    destination: Destination,
    *,
    mask: Callable[[str], str],
    read_series: ReadSeries,
    clock: Clock,
    limits: Limits | None = None,
) -> Sink:
    """Make the sink of a destination.

    Parameters
    ----------
    destination : Destination
    mask : callable
        Hides secrets in text.
    read_series : callable
        Returns the series drawn in the message's chart.
    clock : Clock
    limits : Limits, optional
        Limits of one request.
    """
    address = destination.address
    allow_private = destination.allow_private
    if destination.kind == "apprise":
        return AppriseSink(
            address,
            format=destination.format or "markdown",
            read_series=read_series,
            mask=mask,
        )
    if destination.kind == "webhook":
        return WebhookSink(
            address,
            secret=destination.key,
            read_series=read_series if destination.picture else None,
            allow_private=bool(allow_private),
            mask=mask,
            clock=clock,
            limits=limits,
        )
    return AlertmanagerSink(
        address,
        allow_private=allow_private is not False,
        mask=mask,
        clock=clock,
        limits=limits,
    )


class NotifyingDeliverer(Deliverer):
    """Sends the messages of the outbox, and repeats firing alerts to every Alertmanager.

    This bypasses the outbox: an alert that could not be sent is sent with the next refresh.

    Parameters
    ----------
    ledger : Ledger
    sinks : mapping of str to Sink
        Destination in the outbox to its sink.
    clock : Clock
    patience : Patience, optional
    """

    def __init__(
        self,
        ledger: Ledger,
        sinks: Mapping[str, Sink],
        *,
        clock: Clock,
        patience: Patience | None = None,
    ) -> None:
        super().__init__(ledger.outbox, sinks, clock=clock, patience=patience)
        self._ledger = ledger
        self._alertmanagers = {
            name: sink for name, sink in sinks.items() if isinstance(sink, AlertmanagerSink)
        }

    def _refresh(self, destination: str) -> None:
        sink = self._alertmanagers.get(destination)
        if sink is not None:
            sink.refresh(*self._notified_of(destination))

    def _notified_of(self, destination: str) -> tuple[list[AlertMessage], list[AlertMessage]]:
        """Alerts of which a destination was notified: those still firing, and those resolved."""
        alerts = {
            key_of_beginning(one): one
            for one in self._ledger.alerts.current(closed=True)
            if one.told_incident
        }
        payloads = self._ledger.outbox.payloads(destination, list(alerts))
        found: tuple[list[AlertMessage], list[AlertMessage]] = ([], [])
        for key, payload in payloads.items():
            found[0 if alerts[key].told_firing else 1].append(AlertMessage.from_payload(payload))
        return found


def series_reader(ledger: LedgerReader) -> ReadSeries:
    """Make a reader of the windows before an alert, each as known when the alert was decided."""

    def read_series(about: Transition) -> list[SeriesPoint]:
        length = about.window_end - about.window_start
        counted = _COUNTED.get(about.metric)
        rows = ledger.results(
            about.monitor,
            since=about.window_start - (_WINDOWS_DRAWN - 1) * length,
            until=about.window_end,
            model_version=about.model_version,
            segment=about.segment,
            metrics=None if counted else [about.metric],
            revisions="all",
        )
        known = newest_known(
            (row for row in rows if counted is None or row.n_labeled is not None),
            as_of=about.as_of,
        )
        # For numbers of rows any metric of a window will do, as all carry them.
        by_window = {row.window_start: row for row in known}
        return [_point(row, counted) for row in by_window.values()]

    return read_series


def _point(
    row: PublishedResult, counted: Callable[[PublishedResult], int | None] | None
) -> SeriesPoint:
    if counted is not None:
        return SeriesPoint(start=row.window_start, end=row.window_end, value=counted(row))
    return SeriesPoint(
        start=row.window_start, end=row.window_end, value=row.value, low=row.low, high=row.high
    )
