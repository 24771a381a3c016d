"""Alerts in their present state, with what people are told of them and may do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, Final

from pumonitor.monitor.inspection.incidents import actions_of, user_actions
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.alerts import Silence
from pumonitor.monitor.page_addresses import PageAddresses
from pumonitor.monitor.rules.alerts.alert import Alert, Transition
from pumonitor.monitor.rules.causes.next_steps import next_steps
from pumonitor.monitor.views.alerts import AlertView, alert_view

_MOST: Final = 10_000
"""Of all monitors together that are read at once."""


def alert_views(
    ledger: Ledger,
    *,
    now: datetime,
    monitors: Collection[str],
    firing: bool | None = None,
    after: Sequence[str] | None = None,
    limit: int = _MOST,
    in_full: bool = False,
    pages: PageAddresses | None = None,
) -> list[AlertView]:
    """Alerts of these monitors, in the order of the ledger.

    Parameters
    ----------
    ledger : Ledger
    now : datetime
    monitors : collection of str
    firing, after, limit
        As `StoredAlerts.current` takes them.
    in_full : bool
        Whether to read causes anew with the audits since, and what people did.
    pages : PageAddresses, optional
    """
    stored = ledger.alerts
    alerts = stored.current(monitors=monitors, firing=firing, after=after, limit=limit)
    silences = stored.silences(at=now) if alerts else ()
    open_alerts = [alert for alert in alerts if alert.is_firing]
    beginnings = stored.beginnings({alert.monitor for alert in open_alerts}) if open_alerts else {}
    actions = user_actions(ledger, open_alerts) if open_alerts and in_full else {}
    cause_of: Callable[[Transition], Mapping[str, Any]] = attrgetter("cause")
    if in_full:
        # It loads what reads audits, which commands that only read do without.
        from pumonitor.monitor.inspection.audits_since import AuditsSince

        cause_of = AuditsSince(ledger).cause
    views = []
    for alert in alerts:
        began = beginnings.get(alert.incident_key(alert.incident)) if alert.is_firing else None
        cause = {} if began is None else cause_of(began)
        views.append(
            alert_view(
                alert,
                silenced_until=_silenced_until(alert, silences, now),
                began=began,
                cause=cause,
                next_steps=() if began is None else next_steps(alert.metric, cause),
                people=actions_of(actions, alert) if began is not None else (),
                pages=pages,
            )
        )
    return views


def _silenced_until(alert: Alert, silences: tuple[Silence, ...], now: datetime) -> datetime | None:
    return max((one.ends for one in silences if one.covers(alert, now=now)), default=None)
