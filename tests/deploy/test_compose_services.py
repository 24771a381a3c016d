"""What compose.yaml starts works together, through a restart, an upgrade and the way back."""

import json
import shutil
from pathlib import Path
from urllib.error import HTTPError

import pytest
from sqlalchemy import make_url

import pumonitor
from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.migrations.upgrade import standing
from pumonitor.monitor.ledger.ledger import Ledger
from tests.deploy.composed import TOKEN, Composed
from tests.monitor.ledger.earlier_steps import take_newest_step_back
from tests.monitor.monitored_shop import recorded, write_shop

pytestmark = pytest.mark.slow

HOST = "pumonitor.example.org"


def page(composed, path, token):
    """A page, for somebody who comes through the proxy and shows a token."""
    return composed.ask("8090", path, token=token, host=HOST)


@pytest.fixture
def address(postgres):
    """Address of a database of the user that pumonitor.yaml names."""
    postgres.run("CREATE ROLE pumonitor LOGIN")
    url = make_url(postgres.new_database())
    postgres.run(f"ALTER DATABASE {url.database} OWNER TO pumonitor")
    yield url.set(username="pumonitor").render_as_string(hide_password=False)
    postgres.run(f"DROP DATABASE {url.database} WITH (FORCE)")
    postgres.run("DROP ROLE pumonitor")


@pytest.fixture
def composed(tmp_path, address):
    services = Composed(tmp_path, address)
    write_shop(tmp_path / "data", days=3)
    yield services
    services.stop()


def an_older_version(folder):
    """This version without its newest step: what it says of newer tables is what older ones say."""
    package = Path(pumonitor.__file__).parent
    shutil.copytree(package, folder / "pumonitor", ignore=shutil.ignore_patterns("__pycache__"))
    steps = folder / "pumonitor" / "monitor" / "ledger" / "database" / "migrations" / "versions"
    texts = {path: path.read_text() for path in steps.glob("*.py")}
    newest = max(text.partition('\nrevision = "')[2][:4] for text in texts.values())
    (last,) = [path for path, text in texts.items() if f'\nrevision = "{newest}"' in text]
    last.unlink()
    return folder


def test_services_work_through_a_restart_an_upgrade_and_the_way_back(composed, address, tmp_path):
    composed.start("mlflow")
    made = composed.once("migrate")
    assert (made.returncode, "tables were made" in made.stdout) == (0, True), made.stderr
    composed.start("worker")
    composed.start("pages")
    composed.heard("worker", "card-fraud: 4 collected, 4 evaluated")
    assert 'pumonitor_estimate{bound="value"' in composed.ask("8080", "/metrics", token=TOKEN)
    with pytest.raises(HTTPError, match="401"):
        composed.ask("8080", "/metrics")
    words = ["tokens", "create", "alice", "--config", "/etc/pumonitor/pumonitor.yaml"]
    token = composed.instead("pages", *words).stdout.strip()
    assert "card-fraud" in page(composed, "/", token)
    for wrong, status in (({"token": token}, "421"), ({"host": HOST}, "401")):
        with pytest.raises(HTTPError, match=status):
            composed.ask("8090", "/api/v1/monitors", **wrong)
    experiment = "/api/2.0/mlflow/experiments/get-by-name?experiment_name=pumonitor/card-fraud"
    found = json.loads(composed.ask("5000", experiment))
    assert found["experiment"]["name"] == "pumonitor/card-fraud"
    with Ledger.open(address) as ledger:
        results = recorded(ledger)
    assert results

    # A restart: nothing is done twice, and nothing is forgotten.
    assert composed.stop("worker", "pages") == {"worker": 0, "pages": 0}
    composed.start("worker")
    composed.heard("worker", "card-fraud: 0 collected, 0 evaluated")
    composed.start("pages")
    assert "card-fraud" in page(composed, "/monitors/card-fraud", token)

    # An upgrade: the tables are those of the version before.
    composed.stop("worker", "pages")
    database = Database(address)
    before = take_newest_step_back(database)
    newest = standing(database).newest
    database.close()
    checked = composed.once("migrate", "--check")
    assert checked.returncode == 3
    assert f"tables are at step {before}; this version needs step {newest}" in checked.stdout
    migrated = composed.once("migrate")
    assert migrated.returncode == 0, migrated.stderr
    assert f"tables went from step {before} to step {newest}" in migrated.stdout
    write_shop(tmp_path / "data", days=5)
    composed.start("worker")
    composed.heard("worker", "card-fraud: 2 collected, 2 evaluated")
    composed.start("pages")
    assert "card-fraud" in page(composed, "/monitors/card-fraud", token)
    with Ledger.open(address) as ledger:
        went_on = recorded(ledger)
    assert went_on[: len(results)] == results
    assert len(went_on) > len(results)

    # The way back: an older version refuses newer tables, and says what to do.
    composed.stop("worker", "pages")
    refused = composed.version(an_older_version(tmp_path / "older"), "worker")
    assert refused.returncode == 3
    assert (
        f"was written by a newer version of pumonitor (its tables are at step {newest}, this "
        f"version knows steps up to {before}): install that version, or name another database"
    ) in refused.stderr
