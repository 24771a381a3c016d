"""Windows of a stretch of time worked through at once, by several processes where that helps."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from pumonitor.ports import Window
from pumonitor.service.app import open_jobs, utc_now
from pumonitor.service.config_file import read_configuration
from pumonitor.service.jobs import Jobs, Round
from pumonitor.store.records import WindowRecord

__all__ = ["Reprocess", "Scope", "backfill", "scope_of"]

Reprocess = Literal["missing", "failed", "all"]
_LOOK_EVERY = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What a backfill is about.

    Attributes
    ----------
    monitor : str
    windows : tuple of Window
        All that have ended in its range.
    known : tuple of WindowRecord
        Those of them that are in the ledger.
    panes_due : int
        Panes of all windows as of the moment of the backfill.
    panes_done : int
        Those that are evaluated.
    """

    monitor: str
    windows: tuple[Window, ...]
    known: tuple[WindowRecord, ...]
    panes_due: int
    panes_done: int


def scope_of(jobs: Jobs, name: str, *, start: datetime, end: datetime, now: datetime) -> Scope:
    """Look only: which windows a backfill would work on."""
    windows = tuple(jobs.windows_due(name, start=start, end=end))
    schedule = jobs.monitors[name].pane_schedule
    known: tuple[WindowRecord, ...] = ()
    if windows:
        known = jobs.ledger.windows(name, since=windows[0].start, until=windows[-1].end)
    return Scope(
        monitor=name,
        windows=windows,
        known=known,
        panes_due=sum(len(schedule.due(window, now)) for window in windows),
        panes_done=sum(
            pane.status == "evaluated" and pane.as_of <= now for one in known for pane in one.panes
        ),
    )


def backfill(
    path: Path,
    monitor: str | None,
    *,
    start: datetime,
    end: datetime,
    as_of: datetime | None = None,
    reprocess: Reprocess = "missing",
    workers: int = 1,
    told: Callable[[str, float], None] = lambda what, share: None,
) -> Round:
    """Evaluate the windows that start in [start, end), as they were known at their own moments.

    Parameters
    ----------
    path : Path
        The configuration file.
    monitor : str, optional
        All without it.
    start, end : datetime
    as_of : datetime, optional
        Only what was known by then counts; now without it.
    reprocess : {"missing", "failed", "all"}
        Which windows in the ledger are worked on again.
    workers : int
        Processes; one works here.
    told : callable
        Called with what is done and the share of it.

    Returns
    -------
    Round
        Without deliveries: what is to be sent waits in the outbox.
    """
    moment = utc_now() if as_of is None else as_of
    configuration = read_configuration(path).configuration
    done = Round()
    with open_jobs(configuration, monitor=monitor, clock=lambda: moment, deliver=False) as jobs:
        for name in jobs.monitors:
            planned = jobs.plan(name, start=start, end=end)
            done.planned += len(planned)
            if planned and reprocess != "missing":
                keys = [
                    one.window_key
                    for one in jobs.ledger.windows(
                        name, since=planned[0].start, until=planned[-1].end
                    )
                ]
                jobs.ledger.reopen(keys, which=reprocess, actor=jobs.owner)
        if workers == 1:
            done.add(jobs.drain(told=lambda what, ready, of: told(what, ready / max(of, 1))))
            return done
        with _pool(workers) as pool:
            futures = [
                pool.submit(_work, path, monitor, moment, place, workers)
                for place in range(workers)
            ]
            waiting = set(futures)
            while waiting:
                _, waiting = wait(waiting, timeout=_LOOK_EVERY)
                told("Working", _share_done(jobs, moment))
            for future in futures:
                done.add(future.result())
    return done


def _pool(workers: int) -> ProcessPoolExecutor:
    # A fork would share database connections.
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))


def _work(path: Path, monitor: str | None, moment: datetime, place: int, workers: int) -> Round:
    """One process, with its part of the cores: until nothing is left that it can do."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        own = cores[place % len(cores) :: workers] or cores
        os.sched_setaffinity(0, own)
    configuration = read_configuration(path).configuration
    with open_jobs(configuration, monitor=monitor, clock=lambda: moment, deliver=False) as jobs:
        return jobs.drain_with_others()


def _share_done(jobs: Jobs, moment: datetime) -> float:
    backlogs = [jobs.ledger.counts(now=moment, monitor=name) for name in jobs.monitors]
    windows = sum(one.windows for one in backlogs)
    left = sum(one.to_collect + one.to_evaluate for one in backlogs)
    return 1.0 if windows == 0 else max(1 - left / (2 * windows), 0.0)


def windows_named(windows: Sequence[Window]) -> str:
    """How many, from when to when."""
    if not windows:
        return "no windows"
    first, last = windows[0], windows[-1]
    return f"{len(windows)} windows from {first.start:%Y-%m-%d %H:%M} to {last.end:%Y-%m-%d %H:%M}"
