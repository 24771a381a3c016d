"""Snapshots of a fold's state, so that a revised window needs no fold from the beginning."""

from __future__ import annotations

from typing import Final, Generic, TypeVar

State = TypeVar("State")

_RECENT: Final = 100
"""Every one of the last 100 states is stored, as new panes revise recent windows."""
_SPARSE: Final = 32
"""Of older states every 32nd is stored."""


class Snapshots(Generic[State]):
    """States of a fold by the number of windows folded.

    Attributes
    ----------
    done : int
        Number of windows folded so far.
    """

    def __init__(self) -> None:
        self.done = 0
        self._kept: dict[int, State] = {}

    def keep(self, state: State) -> None:
        """Store the state after one more window. The caller must not mutate it later."""
        self.done += 1
        self._kept[self.done] = state
        old = self.done - _RECENT
        if old > 0 and old % _SPARSE:
            self._kept.pop(old, None)

    def back_to(self, index: int) -> State | None:
        """Return the last stored state after at most `index` windows, and delete later ones.

        `done` is set to the number of windows of that state. None if it is before the first window.
        """
        self._kept = {at: kept for at, kept in self._kept.items() if at <= index}
        self.done = max(self._kept, default=0)
        return self._kept.get(self.done)
