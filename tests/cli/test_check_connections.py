"""`pumonitor check` asks the state database, MLflow and destinations whether they are there."""

import sqlite3
from base64 import b64encode
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from tests.cli.checked_folder import TEXT, checked, write_tables


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_broken_state_database_is_reported(folder):
    (folder / "state.db").write_bytes(b"this is no database, whatever its name says" * 50)
    found = checked(folder, status=3)
    assert "file is not a database" in found["connections"]["state"]["message"]


def test_a_state_database_that_is_there_is_asked(folder):
    with sqlite3.connect(folder / "state.db") as database:
        database.execute("CREATE TABLE of_somebody_else (number)")
    database.close()
    before = (folder / "state.db").read_bytes()
    (folder / "mlflow.db").touch()
    found = checked(folder)
    assert (folder / "state.db").read_bytes() == before
    assert found["connections"]["state"]["message"].endswith("answers")
    assert found["connections"]["tracking"]["message"].endswith("is there")


class Server(BaseHTTPRequestHandler):
    """Its health is open, as MLflow's is; of its experiments it asks who wants to know."""

    status = 200
    wanted = None
    forbidden = None

    def do_GET(self):
        self.send_response(self.status if self.path == "/health" else 404)
        self.end_headers()

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        given = self.headers["Authorization"]
        status = 404 if self.path != "/api/2.0/mlflow/experiments/search" else 200
        if given is not None and given == self.forbidden:
            status = 403
        elif self.wanted not in {None, given}:
            status = 401
        self.send_response(status)
        self.end_headers()

    def log_message(self, *arguments):
        pass


@contextmanager
def answering(status=200, **others):
    """The address of a server that answers so when it is asked how it is."""
    kind = type("Answering", (Server,), {"status": status, **others})
    server = HTTPServer(("127.0.0.1", 0), kind)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(("status", "code"), [(200, 0), (403, 3), (500, 3)])
def test_a_tracking_server_is_asked_how_it_is(folder, status, code):
    with answering(status) as address:
        found = checked(folder, TEXT.replace("sqlite:///mlflow.db", address), status=code)
    message = found["connections"]["tracking"]["message"]
    assert "answers" in message
    assert ("--allowed-hosts" in message) is (status == 403)


@pytest.mark.parametrize(("status", "code"), [(200, 0), (500, 3)])
def test_a_registry_elsewhere_is_asked_too(folder, monkeypatch, status, code):
    text = TEXT.replace("mlflow.db}", "mlflow.db, registry: '${REGISTRY}'}")
    with answering(status) as address:
        monkeypatch.setenv("REGISTRY", address.replace("//", "//somebody:kanarienvogel@"))
        found = checked(folder, text, status=code)["connections"]
        told = CliRunner().invoke(app, ["doctor"]).output
    assert found["tracking"]["ok"]
    assert found["tracking.registry"]["ok"] is (status == 200)
    assert "127.0.0.1" in found["tracking.registry"]["message"]
    assert ("MLflow's registry:" in told) is (status == 500)
    assert "kanarienvogel" not in told + str(found)


ANA = f"Basic {b64encode(b'ana:kanarienvogel').decode()}"
ROBOT = "Bearer kanarienvogel"


@pytest.fixture
def stranger(tmp_path_factory, monkeypatch):
    """Nobody has an account yet, also not in the home of who runs the tests."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    for name in ("USERNAME", "PASSWORD", "TOKEN"):
        monkeypatch.delenv(f"MLFLOW_TRACKING_{name}", raising=False)
    return home


def tracked(folder, address, *, status):
    """What `check` and `doctor` say of MLflow; neither shows a secret."""
    found = checked(folder, TEXT.replace("sqlite:///mlflow.db", address), status=status)
    told = CliRunner().invoke(app, ["doctor"]).output
    message = found["connections"]["tracking"]["message"]
    assert "kanarienvogel" not in told + message
    assert ("MLflow:" in told) is (status == 3)
    return message


def test_credentials_are_tried_and_what_is_wrong_with_them_is_named(folder, stranger, monkeypatch):
    with answering(wanted=ANA) as address:
        message = tracked(folder, address, status=3)
        assert "wants a user, and none is known (401): set MLFLOW_TRACKING_USERNAME" in message
        monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "ana")
        monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "kanarienvogel?")
        assert "refuses the user 'ana' (401)" in tracked(folder, address, status=3)
        monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "kanarienvogel")
        assert tracked(folder, address, status=0).endswith("answers the user 'ana'")
    with answering(forbidden=ANA) as address:
        message = tracked(folder, address, status=3)
        assert "does not let the user 'ana' read experiments (403): give it the rights" in message


@pytest.mark.parametrize("where", ["address", "file of a variable", "file of MLflow", "token"])
def test_credentials_are_read_wherever_they_may_be(folder, stranger, monkeypatch, where):
    (folder / "secret").write_text("kanarienvogel\n")
    with answering(wanted=ROBOT if where == "token" else ANA) as address:
        if where == "address":
            monkeypatch.setenv("MLFLOW_SECRET_FILE", str(folder / "secret"))
        elif where == "file of a variable":
            monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "ana")
            monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD_FILE", str(folder / "secret"))
        elif where == "token":
            monkeypatch.setenv("MLFLOW_TRACKING_TOKEN_FILE", str(folder / "secret"))
        else:
            (stranger / ".mlflow").mkdir()
            (stranger / ".mlflow/credentials").write_text(
                "[mlflow]\nmlflow_tracking_username = ana\n"
                "mlflow_tracking_password = kanarienvogel\n"
            )
        with_user = address.replace("//", "//ana:${MLFLOW_SECRET}@")
        tracked(folder, with_user if where == "address" else address, status=0)


def test_a_file_of_credentials_that_is_missing_is_named(folder, stranger, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN_FILE", str(folder / "nowhere"))
    with answering() as address:
        found = checked(folder, TEXT.replace("sqlite:///mlflow.db", address), status=2)
    assert f"the file of MLFLOW_TRACKING_TOKEN_FILE, {folder / 'nowhere'}, cannot be" in str(found)


def test_destinations_are_found_and_not_sent_to(folder):
    text = TEXT + (
        "destinations:\n"
        "  here: {webhook: 'http://127.0.0.1:1/in', allow_private: true}\n"
        "  gone: {alertmanager: 'http://alertmanager.invalid:9093'}\n"
        "  chat: {apprise: 'json://localhost'}\n"
    )
    found = checked(folder, text, status=3)["connections"]
    assert found["destinations.here"]["message"] == (
        "webhook at 127.0.0.1: the host was found; nothing was sent"
    )
    assert "alertmanager.invalid was not found" in found["destinations.gone"]["message"]
    assert found["destinations.chat"]["ok"]
