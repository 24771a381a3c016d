"""decide: where to put the threshold, what it brings, and which review would tell more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from pumonitor._rows import value_design_effect
from pumonitor._validate import as_labels, as_number, as_scores
from pumonitor._valued import ValuedRows
from pumonitor.audit.estimates import EstimatesByBin
from pumonitor.audit.evaluated import audited_table
from pumonitor.audit.verdicts import Audit
from pumonitor.decisions.audited import AuditedOutcomes
from pumonitor.decisions.decision import Decision
from pumonitor.decisions.fair import FairOutcomes
from pumonitor.decisions.outcomes import outcome_metrics
from pumonitor.decisions.thresholds import threshold_of_capacity
from pumonitor.decisions.valued import ValuedOutcomes
from pumonitor.metrics.prior_quantities import label_frequency_estimate
from pumonitor.positive_evidence import PositiveEvidence, positive_evidence
from pumonitor.prior.assumed import LabelPurity
from pumonitor.prior.given import GivenOrEstimated
from pumonitor.results import LabelOrigin, Scenario, Target
from pumonitor.reviews.front_door import refuse_without_reviews, reviewed_models
from pumonitor.reviews.given import Reviews
from pumonitor.sensitivity.label_preference import check_label_origin
from pumonitor.tables import ScoreTable
from pumonitor.values import as_unit, draw_values, worth_of_rows

__all__ = ["decide", "decide_table", "decision_of"]

_MODEL: Final = "scores"
"""Name of the only model."""


def decide(
    labels: Any,
    scores: Any,
    *,
    threshold: float = 0.5,
    other_threshold: float | None = None,
    capacity: float | None = None,
    value: Any = None,
    value_unit: str | None = None,
    cost: float | None = None,
    class_prior: GivenOrEstimated = "auto",
    scenario: Scenario = "single-training-set",
    label_purity: LabelPurity = 1.0,
    target: Target = "process",
    propensity: Any = None,
    sample_weight: Any = None,
    entity: Any = None,
    confidence_level: float = 0.95,
    audit: Audit | None = None,
    ids: Any = None,
    label_origin: LabelOrigin | None = None,
    reviews: Reviews | None = None,
    complaint_rate: tuple[float, float] | None = None,
    rng: int | np.random.Generator | None = None,
) -> Decision:
    """Tell what thresholds bring: precision, recall, F1, reviews, positives caught, money.

    It estimates what the process behind these rows brings in a window of as many rows. It is wrong
    where `pumonitor.evaluate` is: when confirmed positives are no fair sample of the positives, and
    when the class prior is wrong, to which positives caught and money are proportional. It takes
    the scores as they are: who is reviewed must not change who is positive. With an audit all
    numbers are by its draws and about these very rows: it allows for confirmations that follow the
    score or jump at the threshold, and is wrong where they jump elsewhere.

    Parameters
    ----------
    labels : array-like of shape (n,)
        1 confirmed positive, 0 unlabeled, -1 confirmed negative.
    scores : array-like of shape (n,)
        Any finite numbers, higher = more positive.
    threshold : float
        The present one: ``score >= threshold`` is reviewed.
    other_threshold : float, optional
        Another one to look at.
    capacity : float, optional
        In place of it: how many cases can be reviewed in a window, or below 1 which share of them.
        The lowest threshold that keeps to it in these rows is looked at.
    value : float, or array-like of shape (n,), optional
        What a positive that is caught is worth, in any unit: one number, or the value of each row,
        such as an amount. A miss then costs the value itself, and it is told as well what is
        caught and missed by value, of these very rows, as in `pumonitor.evaluate`.
    value_unit : str, optional
        What it is in, such as "EUR", for texts.
    cost : float, optional
        What a review costs, in the same unit. Without both there is no money, and the best
        threshold is that of F1.
    class_prior, scenario, label_purity, target, propensity, sample_weight, entity
        As in `pumonitor.evaluate`.
    confidence_level, rng
        As in `pumonitor.evaluate`.
    audit : Audit, optional
        As in `pumonitor.evaluate`, in place of a class prior; `threshold` must be the one that it
        was drawn for. Every other threshold can be looked at.
    ids : array-like of shape (n,), optional
        With `audit`: the id of each row, as in `pumonitor.evaluate`.
    label_origin
        As in `pumonitor.evaluate`: labels of a queue are refused unless something tells how it
        chose. `Decision.assumption` says what is taken for granted of others.
    reviews, complaint_rate
        As in `pumonitor.evaluate`, in place of a class prior.

    Returns
    -------
    Decision
        Precision is NaN with a reason where nothing is flagged.

    Raises
    ------
    InputError
        If labels, scores or weights cannot be used.
    ValueError
        If a setting is out of range, or `other_threshold` and `capacity` are both given.

    Notes
    -----
    Formulas: `pumonitor.decisions.outcomes`. Intervals are quantiles of the same confidence draws
    as those of `evaluate`, with the uncertainty of the class prior. How the best threshold is
    chosen, and its bounds: `pumonitor.decisions.best_threshold`. Reviews:
    `pumonitor.decisions.reviews`. By an audit: `pumonitor.decisions.audited`.

    References
    ----------
    Elkan (2001), The foundations of cost-sensitive learning; Romano and Wolf (2005), Stepwise
    multiple testing as formalized data snooping, section 4.

    Examples
    --------
    >>> import numpy as np, pumonitor
    >>> rng = np.random.default_rng(1)
    >>> is_positive = rng.random(20_000) < 0.05
    >>> scores = rng.normal(2.0 * is_positive)
    >>> labels = is_positive & (rng.random(20_000) < 0.3)
    >>> found = pumonitor.decide(labels, scores, threshold=2.5, capacity=0.1, value=50, cost=4,
    ...                          class_prior=(0.05, 0.04, 0.06))
    >>> round(found.chosen["reviews"].value)
    1993
    >>> found.now["money"].value < found.best["money"].value
    True
    """
    wanted = [one for one in (threshold, other_threshold) if one is not None]
    score_values = as_scores(scores)
    of_rows = value is not None and np.ndim(value) > 0
    worth = None
    if of_rows or value is None:
        worth = worth_of_rows(
            value,
            value_unit,
            rows=len(score_values),
            scenario=scenario,
            label_purity=label_purity,
            given={"propensity": propensity, "sample_weight": sample_weight, "audit": audit},
        )
    if worth is not None:
        value = None
    reading: Audit | EstimatesByBin | None = audit
    if reviews is not None:
        models = reviewed_models(
            labels,
            {_MODEL: score_values},
            reviews=reviews,
            complaint_rate=complaint_rate,
            thresholds={_MODEL: wanted},
            worth=None if worth is None else worth.values,
            confidence_level=confidence_level,
            class_prior=class_prior,
            scenario=scenario,
            label_purity=label_purity,
            entity=entity,
            given={
                "propensity": propensity,
                "sample_weight": sample_weight,
                "audit": audit,
                "ids": ids,
            },
        )
        table, reading = models.tables[_MODEL], models.readings[_MODEL]
    else:
        refuse_without_reviews(complaint_rate)
        table = audited_table(
            labels,
            scores,
            thresholds=wanted,
            audit=audit,
            ids=ids,
            propensity=propensity,
            sample_weight=sample_weight,
            entity=entity,
        )
        if worth is not None:
            known = as_labels(labels)
            effect = value_design_effect(entity, known, worth.values)
            valued = ValuedRows.of_rows(worth.values, known, score_values, design_effect=effect)
            table = replace(table, values=valued)
    return decide_table(
        table,
        threshold=threshold,
        other_threshold=other_threshold,
        capacity=capacity,
        value=value,
        value_unit=value_unit,
        cost=cost,
        class_prior=class_prior,
        scenario=scenario,
        label_purity=label_purity,
        target=target,
        confidence_level=confidence_level,
        label_origin=label_origin,
        audit=reading,
        rng=rng,
    )


def decide_table(
    table: ScoreTable,
    *,
    threshold: float = 0.5,
    other_threshold: float | None = None,
    capacity: float | None = None,
    value: float | None = None,
    value_unit: str | None = None,
    cost: float | None = None,
    class_prior: GivenOrEstimated = "auto",
    scenario: Scenario = "single-training-set",
    label_purity: LabelPurity = 1.0,
    target: Target = "process",
    confidence_level: float = 0.95,
    label_origin: LabelOrigin | None = None,
    audit: Audit | EstimatesByBin | None = None,
    rng: int | np.random.Generator | None = None,
) -> Decision:
    """The same as `decide`, from a ScoreTable.

    With `audit`, a cell of the table begins at every edge of its bins, and drawn cases count as
    unlabeled; or `audit` is what one says of these rows already.

    Raises
    ------
    InputError
        If a threshold is inside a cell of the table, or a queue chose the labels (`label_origin`)
        and nothing says how.

    Examples
    --------
    >>> table = ScoreTable.from_counts([2, 10, 28], [700, 250, 50], edges=[0.0, 0.2, 0.8, 1.0])
    >>> found = decide_table(table, threshold=0.8, value=50, cost=4, class_prior=0.06)
    >>> print(found.now["positives_caught"])
    positives_caught 43.7 (34.1 to 51.4)
    """
    threshold = as_number(threshold, name="threshold")
    check_label_origin(label_origin)
    evidence = positive_evidence(
        table,
        threshold=threshold,
        class_prior=class_prior,
        scenario=scenario,
        label_purity=label_purity,
        target=target,
        confidence_level=confidence_level,
        label_origin=label_origin,
        audit=audit,
        rng=rng,
    )
    problem = evidence.problem
    if capacity is not None:
        if other_threshold is not None:
            msg = "give other_threshold or capacity, not both: each follows from the other"
            raise ValueError(msg)
        other_threshold = threshold_of_capacity(problem, capacity)
    found = decision_of(
        evidence, threshold, other_threshold=other_threshold, value=value, cost=cost
    )
    frequency = {"label_frequency": label_frequency_estimate(problem)}
    return replace(
        found,
        value_unit=as_unit(value_unit),
        assumption=evidence.assumption({**found.now.estimates, **frequency}),
    )


def decision_of(
    evidence: PositiveEvidence,
    threshold: float,
    *,
    other_threshold: float | None = None,
    value: float | None = None,
    cost: float | None = None,
    top_k: float = 0.1,
    f_beta: float = 2.0,
) -> Decision:
    """The same as `decide`, where table and class prior are prepared.

    Parameters
    ----------
    evidence : PositiveEvidence
        Of the table, and of an audit at this threshold.
    threshold, other_threshold, value, cost
        As in `decide`.
    top_k, f_beta : float
        As in `pumonitor.evaluate`: the class prior is doubted as by that evaluation.
    """
    problem, reading = evidence.problem, evidence.reading
    cases = float(problem.population.sum())
    draws = [] if value is not None else draw_values(problem, reading, threshold=threshold)
    metrics = outcome_metrics(cases, value=value, cost=None if draws else cost)
    counted: FairOutcomes | AuditedOutcomes = (
        FairOutcomes.of(problem, threshold=threshold, metrics=metrics, top_k=top_k, f_beta=f_beta)
        if reading is None
        else AuditedOutcomes.of(problem, reading, threshold=threshold, metrics=metrics)
    )
    outcomes = (
        ValuedOutcomes.of(counted, draws, problem, threshold=threshold, cost=cost)
        if draws
        else counted
    )
    also = [one for one in (threshold, other_threshold) if one is not None]
    choice = outcomes.best("f1" if cost is None else "money", also=also)
    return Decision(
        cases=cases,
        now=outcomes.outcome(threshold),
        chosen=None if other_threshold is None else outcomes.outcome(other_threshold),
        best=outcomes.chosen(choice.threshold),
        choice=choice,
        curves=outcomes.curves(),
        problem=problem,
        doubt=outcomes.doubt,
        audit=reading,
    )
