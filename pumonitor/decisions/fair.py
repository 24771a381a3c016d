"""What thresholds bring where confirmed positives are a fair sample."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pumonitor.decisions.best_threshold import BestThreshold, at_choice, best_threshold
from pumonitor.decisions.decision import Outcome
from pumonitor.decisions.impossible import prior_doubt, reasons_at
from pumonitor.metrics.curves import by_threshold
from pumonitor.metrics.evaluation_estimates import CURVE_CELLS
from pumonitor.metrics.problem import Problem
from pumonitor.metrics.rates import AtThreshold, at_threshold
from pumonitor.metrics.resampled import Resampled, resample
from pumonitor.metrics.threshold_metric import ThresholdMetric
from pumonitor.results import Curve


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FairOutcomes:
    """What `pumonitor.decisions.audited.AuditedOutcomes` tells, by the confidence draws.

    Attributes
    ----------
    problem : Problem
    metrics : mapping of str to ThresholdMetric
        Of `pumonitor.decisions.outcomes`.
    doubt : str or None
        Why the class prior cannot be right.
    resampled : Resampled
        Redraws on 200 cells.
    """

    problem: Problem
    metrics: Mapping[str, ThresholdMetric]
    doubt: str | None
    resampled: Resampled

    @classmethod
    def of(
        cls,
        problem: Problem,
        *,
        threshold: float,
        metrics: Mapping[str, ThresholdMetric],
        top_k: float,
        f_beta: float,
    ) -> FairOutcomes:
        """Redraw rows and class prior once for all thresholds."""
        return cls(
            problem=problem,
            metrics=metrics,
            doubt=prior_doubt(problem, threshold, top_k=top_k, f_beta=f_beta),
            resampled=resample(problem, cells=CURVE_CELLS, thresholds=(threshold,)),
        )

    def outcome(self, threshold: float) -> Outcome:
        """At a threshold."""
        return self._outcome(threshold, at_threshold(self.problem, threshold))

    def chosen(self, threshold: float) -> Outcome:
        """At one that was chosen; above all scores it is to review nobody."""
        return self._outcome(threshold, at_choice(self.problem, threshold))

    def best(self, criterion: str, *, also: Iterable[float]) -> BestThreshold:
        """The threshold whose lower bound is highest, among those of the cells and `also`."""
        return best_threshold(self.problem, self.resampled, self.metrics[criterion], also=also)

    def curves(self) -> dict[str, Curve]:
        """Each of the metrics over thresholds."""
        return by_threshold(self.problem, self.resampled, tuple(self.metrics.values()))

    def _outcome(self, threshold: float, at: AtThreshold) -> Outcome:
        estimates = {name: metric.estimate(at) for name, metric in self.metrics.items()}
        cases = float(self.problem.population.sum())
        reasons = reasons_at(at, estimates, cases=cases, doubt=self.doubt)
        return Outcome(threshold=threshold, estimates=estimates, reasons=reasons)
