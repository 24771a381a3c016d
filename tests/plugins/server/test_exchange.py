"""A request to an application in this process is what a server would have passed on."""

from __future__ import annotations

import asyncio

import pytest
from flask import Flask, request
from pumonitor_mlflow.server.exchange import Request, ask_asgi, ask_wsgi
from starlette.applications import Starlette
from starlette.requests import Request as Asked
from starlette.responses import JSONResponse
from starlette.routing import Route
from werkzeug.test import EnvironBuilder

HEADERS = [("authorization", "Basic YTpi"), ("host", "mlflow.example"), ("x-é", "ä")]
ASKED = Request(
    method="POST",
    path="/mlflow/Ünï?code",
    query="a=1&b=%2F",
    headers=[*HEADERS, ("content-type", "application/json")],
    body=b'{"x": 1}',
    scheme="https",
    client=("10.0.0.7", 4711),
)
EXPECTED = {
    "path": "/mlflow/Ünï?code",
    "a": "1",
    "b": "/",
    "authorization": "Basic YTpi",
    "host": "mlflow.example",
    "body": {"x": 1},
    "scheme": "https",
    "client": "10.0.0.7",
}


def wsgi_app():
    app = Flask("wrapped")

    @app.route("/<path:path>", methods=["GET", "POST"])
    def answer(path):
        return {
            "path": request.path,
            "a": request.args["a"],
            "b": request.args["b"],
            "authorization": request.headers["Authorization"],
            "host": request.host,
            "body": request.get_json(),
            "scheme": request.scheme,
            "client": request.remote_addr,
        }, 201

    return app


def asgi_app():
    async def answer(asked: Asked):
        found = {
            "path": asked.scope["path"],
            "a": asked.query_params["a"],
            "b": asked.query_params["b"],
            "authorization": asked.headers["authorization"],
            "host": asked.headers["host"],
            "body": await asked.json(),
            "scheme": asked.url.scheme,
            "client": asked.client.host,
        }
        return JSONResponse(found, status_code=201)

    return Starlette(routes=[Route("/{path:path}", answer, methods=["GET", "POST"])])


@pytest.mark.parametrize("kind", ["wsgi", "asgi"])
def test_the_application_sees_the_whole_request(kind):
    if kind == "wsgi":
        answer = ask_wsgi(wsgi_app(), ASKED)
    else:
        answer = asyncio.run(ask_asgi(asgi_app(), ASKED))
    import json

    assert answer.status == 201
    assert json.loads(answer.body) == EXPECTED
    assert dict(answer.headers).get("Content-Type", dict(answer.headers).get("content-type"))


def test_a_request_of_either_kind_is_the_same():
    environ = EnvironBuilder(
        path="/a b/ü", query_string="x=1", headers={"Cookie": "k=v", "Host": "h"}
    ).get_environ()
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/a b/ü",
        "query_string": b"x=1",
        "headers": [(b"Cookie", b"k=v"), (b"host", b"h")],
    }
    one, other = Request.of_wsgi(environ), Request.of_asgi(scope)
    assert (one.method, one.path, one.query) == (other.method, other.path, other.query)
    assert sorted(one.headers) == sorted(other.headers)


def test_below_a_prefix_addresses_lead_back_below_it():
    app = Flask("pages")

    @app.get("/x/")
    def answer():
        from flask import url_for

        return url_for("answer")

    found = ask_wsgi(
        app, Request(method="GET", path="/mlflow/pumonitor/x/").below("/mlflow/pumonitor")
    )
    assert found.body == b"/mlflow/pumonitor/x/"


def test_a_body_that_came_in_chunks_is_passed_on_with_its_length():
    headers = [("transfer-encoding", "chunked"), ("content-type", "application/json")]
    of_wsgi = Request(method="POST", path="/", headers=headers, body=b"{}").environ()
    assert "HTTP_TRANSFER_ENCODING" not in of_wsgi
    assert of_wsgi["CONTENT_LENGTH"] == "2"
    of_asgi = Request(method="POST", path="/", headers=headers, body=b"{}").scope()
    assert [name for name, _ in of_asgi["headers"]] == [b"content-type", b"content-length"]
