"""False alarms of streams in which the model never changes: `--only false-alarms`.

400 streams (`benchmarks.detection.simulated`) of 365 daily windows after a reference of 60, with
detectors set to one false alarm a year; falls of AUC, AUL and recall, any change of the class
prior. An alarm that goes on is one alarm. The standard tools' rule is the mean of the reference's
windows and three of their standard deviations, each window by itself. Bets have a guarantee where
the mean does not change: AUC with the true prior, and recall; AUL follows the prior that wanders,
and AUC the errors of the pooled prior.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.detection.judging import (
    REFERENCE,
    WINDOWS_PER_YEAR,
    false_alarms,
    onsets,
    series_of,
    with_error,
)
from benchmarks.detection.simulated import METRICS, Streams, simulate
from benchmarks.detection.tables import show
from pumonitor.monitor.rules.detectors.shifts import Direction
from pumonitor.monitor.rules.detectors.watch import DETECTORS

__all__ = ["main"]

_THREE_SIGMA = "mean +- 3 sd"


def main(*, quick: bool) -> None:
    """Print the table."""
    streams = simulate(
        40 if quick else 400, REFERENCE + WINDOWS_PER_YEAR, rng=np.random.default_rng(11)
    )
    rows = []
    for name in (*DETECTORS, _THREE_SIGMA):
        row = [name]
        for metric in METRICS:
            alarms = _alarms(streams, metric, name)
            row.append("-" if alarms is None else with_error(alarms))
        rows.append(row)
    show(
        "False alarms per year where one is asked for (standard error)",
        ["", *(f"{metric}, {_direction(metric)}" for metric in METRICS)],
        rows,
    )


def _direction(metric: str) -> Direction:
    return "any" if metric == "class_prior" else "down"


def _alarms(streams: Streams, metric: str, name: str) -> NDArray[np.intp] | None:
    """Per stream; None where a detector cannot judge this metric."""
    if name == _THREE_SIGMA:
        values = streams.values[metric]
        mean = values[:, :REFERENCE].mean(axis=1, keepdims=True)
        reach = 3 * values[:, :REFERENCE].std(axis=1, ddof=1, keepdims=True)
        later = values[:, REFERENCE:]
        far = later < mean - reach
        if _direction(metric) == "any":
            far |= later > mean + reach
        return onsets(far)
    series = series_of(streams, metric, detector=name)
    if DETECTORS[name].bets and series.bounds is None:
        return None
    return false_alarms(series, direction=_direction(metric), detector=name)
