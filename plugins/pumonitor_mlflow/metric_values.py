"""Estimates as MLflow metrics: names and finite numbers."""

from __future__ import annotations

from collections.abc import Mapping

from pumonitor.diagnostics.impossible_prior import doubted_estimates
from pumonitor.displayed import PREFIX, Displayed, metric_parts
from pumonitor.results import Estimate


def metric_values(estimates: Mapping[str, Estimate], *, pure: bool = True) -> dict[str, float]:
    """Metrics to log, by `pumonitor.displayed.metric_parts`.

    Parameters
    ----------
    estimates : mapping of str to Estimate
        All of one evaluation: one of them may show that the class prior of all is impossible.
    pure : bool
        Whether every confirmed positive is one (a label purity of 1).

    Examples
    --------
    >>> precision = Estimate(name="precision", value=1.04, low=0.91, high=1.2, method="draws",
    ...                      confidence_level=0.95, n_labeled=50, n_unlabeled=900)
    >>> metric_values({"precision": precision})  # doctest: +NORMALIZE_WHITESPACE
    {'pu/precision': 1.0, 'pu/precision_low': 0.91, 'pu/precision_high': 1.0,
     'pu/precision_infeasible': 1.0}
    """
    doubted = doubted_estimates(estimates, pure=pure)
    return {
        f"{PREFIX}{name}{ending}": number
        for name, estimate in estimates.items()
        for ending, number in metric_parts(Displayed.of(estimate, doubted=name in doubted))
    }
