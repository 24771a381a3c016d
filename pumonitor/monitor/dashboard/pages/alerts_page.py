"""All alerts: those that fire, every rule's state, and what happened."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from pumonitor.monitor.dashboard.pages.incidents_shown import incidents_drawn
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.alerts import Silence
from pumonitor.monitor.rules.alerts.alert import Alert, Transition

__all__ = ["MOST_ALERTS", "AlertShown", "alerts_page", "alerts_shown", "by_urgency"]

MOST_ALERTS: Final = 10_000
"""Of all monitors together that are read at once."""

_MOST_LINES: Final = 200
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
    ledger: Ledger,
    *,
    now: datetime,
    monitors: Collection[str],
    firing: bool | None = None,
    after: Sequence[str] | None = None,
    limit: int = MOST_ALERTS,
) -> list[AlertShown]:
    """Alerts of these monitors with what their lines say, in the order of the ledger.

    Parameters
    ----------
    ledger : Ledger
    now : datetime
    monitors : collection of str
    firing, after, limit
        As `StoredAlerts.current` takes them.
    """
    found = ledger.alerts.current(monitors=monitors, firing=firing, after=after, limit=limit)
    silences = ledger.alerts.silences(at=now) if found else ()
    fire = {one.monitor for one in found if one.is_firing}
    said = ledger.alerts.beginnings(fire) if fire else {}
    shown = []
    for one in found:
        began = said.get(one.incident_key(one.incident)) if one.is_firing else None
        shown.append(
            AlertShown(
                alert=one,
                silenced_until=_silenced_until(one, silences, now),
                is_acknowledged=one.is_firing and one.acknowledged_incident == one.incident,
                sentence="" if began is None else began.sentence,
                cause="" if began is None else str(began.cause.get("sentence", "")),
            )
        )
    return shown


def by_urgency(shown: Iterable[AlertShown]) -> list[AlertShown]:
    """Those that need somebody first."""
    return sorted(shown, key=_urgency)


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
        of = visible if monitor is None else [monitor]
        firing, others = (
            alerts_shown(ledger, now=now, monitors=of, firing=one, limit=_MOST_LINES + 1)
            for one in (True, False)
        )
        events = ledger.alerts.history(monitor, monitors=visible, limit=_MOST_EVENTS)
    return {
        "monitor": monitor,
        "firing": by_urgency(firing[:_MOST_LINES]),
        "others": by_urgency(others[:_MOST_LINES]),
        "most": _MOST_LINES,
        "more_fire": len(firing) > _MOST_LINES,
        "more_others": len(others) > _MOST_LINES,
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
