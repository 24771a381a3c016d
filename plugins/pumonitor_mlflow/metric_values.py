"""Estimates as MLflow metrics: names and finite numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pumonitor.results import Estimate

__all__ = ["PREFIX", "metric_values"]

PREFIX = "pu/"


def metric_values(estimates: Mapping[str, Estimate]) -> dict[str, float]:
    """Metrics to log: value and interval as displayed, and a flag where that is not all.

    An undefined metric is left out, so that a threshold on it fails rather than passes, and
    ``<name>_undefined`` is 1. MLflow stores an infinite value as 1.8e308 and NaN as 0 in places:
    neither is ever handed to it. Where the whole interval is impossible there is no bound to stand
    on: ``_low`` and ``_high`` are left out too, so that a wrong class prior passes no gate.

    Examples
    --------
    >>> precision = Estimate(name="precision", value=1.04, low=0.91, high=1.2, method="draws",
    ...                      confidence_level=0.95, n_labeled=50, n_unlabeled=900)
    >>> metric_values({"precision": precision})  # doctest: +NORMALIZE_WHITESPACE
    {'pu/precision': 1.0, 'pu/precision_low': 0.91, 'pu/precision_high': 1.0,
     'pu/precision_infeasible': 1.0}
    """
    values: dict[str, float] = {}
    for name, estimate in estimates.items():
        key = PREFIX + name
        if not math.isfinite(estimate.value):
            values[f"{key}_undefined"] = 1.0
            continue
        shown = zip(("", "_low", "_high"), estimate.displayed, strict=True)
        for suffix, number in shown:
            if math.isfinite(number) and not (suffix and estimate.surely_impossible):
                values[key + suffix] = number
        if estimate.infeasible:
            values[f"{key}_infeasible"] = 1.0
    return values
