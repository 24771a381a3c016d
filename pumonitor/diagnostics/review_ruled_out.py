"""Whether labels rule out that only the highest rows of a model were reviewed.

That no cut is seen says nothing while labels are few. What can be shown is the opposite: that so
many labels lie below a rank that they were looked for there as they were above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.tables import ScoreTable

SHARES_BELOW: Final = (0.02, 0.05, 0.1)
"""Of the rows below a review's depth, the shares that may have been reviewed as well. Labels that
refute one of them refute all smaller ones."""

_USUAL_DEPTH: Final = 0.05
_DEPTHS: Final = np.array([0.2, 0.3, 0.45, 0.7, 1.0, 1.4, 2.0, 3.0])
_DEEPEST: Final = 0.6

_ABOVE: Final = np.array([0.3, 0.6, 1.0])
_BELOW: Final = np.array([0.3, 0.6, 1.0, 2.0])
"""Widths of the bands beside a depth, in units of it."""
_FADING: Final = np.array([1.0, 0.7, 0.5, 0.35, 0.25])
"""How frequent fair labels may be below, relative to above: what is bet on."""


def review_depths(capacity: float) -> FloatArray:
    """Shares of the rows that a review may have reached, around those that can be looked at."""
    depths = capacity * _DEPTHS
    return np.asarray(depths[depths <= _DEEPEST])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelsByRank:
    """Rows of a window from the highest score down, and labels among them.

    Attributes
    ----------
    reached, labeled : ndarray of shape (cells + 1,)
        Rows and labels above each cell; the last of each is that of all.
    """

    reached: FloatArray
    labeled: FloatArray

    @classmethod
    def from_cells(cls, rows: ArrayLike, labels: ArrayLike) -> LabelsByRank:
        """From the rows and the labels of each cell, in ascending order of the score."""
        of_rows, of_labels = (np.asarray(of, dtype=np.float64)[::-1] for of in (rows, labels))
        return cls(
            reached=np.append(0.0, np.cumsum(of_rows)), labeled=np.append(0.0, np.cumsum(of_labels))
        )

    @classmethod
    def from_table(cls, table: ScoreTable) -> LabelsByRank:
        """From all rows of a table: it is the one sample that labels are drawn from."""
        labels = table.labeled_mass
        rows = table.unlabeled + labels + table.negative
        squares = float(table.labeled_mass_squares.sum())
        # Weighted labels tell as much as so many of weight 1 (Kish).
        return cls.from_cells(rows, labels * (labels.sum() / squares if squares > 0 else 1.0))

    def down_to(self, depths: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Rows and labels down to shares of the rows.

        A cell with labels counts as a whole, by its middle: rows that score alike have no order.
        Rows between labels do.
        """
        ranks = np.minimum(depths, 1.0) * self.reached[-1]
        cells = len(self.reached) - 1
        cell = np.clip(np.searchsorted(self.reached, ranks, side="right") - 1, 0, cells - 1)
        middle = 0.5 * (self.reached[cell] + self.reached[cell + 1])
        whole = cell + (middle <= ranks)
        has_labels = self.labeled[cell + 1] > self.labeled[cell]
        return np.where(has_labels, self.reached[whole], ranks), self.labeled[whole]


def evidence_against_reviews(
    windows: Sequence[LabelsByRank], depths: FloatArray, *, shares_below: ArrayLike = SHARES_BELOW
) -> FloatArray:
    """Logarithm of the evidence that labels do not come from a review of the highest rows.

    Of a review that looked at all of a model's highest rows, down to a depth, and at no more than a
    share s of the others. Wrong where positives are more frequent at lower scores than at higher
    ones.

    Parameters
    ----------
    windows : sequence of LabelsByRank
    depths : ndarray of shape (depths,)
        Shares of the rows of each window.
    shares_below : array-like of shape (shares,)

    Returns
    -------
    ndarray of shape (depths, shares)
        Had there been such a review, the evidence would ever exceed 1 / error with probability
        `error` at most, however often it is looked at while windows come in.

    Notes
    -----
    Positives become rarer from rank to rank, so that in a band below the depth they are at most as
    frequent as in a band above it. Of rows n and m in the two bands, a label of either is then in
    the lower one with probability s m / (n + s m) at most. A bettor stakes on more: on
    t m / (n + t m), for each t above s that fair labels may have. The mean of the capitals, over
    t and over the widths of both bands, grows on average by no such review (Ville's inequality).
    """
    shares = np.asarray(shares_below, dtype=np.float64)
    if not windows:
        return np.zeros((len(depths), len(shares)))
    # Rows or labels; windows; pairs of widths; depths.
    above, below = (
        np.stack(bands, axis=1)
        for bands in zip(*(_in_bands(window, depths) for window in windows), strict=True)
    )
    (rows_above, labels_above), (rows_below, labels_below) = above, below
    pairs = rows_above.shape[1]
    capitals = np.full((len(shares), len(_FADING), pairs, len(depths)), -np.inf)
    for index, share in enumerate(shares):
        lower = _in_lower_band(share, rows_above, rows_below)
        for of, fading in enumerate(_FADING):
            if fading > share:
                bet = _in_lower_band(fading, rows_above, rows_below)
                gained = special.xlogy(labels_below, bet / lower)
                gained += special.xlogy(labels_above, (1 - bet) / (1 - lower))
                capitals[index, of] = gained.sum(axis=0)
    bets = (np.asarray(_FADING)[np.newaxis] > shares[:, np.newaxis]).sum(axis=1) * pairs
    total = np.logaddexp.reduce(capitals.reshape(len(shares), -1, len(depths)), axis=1)
    return np.asarray((total - np.log(bets)[:, np.newaxis]).T)


def rules_out_reviews(table: ScoreTable, *, error: float) -> bool:
    """Whether labels rule out reviews of the highest rows, from a twentieth of them to a tenth.

    And with these all that reached less far and looked at none of the others.
    """
    depths = _USUAL_DEPTH * _DEPTHS[_DEPTHS >= 1]
    evidence = evidence_against_reviews([LabelsByRank.from_table(table)], depths)
    return bool((evidence >= np.log(1 / error)).all())


def _in_bands(window: LabelsByRank, depths: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rows and labels above and below each depth, for each pair of widths."""
    factors = np.concatenate([1 - _ABOVE, [1.0], 1 + _BELOW])
    down_to = np.array(window.down_to(factors[:, np.newaxis] * depths))
    at = down_to[:, [len(_ABOVE)]]
    above, below = at - down_to[:, : len(_ABOVE)], down_to[:, len(_ABOVE) + 1 :] - at
    return np.repeat(above, len(_BELOW), axis=1), np.tile(below, (1, len(_ABOVE), 1))


def _in_lower_band(frequency: float, rows_above: FloatArray, rows_below: FloatArray) -> FloatArray:
    """Chance that a label of two bands is in the lower one, where it is so frequent per row."""
    below = frequency * rows_below
    # Bands without rows have no labels either, and whatever stands here is not read.
    return np.asarray(np.clip(below / np.maximum(rows_above + below, 1e-300), 1e-12, 1 - 1e-12))
