"""From labels and scores to a Problem, for the metric functions that take arrays."""

from __future__ import annotations

from typing import Any, Unpack

from pumonitor.metrics.problem import Problem, make_problem
from pumonitor.metrics.settings import Setting
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable

GivenPrior = float | tuple[float, float] | tuple[float, float, float] | ClassPriorEstimate
"""pi as known, (low, high), (value, low, high), or an estimate made before."""


def problem_from_arrays(
    labels: Any,
    scores: Any,
    *,
    class_prior: GivenPrior | None,
    threshold: float | None = None,
    sample_weight: Any = None,
    propensity: Any = None,
    depends_on_labels: bool = True,
    **setting: Unpack[Setting],
) -> Problem:
    """Exact table of the rows, with the settings checked.

    `class_prior` may be None only where the metric does not depend on it: labels without noise
    and the process as target.
    """
    if class_prior is None:
        if depends_on_labels and (
            setting.get("label_purity", 1.0) < 1.0 or setting.get("target", "process") == "window"
        ):
            msg = (
                "class_prior is needed here: with label_purity < 1 or target='window' this metric "
                "depends on it; pass a number, an interval or an estimate"
            )
            raise ValueError(msg)
        prior = ClassPriorEstimate(value=0.5, low=0.5, high=0.5, method="not used")
    else:
        prior = ClassPriorEstimate.given(class_prior)
    table = ScoreTable.from_arrays(
        labels,
        scores,
        thresholds=() if threshold is None else (threshold,),
        sample_weight=sample_weight,
        propensity=propensity,
        density_edges=0,
    )
    return make_problem(table, prior, **setting)
