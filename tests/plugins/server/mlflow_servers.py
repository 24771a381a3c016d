"""Real servers of MLflow in processes of their own, and requests to them."""

from __future__ import annotations

import base64
import json
import os
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

START_SECONDS = 150.0
ADMIN = ("admin", "an admin's password")
READER = ("reader", "a reader's password")
EDITOR = ("editor", "an editor's password")
STRANGER = ("stranger", "a stranger's password")
_ACCOUNTS = """\
[mlflow]
default_permission = NO_PERMISSIONS
database_uri = sqlite:///{folder}/accounts.db
admin_username = admin
admin_password = {password}
authorization_function = mlflow.server.auth:authenticate_request_basic_auth
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """A process that answers under an address; its log is a file."""

    def __init__(
        self, command: list[str], *, port: int, folder: Path, log: Path, also: Mapping[str, str]
    ) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.log = log
        with log.open("w") as out:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                env={**os.environ, **also},
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait(self) -> str:
        """The address, once it answers."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                urllib.request.urlopen(f"{self.address}/health", timeout=2).close()  # noqa: S310
            except urllib.error.HTTPError as error:  # below a prefix it stands elsewhere
                error.close()
            except OSError:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    pytest.fail(f"the server did not start:\n{self.log.read_text()[-3000:]}")
                time.sleep(0.2)
                continue
            return self.address

    def end(self) -> None:
        """Ask it to end, without waiting."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGTERM)

    def stop(self) -> None:
        self.end()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(20)


def start_mlflow(folder: Path, *options: str, also: Mapping[str, str], home: Path) -> Server:
    """MLflow's server with the pages of a folder's configuration, its own files in `home`."""
    port = free_port()
    command = [
        *(sys.executable, "-m", "mlflow", "server", "--app-name", "pumonitor"),
        *("--host", "127.0.0.1", "--port", str(port)),
        *("--backend-store-uri", f"sqlite:///{home / 'mlflow.db'}", *options),
    ]
    environment = {
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "PUMONITOR_CONFIG": str(folder / "pumonitor.yaml"),
        **also,
    }
    log = home / "server.log"
    return Server(command, port=port, folder=home, log=log, also=environment)


def start_waitress(folder: Path, *, home: Path) -> Server:
    """As MLflow starts it on Windows. Elsewhere it cannot start any application by name there."""
    import mlflow.server

    port = free_port()
    command = [
        *(sys.executable, "-m", "waitress", "--host=127.0.0.1", f"--port={port}"),
        *("--ident=mlflow", "--call", "pumonitor_mlflow.server.app:create_app"),
    ]
    environment = {
        "_MLFLOW_SGI_NAME": "waitress",
        mlflow.server.BACKEND_STORE_URI_ENV_VAR: f"sqlite:///{home / 'mlflow.db'}",
        mlflow.server.REGISTRY_STORE_URI_ENV_VAR: f"sqlite:///{home / 'mlflow.db'}",
        mlflow.server.ARTIFACT_ROOT_ENV_VAR: str(home / "artifacts"),
        "PUMONITOR_CONFIG": str(folder / "pumonitor.yaml"),
    }
    return Server(command, port=port, folder=home, log=home / "server.log", also=environment)


@contextmanager
def mlflow_server(folder: Path, *options: str, also: Mapping[str, str]) -> Iterator[str]:
    server = start_mlflow(folder, *options, also=also, home=folder)
    try:
        yield server.wait()
    finally:
        server.stop()


def with_accounts(folder: Path) -> dict[str, str]:
    """Environment of a server that signs people in; its files are in the folder."""
    (folder / "accounts.ini").write_text(_ACCOUNTS.format(folder=folder, password=ADMIN[1]))
    return {
        "PUMONITOR_MLFLOW_APP": "basic-auth",
        "MLFLOW_AUTH_CONFIG_PATH": str(folder / "accounts.ini"),
        "MLFLOW_AUTH_ADMIN_PASSWORD": ADMIN[1],
        "MLFLOW_FLASK_SERVER_SECRET_KEY": "a key of many characters",
    }


def ask(address, *, who=None, body=None, headers=()):
    """Status and text of the answer."""
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


def make_people(address: str) -> None:
    """Three users beside the administrator."""
    for name, password in (READER, EDITOR, STRANGER):
        body = {"username": name, "password": password}
        found = ask(f"{address}/api/2.0/mlflow/users/create", who=ADMIN, body=body)
        assert found[0] == 200, found


def make_experiment(address: str, monitor: str, *, who=None, headers=()) -> str:
    """The id of the experiment of a monitor, made as its delivery would."""
    made = f"{address}/ajax-api/2.0/mlflow/experiments/create"
    body = {"name": f"pumonitor/{monitor}"}
    status, answer = ask(made, who=who, body=body, headers=headers)
    assert status == 200, answer
    return str(json.loads(answer)["experiment_id"])


def grant(address: str, name: str, experiment: str, permission: str = "READ") -> None:
    """The right of a user to an experiment, given as each version of MLflow has it."""
    of_317 = {
        "username": name,
        "resource_type": "experiment",
        "resource_id": experiment,
        "permission": permission,
    }
    found = ask(f"{address}/api/3.0/mlflow/users/permissions/grant", who=ADMIN, body=of_317)
    if found[0] == 404:
        before = {"username": name, "experiment_id": experiment, "permission": permission}
        made = f"{address}/api/2.0/mlflow/experiments/permissions/create"
        found = ask(made, who=ADMIN, body=before)
    assert found[0] == 200, found


def skip_without_workspaces() -> None:
    """Skip the test where this version of MLflow has no workspaces."""
    command = [sys.executable, "-m", "mlflow", "server", "--help"]
    said = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    if "--enable-workspaces" not in said:
        pytest.skip("this version of MLflow has no workspaces")


def let_read_workspace(address: str, workspace: str, *, headers: list[tuple[str, str]]) -> None:
    """Let the reader read all of a workspace: by its permissions, which later became roles."""
    body = {"username": READER[0], "permission": "READ"}
    of_it = f"{address}/api/3.0/mlflow/workspaces/{workspace}/permissions"
    if ask(of_it, who=ADMIN, body=body, headers=headers)[0] == 200:
        return
    roles = f"{address}/api/3.0/mlflow/roles"
    _, made = ask(f"{roles}/create", who=ADMIN, body={"workspace": workspace, "name": "readers"})
    role = json.loads(made)["role"]["id"]
    of_all = {"role_id": role, "resource_type": "workspace", "resource_pattern": "*"}
    for path, given in (
        ("permissions/add", {**of_all, "permission": "USE"}),
        ("assign", {"username": READER[0], "role_id": role}),
    ):
        found = ask(f"{roles}/{path}", who=ADMIN, body=given, headers=headers)
        assert found[0] in {200, 201}, found
