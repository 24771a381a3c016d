"""How late labels come, read off those that came within the maturity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_TIMES", "Arrived", "MeanDelay", "UsualDelays"]

FloatArray = NDArray[np.float64]

MOST_TIMES = 4.0
"""Delays this many times as long, or as short, are the furthest that 24 steps can tell."""

_WEEKDAYS = 7
_STEP = 1.25
# A weekday's own variance counts as if so many of its labels varied as all do.
_AS_ALL = 4.0
_LEAST_VARIANCE_RATIO = 0.25
_TIMES = np.exp(np.linspace(-np.log(MOST_TIMES), np.log(MOST_TIMES), 121))


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """Labels of one window by how long after their prediction they came.

    Attributes
    ----------
    index : int
        Of the window.
    counts : tuple of float
        By step of the maturity.
    complete : int
        So many first steps have passed for every prediction of the window. Later ones are left
        out: a label that is not there may still come.
    weekday : int or None
        0 to 6, whichever day is 0; None where windows are longer than a day.
    """

    index: int
    counts: tuple[float, ...]
    complete: int
    weekday: int | None = None

    @property
    def labels(self) -> float:
        """Labels in the complete steps."""
        return sum(self.counts[: self.complete])


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanDelay:
    """The mean delay of a window's labels, as a share of the maturity.

    Attributes
    ----------
    value, se : float
        Without the weekday's own delay. Of a window whose last steps are not complete: the mean
        that it would have if its delays differ from the usual ones by one factor.
    labels : int
    """

    value: float
    se: float
    labels: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UsualDelays:
    """The usual distribution of delays, given that they are within the maturity.

    Attributes
    ----------
    reached : ndarray of shape (steps + 1,)
        Share of the labels that have come by the end of each step, from 0 to 1.
    weekdays : _Weekdays
        How those of each weekday differ.

    Notes
    -----
    A label that takes longer than the maturity is never seen, so the shape of the delays is known
    up to there and their total is not. With delays c times as long, the delays that are seen have
    the distribution function F(t / c) / F(1 / c), t in maturities, and for c >= 1 this reads F
    within the maturity alone. So c can be told from the labels that came, whatever share is lost:
    for delays that are exponential with a mean of a third of the maturity, doubling moves the mean
    of those seen from .28 to .38, their median from .22 to .34. For c < 1 nothing is taken to come
    after the maturity; where much does, a speed-up looks smaller than it is.

    The mean is the statistic: the likelihood ratio for exponential delays, bounded by the
    maturity, so that no single label matters much. Windows that are not complete enter the usual
    distribution by the chance of each step given that the label came by its end, which a window
    tells for its complete steps (Lagakos, Barraj, De Gruttola 1988).

    References
    ----------
    Lagakos, Barraj, De Gruttola (1988), Nonparametric analysis of truncated survival data, with
    application to AIDS, Biometrika 75.
    """

    reached: FloatArray
    weekdays: _Weekdays

    @classmethod
    def of(cls, windows: Sequence[Arrived]) -> UsualDelays | None:
        """From usual windows; None where they have fewer than two labels."""
        counts = np.array([one.counts for one in windows], dtype=np.float64)
        steps = np.arange(counts.shape[1])
        seen = steps < np.array([[one.complete] for one in windows])
        counts = np.where(seen, counts, 0.0)
        if counts.sum() < 2:
            return None
        at_risk = (np.cumsum(counts, axis=1) * seen).sum(axis=0)
        chance = np.divide(counts.sum(axis=0), at_risk, out=np.zeros(len(steps)), where=at_risk > 0)
        # The first step has chance 1, so that what has come by its beginning is 0.
        before = np.cumprod((1.0 - chance)[::-1])[::-1]
        found = cls(reached=np.append(before, 1.0), weekdays=_Weekdays.alike())
        return cls(reached=found.reached, weekdays=_Weekdays.of(found, windows))

    @property
    def mean(self) -> float:
        """Of the delays, as a share of the maturity."""
        return self.mean_times(1.0)

    def mean_times(self, times: float, *, complete: int | None = None) -> float:
        """The mean of the delays within the complete steps, were all so many times as long."""
        share, middles = self.shares(times, complete=complete)
        return float(share @ middles)

    def times(self, mean: float) -> float:
        """How many times as long delays are where their mean is this one; at most 4, or 1/4."""
        means = np.maximum.accumulate([self.mean_times(times) for times in _TIMES])
        return float(np.exp(np.interp(mean, means, np.log(_TIMES))))

    def mean_of(self, arrived: Arrived) -> MeanDelay | None:
        """Of a window; None where nothing in it tells how late labels come."""
        labels, complete = arrived.labels, arrived.complete
        if labels < 1 or complete < 2:
            return None
        share, middles = self.shares(1.0, complete=complete)
        expected = float(share @ middles)
        spread = float(np.sqrt(share @ (middles - expected) ** 2))
        off = float(np.array(arrived.counts[:complete]) @ middles) / labels - expected
        magnified = 1.0
        if complete < len(arrived.counts):
            magnified = self._slope(None) / max(self._slope(complete), 1e-12)
        later = 0.0
        if arrived.weekday is not None:
            later = float(self.weekdays.later[arrived.weekday])
            spread *= float(self.weekdays.spread[arrived.weekday])
        if spread == 0 or not 0 < magnified < len(arrived.counts):
            return None
        return MeanDelay(
            value=self.mean + magnified * off - later,
            se=magnified * spread / float(np.sqrt(labels)),
            labels=round(labels),
        )

    def shares(self, times: float, *, complete: int | None = None) -> tuple[FloatArray, FloatArray]:
        """Share of the labels in each complete step, were delays so much longer, and its middle."""
        steps = len(self.reached) - 1
        ends = np.arange((steps if complete is None else complete) + 1) / steps
        reached = np.interp(ends / times, np.arange(steps + 1) / steps, self.reached)
        middles = 0.5 * (ends[1:] + ends[:-1])
        if reached[-1] <= 0:
            return np.full(len(middles), 1 / len(middles)), middles
        return np.diff(reached) / reached[-1], middles

    def _slope(self, complete: int | None) -> float:
        """By how much the mean grows with the delays."""
        return self.mean_times(_STEP, complete=complete) - self.mean_times(1.0, complete=complete)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Weekdays:
    """How delays of predictions of each weekday differ from those of all."""

    later: FloatArray
    spread: FloatArray

    @classmethod
    def alike(cls) -> _Weekdays:
        return cls(later=np.zeros(_WEEKDAYS), spread=np.ones(_WEEKDAYS))

    @classmethod
    def of(cls, usual: UsualDelays, windows: Sequence[Arrived]) -> _Weekdays:
        """As usual windows have them, as far as weekdays surely differ at all.

        Nobody confirms on a Sunday, and what was predicted on a Friday waits longer. Variances
        between and within weekdays as in a one-way analysis of variance.
        """
        found = [(one, usual.mean_of(one)) for one in windows if one.weekday is not None]
        by_day: list[list[float]] = [
            [delay.value for one, delay in found if delay is not None and one.weekday == weekday]
            for weekday in range(_WEEKDAYS)
        ]
        if any(len(values) < 2 for values in by_day):
            return cls.alike()
        means = np.array([np.mean(values) for values in by_day])
        within = sum(float(np.var(values)) * len(values) for values in by_day)
        within /= sum(len(values) - 1 for values in by_day)
        of_mean = within * float(np.mean([1 / len(values) for values in by_day]))
        between = max(float(np.var(means, ddof=1)) - of_mean, 0.0)
        if between == 0:
            return cls.alike()
        return cls(
            later=np.asarray((means - means.mean()) * between / (between + of_mean)),
            spread=_spreads(usual, [one for one, _ in found]),
        )


def _spreads(usual: UsualDelays, windows: Sequence[Arrived]) -> FloatArray:
    """Standard deviation of the delays of each weekday over that of all.

    0 where it is below half: on such a day nearly all labels come after one delay, as with
    confirmations that are written down once a week, and delays leave no trace in it.
    """
    share, middles = usual.shares(1.0)
    variance = float(share @ (middles - share @ middles) ** 2)
    found = np.zeros(_WEEKDAYS)
    for weekday in range(_WEEKDAYS):
        whole = [one for one in windows if one.weekday == weekday]
        counts = np.sum([one.counts for one in whole if one.complete == len(middles)], axis=0)
        labels = float(np.sum(counts))
        squares = 0.0
        if labels > 0:
            squares = float(counts @ (middles - counts @ middles / labels) ** 2)
        found[weekday] = (squares + _AS_ALL * variance) / (labels + _AS_ALL) / variance
    return np.where(found < _LEAST_VARIANCE_RATIO, 0.0, np.sqrt(found))
