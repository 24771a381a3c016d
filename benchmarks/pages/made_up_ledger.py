"""A ledger of many monitors, filled by SQL: as many rows as years of evaluations leave behind.

Windows and panes are those of the real schedule, states and revisions those of the real schema. The
numbers are made up: what is measured is how they are read.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, insert, select, text

from pumonitor.monitor.ledger.database.schema import (
    alert_states,
    monitors,
    panes,
    standings,
    windows,
)
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.claims import window_key
from pumonitor.monitor.ledger.results.newest_panes import point_to_newest
from pumonitor.monitor.rules.windows.panes import PaneSchedule
from pumonitor.names import GROUPS
from pumonitor.ports import Pane, Window

__all__ = ["CONFIGURATION", "DAY", "FIRST", "Extent", "fill", "monitor_name"]

FIRST: Final = datetime(2023, 1, 1, tzinfo=UTC)
DAY: Final = timedelta(days=1)
CONFIGURATION: Final = "c0ffee"
_SCHEDULE: Final = PaneSchedule(maturity=10 * DAY)
_ESTIMATES: Final = tuple(dict.fromkeys(name for group in GROUPS.values() for name in group))
_METRICS: Final = (
    "predictions",
    "labeled_positives",
    "label_maturity",
    "aul_change",
    "aul_change_prior",
    "aul_change_ranking",
    *_ESTIMATES,
    *(f"{name}_expected" for name in _ESTIMATES if not name.endswith("_threshold")),
)
# One window in so many was evaluated again with other results: its panes have a later revision.
_REVISED: Final = 20
_COUNTS: Final = {"predictions": 4000, "label_rows": 61, "unmatched": 0, "duplicates": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How many monitors, each with how many windows of five panes."""

    monitors: int
    windows: int

    @property
    def now(self) -> datetime:
        """Noon after the last window has ended."""
        return FIRST + self.windows * DAY + DAY / 2


def monitor_name(number: int) -> str:
    """Of the monitor with that number."""
    return f"monitor-{number:02}"


def fill(ledger: Ledger, extent: Extent) -> int:
    """Store windows, panes, evaluations, results and alerts; returns the number of results."""
    with ledger.database.writing() as connection:
        if not ledger.database.is_sqlite:
            connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
        for number in range(extent.monitors):
            _store_monitor(connection, monitor_name(number), extent)
        stored = _store_results(connection)
        point_to_newest(connection, list(connection.scalars(select(windows.c.window_key))))
    if not ledger.database.is_sqlite:
        # As the server's own autovacuum does within a minute.
        with ledger.database.engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql("ANALYZE")
    return stored


def _store_monitor(connection: Connection, name: str, extent: Extent) -> None:
    now = extent.now
    connection.execute(
        insert(monitors).values(
            name=name,
            configuration=CONFIGURATION,
            meaning={"threshold": 0.5},
            registered_at=FIRST,
            is_current=True,
            last_evaluated_at=now,
        )
    )
    connection.execute(
        insert(standings).values(
            monitor=name,
            configuration=CONFIGURATION,
            first_prediction=FIRST,
            last_prediction=now,
            planned_until=now,
        )
    )
    window_rows: list[dict[str, Any]] = []
    pane_rows: list[dict[str, Any]] = []
    for number in range(extent.windows):
        start = FIRST + number * DAY
        window = Window(start=start, end=start + DAY, index=number)
        key = window_key(name, CONFIGURATION, window.start, window.end)
        scheduled = _SCHEDULE.panes(window)
        done = [pane for pane in scheduled if pane.as_of <= now]
        waiting = [pane.as_of for pane in scheduled if pane.as_of > now]
        window_rows.append(_window_row(name, key, window, len(done), min(waiting, default=None)))
        pane_rows += [_pane_row(key, number, pane, now) for pane in scheduled]
    connection.execute(insert(windows), window_rows)
    connection.execute(insert(panes), pane_rows)
    connection.execute(insert(alert_states), [_alert_row(name, rule) for rule in range(4)])


