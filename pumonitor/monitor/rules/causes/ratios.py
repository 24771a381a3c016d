"""How many times as many positives there are as in the reference, and how many are confirmed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pumonitor.monitor.rules.causes.stories import Fit
from pumonitor.monitor.rules.reference.what_changed import WhatChanged

__all__ = ["Ratios"]

_REACH: Final = 1.96

Interval = tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratios:
    """Now over the reference.

    Attributes
    ----------
    positives : (float, float, float)
        Share of positives: low, value, high.
    error : float
        Standard error of its logarithm.
    confirmed_share : (float, float, float)
        Of the positives: low, value, high.
    """

    positives: Interval
    error: float
    confirmed_share: Interval

    @classmethod
    def of_fit(cls, fit: Fit, *, variation: float, reach: float) -> Ratios:
        """As a story has them; what windows differ by anyway, `variation`, is no change."""
        log_prior, log_share = map(float, fit.parameters[:2])
        prior_error, share_error = np.sqrt(np.diag(fit.covariance)[:2])
        error = math.hypot(float(prior_error), variation)
        return cls(
            positives=_around(log_prior, reach * error),
            error=error,
            confirmed_share=_around(log_share, reach * float(share_error)),
        )

    @classmethod
    def followed(cls, changed: WhatChanged) -> Ratios:
        """As the filter has them, by the last window."""
        prior, share = (changed.since_reference[one] for one in ("class_prior", "label_frequency"))
        return cls(
            positives=(prior.low, prior.value, prior.high),
            error=math.log(prior.high / prior.low) / (2 * _REACH),
            confirmed_share=(share.low, share.value, share.high),
        )

    def below(self, most: float) -> Ratios:
        """With no more positives than that."""
        low, value, high = (min(one, most) for one in self.positives)
        return replace(self, positives=(low, value, high))


def _around(log_value: float, reach: float) -> Interval:
    return math.exp(log_value - reach), math.exp(log_value), math.exp(log_value + reach)
