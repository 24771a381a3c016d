"""The distribution of label delays, estimated from labels that arrived within the maturity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pumonitor._arrays import FloatArray

MOST_TIMES = 4.0
"""Largest factor between delays that 24 steps of the maturity can measure."""

_WEEKDAYS = 7
_STEP = 1.25
# A weekday's variance is shrunk to that of all days by this many pseudo-labels.
_AS_ALL = 4.0
_LEAST_VARIANCE_RATIO = 0.25
_TIMES = np.exp(np.linspace(-np.log(MOST_TIMES), np.log(MOST_TIMES), 121))


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """Numbers of labels of one window, by label delay.

    Attributes
    ----------
    index : int
        Number of the window.
    counts : tuple of float
        Labels in each equal step of the maturity.
    complete : int
        Number of first steps that have passed for every prediction of the window. Later steps are
        ignored, as their labels may still arrive.
    weekday : int or None
        0 to 6, counted from any day; None if windows are longer than a day.
    """

    index: int
    counts: tuple[float, ...]
    complete: int
    weekday: int | None = None

    @property
    def labels(self) -> float:
        """Number of labels in the complete steps."""
        return sum(self.counts[: self.complete])


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanDelay:
    """The mean delay of a window's labels, as a share of the maturity.

    Attributes
    ----------
    value, se : float
        Mean and standard error, corrected for the weekday. If the last steps are not complete, the
        mean is extrapolated: its delays are assumed to be the usual ones times one factor.
    labels : int
        Number of labels in the complete steps.
    """

    value: float
    se: float
    labels: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UsualDelays:
    """The usual distribution of label delays within the maturity.

    Attributes
    ----------
    reached : ndarray of shape (steps + 1,)
        Share of the labels that have arrived by the end of each step, from 0 to 1.
    weekdays : _Weekdays
        Differences between weekdays.

    Notes
    -----
    Labels that take longer than the maturity are never counted, so only the shape of F up to the
    maturity is known. If delays become c times as long, the delays that are counted have the
    distribution function F(t / c) / F(1 / c), with t in maturities. For c >= 1 it depends on F
    within the maturity only, so c can be estimated from the labels that arrived, whatever share is
    lost. For exponential delays with a mean of a third of the maturity, doubling them moves the
    mean of the counted ones from .28 to .38 and their median from .22 to .34. For c < 1 no labels
    are assumed after the maturity; if there are many, a speed-up is underestimated.

    The statistic is the mean delay: it is the likelihood ratio statistic for exponential delays,
    and it is bounded by the maturity, so no single label dominates. Incomplete windows contribute
    to F too: for each complete step, the probability that a label arrived in it given that it
    arrived by its end (Lagakos, Barraj, De Gruttola 1988).

    References
    ----------
    Lagakos, Barraj, De Gruttola (1988), Nonparametric analysis of truncated survival data, with
    application to AIDS, Biometrika 75.
    """

    reached: FloatArray
    weekdays: _Weekdays

    @classmethod
    def of(cls, windows: Sequence[Arrived]) -> UsualDelays | None:
        """Estimate the distribution from windows; None if they have fewer than two labels."""
        counts = np.array([one.counts for one in windows], dtype=np.float64)
        steps = np.arange(counts.shape[1])
        seen = steps < np.array([[one.complete] for one in windows])
        counts = np.where(seen, counts, 0.0)
        if counts.sum() < 2:
            return None
        at_risk = (np.cumsum(counts, axis=1) * seen).sum(axis=0)
        chance = np.divide(counts.sum(axis=0), at_risk, out=np.zeros(len(steps)), where=at_risk > 0)
        # The first step has probability 1, so that F is 0 at its beginning.
        before = np.cumprod((1.0 - chance)[::-1])[::-1]
        found = cls(reached=np.append(before, 1.0), weekdays=_Weekdays.alike())
        return cls(reached=found.reached, weekdays=_Weekdays.of(found, windows))

    @property
    def mean(self) -> float:
        """Mean delay as a share of the maturity."""
        return self.mean_times(1.0)

    def mean_times(self, times: float, *, complete: int | None = None) -> float:
        """Mean delay within the complete steps if all delays were `times` as long."""
        share, middles = self.shares(times, complete=complete)
        return float(share @ middles)

    def times(self, mean: float) -> float:
        """Factor on the usual delays with which the mean delay is `mean`; within 1/4 and 4."""
        means = np.maximum.accumulate([self.mean_times(times) for times in _TIMES])
        return float(np.exp(np.interp(mean, means, np.log(_TIMES))))

    def mean_of(self, arrived: Arrived) -> MeanDelay | None:
        """Mean delay of a window; None if the window has no information on it."""
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
        """Share of labels in each complete step if delays were `times` as long; step middles."""
        steps = len(self.reached) - 1
        ends = np.arange((steps if complete is None else complete) + 1) / steps
        reached = np.interp(ends / times, np.arange(steps + 1) / steps, self.reached)
        middles = 0.5 * (ends[1:] + ends[:-1])
        if reached[-1] <= 0:
            return np.full(len(middles), 1 / len(middles)), middles
        return np.diff(reached) / reached[-1], middles

    def _slope(self, complete: int | None) -> float:
        """Increase of the mean delay when all delays grow by a quarter."""
        return self.mean_times(_STEP, complete=complete) - self.mean_times(1.0, complete=complete)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Weekdays:
    """Mean delay of each weekday's predictions less the overall mean, and ratio of deviations."""

    later: FloatArray
    spread: FloatArray

    @classmethod
    def alike(cls) -> _Weekdays:
        return cls(later=np.zeros(_WEEKDAYS), spread=np.ones(_WEEKDAYS))

    @classmethod
    def of(cls, usual: UsualDelays, windows: Sequence[Arrived]) -> _Weekdays:
        """Estimate the differences from windows, shrunk by how clearly weekdays differ at all.

        Few cases are confirmed on a Sunday, so Friday's predictions wait longer. The shrinkage
        compares variance between and within weekdays, as a one-way analysis of variance does.
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
    """Standard deviation of the delays of each weekday, relative to all days.

    0 if the ratio is below one half. On such a weekday nearly all labels have the same delay, as
    with confirmations recorded once a week, and a change of delays does not show.
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
