"""Stories of what changed, each a model of the new counts with one or two things set free."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from pumonitor.monitor.rules.causes.earlier import log_most_by_earlier
from pumonitor.monitor.rules.causes.period import Period
from pumonitor.monitor.rules.causes.shapes import Shapes
from pumonitor.monitor.rules.causes.variation import RowVariation, share_variation, windows_apart

__all__ = ["Fit", "Stories"]

FloatArray = NDArray[np.float64]

_DELAYS = 4
_PER_PARAMETER = 3.0
_PER_CELL = 1.0
"""Chance alone makes half of it of each cell that is set free."""
_SMALLEST_SHARE = 1e-12
_MOVED = 0.1
_MOST_VARIATIONS = 3.0
_FREE = 8.0
_STARTS = ((0.0, -1.5, -1.0, -0.5, -0.2, 0.2, 0.5, 1.0, 1.5), (0.0, -0.3, 0.3))
"""Of a story's own numbers: a shift or a tilt, and a stretch in logs."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """A story told as well as it can be.

    Attributes
    ----------
    score : float
        Log likelihood less three for each thing set free.
    parameters : ndarray
        Log ratio of the class prior and of the share of positives that are confirmed, then the
        story's own.
    covariance : ndarray
    prior_free : bool
        Whether it is about the class prior; else that differs as windows do anyway.
    """

    score: float
    parameters: FloatArray
    covariance: FloatArray
    prior_free: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Told:
    """What a story says: shares of positives, negatives and confirmed ones in coarse cells."""

    positives: FloatArray
    negatives: FloatArray
    labeled: FloatArray
    prior_ratio: float = 1.0
    everything: FloatArray | None = None
    """Shares of all rows, where they do not follow from the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Story:
    tell: Callable[[FloatArray], _Told]
    own: int = 0
    prior_free: bool = False
    share_free: bool = False
    delays_free: bool = False
    log_most_share: float = _FREE
    """A free share of the positives that is confirmed rises by no more, beside usual variation."""
    mix: float = 0.0
    cells_free: int = 0


