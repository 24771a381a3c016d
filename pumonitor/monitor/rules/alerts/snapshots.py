"""States after past windows, kept so that a window that comes to be known better costs little."""

from __future__ import annotations

from typing import Final, Generic, TypeVar

__all__ = ["Snapshots"]

State = TypeVar("State")

_RECENT: Final = 100
"""Panes change windows of the last maturities: so many are kept one by one, older ones sparsely."""
_SPARSE: Final = 32


class Snapshots(Generic[State]):
    """What was known after so many windows.

    Attributes
    ----------
    done : int
        Windows taken in.
    """

    def __init__(self) -> None:
        self.done = 0
        self._kept: dict[int, State] = {}

    def keep(self, state: State) -> None:
        """The state after one more window; it must not change any more."""
        self.done += 1
        self._kept[self.done] = state
        old = self.done - _RECENT
        if old > 0 and old % _SPARSE:
            self._kept.pop(old, None)

    def back_to(self, index: int) -> State | None:
        """The last state kept after at most `index` windows; later ones are forgotten.

        None for that before the first window.
        """
        self._kept = {at: kept for at, kept in self._kept.items() if at <= index}
        self.done = max(self._kept, default=0)
        return self._kept.get(self.done)
