"""What the filter of the class prior holds of changes, in simulated streams."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace

import numpy as np

from benchmarks.detection.incidents import CELLS
from pumonitor.monitor.rules.reference.what_changed import WhatChanged
from pumonitor.prior.over_time import Cells, Level, Summariser
from pumonitor.results import ClassPriorEstimate

__all__ = ["what_changed"]

_MIDDLES = (np.arange(CELLS) + 0.5) / CELLS
_ERROR = 0.15
"""Of the logarithm of the class prior that the reference is told to have."""

Counted = tuple[np.ndarray, np.ndarray]
"""Labeled and all rows of a window, by score."""


def what_changed(
    reference: Sequence[Counted], windows: Iterable[Counted], *, class_prior: float
) -> WhatChanged | None:
    """After the windows that follow a reference; None without confirmed rows in it."""
    if not sum(labeled.sum() for labeled, _ in reference):
        return None
    summariser = Summariser.learned([_cells(one) for one in reference])
    low, high = (class_prior * np.exp(sign * 1.96 * _ERROR) for sign in (-1, 1))
    followed = summariser.begun(Level.given(class_prior, low, min(high, 0.95)))
    for one in windows:
        summary, summariser = summariser.after(_cells(one))
        followed = followed.after(summary)
    told = {
        "moved": followed.moved(),
        "since_reference": {n: asdict(one) for n, one in followed.since_reference().items()},
        "explanations": [asdict(one) for one in followed.explanations()],
    }
    value = float(followed.quantiles([0.5])[0])
    return WhatChanged.of(replace(ClassPriorEstimate.given(value), diagnostics={"over_time": told}))


def _cells(counted: Counted) -> Cells:
    return Cells.of_counts(_MIDDLES, counted[0], counted[1])