class Stories:
    """All stories about two periods.

    The new period's rows, confirmed positives, their number and their delays are compared with
    what a story makes of the reference. What varies from window to window anyway is learned from
    the reference's windows: the likelihood is divided by how much more their counts vary than
    chance alone would make them, and by what the reference itself leaves uncertain.

    Parameters
    ----------
    before, now : Period
        On the same cells.
    class_prior : float
        Of the reference.
    """

    def __init__(self, before: Period, now: Period, *, class_prior: float) -> None:
        self._before, self._now = before, now
        labeled, rows = before.labeled.sum(axis=0), before.rows.sum(axis=0)
        self.shapes = shapes = Shapes(labeled, rows, class_prior=class_prior)
        self._rows = shapes.binned(now.rows.sum(axis=0))
        self._labeled = shapes.binned(now.labeled.sum(axis=0))
        self._share_confirmed = labeled.sum() / (class_prior * rows.sum())
        binned = np.array([shapes.binned(one) for one in before.rows])
        apart = windows_apart(before, now)
        self._usual = RowVariation.learned(binned, self._rows, apart=apart)
        self._weight_of_labeled = _weight(shapes, before.labeled, self._labeled)
        self._variation = share_variation(before, now)
        self._delays_before, self._delays_now = _delays(before.arrivals, now.arrivals)

    def fit(self) -> dict[str, Fit]:
        """Every story, by its kind: the best of its variants, and "none"."""
        shapes = self.shapes
        f1, f0 = shapes.shares(shapes.positives), shapes.shares(shapes.negatives)
        seen = shapes.shares(shapes.labeled)

        def moved(parameters: FloatArray) -> dict[str, float]:
            return {"shift": parameters[0], "log_stretch": parameters[1]}

        def same(_: FloatArray) -> _Told:
            return _Told(positives=f1, negatives=f0, labeled=seen)

        def positives_moved(own: FloatArray) -> _Told:
            there = shapes.shares(shapes.positives, **moved(own))
            labeled = shapes.shares(shapes.labeled, **moved(own))
            return _Told(positives=there, negatives=f0, labeled=labeled)

        def negatives_moved(own: FloatArray) -> _Told:
            there = shapes.shares(shapes.negatives, **moved(own))
            return _Told(positives=f1, negatives=there, labeled=seen)

        everything = self._rows / self._rows.sum()

        def others_anywhere(_: FloatArray) -> _Told:
            return _Told(positives=f1, negatives=f0, labeled=seen, everything=everything)

        def all_moved(own: FloatArray) -> _Told:
            there = shapes.shares(shapes.positives, **moved(own))
            others = shapes.shares(shapes.negatives, **moved(own))
            labeled = shapes.shares(shapes.labeled, **moved(own))
            return _Told(positives=there, negatives=others, labeled=labeled)

        def others_confirmed(own: FloatArray) -> _Told:
            return _Told(positives=f1, negatives=f0, labeled=shapes.tilted(seen, own[0]))

        told = {
            "none": [_Story(tell=same)],
            "class_prior": [_Story(tell=same, prior_free=True)],
            "confirmed_share": [self._share_changed(same)],
            "ranking": [
                _Story(tell=positives_moved, own=2),
                _Story(tell=negatives_moved, own=2),
                _Story(tell=others_anywhere, cells_free=len(self._rows)),
            ],
            "score_scale": [
                _Story(tell=all_moved, own=2),
                _Story(tell=self._mapped(), cells_free=len(self._rows)),
            ],
            "labeling": [_Story(tell=others_confirmed, own=1)],
        }
        if len(self._delays_before):
            told["label_delay"] = [self._share_changed(same, by_delays=True)]
        if self._before.traffic and self._now.traffic:
            told["traffic"] = [_Story(tell=self._traffic(), mix=1.0 - self._moved())]
        return {
            kind: max((self._fitted(one) for one in some), key=lambda fit: fit.score)
            for kind, some in told.items()
        }

    # -- likelihood -------------------------------------------------------------------------------

    def _fitted(self, story: _Story) -> Fit:
        def cost(parameters: FloatArray) -> float:
            return -self._log_likelihood(story, parameters)

        size = 2 + story.own
        # Shares of few confirmed positives have gaps and spikes, so that there are several valleys.
        starts = [np.array([0.0, 0.0, *own]) for own in product(*_STARTS[: story.own])]
        start = min(starts, key=cost)
        simplex = start + np.vstack([np.zeros(size), 0.15 * np.eye(size)])
        found = optimize.minimize(
            cost,
            start,
            method="Nelder-Mead",
            options={
                "initial_simplex": simplex,
                "maxiter": 400 * size,
                "xatol": 1e-3,
                "fatol": 1e-2,
            },
        )
        free = story.own + story.prior_free + story.share_free + story.mix
        if story.delays_free and len(self._delays_before):
            free += len(self._delays_before) - 1
        return Fit(
            score=-float(found.fun) - _PER_PARAMETER * free - _PER_CELL * story.cells_free,
            parameters=np.concatenate([self._held(story, found.x), found.x[2:]]),
            covariance=_covariance(cost, found.x),
            prior_free=story.prior_free,
        )

    def _log_likelihood(self, story: _Story, parameters: FloatArray) -> float:
        log_prior, log_share = parameters[:2]
        held_prior, held_share = self._held(story, parameters)
        told = story.tell(parameters[2:])
        prior = min(self.shapes.class_prior * told.prior_ratio * np.exp(held_prior), 0.99)
        mixed = prior * told.positives + (1 - prior) * told.negatives
        if told.everything is not None:
            mixed = told.everything
        value = self._usual.log_likelihood(self._rows, mixed)
        value += _multinomial(self._labeled, told.labeled) * self._weight_of_labeled
        number = self._labeled.sum()
        expected = self._share_confirmed * np.exp(held_share) * prior * self._rows.sum()
        poisson = special.xlogy(number, expected / max(number, 1)) - expected + number
        value += self._weight_of_labeled * float(poisson)
        if not story.prior_free:
            value -= 0.5 * (log_prior / self._variation) ** 2
        if not story.share_free:
            value -= 0.5 * (log_share / self._variation) ** 2
        beyond = max(log_share - story.log_most_share, 0.0)
        value -= 0.5 * (beyond / self._variation) ** 2
        if len(self._delays_before) and not story.delays_free:
            weight = self._weight_of_labeled
            value += _multinomial(self._delays_now, self._delays_before) * weight
        return float(value)

    def _held(self, story: _Story, parameters: FloatArray) -> FloatArray:
        """Ratios in logs, of the prior and of the share confirmed, as far as a story lets them go.

        With many rows any story fits badly somewhere, and what it does not set free would make up
        for that: positives that score like negatives became three times as many positives.
        """
        most = _MOST_VARIATIONS * self._variation
        ends = [_FREE if free else most for free in (story.prior_free, story.share_free)]
        highest = np.minimum(ends, [_FREE, story.log_most_share + most])
        return np.clip(parameters[:2], -np.array(ends), highest)

    def _share_changed(
        self, tell: Callable[[FloatArray], _Told], *, by_delays: bool = False
    ) -> _Story:
        """More of the positives, or fewer, are confirmed; by delays no more than were to come."""
        most = max(-float(np.log(self._share_confirmed)), 0.0)
        if by_delays:
            most = min(most, log_most_by_earlier(self._before.arrivals))
        return _Story(tell=tell, share_free=True, delays_free=by_delays, log_most_share=most)

    def _mapped(self) -> Callable[[FloatArray], _Told]:
        """The reference's scores put through the monotone map that makes its rows those of now.

        Any two distributions of scores have one. It moves no rank: confirmed positives are to be
        found where as many rows score lower as in the reference.
        """
        labeled = self.shapes.at_ranks(np.cumsum(self._rows) / self._rows.sum())
        told = _Told(
            positives=labeled,
            negatives=self._rows / self._rows.sum(),
            labeled=labeled,
            everything=self._rows / self._rows.sum(),
        )
        return lambda _: told

    def _moved(self) -> float:
        """How much of the traffic has moved to other parts: 1 from a tenth of it on.

        The mix is counted and not chosen by likelihood. But where it is as before, its story is
        that of no change, which it has to beat like any other.
        """
        parts = sorted({*self._before.traffic, *self._now.traffic})
        shares = []
        for traffic in (self._before.traffic, self._now.traffic):
            rows = np.array([traffic[one][1].sum() if one in traffic else 0.0 for one in parts])
            shares.append(rows / max(rows.sum(), 1))
        return min(0.5 * float(np.abs(shares[1] - shares[0]).sum()) / _MOVED, 1.0)

    def _traffic(self) -> Callable[[FloatArray], _Told]:
        """The reference with each part of the traffic as frequent as it is now."""
        shapes = self.shapes
        labeled, rows = np.zeros(self._before.rows.shape[1]), np.zeros(self._before.rows.shape[1])
        for name, (part_labeled, part_rows) in self._before.traffic.items():
            here = self._now.traffic.get(name)
            if here is not None and part_rows.sum() > 0:
                ratio = here[1].sum() / part_rows.sum()
                labeled += ratio * part_labeled
                rows += ratio * part_rows
        if labeled.sum() == 0:
            labeled, rows = self._before.labeled.sum(axis=0), self._before.rows.sum(axis=0)
        # Parts differ in how frequent positives are: labeled rows tell by how much.
        prior = min(labeled.sum() / (self._share_confirmed * rows.sum()), 0.99)
        positives = np.maximum(shapes.binned(labeled) / labeled.sum(), _SMALLEST_SHARE)
        everything = shapes.binned(rows) / rows.sum()
        negatives = np.maximum((everything - prior * positives) / (1 - prior), _SMALLEST_SHARE)
        told = _Told(
            positives=positives,
            negatives=negatives,
            labeled=positives,
            prior_ratio=prior / shapes.class_prior,
        )
        return lambda _: told


