"""Simulated windows whose true metrics are known: two normal score densities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, stats

from benchmarks.contingency import of_counts
from pumonitor.results import Scenario

__all__ = ["Design", "Window", "process_truth", "simulate", "window_truth"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Scores N(separation, 1) of positives and N(0, 1) of negatives; what is drawn of them.

    `n_labeled` is the expected number of labeled rows in the single-training-set scenario, the
    exact one in case-control. `decimals` rounds the scores, which makes ties.
    """

    scenario: Scenario
    n_labeled: int
    class_prior: float
    auc: float
    label_frequency: float = 0.3
    label_purity: float = 1.0
    decimals: int | None = None

    @property
    def separation(self) -> float:
        """Distance of the means that gives the AUC."""
        return float(stats.norm.ppf(self.auc) * math.sqrt(2))

    @property
    def rows(self) -> int:
        """Rows of the population sample."""
        purity = self.label_purity
        return round(self.n_labeled * purity / (self.class_prior * self.label_frequency))

    @property
    def threshold(self) -> float:
        """The threshold that maximises the true F1."""
        return _best_threshold(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """One simulated window: what the monitor sees, and the truth."""

    labels: NDArray[np.int8]
    scores: NDArray[np.float64]
    is_positive: NDArray[np.bool_]
    population: NDArray[np.bool_]


@lru_cache(maxsize=256)
def _best_threshold(design: Design) -> float:
    grid = np.linspace(-2, design.separation + 3, 400)
    recall, flagged = _rates(design, grid)
    f1 = 2 * design.class_prior * recall / (design.class_prior + flagged)
    threshold = float(grid[np.argmax(f1)])
    return threshold if design.decimals is None else round(threshold, design.decimals)


def _rates(
    design: Design, threshold: NDArray[np.float64] | float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    shift = 0.0 if design.decimals is None else 0.5 * 10.0**-design.decimals
    recall = stats.norm.sf(threshold - shift, loc=design.separation)
    false_positive_rate = stats.norm.sf(threshold - shift)
    prior = design.class_prior
    return recall, prior * recall + (1 - prior) * false_positive_rate


def simulate(design: Design, rng: np.random.Generator) -> Window:
    """Draw a window."""
    rows = design.rows
    is_positive = rng.random(rows) < design.class_prior
    scores = rng.normal(design.separation * is_positive)
    purity, frequency = design.label_purity, design.label_frequency
    if design.scenario == "single-training-set":
        # A share 1 - b of the labels falls on negatives, at random among them.
        mistaken = frequency * design.class_prior * (1 - purity) / purity / (1 - design.class_prior)
        labels = (rng.random(rows) < np.where(is_positive, frequency, mistaken)).astype(np.int8)
        population = np.ones(rows, dtype=bool)
    else:
        extra_positive = rng.random(design.n_labeled) < purity
        extra = rng.normal(design.separation * extra_positive)
        scores = np.concatenate([scores, extra])
        is_positive = np.concatenate([is_positive, extra_positive])
        labels = np.concatenate([np.zeros(rows, np.int8), np.ones(design.n_labeled, np.int8)])
        population = np.concatenate([np.ones(rows, bool), np.zeros(design.n_labeled, bool)])
    if design.decimals is not None:
        scores = np.round(scores, design.decimals)
    return Window(labels=labels, scores=scores, is_positive=is_positive, population=population)


@lru_cache(maxsize=256)
def process_truth(design: Design) -> dict[str, float]:
    """The metrics of the process itself, by formula and quadrature."""
    recall, flagged = (float(rate) for rate in _rates(design, design.threshold))
    prior = design.class_prior
    false_positive_rate = (flagged - prior * recall) / (1 - prior)

    def precision(score: float) -> float:
        above = stats.norm.sf(score, loc=design.separation)
        return float(prior * above / (prior * above + (1 - prior) * stats.norm.sf(score)))

    average_precision, _ = integrate.quad(
        lambda score: precision(score) * stats.norm.pdf(score, loc=design.separation),
        design.separation - 8,
        design.separation + 8,
    )
    auc = design.auc
    if design.decimals is not None:
        auc, average_precision = _tied(design)
    return {
        "aul": 0.5 * prior + (1 - prior) * auc,
        "auc": auc,
        "average_precision": average_precision,
        **_at_threshold(prior, recall, false_positive_rate),
    }


def _tied(design: Design) -> tuple[float, float]:
    step = 10.0**-design.decimals if design.decimals is not None else 0.0
    grid = np.arange(-8, design.separation + 8, step)
    edges = np.concatenate([grid - 0.5 * step, [grid[-1] + 0.5 * step]])
    positive = np.diff(stats.norm.cdf(edges, loc=design.separation))
    negative = np.diff(stats.norm.cdf(edges))
    below = np.cumsum(negative) - negative
    auc = float(np.sum(positive * (below + 0.5 * negative)))
    prior = design.class_prior
    recall = np.cumsum(positive[::-1])[::-1]
    flagged = prior * recall + (1 - prior) * np.cumsum(negative[::-1])[::-1]
    return auc, float(np.sum(positive * prior * recall / np.maximum(flagged, 1e-300)))


def _at_threshold(prior: float, recall: float, false_positive_rate: float) -> dict[str, float]:
    found, flagged = prior * recall, (1 - prior) * false_positive_rate
    return of_counts(found, flagged, prior - found, 1 - prior - flagged)


def window_truth(design: Design, window: Window) -> dict[str, float]:
    """The metrics of this window's own rows, from its true classes."""
    positive = window.is_positive[window.population]
    scores = window.scores[window.population]
    order = np.argsort(-scores, kind="stable")
    ranked, hits = scores[order], positive[order]
    last = np.concatenate([np.flatnonzero(np.diff(ranked)), [len(ranked) - 1]])
    true_positives = np.cumsum(hits)[last]
    flagged = last + 1.0
    found = np.diff(true_positives, prepend=0)
    total = float(true_positives[-1])
    from scipy.stats import rankdata

    ranks = rankdata(scores)
    auc = (ranks[positive].sum() - total * (total + 1) / 2) / (total * (len(scores) - total))
    prior = total / len(scores)
    above = scores >= design.threshold
    recall = float(above[positive].mean())
    false_positive_rate = float(above[~positive].mean())
    return {
        "aul": 0.5 * prior + (1 - prior) * float(auc),
        "auc": float(auc),
        "average_precision": float(np.sum(found / total * true_positives / flagged)),
        **_at_threshold(prior, recall, false_positive_rate),
    }
