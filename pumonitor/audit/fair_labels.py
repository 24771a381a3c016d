"""Windows without verdicts, if labels are a fair sample of the positives: how probable that is.

See ``docs/decisions/audits.md`` for the derivation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor.audit.by_bin import FrequencyByBin, arrived
from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.frequency import DRIFT, FAIR, FrequencyByScore
from pumonitor.audit.posterior import AuditPosterior
from pumonitor.results import ClassPriorEstimate

__all__ = ["FairLabels"]

FloatArray = NDArray[np.float64]

_BEFORE: Final = 0.5
"""Probability that labels are fair, before the first audit."""
_BIAS: Final = 0.7
"""Standard deviation of the error in log odds of a label frequency that scores tell, where labels
are not fair."""
_LEAST_MISSED: Final = 0.02
"""Share of the positives that are not confirmed, below which -logit of the rest tells nothing."""
_REACH: Final = 1.96


@dataclass(frozen=True, slots=True, kw_only=True)
class FairLabels:
    """If every positive is as likely to be confirmed as any other: how likely, and is that so.

    Attributes
    ----------
    log_odds : float
        That labels are fair against not.
    level, variance : float
        Mean and variance of v = -logit e, which is that of all bins.
    shared : float
        Of the variance, what all windows have in common that are read with the same audit.
    """

    log_odds: float
    level: float
    variance: float
    shared: float

    @classmethod
    def after(
        cls, fair: AuditPosterior, unfair: AuditPosterior, *, before: FairLabels | None = None
    ) -> FairLabels:
        """With an audit that was read both ways: the odds change by the ratio of its evidence."""
        log_odds = float(special.logit(_BEFORE)) if before is None else before.log_odds
        level = fair.line[0]
        return cls(
            log_odds=log_odds + fair.log_evidence - unfair.log_evidence,
            level=float(level.mean()),
            variance=float(level.var()),
            shared=float(level.var()),
        )

    @property
    def probability(self) -> float:
        """That labels are fair."""
        return float(special.expit(self.log_odds))

    @property
    def frequency(self) -> FrequencyByScore:
        """The same by score."""
        return replace(
            FAIR,
            mean=(self.level, 0.0, 0.0),
            covariance=((self.variance, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        )

    def later(self, months: float) -> FairLabels:
        """As believed some months on: the label frequency drifts by `DRIFT` times their root."""
        return replace(self, variance=self.variance + DRIFT**2 * months)

    def so_far(self, share: float, *, log_variance: float = 0.0) -> FairLabels:
        """Of labels of which only a share has arrived."""
        level, own, others = (float(each) for each in arrived(np.array(self.level), share))
        return replace(
            self,
            level=level,
            variance=own**2 * self.variance + others**2 * log_variance,
            shared=own**2 * self.shared,
        )

    def with_class_prior(self, prior: ClassPriorEstimate, counts: AuditCounts) -> FairLabels:
        """With what the window's class prior says by itself, which takes labels for fair.

        Parameters
        ----------
        prior : ClassPriorEstimate
            Made without the audit.
        counts : AuditCounts
            Of the window.

        Notes
        -----
        Of the class prior pi and the share r that is confirmed v is log(pi / r - 1), with slope
        1 / (1 - r / pi) in log pi. The two are independent: if labels are fair they differ by
        their errors alone, and if they are not by .7 more.
        """
        confirmed = float(counts.labeled.sum() / counts.rows.sum())
        missed = 1 - confirmed / prior.value
        if missed < _LEAST_MISSED or not 0 < prior.low < prior.high:
            return self
        level = math.log(prior.value / confirmed - 1)
        error = math.log(prior.high / prior.low) / (2 * _REACH) / missed
        apart, both = (level - self.level) ** 2, self.variance + error**2
        log_ratio = _log_density(apart, both) - _log_density(apart, both + _BIAS**2)
        variance = 1 / (1 / self.variance + 1 / error**2)
        share = variance / self.variance
        return FairLabels(
            log_odds=self.log_odds + log_ratio,
            level=share * self.level + (1 - share) * level,
            variance=variance,
            shared=share**2 * self.shared,
        )

    def by_bin(self, unfair: FrequencyByBin) -> FrequencyByBin:
        """The same v in all bins."""
        bins = len(unfair.mean)
        return replace(
            unfair,
            mean=np.full(bins, self.level),
            covariance=np.full((bins, bins), self.variance),
            fair=True,
            overall=None,
        )

    def shared_with(self, shared: FloatArray | None, unfair: FrequencyByBin) -> FloatArray | None:
        """Of the covariance of v by bin, what windows read with the same audit have in common.

        That of a mixture: the mean of both covariances, and the distance of both means.

        Parameters
        ----------
        shared : ndarray of shape (bins, bins), optional
            The same if labels are not fair; None where it is unknown.
        unfair : FrequencyByBin
        """
        if shared is None:
            return None
        fair, apart = self.probability, unfair.mean - self.level
        between = fair * (1 - fair) * np.multiply.outer(apart, apart)
        return np.asarray(fair * self.shared + (1 - fair) * shared + between)

    def to_dict(self) -> dict[str, float]:
        """Plain JSON types."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any] | None) -> FairLabels | None:
        """What `to_dict` wrote, if it did."""
        return None if stored is None else cls(**stored)


def _log_density(square: float, variance: float) -> float:
    """Of a normal around 0, but for a constant."""
    return -0.5 * (square / variance + math.log(variance))
