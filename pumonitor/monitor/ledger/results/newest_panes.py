"""Keep `newest_panes` and `headline_results` what the results say they are.

All functions take the connection of an open transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, Select, delete, insert, select

from pumonitor.monitor.ledger.database.queries import is_latest, is_of_newest
from pumonitor.monitor.ledger.database.schema import (
    evaluations,
    headline_results,
    latest,
    newest_panes,
    results,
    windows,
)

HEADLINES: Final = frozenset(
    {
        "predictions",
        "labeled_positives",
        "label_maturity",
        "class_prior",
        "aul",
        "auc",
        "precision",
        "recall",
        "f1",
    }
)
"""Metrics of `headline_results`. One more needs a migration that fills it in."""

_OF_PANE: Final = ("monitor", "configuration", "segment", "window_start", "model_version")
_AT_ONCE: Final = 500


def point_to_newest(connection: Connection, keys: Sequence[str]) -> None:
    """Set the newest panes of windows anew, from what is stored of all their panes.

    Call it in the transaction that stores or deletes results. It reads everything anew and keeps
    nothing of what it set before, so it does not matter in which order panes were evaluated.
    """
    for begin in range(0, len(keys), _AT_ONCE):
        some = list(keys[begin : begin + _AT_ONCE])
        # Their numbers go with them.
        connection.execute(delete(newest_panes).where(newest_panes.c.window_key.in_(some)))
        for table, found in (
            (newest_panes, _panes_of(some)),
            (headline_results, _numbers_of(some)),
        ):
            names = [column.name for column in found.selected_columns]
            connection.execute(insert(table).from_select(names, found))


def _panes_of(keys: list[str]) -> Select[Any]:
    return (
        select(
            windows.c.monitor,
            windows.c.configuration,
            evaluations.c.segment,
            windows.c.window_start,
            evaluations.c.model_version,
            windows.c.window_end,
            windows.c.window_key,
            latest.c.pane,
            latest.c.revision,
            latest.c.state,
            latest.c.as_of,
        )
        .join_from(windows, latest, latest.c.window_key == windows.c.window_key)
        .join(evaluations, is_latest(evaluations))
        .where(windows.c.window_key.in_(keys))
    )


def _numbers_of(keys: list[str]) -> Select[Any]:
    numbers = ("metric", "value", "low", "high", "infeasible", "impossible", "assumed")
    return (
        select(
            *(newest_panes.c[name] for name in (*_OF_PANE, "window_end", "state")),
            *(results.c[name] for name in numbers),
        )
        .join_from(newest_panes, results, is_of_newest())
        .where(newest_panes.c.window_key.in_(keys), results.c.metric.in_(sorted(HEADLINES)))
    )
