"""Workers whose clock is off by hours, forked as the input says; some kill themselves.

A line of input is JSON: a configuration, the true time, by how many hours the worker's clock is
off, how long ago the machine was started, and the commit at which it dies, 0 for none. The state
database's own clock is right. A line of output has the exit code and what the round had to say. Of
the kinds of code -9 is a kill, 3 a round that was refused because of a clock.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb  # noqa: F401
import psycopg  # noqa: F401

import pumonitor.monitor.delivery.notifications.webhook
import pumonitor.sources.windows.counts_source  # noqa: F401
from pumonitor.monitor import app
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.ledger import shared_clock
from pumonitor.monitor.ledger.database.connections import Database


def die_at(fatal: int) -> None:
    begin_writing, reached = Database.writing, 0

    @contextmanager
    def writing(database: Database, **how: Any) -> Iterator[Any]:
        nonlocal reached
        with begin_writing(database, **how) as connection:
            yield connection
        reached += 1
        if reached == fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    Database.writing = writing  # type: ignore[method-assign]


def work(told: dict[str, Any]) -> dict[str, Any]:
    now = datetime.fromisoformat(told["now"])
    # As the process finds them; leases go by the time that really passes.
    app.utc_now = lambda: now + timedelta(hours=told["off"])
    shared_clock.since_boot = lambda: ("the boot", told["since_boot"])
    shared_clock.SharedClock._database_now = lambda self, connection: now
    configuration = read_configuration(Path(told["configuration"])).configuration
    with app.open_jobs(configuration) as jobs:
        if told["accept"]:
            app.shared_clock(jobs.ledger).accept(by="ana")
        done = jobs.run(budget=timedelta(seconds=60))
    return {"failures": done.failures, "notes": done.notes}


def main() -> None:
    for line in sys.stdin:
        told = json.loads(line)
        here, there = os.pipe()
        child = os.fork()
        if child == 0:
            die_at(told["fatal"])
            try:
                answer = work(told)
                os.write(there, json.dumps(answer).encode())
            except BaseException as error:  # noqa: BLE001 (told)
                os.write(there, json.dumps({"failures": [repr(error)], "notes": []}).encode())
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.close(there)
        with os.fdopen(here) as report:
            answer = json.loads(report.read() or '{"failures": [], "notes": []}')
        print(json.dumps({"code": code, **answer}), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
