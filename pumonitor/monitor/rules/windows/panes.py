"""Panes: the moments at which a window is evaluated while its labels arrive."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from pumonitor.errors import InputError
from pumonitor.ports import Pane, State, Window

_PROVISIONAL: Final = (0.0, 0.25, 0.5)
_MOST_PROVISIONAL: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class PaneSchedule:
    """The ages, counted from its end, at which a window is evaluated.

    First come the provisional panes, then the mature pane at the age `maturity`, then the final
    pane at twice that age. The schedule depends on the configuration alone, so a backfill evaluates
    the same panes as a live monitor.

    Attributes
    ----------
    maturity : timedelta
        How long labels are awaited after a window's end. 0 if they are known at once; there is
        then a single pane.
    provisional : tuple of timedelta or None
        Ages of the provisional panes, ascending and below the maturity; by default 0, a quarter and
        a half of it.
    source_keeps : timedelta or None
        How long the source keeps a row; None: for ever. A final pane that would look at older rows
        is not planned, and the mature pane is then the last.
    ages : tuple of timedelta
        Ages of all panes, of the final one too where it is not planned.

    Raises
    ------
    InputError
        If an age is negative, out of order or not below the maturity, or there are more than 6
        provisional panes.

    Examples
    --------
    >>> schedule = PaneSchedule(maturity=timedelta(days=30))
    >>> [age.days for age in schedule.ages], schedule.state(2), schedule.state(3)
    ([0, 7, 15, 30, 60], 'provisional', 'mature')
    """

    maturity: timedelta
    provisional: tuple[timedelta, ...] | None = None
    source_keeps: timedelta | None = field(default=None, compare=False)
    ages: tuple[timedelta, ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        if self.maturity < timedelta():
            msg = f"maturity must not be negative, got {self.maturity}"
            raise InputError(msg)
        early = self.provisional
        if early is None:
            early = tuple(share * self.maturity for share in _PROVISIONAL)
            early = early if self.maturity else ()
        self._check(early)
        late = (self.maturity, 2 * self.maturity) if self.maturity else (self.maturity,)
        object.__setattr__(self, "ages", (*early, *late))

    @property
    def mature(self) -> int:
        """Number of the mature pane."""
        return self.ages.index(self.maturity)

    def state(self, number: int) -> State:
        """State of the pane with that number: provisional, mature or final."""
        if number < self.mature:
            return "provisional"
        return "mature" if number == self.mature else "final"

    def panes(self, window: Window) -> tuple[Pane, ...]:
        """The panes of a window for which its rows are kept long enough, in order of time."""
        panes = (
            Pane(window=window, number=number, state=self.state(number), as_of=window.end + age)
            for number, age in enumerate(self.ages)
        )
        return tuple(
            pane
            for pane in panes
            if pane.state != "final" or not self.is_out_of_reach(window, pane.as_of)
        )

    def is_out_of_reach(self, window: Window, now: datetime) -> bool:
        """Whether the source has begun to delete the rows of a window by then."""
        return self.source_keeps is not None and now - window.start > self.source_keeps

    def due(self, window: Window, now: datetime) -> tuple[Pane, ...]:
        """The panes of a window whose moment is at or before `now`."""
        return tuple(pane for pane in self.panes(window) if pane.as_of <= now)

    def _check(self, early: tuple[timedelta, ...]) -> None:
        if len(early) > _MOST_PROVISIONAL:
            msg = f"at most {_MOST_PROVISIONAL} provisional panes are possible, got {len(early)}"
            raise InputError(msg)
        for before, age in zip((None, *early), early, strict=False):
            if not timedelta() <= age < self.maturity:
                msg = (
                    "ages of provisional panes must be from 0 to below the maturity of "
                    f"{self.maturity}, got {age}: the mature pane is always added"
                )
                raise InputError(msg)
            if before is not None and age <= before:
                msg = f"ages of panes must ascend, got {age} after {before}"
                raise InputError(msg)
