"""Scores so often equal that ranking them is half a matter of convention."""

from __future__ import annotations

import numpy as np

from pumonitor.results import Finding
from pumonitor.tables import ScoreTable
from pumonitor.text import given_text, percent_text

_MANY_PAIRS = 0.1
_MANY_ROWS = 0.5


def tied_pairs(table: ScoreTable) -> float:
    """Share of pairs of a labeled and another row that have exactly the same score.

    Examples
    --------
    >>> table = ScoreTable.from_arrays([1, 1, 0, 0, 0], [0.9, 0.5, 0.5, 0.5, 0.1])
    >>> round(tied_pairs(table), 4)
    0.3333
    """
    return float(np.sum(_by_cell(table)))


def tied_scores(table: ScoreTable) -> list[Finding]:
    """A warning for many tied pairs, a note for many rows at one score.

    A warning when a tenth of the pairs of a labeled and another row tie: ties count one half, so
    AUC cannot come nearer to 0 or 1 than half that share. A note when half of the rows hold one
    score and the pairs are fewer: ranking among them is moot. Rows that a coarse table of counts
    puts into one bin are not ties; `coarse_table` speaks of those.
    """
    by_cell = _by_cell(table)
    tied = float(by_cell.sum())
    if tied >= _MANY_PAIRS:
        most = int(np.argmax(by_cell))
        return [
            Finding(
                name="tied_scores",
                severity="warning",
                sentence=(
                    f"{percent_text(tied)} of pairs of a confirmed and another row have the same "
                    f"score, most of them {_at(table, most)}: half of those pairs count as ranked "
                    "well by convention. Keep more digits of the score, or read the metrics at the "
                    "threshold instead of AUC and AUL."
                ),
            )
        ]
    rows = np.where(table.upper > table.lower, 0.0, table.labeled_mass + table.unlabeled)
    most = int(np.argmax(rows))
    share = float(rows[most] / (table.labeled_mass + table.unlabeled).sum())
    if share < _MANY_ROWS:
        return []
    return [
        Finding(
            name="saturated_scores",
            severity="note",
            sentence=(
                f"{percent_text(share)} of the rows score exactly {given_text(table.lower[most])}: "
                "scores and thresholds cannot distinguish them."
            ),
        )
    ]


def _by_cell(table: ScoreTable) -> np.ndarray:
    others = table.unlabeled + table.negative
    pairs = table.labeled * others / (table.labeled.sum() * others.sum())
    return np.where(table.upper > table.lower, 0.0, pairs)


def _at(table: ScoreTable, cell: int) -> str:
    where = f"at {given_text(table.lower[cell])}"
    if cell == len(table) - 1:
        return f"{where}, the highest score"
    return f"{where}, the lowest score" if cell == 0 else where
