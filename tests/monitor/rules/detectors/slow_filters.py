"""What the detectors must compute, the slow way: dense Gaussian conditioning and loops."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import special, stats

from pumonitor.monitor.rules.detectors import standardise


def mixture(
    values: Sequence[float],
    errors: Sequence[float],
    indices: Sequence[int],
    *,
    unit: float,
) -> tuple[float, float, float]:
    """Mean, standard deviation and distribution function of the last value given those before.

    For each point of the grid the joint distribution of all values is written down, the flat prior
    of the level is integrated out, and the last is conditioned on the others.
    """
    x, when = np.array(values), np.array(indices)
    logs, means, variances = [], [], []
    for (tau, phi, rho), prior in zip(standardise._POINTS, standardise._LOG_PRIOR, strict=True):
        apart = np.abs(when[:, np.newaxis] - when)
        correlation = np.where(apart == 0, 1.0, rho**apart if rho > 0 else 0.0)
        full = (tau * unit) ** 2 * correlation + phi * np.diag(np.array(errors) ** 2)
        mean, variance = _conditioned(x, full)
        logs.append(prior + _marginal(x[:-1], full[:-1, :-1]))
        means.append(mean)
        variances.append(variance)
    weight = special.softmax(logs)
    middle = float(weight @ means)
    spread = math.sqrt(weight @ (np.array(variances) + (np.array(means) - middle) ** 2))
    # Student's t of 10 degrees has variance 10 / 8.
    scaled = (x[-1] - np.array(means)) / np.sqrt(variances) * math.sqrt(1.25)
    below = float(weight @ stats.t.cdf(scaled, 10))
    return middle, spread, below


def _conditioned(x: np.ndarray, full: np.ndarray) -> tuple[float, float]:
    """Kriging with an unknown mean."""
    inverse = np.linalg.inv(full[:-1, :-1])
    ones, covariance = np.ones(len(x) - 1), full[:-1, -1]
    information = ones @ inverse @ ones
    level = ones @ inverse @ x[:-1] / information
    weights = inverse @ covariance
    left = 1 - ones @ weights
    mean = level + weights @ (x[:-1] - level)
    variance = full[-1, -1] - covariance @ weights + left**2 / information
    return float(mean), float(variance)


def _marginal(x: np.ndarray, full: np.ndarray) -> float:
    """Log likelihood with the level integrated over a flat prior: of contrasts, as is known."""
    contrasts = np.eye(len(x))[1:] - np.eye(len(x))[:1]
    if len(x) == 1:
        return 0.0
    return float(
        stats.multivariate_normal.logpdf(
            contrasts @ x, np.zeros(len(x) - 1), contrasts @ full @ contrasts.T
        )
    )


def shiryaev_roberts(ratios: Sequence[Sequence[float]]) -> list[float]:
    """Mean over changes of the sum, over all windows at which it may have begun, of the product."""
    found = []
    for end in range(1, len(ratios) + 1):
        sums = [
            sum(math.prod(row[change] for row in ratios[begin:end]) for begin in range(end))
            for change in range(len(ratios[0]))
        ]
        found.append(sum(sums) / len(sums))
    return found


def cusum(ratios: Sequence[Sequence[float]], limits: Sequence[float]) -> list[float]:
    """Largest share of its limit of the largest sum of logs over windows up to now."""
    found = []
    for end in range(1, len(ratios) + 1):
        largest = 0.0
        for change, limit in enumerate(limits):
            for begin in range(end):
                total = sum(math.log(row[change]) for row in ratios[begin:end])
                largest = max(largest, total / limit)
        found.append(largest)
    return found
