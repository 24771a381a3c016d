"""Destinations of results and of notifications."""

from __future__ import annotations

from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator

from pumonitor.monitor.config.values.addresses import Address, Located, check_address
from pumonitor.monitor.config.values.kinds import Part, Text, as_tuple
from pumonitor.monitor.delivery.http.public_addresses import is_public
from pumonitor.monitor.delivery.http.signatures import signing_key
from pumonitor.monitor.delivery.notifications.message import Format
from pumonitor.monitor.rules.alerts.alert import TransitionKind

__all__ = ["Destination", "Tracking"]

_KINDS: Final = ("apprise", "webhook", "alertmanager")
_GOES_WITH: Final = {
    "secret": ("webhook",),
    "allow_private": ("webhook", "alertmanager"),
    # Alertmanager holds the state of alerts, so it needs all events.
    "events": ("webhook", "apprise"),
    "picture": ("webhook",),
    "format": ("apprise",),
}


def _page(given: str) -> str:
    if not given.startswith(("https://", "http://")) or not _host(given):
        msg = "must be an address that begins with https:// or http:// and names a host"
        raise ValueError(msg)
    return given


class Tracking(Located):
    """The MLflow server or store to which results are sent.

    Attributes
    ----------
    uri : SecretStr
        Tracking URI, as MLflow takes it.
    ui : str or None
        Address of MLflow's pages for links in messages, if ``uri`` is not a web address.
    """

    uri: Address
    ui: Annotated[Text, AfterValidator(_page)] | None = None

    @property
    def address(self) -> str:
        """Tracking URI with its password; a file's path is made absolute."""
        given = self.uri.get_secret_value()
        return given if given in {"databricks", "uc"} else self.absolute(given)


class Destination(Part):
    """A destination of notifications: an Apprise service, a webhook or Alertmanager.

    Attributes
    ----------
    apprise : SecretStr or None
        Apprise URL of a chat, mail or paging service.
    webhook : SecretStr or None
        Address to which JSON is sent by POST.
    secret : SecretStr or None
        Key with which messages to the webhook are signed: ``whsec_`` and base64, or any text.
    alertmanager : SecretStr or None
        Address of a Prometheus Alertmanager.
    allow_private : bool or None
        Whether the address may be in a private network or on this machine. By default it may for
        Alertmanager, and may not for a webhook.
    events : tuple of "fired", "resolved" and "reminder", or None
        Kinds of messages to send; by default all. For a webhook that starts a training, use
        ``[fired]``.
    format : "markdown", "text", "html" or None
        Format of messages to an Apprise service; by default Markdown.
    picture : bool or None
        Whether messages to a webhook include the chart of the metric. Messages to Apprise services
        always do, those to Alertmanager never.
    """

    apprise: Address | None = None
    webhook: Address | None = None
    secret: Address | None = None
    alertmanager: Address | None = None
    allow_private: bool | None = None
    events: Annotated[
        tuple[TransitionKind, ...] | None, BeforeValidator(as_tuple), Field(min_length=1)
    ] = None
    format: Format | None = None
    picture: bool | None = None

    @property
    def kind(self) -> Literal["apprise", "webhook", "alertmanager"]:
        """The kind of destination."""
        if self.apprise is not None:
            return "apprise"
        return "webhook" if self.webhook is not None else "alertmanager"

    @property
    def address(self) -> SecretStr:
        """The address of its kind."""
        address: SecretStr = getattr(self, self.kind)
        return address

    def wants(self, event: TransitionKind) -> bool:
        """Whether messages of this kind are sent to it."""
        return self.events is None or event in self.events

    @model_validator(mode="after")
    def _one_kind(self) -> Destination:
        kinds = [name for name in _KINDS if getattr(self, name) is not None]
        if len(kinds) != 1:
            got = " and ".join(kinds) or "none"
            msg = f"must have one of apprise, webhook and alertmanager, got {got}"
            raise ValueError(msg)
        for key, belongs in _GOES_WITH.items():
            if getattr(self, key) is not None and self.kind not in belongs:
                with_article = "a secret" if key == "secret" else key
                msg = f"has {with_article}, which goes with {' or '.join(belongs)} and not with "
                raise ValueError(msg + self.kind)
        self._check_address()
        if self.secret is not None:
            try:
                signing_key(self.secret.get_secret_value())
            except ValueError as error:
                msg = f"has a secret that {error}"
                raise ValueError(msg) from None
        return self

    def _check_address(self) -> None:
        address = self.address.get_secret_value()
        if self.kind == "apprise":
            check_address(self.address)
            # Apprise itself reports a bad address only as "not sent".
            from pumonitor.monitor.delivery.notifications.apprise import check_apprise_address

            check_apprise_address(address)
            return
        if not address.startswith(("https://", "http://")) or not (host := _host(address)):
            msg = f"must have a {self.kind} that begins with https:// or http:// and names a host"
            raise ValueError(msg)
        if self.kind == "webhook" and not self.allow_private and _is_private(host):
            msg = (
                "has a webhook in a private network or on this machine: put allow_private: true "
                "beside it if that is meant"
            )
            raise ValueError(msg)


def _host(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def _is_private(host: str) -> bool:
    """Whether the host is private by its name; its resolved address is checked when sending."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return not is_public(host)
    except ValueError:
        return False
