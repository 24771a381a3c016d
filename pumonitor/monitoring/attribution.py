"""Why an estimate changed: other positives in the world, or a model that does worse on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor.monitoring.uncertain import Known, Uncertain
from pumonitor.stats.confidence_draws import interval, split_normal_logit_draws

__all__ = ["attribute_aul", "attribute_f1", "difference"]

FloatArray = NDArray[np.float64]

_DRAWS: Final = 10_000


def difference(now: Known, before: Known, *, confidence_level: float = 0.95) -> Uncertain:
    """The change between two estimates from independent rows.

    Too wide where both have an error in common, as estimates of the class prior by one method do,
    and too narrow for nothing.

    Notes
    -----
    Each end of the interval is as far from the change as the two estimates' own ends together, in
    squares: for symmetrical intervals the usual one.

    References
    ----------
    Zou, Donner (2008), Construction of confidence limits about effect measures, equation 4.

    Examples
    --------
    >>> from pumonitor.results import ClassPriorEstimate
    >>> before = ClassPriorEstimate.given((0.10, 0.08, 0.13))
    >>> now = ClassPriorEstimate.given((0.20, 0.16, 0.24))
    >>> change = difference(now, before)
    >>> round(change.value, 3), round(change.low, 3), round(change.high, 3)
    (0.1, 0.05, 0.145)
    """
    value = now.value - before.value
    low = value - math.hypot(now.value - now.low, before.high - before.value)
    high = value + math.hypot(now.high - now.value, before.value - before.low)
    reach = float(special.ndtri(0.5 + 0.5 * confidence_level))
    return Uncertain(value=value, low=low, high=high, se=(high - low) / (2 * reach))


def attribute_aul(
    now: Mapping[str, Known],
    before: Mapping[str, Known],
    *,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> dict[str, Uncertain]:
    """How much of AUL's change comes from the class prior, and how much from the ranking.

    AUL = pi / 2 + (1 - pi) AUC falls when the prior rises, though the model ranks as well as ever.

    Parameters
    ----------
    now, before : mapping of str to estimates
        With "aul" and "class_prior", from independent rows.
    confidence_level : float
    rng : int or numpy Generator
        Seed of the intervals' draws.

    Returns
    -------
    dict of str to Uncertain
        "prior" and "ranking", which add up to the change of AUL.

    Notes
    -----
    With the means of both windows, marked by bars, (1/2 - mean AUC) d pi + (1 - mean pi) d AUC.
    AUC is the one that goes with AUL and the prior, (AUL - pi / 2) / (1 - pi). Draws of both
    windows' AUL and prior, each from its own interval.

    References
    ----------
    "AUL is a better optimization metric in PU learning", equation 4.

    Examples
    --------
    >>> from types import SimpleNamespace as Known
    >>> before = {"aul": Known(value=0.83, low=0.82, high=0.84),
    ...           "class_prior": Known(value=0.10, low=0.08, high=0.12)}
    >>> now = {"aul": Known(value=0.79, low=0.78, high=0.80),
    ...        "class_prior": Known(value=0.20, low=0.17, high=0.23)}
    >>> parts = attribute_aul(now, before)
    >>> round(parts["prior"].value, 4), round(parts["ranking"].value, 4)
    (-0.0365, -0.0035)
    """

    def aul(prior: FloatArray, auc: FloatArray) -> FloatArray:
        return 0.5 * prior + (1 - prior) * auc

    def causes(aul: FloatArray, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
        return prior, (aul - 0.5 * prior) / (1 - prior)

    return _attributed(
        aul,
        causes,
        ("aul", "class_prior"),
        now,
        before,
        confidence_level=confidence_level,
        rng=rng,
    )


def attribute_f1(
    now: Mapping[str, Known],
    before: Mapping[str, Known],
    *,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> dict[str, Uncertain]:
    """How much of F1's change comes from the class prior, and how much from recall and FPR.

    F1 rises with the prior, though the model finds the same share of the positives and flags the
    same share of the negatives.

    Parameters
    ----------
    now, before : mapping of str to estimates
        With "class_prior", "recall" and "predicted_positive_rate", from independent rows.
    confidence_level, rng
        As in `attribute_aul`.

    Returns
    -------
    dict of str to Uncertain
        "prior" and "ranking" (of the scores against the threshold), which add up to the change of
        F1 = 2 pi TPR / (pi + theta), theta = pi TPR + (1 - pi) FPR.

    Notes
    -----
    Each part is the mean of the changes that its cause makes with the other as before and as now
    (Shapley's value for two causes, as is the split of AUL).
    """

    def f1(prior: FloatArray, rates: FloatArray) -> FloatArray:
        recall, false_positive_rate = rates
        flagged = prior * recall + (1 - prior) * false_positive_rate
        return np.asarray(2 * prior * recall / (prior + flagged))

    def causes(
        prior: FloatArray, recall: FloatArray, flagged: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        return prior, np.stack([recall, (flagged - prior * recall) / (1 - prior)])

    return _attributed(
        f1,
        causes,
        ("class_prior", "recall", "predicted_positive_rate"),
        now,
        before,
        confidence_level=confidence_level,
        rng=rng,
    )


def _attributed(
    metric: Callable[[FloatArray, FloatArray], FloatArray],
    causes: Callable[..., tuple[FloatArray, FloatArray]],
    names: tuple[str, ...],
    now: Mapping[str, Known],
    before: Mapping[str, Known],
    *,
    confidence_level: float,
    rng: int | np.random.Generator,
) -> dict[str, Uncertain]:
    """The two parts at the values, with intervals from draws of the estimates.

    The first entry of each array is the value itself.
    """
    generator = np.random.default_rng(rng)

    def drawn(known: Known) -> FloatArray:
        draws = split_normal_logit_draws(
            known.value,
            known.low,
            known.high,
            confidence_level=confidence_level,
            size=_DRAWS,
            rng=generator,
        )
        return np.concatenate([[known.value], draws])

    prior_then, rates_then = causes(*(drawn(before[name]) for name in names))
    prior_now, rates_now = causes(*(drawn(now[name]) for name in names))
    at_then, at_now = metric(prior_then, rates_then), metric(prior_now, rates_now)
    # The prior alone changed, and the rates alone.
    by_prior, by_rates = metric(prior_now, rates_then), metric(prior_then, rates_now)
    parts = {
        "prior": 0.5 * ((by_prior - at_then) + (at_now - by_rates)),
        "ranking": 0.5 * ((by_rates - at_then) + (at_now - by_prior)),
    }
    return {name: _change(part, confidence_level) for name, part in parts.items()}


def _change(part: FloatArray, confidence_level: float) -> Uncertain:
    value = float(part[0])
    low, high = interval(part[1:], confidence_level=confidence_level)
    return Uncertain(
        value=value, low=min(low, value), high=max(high, value), se=float(np.std(part[1:]))
    )
