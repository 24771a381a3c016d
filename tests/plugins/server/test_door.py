"""The pages inside an application of either kind: who sees what, and what is left alone."""

from __future__ import annotations

import asyncio
import base64
import hmac
import io
import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import pytest
from flask import Flask, Response, request
from pumonitor_mlflow.server import wrapped
from pumonitor_mlflow.server.app import _WsgiDoor, create_app
from pumonitor_mlflow.server.exchange import Answer, Request, ask_asgi, ask_wsgi
from pumonitor_mlflow.server.rights import Seen
from werkzeug.test import EnvironBuilder

from pumonitor.monitor.app import open_ledger
from pumonitor.monitor.config.file import read_configuration
from tests.monitor.monitored_shop import write_shop

PEOPLE = {
    "thief": ["pumonitor/card-fraud"],
    "admin": [],
    "reader": ["pumonitor/card-fraud"],
    "editor": ["pumonitor/card-fraud"],
    "stranger": ["pumonitor/other", "unrelated"],
}


def signed(name):
    return ("authorization", f"Basic {base64.b64encode(f'{name}:x'.encode()).decode()}")


def tracking_server(asked: Counter):
    """Signs people in, and shows them their experiments."""
    app = Flask("tracking")

    @app.post("/api/2.0/mlflow/experiments/search")
    def search():
        asked["search"] += 1
        if request.host != "mlflow.example":
            return Response("Invalid Host header", 403)
        who = request.authorization
        if who is None or who.username not in PEOPLE:
            return Response("sign in", 401, {"WWW-Authenticate": 'Basic realm="mlflow"'})
        names = [one for one in PEOPLE[who.username] if one.startswith("pumonitor/")]
        # One that somebody has made under the name of a monitor is another experiment.
        number = "8" if who.username == "thief" else "7"
        return {"experiments": [{"name": name, "experiment_id": number} for name in names]}

    @app.get("/api/2.0/mlflow/users/current")
    def current():
        name = request.authorization.username
        return {"user": {"is_admin": name == "admin", "username": name}}

    @app.post("/api/2.0/mlflow/experiments/update")
    def update():
        asked["update"] += 1
        if request.authorization.username != "editor" or request.json != {"experiment_id": "7"}:
            return Response("Permission denied", 403)
        return {"error_code": "INVALID_PARAMETER_VALUE", "message": "Missing 'new_name'"}, 400

    @app.get("/")
    def home():
        asked["home"] += 1
        return "MLflow"

    return app


def as_asgi(app):
    async def found(scope, receive, send):
        body = (await receive())["body"]
        answer = ask_wsgi(app, replace(Request.of_asgi(scope), body=body))
        headers = [(name.encode(), value.encode()) for name, value in answer.headers]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": answer.body})

    return found


@pytest.fixture(params=["wsgi", "asgi"])
def served(request, tmp_path, monkeypatch):
    asked = Counter()
    inner = tracking_server(asked)
    if request.param == "asgi":
        inner = as_asgi(inner)
    monkeypatch.setattr("pumonitor_mlflow.server.app.wrapped_app", lambda: inner)
    monkeypatch.setenv(wrapped.VARIABLE, "accounts")
    monkeypatch.setenv("_MLFLOW_SGI_NAME", "uvicorn" if request.param == "asgi" else "gunicorn")
    path = write_shop(tmp_path, days=1)
    monkeypatch.setenv("PUMONITOR_CONFIG", str(path))
    with open_ledger(read_configuration(path).configuration) as ledger:
        ledger.run_ids.set("experiment card-fraud", "7")
    app = create_app()

    def get(path, *headers, host="mlflow.example", method="GET", body=b""):
        one = Request(method=method, path=path, headers=[("host", host), *headers], body=body)
        return asyncio.run(ask_asgi(app, one)) if request.param == "asgi" else ask_wsgi(app, one)

    return get, asked


def test_everything_else_is_answered_by_the_wrapped_application(served):
    get, asked = served
    assert get("/").body == b"MLflow"
    assert get("/pumonitoring").status == 404
    assert asked == {"home": 1}


def test_who_may_read_the_experiment_sees_the_monitor(served):
    get, asked = served
    page = get("/pumonitor/", signed("reader"))
    assert page.status == 200
    assert b"card-fraud" in page.body
    assert b'href="/pumonitor/static/pages.css"' in page.body
    assert get("/pumonitor/monitors/card-fraud", signed("reader")).status == 200
    assert asked["search"] == 1


def test_an_administrator_sees_it_without_an_experiment(served):
    get, _ = served
    assert b"card-fraud" in get("/pumonitor/", signed("admin")).body


def test_for_others_it_does_not_exist(served):
    get, _ = served
    page = get("/pumonitor/", signed("stranger"))
    assert page.status == 200
    assert b"card-fraud" not in page.body
    there = get("/pumonitor/monitors/card-fraud", signed("stranger"))
    nowhere = get("/pumonitor/monitors/no-such", signed("stranger"))
    assert (there.status, there.body) == (404, nowhere.body)


def test_an_experiment_of_that_name_is_no_right_to_the_monitor(served):
    get, _ = served
    assert b"card-fraud" not in get("/pumonitor/", signed("thief")).body


@pytest.mark.parametrize("path", ["/pumonitor", "/pumonitor/", "/pumonitor/static/pages.css"])
def test_who_is_not_signed_in_is_asked_to(served, path):
    get, asked = served
    for _ in range(2):
        answer = get(path)
        assert answer.status == 401
        headers = {name.lower(): value for name, value in answer.headers}
        assert headers["www-authenticate"].startswith("Basic")
    assert asked["search"] == 2, "a refusal is not remembered"


