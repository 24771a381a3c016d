"""Pages in MLflow's server with workspaces: a browser names none, and sees what its person may."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pumonitor.monitor.app import open_ledger
from pumonitor.monitor.config.file import read_configuration
from tests.browser.browsing import Site, check_page, visiting
from tests.monitor.monitored_shop import write_shop
from tests.plugins.server.mlflow_servers import (
    ADMIN,
    READER,
    STRANGER,
    ask,
    let_read_workspace,
    make_experiment,
    make_people,
    skip_without_workspaces,
    start_mlflow,
    with_accounts,
)

pytestmark = pytest.mark.browser

NAME, TEAM = "card-fraud", "team-a"


@pytest.fixture(scope="module")
def address(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server whose one monitor has its experiment in a workspace that the reader may read."""
    pytest.importorskip("flask_wtf")
    skip_without_workspaces()
    folder = tmp_path_factory.mktemp("workspaces")
    write_shop(folder, days=1)
    options = ("--workers", "1", "--enable-workspaces")
    server = start_mlflow(folder, *options, also=with_accounts(folder), home=folder)
    try:
        found = server.wait()
        make_people(found)
        made = ask(f"{found}/api/3.0/mlflow/workspaces", who=ADMIN, body={"name": TEAM})
        assert made[0] == 201, made
        there = [("X-MLFLOW-WORKSPACE", TEAM)]
        number = make_experiment(found, NAME, who=ADMIN, headers=there)
        configuration = read_configuration(folder / "pumonitor.yaml").configuration
        with open_ledger(configuration) as ledger:
            ledger.run_ids.set(f"experiment {NAME}", number)
        let_read_workspace(found, TEAM, headers=there)
        yield found
    finally:
        server.end()
        server.stop()


@pytest.mark.parametrize(("who", "sees"), [(ADMIN, True), (READER, True), (STRANGER, False)])
def test_who_may_read_the_workspace_sees_its_monitor(
    chromium: Any, address: str, who: tuple[str, str], sees: bool
) -> None:
    site = Site(f"{address}/pumonitor", who=who)
    with visiting(chromium, site) as visit:
        visit.open(site.at("/"))
        check_page(visit, site)
        assert (NAME in visit.text()) is sees
        visit.open(site.at(f"/monitors/{NAME}"))
        assert visit.status == (200 if sees else 404)
