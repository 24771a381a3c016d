"""Plan windows: store those that are due in the ledger, with all their panes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from pumonitor.errors import InputError
from pumonitor.monitor.config.file import configuration_meaning
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.standings import Standing
from pumonitor.monitor.windows.due.due_windows import due_windows, have_stopped
from pumonitor.monitor.windows.due.settled import all_planned
from pumonitor.monitor.windows.evaluation.baseline import baseline_period
from pumonitor.ports import Clock, PredictionSource, Window
from pumonitor.text import moment_text


class Planner:
    """Plans the windows of monitors; reads tables only if a window may be due.

    Parameters
    ----------
    monitors : mapping of str to Monitor
    hashes : mapping of str to str
        Of their configurations.
    ledger : Ledger
    source_of : callable
        The open tables of a monitor by its name.
    clock : Clock
    files_of : callable
        Digest of a monitor's files as they are now; None for other tables.
    place : str, optional
        Machine and file of the configuration.
    """

    def __init__(
        self,
        monitors: Mapping[str, Monitor],
        hashes: Mapping[str, str],
        ledger: Ledger,
        *,
        source_of: Callable[[str], PredictionSource],
        clock: Clock,
        files_of: Callable[[Monitor], str | None],
        place: str | None = None,
    ) -> None:
        self._monitors = monitors
        self._hashes = hashes
        self._ledger = ledger
        self._source_of = source_of
        self._clock = clock
        self._files_of = files_of
        self._place = place
        self.takes_over = False
        self._stopped: set[str] = set()
        self._known: dict[str, Standing] = {}

    def of_range(self, name: str, start: datetime, end: datetime) -> list[Window]:
        """Windows of a range that have ended.

        Raises
        ------
        InputError
            If the range has not begun, or if times of predictions are impossible, because rows that
            are in no window would be left out unnoticed.
        """
        now = self._clock()
        if start >= now:
            msg = (
                f"no window from {moment_text(start)} on has ended yet: it is "
                f"{moment_text(now)} now; choose an earlier start"
            )
            raise InputError(msg)
        self._source_of(name).span()
        windows = self._monitors[name].windows.between(start, min(end, now))
        return [window for window in windows if window.end <= now]

    def plan_range(self, name: str, start: datetime, end: datetime) -> list[Window]:
        """Store the ended windows of a range in the ledger.

        Windows of the reference are stored too, since other windows are compared with them.
        """
        windows = self.of_range(name, start, end)
        self._put_into_ledger(name, [*self._reference_before(name, windows), *windows])
        return windows

    def plan(self, name: str) -> list[Window]:
        """Store the windows in the ledger that are due by the predictions present.

        Windows that are stored already are left out.
        """
        monitor, now = self._monitors[name], self._clock()
        # Before the tables are read: what is written meanwhile is seen by the next round.
        files = self._files_of(monitor)
        span = self._source_of(name).span()
        windows = [] if span is None else due_windows(monitor, *span, now=now)
        left = self._not_planned_by(self._known.get(name), windows)
        self._put_into_ledger(name, left)
        found = Standing(
            monitor=name,
            configuration=self._hashes[name],
            files=files,
            set_aside=self._source_of(name).set_aside(),
        )
        if span is not None:
            begin = monitor.windows.containing(span[0]).start
            found = replace(
                found,
                first_prediction=span[0],
                last_prediction=span[1],
                planned_until=windows[-1].end if windows else begin,
            )
        self._ledger.standings.planned(found)
        self._note_whether_stopped(found)
        return left

    def unplanned(self, names: Iterable[str]) -> Iterator[str]:
        """Monitors whose tables must be read to see whether all windows are planned."""
        current = self._ledger.standings.current_configurations()
        self._known = {
            name: standing
            for name, standing in self._ledger.standings.all().items()
            if standing.configuration == self._hashes.get(name) == current.get(name)
        }
        for name in names:
            standing = self._known.get(name)
            if standing is not None and self._is_planned(name, standing):
                self._note_whether_stopped(standing)
            else:
                yield name

    def has_stopped(self, name: str) -> bool:
        """Whether no window of a monitor is due until there are new predictions.

        It is the result of this round; False if the tables could not be read.
        """
        return name in self._stopped

    def _is_planned(self, name: str, standing: Standing) -> bool:
        monitor = self._monitors[name]
        files = self._files_of(monitor)
        return all_planned(monitor, standing, files=files, now=self._clock())

    def _not_planned_by(self, known: Standing | None, windows: list[Window]) -> list[Window]:
        """Windows that no earlier round planned; all if that round began with a later window."""
        first, until = (
            (None, None) if known is None else (known.first_prediction, known.planned_until)
        )
        # To the window and not to the moment: how exact times are depends on how they are stored.
        if first is None or until is None or not windows or windows[0].end <= first:
            return windows
        return [window for window in windows if window.end > until]

    def _reference_before(self, name: str, windows: Sequence[Window]) -> list[Window]:
        """Windows of the reference that end before these windows begin, once they are mature."""
        monitor = self._monitors[name]
        period = baseline_period(monitor)
        if not windows or period.start is None or period.end is None:
            return []
        end = min(period.end, windows[0].start)
        if period.start >= end or self._clock() < period.end + monitor.maturity:
            return []
        span = self._source_of(name).span()
        if span is None:
            return []
        start = max(period.start, monitor.windows.containing(span[0]).start)
        return list(monitor.windows.between(start, end)) if start < end else []

    def _put_into_ledger(self, name: str, windows: Sequence[Window]) -> None:
        monitor, key = self._monitors[name], self._hashes[name]
        self._ledger.register_monitor(
            name,
            key,
            meaning=configuration_meaning(monitor),
            place=self._place,
            takes_over=self.takes_over,
        )
        schedule = monitor.pane_schedule
        self._ledger.plan(name, key, [pane for one in windows for pane in schedule.panes(one)])

    def _note_whether_stopped(self, standing: Standing) -> None:
        name, last = standing.monitor, standing.last_prediction
        self._stopped.discard(name)
        if last is not None and have_stopped(self._monitors[name], last, now=self._clock()):
            self._stopped.add(name)
