"""`pumonitor serve` outlives a PostgreSQL that is not there at the start, or goes away later."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from sqlalchemy import make_url

from tests.monitor.monitored_shop import write_shop

TODAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


@contextmanager
def serving(path: Path) -> Iterator[subprocess.Popen[str]]:
    code = "from pumonitor.cli.app import main; main()"
    command = [sys.executable, "-c", code, "serve", "--config", path, "--health", "127.0.0.1:0"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as service:
        try:
            yield service
        finally:
            service.kill()


def heard(service: subprocess.Popen[str], words: str) -> str:
    assert service.stderr is not None
    return next(line for line in service.stderr if words in line)


def status(port: int, page: str) -> int:
    try:
        with urlopen(f"http://127.0.0.1:{port}/{page}", timeout=10) as answer:
            return int(answer.status)
    except HTTPError as error:
        return error.code


@pytest.mark.slow
def test_it_waits_for_the_database_then_works_and_survives_its_loss(
    postgres: SimpleNamespace, tmp_path: Path
) -> None:
    address = make_url(postgres.new_database()).set(database="not_there_yet")
    state = address.render_as_string(hide_password=False)
    path = write_shop(tmp_path, days=1, first=TODAY - timedelta(days=1), state=f"'{state}'")
    with serving(path) as service:
        port = int(heard(service, "health on port").rsplit(" ", 1)[1])
        assert "next try in 1 s" in (line := heard(service, "waiting for the state database"))
        assert '"not_there_yet" does not exist' in line
        assert [status(port, page) for page in ("healthz", "readyz", "metrics")] == [200, 503, 503]

        postgres.run("CREATE DATABASE not_there_yet")
        heard(service, "card-fraud: 1 collected, 1 evaluated")
        assert [status(port, page) for page in ("healthz", "readyz", "metrics")] == [200, 200, 200]

        postgres.run("DROP DATABASE not_there_yet WITH (FORCE)")
        assert [status(port, page) for page in ("healthz", "readyz")] == [200, 503]
        service.send_signal(signal.SIGTERM)
        heard(service, "stopped")
        assert service.wait(timeout=30) == 0


def test_it_can_be_stopped_while_it_waits(postgres: SimpleNamespace, tmp_path: Path) -> None:
    address = make_url(postgres.new_database()).set(database="never_there")
    state = address.render_as_string(hide_password=False)
    path = write_shop(tmp_path, days=1, state=f"'{state}'")
    with serving(path) as service:
        heard(service, "waiting for the state database")
        service.send_signal(signal.SIGTERM)
        heard(service, "stopped")
        assert service.wait(timeout=30) == 0
