"""Rows of a window, and their counts made one by one: the slow and plain way."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from pumonitor._score_grid import ScoreGrid
from pumonitor.monitor.rules.windows.panes import PaneSchedule
from pumonitor.monitor.rules.windows.windows import WindowGrid
from pumonitor.ports import InputCounts, Pane, WindowCounts

THRESHOLD = 0.5
WINDOW = WindowGrid(every="1d").containing(datetime(2026, 1, 1, tzinfo=UTC))
SCHEDULE = PaneSchedule(maturity=timedelta(days=20), provisional=(timedelta(days=5),))
PANES: tuple[Pane, ...] = SCHEDULE.panes(WINDOW)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A prediction with the age at which its label became known."""

    score: float
    label: int = 0
    known_after: float = 0.0
    country: str = "DE"
    model_version: str = "1"
    propensity: float = math.nan


def some_rows(seed: int, *, rows: int = 3000, frequency: float = 0.5) -> list[Row]:
    """Positives of a tenth, that score higher; labels come after ten days on average."""
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < 0.1
    scores = 1 / (1 + np.exp(-rng.normal(2.0 * positive - 1)))
    label = (positive & (rng.random(rows) < frequency)).astype(int)
    label[~positive & (rng.random(rows) < 0.02)] = -1
    return [
        Row(score=score, label=one, known_after=age, country=country)
        for score, one, age, country in zip(
            scores.tolist(),
            label.tolist(),
            rng.exponential(10, rows).tolist(),
            rng.choice(["DE", "FR"], rows).tolist(),
            strict=True,
        )
    ]


def counted(rows: list[Row], panes: tuple[Pane, ...] = PANES) -> WindowCounts:
    """What a source would say of the rows."""
    grid = ScoreGrid()
    groups: dict[tuple[str, str, int, int, float], list[float]] = defaultdict(list)
    for row in rows:
        history = 0
        for number, pane in enumerate(panes):
            is_known = timedelta(days=row.known_after) <= pane.as_of - WINDOW.end
            history += (1 + (row.label if is_known else 0)) * 3**number
        cell = 2 * int(grid.index(np.array([row.score]))[0]) + (row.score >= THRESHOLD)
        # No two NaN are equal.
        propensity = -1.0 if math.isnan(row.propensity) or row.label == 0 else row.propensity
        key = (row.model_version, row.country, cell, history, propensity)
        groups[key].append(row.score)
    keys = sorted(groups)
    return WindowCounts(
        model_version=np.array([key[0] for key in keys]),
        segments={"country": np.array([key[1] for key in keys])},
        cell=np.array([key[2] for key in keys]),
        lower=np.array([min(groups[key]) for key in keys]),
        upper=np.array([max(groups[key]) for key in keys]),
        history=np.array([key[3] for key in keys]),
        propensity=np.array([math.nan if key[4] < 0 else key[4] for key in keys]),
        rows=np.array([len(groups[key]) for key in keys]),
        delays=np.zeros((len(panes), 1), dtype=np.int64),
        found=InputCounts(predictions=len(rows)),
    )


def labels_at(rows: list[Row], number: int) -> np.ndarray:
    """Labels as a pane knows them."""
    age = (PANES[number].as_of - WINDOW.end) / timedelta(days=1)
    return np.array([row.label if row.known_after <= age else 0 for row in rows])
