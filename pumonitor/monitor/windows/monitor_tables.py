"""Keep the tables of a few monitors open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.ports import PredictionSource

_OPEN_AT_ONCE: Final = 4
"""Each is a connection with its memory, and is opened in less time than a window takes."""


class MonitorTables:
    """Opens the tables of monitors on demand; the least recently used ones are closed.

    Parameters
    ----------
    monitors : mapping of str to Monitor
    open_source : callable

    Attributes
    ----------
    unreadable : set of str
        Monitors whose tables could not be opened.
    """

    def __init__(
        self,
        monitors: Mapping[str, Monitor],
        open_source: Callable[[Monitor], PredictionSource],
    ) -> None:
        self._monitors = monitors
        self._open_source = open_source
        self._open: dict[str, PredictionSource] = {}
        self.unreadable: set[str] = set()

    def of(self, name: str) -> PredictionSource:
        """The tables of a monitor, which stay open until several others have been used."""
        if name in self._open:
            self._open[name] = self._open.pop(name)
            return self._open[name]
        while len(self._open) >= _OPEN_AT_ONCE:
            self.let_go(next(iter(self._open)))
        try:
            self._open[name] = self._open_source(self._monitors[name])
        except Exception:
            self.unreadable.add(name)
            raise
        return self._open[name]

    def are_at_fault(self, name: str) -> bool:
        """Whether a monitor's tables cannot be opened, or opened anew, after an attempt failed.

        Opening checks the connection, the table and its columns only, so an error in it concerns
        every window.
        """
        if name not in self.unreadable:
            self.let_go(name)
            # Its error has been reported, or is about to be.
            with suppress(Exception):
                self.of(name)
        return name in self.unreadable

    def let_go(self, name: str) -> None:
        """Close the tables of a monitor, if they are open."""
        source = self._open.pop(name, None)
        if source is not None:
            # A connection that is gone may not close any more.
            with suppress(Exception):
                source.close()

    def close(self) -> None:
        """Close all of them."""
        for name in list(self._open):
            self.let_go(name)
