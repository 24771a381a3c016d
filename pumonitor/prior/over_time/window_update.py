"""What a window says: every hypothesis about it weighed in every point of the grid, then as one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor.prior.over_time.changes import CHANGES, Scores
from pumonitor.prior.over_time.conditionals import Frequency, Places
from pumonitor.prior.over_time.window_summary import WindowSummary

__all__ = ["Posterior", "Scales", "updated"]

FloatArray = NDArray[np.float64]

_FREQUENCY_JUMP: Final = 0.7
_POSITIVES_JUMP: Final = 0.6
_NEGATIVES_JUMP: Final = 1.2

_SCORES: Final[tuple[Scores, ...]] = get_args(Scores)
_PRIOR: Final = np.array([int(one.prior) for one in CHANGES])
_FREQUENCY: Final = np.array([int(one.frequency) for one in CHANGES])
_PLACES: Final = np.array([_SCORES.index(one.scores) for one in CHANGES])
_LOG_PROBABILITY: Final = np.log([one.probability for one in CHANGES])
# Which hypotheses share a label frequency, and which share places.
_OF_FREQUENCY: Final = np.equal.outer(np.arange(4), 2 * _PRIOR + _FREQUENCY).astype(np.float64)
_OF_PLACES: Final = np.equal.outer(
    np.arange(2 * len(_SCORES)), len(_SCORES) * _PRIOR + _PLACES
).astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scales:
    """What the reference shows, whatever its class prior: how far things may move, and from where.

    Attributes
    ----------
    positives, positives_error : float
        Mean index of confirmed rows, and its standard error.
    all_rows, all_rows_error : float
        The same of all rows.
    negatives : float
        A typical positive's part in the mean of all rows.
    confirmed_share : float
        Confirmed of all rows, once all labels have arrived.
    frequency_error : float
        Standard error of its logarithm.
    spread : float
        Squared coefficient of variation of the label frequency between windows.
    """

    positives: float
    positives_error: float
    all_rows: float
    all_rows_error: float
    negatives: float
    confirmed_share: float
    frequency_error: float
    spread: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Posterior:
    """After a window.

    Attributes
    ----------
    log_weight : ndarray of shape (levels, moves)
        Adding up to 1.
    frequency : Frequency
    places : Places
    log_evidence : float
        Log density of the window.
    changes : ndarray of shape (hypotheses,)
        Chances of `CHANGES`.
    """

    log_weight: FloatArray
    frequency: Frequency
    places: Places
    log_evidence: float
    changes: FloatArray


def updated(
    log_weight: FloatArray,
    frequency: Frequency,
    places: Places,
    window: WindowSummary,
    *,
    class_prior: FloatArray,
    scales: Scales,
) -> Posterior:
    """With what a window shows.

    Parameters
    ----------
    log_weight : ndarray of shape (2, levels, moves)
        Before the window, the class prior having drifted, and having jumped.
    frequency, places
        Of the same shape.
    window : WindowSummary
    class_prior : ndarray of shape (levels, moves)
    scales : Scales
    """
    counted, frequency = _counted(frequency, window, class_prior, scales)
    placed, places = _placed(places, window, class_prior, scales)
    logs = (
        _LOG_PROBABILITY[:, np.newaxis, np.newaxis]
        + log_weight[_PRIOR]
        + counted[_PRIOR, _FREQUENCY]
        + placed[_PRIOR, _PLACES]
    )
    top = logs.max(axis=0)
    shares = np.exp(logs - top)
    in_point = shares.sum(axis=0)
    log_weight = np.log(in_point) + top
    evidence = float(special.logsumexp(log_weight))
    changes = shares.reshape(len(CHANGES), -1) @ np.exp(top - evidence).ravel()
    shares /= in_point
    return Posterior(
        log_weight=log_weight - evidence,
        frequency=Frequency.of_moments(_mixed(shares, _OF_FREQUENCY, frequency.moments())),
        places=Places.of_moments(_mixed(shares, _OF_PLACES, places.moments())),
        log_evidence=evidence,
        changes=changes / changes.sum(),
    )


def _counted(
    frequency: Frequency, window: WindowSummary, class_prior: FloatArray, scales: Scales
) -> tuple[FloatArray, Frequency]:
    """For the label frequency as before, and jumped: along a new second axis."""
    jumped = frequency.jumped(_FREQUENCY_JUMP)
    return Frequency(
        mean=np.stack([frequency.mean, jumped.mean], axis=1),
        relative=np.stack([frequency.relative, jumped.relative], axis=1),
    ).after(
        window.confirmed,
        window.rows * window.arrived * class_prior,
        spread=scales.spread + window.arrived_variance,
    )


def _placed(
    places: Places, window: WindowSummary, class_prior: FloatArray, scales: Scales
) -> tuple[FloatArray, Places]:
    """For each of `_SCORES`, along a new second axis."""
    one, zero = np.zeros((2, len(_SCORES), 1, 1))
    # A change of where rows score is looked for in the first window that shows it.
    if window.has_index:
        for place, scores in enumerate(_SCORES):
            if scores != "as before":
                what, _, far = scores.partition(", ")
                one[place] = _POSITIVES_JUMP * scales.positives if what == "ranking" else 0.0
                zero[place] = scales.all_rows if far else _NEGATIVES_JUMP * scales.negatives
    shape = (2, len(_SCORES), *class_prior.shape)
    beside = Places(
        **{
            name: np.broadcast_to(getattr(places, name)[:, np.newaxis], shape)
            for name in Places.__dataclass_fields__
        }
    ).wider(one**2, zero**2)
    if not window.has_index:
        return np.zeros_like(beside.one_one), beside
    of_positives: FloatArray | float = 0.0
    if not math.isnan(window.confirmed_mean):
        of_positives, beside = beside.after_positives(
            window.confirmed_mean, window.confirmed_variance
        )
    of_all, beside = beside.after_all(window.all_mean, window.all_variance, share=class_prior)
    return of_positives + of_all, beside


def _mixed(shares: FloatArray, of_keys: FloatArray, moments: FloatArray) -> FloatArray:
    """Moments of shape (moments, 2, kinds, levels, moves) of all hypotheses together.

    `of_keys` tells which hypotheses have a key, the place in (2, kinds), in common.
    """
    weight = of_keys @ shares.reshape(len(shares), -1)
    mixed = (moments.reshape(len(moments), len(of_keys), -1) * weight).sum(axis=1)
    return np.asarray(mixed.reshape(len(moments), *shares.shape[1:]))
