"""The scale on which a metric is judged, and steadier standard errors for it."""

from __future__ import annotations

from collections.abc import Set
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["Scale", "check_scale", "from_scale", "on_scale", "scale_of", "steadied", "usual_error"]

FloatArray = NDArray[np.float64]

Scale = Literal["logit", "plain"]

_ON_LOGIT: Final[Set[str]] = frozenset({"class_prior", "unlabeled_prior"})


def scale_of(metric: str) -> Scale:
    """The scale on which errors of a metric are nearly normal.

    Notes
    -----
    `python -m benchmarks.detection --only scales` has false alarms per year where one is asked for.
    Class priors are skewed to the right, with errors that grow with them: on their own scale they
    have 1.1 upwards and .7 downwards, on the logit scale .8 and 1.0. Means of placements (AUL, AUC,
    recall) are skewed to the left, but so far into the range that the delta method's errors move
    against them on the logit scale: recall has .6 on its own scale and .4 there, AUC no fewer.

    Examples
    --------
    >>> scale_of("class_prior"), scale_of("auc")
    ('logit', 'plain')
    """
    return "logit" if metric in _ON_LOGIT else "plain"


def check_scale(scale: Scale) -> None:
    """Raise ValueError unless it is a scale."""
    if scale not in get_args(Scale):
        msg = f"scale must be one of {', '.join(get_args(Scale))}, got {scale!r}"
        raise ValueError(msg)


def on_scale(value: FloatArray, error: FloatArray, scale: Scale) -> tuple[FloatArray, FloatArray]:
    """Estimates and their standard errors, on the logit scale by the delta method.

    There, what is at 0 or 1 or beyond is held half a standard error inside.

    Examples
    --------
    >>> value, error = on_scale(np.array([0.5, 1.0]), np.array([0.05, 0.1]), "logit")
    >>> value.round(2), error.round(2)
    (array([0.  , 2.94]), array([0.2 , 2.11]))
    """
    if scale == "plain":
        return value, error
    inside = np.clip(0.5 * error, 1e-6, 0.5)
    held = np.clip(value, inside, 1 - inside)
    return special.logit(held), error / (held * (1 - held))


def from_scale(value: float, scale: Scale) -> float:
    """The metric itself."""
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
