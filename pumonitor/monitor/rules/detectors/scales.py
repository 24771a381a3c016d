"""The scale on which a metric is judged, and steadier standard errors for it."""

from __future__ import annotations

import math
from collections.abc import Set
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["Scale", "check_scale", "from_scale", "on_scale", "scale_of", "steadied", "usual_error"]

FloatArray = NDArray[np.float64]

Scale = Literal["log", "logit", "plain"]

_ON_LOG: Final[Set[str]] = frozenset({"labeled_positives", "predictions"})
_ON_LOGIT: Final[Set[str]] = frozenset(
    {"class_prior", "unlabeled_prior", "predicted_positive_rate"}
)
_HALF: Final = 0.5
"""Added to a count before its logarithm is taken, which 0 has then too."""


def scale_of(metric: str) -> Scale:
    """The scale on which errors of a metric are nearly normal.

    Notes
    -----
    `python -m benchmarks.detection --only scales` has false alarms per year where one is asked for.
    Class priors are skewed to the right, with errors that grow with them: on their own scale they
    have 1.1 upwards and .7 downwards, on the logit scale .8 and 1.0. Means of placements (AUL, AUC,
    recall) are skewed to the left, but so far into the range that the delta method's errors move
    against them on the logit scale: recall has .6 on its own scale and .4 there, AUC no fewer.

    Counts, and the share of rows above the threshold, vary by factors: days, weekdays and seasons
    multiply them. `--only counts` has false alarms and delays of counts. On their own scale many
    alarms upwards are false, and half of the positives gone is missed in three of ten streams in
    which days follow each other; on the log scale it is seen in seven of eight.

    Examples
    --------
    >>> scale_of("class_prior"), scale_of("labeled_positives"), scale_of("auc")
    ('logit', 'log', 'plain')
    """
    if metric in _ON_LOG:
        return "log"
    return "logit" if metric in _ON_LOGIT else "plain"


def check_scale(scale: Scale) -> None:
    """Raise ValueError unless it is a scale."""
    if scale not in get_args(Scale):
        msg = f"scale must be one of {', '.join(get_args(Scale))}, got {scale!r}"
        raise ValueError(msg)


def on_scale(value: FloatArray, error: FloatArray, scale: Scale) -> tuple[FloatArray, FloatArray]:
    """Estimates and their standard errors, on another scale by the delta method.

    On the logit scale what is at 0 or 1 or beyond is held half a standard error inside. The log
    scale is for counts, whose standard error there is that of a Poisson number: what windows differ
    by beyond it is learned from them.

    Examples
    --------
    >>> value, error = on_scale(np.array([0.5, 1.0]), np.array([0.05, 0.1]), "logit")
    >>> value.round(2), error.round(2)
    (array([0.  , 2.94]), array([0.2 , 2.11]))
    >>> value, error = on_scale(np.array([0.0, 40.0]), np.zeros(2), "log")
    >>> value.round(2), error.round(2)
    (array([-0.69,  3.7 ]), array([1.41, 0.16]))
    """
    if scale == "plain":
        return value, error
    if scale == "log":
        return np.log(value + _HALF), 1 / np.sqrt(value + _HALF)
    inside = np.clip(0.5 * error, 1e-6, 0.5)
    held = np.clip(value, inside, 1 - inside)
    return special.logit(held), error / (held * (1 - held))


def from_scale(value: float, scale: Scale) -> float:
    """The metric itself."""
    if scale == "log":
        return max(math.exp(value) - _HALF, 0.0)
    return float(special.expit(value)) if scale == "logit" else value


def usual_error(errors: FloatArray, labeled: FloatArray) -> FloatArray:
    """Standard error of an estimate from one labeled row, by the windows of each series."""
    return np.asarray(np.median(errors * np.sqrt(np.maximum(labeled, 1)), axis=1))


def steadied(error: FloatArray, labeled: FloatArray, usual: FloatArray) -> FloatArray:
    """Halfway between the stated standard error and that of usual windows with as many labels.

    A sample of 20 tells its own spread badly, and one with a low value by chance often states a
    large error.
    """
    by_size = usual / np.sqrt(np.maximum(labeled, 1))
    return np.sqrt(error * by_size)
