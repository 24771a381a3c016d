"""Score distributions of many shapes, at any AUC, with their true metrics; windows drawn of them.

What was measured on two normals alone need not hold elsewhere. Each shape has one parameter, which
is solved for the AUC that is asked for; truths are sums over a fine grid of thresholds.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

from pumonitor.metrics.rates import Rates
from pumonitor.metrics.threshold_metric import ThresholdMetric
from pumonitor.results import Scenario

__all__ = ["SHAPES", "ShapedDesign", "add_designs", "chosen_designs"]

FloatArray = NDArray[np.float64]

_GRID: Final = 20_000


@dataclass(frozen=True, slots=True)
class _Mixture:
    """Two distributions, the first of which a share of the rows follows."""

    share: float
    first: Any
    second: Any

    def sf(self, score: FloatArray | float) -> FloatArray:
        return np.asarray(
            self.share * self.first.sf(score) + (1 - self.share) * self.second.sf(score)
        )

    def rvs(self, *, size: int, random_state: np.random.Generator) -> FloatArray:
        of_first = random_state.random(size) < self.share
        return np.where(
            of_first,
            self.first.rvs(size=size, random_state=random_state),
            self.second.rvs(size=size, random_state=random_state),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Scores of negatives, and of positives by a parameter between two ends."""

    negatives: Any
    positives: Callable[[float], Any]
    ends: tuple[float, float]
    support: tuple[float, float]
    decimals: int | None = None


