"""Draws of what an audit tells: positives by score bin, and all that follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.frequency import UNKNOWN, FrequencyByScore
from pumonitor.audit.metrics import following_draws, metric_draws
from pumonitor.results import Estimate
from pumonitor.results.estimate import undefined
from pumonitor.stats.quantiles import quantiles

__all__ = ["AuditPosterior"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditPosterior:
    """Draws from the posterior of an audit.

    Attributes
    ----------
    counts : AuditCounts
    believed : FrequencyByScore or None
        What was believed of the label frequency before; None of a window that was read in the bins
        of an audit.
    alpha, beta : ndarray of shape (draws,)
        The line of -logit e.
    p, e : ndarray of shape (draws, bins)
        P(positive) and P(confirmed | positive).
    positives : ndarray of shape (draws, bins)
        Positives among the rows of each bin: confirmed, found by the audit and hidden.
    concordance : ndarray of shape (draws, bins)
        Share of pairs of a labeled and another row of a bin in which the labeled one is above.
    """

    counts: AuditCounts
    believed: FrequencyByScore | None
    alpha: FloatArray
    beta: FloatArray
    p: FloatArray
    e: FloatArray
    positives: FloatArray
    concordance: FloatArray

    @property
    def unlabeled_share(self) -> FloatArray:
        """P(positive | unlabeled) by draw and bin."""
        return self.p * (1 - self.e) / (1 - self.p * self.e)

    def metrics(self) -> Mapping[str, FloatArray]:
        """Draws of every metric, by its name in the library."""
        return metric_draws(self.counts.bins, self.positives, self.concordance)

    def estimates(
        self, *, confidence_level: float = 0.95, beta: float = 2.0
    ) -> Mapping[str, Estimate]:
        """Median and equal-tailed interval of every metric, F-beta and the LL score among them."""
        drawn = self.metrics()
        return {
            name: self._estimate(name, draws, confidence_level=confidence_level)
            for name, draws in {**drawn, **following_draws(drawn, beta=beta)}.items()
        }

    def _estimate(self, name: str, draws: FloatArray, *, confidence_level: float) -> Estimate:
        tail = 0.5 * (1 - confidence_level)
        labeled = int(self.counts.labeled.sum())
        unlabeled = int(self.counts.bins.unlabeled.sum())
        if np.isnan(draws).any():
            return undefined(
                name,
                "nothing, or everything, is predicted positive or is positive",
                confidence_level=confidence_level,
                n_labeled=labeled,
                n_unlabeled=unlabeled,
            )
        low, value, high = quantiles(draws, [tail, 0.5, 1 - tail])
        return Estimate(
            name=name,
            value=float(value),
            low=float(low),
            high=float(high),
            confidence_level=confidence_level,
            method="audit",
            n_labeled=labeled,
            n_unlabeled=unlabeled,
            se=float(draws.std()),
            range=(-1.0, 1.0) if name == "mcc" else (0.0, 1.0),
        )

    def frequency(self) -> FrequencyByScore:
        """What is believed of the label frequency by score from now on."""
        believed = UNKNOWN if self.believed is None else self.believed
        both = np.cov(np.stack([self.alpha, self.beta]))
        return FrequencyByScore(
            mean=(float(self.alpha.mean()), float(self.beta.mean())),
            covariance=(
                (float(both[0, 0]), float(both[0, 1])),
                (float(both[1, 0]), float(both[1, 1])),
            ),
            spread=believed.spread,
            audited=True,
        )
