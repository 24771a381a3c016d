"""The application behind ``mlflow server --app-name pumonitor``."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Awaitable, Callable, Generator, Iterable, MutableMapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from pumonitor.errors import InputError
from pumonitor.monitor.ledger.database.errors import StateError
from pumonitor_mlflow.server.exchange import (
    Answer,
    Message,
    Request,
    WsgiApp,
    ask_asgi,
    ask_wsgi,
)
from pumonitor_mlflow.server.rights import (
    Asking,
    Known,
    Remembered,
    Seen,
    asking,
    asking_to_edit,
    in_workspace,
)
from pumonitor_mlflow.server.wrapped import (
    api_prefix,
    has_accounts,
    has_workspaces,
    is_asgi_server,
    static_prefix,
    wrapped_app,
)

if TYPE_CHECKING:
    from anyio import CapacityLimiter

    from pumonitor.monitor.config.configuration import Configuration
    from pumonitor.monitor.dashboard.access import Caller
    from pumonitor.monitor.ledger.ledger import Ledger

_CONFIGURATION: Final = "PUMONITOR_CONFIG"
_BELOW: Final = "/pumonitor"
_SEEN: Final = "pumonitor.seen"
_MAY_EDIT: Final = "pumonitor.may_edit"
_LONGEST_BODY: Final = 1 << 20
_PAGES_AT_ONCE: Final = 8
_MOST_WAITING: Final = 32
_PATIENCE: Final = 60.0
"""Seconds in which the wrapped application says who may see what."""

_log = logging.getLogger("pumonitor")


def create_app() -> Any:
    """MLflow's own application with the pages below ``/pumonitor/``.

    Everything else is answered by the application that MLflow would have run, or by the one that
    ``PUMONITOR_MLFLOW_APP`` names. Who may see a monitor is asked of it, as the caller: those whose
    experiment ``pumonitor/MONITOR`` it shows them. Who may edit that experiment may change what
    people say of the monitor. ``PUMONITOR_CONFIG`` is the configuration file, ``pumonitor.yaml``
    without it.

    Returns
    -------
    callable
        ASGI under uvicorn, else WSGI.
    """
    below = static_prefix() + _BELOW
    pages = _Pages()
    door = _AsgiDoor if is_asgi_server() else _WsgiDoor
    return door(wrapped_app(), below, pages)


class _Pages:
    """The pages, opened at the first request; a later one tries again if that failed.

    It tries no sooner than after as long as the attempt that failed took: a database that does not
    answer would hold every request for its whole patience, one after the other.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._lock = Lock()
        self._clock = clock
        self._app: WsgiApp | None = None
        self._failed: StateError | None = None
        self._try_again_at = 0.0

    def answer(
        self, request: Request, below: str, seen: Seen, may_edit: Callable[[str], bool]
    ) -> Answer:
        """Answer a request of somebody who may see so much, and edit some experiments."""
        if request.path == below:
            return Answer(
                status=HTTPStatus.PERMANENT_REDIRECT,
                reason="Permanent Redirect",
                headers=[("Location", f"{below}/"), ("Content-Length", "0")],
            )
        try:
            app = self._opened()
        except (InputError, StateError) as error:
            _log.error("pages: %s", error)
            why = str(error) if seen.everything else "the server's log says why"
            return _unavailable(f"The pages cannot be shown: {why}")
        return ask_wsgi(app, request.below(below, **{_SEEN: seen, _MAY_EDIT: may_edit}))

    def _opened(self) -> WsgiApp:
        with self._lock:
            if self._app is None:
                begun = self._clock()
                if self._failed is not None and begun < self._try_again_at:
                    raise self._failed
                try:
                    self._app = _open_pages()
                except StateError as error:
                    ended = self._clock()
                    self._failed, self._try_again_at = error, ended + (ended - begun)
                    raise
            return self._app


