"""Whether the lower bound at the best threshold holds: `python -m benchmarks.decisions`.

Windows of two normal score densities are drawn, the threshold with the highest lower bound is
chosen in each, and the truth of the process is looked up there. With an audit of 300 cases windows
are of real scores as well, and the truth is that of their own rows. Printed are shares of windows
whose truth lies below the lower bound: of the band over all thresholds, and of the interval as if
the threshold had been fixed. Both claim 2.5%.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from scipy import special, stats

from benchmarks.audits.over_time import a_month_later
from benchmarks.audits.windows import ROWS, Cell, Window, audited, designed, window
from pumonitor.audit.estimates import AuditedEstimates
from pumonitor.audit.estimation import estimate_audit
from pumonitor.decisions.audited import AuditedOutcomes
from pumonitor.decisions.best_threshold import BestThreshold, best_threshold
from pumonitor.decisions.outcomes import outcome_metrics
from pumonitor.metrics.evaluation_estimates import CURVE_CELLS
from pumonitor.metrics.problem import Problem, make_problem
from pumonitor.metrics.rates import Rates
from pumonitor.metrics.resampled import resample
from pumonitor.metrics.threshold_metric import ThresholdMetric
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable

__all__ = ["AUDITED", "CARRIED", "DESIGNS", "AuditedMarket", "Market", "Misses", "misses"]

CRITERIA: Final = ("money", "f1")


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

    @property
    def what(self) -> str:
        """In the first column."""
        return ""

    @property
    def labels(self) -> float:
        """How many positives are confirmed on average."""
        return self.rows * self.class_prior * self.confirmed

    def chosen_and_true(
        self, criteria: Sequence[str], rng: np.random.Generator
    ) -> list[tuple[BestThreshold, float]]:
        """By criterion the best threshold of one window, and what the process brings there."""
        problem = self.drawn(rng)
        resampled = resample(problem, cells=CURVE_CELLS)
        found = [best_threshold(problem, resampled, self.criterion(one)) for one in criteria]
        return [(one, self.true(one.threshold, one.criterion)) for one in found]

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

    def drawn(self, rng: np.random.Generator) -> Problem:
        """One window drawn anew."""
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
        return make_problem(table, prior, rng=int(rng.integers(2**31)))


DESIGNS = (
    Market(rows=2000, class_prior=0.05, confirmed=0.3, separation=2.0, value=10.0),
    Market(rows=20_000, class_prior=0.01, confirmed=0.3, separation=2.5, value=20.0),
    Market(rows=20_000, class_prior=0.05, confirmed=0.2, separation=1.5, value=5.0),
    Market(rows=5000, class_prior=0.1, confirmed=0.5, separation=1.0, value=4.0, prior_error=0.2),
    Market(
        rows=20_000, class_prior=0.05, confirmed=0.2, separation=2.0, value=10.0, prior_error=0.2
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedMarket:
    """Windows of a cell of `benchmarks.audits`, each with an audit of its own.

    A caught positive is worth `value` reviews. `carried`: the audit is of the window a month
    before.
    """

    cell: Cell
    value: float
    carried: bool = False

    @property
    def what(self) -> str:
        """In the first column."""
        carried = ", carried" if self.carried else ""
        return f"{self.cell}, favoured {self.cell.favoured:g}{carried}"

    @property
    def rows(self) -> int:
        """Of a window."""
        return ROWS

    @property
    def class_prior(self) -> float:
        """Of the process."""
        return self.cell.class_prior

    @property
    def labels(self) -> float:
        """How many positives are confirmed on average."""
        return ROWS * self.cell.class_prior * self.cell.label_frequency

    def chosen_and_true(
        self, criteria: Sequence[str], rng: np.random.Generator
    ) -> list[tuple[BestThreshold, float]]:
        """By criterion the best threshold of one window, and what its own rows bring there."""
        rows = window(self.cell, rng)
        counts = audited(designed(self.cell, rows), rows, rng)
        if self.carried:
            rows = window(self.cell, rng)
            table, posterior = a_month_later(counts, rows)
        else:
            edges = (rows.threshold, *counts.bins.edges.tolist())
            table = ScoreTable.from_arrays(rows.confirmed, rows.score, thresholds=edges)
            posterior = estimate_audit(counts)
        audit = AuditedEstimates(name="", posterior=posterior)
        metrics = outcome_metrics(1000, value=self.value, cost=1.0)
        outcomes = AuditedOutcomes.of(
            make_problem(table, audit.class_prior, rng=int(rng.integers(2**31))),
            audit,
            threshold=rows.threshold,
            metrics=metrics,
        )
        found = [outcomes.best(criterion, also=[rows.threshold]) for criterion in criteria]
        return [(one, _of_rows(metrics[one.criterion], rows, one.threshold)) for one in found]


def _of_rows(metric: ThresholdMetric, rows: Window, threshold: float) -> float:
    """The criterion of the rows themselves at a threshold."""
    flagged = rows.score >= threshold
    rates = Rates(
        class_prior=np.asarray(rows.positive.mean()),
        recall=np.asarray(flagged[rows.positive].mean()),
        false_positive_rate=np.asarray(flagged[~rows.positive].mean()),
        predicted_positive_rate=np.asarray(flagged.mean()),
    )
    return float(metric.formula(rates))


AUDITED = tuple(
    AuditedMarket(cell=Cell(name=name, class_prior=prior, favoured=favoured), value=value)
    for name, prior, value in (("normal", 0.05, 10.0), ("bank", 0.05, 10.0), ("casp", 0.01, 20.0))
    for favoured in (1.0, 3.0)
)
CARRIED = tuple(replace(market, carried=True) for market in AUDITED[2:4])


@dataclass(frozen=True, slots=True, kw_only=True)
class Misses:
    """What came of a criterion over the windows of a market.

    Attributes
    ----------
    band, single : float
        Share of windows whose truth is below the band's lower end, and below that of the interval.
    optimism : float
        Of the estimate at the chosen threshold, in the median and relative to the truth.
    """

    band: float
    single: float
    optimism: float


def misses(
    market: Market | AuditedMarket, *, runs: int, seed: int, criteria: Sequence[str] = CRITERIA
) -> dict[str, Misses]:
    """What comes of each criterion, from the same windows."""
    below = np.zeros((2, len(criteria)))
    optimism = np.zeros((runs, len(criteria)))
    for run in range(runs):
        both = market.chosen_and_true(criteria, np.random.default_rng([seed, run]))
        for at, (found, truth) in enumerate(both):
            below[:, at] += [truth < found.low - 1e-9, truth < found.estimate.low - 1e-9]
            optimism[run, at] = (found.estimate.value - truth) / max(abs(truth), 1e-9)
    share, middle = below / runs, np.median(optimism, axis=0)
    return {
        criterion: Misses(
            band=float(share[0, at]), single=float(share[1, at]), optimism=float(middle[at])
        )
        for at, criterion in enumerate(criteria)
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=("unaudited", "audited", "carried"))
    asked = parser.parse_args()
    print(
        f"{'':57} {'of':6} {'rows':>7} {'prior':>6} {'labels':>7} {'band':>7} {'single':>7} "
        f"{'optimism':>9}"
    )
    chosen: dict[str, Sequence[Market | AuditedMarket]] = {
        "unaudited": DESIGNS,
        "audited": AUDITED,
        "carried": CARRIED,
    }
    for market in (one for kind in chosen if asked.only in (None, kind) for one in chosen[kind]):
        found = misses(market, runs=asked.runs, seed=asked.seed)
        for criterion, one in found.items():
            print(
                f"{market.what:57} {criterion:6} {market.rows:7} {market.class_prior:6} "
                f"{market.labels:7.0f} {one.band:7.3f} {one.single:7.3f} {one.optimism:+9.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
