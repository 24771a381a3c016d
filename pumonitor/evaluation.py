"""evaluate: a table of scores in, everything that can be estimated out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor._validate import as_scores, check_same_index
from pumonitor.diagnostics import diagnose
from pumonitor.errors import InputError
from pumonitor.metrics.accuracy import ACCURACY
from pumonitor.metrics.auc import auc_estimate
from pumonitor.metrics.aul import aul_estimate
from pumonitor.metrics.average_precision import average_precision_estimate
from pumonitor.metrics.balanced_accuracy import BALANCED_ACCURACY
from pumonitor.metrics.curves import by_threshold, lift_curve, precision_recall_curve, roc_curve
from pumonitor.metrics.f_beta import F1, f_beta_metric
from pumonitor.metrics.ll_score import LL_SCORE
from pumonitor.metrics.matthews_correlation import MCC
from pumonitor.metrics.maxima import maxima
from pumonitor.metrics.precision import PRECISION
from pumonitor.metrics.predicted_positive_rate import PREDICTED_POSITIVE_RATE
from pumonitor.metrics.prior_quantities import (
    class_prior_estimate,
    label_frequency_estimate,
    unlabeled_prior_estimate,
)
from pumonitor.metrics.problem import Problem, check_settings, make_problem
from pumonitor.metrics.ranking import observed_lift
from pumonitor.metrics.rates import at_threshold
from pumonitor.metrics.recall import RECALL
from pumonitor.metrics.resampled import resample
from pumonitor.metrics.specificity import SPECIFICITY
from pumonitor.metrics.threshold_metric import ThresholdMetric
from pumonitor.metrics.top_k import top_k_estimates
from pumonitor.metrics.uncorrected import (
    UNCORRECTED_AT_THRESHOLD,
    uncorrected_at,
    uncorrected_ranking,
)
from pumonitor.prior import GivenOrEstimated, resolve_class_prior
from pumonitor.results import Curve, Estimate, Evaluation, Scenario, Target
from pumonitor.tables import ScoreTable

__all__ = ["evaluate", "evaluate_table"]

_CURVE_CELLS = 200
_HISTOGRAM_BINS = 40


def evaluate(
    labels: Any,
    scores: Any,
    *,
    threshold: float = 0.5,
    class_prior: GivenOrEstimated = "auto",
    scenario: Scenario = "single-training-set",
    label_purity: float = 1.0,
    propensity: Any = None,
    sample_weight: Any = None,
    target: Target = "process",
    confidence_level: float = 0.95,
    top_k: float = 0.1,
    f_beta: float = 2.0,
    rng: int | np.random.Generator | None = None,
) -> Evaluation:
    """Estimate how well a scored population is classified when only some positives are confirmed.

    Everything is wrong when the labeled positives are not a fair sample of the positives, given
    the propensities if there are any; `Evaluation.warnings` says what can be seen of that.

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
        uncertainty; an interval is read at `confidence_level` and carried through.
    scenario : {"single-training-set", "case-control"}
        Whether labeled and unlabeled rows together are the sample of the population (a production
        window), or the unlabeled rows alone.
    label_purity : float
        P(y = 1 given labeled); below 1 when some confirmations are mistaken.
    propensity : array-like of shape (n,), optional
        P(labeled given y = 1, x) in (0, 1], read on labeled rows.
    sample_weight : array-like of shape (n,), optional
        Rows each row stands for, > 0.
    target : {"process", "window"}
        What the intervals are for: the process these rows were drawn from, or these rows.
    confidence_level : float
        Nominal coverage of the intervals.
    top_k : float or int
        A share of the rows, or a number of rows, for precision, recall and lift at k.
    f_beta : float
        beta of `f_beta`.
    rng : int, numpy Generator or None
        Seed of the intervals' draws; None is a fixed seed.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError
        If labels, scores or weights cannot be used; the message says what, how often, where.
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
    auc 0.9230 [0.9047, 0.9388]
    """
    check_same_index(labels, scores)
    score_values = as_scores(scores)
    # The threshold is compared in the scores' own precision, as `scores >= threshold` is.
    threshold = float(score_values.dtype.type(threshold))
    table = ScoreTable.from_arrays(
        labels,
        score_values,
        thresholds=(threshold,),
        sample_weight=sample_weight,
        propensity=propensity,
    )
    return evaluate_table(
        table,
        threshold=threshold,
        class_prior=class_prior,
        scenario=scenario,
        label_purity=label_purity,
        target=target,
        confidence_level=confidence_level,
        top_k=top_k,
        f_beta=f_beta,
        rng=rng,
    )


def evaluate_table(
    table: ScoreTable,
    *,
    threshold: float = 0.5,
    class_prior: GivenOrEstimated = "auto",
    scenario: Scenario = "single-training-set",
    label_purity: float = 1.0,
    target: Target = "process",
    confidence_level: float = 0.95,
    top_k: float = 0.1,
    f_beta: float = 2.0,
    rng: int | np.random.Generator | None = None,
) -> Evaluation:
    """The same as `evaluate`, from a ScoreTable.

    Raises
    ------
    InputError
        If the threshold is inside a cell of the table, or all scores are one value.

    Examples
    --------
    >>> table = ScoreTable.from_counts([2, 10, 28], [700, 250, 50], edges=[0.0, 0.2, 0.8, 1.0])
    >>> ev = evaluate_table(table, threshold=0.8, class_prior=0.06)
    >>> print(ev["precision"])
    precision 0.5600 [0.4292, 0.7016]
    """
    if not isinstance(table, ScoreTable):
        msg = (
            f"table must be a ScoreTable, got {type(table).__name__}: make one with "
            "ScoreTable.from_counts or ScoreTable.from_arrays"
        )
        raise TypeError(msg)
    check_settings(
        scenario=scenario,
        target=target,
        label_purity=label_purity,
        confidence_level=confidence_level,
    )
    if len(table) == 1 and table.lower[0] == table.upper[0]:
        msg = (
            f"scores are all equal to {table.lower[0]:g}: a constant score ranks nothing; check "
            "that the column holds the model's score"
        )
        raise InputError(msg)
    prior = resolve_class_prior(
        class_prior,
        table,
        scenario=scenario,
        label_purity=label_purity,
        confidence_level=confidence_level,
        rng=rng,
    )
    problem = make_problem(
        table,
        prior,
        scenario=scenario,
        label_purity=label_purity,
        target=target,
        confidence_level=confidence_level,
        rng=rng,
    )
    beta_metric = f_beta_metric(f_beta)
    estimates, curves = _estimates_and_curves(problem, threshold, top_k, beta_metric)
    settings = {
        "threshold": threshold,
        "scenario": scenario,
        "target": target,
        "label_purity": label_purity,
        "confidence_level": confidence_level,
        "top_k": top_k,
        "f_beta": f_beta,
        "n_labeled": table.n_labeled,
        "n_unlabeled": table.n_unlabeled,
        "n_negative": table.n_negative,
        "effective_labeled": problem.labeled_size,
        "weighted": table.weights is not None,
        "propensities": table.has_propensities,
        "resolution": table.resolution,
    }
    share = estimates["class_prior"]
    prior = replace(prior, low=share.low, high=share.high)
    return Evaluation(
        estimates=estimates,
        class_prior=prior,
        curves=curves,
        warnings=diagnose(table, estimates, prior, settings),
        scores=_histogram(table),
        settings=settings,
    )


def _estimates_and_curves(
    problem: Problem, threshold: float, top_k: float, beta_metric: ThresholdMetric
) -> tuple[dict[str, Estimate], dict[str, Curve]]:
    at = at_threshold(problem, threshold)
    naive = uncorrected_at(problem, threshold)
    lift = observed_lift(problem)
    resampled = resample(problem, cells=_CURVE_CELLS, thresholds=(threshold,))
    threshold_metrics = (
        RECALL,
        PRECISION,
        SPECIFICITY,
        F1,
        beta_metric,
        ACCURACY,
        BALANCED_ACCURACY,
        MCC,
    )
    found = [
        class_prior_estimate(problem),
        unlabeled_prior_estimate(problem),
        label_frequency_estimate(problem),
        PREDICTED_POSITIVE_RATE.estimate(at),
        aul_estimate(problem, lift),
        auc_estimate(problem, lift),
        average_precision_estimate(problem),
        *(metric.estimate(at) for metric in (*threshold_metrics, LL_SCORE)),
        *maxima(problem, resampled),
        *top_k_estimates(problem, top_k),
        *uncorrected_ranking(problem),
        *(metric.estimate(naive, name=f"{metric.name}_pu") for metric in UNCORRECTED_AT_THRESHOLD),
    ]
    curves = {
        "roc": roc_curve(problem, resampled),
        "precision_recall": precision_recall_curve(problem, resampled),
        "lift": lift_curve(problem, resampled),
        **by_threshold(problem, resampled, (*threshold_metrics, PREDICTED_POSITIVE_RATE)),
    }
    return {estimate.name: estimate for estimate in found}, curves


def _histogram(table: ScoreTable) -> dict[str, NDArray[np.float64]]:
    """Shares of labeled and of unlabeled rows in equal bins of the score, for drawing."""
    edges = np.linspace(table.lower[0], table.upper[-1], _HISTOGRAM_BINS + 1)
    middle = 0.5 * (table.lower + table.upper)
    bins = np.clip(np.searchsorted(edges, middle, side="right") - 1, 0, _HISTOGRAM_BINS - 1)

    def share(values: NDArray[np.float64]) -> NDArray[np.float64]:
        counts = np.bincount(bins, weights=values, minlength=_HISTOGRAM_BINS)
        return np.asarray(counts / values.sum())

    return {
        "edges": edges,
        "labeled": share(table.labeled),
        "unlabeled": share(table.unlabeled),
    }
