"""Requests to an MLflow server with accounts, where each costs half a second of password hashing.

`python -m benchmarks.monitoring.mlflow_with_accounts [--weeks 28] [--segments 20]`. Weekly windows
of a monitor with segments are evaluated while nothing is delivered. Then all that waits in the
outbox is delivered to `mlflow server --app-name basic-auth`, through a proxy that counts. Printed
are requests by endpoint, requests per window, and seconds. Limit: 5 requests a window.
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
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pandas as pd

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration

LIMIT = 5.0
USER, PASSWORD = "admin", "a password of many letters"
FIRST = datetime(2025, 1, 6, tzinfo=UTC)
ACCOUNTS = """\
[mlflow]
default_permission = NO_PERMISSIONS
database_uri = sqlite:///{folder}/accounts.db
admin_username = {user}
admin_password = {password}
authorization_function = mlflow.server.auth:authenticate_request_basic_auth
"""
CONFIGURATION = """\
state: sqlite:///state.db
tracking: {{uri: "{address}"}}
monitors:
  shop:
    predictions:
      {{source: predictions.parquet, id: id, time: at, score: score, segments: [store]}}
    positives: {{source: confirmations.parquet, id: id, known_at: known_at}}
    window: 1w
    maturity: 4w
    class_prior: 0.1
    threshold: 0.5
"""


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """MLflow with accounts; gives its host and port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (folder / "accounts.ini").write_text(
        ACCOUNTS.format(folder=folder, user=USER, password=PASSWORD)
    )
    command = [sys.executable, "-m", "mlflow", "server", "--app-name", "basic-auth"]
    command += ["--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    command += ["--backend-store-uri", f"sqlite:///{folder / 'mlflow.db'}"]
    command += ["--artifacts-destination", (folder / "artifacts").as_uri()]
    environment = {
        **os.environ,
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_AUTH_CONFIG_PATH": str(folder / "accounts.ini"),
        "MLFLOW_AUTH_ADMIN_PASSWORD": PASSWORD,
        "MLFLOW_FLASK_SERVER_SECRET_KEY": "a key of many characters",
    }
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True
        )
    try:
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2).close()
                break
            except OSError:
                if process.poll() is not None:
                    sys.exit((folder / "server.log").read_text()[-3000:])
                time.sleep(0.5)
        yield f"127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


@contextmanager
def counting(target: str, seen: Counter[str]) -> Iterator[str]:
    """A proxy before a server; gives its host and port."""

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            path = re.sub(r"/\d+/[0-9a-f]{32}/.*", "/FILE", self.path.partition("?")[0])
            seen[f"{self.command} {path.removeprefix('/api/2.0/')}"] += 1
            way = HTTPConnection(target, timeout=60)
            way.request(self.command, self.path, body, dict(self.headers) | {"Host": target})
            answer = way.getresponse()
            content = answer.read()
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.headers.get("Content-Type", ""))
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            way.close()

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{proxy.server_address[1]}"
    finally:
        proxy.shutdown()
        proxy.server_close()


def write_shop(folder: Path, *, weeks: int, segments: int, address: str) -> Path:
    """A configuration with its tables."""
    rng = np.random.default_rng(11)
    rows = 200 * weeks * segments
    is_positive = rng.random(rows) < 0.1
    seconds = np.sort(rng.uniform(0, weeks * 7 * 86_400, rows))
    at = FIRST + pd.to_timedelta(seconds, unit="s")
    scores = 1 / (1 + np.exp(-rng.normal(2.5 * is_positive - 1.5)))
    stores = rng.choice([f"s{number:02}" for number in range(segments)], rows)
    pd.DataFrame({"id": np.arange(rows), "at": at, "score": scores, "store": stores}).to_parquet(
        folder / "predictions.parquet"
    )
    known = np.flatnonzero(is_positive & (rng.random(rows) < 0.5))
    delay = pd.to_timedelta(rng.uniform(0, 30 * 86_400, len(known)), unit="s")
    pd.DataFrame({"id": known, "known_at": at[known] + delay}).to_parquet(
        folder / "confirmations.parquet"
    )
    path = folder / "pumonitor.yaml"
    path.write_text(CONFIGURATION.format(address=address))
    return path


def main() -> None:
    """Count them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--weeks", type=int, default=28)
    parser.add_argument("--segments", type=int, default=20)
    parser.add_argument("--budget", type=int, default=500, help="seconds of delivery")
    options = parser.parse_args()
    os.environ |= {"MLFLOW_TRACKING_USERNAME": USER, "MLFLOW_TRACKING_PASSWORD": PASSWORD}
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with server(folder) as target, counting(target, seen) as proxy:
            path = write_shop(
                folder,
                weeks=options.weeks,
                segments=options.segments,
                address=f"http://{proxy}",
            )
            configuration = read_configuration(path).configuration
            end = FIRST + timedelta(weeks=options.weeks + 20)
            with open_jobs(configuration, clock=lambda: end, deliver=False) as jobs:
                done = jobs.run(budget=timedelta())
            begun, budget = time.monotonic(), timedelta(seconds=options.budget)
            with open_jobs(configuration, clock=lambda: end) as jobs:
                deliveries = jobs.deliver(budget=budget, for_files=budget)
            took = time.monotonic() - begun
    for destination, delivery in deliveries.items():
        print(
            f"{destination}: {delivery.delivered} messages delivered, {delivery.failed} failed, "
            f"{delivery.stopped} {delivery.reason}"
        )
    for endpoint, number in seen.most_common():
        print(f"{number:>6}  {endpoint}")
    windows = done.evaluated
    each = sum(seen.values()) / windows
    print(f"{windows} windows, {each:.2f} requests each, {took:.0f} s")
    is_delivered = all(
        one.stopped == "nothing due" and not one.failed for one in deliveries.values()
    )
    sys.exit(0 if is_delivered and each <= LIMIT else 1)


if __name__ == "__main__":
    main()
