"""What thresholds bring by the draws of an audit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pumonitor.audit.estimates import EstimatesByBin
from pumonitor.audited_curves import audited_curves
from pumonitor.audited_positives import AuditedPositives, estimate_of_draws
from pumonitor.decisions.best_threshold import (
    BestThreshold,
    best_of,
    criterion_values,
    flags_any,
)
from pumonitor.decisions.decision import Outcome
from pumonitor.metrics.evaluation_estimates import CURVE_CELLS
from pumonitor.metrics.problem import Problem
from pumonitor.metrics.rates import Rates
from pumonitor.metrics.threshold_metric import ThresholdMetric
from pumonitor.results import Curve, Estimate
from pumonitor.tables import ScoreTable

_LEAST_SHARE: Final = 0.05
"""Where nearly all rows above a threshold have been reviewed, few draws differ, by one positive."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditedOutcomes:
    """What thresholds bring in the very rows that an audit was read with.

    How many positives a score bin holds the audit tells. Where in it they score is taken from its
    confirmed ones, with their sampling error; so inside a bin it is wrong where some scores are
    confirmed more often than others.

    Attributes
    ----------
    problem : Problem
        Of the table that the audit was read with.
    audit : EstimatesByBin
    threshold : float
        The one that the audit was read for.
    metrics : mapping of str to ThresholdMetric
        Of `pumonitor.decisions.outcomes`.
    table : ScoreTable
        200 cells, with one that begins at the threshold and at each edge of the score bins.
    positives : AuditedPositives
        In its cells.
    doubt : None
        An audit says what the class prior is.

    Notes
    -----
    A draw of the audit has a number of positives in each score bin, and so a class prior pi and a
    TPR at each threshold; theta is known, since the rows are these. A draw of the money is the
    formula of that draw, as without an audit: pi and TPR move together.
    """

    problem: Problem
    audit: EstimatesByBin
    threshold: float
    metrics: Mapping[str, ThresholdMetric]
    table: ScoreTable
    positives: AuditedPositives
    doubt: None = None

    @classmethod
    def of(
        cls,
        problem: Problem,
        audit: EstimatesByBin,
        *,
        threshold: float,
        metrics: Mapping[str, ThresholdMetric],
    ) -> AuditedOutcomes:
        """Spread the positives of the audit over score cells, once for all thresholds."""
        table = _small(problem, audit, threshold)
        return cls(
            problem=problem,
            audit=audit,
            threshold=threshold,
            metrics=metrics,
            table=table,
            positives=AuditedPositives.of(table, audit.posterior),
        )

    def outcome(self, threshold: float) -> Outcome:
        """At a threshold; no number of an audit is impossible."""
        return Outcome(threshold=threshold, estimates=self.estimates(threshold), reasons={})

    def chosen(self, threshold: float) -> Outcome:
        """At one that was chosen."""
        return self.outcome(threshold)

    def estimates(self, threshold: float) -> dict[str, Estimate]:
        """At a threshold; at that of the audit its own estimates, digit by digit.

        Raises
        ------
        InputError
            If the threshold is inside a cell of the problem's table.
        """
        rates = self._rates(threshold)
        found = {name: self._estimate(metric, rates) for name, metric in self.metrics.items()}
        if self._place(threshold) == self._place(self.threshold):
            stored = self.audit.estimates
            found |= {
                name: replace(stored[name], range=one.range)
                for name, one in found.items()
                if name in stored and one.undefined_reason is None
            }
        return found

    def best(self, criterion: str, *, also: Iterable[float]) -> BestThreshold:
        """The threshold whose lower bound is highest, among those of the cells and `also`."""
        metric = self.metrics[criterion]
        redrawn = criterion_values(metric, self.positives.rates, self.problem)
        return best_of(
            criterion,
            self.positives.thresholds,
            np.median(redrawn, axis=0),
            redrawn,
            confidence_level=self.problem.confidence_level,
            estimate=lambda one: self.estimates(one)[criterion],
            also=also,
            flags_any=lambda one: flags_any(self.problem, one),
            least_share=_LEAST_SHARE,
        )

    def curves(self) -> dict[str, Curve]:
        """Each of the metrics over thresholds: those of an evaluation with the audit."""
        drawn = audited_curves(
            self.problem,
            self.audit.posterior,
            threshold=self.threshold,
            metrics=tuple(self.metrics.values()),
        )
        return {name: drawn[name] for name in (f"{one}_by_threshold" for one in self.metrics)}

    def _place(self, threshold: float) -> int:
        """The first cell of all that is flagged."""
        return self.problem.table.index_of_threshold(threshold)

    def _rates(self, threshold: float) -> Rates:
        begin = float(np.append(self.problem.table.lower, np.inf)[self._place(threshold)])
        place = int(np.searchsorted(self.table.lower, begin))
        if begin in self.table.lower or begin == np.inf:
            return self.positives.rates_at(slice(place, place + 1))
        # Cells are as few as for the curves; one that nobody else asks for is added.
        table = _small(self.problem, self.audit, self.threshold, threshold)
        place = table.index_of_threshold(threshold)
        spread = AuditedPositives.of(table, self.audit.posterior)
        return spread.rates_at(slice(place, place + 1))

    def _estimate(self, metric: ThresholdMetric, rates: Rates) -> Estimate:
        with np.errstate(divide="ignore", invalid="ignore"):
            draws = np.broadcast_to(metric.formula(rates), rates.recall.shape)[:, 0]
        found = estimate_of_draws(
            self.problem,
            metric.name,
            draws,
            metric.value_range(self.problem.class_prior.value),
            undefined_reason=metric.undefined_reason,
        )
        return found if found.undefined_reason else replace(found, method=self.audit.method)


def _small(problem: Problem, audit: EstimatesByBin, threshold: float, *others: float) -> ScoreTable:
    edges = audit.posterior.bins.edges.tolist()
    return problem.table.compress(CURVE_CELLS, thresholds=(threshold, *others, *edges))
