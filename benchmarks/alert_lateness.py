"""How late alerts are posted while MLflow hangs, answers 500, or takes 20 seconds a call.

`python -m benchmarks.alert_lateness [--quick]` runs `pumonitor run` and `pumonitor serve` on three
monitors beside such a server and a webhook. Late: from the commit that put the alert into the state
database until the webhook has it. Limit: 10 seconds.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pandas as pd
from sqlalchemy import select

from pumonitor.monitor.app import open_ledger
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.delivery.http.signatures import message_id
from pumonitor.monitor.ledger.database.schema import outbox

TODAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
DAYS = 3
MONITORS = 3
LIMIT_SECONDS = 10.0
MONITOR = """\
  shop-{number}:
    predictions:
      {{source: predictions.parquet, id: id, time: at, score: score, segments: [country]}}
    positives: {{source: confirmations.parquet, id: id, known_at: known_at}}
    window: 1d
    maturity: 1d
    panes: []
    threshold: 0.5
    rules:
      - {{metric: recall, below: 0.999, severity: critical}}
      - {{metric: aul, below: 0.999, per: country}}
"""
Answers = Callable[[BaseHTTPRequestHandler], None]


def answer(handler: BaseHTTPRequestHandler, status: int = 200) -> None:
    handler.send_response(status)
    handler.send_header("Content-Length", "2")
    handler.end_headers()
    handler.wfile.write(b"{}")


def hangs(handler: BaseHTTPRequestHandler) -> None:
    threading.Event().wait(600)


def fails(handler: BaseHTTPRequestHandler) -> None:
    answer(handler, 500)


def takes_20_seconds(handler: BaseHTTPRequestHandler) -> None:
    threading.Event().wait(20)
    answer(handler)


MODES: dict[str, Answers] = {"hangs": hangs, "500": fails, "20 s a call": takes_20_seconds}


@contextmanager
def server(react: Answers) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            react(self)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, *_: object) -> None:
            """A client that gave up waiting is what this is about."""

    one = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=one.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{one.server_address[1]}"
    finally:
        one.shutdown()
        one.server_close()


def write_shop(folder: Path, *, mlflow: str, hook: str) -> Path:
    rng = np.random.default_rng(5)
    rows = 600 * DAYS
    first = TODAY - timedelta(days=DAYS + 1)
    is_fraud = rng.random(rows) < 0.1
    at = first + pd.to_timedelta(np.sort(rng.uniform(0, DAYS * 86_400, rows)), unit="s")
    scores = 1 / (1 + np.exp(-rng.normal(2.5 * is_fraud - 1.5)))
    country = rng.choice(["DE", "FR", "IT", "NL"], rows)
    pd.DataFrame({"id": np.arange(rows), "at": at, "score": scores, "country": country}).to_parquet(
        folder / "predictions.parquet"
    )
    known = np.flatnonzero(is_fraud & (rng.random(rows) < 0.7))
    delay = pd.to_timedelta(rng.uniform(0, 86_400, len(known)), unit="s")
    pd.DataFrame({"id": known, "known_at": at[known] + delay}).to_parquet(
        folder / "confirmations.parquet"
    )
    path = folder / "pumonitor.yaml"
    path.write_text(
        f"state: sqlite:///state.db\ntracking: {{uri: '{mlflow}'}}\n"
        f"destinations:\n  hook: {{webhook: '{hook}', allow_private: true}}\nmonitors:\n"
        + "".join(MONITOR.format(number=number) for number in range(MONITORS))
    )
    return path


def committed(path: Path) -> dict[str, float]:
    """When each message for the webhook was committed, by its id."""
    with (
        open_ledger(read_configuration(path).configuration) as ledger,
        ledger.database.reading() as connection,
    ):
        rows = connection.execute(
            select(outbox.c.key, outbox.c.created).where(outbox.c.destination == "alerts:hook")
        )
        return {message_id("alerts:hook", row.key): row.created.timestamp() for row in rows}


def ran(command: str, path: Path) -> tuple[float, int]:
    """Seconds and exit status of the command; `serve` is told to end when all is evaluated."""
    code = "from pumonitor.cli.app import main; main()"
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    begun = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-c", code, command, "--config", path],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        if command == "serve":
            assert process.stderr is not None
            rounds = 0
            for line in process.stderr:
                rounds += "collected" in line and "shop-" in line
                if rounds == MONITORS:
                    break
            time.sleep(LIMIT_SECONDS + 2)
            process.send_signal(signal.SIGTERM)
        process.communicate()
    return time.monotonic() - begun, process.returncode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="only an MLflow that hangs")
    modes = ["hangs"] if parser.parse_args().quick else list(MODES)
    missed = 0
    print("command  MLflow        alerts  not posted  late: median   most  command took, status")
    for command in ("run", "serve"):
        for mode in modes:
            arrived: dict[str, float] = {}

            def take(handler: BaseHTTPRequestHandler, into: dict[str, float] = arrived) -> None:
                into.setdefault(handler.headers["webhook-id"], time.time())
                answer(handler)

            with (
                tempfile.TemporaryDirectory() as folder,
                server(MODES[mode]) as mlflow,
                server(take) as hook,
            ):
                path = write_shop(Path(folder), mlflow=mlflow, hook=hook)
                took, status = ran(command, path)
                at = committed(path)
            late = [arrived[one] - moment for one, moment in at.items() if one in arrived]
            missing = len(at) - len(late)
            missed += missing + sum(one > LIMIT_SECONDS for one in late)
            middle, most = statistics.median(late), max(late)
            print(
                f"{command:<8} {mode:<13} {len(at):>6}  {missing:>10}  {middle:>10.2f} s"
                f"  {most:>5.2f} s  {took:.0f} s, {status}"
            )
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
