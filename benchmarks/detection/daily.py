"""False alarms and delays on daily streams in which days differ by themselves, and what is planned.

100 streams in each world (`benchmarks.detection.daily_simulated`). Detectors are set to one false
alarm a year, which are counted on 365 days after a reference of 60 in which nothing happens; where
seasons move the level some are of a change that is there. AUC falls for good 20 days after a
reference of 30 or of 60 days. Beside the detector is a CUSUM of AUL that is told what no monitor
knows: the level without the fall, the standard deviation of days and the size of the fall, and one
that is told the last two and has the mean of the reference. Its limit is set on the same quiet
days, to one false alarm a year. "planned" is what `plan` promises by the windows of the reference
alone, in the median over streams.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.detection.daily_simulated import WORLDS, DailyStreams, World, simulate_days
from benchmarks.detection.judging import onsets
from benchmarks.detection.tables import show
from pumonitor.monitor.rules.detectors import DEFAULT_DETECTOR
from pumonitor.monitor.rules.detectors.labels_needed import Noise, simulated_delays
from pumonitor.monitor.rules.detectors.scales import steadied, usual_error
from pumonitor.monitor.rules.detectors.watch import DetectorState

__all__ = ["Delays", "delays", "false_alarms_of", "report_days"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_STREAMS, _YEAR, _LONGEST_REFERENCE = 100, 365, 60
_REFERENCES: Final = (30, 60)
_FALLS: Final = (0.05, 0.10)
_QUIET, _HORIZON = 20, 120
_JUST_BEFORE: Final = 5
_SEED: Final = 21


@dataclass(frozen=True, slots=True, kw_only=True)
class Delays:
    """Median delays in days, of streams in which no alarm was on; one more than 120 if not seen.

    Attributes
    ----------
    size : float
        Of the fall in standard deviations of a day.
    seen, most : float
        By the detector: half, and nine in ten.
    told, told_spread : float
        By a CUSUM that is told the level and the spread, and by one that is told the spread.
    planned : float
    """

    size: float
    seen: float
    most: float
    told: float
    told_spread: float
    planned: float


def report_days(*, quick: bool = False) -> None:
    """Print both tables."""
    rates, rows = [], []
    for name, world in list(WORLDS.items())[: 1 if quick else None]:
        streams = 20 if quick else _STREAMS
        quiet = _days(world, streams, 0.0)
        rates.append(
            [name, *(f"{false_alarms_of(quiet, metric):.2f}" for metric in ("aul", "recall"))]
        )
        for fall in _FALLS:
            fallen = _days(world, streams, fall)
            for reference in _REFERENCES:
                found = delays(quiet, fallen, reference=reference)
                rows.append(
                    [
                        name,
                        f"{fall:.2f}",
                        f"{found.size:.2f}",
                        f"{reference}",
                        f"{found.seen:.0f}",
                        f"{found.most:.0f}",
                        f"{found.told:.0f}",
                        f"{found.seen / found.told:.2f}",
                        f"{found.told_spread:.0f}",
                        f"{found.planned:.0f}",
                        f"{found.planned / found.seen:.2f}",
                    ]
                )
    show("False alarms per year where one is asked for", ["days", "AUL", "recall"], rates)
    columns = ["days", "fall of AUC", "in SDs of AUL", "reference", "half seen", "nine in ten"]
    columns += ["CUSUM told level and spread", "ratio", "told spread", "planned", "of seen"]
    show("Days from a lasting fall to the alarm", columns, rows)


def _days(world: World, streams: int, fall: float) -> DailyStreams:
    days = _LONGEST_REFERENCE + _YEAR
    return simulate_days(world, streams=streams, days=days, seed=_SEED, fall=fall)


def false_alarms_of(
    quiet: DailyStreams, metric: str, *, reference: int = _LONGEST_REFERENCE
) -> float:
    """Alarms per stream after the reference."""
    return float(onsets(_alarms(quiet, metric, reference)).mean())


def delays(quiet: DailyStreams, fallen: DailyStreams, *, reference: int) -> Delays:
    """Of a fall of AUL, 20 days after a reference of so many."""
    values = quiet.values["aul"]
    level, spread = values.mean(axis=1), values.std(axis=1)
    size = level - fallen.values["aul"].mean(axis=1)
    told = _Told(size=size, spread=spread)
    limit = told.limit(values[:, _LONGEST_REFERENCE:] - level[:, np.newaxis])
    changed = quiet.followed_by(fallen, reference + _QUIET)
    later = changed.values["aul"][:, reference:]
    mean = values[:, :reference].mean(axis=1)
    seen = _first(_alarms(changed, "aul", reference))
    return Delays(
        size=float(np.median(size / spread)),
        seen=float(np.median(seen)),
        most=float(np.quantile(seen, 0.9)),
        told=float(np.median(_first(told.alarms(later - level[:, np.newaxis], limit)))),
        told_spread=float(np.median(_first(told.alarms(later - mean[:, np.newaxis], limit)))),
        planned=_planned(quiet, size, reference),
    )


def _alarms(streams: DailyStreams, metric: str, reference: int) -> BoolArray:
    """Of the default detector after the reference: whether one is on."""
    values, errors = streams.values[metric], streams.errors[metric]
    usual = usual_error(errors[:, :reference], streams.labeled[:, :reference])
    errors = steadied(errors, streams.labeled, usual[:, np.newaxis])
    watch = DetectorState.begun_after(
        values[:, :reference],
        errors[:, :reference],
        np.ones(reference, dtype=np.intp),
        direction="down",
        windows_per_alarm=_YEAR,
        detector=DEFAULT_DETECTOR,
    )
    on = []
    for day in range(reference, values.shape[1]):
        watch = watch.after(values[:, day], errors[:, day])
        on.append(watch.on)
    return np.array(on).T


def _first(alarms: BoolArray) -> FloatArray:
    """Days from the fall to the first alarm, of streams in which none was on just before it."""
    before = alarms[:, _QUIET - _JUST_BEFORE : _QUIET].any(axis=1)
    later = alarms[~before, _QUIET : _QUIET + _HORIZON]
    return np.where(later.any(axis=1), later.argmax(axis=1) + 1.0, _HORIZON + 1.0)


def _planned(quiet: DailyStreams, size: FloatArray, reference: int) -> float:
    """Median of what is planned for each stream by its reference, three series for each."""
    noises = [
        Noise.of_windows(value[:reference], error[:reference], labeled[:reference])
        for value, error, labeled in zip(
            quiet.values["aul"], quiet.errors["aul"], quiet.labeled, strict=True
        )
    ]
    usual = np.median(quiet.labeled[:, :reference], axis=1)
    errors = np.array([one.per_label for one in noises]) / np.sqrt(usual)
    between = np.array([one.between_windows for one in noises])
    found = simulated_delays(
        np.tile(errors, 3),
        np.tile(np.hypot(errors, between), 3),
        drop=np.tile(size, 3),
        windows_per_alarm=_YEAR,
        reference_windows=reference,
    )
    return float(np.median(found))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Told:
    """A CUSUM that knows the size of the fall and the spread of days."""

    size: FloatArray
    spread: FloatArray

    def alarms(self, off: FloatArray, limit: float) -> BoolArray:
        """By days off the level."""
        size = self.size / self.spread
        total = np.zeros(len(off))
        found = []
        for day in off.T:
            total = np.maximum(total, 0.0) - size * day / self.spread - 0.5 * size**2
            found.append(total >= limit)
            total = np.where(found[-1], 0.0, total)
        return np.array(found).T

    def limit(self, off: FloatArray) -> float:
        """For one false alarm a year."""
        return _for_one_a_year(lambda limit: self.alarms(off, limit))


def _for_one_a_year(alarms: Callable[[float], BoolArray]) -> float:
    lowest, highest = 0.3, 40.0
    for _ in range(14):
        middle = float(np.sqrt(lowest * highest))
        if alarms(middle).sum(axis=1).mean() > 1:
            lowest = middle
        else:
            highest = middle
    return float(np.sqrt(lowest * highest))
