"""What a window says: every hypothesis about it weighed in every point of the grid, then as one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, get_args

import numpy as np
from numpy.typing import NDArray

from pumonitor.prior.over_time.changes import CHANGES, Scores
from pumonitor.prior.over_time.conditionals import MOMENTS_OF_PLACES, Frequency, Places
from pumonitor.prior.over_time.window_summary import WindowSummary

__all__ = ["KINDS", "Posterior", "Scales", "updated"]

FloatArray = NDArray[np.float64]

_FREQUENCY_JUMP: Final = 0.7
_POSITIVES_JUMP: Final = 0.6
_NEGATIVES_JUMP: Final = 1.2
_FAR: Final = 0.35

_SCORES: Final[tuple[Scores, ...]] = get_args(Scores)
_PRIOR: Final = np.array([int(one.prior) for one in CHANGES])
_FREQUENCY: Final = np.array([int(one.frequency) for one in CHANGES])
_PLACES: Final = np.array([_SCORES.index(one.scores) for one in CHANGES])
_LOG_PROBABILITY: Final = np.log([one.probability for one in CHANGES])
KINDS: Final = 4
"""Of pasts that are kept apart in each point: all settled; where rows score has jumped of late; the
label frequency has; both have."""
_SETTLED: Final = 0
_SETTLES: Final = math.log(0.01)
_NONE: Final = 1e-200


_COMBINATIONS: Final = (2, 2, len(_SCORES), KINDS)
"""Whether the class prior and the label frequency have jumped, where rows score, the past."""


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
    log_weight : ndarray of shape (KINDS, levels, moves)
        Adding up to 1.
    frequency, places
        Of the same shape.
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
    log_weight : ndarray of shape (2, KINDS, levels, moves)
        Before the window, the class prior having drifted, and having jumped.
    frequency, places
        Of the same shape.
    window : WindowSummary
    class_prior : ndarray of shape (levels, moves)
    scales : Scales

    Notes
    -----
    What has just jumped is kept apart from what has not: as one gamma and one normal both would
    fit the next windows less well than either, and less well than a class prior that has jumped,
    which the grid holds apart. Where hardly anything is left of the settled past, the likeliest
    other is settled.
    """
    counted, frequency = _counted(frequency, window, class_prior, scales)
    placed, of_places = _placed(places, window, class_prior, scales)
    grid = class_prior.shape
    logs = (
        _LOG_PROBABILITY[:, np.newaxis, np.newaxis, np.newaxis]
        + log_weight[_PRIOR]
        + counted[_FREQUENCY, _PRIOR]
        + placed[_PRIOR, _PLACES]
    )
    top = logs.max(axis=(0, 1))
    shares = np.exp(logs - top).reshape(len(CHANGES), KINDS, -1)
    in_point = shares.sum(axis=(0, 1))
    whole = np.log(in_point) + top.ravel()
    evidence = log_sum(whole)
    changes = (shares * np.exp(top.ravel() - evidence)).sum(axis=(1, 2))
    combined = np.zeros((*_COMBINATIONS, in_point.size))
    combined[_PRIOR, _FREQUENCY, _PLACES] = shares / in_point
    of_kind, of_frequency, of_places = _mixed(combined, frequency.moments(), of_places)
    of_kind, moments = _settled(np.log(of_kind), np.concatenate([of_frequency, of_places]))
    moments = moments.reshape(len(moments), KINDS, *grid)
    return Posterior(
        log_weight=(whole - evidence + of_kind).reshape(KINDS, *grid),
        frequency=Frequency.of_moments(moments[:2]),
        places=Places.of_moments(moments[2:]),
        log_evidence=evidence,
        changes=changes / changes.sum(),
    )


