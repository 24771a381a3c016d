"""Workers that kill themselves right before or after they commit, forked as the input says.

`python campaign_worker.py [mlflow]`, with what is imported before they are forked. A line of input
is JSON: a configuration, the moment as of which its workers work, of each the point at which it
dies, as by kill -9 (0 lets it live), and whether they do one round only, whatever fails in it.
Points are counted over all threads of a worker: one before and one after each commit to the state
database. A line of output has the exit code and the points reached of each; who lives works until
nothing is left to do or to send. Who is left without a parent ends.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import Any

import alembic.command  # noqa: F401
import duckdb  # noqa: F401
import psycopg  # noqa: F401
import yaml  # noqa: F401

import pumonitor.monitor.delivery.notifications.webhook
import pumonitor.monitor.ledger.database.migrations.upgrade
import pumonitor.sources.windows.counts_source  # noqa: F401
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.jobs import Jobs
from pumonitor.monitor.ledger.database.connections import Database

BUDGET = timedelta(seconds=120)
PATIENCE_SECONDS = 150.0


class Points:
    """Counts the points that a worker reaches, and kills it at one."""

    def __init__(self, fatal: int, parent: int) -> None:
        self.reached = 0
        self._fatal, self._parent, self._lock = fatal, parent, Lock()

    def reach(self) -> None:
        with self._lock:
            self.reached += 1
            if os.getppid() != self._parent:
                os._exit(1)
            if self.reached == self._fatal:
                os.kill(os.getpid(), signal.SIGKILL)

    def watch(self) -> None:
        begin_writing = Database.writing

        @contextmanager
        def writing(database: Database) -> Iterator[Any]:
            with begin_writing(database) as connection:
                yield connection
                self.reach()
            self.reach()

        Database.writing = writing  # type: ignore[method-assign]


def is_done(jobs: Jobs, now: datetime) -> bool:
    left = jobs.ledger.counts(now=now)
    return not (left.to_collect or left.to_evaluate or jobs.ledger.outbox.waiting())


def work(path: str, now: datetime, *, once: bool) -> None:
    configuration = read_configuration(Path(path)).configuration
    if once:
        with open_jobs(configuration, clock=lambda: now, deliver=False) as jobs:
            jobs.run()
        return
    until = time.monotonic() + PATIENCE_SECONDS
    with open_jobs(configuration, clock=lambda: now) as jobs:
        while True:
            done = jobs.run(budget=BUDGET)
            if done.failures:
                raise RuntimeError(done.failures)
            if is_done(jobs, now):
                return
            if time.monotonic() > until:
                msg = f"not done: {jobs.ledger.outbox.waiting()}, {jobs.ledger.holders()}"
                raise TimeoutError(msg)
            time.sleep(0.1)


def fork(path: str, now: datetime, fatal: int, report: int, *, once: bool) -> int:
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        points = Points(fatal, parent)
        points.watch()
        try:
            work(path, now, once=once)
            os.write(report, f"{os.getpid()} {points.reached}\n".encode())
        except BaseException:  # noqa: BLE001 (told by the exit status)
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return child


def main() -> None:
    if "mlflow" in sys.argv[1:]:
        import mlflow  # noqa: F401
    for line in sys.stdin:
        told = json.loads(line)
        now = datetime.fromisoformat(told["now"])
        here, there = os.pipe()
        workers = [
            fork(told["configuration"], now, fatal, there, once=told["once"])
            for fatal in told["fates"]
        ]
        codes = {one: os.waitstatus_to_exitcode(os.waitpid(one, 0)[1]) for one in workers}
        os.close(there)
        with os.fdopen(here) as reports:
            reached = dict(map(int, one.split()) for one in reports)
        answer = [(codes[one], reached.get(one, 0)) for one in workers]
        print(json.dumps(answer), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
