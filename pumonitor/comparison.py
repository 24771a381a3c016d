"""compare: which of several models scored on the same rows is the better one, and how surely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pumonitor._model_columns import model_thresholds, score_columns
from pumonitor._validate import as_entities, as_labels, row_weights
from pumonitor.audit.estimates import audited
from pumonitor.comparison_result import Comparison
from pumonitor.diagnostics import diagnose
from pumonitor.diagnostics.review_cut import review_cut
from pumonitor.diagnostics.review_ruled_out import rules_out_reviews
from pumonitor.metrics.auc import auc_estimate
from pumonitor.metrics.aul import aul_estimate
from pumonitor.metrics.f_beta import F1, f_beta_metric
from pumonitor.metrics.ll_score import LL_SCORE
from pumonitor.metrics.model_pairs import ModelPairs
from pumonitor.metrics.paired import ModelOnRows, rows_as_cells
from pumonitor.metrics.precision import PRECISION
from pumonitor.metrics.predicted_positive_rate import PREDICTED_POSITIVE_RATE
from pumonitor.metrics.prior_quantities import class_prior_estimate, unlabeled_prior_estimate
from pumonitor.metrics.problem import Problem, make_problem
from pumonitor.metrics.ranking import observed_lift
from pumonitor.metrics.rates import at_threshold
from pumonitor.metrics.recall import RECALL
from pumonitor.metrics.settings import check_settings
from pumonitor.metrics.threshold_metric import ThresholdMetric
from pumonitor.metrics.uncorrected import uncorrected_ranking
from pumonitor.prior import GivenOrEstimated
from pumonitor.prior.assumed import LabelPurity, assumed_of
from pumonitor.prior.labels.label_frequency import LabelFrequency
from pumonitor.results import ClassPriorEstimate, Estimate, Finding, LabelOrigin, Scenario, Target
from pumonitor.reviews.front_door import refuse_without_reviews, reviewed_models
from pumonitor.reviews.given import Reviews
from pumonitor.sensitivity.label_preference import (
    check_label_origin,
    label_assumption,
    refuse_labels_of_a_queue,
)
from pumonitor.tables import ScoreTable

_REVIEW_ERROR: Final = 0.025
"""Chance that a review of one model's highest rows is taken for none."""
_EVERY: Final = 0.999
"""Share of the positives, as the class prior says, from which on all are confirmed."""


