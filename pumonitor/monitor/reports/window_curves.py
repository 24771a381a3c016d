"""Curves of a stored window and its estimates at other class priors, made when asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pumonitor.metrics.curves import ThresholdCells
from pumonitor.metrics.evaluation_bounds import bound_curves
from pumonitor.metrics.f_beta import F1
from pumonitor.metrics.precision import PRECISION
from pumonitor.metrics.prior_quantities import class_prior_estimate
from pumonitor.metrics.recall import RECALL
from pumonitor.monitor.reports.window_problem import WindowProblem
from pumonitor.results import Curve
from pumonitor.results.sensitivity import Sensitivity
from pumonitor.tables import score_shares

OVER_PRIORS: Final = ("precision", "recall", "f1", "auc")
"""Estimates that are drawn over the class prior."""

_STEPS: Final = 19
"""Of the class prior, beside those that are marked: half of a report's, in half the time."""

_BY_THRESHOLD: Final = (PRECISION, RECALL, F1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WindowCurves:
    """What is drawn of one series of a window.

    Attributes
    ----------
    curves : mapping of str to Curve
        "precision_recall", "roc" and "lift", the first two with "_bounds" unless an audit tests
        whether labels are fair, and precision, recall and F1 "_by_threshold".
    scores : mapping of str to ndarray
        Edges of 40 bins, and the shares of labeled and of unlabeled rows in them.
    sensitivities : mapping of str to Sensitivity
        Those of `OVER_PRIORS` that have a value.
    threshold : float
    cells : ThresholdCells
        Of the curves by threshold.
    """

    curves: Mapping[str, Curve]
    scores: Mapping[str, NDArray[np.float64]]
    sensitivities: Mapping[str, Sensitivity]
    threshold: float
    cells: ThresholdCells


def window_curves(found: WindowProblem) -> WindowCurves:
    """Compute them by the functions that evaluated the window, and nothing beside them.

    Examples
    --------
    >>> from pumonitor.metrics.problem import make_problem
    >>> from pumonitor.positive_evidence import FairLabels
    >>> from pumonitor.results import ClassPriorEstimate
    >>> from pumonitor.tables import ScoreTable
    >>> table = ScoreTable.from_counts([2, 10, 28], [700, 250, 50], edges=[0.0, 0.2, 0.8, 1.0])
    >>> prior = ClassPriorEstimate.given((0.05, 0.07))
    >>> labels = FairLabels(problem=make_problem(table, prior), prior=prior)
    >>> drawn = window_curves(WindowProblem(evidence=labels, threshold=0.8, top_k=0.1, f_beta=2.0))
    >>> sorted(drawn.curves)[:3]
    ['f1_by_threshold', 'lift', 'precision_by_threshold']
    """
    evidence, threshold = found.evidence, found.threshold
    curves = evidence.curves(threshold=threshold, metrics=_BY_THRESHOLD)
    prior = evidence.class_prior(class_prior_estimate(found.problem))
    bounds = bound_curves(found.problem, prior, curves=curves, band="exact", fair=evidence.is_fair)
    at_priors = evidence.at_priors(
        prior, threshold=threshold, top_k=found.top_k, f_beta=found.f_beta
    )
    # An audit says what the class prior is.
    swept = (
        {}
        if at_priors is None
        else {name: at_priors(name, None, steps=_STEPS) for name in OVER_PRIORS}
    )
    return WindowCurves(
        curves={**curves, **bounds},
        scores=score_shares(found.problem.table),
        sensitivities={name: one for name, one in swept.items() if one.undefined_reason is None},
        threshold=threshold,
        cells=found.threshold_cells(),
    )
