"""What a window says: every hypothesis about it weighed in every point of the grid, then as one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.prior.over_time.changes import CHANGES, Burst, Change, Scores
from pumonitor.prior.over_time.conditionals import MOMENTS_OF_PLACES, Frequency, Places
from pumonitor.prior.over_time.variation import OwnPrior
from pumonitor.prior.over_time.window_summary import WindowSummary

_FREQUENCY_JUMP: Final = 0.7
_POSITIVES_JUMP: Final = 0.6
_NEGATIVES_JUMP: Final = 1.2
_FAR: Final = 0.35
_BURST: Final = 1.0
"""Variance of the logarithm of what is off in one window alone."""

_LOG_PROBABILITY: Final = np.log([change.probability for change in CHANGES])
KINDS: Final = 4
"""Of pasts that are kept apart in each point: all settled; where rows score has jumped of late; the
label frequency has; both have."""
_SETTLED: Final = 0
_SETTLES: Final = 0.01
_NONE: Final = 1e-200
_MOST_SHARE: Final = 0.98
_FURTHEST: Final = 3.0
_LEAST_LEFT: Final = 0.05
_LEAST_BEFORE: Final = 1e-6
"""What a point must hold before a window to be looked at: what is below cannot become likely
before something else explains the window as well."""
_OF_JUMPS: Final = sum(one.probability for one in CHANGES if one.prior)
_OF_FREQUENCY: Final = 2
_OF_COUNTED: Final = 4


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
    distance : float
        What that mean rises by if twice as many rows are positive.
    confirmed_share : float
        Confirmed of all rows, once all labels have arrived.
    frequency_error : float
        Standard error of its logarithm.
    windows : int
        How many the reference has.
    """

    positives: float
    positives_error: float
    all_rows: float
    all_rows_error: float
    negatives: float
    distance: float
    confirmed_share: float
    frequency_error: float
    windows: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Own:
    """The window's own class prior over the level: its logarithm is normal in each point.

    Attributes
    ----------
    mean, variance : ndarray
    """

    mean: FloatArray
    variance: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Posterior:
    """After a window.

    Attributes
    ----------
    log_weight : ndarray of shape (KINDS, levels, moves)
        Adding up to 1.
    frequency, places, own
        Of the same shape.
    log_evidence : float
        Log density of the window.
    changes : ndarray of shape (hypotheses,)
        Chances of `CHANGES`.
    """

    log_weight: FloatArray
    frequency: Frequency
    places: Places
    own: Own
    log_evidence: float
    changes: FloatArray


class _Counted(NamedTuple):
    """By the number confirmed: its log chance, and what it tells."""

    log_chance: FloatArray
    frequency: Frequency
    own: Own
    shared: FloatArray
    """Covariance of the logarithms of the label frequency and of the window's own factor."""
    excess: FloatArray
    """The window's own class prior less the level, as expected."""
    moments: FloatArray


class _Told(NamedTuple):
    """By all of a window, under a hypothesis."""

    log_chance: FloatArray
    counted: FloatArray
    """Moments of label frequency and own class prior."""
    places: Places


