"""Prometheus Alertmanager: firing alerts are posted again and again until they are resolved."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pumonitor import __version__
from pumonitor.monitor.delivery.http.posting import Limits, Requests
from pumonitor.monitor.delivery.notifications.message import AlertMessage
from pumonitor.monitor.delivery.notifications.promotion_message import PromotionMessage
from pumonitor.monitor.delivery.notifications.words import sentence, steps_said, title
from pumonitor.monitor.delivery.sending.failures import DestinationDownError
from pumonitor.monitor.delivery_ports import OutboxMessage
from pumonitor.monitor.rules.alerts.alert import Transition
from pumonitor.ports import Clock

__all__ = ["AlertmanagerSink", "labels"]

ALERT_NAME: Final = "PumonitorAlert"
_SHORTEST_LIFE: Final = timedelta(days=7)
_WINDOWS_OF_LIFE: Final = 3
_AT_ONCE: Final = 100


class AlertmanagerSink:
    """Posts alerts to an Alertmanager, and ends those that are resolved.

    Alertmanager ends an alert by itself at its ``endsAt``, and without one after its
    ``resolve_timeout`` of five minutes. An alert of pumonitor ends when windows are good again and
    not because no message arrived, so ``endsAt`` is seven days ahead, or three windows where they
    are longer. A resolution is posted with ``endsAt`` = now. Alertmanager loses its alerts when it
    is restarted, and ``endsAt`` has to be moved on, so every round calls `refresh` with the alerts
    that fire and those that are resolved. It can be called at any time and repeatedly: Alertmanager
    identifies alerts by their labels, which are the same in all messages of an alert.

    Parameters
    ----------
    address : str
        Of Alertmanager, without ``/api/v2``.
    allow_private : bool
        Whether the address may be one of a private network or of this machine, where
        Alertmanagers mostly are.
    mask : callable
        Hides secrets in text.
    clock : Clock
    limits : Limits, optional

    Attributes
    ----------
    life : timedelta
        Time after which Alertmanager ends an alert without a new message.
    """

    def __init__(
        self,
        address: str,
        *,
        allow_private: bool = True,
        mask: Callable[[str], str] = str,
        clock: Clock = lambda: datetime.now(UTC),
        limits: Limits | None = None,
    ) -> None:
        self.life = _SHORTEST_LIFE
        self._address = f"{address.rstrip('/')}/api/v2/alerts"
        self._clock = clock
        self._requests = Requests(
            "Alertmanager", allow_private=allow_private, mask=mask, clock=clock, limits=limits
        )

    def __repr__(self) -> str:
        return "AlertmanagerSink()"

    def send(self, message: OutboxMessage) -> None:
        """Post one alert as firing or resolved; returns once Alertmanager has accepted it.

        A promotion is no alert, which would have to end: none is posted.

        Raises
        ------
        DestinationDownError
            If it does not answer, or is unavailable.
        MessageRefusedError
            If it refuses the message, or the message is not valid.
        """
        if PromotionMessage.is_in(message.payload):
            return
        self._post([AlertMessage.from_payload(message.payload)])

    def refresh(self, on: Sequence[AlertMessage], over: Sequence[AlertMessage] = ()) -> None:
        """Post all firing alerts again, and end resolved ones that Alertmanager still shows.

        A delayed "fired" message can arrive after the "resolved" one and reopen the alert, so
        resolved alerts that Alertmanager still shows are ended again.

        Parameters
        ----------
        on, over : sequence of AlertMessage
            One message for each alert, of whatever kind.

        Raises
        ------
        DestinationDownError, MessageRefusedError
            As `send`.
        """
        self._post(on)
        if over:
            held = self._held()
            still = [one for one in over if _identity(labels(one.transition)) in held]
            self._post([_ended(one) for one in still])

    def _post(self, alerts: Sequence[AlertMessage]) -> None:
        now = self._clock()
        for start in range(0, len(alerts), _AT_ONCE):
            documents = [
                alert_document(one, now=now, life=self.life)
                for one in alerts[start : start + _AT_ONCE]
            ]
            body = json.dumps(documents, allow_nan=False).encode()
            self._requests.post(self._address, body, _headers("Content-Type"))

    def _held(self) -> set[tuple[tuple[str, str], ...]]:
        """Labels of pumonitor's alerts that Alertmanager shows as firing."""
        query = f"?filter=alertname%3D%22{ALERT_NAME}%22"
        answer = self._requests.get(self._address + query, _headers("Accept"))
        try:
            held = json.loads(answer.body)
            if isinstance(held, list):
                return {_identity(one["labels"]) for one in held}
            raise TypeError
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            msg = "Alertmanager answers with something other than a list of alerts"
            raise DestinationDownError(msg) from None


def labels(about: Transition) -> dict[str, str]:
    """Labels that identify an alert; they do not change during an incident.

    `rule` stands for the rule's meaning, since its name may be changed while it fires; the name is
    in the summary. Empty labels are left out, as in Alertmanager.
    """
    given = {
        "alertname": ALERT_NAME,
        "monitor": about.monitor,
        "rule": about.rule_key[:16],
        "metric": about.metric,
        "severity": about.severity,
        "model_version": about.model_version,
        "segment": about.segment,
    }
    return {name: value for name, value in given.items() if value}


def alert_document(alert: AlertMessage, *, now: datetime, life: timedelta) -> dict[str, Any]:
    """The JSON document of an alert for Alertmanager at a moment."""
    about = alert.transition
    started = min(about.firing_since or about.window_start, now - timedelta(seconds=1))
    windows = _WINDOWS_OF_LIFE * (about.window_end - about.window_start)
    ends = now if about.kind == "resolved" else now + max(life, windows)
    cause = about.cause.get("sentence")
    annotations = {
        "summary": title([alert]),
        "description": sentence(alert),
        "runbook_url": alert.runbook,
        "cause": cause if isinstance(cause, str) else "",
        "next_steps": " ".join(steps_said(about)),
        "incident": about.dedup_key,
        **{f"{name}_url": address for name, address in alert.links.items()},
    }
    page = alert.links.get("page")
    return {
        "labels": labels(about),
        "annotations": {name: text for name, text in annotations.items() if text},
        **({} if page is None else {"generatorURL": page}),
        "startsAt": started.astimezone(UTC).isoformat(),
        "endsAt": ends.astimezone(UTC).isoformat(),
    }


def _ended(alert: AlertMessage) -> AlertMessage:
    return replace(alert, transition=replace(alert.transition, kind="resolved"))


def _headers(what: str) -> dict[str, str]:
    return {what: "application/json", "User-Agent": f"pumonitor/{__version__}"}


def _identity(given: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(given.items()))
