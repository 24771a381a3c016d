"""Counts of a window by going through rows one at a time, with nothing taken from the package."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass
class Counted:
    """Rows by (version, segments, score, history, propensity), delays, and what was found."""

    rows: Counter[tuple[Any, ...]] = field(default_factory=Counter)
    delays: Counter[tuple[int, int]] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)


def count(
    predictions: list[dict[str, Any]],
    labels: list[dict[str, Any]],
    *,
    start: datetime,
    end: datetime,
    as_of: tuple[datetime, ...],
    delay_edges: tuple[float, ...],
) -> Counted:
    """Predictions have id, time, score, version, segments; labels id, known, label, propensity."""
    counted = Counted()
    first: dict[Any, dict[str, Any]] = {}
    inside = [row for row in predictions if start <= row["time"] < end]
    for row in sorted(
        inside, key=lambda row: (row["time"], row["score"], row["version"], row["segments"])
    ):
        if row["id"] not in first:
            first[row["id"]] = row
        elif row["score"] == first[row["id"]]["score"]:
            counted.found["duplicate_predictions"] += 1
        else:
            counted.found["conflicting_predictions"] += 1
    counted.found["predictions"] = len(first)
    everywhere = {row["id"] for row in predictions}
    said: dict[Any, dict[datetime, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for row in labels:
        if start <= row["known"] < end and row["id"] not in everywhere:
            counted.found["orphan_labels"] += 1
        if row["known"] <= as_of[-1] and row["id"] in first:
            said[row["id"]][row["known"]].append(row)
    for key, row in first.items():
        _refuse(counted.found, said[key], row["time"])
        history, states = _history(said[key], as_of)
        propensity = _propensity(said[key])
        counted.rows[(row["version"], *row["segments"], row["score"], history, propensity)] += 1
        _found(counted.found, said[key], row["time"])
        if states[-1] == 1:
            known = min(moment for moment, rows in said[key].items() if _says(rows) == 1)
            delay = (known - row["time"]).total_seconds()
            bucket = sum(delay > edge for edge in delay_edges)
            counted.delays[(states.index(1), bucket)] += 1
    return counted


def _refuse(
    found: Counter[str], said: dict[datetime, list[dict[str, Any]]], made: datetime
) -> None:
    """Labels known more than a day before the prediction are counted, and taken out."""
    for moment in [moment for moment in said if (made - moment).total_seconds() > 86_400]:
        found["refused_labels"] += len(said[moment])
        found["label_rows"] += len(said[moment])
        del said[moment]


def _says(rows: list[dict[str, Any]]) -> int:
    values = {row["label"] for row in rows}
    return values.pop() if len(values) == 1 else 0


def _history(
    said: dict[datetime, list[dict[str, Any]]], as_of: tuple[datetime, ...]
) -> tuple[int, list[int]]:
    states = []
    for moment in as_of:
        known = [when for when in said if when <= moment]
        states.append(_says(said[max(known)]) if known else 0)
    return sum((1 + state) * 3**place for place, state in enumerate(states)), states


def _propensity(said: dict[datetime, list[dict[str, Any]]]) -> float | None:
    for moment in sorted(said):
        if _says(said[moment]) == 1:
            return min(row["propensity"] for row in said[moment])
    return None


def _found(found: Counter[str], said: dict[datetime, list[dict[str, Any]]], made: datetime) -> None:
    before: int | None = None
    changed = False
    for moment in sorted(said):
        rows, state = said[moment], _says(said[moment])
        found["label_rows"] += len(rows)
        found["early_labels"] += len(rows) if moment < made else 0
        if len({row["label"] for row in rows}) > 1:
            found["conflicting_labels"] += len(rows)
        else:
            found["duplicate_labels"] += len(rows) - (before != state)
        changed = changed or before not in {None, state}
        before = state
    found["retracted_labels"] += changed
