"""From draws of what positives are worth to estimates by value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pumonitor._valued import ValuedRows
from pumonitor.audit.bins import ScoreBins
from pumonitor.audited_positives import spread
from pumonitor.results import Estimate
from pumonitor.results.estimate import undefined
from pumonitor.stats.quantiles import quantiles

FloatArray = NDArray[np.float64]

_SEED: Final = 37


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ValueDraws:
    """Draws of what the positives of each score bin are worth.

    Attributes
    ----------
    bins : ScoreBins
        Along the model's score.
    hidden_value : ndarray of shape (draws, bins)
        Of positives that are not known to be any.
    valued : ValuedRows
    is_known, is_silent : ndarray of bool of shape (groups,)
        Which of these rows are known to be positive, and which may be.
    method : str
        How it is known how many positives there are.
    """

    bins: ScoreBins
    hidden_value: FloatArray
    valued: ValuedRows
    is_known: NDArray[np.bool_]
    is_silent: NDArray[np.bool_]
    method: str

    def at(self, threshold: float) -> ValueAbove:
        """What positives on either side of the threshold of `bins` are worth."""
        above = self.bins.above
        is_flagged = self.valued.score >= threshold
        worth, known = self.valued.worth, self.is_known
        return ValueAbove(
            draws=self,
            caught=worth[known & is_flagged].sum() + self.hidden_value[:, above].sum(axis=1),
            missed=worth[known & ~is_flagged].sum() + self.hidden_value[:, ~above].sum(axis=1),
            flagged=float(worth[is_flagged].sum()),
            passed=float(worth[~is_flagged].sum()),
        )

    def by_threshold(self, thresholds: FloatArray) -> list[ValueAbove]:
        """The same at each of some thresholds, in ascending order.

        How much hidden positives of a bin are worth is drawn. Where in it they score is taken from
        its known ones, with their sampling error; no part of a bin holds more than its silent rows
        are worth.
        """
        edges = np.union1d(thresholds, self.bins.edges)
        cell = np.searchsorted(edges, self.valued.score, side="right")

        def by_cell(column: NDArray[Any], rows: NDArray[np.bool_] | slice) -> FloatArray:
            sums = np.bincount(cell[rows], column[rows], minlength=len(edges) + 1)
            return np.asarray(sums, dtype=np.float64)

        worth = self.valued.worth
        known, silent = by_cell(worth, self.is_known), by_cell(worth, self.is_silent)
        labeled, everything = by_cell(self.valued.rows, self.is_known), by_cell(worth, slice(None))
        hidden = np.zeros((len(self.hidden_value), len(known)))
        bin_of_cell = self.bins.bin_of(np.append(-np.inf, edges))
        rng = np.random.default_rng(_SEED)
        for position, wanted in enumerate(self.hidden_value.T):
            cells = np.flatnonzero((bin_of_cell == position) & (silent > 0))
            if len(cells) > 0:
                hidden[:, cells] = spread(
                    wanted,
                    labeled[cells],
                    least=np.zeros(len(cells)),
                    most=silent[cells],
                    rng=rng,
                )
        below = np.searchsorted(edges, thresholds) + 1
        missed = np.cumsum(known + hidden, axis=1)
        passed = np.cumsum(everything)
        return [
            ValueAbove(
                draws=self,
                caught=np.maximum(missed[:, -1] - missed[:, cells - 1], 0.0),
                missed=missed[:, cells - 1],
                flagged=float(passed[-1] - passed[cells - 1]),
                passed=float(passed[cells - 1]),
            )
            for cells in below
        ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ValueAbove:
    """Draws of what positives are worth on either side of a threshold.

    Attributes
    ----------
    draws : ValueDraws
    caught, missed : ndarray of shape (draws,)
    flagged, passed : float
        What all rows at or above the threshold are worth, and all others.
    """

    draws: ValueDraws
    caught: FloatArray
    missed: FloatArray
    flagged: float
    passed: float

    def estimates(self, *, confidence_level: float) -> dict[str, Estimate]:
        """Median and equal-tailed interval of every estimate by value, for these very rows."""
        # Sums in another order differ by rounding: no positives are worth more than their rows.
        caught, missed = np.minimum(self.caught, self.flagged), np.minimum(self.missed, self.passed)
        with np.errstate(divide="ignore", invalid="ignore"):
            recall = caught / (caught + missed)
            precision = np.divide(caught, self.flagged)
        return {
            name: self.estimate(
                name, drawn, (0.0, most), undefined_reason=reason, confidence_level=confidence_level
            )
            for name, drawn, most, reason in (
                ("recall_value", recall, 1.0, "the positives may be worth nothing"),
                ("precision_value", precision, 1.0, "the flagged rows are worth nothing"),
                ("caught_value", caught, self.flagged, ""),
                ("missed_value", missed, self.passed, ""),
            )
        }

    def estimate(
        self,
        name: str,
        drawn: FloatArray,
        value_range: tuple[float, float],
        *,
        undefined_reason: str = "",
        confidence_level: float,
    ) -> Estimate:
        """Median and equal-tailed interval of a quantity that was drawn."""
        bins = self.draws.bins
        labeled, unlabeled = int(bins.labeled.sum()), int(bins.unlabeled.sum())
        if not np.isfinite(drawn).all():
            return undefined(
                name,
                undefined_reason,
                confidence_level=confidence_level,
                n_labeled=labeled,
                n_unlabeled=unlabeled,
            )
        tail = 0.5 * (1 - confidence_level)
        low, middle, high = quantiles(drawn, [tail, 0.5, 1 - tail])
        return Estimate(
            name=name,
            value=float(middle),
            low=float(low),
            high=float(high),
            se=float(drawn.std()),
            confidence_level=confidence_level,
            method=self.draws.method,
            n_labeled=labeled,
            n_unlabeled=unlabeled,
            range=value_range,
        )
