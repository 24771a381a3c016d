"""Areas under the ROC and the precision-recall curve of a path of contingency tables.

A path says how many of the flagged rows are positive as the threshold falls. Both areas grow with
that number at every threshold, so a path of upper bounds gives the upper bound of the area.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["Path", "area_under_roc", "average_precision_of"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """Flagged rows and true positives at thresholds from the highest to the lowest.

    Attributes
    ----------
    flagged, true_positives : ndarray of shape (cells + 1,)
        From 0 to all rows, from 0 to all positives.
    tied : ndarray of shape (cells,)
        Whether the rows of a cell share one score, and count as ties.
    positives_first : bool
        Where the order inside a cell is not known: positives first, or last.
    row_weight : float
        Weight of a row; 1 without weights.
    """

    flagged: FloatArray
    true_positives: FloatArray
    tied: NDArray[np.bool_]
    positives_first: bool
    row_weight: float = 1.0


def area_under_roc(path: Path) -> float:
    """AUC: (integral of TP over flagged rows - P^2 / 2) / (P N).

    Examples
    --------
    >>> flags = np.array([True, True])
    >>> path = Path(flagged=np.array([0.0, 1.0, 3.0]), true_positives=np.array([0.0, 1.0, 1.0]),
    ...             tied=flags, positives_first=True)
    >>> area_under_roc(path)
    1.0
    """
    rows, found = np.diff(path.flagged), np.diff(path.true_positives)
    before = path.true_positives[:-1]
    tied = before * rows + 0.5 * found * rows
    first = before * rows + found * rows - 0.5 * found**2
    last = before * rows + 0.5 * found**2
    inner = np.where(path.tied, tied, first if path.positives_first else last)
    positives = float(path.true_positives[-1])
    negatives = float(path.flagged[-1]) - positives
    return float((np.sum(inner) - 0.5 * positives**2) / (positives * negatives))


def average_precision_of(path: Path) -> float:
    """Average precision: the mean over the positives of the precision at their score.

    Examples
    --------
    >>> path = Path(flagged=np.array([0.0, 1.0, 3.0, 4.0]),
    ...             true_positives=np.array([0.0, 1.0, 1.0, 2.0]),
    ...             tied=np.ones(3, dtype=bool), positives_first=True)
    >>> average_precision_of(path)
    0.75
    """
    flagged, found = path.flagged / path.row_weight, np.diff(path.true_positives) / path.row_weight
    before = path.true_positives[:-1] / path.row_weight
    rows = np.diff(flagged)
    skipped = np.zeros_like(rows) if path.positives_first else rows - found
    above = flagged[:-1] + skipped
    # sum over k = 1..found of (before + k) / (above + k), by the digamma function.
    harmonic = special.digamma(above + found + 1) - special.digamma(above + 1)
    in_order = found + (before - above) * harmonic
    with np.errstate(divide="ignore", invalid="ignore"):
        tied = np.where(found > 0, found * (before + found) / flagged[1:], 0.0)
    return float(np.sum(np.where(path.tied, tied, in_order)) / np.sum(found))
