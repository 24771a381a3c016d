"""Alerts in their present state, with what people are told of them and may do."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from pumonitor.monitor.ledger.alerts.alerts import StoredAlerts
from pumonitor.monitor.ledger.records.alerts import Silence
from pumonitor.monitor.rules.alerts.alert import Alert, Severity
from pumonitor.monitor.rules.causes.next_steps import Step, next_steps

if TYPE_CHECKING:
    # It loads what reads audits, which rounds without news do without.
    from pumonitor.monitor.inspection.audits_since import AuditsSince

_MOST: Final = 10_000
"""Of all monitors together that are read at once."""

SEVERITIES: Final[tuple[Severity, ...]] = ("critical", "warning", "info")
"""The worst first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertShown:
    """An alert with what its line says.

    Attributes
    ----------
    alert : Alert
    silenced_until : datetime or None
    is_acknowledged : bool
    noticed : datetime or None
        By when what made it fire was known.
    sentence : str
        What its last transition said; "" if it never fired.
    cause : str
        The one that it fired with, or what audits have told since.
    names_cause : bool
        Whether that cause says what changed; of the health of the data it does not.
    next_steps : tuple of Step
        What to do about it; empty unless it fires.
    """

    alert: Alert
    silenced_until: datetime | None
    is_acknowledged: bool
    noticed: datetime | None = None
    sentence: str = ""
    cause: str = ""
    names_cause: bool = False
    next_steps: tuple[Step, ...] = ()

    @property
    def needs_somebody(self) -> bool:
        """Whether it fires, and nobody has acknowledged or silenced it."""
        return self.alert.is_firing and not self.is_acknowledged and self.silenced_until is None


def alerts_shown(
    stored: StoredAlerts,
    *,
    now: datetime,
    monitors: Collection[str],
    firing: bool | None = None,
    after: Sequence[str] | None = None,
    limit: int = _MOST,
    audits: AuditsSince | None = None,
) -> list[AlertShown]:
    """Alerts of these monitors with what their lines say, in the order of the ledger.

    Parameters
    ----------
    stored : StoredAlerts
    now : datetime
    monitors : collection of str
    firing, after, limit
        As `StoredAlerts.current` takes them.
    audits : AuditsSince, optional
        To read causes anew with the audits since.
    """
    found = stored.current(monitors=monitors, firing=firing, after=after, limit=limit)
    silences = stored.silences(at=now) if found else ()
    fire = {one.monitor for one in found if one.is_firing}
    said = stored.beginnings(fire) if fire else {}
    shown = []
    for one in found:
        began = said.get(one.incident_key(one.incident)) if one.is_firing else None
        cause: Mapping[str, Any] = {}
        if began is not None:
            cause = began.cause if audits is None else audits.cause(began)
        shown.append(
            AlertShown(
                alert=one,
                silenced_until=_silenced_until(one, silences, now),
                is_acknowledged=one.is_firing and one.acknowledged_incident == one.incident,
                noticed=None if began is None else began.as_of,
                sentence="" if began is None else began.sentence,
                cause=str(cause.get("sentence", "")),
                names_cause="kinds" in cause,
                next_steps=() if began is None else next_steps(one.metric, cause),
            )
        )
    return shown


def by_urgency(shown: Iterable[AlertShown]) -> list[AlertShown]:
    """Those that need somebody first."""
    return sorted(shown, key=_urgency)


def _silenced_until(alert: Alert, silences: tuple[Silence, ...], now: datetime) -> datetime | None:
    return max((one.ends for one in silences if one.covers(alert, now=now)), default=None)


def _urgency(one: AlertShown) -> tuple[Any, ...]:
    alert = one.alert
    return (
        not alert.is_firing,
        not one.needs_somebody,
        SEVERITIES.index(alert.severity),
        alert.monitor,
        alert.rule,
        alert.model_version,
        alert.segment,
    )
