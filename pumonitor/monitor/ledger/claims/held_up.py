"""Collected windows that wait for earlier ones whose collection fails."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Connection, and_, select

from pumonitor.monitor.ledger.claims.claims import WorkRules, is_before
from pumonitor.monitor.ledger.database.queries import of_monitor
from pumonitor.monitor.ledger.database.schema import panes, windows
from pumonitor.monitor.ledger.records.rows import window_of
from pumonitor.ports import Window


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldUp:
    """A window whose collection fails, and the windows that wait for it.

    Attributes
    ----------
    monitor : str
    window : Window
        The failing window.
    error : str
        Error of its last attempt.
    waiting : frozenset of str
        Keys of the windows that are not evaluated until it is collected or given up.
    attempts_left : int
        Number of further failures until it is given up.
    next_try : datetime or None
        Time of the next attempt; None if the next run makes it.
    given_up_from : datetime or None
        Earliest time at which it can be given up; None if the next attempt has no time.
    """

    monitor: str
    window: Window
    error: str
    waiting: frozenset[str]
    attempts_left: int
    next_try: datetime | None
    given_up_from: datetime | None


def hold_ups(
    connection: Connection, *, monitor: str | None, rules: WorkRules
) -> tuple[HoldUp, ...]:
    """Failing windows of current configurations for which others wait, the earliest first."""
    earlier = windows.alias("earlier")
    blocks: ColumnElement[bool] = and_(
        panes.c.status == "collected", is_before(earlier, rules), earlier.c.attempts > 0
    )
    pairs = (
        select(earlier.c.window_key.label("failing"), windows.c.window_key.label("waiting"))
        .select_from(panes)
        .join(windows, windows.c.window_key == panes.c.window_key)
        .join(earlier, blocks)
        .where(*of_monitor(monitor, None), windows.c.evaluated_panes < windows.c.collected_panes)
        .distinct()
    )
    waiting: dict[str, set[str]] = {}
    for failing, key in connection.execute(pairs):
        waiting.setdefault(failing, set()).add(key)
    query = (
        select(windows)
        .where(*of_monitor(monitor, None), windows.c.attempts > 0)
        .order_by(windows.c.monitor, windows.c.window_start)
    )
    return tuple(
        HoldUp(
            monitor=row.monitor,
            window=window_of(row),
            error=row.last_error or "its worker died",
            waiting=frozenset(waiting[row.window_key]),
            attempts_left=rules.attempts_allowed - row.attempts,
            next_try=row.not_before,
            given_up_from=None
            if row.not_before is None
            else row.not_before
            + sum(map(rules.wait, range(row.attempts + 1, rules.attempts_allowed)), timedelta()),
        )
        for row in connection.execute(query)
        if row.window_key in waiting
    )
