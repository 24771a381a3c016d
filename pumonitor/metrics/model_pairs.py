"""Several models on the same rows, from which differences between any two can be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pumonitor.metrics.paired import ModelOnRows
from pumonitor.metrics.paired_counts import paired_at_thresholds, threshold_difference
from pumonitor.metrics.paired_ranking import auc_difference, aul_difference, lift_difference
from pumonitor.metrics.threshold_metric import ThresholdMetric
from pumonitor.results import Estimate
from pumonitor.tables import ScoreTable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelPairs:
    """The rows of a comparison, from which the difference of any two models can be told."""

    models: Mapping[str, ModelOnRows]
    rows: ScoreTable
    threshold_metrics: Mapping[str, ThresholdMetric]

    def differences(
        self, first: str, second: str, values: Mapping[str, float]
    ) -> dict[str, Estimate]:
        """Paired estimates of the differences whose values are given, by metric."""
        one, other = self.models[first], self.models[second]
        found: dict[str, Estimate] = {}
        if any(name in self.threshold_metrics for name in values):
            rates = paired_at_thresholds(one, other, self.rows)
            found |= {
                name: threshold_difference(self.threshold_metrics[name], *rates, value=value)
                for name, value in values.items()
                if name in self.threshold_metrics
            }
        if "aul" in values or "auc" in values:
            lift = lift_difference(one, other, self.rows)
            makers = {"aul": aul_difference, "auc": auc_difference}
            found |= {
                name: make(lift, value=values[name])
                for name, make in makers.items()
                if name in values
            }
        return found
