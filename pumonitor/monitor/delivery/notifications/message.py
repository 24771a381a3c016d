"""What a destination is told of an alert: the payload of a message in the outbox."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Literal

from pumonitor.monitor.delivery.sending.failures import MessageRefusedError

__all__ = ["AlertMessage", "Format", "MessageKind", "Severity", "outbox_destination"]

MessageKind = Literal["fired", "resolved", "reminder"]
Format = Literal["text", "markdown", "html"]
Severity = Literal["info", "warning", "critical"]

_TIMES = ("window_start", "window_end", "as_of")
_KINDS = ("fired", "resolved", "reminder")


def outbox_destination(name: str) -> str:
    """Under which name the outbox keeps what goes to a destination of the configuration.

    MLflow is a destination of the outbox too, and may be the name of one of the configuration.

    Examples
    --------
    >>> outbox_destination("oncall")
    'alerts:oncall'
    """
    return f"alerts:{name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertMessage:
    """One transition of one alert, as it is told.

    Attributes
    ----------
    transition : int
        Id of the transition in the ledger (`alert_transitions`).
    monitor : str
    rule : str
        The rule's name, for people.
    rule_key : str
        Stands for the rule's meaning; part of the alert's identity.
    severity : {"info", "warning", "critical"}
    kind : {"fired", "resolved", "reminder"}
    reason : str
        Of a resolution: "good", "revised" (a correction: what was bad turned out not to be) or
        "configuration" (the rule was edited or deleted); "" otherwise.
    incident : int
        Of the alert, from 1.
    reminder : int
        Number of the reminder, 0 for other kinds.
    late : bool
        Sent after its time: it was silenced, inhibited, or history when it happened.
    model_version, segment : str
        "" where there are none, and for all rows; a segment is ``column=value``.
    window_start, window_end, as_of : datetime
        Of the window that the message is about, and when it was known.
    metric : str
        What is judged: an estimate, a number of rows, or ``health:`` and what it is about.
    value, low, high : float or None
        Of the metric in this window.
    limit : float or None
        What it is judged by, on the metric's scale.
    reference : float or None
        What it is compared with, on the metric's scale.
    sentence : str
        What happened, for people, in one sentence.
    cause : mapping
        What changed; may be empty.
    runbook : str
        Address of what to do; "" without one.
    links : mapping of str to str
        Further addresses, by what is there.
    firing_since : datetime or None
        Start of the window with which the incident began.

    Examples
    --------
    >>> start = datetime(2026, 1, 1, tzinfo=UTC)
    >>> message = AlertMessage(
    ...     transition=12, monitor="card-fraud", rule="f1 below 0.75", rule_key="5f0c",
    ...     severity="critical", kind="fired", incident=1, model_version="7", segment="",
    ...     window_start=start, window_end=start.replace(day=2), as_of=start.replace(month=2),
    ...     metric="f1", value=0.7, low=0.66, high=0.73, limit=0.75, sentence="F1 is 0.70.")
    >>> message.dedup_key, message.key
    ('card-fraud/5f0c//7/1', 'card-fraud/5f0c//7/1/fired')
    >>> AlertMessage.from_payload(message.to_payload()) == message
    True
    """

    transition: int
    monitor: str
    rule: str
    rule_key: str
    severity: Severity
    kind: MessageKind
    incident: int
    model_version: str
    segment: str
    window_start: datetime
    window_end: datetime
    as_of: datetime
    metric: str
    sentence: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    limit: float | None = None
    reference: float | None = None
    reason: str = ""
    reminder: int = 0
    late: bool = False
    cause: Mapping[str, Any] = field(default_factory=dict)
    runbook: str = ""
    links: Mapping[str, str] = field(default_factory=dict)
    firing_since: datetime | None = None

    @property
    def lane(self) -> str:
        """Messages of one alert arrive in order."""
        return "/".join([self.monitor, self.rule_key, self.segment, self.model_version])

    @property
    def dedup_key(self) -> str:
        """The same for all messages of an incident: destinations put them together by it."""
        return f"{self.lane}/{self.incident}"

    @property
    def key(self) -> str:
        """The same for the same message, however often it is sent."""
        ending = f"{self.kind}{self.reminder}" if self.kind == "reminder" else self.kind
        return f"{self.dedup_key}/{ending}"

    def to_payload(self) -> dict[str, Any]:
        """Plain JSON values."""
        payload = asdict(self)
        payload["firing_since"] = None if self.firing_since is None else _text(self.firing_since)
        return {
            **payload,
            **{name: _text(payload[name]) for name in _TIMES},
            "cause": dict(self.cause),
            "links": dict(self.links),
            "dedup_key": self.dedup_key,
        }

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> AlertMessage:
        """Read `to_payload`'s values.

        Raises
        ------
        MessageRefusedError
            If something is missing or is not what it should be; the message says what.
        """
        known = {one.name for one in fields(cls)}
        values = {name: value for name, value in payload.items() if name in known}
        if values.get("kind") not in _KINDS:
            msg = f"'kind' must be one of {', '.join(_KINDS)}, got {values.get('kind')!r:.80}"
            raise MessageRefusedError(msg)
        for name in _TIMES:
            values[name] = _time(payload, name)
        if payload.get("firing_since") is not None:
            values["firing_since"] = _time(payload, "firing_since")
        try:
            return cls(**values)
        except TypeError as error:
            msg = f"a message about an alert cannot be read: {error}"
            raise MessageRefusedError(msg) from None


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _time(values: Mapping[str, Any], name: str) -> datetime:
    text = values.get(name)
    try:
        moment = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        msg = f"the message's {name!r} must be a time with its zone, got {text!r:.80}"
        raise MessageRefusedError(msg)
    return moment.astimezone(UTC)
