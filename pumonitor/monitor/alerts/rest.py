"""The time until which a monitor's alerts need no work, once all of its results are folded."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from pumonitor.monitor.ledger.alerts.alerts import AlertTables
from pumonitor.monitor.ledger.alerts.panes import earliest_unfinished, read_timeliness
from pumonitor.monitor.rules.alerts.by_clock import ClockCondition
from pumonitor.monitor.rules.alerts.rule import AlertRule

_LONGEST: Final = timedelta(days=1)
"""Alerts are checked at least once a day."""


def quiet_until(
    tables: AlertTables,
    *,
    monitor: str,
    configuration: str,
    rules: Sequence[AlertRule],
    have_stopped: bool,
    now: datetime,
) -> datetime | None:
    """The next time at which something may be due without a new result; None if it is due now.

    Parameters
    ----------
    tables : AlertTables
    monitor, configuration : str
    rules : sequence of AlertRule
    have_stopped : bool
        No window is due before there are new predictions: reminders go by the clock.
    now : datetime
    """
    moments = [now + _LONGEST]
    unfinished = earliest_unfinished(
        tables.connection, monitor=monitor, configuration=configuration
    )
    if unfinished is not None:
        moments.append(unfinished)
    timeliness = read_timeliness(
        tables.connection, monitor=monitor, configuration=configuration, now=now
    )
    alerts = tables.alerts(monitor)
    for rule in rules:
        firing = [one for one in alerts if one.rule_key == rule.key and one.is_firing]
        if isinstance(rule.condition, ClockCondition):
            newest = None if have_stopped else timeliness.newest
            overdue = None if newest is None else rule.condition.overdue_from(newest)
            # A firing "stale" alert is updated in every round, as its value grows.
            moments += [now] if firing else [] if overdue is None else [overdue]
        elif have_stopped and rule.repeat is not None:
            emitted = [one.emitted_as_of for one in firing if one.emitted_as_of is not None]
            moments += [moment + rule.repeat for moment in emitted]
    keys = {rule.key for rule in rules}
    if any(
        one.rule_key not in keys and (one.closed_at is None or one.told_firing) for one in alerts
    ):
        return None
    return min(moments) if min(moments) > now else None
