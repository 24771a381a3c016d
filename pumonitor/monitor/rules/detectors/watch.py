"""Many series watched at once: what each window says, alarms, and when they are over."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from pumonitor.monitor.rules.detectors.betting import Bets
from pumonitor.monitor.rules.detectors.cusum import Cusum
from pumonitor.monitor.rules.detectors.seen import Seen
from pumonitor.monitor.rules.detectors.shifts import Direction, Shifts
from pumonitor.monitor.rules.detectors.shiryaev_roberts import ShiryaevRoberts
from pumonitor.monitor.rules.detectors.standardise import Expected, Standardiser, learned

__all__ = ["DETECTORS", "Watch"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


class Evidence(Protocol):
    """What a window says for each of several changes."""

    @property
    def signs(self) -> FloatArray:
        """Direction of each change."""

    def log_ratios(self, seen: Seen) -> FloatArray:
        """Logarithms of ratios whose mean is at most 1 as long as nothing changes."""


class Statistic(Protocol):
    """What the windows so far say together."""

    @property
    def limit(self) -> float:
        """An alarm is due when the statistic reaches it."""

    def after(self, log_ratio: FloatArray) -> Self:
        """With another window."""

    def statistic(self) -> FloatArray:
        """Of each series."""

    def strongest(self) -> NDArray[np.intp]:
        """The change of each series that has most evidence."""

    def cleared(self, which: BoolArray) -> Self:
        """Begun anew for some series."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A detector: its evidence and its statistic.

    Attributes
    ----------
    statistic : callable
        From numbers of series and changes, and windows per alarm.
    bets : bool
        Whether its evidence is bets, which need bounds, and not likelihood ratios.
    """

    statistic: Callable[[int, int, float], Statistic]
    bets: bool = False

    def evidence(self, direction: Direction, *, spread: FloatArray) -> Evidence:
        """For series whose usual windows have these spreads."""
        return Bets.of(direction) if self.bets else Shifts.of(direction, spread=spread)


DETECTORS: Final[dict[str, Kind]] = {
    "shiryaev-roberts": Kind(statistic=ShiryaevRoberts.of_shifts),
    "cusum": Kind(statistic=Cusum.of_shifts),
    "betting": Kind(statistic=ShiryaevRoberts.of_bets, bets=True),
}
"""Sequential detectors by name; the first is the default."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Watch:
    """Series after some windows. Never changed: `after` returns another.

    An alarm begins when the statistic reaches its limit. While it is on, the change that had most
    evidence is followed, its log ratio capped at where it would alarm. A change of less than half
    its size drains this too, so once it is drained, changes the same way are asked what they make
    of the windows that drained it: one that explains them better than none is followed from then
    on, with the evidence it has. Without one the alarm is over, and the statistic begins anew.
    Windows until then teach nothing, the one that ends the alarm neither.

    Attributes
    ----------
    evidence : Evidence
    bets : bool
        Whether it is bets, which are on the mean of all windows, gross errors too.
    statistic : Statistic
    standardiser : Standardiser
    expected : Expected or None
        Of the last window.
    log_ratio : ndarray of shape (series, changes)
        What the last window said.
    on : ndarray of bool of shape (series,)
        Whether the alarm is on.
    change : ndarray of int of shape (series,)
        The change that is followed.
    left : ndarray of shape (series,)
        What is left of its log ratio.
    full : float
        Where that is capped.
    instead : ndarray of shape (series, changes)
        Log ratios of the changes since it was last full, as far as they are above 0.
    runs : ndarray of shape (series, changes)
        Log ratio of each change since it was last 0.
    begun : ndarray of int of shape (series, changes)
        The window after which it was: an earlier one is not where such a change began.
    windows : int
        Watched so far.
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
    ) -> Watch:
        """After a reference.

        Parameters
        ----------
        values, errors : ndarray of shape (series, windows)
        gaps : ndarray of int of shape (windows,)
            Windows since the one before.
        direction : {"down", "up", "any"}
        windows_per_alarm : float
            Between false alarms.
        detector : str
            Of `DETECTORS`.
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
    ) -> Watch:
        """With another window of each series, `gap` windows after the one before."""
        ahead = self.standardiser.ahead(gap)
        expected = ahead.expected(value, error)
        # Bets alone are on it.
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
            # Begun anew with the window that ended an alarm: it may be the first of another change.
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
        """Of alarms that are on: the change, what is left of it, and what others made of it."""
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
        # What is followed now has had its evidence counted.
        instead = np.where(gives_way[:, np.newaxis], 0.0, instead)
        return change, np.where(self.on, left, 0.0), instead
