"""Read the conditions of monitors from the ledger, for every face that shows one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.inspection.alerts_shown import alert_views
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.windows import MonitorWork
from pumonitor.monitor.views.alerts import AlertView, by_urgency
from pumonitor.monitor.views.condition import (
    LATE,
    ExpectedLook,
    MonitorCondition,
    condition_view,
)
from pumonitor.monitor.windows.due.due_windows import have_stopped


def read_conditions(
    ledger: Ledger, monitors: Mapping[str, Monitor], *, now: datetime
) -> list[MonitorCondition]:
    """The conditions of monitors, read by as many statements for one as for a hundred."""
    work, firing = ledger.work(monitors, now=now), firing_alerts(ledger, monitors, now=now)
    return [
        condition_of(monitor, work.get(name, MonitorWork()), firing.get(name, ()), now=now)
        for name, monitor in monitors.items()
    ]


def firing_alerts(
    ledger: Ledger, monitors: Iterable[str], *, now: datetime
) -> dict[str, list[AlertView]]:
    """Alerts that fire by monitor, those that need somebody first."""
    firing: dict[str, list[AlertView]] = {}
    for alert in by_urgency(alert_views(ledger, now=now, monitors=list(monitors), firing=True)):
        firing.setdefault(alert.monitor, []).append(alert)
    return firing


def condition_of(
    monitor: Monitor, work: MonitorWork, firing: Iterable[AlertView], *, now: datetime
) -> MonitorCondition:
    """The condition of a monitor, from what was read of it."""
    last = work.last_prediction
    return condition_view(
        monitor.name,
        work,
        list(firing),
        look=_expected_look(monitor, work.looked_at or work.newest_end, now=now),
        work_due=None if work.oldest_due is None else _next_round(monitor, work.oldest_due),
        # Tables that are filled in batches have an empty window now and then.
        has_stopped=last is not None
        and have_stopped(monitor, last, now=now)
        and now - last > 2 * _window_length(monitor, last) + LATE,
        source=monitor.predictions.source.name,
        now=now,
    )


def _expected_look(
    monitor: Monitor, last: datetime | None, *, now: datetime
) -> ExpectedLook | None:
    """By its schedule after the next window has ended; without one within another window."""
    if last is None or last > now:
        return None
    length = _window_length(monitor, last)
    end = monitor.windows.containing(last).end
    due = end + length if monitor.schedule is None else _next_round(monitor, end)
    return ExpectedLook(last=last, due=due, ended=max((now - end) // length + 1, 0))


def _next_round(monitor: Monitor, moment: datetime) -> datetime:
    """The day of the first round by its schedule; at once without one."""
    if monitor.schedule is None:
        return moment
    return max(monitor.schedule.first_day(moment), moment)


def _window_length(monitor: Monitor, moment: datetime) -> timedelta:
    window = monitor.windows.containing(moment)
    return window.end - window.start