def compare(
    labels: Any,
    scores: Any,
    *,
    threshold: float | Mapping[str, float] = 0.5,
    class_prior: GivenOrEstimated = "auto",
    scenario: Scenario = "single-training-set",
    label_purity: LabelPurity = 1.0,
    label_frequency: LabelFrequency | None = None,
    propensity: Any = None,
    detection_rate: float = 1.0,
    min_propensity: float = 0.0,
    sample_weight: Any = None,
    entity: Any = None,
    target: Target = "process",
    confidence_level: float = 0.95,
    f_beta: float = 2.0,
    label_origin: LabelOrigin | None = None,
    reviews: Reviews | None = None,
    complaint_rate: tuple[float, float] | None = None,
    rng: int | np.random.Generator | None = None,
) -> Comparison:
    """Compare models that scored the same rows, of which only some positives are confirmed.

    Every estimate of `pumonitor.evaluate` that model selection uses, and differences between
    models with paired intervals: the models' errors come from the same labels and largely cancel,
    so a difference is known better than its two terms. It is wrong when the labeled positives are
    not a fair sample of the positives, and above all when one of the models chose which rows were
    reviewed: its own finds are then confirmed more often, which makes it look better. Where labels
    stop at a rank of a model's scores, or reviewed cases say that review went by the score, no
    verdict is given (`Comparison.chosen_by`); a choice that leaves no such trace is not seen.

    Parameters
    ----------
    labels : array-like of shape (n,)
        1 confirmed positive, 0 unlabeled, -1 confirmed negative.
    scores : mapping of str to array-like of shape (n,), or data frame
        The scores of each model, or a pandas, polars or Arrow frame with a column for each. From
        rows no model was trained on.
    threshold : float or mapping of str to float
        ``score >= threshold`` is predicted positive; one for all models, or one for each.
    class_prior : "auto", method name, float, (low, high), (value, low, high), ClassPriorEstimate
        pi, one for all models. When estimated, it is from the scores of the model with the
        highest AUL, `Comparison.prior_from`: the better the ranking, the less of the prior is
        left open. A label purity of "auto" is from the same scores.
    label_frequency : float, (low, high), (value, low, high), optional
        c, the share of the positives that is confirmed by now, in place of `class_prior`.
    scenario
        As in `pumonitor.evaluate`.
    label_purity
        As in `pumonitor.evaluate`.
    propensity, sample_weight
        As in `pumonitor.evaluate`.
    detection_rate
        As in `pumonitor.evaluate`.
    min_propensity
        As in `pumonitor.evaluate`.
    entity
        As in `pumonitor.evaluate`.
    target
        As in `pumonitor.evaluate`.
    confidence_level
        As in `pumonitor.evaluate`.
    f_beta
        As in `pumonitor.evaluate`.
    label_origin : {"queue", "complaints", "both", "random"}, optional
        As in `pumonitor.evaluate`. A verdict is given only where labels rule out that one of the
        models chose them, or where "complaints" or "random" says that none did.
    reviews : Reviews, optional
        Verdicts of a review queue, as in `pumonitor.evaluate`, in place of a class prior. A queue
        that one model's score filled is then no reason to withhold a verdict. Which score that was
        is seen where the highest rows of one of the models were reviewed; else it is told by
        ``Reviews(ranked_by=...)``, as the name of a model or the score of each row.
    complaint_rate
        As in `pumonitor.evaluate`.
    rng
        As in `pumonitor.evaluate`.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If labels, scores or weights cannot be used; the message names the model. If `label_origin`
        says that a queue chose the labels and nothing says how.
    TypeError
        If `scores` is neither a mapping nor a data frame, or a name is no text.
    ValueError
        If a setting is out of range.

    Notes
    -----
    Every estimate is the one that `evaluate` gives with the same class prior. Intervals of
    differences: paired confidence draws of the four cells of two decisions at a threshold
    (`pumonitor.metrics.paired_counts`), Student's t with the paired influence functions for AUL and
    AUC (`pumonitor.metrics.paired_ranking`). They are for two models named beforehand: among many
    equal models the one that happens to be highest looks better than it is.

    References
    ----------
    Tabatabaei, Klein, Hoogendoorn (2020), sections 5 and 6 (model selection by estimated F1).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> is_positive = rng.random(20_000) < 0.05
    >>> champion = rng.normal(2.0 * is_positive)
    >>> challenger = 0.8 * champion + 0.6 * rng.normal(2.0 * is_positive)
    >>> labels = is_positive & (rng.random(20_000) < 0.3)
    >>> found = compare(
    ...     labels,
    ...     {"champion": champion, "challenger": challenger},
    ...     threshold=2.0,
    ...     class_prior=0.05,
    ... )
    >>> found.best("aul")
    'challenger'
    >>> print(found.difference("challenger", "champion", "aul"))
    aul_difference 0.0428 (0.0334 to 0.0522)
    """
    check_label_origin(label_origin)
    if reviews is None:
        refuse_labels_of_a_queue(label_origin, propensities=propensity is not None)
    check_settings(
        scenario=scenario,
        target=target,
        label_purity=1.0 if label_purity == "auto" else label_purity,
        confidence_level=confidence_level,
    )
    metrics = (F1, LL_SCORE, PRECISION, RECALL, f_beta_metric(f_beta))
    label_values = as_labels(labels)
    columns = score_columns(labels, label_values, scores)
    thresholds = model_thresholds(threshold, columns)
    chances: dict[str, Any] = {"detection_rate": detection_rate, "min_propensity": min_propensity}
    settings: dict[str, Any] = {
        "scenario": scenario,
        "target": target,
        "confidence_level": confidence_level,
    }
    reviewed = None
    if reviews is None:
        refuse_without_reviews(complaint_rate)
        tables: Mapping[str, ScoreTable] = {
            name: ScoreTable.from_arrays(
                label_values,
                values,
                thresholds=(thresholds[name],),
                sample_weight=sample_weight,
                propensity=propensity,
                entity=entity,
                **chances,
            )
            for name, values in columns.items()
        }
    else:
        reviewed = reviewed_models(
            labels,
            columns,
            reviews=reviews,
            complaint_rate=complaint_rate,
            thresholds={name: (number,) for name, number in thresholds.items()},
            confidence_level=confidence_level,
            f_beta=f_beta,
            class_prior=class_prior,
            scenario=scenario,
            label_purity=label_purity,
            entity=entity,
            given={
                "label_frequency": label_frequency,
                "propensity": propensity,
                "sample_weight": sample_weight,
                "detection_rate": None if detection_rate == 1 else detection_rate,
                "min_propensity": min_propensity or None,
            },
        )
        tables, class_prior = reviewed.tables, reviewed.class_prior
    problems, prior_from, evidence = _problems(
        tables, class_prior, label_frequency, label_purity, rng=rng, **settings
    )
    models = {
        name: ModelOnRows.of(problem, columns[name], threshold=thresholds[name])
        for name, problem in problems.items()
    }
    first = next(iter(problems.values()))
    shared = {
        **settings,
        "label_purity": first.label_purity,
        "label_purity_evidence": evidence,
        "f_beta": f_beta,
        "label_origin": label_origin,
        **first.sample_facts(),
    }
    estimates = {
        name: _estimates(problem, thresholds[name], metrics) for name, problem in problems.items()
    }
    also = {name: _also_diagnosed(problem, thresholds[name]) for name, problem in problems.items()}
    prior = _with_shown_interval(first)
    findings: Mapping[str, tuple[Finding, ...]] = dict.fromkeys(tables, ())
    if reviewed is not None:
        readings, prior = reviewed.readings, reviewed.class_prior
        estimates, also = (
            {name: audited(of, readings[name]) for name, of in each.items()}
            for each in (estimates, also)
        )
        findings = {name: reading.findings for name, reading in readings.items()}
        shared |= {"target": "window", "label_purity_evidence": None, **reviewed.facts()}
    warnings = {
        name: (
            *findings[name],
            *diagnose(
                tables[name],
                {**also[name], **estimates[name]},
                prior,
                {"threshold": thresholds[name], **shared},
                reviewed=reviewed is not None,
            ),
        )
        for name in problems
    }
    labels_may_be_chosen = (
        reviewed is None and scenario == "single-training-set" and label_origin is None
    )
    return Comparison(
        estimates=estimates,
        class_prior=prior,
        prior_from=prior_from,
        settings={"threshold": thresholds, **shared},
        warnings=warnings,
        chosen_by=_chooser(tables, thresholds, warnings),
        possibly_chosen_by=_possible_choosers(tables, prior, label_purity=first.label_purity)
        if labels_may_be_chosen
        else (),
        pairs=ModelPairs(
            models=models,
            rows=_rows(label_values, sample_weight, propensity, chances, entity),
            threshold_metrics={metric.name: metric for metric in metrics},
        )
        if reviewed is None
        else reviewed,
        assumption=None
        if reviewed is not None
        else label_assumption({}, origin=label_origin, propensities=first.table.has_propensities),
    )


