"""Windows from a drop of AUC to the alarm: `--only delay`.

400 streams (`benchmarks.detection.simulated`) at 20, 60 and 200 labeled positives a day and at a
mix of them; AUC, with the class prior estimated and pooled, falls by .02, .05 or .10 after 60
reference windows and 100 more. The class prior's course is another one after the change.

The oracle is a CUSUM that knows the level, the size of the drop and each window's variance. All are
set to the same rate of one false alarm a year, by their limits, on 365 windows in which nothing
changes; "as set" is the rate of the detector and of the mean of the reference -3 sd by themselves.
Alarms start anew at once here, so that rates compare. "grouped" is the median of grouped data,
in which a delay of k windows is spread from k - 1/2 to k + 1/2.

At 20 labels a day a drop of .02 takes 1.3 times as long as the oracle: 160 windows tell the level
to no better than a fifth of the drop, and the 34 after it teach the detector before they are many
enough. It took 1.5 times as long while one grid point in twelve of the prior said that deviations
last for weeks, which look like such a change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.detection.judging import REFERENCE, WINDOWS_PER_YEAR, begun, continued, series_of
from benchmarks.detection.simulated import Streams, simulate
from benchmarks.detection.tables import show
from pumonitor.monitor.rules.detectors import DEFAULT_DETECTOR, DETECTORS
from pumonitor.monitor.rules.detectors.watch import DetectorState

__all__ = ["grouped_median", "main"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_LEVELS: Final = (20.0, 60.0, 200.0, None)
_HORIZONS: Final = {0.02: 260, 0.05: 120, 0.10: 60}
_BEFORE: Final = 100  # windows between reference and change
_DETECTOR: Final = DEFAULT_DETECTOR
_RENEWED: Final = 10  # windows after which the class prior's course is another one


@dataclass(frozen=True, slots=True, kw_only=True)
class Delays:
    """Of all streams without an alarm in the last windows before the change."""

    delays: FloatArray

    def plain(self) -> str:
        return f"{np.median(self.delays):.0f}"

    def grouped(self) -> float:
        return grouped_median(self.delays)


def main(*, quick: bool) -> None:
    """Print both tables."""
    streams = 40 if quick else 400
    levels = (60.0,) if quick else _LEVELS
    rows, rates = [], []
    for level in levels:
        name = "20 to 200" if level is None else f"{level:.0f}"
        for row in _of_level(streams, level):
            rows.append([name, *row[0]])
            rates.append(row[1])
    show(
        "Median delay in windows at one false alarm a year",
        [
            "labels a day",
            "drop",
            _DETECTOR,
            "oracle",
            "ratio",
            "grouped",
            "oracle",
            "ratio",
            "mean - k sd",
        ],
        rows,
    )
    show(
        "False alarms per year as set, before limits were made equal",
        ["labels a day", _DETECTOR, "limit times", "mean - 3 sd", "k for one a year"],
        [
            [row[0], *rate]
            for row, rate in zip(rows[:: len(_HORIZONS)], rates[:: len(_HORIZONS)], strict=True)
        ],
    )


def grouped_median(delays: FloatArray) -> float:
    """Median of grouped data, each whole number k standing for k - 1/2 to k + 1/2.

    >>> grouped_median(np.array([1, 2, 2, 3]))
    2.0
    >>> round(grouped_median(np.array([1, 1, 1, 2])), 3)
    1.167
    """
    middle = np.sort(delays)[(len(delays) - 1) // 2]
    below, at = np.sum(delays < middle), np.sum(delays == middle)
    return float(middle - 0.5 + (0.5 * len(delays) - below) / at)


def _of_level(streams: int, level: float | None) -> list[tuple[list[str], list[str]]]:
    seed = int(level or 0)
    start = REFERENCE + _BEFORE
    quiet = REFERENCE + WINDOWS_PER_YEAR
    drops = np.repeat([0.0, *_HORIZONS], [quiet, *_HORIZONS.values()])
    made = simulate(
        streams, len(drops), rng=np.random.default_rng([7, seed]), level=level, drops=drops
    )
    series = series_of(made, "auc")
    watch = begun(series, direction="down")
    quietly = list(continued(watch, series, range(REFERENCE, quiet)))
    ours = _Ours.of(quietly)
    factor = _calibrated(ours.scaled, 0.2, 5.0)
    sigma = _Sigma.of(made)
    k = _calibrated(lambda reach: sigma.beyond(reach, range(REFERENCE, quiet)), 2.0, 6.0)
    rows = []
    after = quiet
    for drop, horizon in _HORIZONS.items():
        windows = range(after, after + horizon)
        after += horizon
        changed = list(continued(quietly[_BEFORE - 1], series, windows, first_gap=_RENEWED))
        oracle = _Oracle(made, drop)
        limit = oracle.limit(range(REFERENCE, quiet))
        before = range(REFERENCE, start)
        mine = _delays(_Ours.of([*quietly[:_BEFORE], *changed]).scaled(factor))
        known = _delays(oracle.alarms(limit, [*before, *windows]))
        alone = _delays(sigma.beyond(k, [*before, *windows]))
        rows.append(
            (
                [
                    f"{drop:.2f}",
                    mine.plain(),
                    known.plain(),
                    f"{np.median(mine.delays) / np.median(known.delays):.2f}",
                    f"{mine.grouped():.1f}",
                    f"{known.grouped():.1f}",
                    f"{mine.grouped() / known.grouped():.2f}",
                    alone.plain() if np.median(alone.delays) <= horizon else f"> {horizon}",
                ],
                [
                    _rate(ours.scaled(1.0)),
                    f"{factor:.2f}",
                    _rate(sigma.beyond(3.0, range(REFERENCE, quiet))),
                    f"{k:.2f}",
                ],
            )
        )
    return rows


def _delays(alarms: BoolArray) -> Delays:
    """To the first alarm after the change; without one, a window more than there are."""
    later = alarms[:, _BEFORE:]
    first = np.where(later.any(axis=1), later.argmax(axis=1) + 1, later.shape[1] + 1)
    return Delays(delays=first.astype(float))


def _rate(alarms: BoolArray) -> str:
    return f"{alarms.sum(axis=1).mean():.2f}"


def _calibrated(alarms: Callable[[float], BoolArray], lowest: float, highest: float) -> float:
    """What gives one alarm per stream and year; alarms become fewer as it grows."""
    for _ in range(14):
        middle = float(np.sqrt(lowest * highest))
        if alarms(middle).sum(axis=1).mean() > 1:
            lowest = middle
        else:
            highest = middle
    return float(np.sqrt(lowest * highest))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Ours:
    """What the windows said to the detector, to be added up with another limit.

    Where the limit is higher than its own, windows between the two alarms taught it nothing.
    """

    log_ratios: FloatArray
    limit: float

    @classmethod
    def of(cls, watches: list[DetectorState]) -> _Ours:
        return cls(
            log_ratios=np.array([one.log_ratio for one in watches]),
            limit=watches[0].statistic.limit,
        )

    def scaled(self, factor: float) -> BoolArray:
        """Alarms with the limit times this."""
        count, streams, changes = self.log_ratios.shape
        statistic = DETECTORS[_DETECTOR].statistic(streams, changes, WINDOWS_PER_YEAR)
        alarms = np.zeros((streams, count), dtype=bool)
        for at, log_ratio in enumerate(self.log_ratios):
            statistic = statistic.after(log_ratio)
            alarms[:, at] = statistic.statistic() >= factor * self.limit
            statistic = statistic.cleared(alarms[:, at])
        return alarms


@dataclass(frozen=True, slots=True, eq=False)
class _Oracle:
    streams: Streams
    drop: float

    def limit(self, quiet: range) -> float:
        """For one false alarm a year."""
        return _calibrated(lambda limit: self.alarms(limit, quiet), 0.5, 20.0)

    def alarms(self, limit: float, windows: range | list[int]) -> BoolArray:
        """A CUSUM of the exact log likelihood ratios."""
        spread = self.streams.auc_spread
        z = (self.streams.values["auc"] - self.streams.auc_level) / spread
        total = np.zeros(len(z))
        alarms = []
        for window in windows:
            size = self.drop / spread[:, window]
            total = np.maximum(total, 0.0) - size * z[:, window] - 0.5 * size**2
            alarms.append(total >= limit)
            total = np.where(alarms[-1], 0.0, total)
        return np.array(alarms).T


@dataclass(frozen=True, slots=True, eq=False)
class _Sigma:
    """Each window by itself, in standard deviations of the reference's windows."""

    z: FloatArray

    @classmethod
    def of(cls, streams: Streams) -> _Sigma:
        values = streams.values["auc"]
        mean = values[:, :REFERENCE].mean(axis=1, keepdims=True)
        return cls((values - mean) / values[:, :REFERENCE].std(axis=1, ddof=1, keepdims=True))

    def beyond(self, reach: float, windows: range | list[int]) -> BoolArray:
        return self.z[:, list(windows)] < -reach
