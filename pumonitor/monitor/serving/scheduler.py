"""Runs the rounds of `pumonitor serve` on their schedules; APScheduler is imported only here."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta
from functools import partial
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final

from pumonitor.errors import PumonitorError
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.config.values.cron import read_cron
from pumonitor.monitor.serving.turns import Turns

if TYPE_CHECKING:
    from apscheduler.schedulers.background import BackgroundScheduler

_log = logging.getLogger("pumonitor")

_RETRY_EVERY: Final = timedelta(minutes=10)

# A tick that comes late still runs, several missed ones run once, none beside itself.
_TICKS: Final[Mapping[str, Any]] = {
    "coalesce": True,
    "max_instances": 1,
    "misfire_grace_time": None,
}


class Service:
    """Runs a round for each monitor when it is due, until it is stopped.

    Rounds keep no state: each plans the missing windows and evaluates those that are due, so a
    round may be missed, repeated or interrupted without harm.

    Parameters
    ----------
    monitors : mapping of str to Monitor
        A round is run on each monitor's schedule, or every hour without one.
    workers : sequence of callable
        Each does one round for one monitor, in a thread of its own.
    turns : Turns
        Says which monitor is next.
    tidy : callable
        Deletes what is no longer needed.
    failing : callable
        Monitors with windows that failed; they are tried again before their schedule says so.
    tidy_every : timedelta
    """

    def __init__(
        self,
        monitors: Mapping[str, Monitor],
        *,
        workers: Sequence[Callable[[str], None]],
        turns: Turns,
        tidy: Callable[[], object],
        failing: Callable[[], Collection[str]] = tuple,
        tidy_every: timedelta = timedelta(minutes=1),
    ) -> None:
        self._monitors = dict(monitors)
        self._workers = tuple(workers)
        self._turns = turns
        self._tidy = tidy
        self._failing = failing
        self._tidy_every = tidy_every
        self._stopped = Event()

    def serve(self, *, at_once: bool = True) -> None:
        """Run rounds until `stop` is called; windows begun are finished.

        Parameters
        ----------
        at_once : bool
            Whether every monitor has a round at the start.
        """
        scheduler = self._scheduler()
        threads = [
            Thread(target=self._rounds, args=(work,), name=f"worker {number}")
            for number, work in enumerate(self._workers, start=1)
        ]
        scheduler.start()
        try:
            if at_once:
                for name in self._monitors:
                    self._turns.ask(name)
            for thread in threads:
                thread.start()
            self._stopped.wait()
        finally:
            self._turns.close()
            for thread in threads:
                thread.join()
            scheduler.shutdown(wait=True)

    def stop(self) -> None:
        """Stop after the window that is being evaluated."""
        self._stopped.set()

    def _scheduler(self) -> BackgroundScheduler:
        from apscheduler.jobstores.memory import MemoryJobStore
        from apscheduler.schedulers.background import BackgroundScheduler
        from apscheduler.triggers.cron import CronTrigger
        from apscheduler.triggers.interval import IntervalTrigger

        scheduler = BackgroundScheduler(
            jobstores={"default": MemoryJobStore()}, timezone="UTC", job_defaults=dict(_TICKS)
        )
        for name, monitor in self._monitors.items():
            schedule = monitor.schedule or read_cron("0 * * * *")
            for fields in schedule.fields():
                scheduler.add_job(
                    self._turns.ask, CronTrigger(timezone="UTC", **fields), args=[name], name=name
                )
        scheduler.add_job(
            self._tick_tidying,
            IntervalTrigger(seconds=self._tidy_every.total_seconds(), timezone="UTC"),
            name="tidying",
        )
        scheduler.add_job(
            self._tick_failing,
            IntervalTrigger(seconds=_RETRY_EVERY.total_seconds(), timezone="UTC"),
            name="trying again",
        )
        return scheduler

    def _rounds(self, work: Callable[[str], None]) -> None:
        """One worker: a round for whichever monitor is next, until the service stops."""
        while (name := self._turns.wait()) is not None:
            try:
                self._guarded(partial(work, name), f"the round of {name}")
            finally:
                self._turns.done(name)

    def _tick_tidying(self) -> None:
        if not self._stopped.is_set():
            self._guarded(self._tidy, "deleting what was kept long enough")

    def _tick_failing(self) -> None:
        def ask() -> None:
            for name in self._failing():
                self._turns.ask(name)

        self._guarded(ask, "looking for windows that failed")

    def _guarded(self, work: Callable[[], object], what: str) -> None:
        """Run a round; a failure is logged and later rounds still run."""
        try:
            work()
        except PumonitorError as error:
            _log.error("%s failed and will be tried again: %s", what, error)
        except Exception:  # noqa: BLE001 (whatever it is, the next round is due)
            _log.exception("%s failed and will be tried again", what)
