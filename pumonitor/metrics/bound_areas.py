"""Areas under the ROC and the precision-recall curve of a path of contingency tables.

A path says how many of the flagged rows are positive as the threshold falls. Both areas grow with
that number at every threshold, so a path of upper bounds gives the upper bound of the area.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """Flagged rows and true positives at thresholds from the highest to the lowest.

    Attributes
    ----------
    flagged : ndarray of shape (cells + 1,)
        From 0 to all rows.
    true_positives : ndarray of shape (..., cells + 1)
        From 0 to all positives; several paths over the same rows are computed at once.
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


def area_under_roc(path: Path) -> FloatArray:
    """AUC: (integral of TP over flagged rows - P^2 / 2) / (P N).

    Examples
    --------
    >>> flags = np.array([True, True])
    >>> path = Path(flagged=np.array([0.0, 1.0, 3.0]), true_positives=np.array([0.0, 1.0, 1.0]),
    ...             tied=flags, positives_first=True)
    >>> float(area_under_roc(path))
    1.0
    """
    rows, found = np.diff(path.flagged), np.diff(path.true_positives)
    before = path.true_positives[..., :-1]
    tied = before * rows + 0.5 * found * rows
    first = before * rows + found * rows - 0.5 * found**2
    last = before * rows + 0.5 * found**2
    inner = np.where(path.tied, tied, first if path.positives_first else last)
    positives = path.true_positives[..., -1]
    negatives = float(path.flagged[-1]) - positives
    area = (np.sum(inner, axis=-1) - 0.5 * positives**2) / (positives * negatives)
    return np.asarray(area)


def average_precision_of(path: Path) -> FloatArray:
    """Average precision: the mean over the positives of the precision at their score.

    Examples
    --------
    >>> path = Path(flagged=np.array([0.0, 1.0, 3.0, 4.0]),
    ...             true_positives=np.array([0.0, 1.0, 1.0, 2.0]),
    ...             tied=np.ones(3, dtype=bool), positives_first=True)
    >>> float(average_precision_of(path))
    0.75
    """
    flagged, found = path.flagged / path.row_weight, np.diff(path.true_positives) / path.row_weight
    before = path.true_positives[..., :-1] / path.row_weight
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(found > 0, found * (before + found) / flagged[1:], 0.0)
    mixed = ~path.tied
    if mixed.any():
        rows, inside = np.diff(flagged)[mixed], found[..., mixed]
        above = flagged[:-1][mixed] + (0.0 if path.positives_first else rows - inside)
        # sum over k = 1..found of (before + k) / (above + k), by the digamma function.
        harmonic = special.digamma(above + inside + 1) - special.digamma(above + 1)
        parts[..., mixed] = inside + (before[..., mixed] - above) * harmonic
    return np.asarray(np.sum(parts, axis=-1) / np.sum(found, axis=-1))