def _rows(
    labels: NDArray[np.int8],
    sample_weight: Any,
    propensity: Any,
    chances: Mapping[str, float],
    entity: Any,
) -> ScoreTable:
    """Every row as a cell, with the rows and positives that it stands for."""
    weight = represented = None
    if sample_weight is not None or propensity is not None:
        weight, represented = row_weights(labels, sample_weight, propensity, **chances)
    return rows_as_cells(
        labels,
        weight=weight,
        represented=represented,
        entity=None if entity is None else as_entities(entity, labels),
    )


def _possible_choosers(
    tables: Mapping[str, ScoreTable], class_prior: ClassPriorEstimate, *, label_purity: float
) -> tuple[str, ...]:
    """Models whose highest rows alone may have been reviewed, as far as labels tell.

    Propensities say how likely review was, and where every positive is confirmed none was missed.
    """
    first = next(iter(tables.values()))
    rows = float((first.unlabeled + first.labeled_mass + first.negative).sum())
    confirmed = label_purity * float(first.labeled_mass.sum())
    if class_prior.is_known and confirmed >= _EVERY * class_prior.value * rows:
        return ()
    return tuple(
        name
        for name, table in tables.items()
        if not table.has_propensities and not rules_out_reviews(table, error=_REVIEW_ERROR)
    )


