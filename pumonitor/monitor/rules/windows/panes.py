"""Panes: the moments at which a window is looked at while its labels arrive."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from pumonitor.errors import InputError
from pumonitor.ports import Pane, State, Window

__all__ = ["PaneSchedule"]

_PROVISIONAL: Final = (0.0, 0.25, 0.5)
_MOST_PROVISIONAL: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class PaneSchedule:
    """At which ages, counted from its end, a window is evaluated.

    Provisional panes come first, the mature one when labels have been awaited as long as agreed,
    the final one after as long again. A function of the configuration alone, so that windows
    evaluated afterwards have the panes that they had live.

    Attributes
    ----------
    maturity : timedelta
        How long labels are awaited after a window's end; 0 where they are known at once, and
        there is one pane only.
    provisional : tuple of timedelta or None
        Ages of the provisional panes, ascending, below the maturity; by default 0, a quarter and
        half of it.
    ages : tuple of timedelta
        Those of all panes.

    Raises
    ------
    InputError
        If an age is negative, out of order, or not below the maturity; or there are more than 6
        provisional ones.

    Examples
    --------
    >>> schedule = PaneSchedule(maturity=timedelta(days=30))
    >>> [age.days for age in schedule.ages], schedule.state(2), schedule.state(3)
    ([0, 7, 15, 30, 60], 'provisional', 'mature')
    """

    maturity: timedelta
    provisional: tuple[timedelta, ...] | None = None
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
        """What a pane of that number is."""
        if number < self.mature:
            return "provisional"
        return "mature" if number == self.mature else "final"

    def panes(self, window: Window) -> tuple[Pane, ...]:
        """All panes of a window, in order of time."""
        return tuple(
            Pane(window=window, number=number, state=self.state(number), as_of=window.end + age)
            for number, age in enumerate(self.ages)
        )

    def due(self, window: Window, now: datetime) -> tuple[Pane, ...]:
        """The panes whose moment has come."""
        return tuple(pane for pane in self.panes(window) if pane.as_of <= now)

    def _check(self, early: tuple[timedelta, ...]) -> None:
        if len(early) > _MOST_PROVISIONAL:
            msg = f"at most {_MOST_PROVISIONAL} provisional panes are possible, got {len(early)}"
            raise InputError(msg)
        for before, age in zip((None, *early), early, strict=False):
            if not timedelta() <= age < self.maturity:
                msg = (
                    f"ages of provisional panes must be from 0 to below the maturity of "
                    f"{self.maturity}, got {age}: the mature pane comes by itself"
                )
                raise InputError(msg)
            if before is not None and age <= before:
                msg = f"ages of panes must ascend, got {age} after {before}"
                raise InputError(msg)