def _open_pages() -> WsgiApp:
    from pumonitor.monitor.app import open_ledger, utc_now
    from pumonitor.monitor.config.file import read_configuration
    from pumonitor.monitor.dashboard.app import make_app
    from pumonitor.monitor.dashboard.site import Site

    path = Path(os.environ.get(_CONFIGURATION, "pumonitor.yaml"))
    configuration = read_configuration(path, needs="ledger").configuration
    ledger = open_ledger(configuration)
    return make_app(
        Site(monitors=configuration.monitors, ledger=ledger, clock=utc_now),
        # The wrapped application has been asked with the same Host, and checks it.
        is_host=lambda host: True,
        caller=lambda: _caller(configuration, ledger),
    )


def _caller(configuration: Configuration, ledger: Ledger) -> Caller:
    """Who makes the present request, as the wrapped application knows them."""
    from flask import request

    from pumonitor.monitor.dashboard.access import Caller
    from pumonitor.monitor.delivery.mlflow.runs import EXPERIMENT_KEY

    seen: Seen = request.environ[_SEEN]
    if seen.everything:
        return Caller(
            name=seen.name,
            visible=configuration.monitors,
            may_change=lambda _monitor: True,
            is_admin=True,
        )
    may_edit: Callable[[str], bool] = request.environ[_MAY_EDIT]
    recorded = ledger.run_ids.starting_with(EXPERIMENT_KEY)
    visible = {name: one for name, one in seen.experiments if recorded.get(name) == one}
    return Caller(
        name=seen.name,
        visible=visible,
        # A change that names nobody is no use to those who read of it.
        may_change=lambda monitor: bool(seen.name) and may_edit(visible[monitor]),
    )


@dataclass(frozen=True, slots=True)
class _Door:
    """Which requests are for the pages, and who may see what."""

    wrapped: Any
    below: str
    pages: _Pages
    remembered: Remembered[Seen] = field(default_factory=Remembered)
    edits: Remembered[bool] = field(default_factory=Remembered)
    api_prefix: str = field(default_factory=api_prefix)
    has_accounts: bool = field(default_factory=has_accounts)
    has_workspaces: bool = field(default_factory=has_workspaces)

    def is_ours(self, path: str) -> bool:
        return path == self.below or path.startswith(f"{self.below}/")

    def asked(self, request: Request) -> Asking:
        """What is asked of the wrapped application, to know what a caller may see."""
        return asking(
            request,
            api_prefix=self.api_prefix,
            has_accounts=self.has_accounts,
            has_workspaces=self.has_workspaces,
        )

    def noted(self, request: Request, found: Seen | Answer) -> Seen | Answer:
        """Remember what a caller may see; a refusal is not remembered."""
        if not isinstance(found, Answer):
            self.remembered.put(request, found)
        return found

    def answer(self, request: Request, seen: Seen, ask: Callable[[Request], Answer]) -> Answer:
        """The answer of the pages, which ask the wrapped application what they still want."""

        def may_edit(experiment: str) -> bool:
            known = self.edits.get(request, experiment)
            if known is None:
                there = in_workspace(request, seen.workspace(experiment))
                steps = asking_to_edit(there, experiment, api_prefix=self.api_prefix)
                known = _finished(steps, ask)
                if known is not None:
                    self.edits.put(request, known, experiment)
            return bool(known)

        return self.pages.answer(request, self.below, seen, may_edit)


def _finished(steps: Generator[Request, Answer, Known], ask: Callable[[Request], Answer]) -> Known:
    """What is found in the end."""
    question = next(steps)
    while True:
        try:
            question = steps.send(ask(question))
        except StopIteration as end:
            found: Known = end.value
            return found


_TOO_LONG: Final = Answer(
    status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    reason="Request Entity Too Large",
    headers=[("Content-Length", "0"), ("Connection", "close")],
)