SHAPES: Final = {
    "normal": Shape(negatives=stats.norm(), positives=stats.norm, ends=(0, 6), support=(-7, 14)),
    "wide positives": Shape(
        negatives=stats.norm(),
        positives=lambda shift: stats.norm(shift, 1.8),
        ends=(0, 9),
        support=(-10, 22),
    ),
    "narrow positives": Shape(
        negatives=stats.norm(),
        positives=lambda shift: stats.norm(shift, 0.6),
        ends=(0, 6),
        support=(-7, 10),
    ),
    "gamma": Shape(
        negatives=stats.gamma(2),
        positives=stats.gamma,
        ends=(2, 25),
        support=(0, 80),
    ),
    "exponential": Shape(
        negatives=stats.expon(),
        positives=lambda scale: stats.expon(scale=scale),
        ends=(1, 200),
        support=(0, 1500),
    ),
    "beta": Shape(
        negatives=stats.beta(1.5, 5),
        positives=lambda more: stats.beta(1.5 + more, 5),
        ends=(0, 80),
        support=(0, 1),
    ),
    "two kinds of positives": Shape(
        negatives=stats.norm(),
        positives=lambda shift: _Mixture(0.6, stats.norm(shift, 0.7), stats.norm(0.35 * shift, 1)),
        ends=(0, 12),
        support=(-7, 20),
    ),
    "heavy tails": Shape(
        negatives=stats.t(3),
        positives=lambda shift: stats.t(3, shift),
        ends=(0, 14),
        support=(-60, 80),
    ),
    "rounded": Shape(
        negatives=stats.norm(),
        positives=stats.norm,
        ends=(0, 6),
        support=(-7, 14),
        decimals=0,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapedDesign:
    """Windows with scores of a shape; `n_labeled` is what is expected (case-control: exact)."""

    shape: str
    auc: float
    class_prior: float
    n_labeled: int
    label_frequency: float = 0.3
    scenario: Scenario = "single-training-set"

    @property
    def rows(self) -> int:
        """Rows of the population sample."""
        return round(self.n_labeled / (self.class_prior * self.label_frequency))

    def draw(self, rng: np.random.Generator) -> tuple[NDArray[np.bool_], FloatArray]:
        """Labels and scores of a window with at least two labeled rows."""
        shape, positives = SHAPES[self.shape], _positives(self.shape, self.auc)
        while True:
            is_positive = rng.random(self.rows) < self.class_prior
            scores = np.empty(self.rows)
            count = int(is_positive.sum())
            scores[is_positive] = positives.rvs(size=count, random_state=rng)
            scores[~is_positive] = shape.negatives.rvs(size=self.rows - count, random_state=rng)
            labels = is_positive & (rng.random(self.rows) < self.label_frequency)
            if self.scenario == "case-control":
                labeled = positives.rvs(size=self.n_labeled, random_state=rng)
                scores = np.concatenate([scores, labeled])
                labels = np.repeat([False, True], [self.rows, self.n_labeled])
            if shape.decimals is not None:
                scores = np.round(scores, shape.decimals)
            if np.count_nonzero(labels) >= 2:
                return labels, scores

    def rates(self) -> tuple[FloatArray, Rates]:
        """Thresholds, and the rates of the process there."""
        grid, recall, false_positive_rate = _process(self.shape, self.auc)
        prior = self.class_prior
        return grid, Rates(
            class_prior=np.asarray(prior),
            recall=recall,
            false_positive_rate=false_positive_rate,
            predicted_positive_rate=prior * recall + (1 - prior) * false_positive_rate,
        )

    @property
    def shown(self) -> str:
        """The first columns of a table."""
        return f"{self.shape:24} {self.n_labeled:4} {self.class_prior:5} {self.auc:5}"

    def average_precision(self) -> float:
        """Of the process."""
        _, rates = self.rates()
        positive = rates.recall - np.append(rates.recall[1:], 0.0)
        flagged = np.maximum(rates.predicted_positive_rate, 1e-300)
        return float(np.sum(positive * self.class_prior * rates.recall / flagged))

    def best(self, metric: ThresholdMetric) -> tuple[float, float]:
        """The highest value of a metric over thresholds, and a threshold that gives it."""
        grid, rates = self.rates()
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.nan_to_num(np.asarray(metric.formula(rates)))
        highest = int(np.argmax(values))
        return float(values[highest]), float(grid[highest])


def add_designs(
    parser: argparse.ArgumentParser,
    *,
    labeled: Sequence[int],
    priors: Sequence[float],
    aucs: Sequence[float],
) -> None:
    """The options by which designs are chosen, with what is taken by default."""
    parser.add_argument("--runs", type=int, default=400, help="windows per design")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shapes", nargs="*", default=list(SHAPES), choices=list(SHAPES))
    parser.add_argument("--labeled", type=int, nargs="*", default=list(labeled))
    parser.add_argument("--prior", type=float, nargs="*", default=list(priors))
    parser.add_argument("--auc", type=float, nargs="*", default=list(aucs))
    parser.add_argument("--scenario", default="single-training-set")


def chosen_designs(asked: argparse.Namespace) -> Iterator[ShapedDesign]:
    """All combinations of what was asked for, a shape at a time."""
    for shape, n_labeled, prior, auc in itertools.product(
        asked.shapes, asked.labeled, asked.prior, asked.auc
    ):
        yield ShapedDesign(
            shape=shape, auc=auc, class_prior=prior, n_labeled=n_labeled, scenario=asked.scenario
        )


@lru_cache(maxsize=64)
def _positives(name: str, auc: float) -> Any:
    shape = SHAPES[name]
    parameter = optimize.brentq(
        lambda value: _auc(shape, shape.positives(value)) - auc, *shape.ends, xtol=1e-6
    )
    return shape.positives(parameter)


@lru_cache(maxsize=64)
def _process(name: str, auc: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    shape = SHAPES[name]
    return _above(shape, _positives(name, auc))


def _above(shape: Shape, positives: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Thresholds, and the share of positives and of negatives at or above each."""
    low, high = shape.support
    if shape.decimals is not None:
        step = 10.0**-shape.decimals
        grid = np.arange(low, high + step / 2, step)
        return grid, positives.sf(grid - step / 2), shape.negatives.sf(grid - step / 2)
    grid = np.linspace(low, high, _GRID)
    return grid, np.asarray(positives.sf(grid)), np.asarray(shape.negatives.sf(grid))


def _auc(shape: Shape, positives: Any) -> float:
    _, recall, false_positive_rate = _above(shape, positives)
    negative = false_positive_rate - np.append(false_positive_rate[1:], 0.0)
    return float(np.sum(negative * 0.5 * (recall + np.append(recall[1:], 0.0))))