def test_another_host_is_refused_as_the_wrapped_application_does(served):
    get, _ = served
    assert get("/pumonitor/", signed("reader"), host="evil.example").status == 403


def test_nothing_can_be_changed(served):
    get, _ = served
    assert get("/pumonitor/", signed("reader"), method="POST").status == 405


def post_note(get, name, text="new reader"):
    """Send the form of a note as somebody, with the token that a page would have."""
    path = os.environ["PUMONITOR_CONFIG"]
    with open_ledger(read_configuration(Path(path)).configuration) as ledger:
        key = ledger.secret_keys.get("forms of pages")
    token = hmac.new(key, f"form\n{'a' * 43}\n{name}".encode(), "sha256").hexdigest()
    return get(
        "/pumonitor/monitors/card-fraud/notes",
        signed(name),
        ("cookie", f"pumonitor_forms={'a' * 43}"),
        ("content-type", "application/x-www-form-urlencoded"),
        ("origin", "https://mlflow.example"),
        method="POST",
        body=urlencode({"form_token": token, "text": text}).encode(),
    )


@pytest.mark.parametrize(
    ("name", "status"), [("editor", 303), ("admin", 303), ("reader", 403), ("stranger", 404)]
)
def test_who_may_edit_the_experiment_may_change_the_monitor(served, name, status):
    get, asked = served
    for _ in range(2):
        answer = post_note(get, name)
        assert answer.status == status, answer.body
    assert asked["update"] == (name in {"editor", "reader"})
    with open_ledger(
        read_configuration(Path(os.environ["PUMONITOR_CONFIG"])).configuration
    ) as ledger:
        authors = [one.author for one in ledger.notes.all()]
    assert authors == ([name] * 2 if status == 303 else [])
    if status == 303:
        assert dict(answer.headers)["Location"].startswith("/pumonitor/monitors/card-fraud")


def test_a_form_that_is_too_long_is_not_read(served):
    get, _ = served
    assert post_note(get, "editor", text="x" * 70_000).status == 413
    assert post_note(get, "editor", text="x" * (1 << 20)).status == 413


def test_the_address_without_a_slash_leads_to_the_pages(served):
    get, _ = served
    answer = get("/pumonitor", signed("reader"))
    assert answer.status == 308
    assert dict(answer.headers)["Location"] == "/pumonitor/"


def test_a_configuration_that_cannot_be_read_is_said_and_tried_again(served, monkeypatch, tmp_path):
    get, _ = served
    monkeypatch.setenv("PUMONITOR_CONFIG", str(tmp_path / "missing.yaml"))
    answer = get("/pumonitor/", signed("admin"))
    assert answer.status == 503
    assert b"missing.yaml" in answer.body
    assert b"missing.yaml" not in get("/pumonitor/", signed("reader")).body
    assert get("/").body == b"MLflow"
    monkeypatch.setenv("PUMONITOR_CONFIG", str(tmp_path / "pumonitor.yaml"))
    assert get("/pumonitor/", signed("reader")).status == 200


def test_an_application_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setenv(wrapped.VARIABLE, "basic-aut")
    with pytest.raises(wrapped.InputError, match="did you mean 'basic-auth'"):
        wrapped.wrapped_app()


def test_it_does_not_wrap_itself(monkeypatch):
    monkeypatch.setenv(wrapped.VARIABLE, "pumonitor")
    with pytest.raises(wrapped.InputError, match="no application 'pumonitor'"):
        wrapped.wrapped_app()


def test_the_api_is_below_the_pages_for_the_same_people(served):
    get, _ = served
    found = get("/pumonitor/api/v1/monitors", signed("reader"))
    assert [one["name"] for one in json.loads(found.body)["items"]] == ["card-fraud"]
    stranger = get("/pumonitor/api/v1/monitors", signed("stranger"))
    assert json.loads(stranger.body)["items"] == []
    document = json.loads(get("/pumonitor/api/v1/openapi.json", signed("reader")).body)
    assert document["servers"] == [{"url": "/pumonitor/api/v1"}]
    assert get("/pumonitor/api/v1/monitors").status == 401


@pytest.mark.parametrize(("sent", "status"), [(b"x=1", 200), (b"x" * ((1 << 20) + 1), 413)])
def test_under_wsgi_a_body_in_chunks_is_read_to_its_end(sent, status):
    door = _WsgiDoor(wrapped=None, below="/pumonitor", pages=None)
    environ = EnvironBuilder(method="POST").get_environ()
    environ |= {"wsgi.input": io.BytesIO(sent), "wsgi.input_terminated": True}
    environ.pop("CONTENT_LENGTH", None)
    read = []

    class Pages:
        def answer(self, request, below, seen, may_edit):
            read.append(request.body)
            return Answer(status=200)

    door = replace(door, pages=Pages())
    answer = door._answer(Request(method="POST", path="/pumonitor/"), Seen(), environ)
    assert (answer.status, read) == (status, [sent] if status == 200 else [])


def test_whether_somebody_may_edit_is_asked_again_where_the_application_failed():
    found, statuses = [], [500, 403, 403]

    class Pages:
        def answer(self, request, below, seen, may_edit):
            found.append(may_edit("7"))
            return Answer(status=200)

    door = _WsgiDoor(wrapped=None, below="/pumonitor", pages=Pages())
    for _ in range(3):
        door.answer(
            Request(method="GET", path="/pumonitor/"),
            Seen(),
            lambda _question: Answer(status=statuses.pop(0)),
        )
    assert found == [False] * 3
    assert statuses == [403]  # the refusal is remembered, the failure is not
