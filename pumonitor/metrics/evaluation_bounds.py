"""The bounds an evaluation carries: areas, metrics at its threshold, two curves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pumonitor.metrics import THRESHOLD_METRICS
from pumonitor.metrics.bounds import bounds_of_table
from pumonitor.metrics.contingency_bounds import ContingencyBounds
from pumonitor.metrics.problem import Problem
from pumonitor.metrics.threshold_metric import ThresholdMetric
from pumonitor.results import Bounds, ClassPriorEstimate, Curve
from pumonitor.stats.distribution_bands import Band


def evaluation_bounds(
    problem: Problem,
    class_prior: ClassPriorEstimate,
    *,
    threshold: float,
    beta_metric: ThresholdMetric,
    curves: Mapping[str, Curve],
    band: Band,
    fair: bool = True,
) -> tuple[dict[str, Bounds], dict[str, Curve]]:
    """Claesen bounds of the rows at hand by name, and the estimated curves between bounds.

    Where there are no curves, none of the latter. Nothing at all where confirmed positives are not
    taken for a fair sample of the positives (`fair`): the ranks of the others are then unknown.
    """
    if not fair:
        return {}, {}
    found = _bounds(problem, class_prior, band=band)
    by_name = [found.auc(), found.average_precision()]
    by_name += [found.at(metric, threshold) for metric in (*THRESHOLD_METRICS, beta_metric)]
    bounds = {bound.name: bound for bound in by_name}
    return bounds, _curves(found, curves) if curves else {}


def bound_curves(
    problem: Problem,
    class_prior: ClassPriorEstimate,
    *,
    curves: Mapping[str, Curve],
    band: Band,
    fair: bool = True,
) -> dict[str, Curve]:
    """The same curves between the same bounds, without the bounds of estimates."""
    if not fair:
        return {}
    return _curves(_bounds(problem, class_prior, band=band), curves)


def _bounds(problem: Problem, class_prior: ClassPriorEstimate, *, band: Band) -> ContingencyBounds:
    highest = problem.label_purity * (1 - 1e-6)
    return bounds_of_table(
        problem.table,
        replace(class_prior, high=min(class_prior.high, highest)),
        scenario=problem.scenario,
        label_purity=problem.label_purity,
        band=band,
        confidence_level=problem.confidence_level,
        rng=problem.seed,
    )


def _curves(found: ContingencyBounds, curves: Mapping[str, Curve]) -> dict[str, Curve]:
    return {
        "roc_bounds": replace(found.roc(), y=curves["roc"].y),
        "precision_recall_bounds": replace(
            found.precision_recall(), y=curves["precision_recall"].y
        ),
    }
