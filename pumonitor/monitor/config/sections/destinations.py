"""Destinations of results and of notifications."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator

from pumonitor.monitor.config.sections.metric_names import METRICS, refuse_unknown
from pumonitor.monitor.config.values.addresses import Located, check_address
from pumonitor.monitor.config.values.kinds import Part, as_tuple
from pumonitor.monitor.config.values.variables import Secret
from pumonitor.monitor.delivery.http.public_addresses import is_public
from pumonitor.monitor.delivery.http.signatures import signing_key
from pumonitor.monitor.delivery.notifications.message import Event, Format

SEGMENT_METRICS: Final = (
    "class_prior",
    "aul",
    "auc",
    "precision",
    "recall",
    "f1",
    "labeled_positives",
    "predictions",
)
"""Metrics of a segment that MLflow gets by default, beside those that rules name."""

SegmentMetrics = tuple[str, ...] | Literal["all"]


class Kind(NamedTuple):
    """What the configuration and `pumonitor check` know of a kind of destination.

    Attributes
    ----------
    takes : tuple of str
        Keys that go with it.
    is_web : bool
        Whether it is an address of HTTP.
    is_secret : bool
        Whether the path of the address may be a secret, so that messages do not show it.
    """

    takes: tuple[str, ...] = ()
    is_web: bool = True
    is_secret: bool = True


KINDS: Final[Mapping[str, Kind]] = {
    "apprise": Kind(takes=("events", "format"), is_web=False),
    "webhook": Kind(takes=("secret", "allow_private", "events", "picture")),
    # Alertmanager holds the state of alerts, so it needs all events.
    "alertmanager": Kind(takes=("allow_private",), is_secret=False),
}
_ALL_OR_NAMES: Final = {
    "anyOf": [{"const": "all"}, {"type": "array", "items": {"enum": list(METRICS)}}]
}


def _segment_metrics(given: Any) -> SegmentMetrics:
    if given == "all":
        return "all"
    names = as_tuple(given)
    if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names):
        msg = "must be all, or a list of metrics such as [recall, precision]"
        raise ValueError(msg)
    for name in names:
        refuse_unknown(name)
    return names


_SegmentMetricsGiven = Annotated[
    SegmentMetrics, BeforeValidator(_segment_metrics), WithJsonSchema(_ALL_OR_NAMES)
]
_KEYS_OF_KINDS: Final = tuple(dict.fromkeys(key for kind in KINDS.values() for key in kind.takes))


class Tracking(Located):
    """The MLflow server or store to which results are sent.

    Attributes
    ----------
    uri : Secret
        Tracking URI, as MLflow takes it.
    registry : Secret or None
        Registry URI of the models, as MLflow takes it, where they are registered elsewhere.
    ui : Secret or None
        Address of MLflow's pages for links in messages, if ``uri`` is not a web address.
    summaries : "monthly" or "none"
        Whether a report of each calendar month is logged once its last window is mature.
    segment_metrics : list of str or "all"
        Metrics of a segment that are logged at the first look at a window and once it is mature, in
        addition to those that rules name. With ``all`` everything is, at all looks.
    """

    uri: Secret
    registry: Secret | None = None
    ui: Secret | None = None
    summaries: Literal["monthly", "none"] = "monthly"
    segment_metrics: _SegmentMetricsGiven = SEGMENT_METRICS

    @property
    def address(self) -> str:
        """Tracking URI with its password; a file's path is made absolute."""
        return self._absolute(self.uri.get())

    @property
    def registry_address(self) -> str:
        """Registry URI with its password: that of tracking unless given."""
        return self.address if self.registry is None else self._absolute(self.registry.get())

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """Its addresses that may have a password."""
        return (self.uri,) if self.registry is None else (self.uri, self.registry)

    def _absolute(self, given: str) -> str:
        is_name = given in {"databricks", "uc", "databricks-uc"}
        return given if is_name else self.absolute(given)

    @field_validator("ui")
    @classmethod
    def _page(cls, ui: Secret | None) -> Secret | None:
        if ui is not None and not ui.missing() and not _is_web(ui.get()):
            msg = "must be an address that begins with https:// or http:// and names a host"
            raise ValueError(msg)
        return ui