class _WsgiDoor(_Door):
    """Under gunicorn and waitress."""

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        request = Request.of_wsgi(environ)
        if not self.is_ours(request.path):
            parts: Iterable[bytes] = self.wrapped(environ, start_response)
            return parts
        known = self.remembered.get(request)
        found = self._seen(request) if known is None else known
        answer = found if isinstance(found, Answer) else self._answer(request, found, environ)
        start_response(f"{answer.status} {answer.reason or '-'}", list(answer.headers))
        return [answer.body]

    def _seen(self, request: Request) -> Seen | Answer:
        steps = self.asked(request)
        return self.noted(request, _finished(steps, self._ask))

    def _ask(self, question: Request) -> Answer:
        return ask_wsgi(self.wrapped, question)

    def _answer(self, request: Request, seen: Seen, environ: dict[str, Any]) -> Answer:
        length = int(environ.get("CONTENT_LENGTH") or 0)
        if length > _LONGEST_BODY:
            return _TOO_LONG
        if not length and environ.get("wsgi.input_terminated"):
            # A body in chunks has no length; a server that takes one ends the stream with it.
            length = _LONGEST_BODY + 1
        body = environ["wsgi.input"].read(length) if length else b""
        if len(body) > _LONGEST_BODY:
            return _TOO_LONG
        return self.answer(replace(request, body=body), seen, self._ask)


def _unavailable(why: str) -> Answer:
    text = f"{why}\n".encode()
    return Answer(
        status=HTTPStatus.SERVICE_UNAVAILABLE,
        reason="Service Unavailable",
        headers=[
            ("Content-Type", "text/plain; charset=utf-8"),
            ("X-Content-Type-Options", "nosniff"),
            ("Retry-After", "5"),
            ("Content-Length", str(len(text))),
        ],
        body=text,
    )


def _threads_of_pages() -> CapacityLimiter:
    from anyio import CapacityLimiter

    return CapacityLimiter(_PAGES_AT_ONCE)


@dataclass(frozen=True, slots=True)
class _AsgiDoor(_Door):
    """Under uvicorn.

    Pages are made in threads of their own, so few that MLflow's requests always find one: were the
    ledger not to answer, pages would soon hold all the threads that MLflow has for its own.
    """

    threads: CapacityLimiter = field(default_factory=_threads_of_pages)

    async def __call__(
        self,
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        if scope["type"] != "http" or not self.is_ours(scope["path"]):
            await self.wrapped(scope, receive, send)
            return
        request = Request.of_asgi(scope)
        known = self.remembered.get(request)
        found = await self._seen(request) if known is None else known
        answer = found if isinstance(found, Answer) else await self._answer(request, found, receive)
        headers = [(n.encode("latin-1"), v.encode("latin-1")) for n, v in answer.headers]
        await send(
            {"type": "http.response.start", "status": int(answer.status), "headers": headers}
        )
        await send({"type": "http.response.body", "body": answer.body})

    async def _seen(self, request: Request) -> Seen | Answer:
        from anyio import move_on_after

        steps = self.asked(request)
        question = next(steps)
        with move_on_after(_PATIENCE):
            while True:
                answer = await ask_asgi(self.wrapped, question)
                try:
                    question = steps.send(answer)
                except StopIteration as end:
                    return self.noted(request, end.value)
        return _unavailable("MLflow does not answer: try again later")

    async def _in_time(self, question: Request) -> Answer:
        from anyio import move_on_after

        with move_on_after(_PATIENCE):
            return await ask_asgi(self.wrapped, question)
        return _unavailable("MLflow does not answer: try again later")

    async def _answer(
        self, request: Request, seen: Seen, receive: Callable[[], Awaitable[Message]]
    ) -> Answer:
        from anyio import from_thread, to_thread

        if self.threads.statistics().tasks_waiting >= _MOST_WAITING:
            return _unavailable("too many pages are being made: try again later")
        body = await _body(receive)
        if body is None:
            return _TOO_LONG

        def ask(question: Request) -> Answer:
            found: Answer = from_thread.run(self._in_time, question)
            return found

        return await to_thread.run_sync(
            self.answer, replace(request, body=body), seen, ask, limiter=self.threads
        )


async def _body(receive: Callable[[], Awaitable[Message]]) -> bytes | None:
    """What was sent; None if it is too long."""
    found: bytes = b""
    while True:
        message = await receive()
        found += message.get("body", b"")
        if len(found) > _LONGEST_BODY:
            return None
        # Whoever has left sends nothing more.
        if not message.get("more_body", False):
            return found
