"""State of a sequential detector on many series at once: evidence, alarms and their ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import BoolArray, FloatArray
from pumonitor.monitor.rules.detectors.betting import Bets
from pumonitor.monitor.rules.detectors.cusum import Cusum
from pumonitor.monitor.rules.detectors.seen import Seen
from pumonitor.monitor.rules.detectors.shifts import Direction, Shifts
from pumonitor.monitor.rules.detectors.shiryaev_roberts import ShiryaevRoberts
from pumonitor.monitor.rules.detectors.standardise import Expected, Standardiser, learned

__all__ = ["DETECTORS", "DetectorState"]


class Evidence(Protocol):
    """Computes the evidence of a window for each of several possible changes."""

    @property
    def signs(self) -> FloatArray:
        """-1 for a fall, 1 for a rise, for each change."""

    def log_ratios(self, seen: Seen) -> FloatArray:
        """Log ratios of each change; the mean of a ratio is at most 1 while nothing changes."""


class Statistic(Protocol):
    """Accumulates the evidence of all windows so far."""

    @property
    def limit(self) -> float:
        """An alarm begins when the statistic reaches this limit."""

    def after(self, log_ratio: FloatArray) -> Self:
        """The statistic after one more window."""

    def statistic(self) -> FloatArray:
        """Value of the statistic, for each series."""

    def strongest(self) -> NDArray[np.intp]:
        """Index of the change with the strongest evidence, for each series."""

    def cleared(self, which: BoolArray) -> Self:
        """The statistic with some series reset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of detector: an evidence and a statistic.

    Attributes
    ----------
    statistic : callable
        Makes a statistic from the number of series, the number of changes, and windows per alarm.
    bets : bool
        Whether the evidence is bets, which need bounds, instead of likelihood ratios.
    """

    statistic: Callable[[int, int, float], Statistic]
    bets: bool = False

    def evidence(self, direction: Direction, *, spread: FloatArray) -> Evidence:
        """The evidence for series whose usual windows have these standard deviations."""
        return Bets.of(direction) if self.bets else Shifts.of(direction, spread=spread)


DETECTORS: Final[dict[str, Kind]] = {
    "shiryaev-roberts": Kind(statistic=ShiryaevRoberts.of_shifts),
    "cusum": Kind(statistic=Cusum.of_shifts),
    "betting": Kind(statistic=ShiryaevRoberts.of_bets, bets=True),
}
"""Sequential detectors by name; the first is the default."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DetectorState:
    """State of a detector on some series after some windows. Immutable.

    1. An alarm begins when the statistic reaches its limit.
    2. During the alarm one change is followed: at first the one with the strongest evidence. Its
       log ratio starts at a cap and adds up over the windows, never above the cap.
    3. When that log ratio falls to 0, the followed change no longer explains the windows. A real
       change of less than half its size leads to this too. So another change in the same direction
       takes over if its own log ratio, since the followed one was last at the cap, is above 0.
    4. If none is, the alarm ends and the statistic is reset.

    Nothing is learned from windows of an alarm, including the one that ends it.

    Attributes
    ----------
    evidence : Evidence
    bets : bool
        Whether the evidence is bets. These learn from all windows, gross errors included.
    statistic : Statistic
    standardiser : Standardiser
    expected : Expected or None
        Prediction of the last window.
    log_ratio : ndarray of shape (series, changes)
        Evidence of the last window.
    on : ndarray of bool of shape (series,)
        Whether an alarm is on.
    change : ndarray of int of shape (series,)
        Index of the followed change.
    left : ndarray of shape (series,)
        Log ratio of the followed change.
    full : float
        Cap of `left`.
    instead : ndarray of shape (series, changes)
        Log ratios of the other changes since `left` was last at the cap; at least 0.
    runs : ndarray of shape (series, changes)
        CUSUM of each change, by which the begin of a change is bounded.
    begun : ndarray of int of shape (series, changes)
        Number of the window after which `runs` was last 0; such a change did not begin earlier.
    windows : int
        Number of windows so far.
    """

    evidence: Evidence
    bets: bool
    statistic: Statistic
    standardiser: Standardiser
    expected: Expected | None
    log_ratio: FloatArray
    on: BoolArray
    change: NDArray[np.intp]
    left: FloatArray
    full: float
    instead: FloatArray
    runs: FloatArray
    begun: NDArray[np.intp]
    windows: int

    @classmethod
    def begun_after(
        cls,
        values: FloatArray,
        errors: FloatArray,
        gaps: NDArray[np.intp],
        *,
        direction: Direction,
        windows_per_alarm: float,
        detector: str,
    ) -> DetectorState:
        """The state after the reference windows.

        Parameters
        ----------
        values, errors : ndarray of shape (series, windows)
            Estimates and their standard errors.
        gaps : ndarray of int of shape (windows,)
            Number of windows since the one before.
        direction : {"down", "up", "any"}
        windows_per_alarm : float
            Mean number of windows between false alarms.
        detector : str
            A key of `DETECTORS`.
        """
        kind = DETECTORS[detector]
        standardiser, spread = learned(values, errors, gaps)
        evidence = kind.evidence(direction, spread=spread)
        series, changes = len(values), len(evidence.signs)
        return cls(
            evidence=evidence,
            bets=kind.bets,
            statistic=kind.statistic(series, changes, windows_per_alarm),
            standardiser=standardiser,
            expected=None,
            log_ratio=np.zeros((series, changes)),
            on=np.zeros(series, dtype=bool),
            change=np.zeros(series, dtype=np.intp),
            left=np.zeros(series),
            full=math.log(max(windows_per_alarm, 2.0)),
            instead=np.zeros((series, changes)),
            runs=np.zeros((series, changes)),
            begun=np.zeros((series, changes), dtype=np.intp),
            windows=0,
        )

    def after(
        self,
        value: FloatArray,
        error: FloatArray,
        *,
        gap: int = 1,
        bounds: FloatArray | None = None,
    ) -> DetectorState:
        """The state after one more window of each series, `gap` windows after the last."""
        ahead = self.standardiser.ahead(gap)
        expected = ahead.expected(value, error)
        # Only bets use the level.
        nothing = np.zeros(len(value))
        level, level_spread = ahead.known_level() if self.bets else (nothing, nothing)
        log_ratio = self.evidence.log_ratios(
            Seen(
                value=value,
                expected=expected,
                level=level,
                level_spread=level_spread,
                bounds=np.full((len(value), 2), np.nan) if bounds is None else bounds,
            )
        )
        statistic = self.statistic.after(log_ratio)
        starts = ~self.on & (statistic.statistic() >= statistic.limit)
        strongest = statistic.strongest()
        change, left, instead = self._followed(log_ratio)
        change = np.where(starts, strongest, change)
        left = np.where(starts, self.full, left)
        on = left > 0
        was_on, ended = self.on[:, np.newaxis], (self.on & ~on)[:, np.newaxis]
        runs = np.where(ended, 0.0, np.maximum(self.runs, 0.0)) + log_ratio
        restarts = ended | ((self.runs <= 0) & ~was_on)
        return replace(
            self,
            # The window that ended an alarm counts again: another change may begin with it.
            statistic=statistic.cleared(on),
            standardiser=ahead.taught(
                value, error, which=~(on | self.on) & (self.bets | expected.near())
            ),
            expected=expected,
            log_ratio=log_ratio,
            on=on,
            change=change,
            left=left,
            instead=np.where(on[:, np.newaxis] & ~starts[:, np.newaxis], instead, 0.0),
            runs=runs,
            begun=np.where(restarts, self.windows, self.begun),
            windows=self.windows + 1,
        )

    def _followed(self, log_ratio: FloatArray) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
        """Update `change`, `left` and `instead` of the alarms that are on."""
        if not self.on.any():
            return self.change, np.zeros(len(self.on)), np.zeros_like(log_ratio)
        every = np.arange(len(self.change))
        left = np.minimum(self.left + log_ratio[every, self.change], self.full)
        signs = self.evidence.signs
        alike = self.on[:, np.newaxis] & (signs == signs[self.change][:, np.newaxis])
        draining = alike & (left < self.full)[:, np.newaxis]
        instead = np.where(draining, np.maximum(self.instead + log_ratio, 0.0), 0.0)
        best = np.argmax(instead, axis=1)
        gives_way = self.on & (left <= 0) & (instead[every, best] > 0)
        change = np.where(gives_way, best, self.change)
        left = np.where(gives_way, np.minimum(instead[every, best], self.full), left)
        # The evidence of the change that took over is now counted in `left`.
        instead = np.where(gives_way[:, np.newaxis], 0.0, instead)
        return change, np.where(self.on, left, 0.0), instead
