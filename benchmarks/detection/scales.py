"""False alarms by the scale a metric is judged on: `--only scales`.

The streams of `--only false-alarms`, fewer of them, and the default detector. On the logit scale
standard errors are carried over by the delta method.
"""

from __future__ import annotations

import numpy as np

from benchmarks.detection.judging import (
    REFERENCE,
    WINDOWS_PER_YEAR,
    false_alarms,
    series_of,
    with_error,
)
from benchmarks.detection.simulated import simulate
from benchmarks.detection.tables import show
from pumonitor.monitor.rules.detectors import Direction, Scale

__all__ = ["main"]

_METRICS = ("auc", "recall", "class_prior")
_SCALES: tuple[Scale, ...] = ("plain", "logit")
_DIRECTIONS: tuple[Direction, ...] = ("down", "up")


def main(*, quick: bool) -> None:
    """Print the table."""
    streams = simulate(
        20 if quick else 150, REFERENCE + WINDOWS_PER_YEAR, rng=np.random.default_rng(12)
    )
    rows = []
    for metric in _METRICS:
        alarms = [
            with_error(false_alarms(series_of(streams, metric, scale=scale), direction=direction))
            for scale in _SCALES
            for direction in _DIRECTIONS
        ]
        rows.append([metric, *alarms])
    show(
        "False alarms per year where one is asked for (standard error)",
        ["", *(f"{scale}, {direction}" for scale in _SCALES for direction in _DIRECTIONS)],
        rows,
    )
