"""The class prior over windows by many particles: the model's words in code, nothing analytic.

Every particle has a class prior, a label frequency and the places of positives and negatives; each
window it draws which change happens, how far everything goes and how the window differs by itself,
and is weighed by what the window shows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from pumonitor.prior.over_time import CHANGES, Level, WindowSummary

FloatArray = NDArray[np.float64]


def followed(
    reference: WindowSummary,
    level: Level,
    windows: Sequence[WindowSummary],
    *,
    drifts: dict[str, float],
    jumps: dict[str, float],
    own: dict[str, float],
    particles: int,
    seed: int,
) -> tuple[FloatArray, FloatArray]:
    """Levels of the class prior of the particles after the last window, and the window's own."""
    rng = np.random.default_rng(seed)
    mean_level = float(level.class_prior @ level.weight)
    high = reference.confirmed_mean
    pi = rng.choice(level.class_prior, size=particles, p=level.weight)
    confirmed = reference.confirmed + 0.5
    frequency = rng.gamma(confirmed, size=particles) / (reference.rows * pi)
    ones = rng.normal(high, np.sqrt(reference.confirmed_variance), particles)
    mean = rng.normal(reference.all_mean, np.sqrt(reference.all_variance), particles)
    zeros = (mean - pi * ones) / (1 - pi)
    now, log_weight = pi, np.zeros(particles)
    names = np.arange(len(CHANGES))
    chances = [one.probability for one in CHANGES]
    for window in windows:
        which = rng.choice(names, size=particles, p=chances)

        def are(attribute: str, which: NDArray[np.int64] = which) -> NDArray[np.bool_]:
            return np.array([getattr(one, attribute) for one in CHANGES])[which]

        def score(*wanted: str, which: NDArray[np.int64] = which) -> NDArray[np.bool_]:
            return np.array([one.scores in wanted for one in CHANGES])[which]

        def burst(of: str, which: NDArray[np.int64] = which) -> NDArray[np.bool_]:
            return np.array([one.burst == of for one in CHANGES])[which]

        odds = np.log(pi / (1 - pi))
        odds += np.where(are("prior"), jumps["prior"], drifts["prior"]) * rng.normal(size=particles)
        pi = 1 / (1 + np.exp(-odds))
        frequency = frequency * np.exp(drifts["frequency"] * rng.normal(size=particles))
        # A jump keeps the mean and adds variance, as a gamma with this coefficient of variation.
        jumped = np.exp(jumps["frequency"] ** 2) - 1
        frequency = np.where(
            are("frequency"), frequency * rng.gamma(1 / jumped, jumped, particles), frequency
        )
        ones = ones + drifts["scores"] * high * rng.normal(size=particles)
        zeros = zeros + drifts["scores"] * mean_level * high * rng.normal(size=particles)
        ranking = score("ranking", "ranking, far")
        ones = ones + np.where(ranking, jumps["positives"] * high, 0) * rng.normal(size=particles)
        near = np.where(score("ranking", "negatives"), jumps["negatives"] * mean_level * high, 0.0)
        far = np.where(score("ranking, far", "negatives, far"), jumps["far"] * high, 0.0)
        zeros = zeros + (near + far) * rng.normal(size=particles)
        bursts = jumps["burst"] * rng.normal(size=particles)
        factor = own["prior"] * rng.normal(size=particles) - 0.5 * own["prior"] ** 2
        now = pi * np.exp(factor + bursts * burst("prior"))
        others = own["frequency"] * rng.normal(size=particles) - 0.5 * own["frequency"] ** 2
        expected = window.rows * now * frequency * np.exp(others + bursts * burst("frequency"))
        log_weight += stats.poisson.logpmf(window.confirmed, expected)
        log_weight += stats.norm.logpdf(
            window.confirmed_mean, ones, np.sqrt(window.confirmed_variance)
        )
        log_weight += stats.norm.logpdf(
            window.all_mean,
            zeros + now * (ones - zeros),
            np.sqrt(window.all_variance + own["negatives"] ** 2),
        )
        weight = np.exp(log_weight - log_weight.max())
        taken = rng.choice(particles, size=particles, p=weight / weight.sum())
        pi, frequency, ones, zeros = pi[taken], frequency[taken], ones[taken], zeros[taken]
        now, log_weight = now[taken], np.zeros(particles)
    return pi, now
