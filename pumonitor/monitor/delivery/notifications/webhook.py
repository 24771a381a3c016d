"""Webhooks: alerts and promotions as signed JSON, after the rules of Standard Webhooks."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from pumonitor import __version__
from pumonitor.monitor.delivery.http.posting import Limits, Requests
from pumonitor.monitor.delivery.http.signatures import message_id, signature, signing_key
from pumonitor.monitor.delivery.notifications.group import is_sent_in_group
from pumonitor.monitor.delivery.notifications.message import AlertMessage
from pumonitor.monitor.delivery.notifications.picture import ReadSeries, draw_series
from pumonitor.monitor.delivery.notifications.promotion_message import PromotionMessage
from pumonitor.monitor.delivery.notifications.promotion_words import (
    promotion_sentence,
    promotion_title,
)
from pumonitor.monitor.delivery.notifications.words import steps_said, text, title
from pumonitor.monitor.delivery_ports import OutboxMessage
from pumonitor.ports import Clock

__all__ = ["WebhookSink"]

_LARGEST_PICTURE: Final = 256 * 1024
"""Receivers have limits: a picture has some 50 KB, and one above this is left out."""


class WebhookSink:
    """Posts one alert or promotion at a time; ``webhook-id`` lets the receiver ignore duplicates.

    2xx counts as delivered. 408, 425, 429 and 5xx, no connection and no answer are tried again (for
    429 and 503 not before what Retry-After asks for), any other answer sets the message aside. An
    answer that is lost after the message was sent leaves it open whether it arrived: it is sent
    again, with the same ``webhook-id`` and body, and a new timestamp and signature.

    Parameters
    ----------
    address : str
    secret : str, optional
        Signs what is sent: ``whsec_`` and base64, or any text. Nothing is signed without it.
    read_series : callable, optional
        Returns the series to draw for a message; without it no chart is sent. If a chart cannot be
        drawn, the message is sent without one.
    allow_private : bool
        Whether the address may be one of a private network or of this machine.
    mask : callable
        Hides secrets in text.
    clock : Clock
    limits : Limits, optional
    """

    def __init__(
        self,
        address: str,
        *,
        secret: str | None = None,
        read_series: ReadSeries | None = None,
        allow_private: bool = False,
        mask: Callable[[str], str] = str,
        clock: Clock = lambda: datetime.now(UTC),
        limits: Limits | None = None,
    ) -> None:
        self._address = address
        self._key = None if secret is None else signing_key(secret)
        self._read_series = read_series
        self._clock = clock
        self._requests = Requests(
            "the webhook", allow_private=allow_private, mask=mask, clock=clock, limits=limits
        )

    def __repr__(self) -> str:
        return "WebhookSink()"

    def send(self, message: OutboxMessage) -> None:
        """Post an alert or a promotion; returns once the receiver has confirmed it.

        Raises
        ------
        DestinationDownError
            If it does not answer, or is unavailable.
        MessageRefusedError
            If it refuses the message, or the message is not valid.
        """
        if is_sent_in_group(message.payload):
            return
        body = self._body(message)
        identity = message_id(message.destination, message.key)
        moment = self._clock()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"pumonitor/{__version__}",
            "webhook-id": identity,
            "webhook-timestamp": str(int(moment.timestamp())),
        }
        if self._key is not None:
            headers["webhook-signature"] = signature(self._key, identity, moment, body)
        self._requests.post(self._address, body, headers)

    def _body(self, message: OutboxMessage) -> bytes:
        if PromotionMessage.is_in(message.payload):
            return promotion_webhook_body(PromotionMessage.from_payload(message.payload))
        alert = AlertMessage.from_payload(message.payload)
        return webhook_body(alert, picture=self._picture(alert))

    def _picture(self, alert: AlertMessage) -> bytes | None:
        if self._read_series is None:
            return None
        try:
            drawn = draw_series(alert.transition, self._read_series(alert.transition))
        except Exception:  # noqa: BLE001 (an alert without a picture is better than none)
            return None
        return drawn if drawn is None or len(drawn) <= _LARGEST_PICTURE else None


def webhook_body(alert: AlertMessage, *, picture: bytes | None = None) -> bytes:
    """Body of the request: ``type``, ``timestamp`` and ``data``, the same bytes every time."""
    payload = alert.to_payload()
    data = {**payload, "title": title([alert]), "text": text(alert)}
    data["next_steps"] = steps_said(alert.transition)
    if picture is not None:
        data["picture"] = {
            "content_type": "image/png",
            "base64": base64.b64encode(picture).decode(),
        }
    document = {
        "type": f"alert.{alert.transition.kind}",
        "timestamp": payload["as_of"],
        "data": data,
    }
    return _bytes_of(document)


def promotion_webhook_body(message: PromotionMessage) -> bytes:
    """Body of the request about a promotion: ``type``, ``timestamp`` and ``data``."""
    payload = message.to_payload()
    done = "promoted" if message.action == "promote" else "promotion_undone"
    said = {"title": promotion_title(message), "text": promotion_sentence(message)}
    return _bytes_of(
        {"type": f"model.{done}", "timestamp": payload["at"], "data": {**payload, **said}}
    )


def _bytes_of(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, allow_nan=False, sort_keys=True, separators=(",", ":")).encode()
