"""The pages inside real servers of MLflow: with and without accounts, under each kind of server."""

from __future__ import annotations

import base64
import hmac
import json
import re
import urllib.error
import urllib.parse
import urllib.request

import pytest

from pumonitor.monitor.app import open_ledger
from pumonitor.monitor.config.file import read_configuration
from tests.monitor.monitored_shop import write_shop
from tests.plugins.server.mlflow_servers import (
    ADMIN,
    EDITOR,
    READER,
    STRANGER,
    ask,
    grant,
    let_read_workspace,
    make_experiment,
    make_people,
    mlflow_server,
    skip_without_workspaces,
    start_waitress,
    with_accounts,
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("options", "prefix"),
    [
        (("--workers", "2"), ""),
        (("--workers", "1", "--static-prefix", "/mlflow"), "/mlflow"),
        (("--workers", "2", "--gunicorn-opts", "--timeout 60"), ""),
    ],
    ids=["uvicorn", "prefix", "gunicorn"],
)
def test_pages_stand_beside_mlflow(tmp_path, options, prefix):
    write_shop(tmp_path, days=1)
    with mlflow_server(tmp_path, *options, also={}) as address:
        make_experiment(address + prefix, "card-fraud")
        status, page = ask(f"{address}{prefix}/pumonitor/")
        assert status == 200
        assert "card-fraud" in page
        style = re.search(r'href="([^"]+pages\.css)"', page)[1]
        assert style == f"{prefix}/pumonitor/static/pages.css"
        assert ask(f"{address}{style}")[0] == 200
        status, page = ask(f"{address}{prefix}/pumonitor/monitors/card-fraud")
        assert status == 200
        assert f'href="{prefix}/pumonitor/alerts' in page
        evil = ask(f"{address}{prefix}/pumonitor/", headers=[("Host", "evil.example")])
        if "--gunicorn-opts" not in options:
            assert evil[0] == 403, evil


def test_pages_stand_beside_mlflow_under_waitress(tmp_path):
    write_shop(tmp_path, days=1)
    server = start_waitress(tmp_path, home=tmp_path)
    try:
        address = server.wait()
        make_experiment(address, "card-fraud")
        status, page = ask(f"{address}/pumonitor/")
        assert status == 200
        assert "card-fraud" in page
        assert ask(f"{address}/pumonitor/monitors/card-fraud")[0] == 200
    finally:
        server.stop()


@pytest.mark.parametrize(
    "options",
    [("--workers", "4"), ("--workers", "4", "--gunicorn-opts", "--timeout 60")],
    ids=["uvicorn", "gunicorn"],
)
def test_who_may_see_a_monitor_is_what_accounts_say(tmp_path, options):
    pytest.importorskip("flask_wtf")
    write_shop(tmp_path, days=1)
    with mlflow_server(tmp_path, *options, also=with_accounts(tmp_path)) as address:
        make_people(address)
        number = make_experiment(address, "card-fraud", who=ADMIN)
        with open_ledger(read_configuration(tmp_path / "pumonitor.yaml").configuration) as ledger:
            ledger.run_ids.set("experiment card-fraud", number)  # as its delivery would
        grant(address, "reader", number)
        grant(address, "editor", number, "EDIT")

        for who, sees in ((ADMIN, True), (READER, True), (EDITOR, True), (STRANGER, False)):
            status, page = ask(f"{address}/pumonitor/", who=who)
            assert status == 200
            assert ("card-fraud" in page) is sees, who
            status, _ = ask(f"{address}/pumonitor/monitors/card-fraud", who=who)
            assert status == (200 if sees else 404), who
        for who, status in ((ADMIN, 200), (READER, 403), (EDITOR, 200), (STRANGER, 404)):
            # Each worker takes the form, whichever made the token.
            assert send_note(address, who, tmp_path / "pumonitor.yaml") == status, who
        with open_ledger(read_configuration(tmp_path / "pumonitor.yaml").configuration) as ledger:
            assert {one.author for one in ledger.notes.all()} == {"admin", "editor"}
        # The question whether it may be edited has not changed the experiment.
        _, shown = ask(
            f"{address}/api/2.0/mlflow/experiments/get?experiment_id={number}", who=ADMIN
        )
        assert json.loads(shown)["experiment"]["name"] == "pumonitor/card-fraud"
        for path in (
            "/pumonitor/",
            "/pumonitor/monitors/card-fraud",
            "/pumonitor/static/pages.css",
        ):
            assert ask(address + path)[0] == 401
            assert ask(address + path, who=("reader", "wrong"))[0] == 401
    assert "Traceback" not in (tmp_path / "server.log").read_text()


def send_note(address, who, configuration):
    """Send the form of a note with the token that a page would have; the status in the end."""
    with open_ledger(read_configuration(configuration).configuration) as ledger:
        key = ledger.secret_keys.get("forms of pages")
    token = hmac.new(key, f"form\n{'a' * 43}\n{who[0]}".encode(), "sha256").hexdigest()
    request = urllib.request.Request(  # noqa: S310
        f"{address}/pumonitor/monitors/card-fraud/notes",
        data=urllib.parse.urlencode({"form_token": token, "text": "new reader"}).encode(),
        headers={
            "Authorization": f"Basic {base64.b64encode(':'.join(who).encode()).decode()}",
            "Cookie": f"pumonitor_forms={'a' * 43}",
            "Origin": address,
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_monitors_of_all_workspaces_are_shown_to_who_may_see_these(tmp_path):
    skip_without_workspaces()
    write_shop(tmp_path, days=1)
    options = ("--workers", "1", "--enable-workspaces")
    with mlflow_server(tmp_path, *options, also=with_accounts(tmp_path)) as address:
        make_people(address)
        made = ask(f"{address}/api/3.0/mlflow/workspaces", who=ADMIN, body={"name": "team-a"})
        assert made[0] == 201, made
        there = [("X-MLFLOW-WORKSPACE", "team-a")]
        number = make_experiment(address, "card-fraud", who=ADMIN, headers=there)
        with open_ledger(read_configuration(tmp_path / "pumonitor.yaml").configuration) as ledger:
            ledger.run_ids.set("experiment card-fraud", number)
        let_read_workspace(address, "team-a", headers=there)
        shown = {
            (who[0], bool(headers)): "card-fraud"
            in ask(f"{address}/pumonitor/", who=who, headers=headers)[1]
            for who in (ADMIN, READER, STRANGER)
            for headers in ([], there)
        }
        nowhere = ask(f"{address}/pumonitor/", who=READER, headers=[("X-MLFLOW-WORKSPACE", "no")])
        assert nowhere[0] == 404
    assert shown == {
        ("admin", False): True,
        ("admin", True): True,
        ("reader", False): True,
        ("reader", True): True,
        ("stranger", False): False,
        ("stranger", True): False,
    }
