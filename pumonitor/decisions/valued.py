"""What thresholds bring by value: of these very rows, whatever the target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.audit.estimates import widest
from pumonitor.decisions.audited import AuditedOutcomes
from pumonitor.decisions.best_threshold import BestThreshold, best_of
from pumonitor.decisions.decision import Outcome
from pumonitor.decisions.fair import FairOutcomes
from pumonitor.decisions.outcomes import as_amount
from pumonitor.metrics.evaluation_estimates import CURVE_CELLS
from pumonitor.metrics.problem import Problem
from pumonitor.results import Curve, Estimate
from pumonitor.values import ValueAbove, ValueDraws

_ANY: Final = (-np.inf, np.inf)
_LEAST_SHARE: Final = 0.05
"""Where all rows above a threshold have been reviewed, draws do not differ there."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ValuedOutcomes:
    """What thresholds bring by value.

    A positive that is caught brings its own value, so that a miss costs the value itself:

        money = value of the positives caught - cost x rows at or above the threshold.

    Attributes
    ----------
    counted : FairOutcomes or AuditedOutcomes
        What they bring by number.
    readings : sequence of ValueDraws
        By each way of reading the rows, the likeliest first; intervals hold by all of them.
    threshold : float
        The present one, where score bins of the draws have an edge.
    thresholds : ndarray
        Some others, and one above all scores.
    cost : float or None
        Of a review; None where money is not asked for.
    confidence_level : float
    """

    counted: FairOutcomes | AuditedOutcomes
    readings: Sequence[ValueDraws]
    threshold: float
    thresholds: FloatArray
    cost: float | None
    confidence_level: float

    @classmethod
    def of(
        cls,
        counted: FairOutcomes | AuditedOutcomes,
        readings: Sequence[ValueDraws],
        problem: Problem,
        *,
        threshold: float,
        cost: float | None,
    ) -> ValuedOutcomes:
        """At thresholds between which the rows of a table can be told apart."""
        small = problem.table.compress(CURVE_CELLS, thresholds=(threshold,))
        return cls(
            counted=counted,
            readings=readings,
            threshold=threshold,
            thresholds=np.append(small.lower, np.nextafter(small.upper[-1], np.inf)),
            cost=None if cost is None else as_amount(cost, name="cost"),
            confidence_level=problem.confidence_level,
        )

    @property
    def doubt(self) -> str | None:
        """Why the class prior cannot be right."""
        return self.counted.doubt

    def outcome(self, threshold: float) -> Outcome:
        """At a threshold."""
        return self._beside(self.counted.outcome(threshold))

    def chosen(self, threshold: float) -> Outcome:
        """At one that was chosen; above all scores it is to review nobody."""
        return self._beside(self.counted.chosen(threshold))

    def _beside(self, counted: Outcome) -> Outcome:
        estimates = self.estimates(counted.threshold)
        reasons = {} if self.doubt is None else dict.fromkeys(estimates, self.doubt)
        return Outcome(
            threshold=counted.threshold,
            estimates={**counted.estimates, **estimates},
            reasons={**counted.reasons, **reasons},
        )

    def estimates(self, threshold: float) -> dict[str, Estimate]:
        """At a threshold; at the present one those of an evaluation."""
        if threshold == self.threshold:
            return self._widest([draws.at(threshold) for draws in self.readings], threshold)
        alone = np.array([threshold])
        return self._widest([draws.by_threshold(alone)[0] for draws in self.readings], threshold)

    def best(self, criterion: str, *, also: Iterable[float]) -> BestThreshold:
        """The threshold whose lower bound is highest."""
        if criterion != "money":
            return self.counted.best(criterion, also=also)
        drawn = zip(self.readings[0].by_threshold(self.thresholds), self.thresholds, strict=True)
        money = np.stack([self._money(above, threshold) for above, threshold in drawn], axis=1)
        return best_of(
            "money",
            self.thresholds,
            np.median(money, axis=0),
            money,
            confidence_level=self.confidence_level,
            estimate=lambda threshold: self.estimates(threshold)["money"],
            flags_any=lambda threshold: threshold < self.thresholds[-1],
            also=also,
            least_share=_LEAST_SHARE,
        )

    def curves(self) -> dict[str, Curve]:
        """Each estimate over thresholds."""
        x = self.thresholds[:-1]
        by_reading = [draws.by_threshold(x) for draws in self.readings]
        points = [
            self._widest(above, threshold)
            for above, threshold in zip(zip(*by_reading, strict=True), x, strict=True)
        ]
        return self.counted.curves() | {
            f"{name}_by_threshold": Curve(
                name=f"{name}_by_threshold",
                x_title="Decision threshold",
                y_title=name.replace("_", " "),
                x=x,
                y=np.array([point[name].value for point in points]),
                low=np.array([point[name].low for point in points]),
                high=np.array([point[name].high for point in points]),
                uncorrected=None,
            )
            for name in points[0]
        }

    def _widest(self, readings: Sequence[ValueAbove], threshold: float) -> dict[str, Estimate]:
        level = self.confidence_level
        estimates = []
        for above in readings:
            found = above.estimates(confidence_level=level)
            if self.cost is not None:
                money = self._money(above, threshold)
                found["money"] = above.estimate("money", money, _ANY, confidence_level=level)
            estimates.append(found)
        return widest(estimates)

    def _money(self, above: ValueAbove, threshold: float) -> FloatArray:
        valued = above.draws.valued
        reviews = float(valued.rows[valued.score >= threshold].sum())
        return above.caught - (self.cost or 0.0) * reviews