class Destination(Part):
    """A destination of notifications: an Apprise service, a webhook or Alertmanager.

    Attributes
    ----------
    apprise : Secret or None
        Apprise URL of a chat, mail or paging service, which receives title, text and chart.
    webhook : Secret or None
        Address to which JSON is sent by POST, signed after the Standard Webhooks specification if
        there is a ``secret``.
    secret : Secret or None
        Key with which messages to the webhook are signed: ``whsec_`` and base64, or any text.
    alertmanager : Secret or None
        Address of a Prometheus Alertmanager, which receives firing alerts, regular
        updates of them, and their end.
    allow_private : bool or None
        Whether the address may be in a private network or on this machine. By default
        this is allowed for Alertmanager and refused for a webhook.
    events : tuple of "fired", "resolved", "reminder" and "promoted", or None
        Kinds of messages to send; by default all. ``promoted`` stands for promotions of models and
        their undoing; Alertmanager is sent neither. For a webhook that starts a training, use
        ``[fired]``.
    format : "markdown", "text", "html" or None
        Format of messages to an Apprise service; by default Markdown.
    picture : bool or None
        Whether messages to a webhook include the chart of the metric. Messages to Apprise services
        always include it, messages to Alertmanager never.
    """

    apprise: Secret | None = None
    webhook: Secret | None = None
    secret: Secret | None = None
    alertmanager: Secret | None = None
    allow_private: bool | None = None
    events: Annotated[tuple[Event, ...] | None, BeforeValidator(as_tuple), Field(min_length=1)] = (
        None
    )
    format: Format | None = None
    picture: bool | None = None

    @property
    def kind(self) -> str:
        """The key that is given; validation has seen that it is one."""
        return next(name for name in KINDS if getattr(self, name) is not None)

    @property
    def address(self) -> str:
        """The address of its kind, with its secrets."""
        return self._address.get()

    @property
    def key(self) -> str | None:
        """The key with which messages to a webhook are signed."""
        return None if self.secret is None else self.secret.get()

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """Its address, and its key if there is one."""
        return (self._address,) if self.secret is None else (self._address, self.secret)

    @property
    def _address(self) -> Secret:
        address: Secret = getattr(self, self.kind)
        return address

    def wants(self, event: Event) -> bool:
        """Whether messages of this kind are sent to it."""
        return self.events is None or event in self.events

    @model_validator(mode="after")
    def _one_kind(self) -> Destination:
        kinds = [name for name in KINDS if getattr(self, name) is not None]
        if len(kinds) != 1:
            got = " and ".join(kinds) or "none"
            *others, last = KINDS
            msg = f"must have exactly one of {', '.join(others)} and {last}, got {got}"
            raise ValueError(msg)
        for key in _KEYS_OF_KINDS:
            belongs = [name for name, kind in KINDS.items() if key in kind.takes]
            if getattr(self, key) is not None and self.kind not in belongs:
                with_article = "a secret" if key == "secret" else key
                msg = f"has {with_article}, which is for {' or '.join(belongs)} and not for "
                raise ValueError(msg + self.kind)
        if not self._address.missing():
            self._check_address(self.address)
        if self.secret is not None and not self.secret.missing():
            try:
                signing_key(self.secret.get())
            except ValueError as error:
                msg = f"has a secret that {error}"
                raise ValueError(msg) from None
        return self

    def _check_address(self, address: str) -> None:
        if self.kind == "apprise":
            check_address(address)
            # Apprise itself reports a bad address only as "not sent".
            from pumonitor.monitor.delivery.notifications.apprise import check_apprise_address

            check_apprise_address(address)
            return
        if not KINDS[self.kind].is_web:
            return
        if not _is_web(address):
            msg = f"must have a {self.kind} that begins with https:// or http:// and names a host"
            raise ValueError(msg)
        if self.kind == "webhook" and not self.allow_private and _is_private(_host(address)):
            msg = (
                "has a webhook in a private network or on this machine: add allow_private: true if "
                "that is intended"
            )
            raise ValueError(msg)


def _is_web(address: str) -> bool:
    return address.startswith(("https://", "http://")) and bool(_host(address))


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _is_private(host: str) -> bool:
    """Whether the host is private by its name; its resolved address is checked when sending."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return not is_public(host)
    except ValueError:
        return False
