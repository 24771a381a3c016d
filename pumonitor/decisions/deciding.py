"""decide: where to put the threshold, what it brings, and which review would tell more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pumonitor._validate import as_number, as_scores
from pumonitor.audit.estimates import EstimatesByBin
from pumonitor.audit.evaluated import audited_table, read_given_audit
from pumonitor.audit.verdicts import Audit
from pumonitor.decisions.audited import AuditedOutcomes
from pumonitor.decisions.best_threshold import at_choice, best_threshold
from pumonitor.decisions.decision import Decision, Outcome
from pumonitor.decisions.impossible import prior_doubt, reasons_at
from pumonitor.decisions.outcomes import outcome_metrics
from pumonitor.decisions.thresholds import threshold_of_capacity
from pumonitor.metrics.curves import by_threshold
from pumonitor.metrics.evaluation_estimates import CURVE_CELLS
from pumonitor.metrics.prior_quantities import label_frequency_estimate
from pumonitor.metrics.problem import Problem, make_problem
from pumonitor.metrics.rates import AtThreshold, at_threshold
from pumonitor.metrics.resampled import resample
from pumonitor.metrics.settings import check_settings
from pumonitor.prior.assumed import LabelPurity, assumed_of
from pumonitor.prior.given import GivenOrEstimated
from pumonitor.results import LabelOrigin, Scenario, Target
from pumonitor.reviews.front_door import refuse_without_reviews, reviewed_rows
from pumonitor.reviews.given import Reviews
from pumonitor.sensitivity.label_preference import (
    check_label_origin,
    displayed_values,
    label_assumption,
    refuse_labels_of_a_queue,
)
from pumonitor.tables import ScoreTable

__all__ = ["decide", "decide_table", "decision_of"]


def decide(
    labels: Any,
    scores: Any,
    *,
    threshold: float = 0.5,
    other_threshold: float | None = None,
    capacity: float | None = None,
    value: float | None = None,
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
    value : float, optional
        What a positive that is caught is worth, in any unit.
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
    reading: Audit | EstimatesByBin | None = audit
    if reviews is not None:
        table, reading = reviewed_rows(
            labels,
            as_scores(scores),
            reviews=reviews,
            complaint_rate=complaint_rate,
            thresholds=wanted,
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
    return decide_table(
        table,
        threshold=threshold,
        other_threshold=other_threshold,
        capacity=capacity,
        value=value,
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
        scenario=scenario,
        label_purity=label_purity,
        confidence_level=confidence_level,
    )
    if reading is None:
        refuse_labels_of_a_queue(label_origin, propensities=table.has_propensities)
    prior, purity, _ = assumed_of(
        table,
        class_prior=class_prior if reading is None else reading.class_prior,
        label_frequency=None,
        label_purity=label_purity,
        scenario=scenario,
        target=target,
        confidence_level=confidence_level,
        rng=rng,
    )
    problem = make_problem(
        table,
        prior,
        scenario=scenario,
        label_purity=purity,
        target=target,
        confidence_level=confidence_level,
        rng=rng,
    )
    if capacity is not None:
        if other_threshold is not None:
            msg = "give other_threshold or capacity, not both: each follows from the other"
            raise ValueError(msg)
        other_threshold = threshold_of_capacity(problem, capacity)
    found = decision_of(
        problem,
        threshold,
        other_threshold=other_threshold,
        value=value,
        cost=cost,
        doubt=None if reading is not None else prior_doubt(problem, threshold),
        audit=reading,
    )
    if reading is not None:
        return found
    assumed_of_labels = label_assumption(
        displayed_values(
            {**found.now.estimates, "label_frequency": label_frequency_estimate(problem)}
        ),
        origin=label_origin,
        propensities=table.has_propensities,
    )
    return replace(found, assumption=assumed_of_labels)


def decision_of(
    problem: Problem,
    threshold: float,
    *,
    other_threshold: float | None = None,
    value: float | None = None,
    cost: float | None = None,
    doubt: str | None = None,
    audit: EstimatesByBin | None = None,
) -> Decision:
    """The same as `decide`, where table and class prior are prepared.

    Parameters
    ----------
    problem : Problem
    threshold, other_threshold, value, cost
        As in `decide`.
    doubt : str or None
        As `pumonitor.decisions.impossible.prior_doubt` answers; of no meaning with an audit, which
        finds no impossible number.
    audit : EstimatesByBin, optional
        What an audit says of the rows of the problem at this threshold.
    """
    cases = float(problem.population.sum())
    metrics = outcome_metrics(cases, value=value, cost=cost)
    also = [one for one in (threshold, other_threshold) if one is not None]
    if audit is not None:
        drawn = AuditedOutcomes.of(problem, audit, threshold=threshold, metrics=metrics)
        choice = drawn.best("money" if "money" in metrics else "f1", also=also)
        return Decision(
            cases=cases,
            now=drawn.outcome(threshold),
            chosen=None if other_threshold is None else drawn.outcome(other_threshold),
            best=drawn.outcome(choice.threshold),
            choice=choice,
            curves=drawn.curves(),
            problem=problem,
            doubt=None,
            audit=audit,
        )
    resampled = resample(problem, cells=CURVE_CELLS, thresholds=(threshold,))
    choice = best_threshold(problem, resampled, metrics.get("money", metrics["f1"]), also=also)

    def outcome(threshold: float, at: AtThreshold) -> Outcome:
        estimates = {name: metric.estimate(at) for name, metric in metrics.items()}
        reasons = reasons_at(at, estimates, cases=cases, doubt=doubt)
        return Outcome(threshold=threshold, estimates=estimates, reasons=reasons)

    return Decision(
        cases=cases,
        now=outcome(threshold, at_threshold(problem, threshold)),
        chosen=None
        if other_threshold is None
        else outcome(other_threshold, at_threshold(problem, other_threshold)),
        best=outcome(choice.threshold, at_choice(problem, choice.threshold)),
        choice=choice,
        curves=by_threshold(problem, resampled, tuple(metrics.values())),
        problem=problem,
        doubt=doubt,
    )
