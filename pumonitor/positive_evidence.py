"""What tells how many positives there are: confirmed ones as a sample, an audit, or reviews.

Evaluations, decisions and the curves of a stored window ask `PositiveEvidence`, and nothing else
asks which of the three it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

import numpy as np

from pumonitor.audit.estimates import EstimatesByBin, audited, widest
from pumonitor.audit.evaluated import read_given_audit
from pumonitor.audit.verdicts import Audit
from pumonitor.audited_curves import audited_curves, audited_estimates
from pumonitor.metrics.curves import by_threshold, lift_curve, precision_recall_curve, roc_curve
from pumonitor.metrics.evaluation_estimates import (
    CURVE_CELLS,
    curve_metrics,
    estimates_and_curves,
)
from pumonitor.metrics.problem import Problem, make_problem
from pumonitor.metrics.resampled import resample
from pumonitor.metrics.settings import check_settings
from pumonitor.metrics.threshold_metric import ThresholdMetric
from pumonitor.prior import GivenOrEstimated
from pumonitor.prior.assumed import LabelPurity, assumed_of
from pumonitor.prior.labels.label_frequency import LabelFrequency, read_label_frequency
from pumonitor.results import (
    ClassPriorEstimate,
    Curve,
    Estimate,
    Finding,
    LabelAssumption,
    LabelOrigin,
    Scenario,
    Target,
)
from pumonitor.results.sensitivity import Sensitivity
from pumonitor.sensitivity.at_priors import AtPriors
from pumonitor.sensitivity.label_preference import (
    displayed_values,
    label_assumption,
    refuse_labels_of_a_queue,
)
from pumonitor.tables import ScoreTable

__all__ = ["FairLabels", "PositiveEvidence", "PositivesByScore", "positive_evidence"]

EstimatesAndCurves: TypeAlias = tuple[dict[str, Estimate], dict[str, Curve]]
AskAtPriors: TypeAlias = Callable[..., Sensitivity]


class PositiveEvidence(Protocol):
    """What an evaluation asks of what tells the positives of its rows."""

    @property
    def problem(self) -> Problem:
        """The table with the class prior."""

    @property
    def reading(self) -> EstimatesByBin | None:
        """Positives of each score bin by an audit or by reviews."""

    @property
    def is_fair(self) -> bool:
        """Whether confirmed positives are taken for a fair sample of all positives."""

    @property
    def has_reviews(self) -> bool:
        """Whether labels are verdicts of a queue and complaints."""

    @property
    def target(self) -> Target:
        """What intervals are about."""

    @property
    def label_purity_evidence(self) -> dict[str, Any] | None:
        """What the scores show of mistaken labels."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is doubtful about an audit or reviews."""

    @property
    def edges(self) -> tuple[float, ...]:
        """Scores at which curves have a point beside the threshold."""

    def estimates_and_curves(
        self, threshold: float, top_k: float, beta_metric: ThresholdMetric, *, curves: bool
    ) -> EstimatesAndCurves:
        """Estimates by name, and curves by name unless none are asked for."""

    def curves(self, *, threshold: float, metrics: tuple[ThresholdMetric, ...]) -> dict[str, Curve]:
        """ROC, precision against recall, lift, and the metrics by threshold."""

    def class_prior(self, share: Estimate) -> ClassPriorEstimate:
        """With the interval that all shows; `share` is the estimate of it."""

    def at_priors(
        self, prior: ClassPriorEstimate, *, threshold: float, top_k: float, f_beta: float
    ) -> AskAtPriors | None:
        """What estimates would be at other class priors; None where positives are counted."""

    def assumption(self, estimates: Mapping[str, Estimate]) -> LabelAssumption | None:
        """What is taken for granted of the labels."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FairLabels:
    """Confirmed positives are a fair sample of the positives; the class prior says how many.

    Attributes
    ----------
    problem : Problem
    prior : ClassPriorEstimate
        As given, or as estimated.
    label_purity_evidence : mapping or None
    origin : LabelOrigin or None
        Where labels come from, as the user says.
    """

    problem: Problem
    prior: ClassPriorEstimate
    label_purity_evidence: dict[str, Any] | None = None
    origin: LabelOrigin | None = None
    reading: None = None
    is_fair: bool = True
    has_reviews: bool = False
    findings: tuple[Finding, ...] = ()
    edges: tuple[float, ...] = ()

    @property
    def target(self) -> Target:
        """That of the problem."""
        return self.problem.target

    def estimates_and_curves(
        self, threshold: float, top_k: float, beta_metric: ThresholdMetric, *, curves: bool
    ) -> EstimatesAndCurves:
        """Those of the problem."""
        return estimates_and_curves(self.problem, threshold, top_k, beta_metric, curves=curves)

    def curves(self, *, threshold: float, metrics: tuple[ThresholdMetric, ...]) -> dict[str, Curve]:
        """Those of the problem."""
        resampled = resample(self.problem, cells=CURVE_CELLS, thresholds=(threshold,))
        return {
            "roc": roc_curve(self.problem, resampled),
            "precision_recall": precision_recall_curve(self.problem, resampled),
            "lift": lift_curve(self.problem, resampled),
            **by_threshold(self.problem, resampled, metrics),
        }

    def class_prior(self, share: Estimate) -> ClassPriorEstimate:
        """As given or estimated, with the ends of the estimate."""
        return replace(self.prior, low=share.low, high=share.high)

    def at_priors(
        self, prior: ClassPriorEstimate, *, threshold: float, top_k: float, f_beta: float
    ) -> AskAtPriors:
        """Estimates at other class priors."""
        return AtPriors.of(
            self.problem,
            prior,
            threshold=threshold,
            top_k=top_k,
            f_beta=f_beta,
            cells=CURVE_CELLS,
        )

    def assumption(self, estimates: Mapping[str, Estimate]) -> LabelAssumption | None:
        """That labels are fair, and what it would change if they were not."""
        return label_assumption(
            displayed_values(estimates),
            origin=self.origin,
            propensities=self.problem.table.has_propensities,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PositivesByScore:
    """Positives were counted by score bin: by an audit, or by reviews and complaints.

    All numbers are then about these very rows. Class prior and estimates are the reading's, those
    inside its score bins come from its draws; what no label has a part in is the problem's.
    """

    problem: Problem
    reading: EstimatesByBin
    target: Target = "window"
    label_purity_evidence: None = None

    @property
    def is_fair(self) -> bool:
        """As the audit was told to take them."""
        return self.reading.is_fair

    @property
    def has_reviews(self) -> bool:
        """Whether it is not an audit."""
        return self.reading.kind == "reviews"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Of the reading."""
        return self.reading.findings

    @property
    def edges(self) -> tuple[float, ...]:
        """Those of the score bins."""
        return tuple(self.reading.posterior.bins.edges.tolist())

    def estimates_and_curves(
        self, threshold: float, top_k: float, beta_metric: ThresholdMetric, *, curves: bool
    ) -> EstimatesAndCurves:
        """Those of the reading in the places of the problem's."""
        estimates, _ = estimates_and_curves(
            self.problem, threshold, top_k, beta_metric, curves=False
        )
        ranked = widest(
            [
                audited_estimates(self.problem, posterior, threshold=threshold, top_k=top_k)
                for posterior in self.reading.posteriors
            ]
        )
        method = self.reading.method
        return (
            audited(estimates, self.reading)
            | {name: replace(estimate, method=method) for name, estimate in ranked.items()},
            self.curves(threshold=threshold, metrics=curve_metrics(beta_metric)) if curves else {},
        )

    def curves(self, *, threshold: float, metrics: tuple[ThresholdMetric, ...]) -> dict[str, Curve]:
        """By the draws of the reading."""
        return audited_curves(
            self.problem, self.reading.posterior, threshold=threshold, metrics=metrics
        )

    def class_prior(self, share: Estimate) -> ClassPriorEstimate:
        """That of the reading."""
        return self.reading.class_prior

    def at_priors(self, *_: Any, **__: Any) -> None:
        """None: the reading says what the class prior is."""

    def assumption(self, *_: Any) -> None:
        """None: how labels came about is known."""


