"""Chromium, a worked ledger, and its pages behind three servers: alone and inside MLflow's."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pumonitor.monitor.app import open_ledger
from pumonitor.monitor.config.file import read_configuration
from tests.browser.browsing import BROWSERS, FLAGS, Site, kinds_of_pages, visiting
from tests.browser.worked import BROKEN, write_worked
from tests.plugins.server.mlflow_servers import (
    ADMIN,
    READER,
    STRANGER,
    Server,
    free_port,
    grant,
    make_experiment,
    make_people,
    start_mlflow,
    with_accounts,
)

_PREFIX = "/mlflow"


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    driver = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed: make test-browser"
    )
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with driver.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the configuration; servers start in it before it is worked."""
    return tmp_path_factory.mktemp("worked")


@pytest.fixture(scope="session")
def servers(
    chromium: Any, worked: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Server]]:
    """Servers of MLflow, started together; meanwhile the ledger is worked."""
    pytest.importorskip("flask_wtf")
    accounts, gunicorn = (tmp_path_factory.mktemp(name) for name in ("accounts", "gunicorn"))
    started = {
        "accounts": start_mlflow(
            worked,
            *("--workers", "1", "--static-prefix", _PREFIX),
            also=with_accounts(accounts),
            home=accounts,
        ),
        "gunicorn": start_mlflow(
            worked, "--workers", "1", "--gunicorn-opts", "--timeout 60", also={}, home=gunicorn
        ),
    }
    try:
        path, port = write_worked(worked), free_port()
        command = [
            *(sys.executable, "-c", "from pumonitor.cli.app import main; main()", "pages"),
            *("--address", f"127.0.0.1:{port}", "--config", str(path)),
        ]
        log = worked / "pages.log"
        started["alone"] = Server(command, port=port, folder=worked, log=log, also={})
        for server in started.values():
            server.wait()
        yield started
    finally:
        for server in started.values():
            server.end()
        for server in started.values():
            server.stop()


@pytest.fixture(scope="session")
def alone(servers: dict[str, Server]) -> Site:
    """`pumonitor pages`."""
    return Site(servers["alone"].address)


@pytest.fixture(scope="session")
def in_mlflow(servers: dict[str, Server]) -> Site:
    """In MLflow's server without accounts, under gunicorn."""
    return Site(f"{servers['gunicorn'].address}/pumonitor")


@pytest.fixture(scope="session")
def people(servers: dict[str, Server], worked: Path) -> dict[str, Site]:
    """In MLflow's server with accounts, below a prefix: a reader may read one monitor."""
    address = servers["accounts"].address + _PREFIX
    make_people(address)
    number = make_experiment(address, BROKEN, who=ADMIN)
    with open_ledger(read_configuration(worked / "pumonitor.yaml").configuration) as ledger:
        ledger.run_ids.set(f"experiment {BROKEN}", number)
    grant(address, READER[0], number)
    return {
        name: Site(f"{address}/pumonitor", who=(name, password))
        for name, password in (ADMIN, READER, STRANGER)
    }


@pytest.fixture(scope="session")
def pages(chromium: Any, alone: Site) -> dict[str, str]:
    """An address of each kind of page that stands alone."""
    with visiting(chromium, alone) as visit:
        return kinds_of_pages(visit, alone)
