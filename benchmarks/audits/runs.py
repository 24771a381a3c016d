"""Runs of one cell: what intervals cover, how wide they are, and what the check says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.audits.windows import METRICS, Cell, Window, audited, designed, window
from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.estimation import estimate_audit
from pumonitor.audit.frequency import UNKNOWN, FrequencyByScore

__all__ = ["Intervals", "Outcome", "intervals", "ours", "outcomes"]

FloatArray = NDArray[np.float64]
Intervals = Mapping[str, tuple[float, float]]
Method = Callable[[AuditCounts, Window, np.random.Generator], Intervals]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """One method over the runs of a cell.

    Attributes
    ----------
    covered, width : mapping of str to float
        Share of the runs whose interval holds the truth, and the median width, by metric.
    """

    covered: Mapping[str, float]
    width: Mapping[str, float]


def intervals(draws: Mapping[str, FloatArray]) -> Intervals:
    """The equal-tailed 95% intervals of draws."""
    ends = {name: np.quantile(draws[name], [0.025, 0.975]) for name in METRICS}
    return {name: (float(low), float(high)) for name, (low, high) in ends.items()}


def ours(
    believed: FrequencyByScore = UNKNOWN,
) -> Callable[[AuditCounts, Window, np.random.Generator], Intervals]:
    """The estimator of `pumonitor.audit`."""
    return lambda counts, _rows, _rng: intervals(
        estimate_audit(counts, believed=believed).metrics()
    )


def outcomes(
    cell: Cell,
    methods: Mapping[str, Method],
    *,
    runs: int,
    metrics: tuple[str, ...] = ("f1",),
    specificity: float = 1.0,
    skipped: tuple[float, float] = (0.0, 0.0),
) -> dict[str, Outcome]:
    """All methods on the same windows and audits; c is planned too high and too low in turn."""
    covered: dict[str, dict[str, list[bool]]] = {name: {} for name in methods}
    width: dict[str, dict[str, list[float]]] = {name: {} for name in methods}
    for run in range(runs):
        rng = np.random.default_rng([run, 17])
        off = cell.planned_off if run % 2 else 1 / cell.planned_off
        rows = window(cell, rng)
        design = designed(replace(cell, planned_off=off), rows, metrics)
        counts = audited(design, rows, rng, specificity=specificity, skipped=skipped)
        truth = rows.truth()
        for name, method in methods.items():
            for metric, (low, high) in method(counts, rows, rng).items():
                if metric in truth:
                    # Rounding must not put a truth that all draws have outside.
                    holds = low - 1e-12 <= truth[metric] <= high + 1e-12
                    covered[name].setdefault(metric, []).append(holds)
                    width[name].setdefault(metric, []).append(high - low)
    return {
        name: Outcome(
            covered={metric: float(np.mean(held)) for metric, held in covered[name].items()},
            width={metric: float(np.median(all_)) for metric, all_ in width[name].items()},
        )
        for name in methods
    }
