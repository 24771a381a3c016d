"""Curves of a stored window and its estimates at other class priors, made when asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pumonitor.audited_curves import audited_curves
from pumonitor.metrics.curves import (
    ThresholdCells,
    by_threshold,
    precision_recall_curve,
    roc_curve,
)
from pumonitor.metrics.evaluation_bounds import bound_curves
from pumonitor.metrics.evaluation_estimates import CURVE_CELLS
from pumonitor.metrics.f_beta import F1
from pumonitor.metrics.precision import PRECISION
from pumonitor.metrics.prior_quantities import class_prior_estimate
from pumonitor.metrics.recall import RECALL
from pumonitor.metrics.resampled import resample
from pumonitor.monitor.reports.window_problem import WindowProblem
from pumonitor.results import Curve
from pumonitor.results.sensitivity import Sensitivity
from pumonitor.sensitivity.at_priors import AtPriors
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
        "precision_recall", "roc", both with "_bounds" unless an audit tests whether labels are
        fair, and precision, recall and F1 "_by_threshold".
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
    >>> from pumonitor.results import ClassPriorEstimate
    >>> from pumonitor.tables import ScoreTable
    >>> table = ScoreTable.from_counts([2, 10, 28], [700, 250, 50], edges=[0.0, 0.2, 0.8, 1.0])
    >>> prior = ClassPriorEstimate.given((0.05, 0.07))
    >>> drawn = window_curves(WindowProblem(problem=make_problem(table, prior), class_prior=prior,
    ...                                     threshold=0.8, top_k=0.1, f_beta=2.0))
    >>> sorted(drawn.curves)[:3]
    ['f1_by_threshold', 'precision_by_threshold', 'precision_recall']
    """
    problem, threshold = found.problem, found.threshold
    cells = found.threshold_cells()
    if found.audit is not None:
        drawn = audited_curves(
            problem, found.audit.posterior, threshold=threshold, metrics=_BY_THRESHOLD
        )
        bounds = bound_curves(
            problem,
            found.class_prior,
            curves=drawn,
            band="exact",
            fair=found.audit.is_fair,
        )
        return WindowCurves(
            curves={**drawn, **bounds},
            scores=score_shares(problem.table),
            # The audit says what the class prior is.
            sensitivities={},
            threshold=threshold,
            cells=cells,
        )
    resampled = resample(problem, cells=CURVE_CELLS, thresholds=(threshold,))
    curves = {
        "precision_recall": precision_recall_curve(problem, resampled),
        "roc": roc_curve(problem, resampled),
    }
    share = class_prior_estimate(problem)
    prior = replace(found.class_prior, low=share.low, high=share.high)
    bounds = bound_curves(problem, prior, curves=curves, band="exact")
    at_priors = AtPriors.of(
        problem,
        prior,
        threshold=threshold,
        top_k=found.top_k,
        f_beta=found.f_beta,
        cells=CURVE_CELLS,
    )
    swept = {name: at_priors(name, None, steps=_STEPS) for name in OVER_PRIORS}
    return WindowCurves(
        curves={**curves, **bounds, **by_threshold(problem, resampled, _BY_THRESHOLD)},
        scores=score_shares(problem.table),
        sensitivities={name: one for name, one in swept.items() if one.undefined_reason is None},
        threshold=threshold,
        cells=cells,
    )
