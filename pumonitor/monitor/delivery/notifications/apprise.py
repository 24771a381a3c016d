"""Chat, mail and paging through Apprise: one destination per address."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from pumonitor.errors import did_you_mean
from pumonitor.monitor.delivery.http.quiet_logs import suppressed_logs
from pumonitor.monitor.delivery.notifications.group import AlertGroup, is_sent_in_group
from pumonitor.monitor.delivery.notifications.message import AlertMessage, Format
from pumonitor.monitor.delivery.notifications.picture import ReadSeries, draw_series
from pumonitor.monitor.delivery.notifications.promotion_message import PromotionMessage
from pumonitor.monitor.delivery.notifications.promotion_words import (
    promotion_body,
    promotion_title,
)
from pumonitor.monitor.delivery.notifications.words import body, title
from pumonitor.monitor.delivery.sending.failures import (
    DestinationDownError,
    MessageRefusedError,
    presentable,
)
from pumonitor.monitor.delivery_ports import OutboxMessage

if TYPE_CHECKING:
    import apprise

_CONNECT_SECONDS: Final = 5.0
_READ_SECONDS: Final = 15.0
_SECONDS_IN_ALL: Final = 120.0


class AppriseSink:
    """Sends alerts, as text with a chart, and promotions to one Apprise address.

    Apprise raises no exception: it returns whether it succeeded and logs the reason of a failure.
    The reason is read from its logs, masked, and kept out of the process's own logs. Apprise does
    not distinguish an unavailable service from a refused message, so a failed message is always
    tried again and never set aside.

    Parameters
    ----------
    address : str
    format : {"markdown", "text", "html"}
        Format of the text; Apprise converts it to one that the service accepts.
    read_series : callable, optional
        Returns the series to draw for a message. If a chart cannot be drawn, the message is sent
        without one.
    mask : callable
        Hides secrets in text.
    """

    def __init__(
        self,
        address: str,
        *,
        format: Format = "markdown",  # noqa: A002 (the key in the file)
        read_series: ReadSeries = lambda message: (),
        mask: Callable[[str], str] = str,
    ) -> None:
        self._address = address
        self._format: Format = format
        self._read_series = read_series
        self._mask = mask

    def __repr__(self) -> str:
        return "AppriseSink()"

    def send(self, message: OutboxMessage) -> None:
        """Send a group of alerts, or a promotion; returns once the service has accepted it.

        Raises
        ------
        DestinationDownError
            If it has not accepted it.
        MessageRefusedError
            If the message is not valid.
        """
        if is_sent_in_group(message.payload):
            return
        if PromotionMessage.is_in(message.payload):
            promotion = PromotionMessage.from_payload(message.payload)
            self.notify(promotion_title(promotion), promotion_body(promotion, self._format))
            return
        alerts = AlertGroup.from_payload(message.payload).alerts
        self.notify(
            title(alerts),
            body(alerts, self._format),
            picture=self._picture(alerts),
            kind=_kind(alerts),
        )

    def notify(
        self, heading: str, text: str, *, picture: bytes | None = None, kind: str = "info"
    ) -> None:
        """Send a text message.

        Raises
        ------
        DestinationDownError, MessageRefusedError
            As `send`.
        """
        if _has_control(heading):
            # In mail it would begin a header of its own.
            msg = "the title has a line break or another control character"
            raise MessageRefusedError(msg, for_good=True)
        with suppressed_logs() as logged:
            import apprise

            service = _service(self._address)
            if service is None:
                msg = "Apprise does not accept the address"
                raise DestinationDownError(msg)
            sender = apprise.Apprise(asset=service.asset)
            sender.add(service)
            attached = None if picture is None else _attachment(picture)
            try:
                if sender.notify(
                    text,
                    title=heading,
                    notify_type=kind,
                    body_format=self._format,
                    attach=attached,
                    timeout=_SECONDS_IN_ALL,
                ):
                    return
            except Exception as error:  # noqa: BLE001 (whatever a plugin raises, it was not sent)
                logged.append(type(error).__name__)
        raise DestinationDownError(self._reason(logged))

    def _reason(self, reasons: Sequence[str]) -> str:
        said = "; ".join(dict.fromkeys(reason.strip() for reason in reasons)) or "no reason given"
        return presentable(self._mask(f"Apprise could not send it: {said}"))

    def _picture(self, alerts: Sequence[AlertMessage]) -> bytes | None:
        """Picture of the first alert of the group that has one."""
        return next((drawn for drawn in map(self._drawn, alerts) if drawn is not None), None)

    def _drawn(self, alert: AlertMessage) -> bytes | None:
        try:
            return draw_series(alert.transition, self._read_series(alert.transition))
        except Exception:  # noqa: BLE001 (an alert without a picture is better than none)
            return None


def check_apprise_address(address: str) -> None:
    """Raise an error for an address that Apprise would not send to.

    Raises
    ------
    ValueError
        The error repeats only the scheme of the address.
    """
    if _has_control(unquote(unquote(address))):
        msg = "has a line break or another control character, which mail headers do not allow"
        raise ValueError(msg)
    scheme = address.partition("://")[0].lower()
    with suppressed_logs():
        known = _schemes()
        if scheme == "file":
            msg = (
                "is the address of a file, to which notifications are not sent: give the "
                "address of a service"
            )
            raise ValueError(msg)
        if scheme not in known:
            hint = did_you_mean(scheme, known) or "; the schemes are in its list of services"
            msg = f"has a scheme that Apprise does not know: {scheme}{hint}"
            raise ValueError(msg)
        if _service(address) is None:
            msg = f"is not a valid Apprise address of {scheme}: see its list of services"
            raise ValueError(msg)


@cache
def _schemes() -> tuple[str, ...]:
    """All schemes that Apprise knows; deprecation warnings of its services are dropped."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from apprise.manager_plugins import NotificationManager

        return tuple(sorted(NotificationManager().schemas()))  # type: ignore[no-untyped-call]


def _service(address: str) -> apprise.NotifyBase | None:
    """Apprise's service for an address, with time limits; None if the address is not valid."""
    import apprise

    _schemes()
    asset = apprise.AppriseAsset(
        app_id="pumonitor",
        app_desc="pumonitor",
        app_url="",
        service_timeout=_SECONDS_IN_ALL,
        async_mode=False,
    )
    service = apprise.Apprise.instantiate(address, asset=asset, suppress_exceptions=True)
    if not isinstance(service, apprise.NotifyBase):
        return None
    service.socket_connect_timeout = _CONNECT_SECONDS
    service.socket_read_timeout = _READ_SECONDS
    return service


def _has_control(text: str) -> bool:
    """Whether a text has line breaks or other control characters."""
    return any(unicodedata.category(one) in {"Cc", "Zl", "Zp"} for one in text)


def _attachment(picture: bytes) -> Any:
    from apprise.attachment.memory import AttachMemory

    return AttachMemory(  # type: ignore[no-untyped-call]
        content=picture, name="series.png", mimetype="image/png"
    )


def _kind(alerts: Sequence[AlertMessage]) -> str:
    """Apprise's notification type, which selects colours and icons."""
    on = [one.transition for one in alerts if one.transition.kind != "resolved"]
    if not on:
        return "success"
    severities = {one.severity for one in on}
    return (
        "failure" if "critical" in severities else "warning" if "warning" in severities else "info"
    )
