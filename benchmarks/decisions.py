"""Whether the lower bound at the best threshold holds: `python -m benchmarks.decisions`.

Windows of two normal score densities are drawn, the threshold with the highest lower bound is
chosen in each, and the truth of the process is looked up there. Printed are shares of windows whose
truth lies below the lower bound: of the band over all thresholds, and of the interval as if the
threshold had been fixed. Both claim 2.5%.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from pumonitor.decisions.best_threshold import BestThreshold, best_threshold
from pumonitor.decisions.outcomes import outcome_metrics
from pumonitor.metrics.evaluation_estimates import CURVE_CELLS
from pumonitor.metrics.problem import make_problem
from pumonitor.metrics.rates import Rates
from pumonitor.metrics.resampled import resample
from pumonitor.metrics.threshold_metric import ThresholdMetric
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable

__all__ = ["DESIGNS", "Market", "misses"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Market:
    """Windows of `rows`, of which a share `class_prior` is positive and `confirmed` of these known.

    Scores are N(`separation`, 1) for positives and N(0, 1) for others. A caught positive is worth
    `value` reviews. `prior_error` is the standard error of the class prior on the logit scale; 0
    for one that is known.
    """

    rows: int
    class_prior: float
    confirmed: float
    separation: float
    value: float
    prior_error: float = 0.0

    def true(self, threshold: float, criterion: str) -> float:
        """The criterion of the process at a threshold."""
        recall = stats.norm.sf(threshold, loc=self.separation)
        flagged = self.class_prior * recall + (1 - self.class_prior) * stats.norm.sf(threshold)
        rates = Rates(
            class_prior=np.asarray(self.class_prior),
            recall=np.asarray(recall),
            false_positive_rate=np.asarray(stats.norm.sf(threshold)),
            predicted_positive_rate=np.asarray(max(flagged, 1e-300)),
        )
        return float(self.criterion(criterion).formula(rates))

    def criterion(self, name: str) -> ThresholdMetric:
        """Of a window of 1,000 rows."""
        return outcome_metrics(1000, value=self.value, cost=1.0)[name]

    def chosen(self, criterion: str, rng: np.random.Generator) -> BestThreshold:
        """The best threshold of one window drawn anew."""
        positive = rng.random(self.rows) < self.class_prior
        scores = rng.normal(self.separation * positive)
        labels = positive & (rng.random(self.rows) < self.confirmed)
        table = ScoreTable.from_arrays(labels, scores, density_edges=0)
        prior = ClassPriorEstimate.given(self.class_prior)
        if self.prior_error:
            centre = special.logit(self.class_prior) + self.prior_error * rng.standard_normal()
            reach = 1.96 * self.prior_error
            ends = special.expit([centre, centre - reach, centre + reach])
            prior = ClassPriorEstimate.given(tuple(float(one) for one in ends))
        problem = make_problem(table, prior, rng=int(rng.integers(2**31)))
        return best_threshold(
            problem, resample(problem, cells=CURVE_CELLS), self.criterion(criterion)
        )


DESIGNS = (
    Market(rows=2000, class_prior=0.05, confirmed=0.3, separation=2.0, value=10.0),
    Market(rows=20_000, class_prior=0.01, confirmed=0.3, separation=2.5, value=20.0),
    Market(rows=20_000, class_prior=0.05, confirmed=0.2, separation=1.5, value=5.0),
    Market(rows=5000, class_prior=0.1, confirmed=0.5, separation=1.0, value=4.0, prior_error=0.2),
    Market(
        rows=20_000, class_prior=0.05, confirmed=0.2, separation=2.0, value=10.0, prior_error=0.2
    ),
)


def misses(market: Market, criterion: str, *, runs: int, seed: int) -> tuple[float, float, float]:
    """Share of windows whose truth is below the band's lower end, below that of the interval, and
    the mean optimism of the estimate at the chosen threshold, relative to the truth.
    """
    below = np.zeros(2)
    optimism = []
    for run in range(runs):
        found = market.chosen(criterion, np.random.default_rng([seed, run]))
        truth = market.true(found.threshold, criterion)
        below += [truth < found.low - 1e-9, truth < found.estimate.low - 1e-9]
        optimism.append((found.estimate.value - truth) / max(abs(truth), 1e-9))
    share = below / runs
    return float(share[0]), float(share[1]), float(np.median(optimism))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    print(
        f"{'of':6} {'rows':>7} {'prior':>6} {'labels':>7} {'band':>7} {'single':>7} {'optimism':>9}"
    )
    for criterion in ("money", "f1"):
        for market in DESIGNS:
            band, single, optimism = misses(market, criterion, runs=asked.runs, seed=asked.seed)
            labels = market.rows * market.class_prior * market.confirmed
            print(
                f"{criterion:6} {market.rows:7} {market.class_prior:6} {labels:7.0f} {band:7.3f} "
                f"{single:7.3f} {optimism:+9.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
