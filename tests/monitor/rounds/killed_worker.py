"""Workers that kill themselves, forked by `python killed_worker.py` as its input says.

A line of input is JSON: a configuration, the moment as of which its workers work, and the fate of
each: the step at which it dies, as by kill -9, when it comes to it for the so manieth time; 0 lets
it live. They start at once, with imports that were made once. A line of output has the exit codes.
Who is left without a parent ends.
"""

import json
import os
import signal
import sys
import time
import traceback
from datetime import datetime, timedelta
from pathlib import Path

import alembic.command  # noqa: F401
import duckdb  # noqa: F401
import psycopg  # noqa: F401
import yaml  # noqa: F401

import pumonitor.monitor.ledger.database.migrations.upgrade
import pumonitor.sources.windows.counts_source  # noqa: F401
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.ledger.claims.claims import WorkRules

LEASE = timedelta(seconds=0.5)
# On a slow machine a lease may run out under a worker that lives: no window is given up for it.
RULES = WorkRules(lease=LEASE, attempts_allowed=10_000, first_wait=LEASE, longest_wait=LEASE)
POLL_SECONDS = 0.02


def work(path: str, *, now: datetime, fatal: str, times: int, parent: int) -> None:
    seen = 0

    def on_step(step: str) -> None:
        nonlocal seen
        if os.getppid() != parent:
            os._exit(1)
        seen += step == fatal
        if step == fatal and seen == times:
            os.kill(os.getpid(), signal.SIGKILL)

    configuration = read_configuration(Path(path)).configuration
    with open_jobs(
        configuration, clock=lambda: now, deliver=False, rules=RULES, on_step=on_step
    ) as jobs:
        done = jobs.run()
        done.add(jobs.drain_with_others())
    if done.failures:
        raise RuntimeError(done.failures)


def fork(path: str, now: datetime, fatal: str, times: int) -> int:
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            work(path, now=now, fatal=fatal, times=times, parent=parent)
        except BaseException:  # noqa: BLE001 (told by the exit status)
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return child


def exit_codes(workers: list[int]) -> list[int]:
    started_by = os.getppid()
    codes: dict[int, int] = {}
    while len(codes) < len(workers):
        child, status = os.waitpid(-1, os.WNOHANG)
        if child:
            codes[child] = os.waitstatus_to_exitcode(status)
        elif os.getppid() != started_by:
            os._exit(1)
        else:
            time.sleep(POLL_SECONDS)
    return [codes[worker] for worker in workers]


def main() -> None:
    for line in sys.stdin:
        told = json.loads(line)
        now = datetime.fromisoformat(told["now"])
        workers = [fork(told["configuration"], now, *fate) for fate in told["fates"]]
        print(json.dumps(exit_codes(workers)), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
