"""Backfill: evaluate the windows of a range, each as known at its own moments, in processes."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from multiprocessing.connection import Connection, wait
from pathlib import Path
from signal import SIGKILL
from threading import Thread
from typing import Literal

from pumonitor.monitor.app import open_jobs, shared_clock, utc_now
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.jobs import Jobs
from pumonitor.monitor.ledger.records.windows import WindowRecord
from pumonitor.monitor.own_process import collect_garbage_seldom
from pumonitor.monitor.round import Round
from pumonitor.ports import Window
from pumonitor.text import window_text

__all__ = ["Reprocess", "Scope", "backfill", "scope_of"]

Reprocess = Literal["missing", "failed", "all"]
_POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The windows and panes of a backfill.

    Attributes
    ----------
    monitor : str
    windows : tuple of Window
        All windows of its range that have ended.
    known : tuple of WindowRecord
        Those of them that are in the ledger.
    panes_due : int
        Number of panes due at the moment of the backfill.
    panes_done : int
        Number of these panes that are evaluated.
    """

    monitor: str
    windows: tuple[Window, ...]
    known: tuple[WindowRecord, ...]
    panes_due: int
    panes_done: int


def scope_of(jobs: Jobs, name: str, *, start: datetime, end: datetime, now: datetime) -> Scope:
    """Find the windows that a backfill would work on, without changing anything."""
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
    on_progress: Callable[[str, float], None] = lambda what, share: None,
) -> Round:
    """Evaluate the windows that start in [start, end), as they were known at their own moments.

    Parameters
    ----------
    path : Path
        The configuration file.
    monitor : str, optional
        By default all monitors.
    start, end : datetime
    as_of : datetime, optional
        Only panes of this moment or earlier are evaluated, from the versions that tables in lakes
        had then; by default now.
    reprocess : {"missing", "failed", "all"}
        Which windows in the ledger are evaluated again.
    workers : int
        Number of processes; with 1 the work is done in this process.
    on_progress : callable
        Called with the current step and the share of the work done.

    Returns
    -------
    Round
        Without deliveries: messages stay in the outbox.
    """
    moment = utc_now() if as_of is None else as_of
    configuration = read_configuration(path).configuration
    done = Round()
    with open_jobs(
        configuration,
        monitor=monitor,
        clock=lambda: moment,
        as_of=as_of,
        deliver=False,
        notify=False,
    ) as jobs:
        if as_of is None and (note := shared_clock(jobs.ledger).check()):
            done.notes.append(note)
        for name in jobs.monitors:
            planned = jobs.plan_or_note(name, done, start=start, end=end)
            if planned and reprocess != "missing":
                keys = [
                    one.window_key
                    for one in jobs.ledger.windows(
                        name, since=planned[0].start, until=planned[-1].end
                    )
                ]
                jobs.ledger.reopen(keys, which=reprocess, actor=jobs.owner)
        if workers == 1:
            done.add(
                jobs.drain(
                    on_progress=lambda what, ready, of: on_progress(what, ready / max(of, 1))
                )
            )
            jobs.advance_alerts(done)
            return done
        parts = [
            _Part(
                path=path,
                monitor=monitor,
                moment=moment,
                as_of=as_of,
                place=place,
                workers=workers,
            )
            for place in range(workers)
        ]
        waiting = [_Worker(part) for part in parts]
        while waiting:
            ready = wait([one.answer for one in waiting], timeout=_POLL_SECONDS)
            for one in [one for one in waiting if one.answer in ready]:
                waiting.remove(one)
                done.add(one.result())
            on_progress("Working", _share_done(jobs, moment))
        jobs.advance_alerts(done)
    return done


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Arguments of one worker process."""

    path: Path
    monitor: str | None
    moment: datetime
    as_of: datetime | None
    place: int
    workers: int


class _Worker:
    """A worker process. If it dies, the others go on."""

    def __init__(self, part: _Part) -> None:
        name = f"worker {part.place + 1} of {part.workers}"
        # A fork would share database connections.
        context = multiprocessing.get_context("spawn")
        self.answer, sender = context.Pipe(duplex=False)
        self._process = context.Process(
            target=_work, args=(part, name, sender), name=name, daemon=True
        )
        self._process.start()
        # Only the worker holds the other end now, so `recv` fails if it dies.
        sender.close()

    def result(self) -> Round:
        """The result of the process, or a Round with the failure that ended it."""
        try:
            done: Round = self.answer.recv()
        except EOFError:
            self._process.join()
            code = self._process.exitcode or 0
            how = f"was killed by signal {-code}" if code < 0 else f"ended with status {code}"
            why = ", short of memory?" if code == -SIGKILL else ""
            then = "others take over what it held, or else the next run"
            return Round(failures=[f"{self._process.name} {how}{why}: {then}"])
        self._process.join()
        return done


def _work(part: _Part, name: str, sender: Connection) -> None:
    """Main function of a worker process: work until nothing is left, then send the result."""
    _keep_to_part_of_the_cores(part)
    collect_garbage_seldom()
    try:
        configuration = read_configuration(part.path).configuration
        with open_jobs(
            configuration,
            monitor=part.monitor,
            clock=lambda: part.moment,
            as_of=part.as_of,
            deliver=False,
            notify=False,
        ) as jobs:
            Thread(target=_stop_with_parent, args=(jobs,), daemon=True).start()
            done = jobs.drain_with_others()
    except Exception as error:  # noqa: BLE001 (raised again by the waiting process)
        done = Round()
        done.failed(name, error)
    # The parent process may be dead.
    with suppress(BrokenPipeError):
        sender.send(done)


def _stop_with_parent(jobs: Jobs) -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        jobs.stop()


def _keep_to_part_of_the_cores(part: _Part) -> None:
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        own = cores[part.place % len(cores) :: part.workers] or cores
        os.sched_setaffinity(0, own)


def _share_done(jobs: Jobs, moment: datetime) -> float:
    backlogs = [jobs.ledger.counts(now=moment, monitor=name) for name in jobs.monitors]
    windows = sum(one.windows for one in backlogs)
    left = sum(one.to_collect + one.to_evaluate for one in backlogs)
    return 1.0 if windows == 0 else max(1 - left / (2 * windows), 0.0)


def windows_named(windows: Sequence[Window]) -> str:
    """Describe windows by number, begin and end."""
    if not windows:
        return "no windows"
    first, last = windows[0], windows[-1]
    return f"{len(windows)} windows from {window_text(first.start, last.end)}"