def _mixed(
    shares: FloatArray, of_frequency: FloatArray, of_places: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Shares of the kinds in each point, and their moments, of all hypotheses together.

    Parameters
    ----------
    shares : ndarray of shape (*_COMBINATIONS, points)
    of_frequency : ndarray of shape (2, 2, 2, KINDS, levels, moves)
        Moments; the label frequency as before or jumped, the class prior as before or jumped.
    of_places : ndarray of shape (5, 2, scores, KINDS, levels, moves)

    Notes
    -----
    Sums are written out: a product of matrices of this size is spread over threads, and its last
    digits would differ with their number.
    """
    points = shares.shape[-1]
    of_frequency = of_frequency.reshape(*of_frequency.shape[:4], points).swapaxes(1, 2)
    of_places = of_places.reshape(*of_places.shape[:4], points)
    total = np.zeros((KINDS, points))
    frequency = np.zeros((len(of_frequency), KINDS, points))
    places = np.zeros((len(of_places), KINDS, points))
    for scores, jumped in ((slice(0, 1), 0), (slice(1, None), 1)):
        of_scores = shares[:, :, scores].sum(axis=2)
        in_frequency = np.einsum("cjkp,mcjkp->mjkp", of_scores, of_frequency)
        for changed in (0, 1):
            in_total = of_scores[:, changed].sum(axis=0)
            in_places = np.einsum(
                "cskp,mcskp->mkp", shares[:, changed, scores], of_places[:, :, scores]
            )
            for past in range(KINDS):
                kind = past | jumped | 2 * changed
                total[kind] += in_total[past]
                frequency[:, kind] += in_frequency[:, changed, past]
                places[:, kind] += in_places[:, past]
    total = np.maximum(total, _NONE)
    return total, frequency / total, places / total


def log_sum(logs: FloatArray) -> float:
    """Logarithm of the sum of what these are logarithms of."""
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum()))


def _settled(log_share: FloatArray, moments: FloatArray) -> tuple[FloatArray, FloatArray]:
    """With the likeliest other past in place of a settled one of which hardly anything is left."""
    likeliest = log_share.argmax(axis=0)
    points = np.arange(log_share.shape[1])
    # A kind that holds nothing takes its moments from one that does: they must be some.
    filled = moments[:, likeliest, points]
    moments = np.where(log_share > math.log(_NONE) + 1, moments, filled[:, np.newaxis])
    settles = np.flatnonzero(log_share[_SETTLED] < _SETTLES)
    other = likeliest[settles]
    settled = other != _SETTLED
    settles, other = settles[settled], other[settled]
    # The two change places.
    log_share[_SETTLED, settles], log_share[other, settles] = (
        log_share[other, settles],
        log_share[_SETTLED, settles],
    )
    moments[:, _SETTLED, settles], moments[:, other, settles] = (
        moments[:, other, settles],
        moments[:, _SETTLED, settles],
    )
    return log_share, moments


def _counted(
    frequency: Frequency, window: WindowSummary, class_prior: FloatArray, scales: Scales
) -> tuple[FloatArray, Frequency]:
    """For the label frequency as before, and jumped: along a new first axis."""
    jumped = frequency.jumped(_FREQUENCY_JUMP)
    return Frequency(
        mean=np.stack([frequency.mean, jumped.mean]),
        relative=np.stack([frequency.relative, jumped.relative]),
    ).after(
        window.confirmed,
        window.rows * window.arrived * class_prior,
        spread=scales.spread + window.arrived_variance,
    )


def _placed(
    places: Places, window: WindowSummary, class_prior: FloatArray, scales: Scales
) -> tuple[FloatArray, FloatArray]:
    """Log densities and moments for each of `_SCORES`, along a new axis before the past's."""
    shape = (len(places.one), len(_SCORES), *places.one.shape[1:])
    placed, moments = np.zeros(shape), np.empty((MOMENTS_OF_PLACES, *shape))
    if not window.has_index:
        # A change of where rows score is looked for in the first window that shows it.
        moments[:] = places.moments()[:, :, np.newaxis]
        return placed, moments
    # What confirmed rows tell of positives is the same however far negatives have moved.
    as_before = _told_by_confirmed(places, window)
    jumped = _told_by_confirmed(
        places.wider((_POSITIVES_JUMP * scales.positives) ** 2, 0.0), window
    )
    for place, scores in enumerate(_SCORES):
        of_positives, beside = jumped if scores.startswith("ranking") else as_before
        of_all, beside = beside.wider(0.0, _far(scores, scales) ** 2).after_all(
            window.all_mean, window.all_variance, share=class_prior
        )
        placed[:, place] = of_positives + of_all
        moments[:, :, place] = beside.moments()
    return placed, moments


def _told_by_confirmed(places: Places, window: WindowSummary) -> tuple[FloatArray | float, Places]:
    if math.isnan(window.confirmed_mean):
        return 0.0, places
    return places.after_positives(window.confirmed_mean, window.confirmed_variance)


def _far(scores: Scores, scales: Scales) -> float:
    """How far negatives may have moved."""
    if scores == "as before":
        return 0.0
    if scores.endswith("far"):
        return _FAR * scales.positives
    return _NEGATIVES_JUMP * scales.negatives
