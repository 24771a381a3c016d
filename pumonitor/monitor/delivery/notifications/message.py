"""Notification of one alert transition: the payload of a message in the outbox."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any, Final, Literal, get_args

from pumonitor.monitor.delivery.sending.failures import MessageRefusedError
from pumonitor.monitor.rules.alerts.alert import Transition, TransitionKind
from pumonitor.monitor.views.alerts import transition_view

Format = Literal["text", "markdown", "html"]
Event = Literal[TransitionKind, "promoted"]
"""What destinations are notified of: transitions of alerts, and promotions of models."""

_TIMES: Final = ("window_start", "window_end", "as_of")
_OPTIONAL_TIMES: Final = ("firing_since", "onset")
_KINDS: Final = get_args(TransitionKind)
_ABOUT: Final = tuple(one.name for one in fields(Transition))
_NEEDED: Final = (
    "transition",
    *(
        one.name
        for one in fields(Transition)
        if one.default is MISSING and one.default_factory is MISSING
    ),
)


def outbox_destination(name: str) -> str:
    """Name in the outbox of a destination of the configuration.

    MLflow is a destination of the outbox too, and may be the name of one of the configuration.

    Examples
    --------
    >>> outbox_destination("oncall")
    'alerts:oncall'
    """
    return f"alerts:{name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertMessage:
    """A transition on its way to destinations.

    Attributes
    ----------
    transition : Transition
        What happened.
    number : int
        Its id in the ledger (`alert_transitions`).
    late : bool
        Whether it is sent late: it was silenced, inhibited or too old when it happened.
    runbook : str
        Address of instructions; "" without one.
    links : mapping of str to str
        Further addresses by name.

    Examples
    --------
    >>> start = datetime(2026, 1, 1, tzinfo=UTC)
    >>> transition = Transition(
    ...     monitor="card-fraud", rule="f1 below 0.75", rule_key="5f0c", severity="critical",
    ...     kind="fired", incident=1, model_version="7", segment="", window_start=start,
    ...     window_end=start.replace(day=2), as_of=start.replace(month=2), metric="f1", value=0.7,
    ...     low=0.66, high=0.73, limit_value=0.75, sentence="F1 is 0.70.")
    >>> message = AlertMessage(transition=transition, number=12)
    >>> transition.dedup_key, message.key
    ('card-fraud/5f0c//7/1', 'card-fraud/5f0c//7/1/fired')
    >>> AlertMessage.from_payload(message.to_payload()) == message
    True
    """

    transition: Transition
    number: int
    late: bool = False
    runbook: str = ""
    links: Mapping[str, str] = field(default_factory=dict)

    @property
    def lane(self) -> str:
        """Messages about alerts that may share an incident, and its key, arrive in order."""
        return f"{self.transition.monitor}/{self.transition.model_version}"

    @property
    def key(self) -> str:
        """Key of the message, the same each time it is sent."""
        return self.transition.key

    def to_payload(self) -> dict[str, Any]:
        """Plain JSON values, side by side: of the transition, of the message, and their keys."""
        return {
            **transition_view(self.transition).to_dict(),
            "transition": self.number,
            "late": self.late,
            "runbook": self.runbook,
            "links": dict(self.links),
        }

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> AlertMessage:
        """Read `to_payload`'s values.

        Raises
        ------
        MessageRefusedError
            If something is missing or is not what it should be; the message says what.
        """
        if payload.get("kind") not in _KINDS:
            msg = f"'kind' must be one of {', '.join(_KINDS)}, got {payload.get('kind')!r:.80}"
            raise MessageRefusedError(msg)
        times = {name: _time(payload, name) for name in _TIMES}
        given = (name for name in _OPTIONAL_TIMES if payload.get(name) is not None)
        times |= {name: _time(payload, name) for name in given}
        if missing := [name for name in _NEEDED if name not in payload]:
            msg = f"a message about an alert lacks {', '.join(missing)}"
            raise MessageRefusedError(msg)
        values = {**payload, **times, "limit_value": payload.get("limit")}
        about = Transition(**{name: values[name] for name in _ABOUT if name in values})
        if payload.get("dedup_key", about.dedup_key) != about.dedup_key:
            about = replace(about, joined=payload["dedup_key"])
        return cls(
            transition=about,
            number=payload["transition"],
            **{name: payload[name] for name in ("late", "runbook", "links") if name in payload},
        )


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
