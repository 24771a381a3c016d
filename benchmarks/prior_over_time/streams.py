"""Sixty windows in which something changes from the twenty-sixth on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.prior_over_time.pools import Pool
from pumonitor.tables import ScoreTable

__all__ = [
    "CHANGED_FROM",
    "REFERENCE",
    "SCENARIOS",
    "WINDOWS",
    "WITH_FEATURES",
    "Stream",
    "counted",
    "draw",
    "score_table",
]

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


WITH_FEATURES: Final = tuple(
    one for one in SCENARIOS if one.startswith(("model breaks", "break and"))
)
"""Scenarios in which the logged features may break as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Windows of a pool, drawn with replacement.

    Attributes
    ----------
    pool : Pool
    rows : list of ndarray of int
        Of the pool, in each window.
    confirmed : list of ndarray of bool
        Of each window's rows.
    models : list of str
        What the model is in each window, of `MODELS`.
    class_prior : ndarray of shape (windows,)
        The truth: of the process, not of the rows drawn.
    """

    pool: Pool
    rows: list[NDArray[np.intp]]
    confirmed: list[NDArray[np.bool_]]
    models: list[str]
    class_prior: FloatArray

    def tables(self, scores: Mapping[str, FloatArray]) -> list[tuple[FloatArray, ...]]:
        """Scores, confirmed rows and all rows at each score, of each window.

        Parameters
        ----------
        scores : mapping of str to ndarray of shape (rows of the pool,)
            By `MODELS`.
        """
        found = {name: np.unique(one, return_inverse=True) for name, one in scores.items()}
        return [
            counted(*found[model], rows, confirmed)
            for model, rows, confirmed in zip(self.models, self.rows, self.confirmed, strict=True)
        ]


def counted(
    at: FloatArray, place: NDArray[np.intp], rows: NDArray[np.intp], confirmed: NDArray[np.bool_]
) -> tuple[FloatArray, ...]:
    """Cells that hold rows: their score, confirmed and all rows."""
    cell = place[rows]
    labeled = np.bincount(cell, confirmed, minlength=len(at)).astype(np.float64)
    total = np.bincount(cell, minlength=len(at)).astype(np.float64)
    held = total > 0
    return at[held], labeled[held], total[held]


def score_table(cells: Sequence[tuple[FloatArray, ...]]) -> ScoreTable:
    """Of windows together."""
    scores, labeled, rows = (np.concatenate(parts) for parts in zip(*cells, strict=True))
    at, place = np.unique(scores, return_inverse=True)
    confirmed, total = np.bincount(place, labeled), np.bincount(place, rows)
    return ScoreTable.from_counts(confirmed, total - confirmed, lower=at, upper=at)


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
    drawn, confirmed, models = [], [], []
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
        chance = np.full(found, frequencies[at])
        if scenario == "labels come to depend on the score" and at >= CHANGED_FROM and found > 1:
            of_positives = pool.scores[model][taken[:found]]
            chance = np.where(of_positives >= np.median(of_positives), 1.5, 0.5) * chance
        labeled = np.zeros(rows, dtype=bool)
        labeled[:found] = rng.random(found) < chance
        drawn.append(taken)
        confirmed.append(labeled)
        models.append(model)
    return Stream(pool=pool, rows=drawn, confirmed=confirmed, models=models, class_prior=priors)


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
