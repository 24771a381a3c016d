"""What a threshold metric is: a name, a formula of the four rates, a range."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Unpack

from pumonitor.metrics.from_arrays import GivenPrior, problem_from_arrays
from pumonitor.metrics.rates import AtThreshold, Formula, at_threshold, estimate_at
from pumonitor.metrics.settings import Setting
from pumonitor.results import Estimate

NOTHING_FLAGGED = "no row scores at or above the threshold"


def _unit_range(_prior: float) -> tuple[float, float]:
    return (0.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdMetric:
    """A metric of the decision `score >= threshold`.

    `value_range` takes the class prior, on which a range may depend (NaN when there is none).
    `undefined_reason` says in words when the formula has no value.
    """

    name: str
    formula: Formula
    value_range: Callable[[float], tuple[float, float]] = _unit_range
    undefined_reason: str = NOTHING_FLAGGED
    depends_on_labels: bool = True

    def estimate(self, at: AtThreshold, *, name: str | None = None) -> Estimate:
        """Estimate at a threshold, under another name if given (uncorrected, at k)."""
        return estimate_at(
            at,
            name or self.name,
            self.formula,
            value_range=self.value_range(at.problem.prior_for_ranges),
            undefined_reason=self.undefined_reason,
        )

    def from_arrays(
        self,
        labels: Any,
        scores: Any,
        *,
        threshold: float,
        class_prior: GivenPrior | None,
        sample_weight: Any,
        propensity: Any,
        **setting: Unpack[Setting],
    ) -> Estimate:
        """Estimate from rows."""
        problem = problem_from_arrays(
            labels,
            scores,
            class_prior=class_prior,
            threshold=threshold,
            sample_weight=sample_weight,
            propensity=propensity,
            depends_on_labels=self.depends_on_labels,
            **setting,
        )
        return self.estimate(at_threshold(problem, threshold))
