"""Ratios of the class prior and of the confirmed share, now over the reference."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pumonitor.audit.compared import TwoAudits
from pumonitor.monitor.rules.causes.hypotheses import Fit
from pumonitor.monitor.rules.reference.what_changed import WhatChanged

_REACH: Final = 1.96

Interval = tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratios:
    """Two ratios, now over the reference, each as (low, value, high).

    Attributes
    ----------
    positives : (float, float, float)
        Ratio of the share of positives.
    error : float
        Standard error of the logarithm of that ratio.
    confirmed_share : (float, float, float)
        Ratio of the share of positives that is confirmed.
    """

    positives: Interval
    error: float
    confirmed_share: Interval

    @classmethod
    def of_fit(cls, fit: Fit, *, variation: float, reach: float) -> Ratios:
        """Ratios that a fitted hypothesis estimates.

        `variation` is the standard deviation, in logs, between windows without any change; it
        widens the interval of the first ratio. `reach` is the number of standard errors.
        """
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
        """Ratios from the posterior of the filter at the last window."""
        prior, share = (changed.since_reference[one] for one in ("class_prior", "label_frequency"))
        return cls(
            positives=(prior.low, prior.value, prior.high),
            error=math.log(prior.high / prior.low) / (2 * _REACH),
            confirmed_share=(share.low, share.value, share.high),
        )

    @classmethod
    def of_audits(cls, compared: TwoAudits) -> Ratios:
        """Ratios of the audit after the change to the one before it."""
        prior, share = compared.class_prior, compared.label_frequency
        return cls(
            positives=(prior.low, prior.value, prior.high),
            error=math.log(prior.high / prior.low) / (2 * _REACH),
            confirmed_share=(share.low, share.value, share.high),
        )

    def below(self, most: float) -> Ratios:
        """The same with the ratio of positives cut off at `most`."""
        low, value, high = (min(one, most) for one in self.positives)
        return replace(self, positives=(low, value, high))


def _around(log_value: float, reach: float) -> Interval:
    return math.exp(log_value - reach), math.exp(log_value), math.exp(log_value + reach)
