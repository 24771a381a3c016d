"""auto: tilt, DEDPUL and BBE, each freed of its bias, averaged by how exact each is here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pumonitor.prior.bbe import bbe
from pumonitor.prior.dedpul import dedpul
from pumonitor.prior.estimator import Estimator
from pumonitor.prior.model_resamples import model_resamples
from pumonitor.prior.roc_slope import upper_bound
from pumonitor.prior.tilt import tilt
from pumonitor.prior.two_samples import TwoSamples

__all__ = ["PriorWithInterval", "auto", "with_interval"]

FloatArray = NDArray[np.float64]

RESAMPLES = 200
_MEMBERS = {"tilt": tilt, "dedpul": dedpul, "bbe": bbe}


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorWithInterval:
    """An unlabeled prior, its interval, and what went into it."""

    value: float
    low: float
    high: float
    details: dict[str, float]


def auto(
    sample: TwoSamples, *, confidence_level: float, rng: np.random.Generator
) -> PriorWithInterval:
    """Unlabeled prior by the average of three estimators corrected for their bias.

    Notes
    -----
    Samples of the same sizes are drawn from smooth mixtures of known unlabeled prior that fit the
    data (`pumonitor.prior.model_resamples`). Each estimator's mean error there is its bias, which
    is taken off; its spread there gives its weight. The interval inverts the error of the average
    (basic bootstrap on the arcsine scale), widened when the three disagree by more than they do
    among the samples: then the model does not fit, and nothing here is precise.
    """
    truth, drawn = model_resamples(sample, size=RESAMPLES, rng=rng)
    observed = np.array([float(member(sample)[0]) for member in _MEMBERS.values()])
    resampled = np.stack([member(drawn) for member in _MEMBERS.values()])
    error = resampled - truth
    bias, variance = error.mean(axis=1), error.var(axis=1) + 1e-8
    weight = (1 / variance) / np.sum(1 / variance)
    corrected = observed - bias
    value = float(np.clip(weight @ corrected, 1e-6, 1 - 1e-6))
    redrawn = resampled - bias[:, np.newaxis]
    averages = np.clip(weight @ redrawn, 0.0, 1.0)
    disagreement = float(weight @ (corrected - value) ** 2)
    usual = float(np.mean(weight @ (redrawn - averages) ** 2))
    sampling = float(np.var(averages - truth)) + 1e-12
    widening = np.sqrt(1 + max(disagreement - usual, 0.0) / sampling)
    low, high = _inverted(value, averages, truth, confidence_level, widening=float(widening))
    # What the counts alone exclude no model can bring back: scores that separate completely have
    # no density ratio to model, and an unlabeled prior near 0 all the same.
    possible = float(upper_bound(sample, level=(1 - confidence_level) / 400)[0])
    if value > possible:
        value = min(float(observed.min()), possible)
    high = max(min(high, possible), value)
    low = min(low, value)
    details = {name: float(part) for name, part in zip(_MEMBERS, observed, strict=True)}
    details |= {f"{name}_bias": float(part) for name, part in zip(_MEMBERS, bias, strict=True)}
    details["widening"] = float(widening)
    return PriorWithInterval(value=value, low=low, high=high, details=details)


def with_interval(
    method: Estimator, sample: TwoSamples, *, confidence_level: float, rng: np.random.Generator
) -> PriorWithInterval:
    """A single estimator's value, with an interval that allows for its bias.

    The value is the estimator's own. The interval inverts its error in samples of known prior and
    is stretched to hold the value.
    """
    truth, drawn = model_resamples(sample, size=method.resamples, rng=rng)
    value = float(method(sample)[0])
    resampled = method(drawn)
    low, high = _inverted(value, resampled, truth, confidence_level)
    bias = float(np.mean(resampled - truth))
    return PriorWithInterval(
        value=value, low=min(low, value), high=max(high, value), details={"bias": bias}
    )


def _inverted(
    value: float,
    resampled: FloatArray,
    truth: FloatArray,
    confidence_level: float,
    *,
    widening: float = 1.0,
) -> tuple[float, float]:
    """Interval from the distribution of the error, on the variance-stabilising arcsine scale."""

    def scale(share: FloatArray | float) -> FloatArray:
        return np.asarray(np.arcsin(np.sqrt(np.clip(share, 0.0, 1.0))))

    tail = 0.5 * (1 - confidence_level)
    error = scale(resampled) - scale(truth)
    middle = float(np.mean(error))
    lowest, highest = (middle + widening * (np.quantile(error, [tail, 1 - tail]) - middle)).tolist()
    centre = float(scale(value))
    ends = np.clip([centre - highest, centre - lowest], 0.0, 0.5 * np.pi)
    low, high = (np.sin(ends) ** 2).tolist()
    return low, high