def _window_row(
    monitor: str, key: str, window: Window, done: int, next_as_of: datetime | None
) -> dict[str, Any]:
    return {
        "window_key": key,
        "monitor": monitor,
        "configuration": CONFIGURATION,
        "window_start": window.start,
        "window_end": window.end,
        "window_index": window.index,
        "collected_panes": done,
        "evaluated_panes": done,
        "next_as_of": next_as_of,
        "fence": 2 * done,
        "attempts": 0,
    }


def _pane_row(key: str, window: int, pane: Pane, now: datetime) -> dict[str, Any]:
    done = pane.as_of <= now
    # The first of a window's panes that was evaluated again came after its last one.
    revision = pane.number + (5 if window % _REVISED == 0 else 0)
    return {
        "window_key": key,
        "number": pane.number,
        "state": pane.state,
        "as_of": pane.as_of,
        "status": "evaluated" if done else "planned",
        "revision": revision if done else None,
        "digest": "d" * 32 if done else None,
        "evaluated_digest": "d" * 32 if done else None,
        "counts": _COUNTS if done else None,
        "collected_at": pane.as_of if done else None,
        "evaluated_at": pane.as_of + timedelta(minutes=1) if done else None,
        "library_version": "1" if done else None,
    }


def _alert_row(monitor: str, rule: int) -> dict[str, Any]:
    return {
        "monitor": monitor,
        "rule_key": f"{rule:064}",
        "model_version": "7",
        "segment": "",
        "rule": f"rule {rule}",
        "metric": "f1",
        "severity": "critical",
        "state": "firing" if rule == 0 else "ok",
        "count": 0,
        "reason": "",
        "is_firing": rule == 0,
        "incident": 1,
        "reminders": 0,
        "told_incident": 0,
        "told_firing": False,
        "acknowledged_incident": 0,
    }


_REVISIONS = """
WITH revisions AS (
    SELECT window_key, number, revision FROM panes WHERE revision IS NOT NULL
    UNION ALL
    SELECT window_key, number, number FROM panes WHERE revision <> number
)
"""
_EVALUATIONS = f"""
INSERT INTO evaluations (window_key, pane, revision, model_version, segment, evaluation)
{_REVISIONS}
SELECT window_key, number, revision, '7', '', '{{"made_with": {{}}}}' FROM revisions
ORDER BY window_key, number, revision
"""  # noqa: S608 (text of this file)
# Windows in the order of their keys, so that the primary key grows at its end.
_RESULTS = f"""
INSERT INTO results (
    window_key, pane, revision, model_version, segment, metric, value, low, high, se,
    n_labeled, n_unlabeled
)
{_REVISIONS},
numbered AS (
    SELECT revisions.window_key, revisions.number, revisions.revision,
        (windows.window_index * 7 + revisions.revision * 11) % 97 / 400.0 AS moved
    FROM revisions JOIN windows ON windows.window_key = revisions.window_key
)
SELECT window_key, number, revision, '7', '', names.name,
    CASE names.name WHEN 'predictions' THEN 4000 + 400 * moved
                    WHEN 'labeled_positives' THEN 60 + 40 * moved
                    ELSE names.place / 200.0 + moved END,
    names.place / 200.0 + moved - 0.04, names.place / 200.0 + moved + 0.05, 0.02, 61, 3939
FROM numbered CROSS JOIN made_up_metrics AS names
ORDER BY window_key, number, revision, names.name
"""  # noqa: S608 (text of this file)


def _store_results(connection: Connection) -> int:
    connection.execute(text("CREATE TEMPORARY TABLE made_up_metrics (place INTEGER, name TEXT)"))
    connection.execute(
        text("INSERT INTO made_up_metrics VALUES (:place, :name)"),
        [{"place": place, "name": name} for place, name in enumerate(_METRICS)],
    )
    connection.execute(text(_EVALUATIONS))
    stored = connection.execute(text(_RESULTS)).rowcount
    connection.execute(text("DROP TABLE made_up_metrics"))
    return stored
