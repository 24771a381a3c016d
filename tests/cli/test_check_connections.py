"""`pumonitor check` asks the state database, MLflow and destinations whether they are there."""

import sqlite3
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
    status = 200

    def do_GET(self):
        self.send_response(self.status if self.path == "/health" else 404)
        self.end_headers()

    def log_message(self, *arguments):
        pass


@contextmanager
def answering(status):
    """The address of a server that answers so when it is asked how it is."""
    server = HTTPServer(("127.0.0.1", 0), type("Answering", (Server,), {"status": status}))
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
