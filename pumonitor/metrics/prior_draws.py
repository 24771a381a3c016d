"""Confidence draws of the class prior, made of whatever it was stated or estimated as."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.results import ClassPriorEstimate
from pumonitor.stats.confidence_draws import Order, split_normal_logit_draws

DRAWS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PriorDraws:
    """Draws of pi and of what it follows from.

    Attributes
    ----------
    prior : ndarray or None
        Of pi; None when it is known.
    unlabeled : ndarray or None
        Of a as a share of all rows not labeled, where a was estimated.
    frequency : ndarray or None
        Of c, where that was given.
    """

    prior: FloatArray | None = None
    unlabeled: FloatArray | None = None
    frequency: FloatArray | None = None


def draws_of_prior(
    class_prior: ClassPriorEstimate,
    fraction_draws: FloatArray,
    *,
    unlabeled_of_rest: float | None,
    label_purity: float,
    order: Order,
) -> PriorDraws:
    """Draws of the prior that go with draws of the labeled fraction.

    Parameters
    ----------
    class_prior : ClassPriorEstimate
    fraction_draws : ndarray of shape (DRAWS,)
    unlabeled_of_rest : float or None
        Share of unlabeled rows among those not labeled; None in case-control, where pi is a.
    label_purity : float
    order : ndarray of shape (DRAWS,)
    """
    if not np.isnan(class_prior.label_frequency_interval[0]):
        frequency = split_normal_logit_draws(
            class_prior.label_frequency,
            *class_prior.label_frequency_interval,
            confidence_level=class_prior.confidence_level,
            order=order,
        )
        at_frequency = prior_at_frequency(fraction_draws, frequency, label_purity=label_purity)
        return PriorDraws(prior=at_frequency, frequency=frequency)
    if class_prior.is_known:
        return PriorDraws()
    if unlabeled_of_rest is not None and not class_prior.method.startswith("given"):
        unlabeled = unlabeled_of_rest * split_normal_logit_draws(
            class_prior.unlabeled_prior,
            *class_prior.unlabeled_prior_interval,
            confidence_level=class_prior.confidence_level,
            order=order,
        )
        following = population_prior(fraction_draws, unlabeled, label_purity=label_purity)
        return PriorDraws(prior=following, unlabeled=unlabeled)
    stated = split_normal_logit_draws(
        class_prior.value,
        class_prior.low,
        class_prior.high,
        confidence_level=class_prior.confidence_level,
        order=order,
    )
    return PriorDraws(prior=np.minimum(stated, label_purity * (1 - 1e-6)))


def population_prior(
    fraction: FloatArray, unlabeled_prior: FloatArray, *, label_purity: float
) -> FloatArray:
    """Pi = q b + (1 - q) a, kept below the label purity."""
    prior = fraction * label_purity + (1 - fraction) * unlabeled_prior
    return np.minimum(prior, label_purity * (1 - 1e-6))


def prior_at_frequency(
    fraction: FloatArray, label_frequency: FloatArray, *, label_purity: float
) -> FloatArray:
    """Pi = q b / c, kept below the label purity."""
    return np.minimum(fraction * label_purity / label_frequency, label_purity * (1 - 1e-6))
