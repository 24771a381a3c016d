"""Send a test message to destinations and report the answers."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pumonitor.errors import InputError, no_such
from pumonitor.monitor.alerts.notifiers import make_sink
from pumonitor.monitor.config.configuration import Configuration
from pumonitor.monitor.delivery.notifications.alertmanager import AlertmanagerSink
from pumonitor.monitor.delivery.notifications.message import AlertMessage, outbox_destination
from pumonitor.monitor.delivery.notifications.picture import SeriesPoint
from pumonitor.monitor.delivery.sending.failures import (
    DestinationDownError,
    MessageRefusedError,
    presentable,
)
from pumonitor.monitor.delivery_ports import OutboxMessage, Sink
from pumonitor.monitor.rules.alerts.alert import Transition
from pumonitor.ports import Clock

_MONITOR: Final = "pumonitor-test"
_WINDOW: Final = timedelta(minutes=1)
_LIFE: Final = timedelta(minutes=5)
"""After this Alertmanager takes the test for over."""

_SHOWN: Final = (0.82, 0.81, 0.83, 0.80, 0.82, 0.81, 0.83, 0.82, 0.73, 0.72)
_HALF_WIDTH: Final = 0.03


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """Outcome of one test message.

    Attributes
    ----------
    destination : str
    kind : {"apprise", "webhook", "alertmanager"}
    delivered : bool
    message : str
        Answer or error.
    """

    destination: str
    kind: str
    delivered: bool
    message: str


def try_destinations(
    configuration: Configuration, names: Collection[str], *, clock: Clock
) -> Iterator[Tried]:
    """Send a message marked as a test to these destinations, or to all if none is given.

    Raises
    ------
    InputError
        If a name is unknown, or there are no destinations.
    """
    known = configuration.destinations
    if not known:
        msg = "the configuration has no destinations: add one under the key destinations"
        raise InputError(msg)
    for name in names:
        if name not in known:
            raise InputError(no_such("destination", name, known))
    return _try_each(configuration, names or list(known), clock=clock)


def _try_each(
    configuration: Configuration, names: Collection[str], *, clock: Clock
) -> Iterator[Tried]:
    for name in names:
        destination = configuration.destinations[name]
        sink: Sink = make_sink(
            destination, mask=configuration.mask, read_series=_series, clock=clock
        )
        if isinstance(sink, AlertmanagerSink):
            sink.life = _LIFE
        alert = _alert(clock())
        message = OutboxMessage(
            id=0,
            destination=outbox_destination(name),
            lane=alert.lane,
            key=f"{alert.key}/{alert.transition.as_of.isoformat()}",
            payload=alert.to_payload(),
        )
        try:
            sink.send(message)
        except (DestinationDownError, MessageRefusedError) as error:
            said = configuration.mask(presentable(error))
            yield Tried(destination=name, kind=destination.kind, delivered=False, message=said)
        else:
            yield Tried(
                destination=name,
                kind=destination.kind,
                delivered=True,
                message="accepted the message",
            )


def _alert(now: datetime) -> AlertMessage:
    about = Transition(
        monitor=_MONITOR,
        rule="this is a test",
        rule_key="test",
        severity="info",
        kind="fired",
        incident=1,
        model_version="",
        segment="",
        window_start=now - _WINDOW,
        window_end=now,
        as_of=now,
        metric="f1",
        value=_SHOWN[-1],
        low=_SHOWN[-1] - _HALF_WIDTH,
        high=_SHOWN[-1] + _HALF_WIDTH,
        limit_value=0.75,
        reference=0.82,
        sentence="This is a test of pumonitor's notifications: nothing is wrong. "
        "The numbers are made up.",
        firing_since=now - 2 * _WINDOW,
    )
    return AlertMessage(transition=about, number=0)


def _series(about: Transition) -> list[SeriesPoint]:
    length = about.window_end - about.window_start
    first = about.window_end - len(_SHOWN) * length
    return [
        SeriesPoint(
            start=first + number * length,
            end=first + (number + 1) * length,
            value=value,
            low=value - _HALF_WIDTH,
            high=value + _HALF_WIDTH,
        )
        for number, value in enumerate(_SHOWN)
    ]
