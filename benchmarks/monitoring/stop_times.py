"""How long `pumonitor serve` takes to stop while a destination is at its worst.

`python -m benchmarks.monitoring.stop_times [--signal SIGHUP]`. MLflow and a webhook are a server
that takes no connection, one that never answers, one that answers a byte at a time, and one that
answers 500; messages are on their way when the signal comes. Printed are seconds until the process
has ended, its status, and leases left behind. Limits: 20 seconds, none.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import func, select

from benchmarks.alert_lateness import MONITORS, fails, hangs, server, write_shop
from pumonitor.monitor.app import open_ledger
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.ledger.database.schema import outbox, windows

LIMIT_SECONDS = 20.0


@contextmanager
def takes_no_connection() -> Iterator[str]:
    """An address whose queue is full: who connects waits."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listening:
        fillers = []
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(listening.getsockname())
            fillers.append(filler)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        for filler in fillers:
            filler.close()


@contextmanager
def drips() -> Iterator[str]:
    """A server that answers a byte a second, and never comes to an end."""

    def react(handler: object) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")  # type: ignore[attr-defined]
        while True:
            handler.wfile.write(b" ")  # type: ignore[attr-defined]
            handler.wfile.flush()  # type: ignore[attr-defined]
            threading.Event().wait(1)

    with server(react) as address:
        yield address


KINDS = {
    "takes no connection": takes_no_connection,
    "never answers": lambda: server(hangs),
    "answers byte by byte": drips,
    "answers 500": lambda: server(fails),
}


def left_behind(path: Path) -> int:
    """Leases in the state database."""
    with (
        open_ledger(read_configuration(path).configuration) as ledger,
        ledger.database.reading() as connection,
    ):
        of_windows = connection.scalar(
            select(func.count()).select_from(windows).where(windows.c.lease_owner.is_not(None))
        )
        of_messages = connection.scalar(
            select(func.count())
            .select_from(outbox)
            .where(outbox.c.claimed_by.is_not(None), outbox.c.delivered_at.is_(None))
        )
    return int(of_windows or 0) + int(of_messages or 0)


def stopped(path: Path, number: signal.Signals) -> tuple[float, int]:
    """Seconds from the signal to the end of `serve`, and its status."""
    code = "from pumonitor.cli.app import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "serve", "--config", path],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        rounds = 0
        for line in process.stderr:
            rounds += bool(re.search("shop-.*collected", line))
            if rounds == MONITORS:
                break
        # The first requests are under way.
        time.sleep(3)
        begun = time.monotonic()
        process.send_signal(number)
        threading.Thread(target=process.stderr.read, daemon=True).start()
        status = process.wait()
        return time.monotonic() - begun, status


def main() -> None:
    """Time it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--signal", default="SIGTERM", choices=["SIGTERM", "SIGHUP", "SIGINT"])
    number = signal.Signals[parser.parse_args().signal]
    missed = 0
    print(f"{'destination':<22} seconds  status  leases left")
    for name, destination in KINDS.items():
        with tempfile.TemporaryDirectory() as folder, destination() as address:
            path = write_shop(Path(folder), mlflow=address, hook=address)
            took, status = stopped(path, number)
            left = left_behind(path)
        missed += took > LIMIT_SECONDS or left > 0
        print(f"{name:<22} {took:>7.1f}  {status:>6}  {left:>11}", flush=True)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
