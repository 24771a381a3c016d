"""How many more labels it takes until a gate decides."""

from __future__ import annotations

from typing import Final

import numpy as np

from pumonitor.gate.mean_evidence import MeanEvidence

_RUNS: Final = 200
_POWER: Final = 0.8
_STEPS: Final = 1.25
_MOST: Final = 1_000_000
_FEWEST: Final = 20


def labels_needed(
    evidence: MeanEvidence,
    *,
    above: float,
    error: float,
    labels: int | None = None,
    seed: int = 0,
) -> int | None:
    """Labels, all together, with which the mean is surely above a value in 4 of 5 repetitions.

    If the differences to come are like those at hand; none if their mean is not above the value,
    as more labels would then not help, or if it would take more than a million. Labels are drawn
    anew from those at hand and put through the gate itself. The mean at hand is itself uncertain,
    and so is this number.

    Parameters
    ----------
    evidence : MeanEvidence
    above : float
    error : float
    labels : int, optional
        How many there are, where several of one entity are one difference.
    seed : int
    """
    mean = evidence.mean
    if mean is None or evidence.units < _FEWEST or mean <= above:
        return None
    rng = np.random.default_rng(seed)
    number = float(evidence.units)
    while number <= _MOST:
        sums = evidence.resampled_capitals(above, labels=round(number), runs=_RUNS, rng=rng)
        if float(np.mean(sums >= -np.log(error))) >= _POWER:
            return rounded_labels(number * (labels or evidence.units) / evidence.units)
        number *= _STEPS
    return None


def rounded_labels(number: float) -> int:
    """To two digits, upwards: it is not known better."""
    step = 10 ** max(int(np.log10(number)) - 1, 0)
    return int(-(-number // step) * step)
