"""Pages that cannot be made for a while hold up neither MLflow nor each other."""

from __future__ import annotations

import asyncio
import threading

from pumonitor_mlflow.server import app as server
from pumonitor_mlflow.server.exchange import Answer, Request, ask_asgi
from pumonitor_mlflow.server.rights import Seen

from pumonitor.monitor.ledger.database.errors import StateError

PAGE = Request(method="GET", path="/pumonitor/", headers=[("host", "h")])
NOBODY = Seen(everything=True)


async def mlflow(scope, receive, send):
    body = b'{"experiments": []}' if "search" in scope["path"] else b"MLflow"
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


async def silent(scope, receive, send):
    await asyncio.Event().wait()


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_ledger_that_does_not_answer_is_asked_again_after_as_long_as_it_took(monkeypatch):
    clock, asked = Clock(), []

    def fail():
        asked.append(clock.now)
        clock.now += 30
        raise StateError("the state database does not answer")

    monkeypatch.setattr(server, "_open_pages", fail)
    pages = server._Pages(clock)
    for now in (0, 31, 59, 61):
        clock.now = max(clock.now, now)
        answer = pages.answer(PAGE, "/pumonitor", NOBODY, lambda _: False)
        assert answer.status == 503
        assert b"does not answer" in answer.body
        assert dict(answer.headers)["Retry-After"]
    assert asked == [0, 61]


def test_pages_have_threads_of_their_own_and_few_may_wait(monkeypatch):
    """All threads wait for the ledger: MLflow answers, and what comes later is sent away."""
    monkeypatch.setattr(server, "_MOST_WAITING", 2)
    monkeypatch.setenv("_MLFLOW_SGI_NAME", "uvicorn")
    monkeypatch.setattr(server, "wrapped_app", lambda: mlflow)
    released, begun = threading.Event(), threading.Semaphore(0)

    def answer(self, request, below, seen, may_edit):
        begun.release()
        released.wait(10)
        return Answer(status=200, body=b"page")

    monkeypatch.setattr(server._Pages, "answer", answer)
    door = server.create_app()

    async def everything():
        waiting = [
            asyncio.create_task(ask_asgi(door, PAGE))
            for _ in range(server._PAGES_AT_ONCE + server._MOST_WAITING)
        ]
        while door.threads.statistics().tasks_waiting < server._MOST_WAITING:
            await asyncio.sleep(0)
        refused = await ask_asgi(door, PAGE)
        other = await ask_asgi(door, Request(method="GET", path="/"))
        released.set()
        return refused, other, await asyncio.gather(*waiting)

    refused, other, pages = asyncio.run(everything())
    assert refused.status == 503
    assert other.body == b"MLflow"
    assert [one.body for one in pages] == [b"page"] * len(pages)


def test_an_application_that_does_not_answer_is_given_up(monkeypatch):
    monkeypatch.setattr(server, "_PATIENCE", 0.01)
    monkeypatch.setenv("_MLFLOW_SGI_NAME", "uvicorn")
    monkeypatch.setattr(server, "wrapped_app", lambda: silent)
    answer = asyncio.run(ask_asgi(server.create_app(), PAGE))
    assert answer.status == 503
    assert b"MLflow does not answer" in answer.body


def test_a_state_error_that_comes_at_once_is_looked_into_at_once(monkeypatch):
    monkeypatch.setattr(server, "_open_pages", lambda: (_ for _ in ()).throw(StateError("no")))
    pages = server._Pages(Clock())
    assert pages.answer(PAGE, "/pumonitor", NOBODY, lambda _: False).status == 503
    monkeypatch.setattr(server, "_open_pages", lambda: lambda environ, start: _page(start))
    assert pages.answer(PAGE, "/pumonitor", NOBODY, lambda _: False).status == 200


def _page(start):
    start("200 OK", [])
    return [b"page"]
