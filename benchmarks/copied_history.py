"""The history of one monitor, copied under the names of others by the state database itself.

What the ledger wrote for the first monitor stays as it is; only the monitor and the keys of its
windows differ in the copies. So they are as realistic as the first one, at the price of a bulk
insert.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    Column,
    Connection,
    MetaData,
    Table,
    Text,
    delete,
    func,
    insert,
    literal,
    select,
)

from pumonitor.monitor.ledger.database.schema import (
    alert_progress,
    alert_states,
    alert_transitions,
    evaluations,
    headline_results,
    monitors,
    newest_panes,
    panes,
    results,
    series,
    standings,
    windows,
)
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.claims import window_key

__all__ = ["copy_history", "rows_of_tables"]

_OF_MONITOR: Final = (monitors, standings, alert_progress, alert_states, alert_transitions)
_OF_WINDOW: Final = (panes, series, evaluations, results, newest_panes, headline_results)
_copies = Table(
    "copies",
    MetaData(),
    Column("old_key", Text, primary_key=True),
    Column("new_key", Text),
    prefixes=["TEMPORARY"],
)


def copy_history(
    ledger: Ledger,
    first: str,
    others: Sequence[str],
    *,
    results_since: datetime | None = None,
    metrics: Collection[str] | None = None,
) -> None:
    """Copy what is stored of the first monitor, as if it had been found of all.

    Parameters
    ----------
    ledger : Ledger
    first : str
    others : sequence of str
        Monitors with the same configuration that have no history yet.
    results_since : datetime, optional
        Series, evaluations and results are copied only of windows that start then or later.
    metrics : collection of str, optional
        Only results of these metrics are copied.
    """
    with ledger.database.writing() as connection:
        if not ledger.database.is_sqlite:
            connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
            # Whether each row's pane is there need not be asked of copies.
            connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
        done = connection.execute(select(windows).where(windows.c.monitor == first)).all()
        has_results = {
            one.window_key
            for one in done
            if results_since is None or one.window_start >= results_since
        }
        _copies.create(connection)
        for name in others:
            connection.execute(delete(_copies))
            keys = {
                one.window_key: window_key(
                    name, one.configuration, one.window_start, one.window_end
                )
                for one in done
            }
            rows = [{"old_key": old, "new_key": new} for old, new in keys.items()]
            connection.execute(insert(_copies), rows)
            _copy_one(connection, first, name, has_results, metrics)
        _copies.drop(connection)
    if not ledger.database.is_sqlite:
        # As the server's own autovacuum does within a minute.
        with ledger.database.engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql("ANALYZE")


def _copy_one(
    connection: Connection,
    first: str,
    name: str,
    has_results: Collection[str],
    metrics: Collection[str] | None,
) -> None:
    for table in _OF_MONITOR:
        key = "name" if table is monitors else "monitor"
        new: dict[str, Any] = {key: literal(name)}
        _insert(connection, table, new, table.c[key] == first)
        if table is monitors:
            new = {"monitor": literal(name), "window_key": _copies.c.new_key}
            _insert(connection, windows, new, windows.c.window_key == _copies.c.old_key)
    for table in _OF_WINDOW:
        new = {}
        if "window_key" in table.c:
            new["window_key"] = _copies.c.new_key
            conditions = [table.c.window_key == _copies.c.old_key]
            if table is not panes:
                conditions.append(_copies.c.old_key.in_(has_results))
        else:
            conditions = [table.c.monitor == first, *_in_windows_with_results(table, has_results)]
        if table is results and metrics is not None:
            conditions.append(results.c.metric.in_(sorted(metrics)))
        if "monitor" in table.c:
            new["monitor"] = literal(name)
        _insert(connection, table, new, *conditions)


def _in_windows_with_results(table: Table, has_results: Collection[str]) -> list[Any]:
    starts = select(windows.c.window_start).where(windows.c.window_key.in_(has_results))
    return [table.c.window_start.in_(starts)]


def _insert(connection: Connection, table: Table, new: dict[str, Any], *conditions: Any) -> None:
    names = [one.name for one in table.c if not (one.name == "id" and one.identity is not None)]
    chosen = select(*(new.get(name, table.c[name]).label(name) for name in names))
    connection.execute(insert(table).from_select(names, chosen.where(*conditions)))


def rows_of_tables(ledger: Ledger) -> dict[str, int]:
    """Number of rows of each table that was copied, and of windows."""
    tables = (windows, *_OF_MONITOR, *_OF_WINDOW)
    with ledger.database.reading() as connection:
        return {
            table.name: int(connection.scalar(select(func.count()).select_from(table)) or 0)
            for table in tables
        }