def positive_evidence(
    table: ScoreTable,
    *,
    threshold: float,
    class_prior: GivenOrEstimated,
    label_frequency: LabelFrequency | None = None,
    scenario: Scenario,
    label_purity: LabelPurity,
    target: Target,
    confidence_level: float,
    f_beta: float = 2.0,
    correct_prior_bias: bool = False,
    label_origin: LabelOrigin | None,
    auxiliary: ScoreTable | None = None,
    audit: Audit | EstimatesByBin | None,
    rng: int | np.random.Generator | None,
) -> PositiveEvidence:
    """What tells the positives of a table, by what was given.

    Parameters
    ----------
    table : ScoreTable
    threshold, class_prior, label_frequency, scenario, label_purity, target, confidence_level
        As in `pumonitor.evaluate_table`.
    f_beta, correct_prior_bias, label_origin, auxiliary, audit, rng
        As in `pumonitor.evaluate_table`.

    Raises
    ------
    ValueError
        If a setting is out of range, or was given beside one that says the same.
    InputError
        If a queue chose the labels and nothing says how, or the audit is not of these rows.
    """
    check_settings(
        scenario=scenario,
        target=target,
        label_purity=1.0 if label_purity == "auto" else label_purity,
        confidence_level=confidence_level,
    )
    reading = read_given_audit(
        audit,
        table,
        threshold=threshold,
        class_prior=class_prior,
        label_frequency=(
            None if label_frequency is None else read_label_frequency(label_frequency)[1:]
        ),
        scenario=scenario,
        label_purity=label_purity,
        auxiliary=auxiliary,
        confidence_level=confidence_level,
        f_beta=f_beta,
    )
    if reading is None:
        refuse_labels_of_a_queue(
            label_origin,
            found_above=_labeled_above(table, threshold),
            propensities=table.has_propensities,
        )
    prior, purity, mistaken = assumed_of(
        table,
        class_prior=class_prior if reading is None else reading.class_prior,
        label_frequency=label_frequency if reading is None else None,
        label_purity=label_purity,
        scenario=scenario,
        target=target,
        confidence_level=confidence_level,
        rng=rng,
        auxiliary=auxiliary,
    )
    problem = make_problem(
        table,
        prior,
        scenario=scenario,
        label_purity=purity,
        target=target,
        confidence_level=confidence_level,
        correct_prior_bias=correct_prior_bias,
        rng=rng,
    )
    if reading is not None:
        return PositivesByScore(problem=problem, reading=reading)
    return FairLabels(
        problem=problem,
        prior=prior,
        label_purity_evidence=mistaken.to_dict(),
        origin=label_origin,
    )


def _labeled_above(table: ScoreTable, threshold: float) -> float:
    """Share of the confirmed positives at or above a threshold."""
    above = table.labeled[table.index_of_threshold(threshold) :].sum()
    return float(above / max(table.labeled.sum(), 1))
