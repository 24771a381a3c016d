"""From draws of what positives are worth to estimates by value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pumonitor.audit.bins import ScoreBins
from pumonitor.results import Estimate
from pumonitor.results.estimate import undefined
from pumonitor.stats.quantiles import quantiles

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ValueDraws:
    """Draws of what the positives of each score bin are worth.

    Attributes
    ----------
    bins : ScoreBins
        Along the model's score.
    positive_value : ndarray of shape (draws, bins)
    value : ndarray of shape (bins,)
        That of all rows.
    method : str
        How it is known how many positives there are.
    """

    bins: ScoreBins
    positive_value: FloatArray
    value: FloatArray
    method: str

    def estimates(self, *, confidence_level: float) -> dict[str, Estimate]:
        """Median and equal-tailed interval of every estimate by value, for these very rows."""
        above = self.bins.above
        caught = self.positive_value[:, above].sum(axis=1)
        missed = self.positive_value[:, ~above].sum(axis=1)
        flagged, passed = float(self.value[above].sum()), float(self.value[~above].sum())
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.array([caught / (caught + missed), np.divide(caught, flagged)])
        return {
            name: self._estimate(name, drawn, most, reason, confidence_level=confidence_level)
            for name, drawn, most, reason in (
                ("recall_value", share[0], 1.0, "the positives may be worth nothing"),
                ("precision_value", share[1], 1.0, "the flagged rows are worth nothing"),
                ("caught_value", caught, flagged, ""),
                ("missed_value", missed, passed, ""),
            )
        }

    def _estimate(
        self, name: str, drawn: FloatArray, most: float, reason: str, *, confidence_level: float
    ) -> Estimate:
        labeled, unlabeled = int(self.bins.labeled.sum()), int(self.bins.unlabeled.sum())
        if not np.isfinite(drawn).all():
            return undefined(
                name,
                reason,
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
            method=self.method,
            n_labeled=labeled,
            n_unlabeled=unlabeled,
            range=(0.0, most),
        )