def updated(
    log_weight: FloatArray,
    frequency: Frequency,
    places: Places,
    window: WindowSummary,
    *,
    expected: OwnPrior,
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
    expected : OwnPrior
        How much the window may differ by itself.
    class_prior : ndarray of shape (levels, moves)
    scales : Scales

    Notes
    -----
    The level pi lasts, and the window's own class prior is pi exp(w): the number confirmed tells of
    c and w together, the mean index of all rows of the places and w. So w is normal in each point
    and for each hypothesis. It is told first by the number confirmed (of what is confirmed too much
    a part is due to w, by the variances), then by the mean index.

    What has just jumped is kept apart from what has not: as one gamma and one normal both would
    fit the next windows less well than either, and less well than a class prior that has jumped,
    which the grid holds apart. Where hardly anything is left of the settled past, the likeliest
    other is settled.
    """
    likely = np.exp(log_weight[0]) + _OF_JUMPS * np.exp(log_weight[1])
    held = np.flatnonzero(likely > _LEAST_BEFORE)

    def of(values: FloatArray) -> FloatArray:
        return values.reshape(len(values), -1)[:, held]

    hypotheses = _Hypotheses(
        Frequency(mean=of(frequency.mean), relative=of(frequency.relative)),
        Places(
            one=of(places.one),
            zero=of(places.zero),
            one_one=of(places.one_one),
            one_zero=of(places.one_zero),
            zero_zero=of(places.zero_zero),
        ),
        window,
        expected,
        np.broadcast_to(class_prior, likely.shape).ravel()[held],
        scales,
    )
    before = of(log_weight)
    told = [hypotheses.of(change) for change in CHANGES]
    logs = np.stack(
        [
            before[int(change.prior)] + log_probability + one.log_chance
            for change, log_probability, one in zip(CHANGES, _LOG_PROBABILITY, told, strict=True)
        ]
    )
    top = float(logs.max())
    weight = np.exp(logs - top)
    changes = weight.sum(axis=1)
    whole = float(changes.sum())
    weight, mixed = _mixed(weight / whole, told, held, likely.shape)
    weight, mixed = _settled(weight, mixed)
    mixed = mixed.reshape(len(mixed), *likely.shape)
    mean, square = mixed[_OF_FREQUENCY:_OF_COUNTED]
    return Posterior(
        log_weight=np.log(np.maximum(weight, _NONE)).reshape(likely.shape),
        frequency=Frequency.of_moments(mixed[:_OF_FREQUENCY]),
        places=Places.of_moments(mixed[_OF_COUNTED:]),
        own=Own(mean=mean, variance=np.maximum(square - mean**2, 0.0)),
        log_evidence=top + math.log(whole),
        changes=changes / whole,
    )


def _mixed(
    weight: FloatArray, told: Sequence[_Told], held: NDArray[np.intp], shape: tuple[int, ...]
) -> tuple[FloatArray, FloatArray]:
    """Weights of the kinds in each point, and their moments, of all hypotheses together.

    Parameters
    ----------
    weight : ndarray of shape (hypotheses, held points)
        Adding up to 1.
    told : sequence of _Told
        Of each hypothesis.
    held : ndarray of int
        Which points of the grid these are: rising, kind by kind.
    shape : tuple of int
        Of the grid: (KINDS, levels, moves).
    """
    by_jumps: dict[int, FloatArray] = {}
    for change, share, found in zip(CHANGES, weight, told, strict=True):
        jumped = int(change.scores != "as before") | 2 * int(change.frequency)
        moments = np.empty((1 + _OF_COUNTED + MOMENTS_OF_PLACES, len(share)))
        moments[0] = share
        np.multiply(found.counted, share, out=moments[1 : 1 + _OF_COUNTED])
        found.places.moments(moments[1 + _OF_COUNTED :])
        moments[1 + _OF_COUNTED :] *= share
        if jumped in by_jumps:
            by_jumps[jumped] += moments
        else:
            by_jumps[jumped] = moments
    points = math.prod(shape[1:])
    total = np.zeros((1 + _OF_COUNTED + MOMENTS_OF_PLACES, KINDS, points))
    ends = np.searchsorted(held, points * np.arange(KINDS + 1))
    for past, (begin, end) in enumerate(pairwise(ends.tolist())):
        columns = held[begin:end] - points * past
        for jumped, moments in by_jumps.items():
            total[:, past | jumped, columns] += moments[:, begin:end]
    there = total[0] > _NONE
    sums = total[1:] / np.where(there, total[0], 1.0)
    # What holds nothing takes its moments from what does: they must be some.
    likeliest = total[0].argmax(axis=0)
    columns = np.where(there.any(axis=0), np.arange(points), total[0].max(axis=0).argmax())
    filled = sums[:, likeliest[columns], columns]
    return total[0], np.where(there, sums, filled[:, np.newaxis])


def _settled(weight: FloatArray, moments: FloatArray) -> tuple[FloatArray, FloatArray]:
    """With the likeliest other past in place of a settled one of which hardly anything is left."""
    other = weight.argmax(axis=0)
    settles = np.flatnonzero(
        (weight[_SETTLED] < _SETTLES * weight.sum(axis=0)) & (other != _SETTLED)
    )
    other = other[settles]
    # The two change places.
    weight[_SETTLED, settles], weight[other, settles] = (
        weight[other, settles],
        weight[_SETTLED, settles],
    )
    moments[:, _SETTLED, settles], moments[:, other, settles] = (
        moments[:, other, settles],
        moments[:, _SETTLED, settles],
    )
    return weight, moments


class _Hypotheses:
    """A window under each hypothesis; what several have in common is computed once."""

    def __init__(
        self,
        frequency: Frequency,
        places: Places,
        window: WindowSummary,
        expected: OwnPrior,
        class_prior: FloatArray,
        scales: Scales,
    ) -> None:
        self._frequency, self._places = frequency, places
        self._window, self._expected = window, expected
        self._class_prior, self._scales = class_prior, scales
        self._negatives = expected.negatives * scales.distance**2
        self._by_count: dict[tuple[bool, bool, Burst], _Counted] = {}
        self._by_confirmed: dict[tuple[bool, bool], tuple[FloatArray | float, Places]] = {}

    def of(self, change: Change) -> _Told:
        """Under one of them."""
        counted = self._counted(change)
        if not self._window.has_index:
            # A change of where rows score is looked for in the first window that shows it.
            places = self._places_before(int(change.prior))
            return _Told(counted.log_chance, counted.moments, places)
        of_positives, places = self._told_by_confirmed(change)
        places = places.wider(0.0, _far(change.scores, self._scales) ** 2)
        distance = places.one - places.zero
        response, unsure = self._expected.response, self._expected.response_variance
        share = self._class_prior + response * counted.excess
        slope = response * (self._class_prior + counted.excess) * distance
        to_own = slope * counted.own.variance
        of_all, after, off, total = places.after_all(
            self._window.all_mean,
            slope * to_own
            + unsure * (counted.excess * distance) ** 2
            + (self._window.all_variance + self._negatives),
            share=share,
        )
        log_chance = of_all
        log_chance += of_positives
        log_chance += counted.log_chance
        if change.scores != "as before":
            # What is off is then taken for scores that have changed.
            return _Told(log_chance, counted.moments, after)
        own = Own(
            mean=counted.own.mean + np.clip(to_own * off, -_FURTHEST, _FURTHEST),
            variance=counted.own.variance - to_own**2 / total,
        )
        to_frequency = slope * counted.shared
        left = counted.frequency.relative - to_frequency**2 / total
        frequency = Frequency(
            mean=counted.frequency.mean
            * np.exp(np.clip(to_frequency * off, -_FURTHEST, _FURTHEST)),
            relative=np.maximum(left, _LEAST_LEFT * counted.frequency.relative),
        )
        return _Told(log_chance, _moments(frequency, own), after)

    def _counted(self, change: Change) -> _Counted:
        key = prior, jumped, burst = change.prior, change.frequency, change.burst
        if key not in self._by_count:
            frequency = self._frequency
            frequency = Frequency(
                mean=frequency.mean[int(prior)], relative=frequency.relative[int(prior)]
            )
            if jumped:
                frequency = frequency.jumped(_FREQUENCY_JUMP)
            self._by_count[key] = _count(
                frequency, self._window, self._expected, burst, self._class_prior
            )
        return self._by_count[key]

    def _told_by_confirmed(self, change: Change) -> tuple[FloatArray | float, Places]:
        """What confirmed rows tell of positives is the same however far negatives have moved."""
        key = change.prior, change.scores.startswith("ranking")
        if key not in self._by_confirmed:
            places = self._places_before(int(change.prior))
            if key[1]:
                places = places.wider((_POSITIVES_JUMP * self._scales.positives) ** 2, 0.0)
            window = self._window
            self._by_confirmed[key] = (
                (0.0, places)
                if math.isnan(window.confirmed_mean)
                else places.after_positives(window.confirmed_mean, window.confirmed_variance)
            )
        return self._by_confirmed[key]

    def _places_before(self, at: int) -> Places:
        """The class prior having drifted, or having jumped."""
        places = self._places
        return Places(
            one=places.one[at],
            zero=places.zero[at],
            one_one=places.one_one[at],
            one_zero=places.one_zero[at],
            zero_zero=places.zero_zero[at],
        )


def _count(
    frequency: Frequency,
    window: WindowSummary,
    expected: OwnPrior,
    burst: Burst,
    class_prior: FloatArray,
) -> _Counted:
    """By the number confirmed: of c exp(w + v) a part is w's, by its part in the variance."""
    own = expected.variance + (_BURST if burst == "prior" else 0.0)
    beside = expected.frequency + (_BURST if burst == "frequency" else 0.0)
    factor = math.exp(expected.mean + 0.5 * expected.variance)
    spread = math.expm1(own + beside) + window.arrived_variance
    positives = window.rows * window.arrived * factor * class_prior
    log_chance, after = frequency.after(window.confirmed, positives, spread=spread)
    of_frequency = np.log1p(frequency.relative)
    in_all = own + beside + window.arrived_variance + of_frequency
    shape = 1 / (frequency.relative + spread)
    # Mean logarithms, after and before: the logarithm of a gamma's mean is higher by 1 / 2 shape.
    excess = special.digamma(shape + window.confirmed) - special.digamma(shape)
    excess -= np.log1p(positives * frequency.mean / shape)
    share, left = own / in_all, 1 / (shape + window.confirmed)
    unsure = expected.share_variance if burst == "none" else 0.0
    of_window = Own(
        mean=expected.mean + share * excess,
        variance=own * (1 - share) + share**2 * left + unsure * excess**2,
    )
    now = class_prior * np.exp(of_window.mean + 0.5 * of_window.variance)
    return _Counted(
        log_chance=log_chance,
        frequency=after,
        own=of_window,
        shared=-share * of_frequency * np.maximum(1 - left / in_all, 0.0),
        excess=np.minimum(now, _MOST_SHARE) - class_prior,
        moments=_moments(after, of_window),
    )


def _moments(frequency: Frequency, own: Own) -> FloatArray:
    """Of both, along the first axis."""
    found = np.empty((_OF_COUNTED, *frequency.mean.shape))
    found[:_OF_FREQUENCY] = frequency.moments()
    found[2] = own.mean
    found[3] = own.mean**2 + own.variance
    return found


def _far(scores: Scores, scales: Scales) -> float:
    """How far negatives may have moved."""
    if not scores.startswith(("ranking", "negatives")):
        return 0.0
    if scores.endswith("far"):
        return _FAR * scales.positives
    return _NEGATIVES_JUMP * scales.negatives
