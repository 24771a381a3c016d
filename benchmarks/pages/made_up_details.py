"""What pages of one window, one alert and of people show, beside the results of all monitors.

Tables of three windows of one monitor, of 2,000, 20,000 and 200,000 rows, counted, joined and
evaluated as a monitor does it; for every monitor alerts of ten rules with ten incidents each,
notes, silences and entries of the audit log.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

import numpy as np
from sqlalchemy import Connection, delete, insert, select, update

from benchmarks.pages.made_up_ledger import DAY, FIRST, Extent, monitor_name
from pumonitor.monitor.ledger.database.plain_json import plain_json
from pumonitor.monitor.ledger.database.schema import (
    alert_states,
    alert_transitions,
    audit,
    evaluations,
    newest_panes,
    notes,
    series,
    silences,
)
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.table_bytes import table_to_bytes
from pumonitor.monitor.windows.evaluation.evaluated_tables import EvaluatedTables
from pumonitor.monitor.windows.evaluation.series_tables import MOST_CELLS, SeriesTable
from pumonitor.monitor.windows.evaluation.window_evaluation import evaluate_window
from pumonitor.ports import Window
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable

__all__ = ["RULE_KEY", "THRESHOLD", "add_details", "counted", "start_of"]

THRESHOLD: Final = 0.5
RULE_KEY: Final = f"{0:064}"
_CELLS: Final = 65_536
_ROWS: Final = {20_000: 11, 200_000: 12, 2000: 13}
"""Rows of a window, and how many windows before the end of all it is: mature by then."""
_RULES: Final = 10
_INCIDENTS: Final = 10
_NOTES: Final = 100
_PLACE: Final = ("monitor", "rule_key", "model_version", "segment", "rule", "metric", "severity")


def counted(rows: int, *, threshold: float = THRESHOLD) -> ScoreTable:
    """A window of so many rows, a twentieth positive, of which three tenths are confirmed.

    Rows are counted in 65,536 cells, and these joined to 2,048, as a monitor does before it stores
    them.
    """
    rng = np.random.default_rng(rows)
    positive = rng.random(rows) < 0.05
    scores = 1 / (1 + np.exp(-rng.normal(2 * positive - 1.5)))
    labeled = positive & (rng.random(rows) < 0.3)
    edges = np.linspace(0.0, 1.0, _CELLS + 1)
    cell = np.minimum((scores * _CELLS).astype(int), _CELLS - 1)
    some, others = (np.bincount(cell, one, minlength=_CELLS) for one in (labeled, ~labeled))
    filled = some + others > 0
    table = ScoreTable.from_counts(
        some[filled],
        others[filled],
        lower=edges[:-1][filled],
        upper=np.nextafter(edges[1:], 0.0)[filled],
    )
    return table.compress(MOST_CELLS, thresholds=(threshold,))


def start_of(extent: Extent, rows: int) -> datetime:
    """When the mature window of so many rows starts."""
    return FIRST + (extent.windows - _ROWS[rows]) * DAY


def add_details(ledger: Ledger, extent: Extent) -> bool:
    """Store them, unless they are there; returns whether they were not."""
    with ledger.database.writing() as connection:
        if connection.scalar(select(notes.c.id).limit(1)) is not None:
            return False
        for rows in _ROWS:
            _store_window(connection, monitor_name(extent.monitors // 2), extent, rows)
        connection.execute(delete(alert_states))
        for number in range(extent.monitors):
            _store_alerts(connection, monitor_name(number), extent.now)
            _store_words(connection, monitor_name(number), extent.now)
    return True


def _store_window(connection: Connection, monitor: str, extent: Extent, rows: int) -> None:
    start = start_of(extent, rows)
    place = connection.execute(
        select(newest_panes).where(
            newest_panes.c.monitor == monitor,
            newest_panes.c.window_start == start,
        )
    ).one()
    table = counted(rows)
    flagged = int((table.labeled + table.unlabeled)[table.lower >= THRESHOLD].sum())
    found = SeriesTable(
        pane=place.pane,
        model_version=place.model_version,
        segment="",
        table=table,
        undefined_reason=None,
        labeled=int(table.n_labeled),
        unlabeled=int(table.n_unlabeled),
        negative=0,
        flagged=flagged,
        digest="d" * 64,
    )
    evaluated = evaluate_window(
        found,
        state="mature",
        window=Window(start=start, end=start + DAY, index=0),
        tables=EvaluatedTables(threshold=THRESHOLD, label_purity=1.0),
        class_prior=ClassPriorEstimate.given((0.05, 0.03, 0.08)),
    )
    connection.execute(
        update(evaluations)
        .where(
            *(evaluations.c[name] == getattr(place, name) for name in ("window_key", "pane")),
            evaluations.c.revision == place.revision,
        )
        .values(evaluation=plain_json(dict(evaluated.evaluation), "an evaluation"))
    )
    collected = found.collected()
    connection.execute(
        insert(series).values(
            window_key=place.window_key,
            pane=place.pane,
            model_version=place.model_version,
            segment="",
            table_bytes=table_to_bytes(table),
            delays=plain_json(dict(collected.delays), "counts"),
        )
    )


def _store_alerts(connection: Connection, monitor: str, now: datetime) -> None:
    states = [_state(monitor, rule, now) for rule in range(_RULES)]
    connection.execute(insert(alert_states), states)
    connection.execute(
        insert(alert_transitions), [one for state in states for one in _history(state, now)]
    )


def _state(monitor: str, rule: int, now: datetime) -> dict[str, Any]:
    """The alert of one rule; that of the first fires."""
    fires = rule == 0
    return {
        "monitor": monitor,
        "rule_key": f"{rule:064}",
        "model_version": "7",
        "segment": "",
        "rule": f"rule {rule}",
        "metric": "f1",
        "severity": "critical",
        "state": "firing" if fires else "ok",
        "count": 0,
        "value": 0.4,
        "low": 0.35,
        "high": 0.45,
        "limit_value": 0.5,
        "reason": "",
        "window_start": now - 12 * DAY,
        "window_end": now - 11 * DAY,
        "as_of": now - DAY,
        "is_firing": fires,
        "incident": _INCIDENTS,
        "firing_since": now - 12 * DAY if fires else None,
        "reminders": 0,
        "told_incident": _INCIDENTS,
        "told_firing": fires,
        "acknowledged_incident": 0,
    }


def _history(state: dict[str, Any], now: datetime) -> Iterator[dict[str, Any]]:
    """Its incidents: each fired and, unless it is open, was resolved."""
    for incident in range(1, _INCIDENTS + 1):
        is_open = state["is_firing"] and incident == _INCIDENTS
        begin = now - (12 + 30 * (_INCIDENTS - incident)) * DAY
        for kind in ("fired",) if is_open else ("fired", "resolved"):
            start = begin if kind == "fired" else begin + 9 * DAY
            yield {
                **{name: state[name] for name in _PLACE},
                "incident": incident,
                "kind": kind,
                "reminder": 0,
                "reason": "good" if kind == "resolved" else "",
                "window_start": start,
                "window_end": start + DAY,
                "as_of": start + 2 * DAY,
                "firing_since": begin,
                **{name: state[name] for name in ("value", "low", "high", "limit_value")},
                "sentence": f"F1 of {state['monitor']} is below 0.5: 0.4 (0.35 to 0.45).",
                "cause": {"sentence": "The model ranks positives lower than in the reference."},
                "recorded_at": start + 2 * DAY,
                "told_at": start + 2 * DAY,
            }


def _store_words(connection: Connection, monitor: str, now: datetime) -> None:
    """What people wrote and did."""
    about = {"rule_key": RULE_KEY, "model_version": "7", "segment": "", "incident": _INCIDENTS}
    nothing = dict.fromkeys(about)
    connection.execute(
        insert(notes),
        [
            {
                "monitor": monitor,
                "at": now - number * DAY,
                **(nothing if number % 4 else about),
                "text": "The review team was on holiday; confirmations come late this week.",
                "author": "ada",
                "created_at": now - number * DAY,
            }
            for number in range(_NOTES)
        ],
    )
    times = {"starts": now - DAY, "ends": now + DAY, "created_at": now - DAY}
    connection.execute(
        insert(silences).values(monitor=monitor, rule="rule 9", reason="", author="ada", **times)
    )
    detail = {"monitor": monitor, "rule": "rule 0", "model_version": "7", "segment": ""}
    connection.execute(
        insert(audit),
        [
            {"at": now - number * DAY, "actor": "ada", "action": action, "detail": detail}
            for number in range(1, 50)
            for action in ("acknowledge", "unacknowledge")
        ],
    )
