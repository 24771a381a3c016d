"""Sixty windows in which something changes from the twenty-sixth on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.prior_over_time.pools import Pool

__all__ = ["CHANGED_FROM", "REFERENCE", "SCENARIOS", "WINDOWS", "Stream", "draw"]

FloatArray = NDArray[np.float64]

WINDOWS: Final = 60
REFERENCE: Final = 12
CHANGED_FROM: Final = 25

SCENARIOS: Final = (
    "nothing",
    "model breaks: two features flipped",
    "model breaks: one lost",
    "model breaks: a third shuffled",
    "new version",
    "prior x2",
    "prior x1/2",
    "prior drifts",
    "prior has a season",
    "label frequency halves",
    "label frequency drifts",
    "negatives drift",
    "labels come to depend on the score",
    "break and prior x2",
    "break and label frequency halves",
)
"""What happens, in words; single changes first."""

_MODEL: Final = {
    "model breaks: two features flipped": "two features flipped",
    "model breaks: one lost": "one lost",
    "model breaks: a third shuffled": "a third shuffled",
    "new version": "new version",
    "break and prior x2": "two features flipped",
    "break and label frequency halves": "two features flipped",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Windows of a pool, drawn with replacement.

    Attributes
    ----------
    scores, confirmed : list of ndarray
        Of each window's rows.
    class_prior : ndarray of shape (windows,)
        The truth: of the process, not of the rows drawn.
    """

    scores: list[FloatArray]
    confirmed: list[NDArray[np.bool_]]
    class_prior: FloatArray


def draw(
    pool: Pool,
    scenario: str,
    *,
    labels: int,
    class_prior: float,
    label_frequency: float,
    rng: np.random.Generator,
) -> Stream:
    """Windows with so many confirmed on average before anything changes."""
    rows = round(labels / (class_prior * label_frequency))
    positives, negatives = np.flatnonzero(pool.is_positive), np.flatnonzero(~pool.is_positive)
    # Negatives by how high they score, for those that come to score higher.
    by_score = negatives[np.argsort(pool.scores["as it was"][negatives], kind="stable")]
    priors, frequencies = _courses(scenario, class_prior, label_frequency)
    scores, confirmed = [], []
    for at in range(WINDOWS):
        model = _MODEL.get(scenario, "as it was") if at >= CHANGED_FROM else "as it was"
        found = int(rng.binomial(rows, priors[at]))
        higher = 1.0
        if scenario == "negatives drift":
            higher = 1.0 + 0.01 * max(at - CHANGED_FROM + 1, 0)
        ranks = rng.random(rows - found) ** (1 / higher)
        taken = np.concatenate(
            [rng.choice(positives, found), by_score[(ranks * len(by_score)).astype(int)]]
        )
        of_window = pool.scores[model][taken]
        chance = np.full(found, frequencies[at])
        if scenario == "labels come to depend on the score" and at >= CHANGED_FROM and found > 1:
            high = of_window[:found] >= np.median(of_window[:found])
            chance = np.where(high, 1.5, 0.5) * chance
        labeled = np.zeros(rows, dtype=bool)
        labeled[:found] = rng.random(found) < chance
        scores.append(of_window)
        confirmed.append(labeled)
    return Stream(scores=scores, confirmed=confirmed, class_prior=priors)


def _courses(
    scenario: str, class_prior: float, label_frequency: float
) -> tuple[FloatArray, FloatArray]:
    """Class prior and label frequency of each window."""
    window = np.arange(WINDOWS)
    since = np.maximum(window - CHANGED_FROM, 0)
    after = window >= CHANGED_FROM
    prior, frequency = np.full(WINDOWS, class_prior), np.full(WINDOWS, label_frequency)
    if scenario.endswith("prior x2"):
        prior = np.where(after, 2 * prior, prior)
    elif scenario == "prior x1/2":
        prior = np.where(after, 0.5 * prior, prior)
    elif scenario == "prior drifts":
        prior = prior * np.exp(0.015 * since)
    elif scenario == "prior has a season":
        prior = prior * np.exp(0.3 * np.sin(2 * np.pi * window / 20))
    elif scenario.endswith("label frequency halves"):
        frequency = np.where(after, 0.5 * frequency, frequency)
    elif scenario == "label frequency drifts":
        frequency = frequency * np.exp(-0.02 * since)
    return prior, frequency
