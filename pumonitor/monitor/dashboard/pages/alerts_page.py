"""All alerts: those that fire, every rule's state, and what happened."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from pumonitor.monitor.dashboard.pages.incidents_shown import incidents_drawn
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.alerts import Silence
from pumonitor.monitor.rules.alerts.alert import Alert, Transition

__all__ = ["AlertShown", "alerts_page", "alerts_shown"]

_MOST_EVENTS: Final = 200
_ORDER: Final = {"critical": 0, "warning": 1, "info": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertShown:
    """An alert with what its line says.

    Attributes
    ----------
    alert : Alert
    silenced_until : datetime or None
    is_acknowledged : bool
    sentence : str
        What its last transition said; "" if it never fired.
    cause : str
    """

    alert: Alert
    silenced_until: datetime | None
    is_acknowledged: bool
    sentence: str = ""
    cause: str = ""

    @property
    def needs_somebody(self) -> bool:
        """Whether it fires, and nobody has acknowledged or silenced it."""
        return self.alert.is_firing and not self.is_acknowledged and self.silenced_until is None


def alerts_shown(
    ledger: Ledger, *, now: datetime, monitors: Collection[str], monitor: str | None = None
) -> list[AlertShown]:
    """Alerts of the monitors that are shown, those that need somebody first."""
    silences = ledger.alerts.silences(at=now)
    said = ledger.alerts.beginnings([monitor] if monitor is not None else list(monitors))
    found = []
    for one in ledger.alerts.current(monitor):
        if one.monitor in monitors:
            began = said.get(one.incident_key(one.incident)) if one.is_firing else None
            found.append(
                AlertShown(
                    alert=one,
                    silenced_until=_silenced_until(one, silences, now),
                    is_acknowledged=one.is_firing and one.acknowledged_incident == one.incident,
                    sentence="" if began is None else began.sentence,
                    cause="" if began is None else str(began.cause.get("sentence", "")),
                )
            )
    return sorted(found, key=_urgency)


def alerts_page(
    site: Site,
    *,
    monitor: str | None,
    visible: Collection[str],
    link: Callable[[Transition], str],
) -> dict[str, Any]:
    """What the page of alerts shows.

    Parameters
    ----------
    site : Site
    monitor : str or None
        By default all that are visible.
    visible : collection of str
        Monitors that the reader may see.
    link : callable
        Address of the alert of a transition.
    """
    now = site.clock()
    with site.at_once() as ledger:
        shown = alerts_shown(ledger, now=now, monitors=visible, monitor=monitor)
        events = ledger.alerts.history(monitor, monitors=visible, limit=_MOST_EVENTS)
    return {
        "monitor": monitor,
        "firing": [one for one in shown if one.alert.is_firing],
        "others": [one for one in shown if not one.alert.is_firing],
        "events": events[::-1],
        "chart": incidents_drawn(
            [one.transition for one in events],
            now=now,
            zone=UTC if monitor is None else site.zone(monitor),
            link=link,
        ),
        "now": now,
        "zones": {name: site.zone(name) for name in visible},
    }


def _silenced_until(alert: Alert, silences: tuple[Silence, ...], now: datetime) -> datetime | None:
    return max((one.ends for one in silences if one.covers(alert, now=now)), default=None)


def _urgency(one: AlertShown) -> tuple[Any, ...]:
    alert = one.alert
    return (
        not alert.is_firing,
        not one.needs_somebody,
        _ORDER[alert.severity],
        alert.monitor,
        alert.rule,
        alert.model_version,
        alert.segment,
    )
