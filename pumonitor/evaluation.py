"""evaluate: a table of scores in, everything that can be estimated out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pumonitor._rows import value_design_effect
from pumonitor._validate import (
    as_labels,
    as_number,
    as_scores,
    as_threshold,
    check_same_index,
    scores_by_source,
)
from pumonitor._valued import ValuedRows
from pumonitor.audit.estimates import EstimatesByBin
from pumonitor.audit.evaluated import audited_table
from pumonitor.audit.verdicts import Audit
from pumonitor.diagnostics import diagnose
from pumonitor.errors import InputError, TooFewPositivesError
from pumonitor.metrics.evaluation_bounds import evaluation_bounds
from pumonitor.metrics.f_beta import f_beta_metric
from pumonitor.positive_evidence import positive_evidence
from pumonitor.prior import GivenOrEstimated
from pumonitor.prior.assumed import LabelPurity
from pumonitor.prior.labels.label_frequency import LabelFrequency
from pumonitor.results import Evaluation, LabelOrigin, Scenario, Target
from pumonitor.reviews.front_door import refuse_without_reviews, reviewed_models
from pumonitor.reviews.given import Reviews
from pumonitor.sensitivity.label_preference import check_label_origin
from pumonitor.stats.distribution_bands import Band
from pumonitor.tables import ScoreTable, score_shares
from pumonitor.values import with_values, worth_of_rows

__all__ = ["evaluate", "evaluate_table"]

_MODEL: Final = "scores"
"""Name of the only model."""


def evaluate(
    labels: Any,
    scores: Any,
    *,
    threshold: float = 0.5,
    class_prior: GivenOrEstimated = "auto",
    label_frequency: LabelFrequency | None = None,
    scenario: Scenario = "single-training-set",
    label_purity: LabelPurity = 1.0,
    propensity: Any = None,
    detection_rate: float = 1.0,
    min_propensity: float = 0.0,
    sample_weight: Any = None,
    entity: Any = None,
    target: Target = "process",
    confidence_level: float = 0.95,
    top_k: float = 0.1,
    f_beta: float = 2.0,
    correct_prior_bias: bool = False,
    bounds_band: Band = "exact",
    calibrated_scores: bool = False,
    label_origin: LabelOrigin | None = None,
    label_source: Any = None,
    auxiliary: Any = None,
    groups: Any = None,
    audit: Audit | None = None,
    ids: Any = None,
    reviews: Reviews | None = None,
    complaint_rate: tuple[float, float] | None = None,
    value: Any = None,
    value_unit: str | None = None,
    rng: int | np.random.Generator | None = None,
) -> Evaluation:
    """Estimate how well a scored population is classified when only some positives are confirmed.

    Everything is wrong when the labeled positives are not a fair sample of the positives, given
    the propensities if there are any. `Evaluation.assumption` says how far recall and F1 would
    move, and `Evaluation.warnings` what can be seen of it.

    Parameters
    ----------
    labels : array-like of shape (n,)
        1 confirmed positive, 0 unlabeled, -1 confirmed negative. numpy, pandas, polars, Arrow.
    scores : array-like of shape (n,)
        Any finite numbers, higher = more positive; from rows the model was not trained on.
    threshold : float
        ``score >= threshold`` is predicted positive.
    class_prior : "auto", method name, float, (low, high), (value, low, high), ClassPriorEstimate
        pi, the share of positives in the population. A number is taken as known and adds no
        uncertainty; an interval is read at `confidence_level` and carried through. A prior from an
        audit mends the prior alone: labels that favour some scores make recall, AUC and precision
        wrong as before, and mostly without a warning.
    label_frequency : float, (low, high), (value, low, high), optional
        c, the share of the positives that is confirmed by now, in place of `class_prior`. With
        `audit`: what is known of it besides, (low, high).
    scenario : {"single-training-set", "case-control"}
        Whether labeled and unlabeled rows together are the sample of the population (a production
        window), or the unlabeled rows alone.
    label_purity : float or "auto"
        P(y = 1 given labeled); below 1 when some confirmations are mistaken. "auto" estimates it
        where the scores show mistaken labels (`pumonitor.prior.labels.label_noise`) and is 1
        elsewhere; intervals then take it as known.
    propensity : float or array-like of shape (n,), optional
        P(labeled given y = 1, x), in (0, 1] on labeled rows, which then stand for 1 / propensity
        positives. The probability with which each row was sent to review can be passed as it was
        logged: on other rows it may be 0 (never reviewed) or missing. Confirmed negatives stay
        single rows of the population, however they were chosen.
    detection_rate : float
        P(a reviewed positive is found), in (0, 1]: multiplies the propensities. Below 1 a review
        that found nothing is no proof: give such rows label 0, not -1.
    min_propensity : float
        Smaller propensities are raised to it, so that no row carries everything: less spread for
        some bias towards what is easily labeled. `settings` has "lifted_propensities".
    sample_weight : array-like of shape (n,), optional
        Rows each row stands for, > 0.
    entity : array-like of shape (n,), optional
        Whose row it is: the card, customer or device. One stolen card brings ten chargebacks, which
        tell less than ten of different cards: with it intervals count labels by entity, without
        it they are too narrow. A missing one is an entity of its own. Rows without a label are
        counted as independent. Not beside weights and propensities.
    target : {"process", "window"}
        What the intervals are for: the process these rows were drawn from, or these rows.
    confidence_level : float
        Nominal coverage of the intervals.
    top_k : float or int
        A share of the rows, or a number of rows, for precision, recall and lift at k.
    f_beta : float
        beta of `f_beta`.
    correct_prior_bias : bool
        Take `Estimate.prior_bias` off each value: what an uncertain class prior adds on average.
    bounds_band : {"exact", "bootstrap", "dkw", "bootstrap-simultaneous"}
        Band behind `Evaluation.bounds`; see `pumonitor.metrics.bounds`.
    calibrated_scores : bool
        Say that a score is the probability of being positive, as in P(y = 1 given score) = score;
        the confirmed positives are then checked against it.
    label_origin : {"queue", "complaints", "both", "random"}, optional
        Where confirmed positives come from: a review queue that looks at the highest scores;
        complaints that come by themselves (chargebacks, reports, diagnoses); both; or cases drawn
        by chance. Without it, and with "complaints", they are taken for a fair sample of the
        positives and `Evaluation.assumption` says so; with "random" there is nothing to say. Those
        of a queue are refused, unless `propensity`, `audit` or `reviews` tell how it chose.
    label_source : array-like of shape (n,), optional
        Where each confirmation came from, read on labeled rows; the sources are then checked
        against each other.
    auxiliary : data frame, mapping of str to array-like, or array-like of shape (n, columns)
        Features of the rows: numbers, text, true and false, gaps allowed. A class prior that is
        estimated (`class_prior`) is then read from a score of them, boosted trees of labeled
        against other rows, each row scored by a model that did not see it, and not from `scores`:
        it stays right where these rank badly, as far as the features tell positives apart. With
        fewer than 150 confirmed positives, which do not teach a score, it is read from `scores`
        and a warning says so. Needs scikit-learn (`pip install 'pumonitor[features]'`).
    groups : array-like of shape (n,), optional
        With `auxiliary`: the entity of each row (customer, device), where entities recur. Rows of
        one entity are never scored by a model that has seen another of them.
    audit : Audit, optional
        Verdicts on cases that `pumonitor.draw_audit` drew from these rows, as
        `pumonitor.read_verdicts` reads them, in place of a class prior. All estimates and curves
        but the uncorrected ones then come from verdicts and confirmations together (method "audit",
        for these very rows, whatever `target`). There are no bounds, which take the confirmed
        positives for a fair sample, unless the audit does so as well.
    ids : array-like of shape (n,), optional
        With `audit`: the id of each row. A drawn case counts by its verdict alone, whatever its
        label. Without ids the labels must be those of the draw.
    reviews : Reviews, optional
        Verdicts of a review queue, `pumonitor.Reviews`; `labels` are complaints alone then: what
        came by itself, 1 or 0. In place of a class prior: all estimates and curves but the
        uncorrected ones come from verdicts, complaints and silence together (method "reviews", for
        these very rows, whatever `target`), and there are no bounds.
    complaint_rate : (low, high), optional
        With `reviews`: the share of the positives that nobody reviewed or stopped which have
        complained by now, at `confidence_level`.
    value : array-like of shape (n,), optional
        What is at stake in each row, such as an amount: finite, at least 0. `recall_value`,
        `precision_value`, `caught_value` and `missed_value` are then estimated as well, for these
        very rows (`pumonitor.values`). They are wrong where a positive's value makes it likelier to
        be confirmed than others of its score.
    value_unit : str, optional
        What `value` is in, such as "EUR", for texts.
    rng : int, numpy Generator or None
        Seed of the intervals' draws; None is a fixed seed.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError
        If labels, scores, weights or features cannot be used; the message says what, how often,
        where.
        Also if `label_origin` says that a queue chose the labels and nothing says how.
    ValueError
        If a setting is out of range.

    Examples
    --------
    >>> import numpy as np, pumonitor
    >>> rng = np.random.default_rng(1)
    >>> is_positive = rng.random(20_000) < 0.05
    >>> scores = rng.normal(2.0 * is_positive)
    >>> labels = is_positive & (rng.random(20_000) < 0.3)      # 30% get confirmed
    >>> ev = pumonitor.evaluate(labels, scores, threshold=2.0, class_prior=0.05)
    >>> print(ev["auc"])
    auc 0.923 (0.904 to 0.939)
    """
    check_label_origin(label_origin)
    check_same_index(labels, scores)
    score_values = as_scores(scores)
    threshold = as_threshold(threshold, score_values)
    label_sources = scores_by_source(labels, score_values, label_source)
    worth = worth_of_rows(
        value,
        value_unit,
        rows=len(score_values),
        scenario=scenario,
        label_purity=label_purity,
        given={"propensity": propensity, "sample_weight": sample_weight, "audit": audit},
    )
    if reviews is not None:
        models = reviewed_models(
            labels,
            {_MODEL: score_values},
            reviews=reviews,
            complaint_rate=complaint_rate,
            thresholds={_MODEL: (threshold,)},
            confidence_level=confidence_level,
            f_beta=f_beta,
            class_prior=class_prior,
            scenario=scenario,
            label_purity=label_purity,
            entity=entity,
            worth=None if worth is None else worth.values,
            given={
                "label_frequency": label_frequency,
                "propensity": propensity,
                "sample_weight": sample_weight,
                "auxiliary": auxiliary,
                "groups": groups,
                "audit": audit,
                "ids": ids,
                "detection_rate": None if detection_rate == 1 else detection_rate,
                "min_propensity": min_propensity or None,
                "label_source": label_source,
                "calibrated_scores": calibrated_scores or None,
                "correct_prior_bias": correct_prior_bias or None,
            },
        )
        return evaluate_table(
            models.tables[_MODEL],
            threshold=threshold,
            confidence_level=confidence_level,
            top_k=top_k,
            f_beta=f_beta,
            audit=models.readings[_MODEL],
            value_unit=None if worth is None else worth.unit,
            rng=rng,
        )
    refuse_without_reviews(complaint_rate)
    weights = {
        "sample_weight": sample_weight,
        "propensity": propensity,
        "detection_rate": detection_rate,
        "min_propensity": min_propensity,
        "entity": entity,
    }
    table = audited_table(
        labels, score_values, thresholds=(threshold,), audit=audit, ids=ids, **weights
    )
    if worth is not None:
        known = as_labels(labels)
        effect = value_design_effect(entity, known, worth.values)
        valued = ValuedRows.of_rows(worth.values, known, score_values, design_effect=effect)
        table = replace(table, values=valued)
    auxiliary_table, left_out = _auxiliary_table(labels, auxiliary, groups, weights)
    return evaluate_table(
        table,
        threshold=threshold,
        class_prior=class_prior,
        label_frequency=label_frequency,
        scenario=scenario,
        label_purity=label_purity,
        target=target,
        confidence_level=confidence_level,
        top_k=top_k,
        f_beta=f_beta,
        correct_prior_bias=correct_prior_bias,
        bounds_band=bounds_band,
        calibrated_scores=calibrated_scores,
        label_origin=label_origin,
        label_sources=label_sources,
        auxiliary=auxiliary_table,
        auxiliary_left_out=left_out,
        audit=audit,
        value_unit=None if worth is None else worth.unit,
        rng=rng,
    )


def _auxiliary_table(
    labels: Any, features: Any, groups: Any, weights: Mapping[str, Any]
) -> tuple[ScoreTable | None, str | None]:
    """The rows by their auxiliary score, or why there is none though features are given."""
    if features is None:
        if groups is not None:
            msg = "groups say which rows of auxiliary are of one entity: give both, or neither"
            raise ValueError(msg)
        return None, None
    from pumonitor.prior.auxiliary import cross_fitted

    try:
        scores = cross_fitted(labels, features, groups=groups)
    except TooFewPositivesError as error:
        return None, str(error)
    return ScoreTable.from_arrays(labels, scores, **weights), None


def evaluate_table(
    table: ScoreTable,
    *,
    threshold: float = 0.5,
    class_prior: GivenOrEstimated = "auto",
    label_frequency: LabelFrequency | None = None,
    scenario: Scenario = "single-training-set",
    label_purity: LabelPurity = 1.0,
    target: Target = "process",
    confidence_level: float = 0.95,
    top_k: float = 0.1,
    f_beta: float = 2.0,
    correct_prior_bias: bool = False,
    bounds_band: Band = "exact",
    calibrated_scores: bool = False,
    label_origin: LabelOrigin | None = None,
    label_sources: Mapping[str, NDArray[np.float64]] | None = None,
    auxiliary: ScoreTable | None = None,
    auxiliary_left_out: str | None = None,
    curves: bool = True,
    audit: Audit | EstimatesByBin | None = None,
    value_unit: str | None = None,
    rng: int | np.random.Generator | None = None,
) -> Evaluation:
    """The same as `evaluate`, from a ScoreTable.

    `label_sources` holds the scores of the labeled rows by where their label came from;
    `auxiliary` is the table of the same rows' auxiliary scores, and `auxiliary_left_out` says why
    there is none although one was asked for. Without `curves` there are none, and it takes half
    the time. With `audit`, a cell of the table begins at every edge of its bins, and drawn cases
    count as unlabeled; or `audit` is what one, or reviews, say of these rows already.

    Raises
    ------
    InputError
        If the threshold is inside a cell of the table, all scores are one value, or a queue chose
        the labels (`label_origin`) and nothing says how.

    Examples
    --------
    >>> table = ScoreTable.from_counts([2, 10, 28], [700, 250, 50], edges=[0.0, 0.2, 0.8, 1.0])
    >>> ev = evaluate_table(table, threshold=0.8, class_prior=0.06)
    >>> print(ev["precision"])
    precision 0.560 (0.429 to 0.702)
    """
    _check_table(table)
    check_label_origin(label_origin)
    threshold = as_number(threshold, name="threshold")
    evidence = positive_evidence(
        table,
        threshold=threshold,
        class_prior=class_prior,
        label_frequency=label_frequency,
        scenario=scenario,
        label_purity=label_purity,
        target=target,
        confidence_level=confidence_level,
        f_beta=f_beta,
        correct_prior_bias=correct_prior_bias,
        label_origin=label_origin,
        auxiliary=auxiliary,
        audit=audit,
        rng=rng,
    )
    problem, reading = evidence.problem, evidence.reading
    told: dict[str, Any] = {} if reading is None else {reading.kind: reading}
    beta_metric = f_beta_metric(f_beta)
    estimates, drawn_curves = evidence.estimates_and_curves(
        threshold, top_k, beta_metric, curves=curves
    )
    settings = {
        "threshold": threshold,
        "scenario": scenario,
        "target": evidence.target,
        "label_purity": problem.label_purity,
        "label_purity_evidence": evidence.label_purity_evidence,
        "calibrated_scores": calibrated_scores,
        "label_origin": label_origin,
        "confidence_level": confidence_level,
        "top_k": top_k,
        "f_beta": f_beta,
        **problem.sample_facts(),
        "resolution": table.resolution,
        "auxiliary_left_out": auxiliary_left_out,
    }
    prior = evidence.class_prior(estimates["class_prior"])
    bounds, bound_curves = evaluation_bounds(
        problem,
        prior,
        threshold=threshold,
        beta_metric=beta_metric,
        curves=drawn_curves,
        band=bounds_band,
        fair=evidence.is_fair,
    )
    ev = Evaluation(
        estimates=estimates,
        class_prior=prior,
        curves={**drawn_curves, **bound_curves},
        bounds=bounds,
        warnings=(
            *evidence.findings,
            *diagnose(
                table,
                estimates,
                prior,
                settings,
                label_sources=label_sources,
                prior_table=auxiliary,
                reviewed=evidence.has_reviews,
            ),
        ),
        scores=score_shares(table),
        settings=settings,
        at_priors=evidence.at_priors(prior, threshold=threshold, top_k=top_k, f_beta=f_beta),
        **told,
        assumption=evidence.assumption(estimates),
    )
    return with_values(ev, problem, reading, unit=value_unit)


def _check_table(table: Any) -> None:
    """Refuse what is no table, and a table whose scores rank nothing."""
    if not isinstance(table, ScoreTable):
        msg = (
            f"table must be a ScoreTable, got {type(table).__name__}: make one with "
            "ScoreTable.from_counts or ScoreTable.from_arrays"
        )
        raise TypeError(msg)
    if len(table) == 1 and table.lower[0] == table.upper[0]:
        msg = (
            f"scores are all equal to {table.lower[0]:g}: a constant score ranks nothing; check "
            "that the column holds the model's score"
        )
        raise InputError(msg)