def _multinomial(counts: FloatArray, shares: FloatArray) -> float:
    """Log likelihood of counts beside that of their own shares: 0 at best."""
    total = counts.sum()
    if total == 0:
        return 0.0
    some = counts > 0
    own = counts[some] / total
    return float((counts[some] * np.log(shares[some] / shares.sum() / own)).sum())


def _weight(shapes: Shapes, windows: FloatArray, now: FloatArray) -> float:
    """What a count is worth beside one of a sample that varies by chance alone."""
    binned = np.array([shapes.binned(one) for one in windows])
    total = binned.sum()
    uncertainty = 1 + now.sum() / total
    return float(1 / (uncertainty * max(_dispersion(binned), 1.0)))


def _dispersion(binned: FloatArray) -> float:
    """Pearson's chi-square of windows against their sum, per degree of freedom."""
    sizes = binned.sum(axis=1, keepdims=True)
    used = sizes[:, 0] > 0
    binned, sizes = binned[used], sizes[used]
    shares = binned.sum(axis=0) / binned.sum()
    some = shares > 0
    freedom = (len(binned) - 1) * (int(some.sum()) - 1)
    if freedom <= 0:
        return 1.0
    expected = sizes * shares[some]
    return float(((binned[:, some] - expected) ** 2 / expected).sum() / freedom)


def _delays(before: FloatArray, now: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Delays in a few groups that were equally frequent; nothing where there are none."""
    if len(before) != len(now) or before.sum() == 0 or now.sum() == 0:
        return np.zeros(0), np.zeros(0)
    levels = np.arange(1, _DELAYS) / _DELAYS * before.sum()
    ends = np.unique(np.searchsorted(np.cumsum(before), levels))
    starts = np.concatenate([[0], ends[ends < len(before) - 1] + 1])
    shares = np.add.reduceat(before, starts) + 0.5
    return shares / shares.sum(), np.add.reduceat(now, starts)


def _covariance(cost: Callable[[FloatArray], float], at: FloatArray) -> FloatArray:
    """Inverse of the curvature, by differences wide enough for a function with small kinks."""
    size = len(at)
    step = 0.02
    steps = step * np.eye(size)
    centre = cost(at)
    curvature = np.empty((size, size))
    for i in range(size):
        for j in range(i, size):
            if i == j:
                value = (cost(at + steps[i]) - 2 * centre + cost(at - steps[i])) / step**2
            else:
                value = (
                    cost(at + steps[i] + steps[j])
                    - cost(at + steps[i] - steps[j])
                    - cost(at - steps[i] + steps[j])
                    + cost(at - steps[i] - steps[j])
                ) / (4 * step**2)
            curvature[i, j] = curvature[j, i] = value
    values, vectors = np.linalg.eigh(curvature)
    return np.asarray((vectors / np.maximum(values, 1e-3)) @ vectors.T)
