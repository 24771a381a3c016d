"""Draws of the positives of each score bin, and all that follows from them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.audit.bins import ScoreBins
from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.frequency import UNKNOWN, FrequencyByScore, as_line
from pumonitor.audit.metrics import following_draws, metric_draws
from pumonitor.results import Estimate
from pumonitor.results.estimate import undefined
from pumonitor.stats.quantiles import quantiles


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PositivesByBin(ABC):
    """Draws of how many positives each score bin has.

    Attributes
    ----------
    p, e : ndarray of shape (draws, bins)
        P(positive) and P(confirmed | positive).
    positives : ndarray of shape (draws, bins)
        Positives among the rows of each bin, known and hidden.
    concordance : ndarray of shape (draws, bins)
        Share of pairs of a labeled and another row of a bin in which the labeled one is above.
    """

    p: FloatArray
    e: FloatArray
    positives: FloatArray
    concordance: FloatArray

    @property
    @abstractmethod
    def bins(self) -> ScoreBins:
        """The bins, with their rows and labeled rows."""

    def metrics(self) -> Mapping[str, FloatArray]:
        """Draws of every metric, by its name in the library."""
        return metric_draws(self.bins, self.positives, self.concordance)

    def all_metrics(self, *, beta: float) -> Mapping[str, FloatArray]:
        """The same with F-beta and the LL score."""
        drawn = self.metrics()
        return {**drawn, **following_draws(drawn, beta=beta)}

    def estimates(
        self, *, method: str, confidence_level: float = 0.95, beta: float = 2.0
    ) -> Mapping[str, Estimate]:
        """Median and equal-tailed interval of every metric, F-beta and the LL score among them."""
        return {
            name: self._estimate(name, draws, method=method, confidence_level=confidence_level)
            for name, draws in self.all_metrics(beta=beta).items()
        }

    def _estimate(
        self, name: str, draws: FloatArray, *, method: str, confidence_level: float
    ) -> Estimate:
        tail = 0.5 * (1 - confidence_level)
        labeled = int(self.bins.labeled.sum())
        unlabeled = int(self.bins.unlabeled.sum())
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
            method=method,
            n_labeled=labeled,
            n_unlabeled=unlabeled,
            se=float(draws.std()),
            range=(-1.0, 1.0) if name == "mcc" else (0.0, 1.0),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditPosterior(PositivesByBin):
    """Draws from the posterior of an audit.

    Attributes
    ----------
    counts : AuditCounts
    believed : FrequencyByScore or None
        What was believed of the label frequency before; None of a window that was read in the bins
        of an audit.
    line : ndarray of shape (3, draws)
        Alpha, beta and gamma of -logit e: its level, its slope along the score, and its step at
        the threshold.
    log_evidence : float
        Log of the chance of what was counted, but for factors of the counts alone; NaN of a window
        without verdicts.
    """

    counts: AuditCounts
    believed: FrequencyByScore | None
    line: FloatArray
    log_evidence: float = math.nan

    @property
    def bins(self) -> ScoreBins:
        """Those of the counts."""
        return self.counts.bins

    @property
    def unlabeled_share(self) -> FloatArray:
        """P(positive | unlabeled) by draw and bin."""
        return self.p * (1 - self.e) / (1 - self.p * self.e)

    def overall(self) -> tuple[float, float]:
        """Mean and variance of -logit of the label frequency of all positives."""
        labeled = float(self.counts.labeled.sum())
        # Half a hidden positive more, should all of them be known.
        level = np.log((self.positives.sum(axis=1) - labeled + 0.5) / labeled)
        return float(level.mean()), float(level.var())

    def frequency(self) -> FrequencyByScore:
        """What is believed of the label frequency by score from now on."""
        believed = UNKNOWN if self.believed is None else self.believed
        alpha, beta, gamma = (as_line(row) for row in np.cov(self.line))
        return FrequencyByScore(
            mean=as_line(self.line.mean(axis=1)),
            covariance=(alpha, beta, gamma),
            spread=believed.spread,
            audited=True,
        )