def _problems(
    tables: Mapping[str, ScoreTable],
    class_prior: GivenOrEstimated,
    label_frequency: LabelFrequency | None,
    label_purity: LabelPurity,
    *,
    rng: int | np.random.Generator | None,
    **settings: Any,
) -> tuple[dict[str, Problem], str | None, dict[str, Any]]:
    """One problem per model, whose scores the prior is of, and the evidence of mistaken labels.

    All have the same prior, label purity and seed.
    """
    best = _best_ranking(tables, **settings)
    estimated = isinstance(class_prior, str) and class_prior != "propensity"
    source = best if label_frequency is None and estimated else None
    prior, purity, evidence = assumed_of(
        tables[best],
        class_prior=class_prior,
        label_frequency=label_frequency,
        label_purity=label_purity,
        rng=rng,
        **settings,
    )
    settings = {**settings, "label_purity": purity}
    one = make_problem(tables[best], prior, rng=rng, **settings)
    problems = {
        name: make_problem(each, prior, rng=one.seed, **settings) for name, each in tables.items()
    }
    return problems, source, evidence.to_dict()


def _chooser(
    tables: Mapping[str, ScoreTable],
    thresholds: Mapping[str, float],
    warnings: Mapping[str, Sequence[Finding]],
) -> str | None:
    """The model whose scores seem to have decided which rows were reviewed.

    Labels that stop at a rank of one model fade at those of a model like it: the one with most
    evidence. Reviewed cases of both outcomes say it of every model, most of all of the one that
    picked them.
    """
    cuts = {
        name: review_cut(tables[name], thresholds=(thresholds[name],))
        for name, found in warnings.items()
        if any(one.name == "review_cut" for one in found)
    }
    p_values = {name: cut.p_value for name, cut in cuts.items() if cut is not None}
    if p_values:
        return min(p_values, key=lambda name: p_values[name])
    return next(
        (
            name
            for name, found in warnings.items()
            if any(one.name == "unfair_labels_by_review" for one in found)
        ),
        None,
    )


def _best_ranking(tables: Mapping[str, ScoreTable], **settings: Any) -> str:
    """The model with the highest AUL; within one comparison it rises with the observed lift."""
    # The lift does not depend on the prior, so that any will do.
    unused = ClassPriorEstimate(value=1e-9, low=1e-9, high=1e-9, method="not used")
    lifts = {
        name: observed_lift(make_problem(table, unused, **settings)).value
        for name, table in tables.items()
    }
    return max(lifts, key=lambda name: lifts[name])


def _with_shown_interval(problem: Problem) -> ClassPriorEstimate:
    """The prior with the interval that goes with the target, as `evaluate` shows it."""
    share = class_prior_estimate(problem)
    return replace(problem.class_prior, low=share.low, high=share.high)


def _estimates(
    problem: Problem, threshold: float, metrics: Sequence[ThresholdMetric]
) -> dict[str, Estimate]:
    at, lift = at_threshold(problem, threshold), observed_lift(problem)
    by_name = {metric.name: metric.estimate(at) for metric in metrics}
    return {
        "f1": by_name.pop("f1"),
        "aul": aul_estimate(problem, lift),
        "auc": auc_estimate(problem, lift),
        **by_name,
    }


def _also_diagnosed(problem: Problem, threshold: float) -> dict[str, Estimate]:
    """What diagnostics read beside the estimates of a comparison."""
    found = (
        class_prior_estimate(problem),
        unlabeled_prior_estimate(problem),
        PREDICTED_POSITIVE_RATE.estimate(at_threshold(problem, threshold)),
        *uncorrected_ranking(problem),
    )
    return {estimate.name: estimate for estimate in found}
