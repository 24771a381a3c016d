"""The pages inside real servers of MLflow: with and without accounts, under each kind of server."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from pumonitor.monitor.app import open_ledger
from pumonitor.monitor.config.file import read_configuration
from tests.monitor.monitored_shop import write_shop

pytestmark = pytest.mark.slow

START_SECONDS = 150.0
ADMIN = ("admin", "an admin's password")
READER = ("reader", "a reader's password")
STRANGER = ("stranger", "a stranger's password")
ACCOUNTS = """\
[mlflow]
default_permission = NO_PERMISSIONS
database_uri = sqlite:///{folder}/accounts.db
admin_username = admin
authorization_function = mlflow.server.auth:authenticate_request_basic_auth
"""


@contextmanager
def mlflow_server(folder: Path, *options: str, also: Mapping[str, str]) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        *(sys.executable, "-m", "mlflow", "server", "--app-name", "pumonitor"),
        *("--host", "127.0.0.1", "--port", str(port)),
        *("--backend-store-uri", f"sqlite:///{folder / 'mlflow.db'}", *options),
    ]
    environment = {
        **os.environ,
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "PUMONITOR_CONFIG": str(folder / "pumonitor.yaml"),
        **also,
    }
    log = folder / "server.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        address = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                urllib.request.urlopen(f"{address}/health", timeout=2).close()  # noqa: S310
                break
            except urllib.error.HTTPError as error:  # below a prefix it stands elsewhere
                error.close()
                break
            except OSError:
                if time.monotonic() > deadline or process.poll() is not None:
                    pytest.fail(f"the server did not start:\n{log.read_text()[-3000:]}")
                time.sleep(0.2)
        yield address
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(20)


def ask(address, *, who=None, body=None, headers=()):
    request = urllib.request.Request(address, headers=dict(headers))  # noqa: S310
    if who is not None:
        request.add_header(
            "Authorization", f"Basic {base64.b64encode(':'.join(who).encode()).decode()}"
        )
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


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
        made = f"{address}{prefix}/api/2.0/mlflow/experiments/create"
        assert ask(made, body={"name": "pumonitor/card-fraud"})[0] == 200
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


@pytest.mark.parametrize(
    "options",
    [("--workers", "4"), ("--workers", "4", "--gunicorn-opts", "--timeout 60")],
    ids=["uvicorn", "gunicorn"],
)
def test_who_may_see_a_monitor_is_what_accounts_say(tmp_path, options):
    pytest.importorskip("flask_wtf")
    write_shop(tmp_path, days=1)
    (tmp_path / "accounts.ini").write_text(ACCOUNTS.format(folder=tmp_path))
    also = {
        "PUMONITOR_MLFLOW_APP": "basic-auth",
        "MLFLOW_AUTH_CONFIG_PATH": str(tmp_path / "accounts.ini"),
        "MLFLOW_AUTH_ADMIN_PASSWORD": ADMIN[1],
        "MLFLOW_FLASK_SERVER_SECRET_KEY": "a key of many characters",
    }
    with mlflow_server(tmp_path, *options, also=also) as address:
        api = f"{address}/api/2.0/mlflow"
        for name, password in (READER, STRANGER):
            found = ask(
                f"{api}/users/create", who=ADMIN, body={"username": name, "password": password}
            )
            assert found[0] == 200, found
        _, made = ask(f"{api}/experiments/create", who=ADMIN, body={"name": "pumonitor/card-fraud"})
        number = json.loads(made)["experiment_id"]
        with open_ledger(read_configuration(tmp_path / "pumonitor.yaml").configuration) as ledger:
            ledger.run_ids.set("experiment card-fraud", number)  # as its delivery would
        granted = {
            "username": "reader",
            "resource_type": "experiment",
            "resource_id": number,
            "permission": "READ",
        }
        found = ask(f"{address}/api/3.0/mlflow/users/permissions/grant", who=ADMIN, body=granted)
        assert found[0] == 200, found

        for who, sees in ((ADMIN, True), (READER, True), (STRANGER, False)):
            status, page = ask(f"{address}/pumonitor/", who=who)
            assert status == 200
            assert ("card-fraud" in page) is sees, who
            status, _ = ask(f"{address}/pumonitor/monitors/card-fraud", who=who)
            assert status == (200 if sees else 404), who
        for path in (
            "/pumonitor/",
            "/pumonitor/monitors/card-fraud",
            "/pumonitor/static/pages.css",
        ):
            assert ask(address + path)[0] == 401
            assert ask(address + path, who=("reader", "wrong"))[0] == 401
    assert "Traceback" not in (tmp_path / "server.log").read_text()
