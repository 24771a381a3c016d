"""The application behind ``mlflow server --app-name pumonitor``."""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable, Collection, Iterable, MutableMapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from typing import Any, Final

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
from pumonitor_mlflow.server.rights import Remembered, Seen, asking
from pumonitor_mlflow.server.wrapped import (
    has_accounts,
    is_asgi_server,
    static_prefix,
    wrapped_app,
)

__all__ = ["create_app"]

_CONFIGURATION: Final = "PUMONITOR_CONFIG"
_BELOW: Final = "/pumonitor"
_SEEN: Final = "pumonitor.seen"

_log = logging.getLogger("pumonitor")


def create_app() -> Any:
    """MLflow's own application with the pages below ``/pumonitor/``.

    Everything else is answered by the application that MLflow would have run, or by the one that
    ``PUMONITOR_MLFLOW_APP`` names. Who may see a monitor is asked of it, as the caller: those whose
    experiment ``pumonitor/MONITOR`` it shows them. ``PUMONITOR_CONFIG`` is the configuration file,
    ``pumonitor.yaml`` without it.

    Returns
    -------
    callable
        ASGI under uvicorn, else WSGI.
    """
    below = static_prefix() + _BELOW
    pages = _Pages()
    remembered = Remembered()
    if is_asgi_server():
        return _AsgiDoor(wrapped_app(), below, pages, remembered)
    return _WsgiDoor(wrapped_app(), below, pages, remembered)


class _Pages:
    """The pages, opened at the first request; a later one tries again if that failed."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._app: WsgiApp | None = None

    def answer(self, request: Request, below: str, seen: Seen) -> Answer:
        """Answer a request of somebody who may see so much."""
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
            text = f"The pages cannot be shown: {why}\n".encode()
            return Answer(
                status=HTTPStatus.SERVICE_UNAVAILABLE,
                reason="Service Unavailable",
                headers=[
                    ("Content-Type", "text/plain; charset=utf-8"),
                    ("X-Content-Type-Options", "nosniff"),
                    ("Content-Length", str(len(text))),
                ],
                body=text,
            )
        return ask_wsgi(app, request.below(below, **{_SEEN: seen}))

    def _opened(self) -> WsgiApp:
        with self._lock:
            if self._app is None:
                self._app = _open_pages()
            return self._app


def _open_pages() -> WsgiApp:
    from flask import request

    from pumonitor.monitor.app import open_ledger, utc_now
    from pumonitor.monitor.config.file import read_configuration
    from pumonitor.monitor.dashboard.app import make_app
    from pumonitor.monitor.dashboard.site import Site
    from pumonitor.monitor.delivery.mlflow.runs import EXPERIMENT_KEY

    path = Path(os.environ.get(_CONFIGURATION, "pumonitor.yaml"))
    configuration = read_configuration(path, needs="ledger").configuration
    ledger = open_ledger(configuration)

    def visible() -> Collection[str]:
        seen: Seen = request.environ[_SEEN]
        if seen.everything:
            return configuration.monitors
        recorded = ledger.run_ids.starting_with(EXPERIMENT_KEY)
        return {name for name, number in seen.experiments if recorded.get(name) == number}

    site = Site(monitors=configuration.monitors, ledger=ledger, clock=utc_now)
    return make_app(
        site,
        # The wrapped application has been asked with the same Host, and checks it.
        is_host=lambda host: True,
        visible=visible,
    )


@dataclass(frozen=True, slots=True)
class _Door:
    """Which requests are for the pages, and who may see what."""

    wrapped: Any
    below: str
    pages: _Pages
    remembered: Remembered
    static_prefix: str = field(default_factory=static_prefix)
    has_accounts: bool = field(default_factory=has_accounts)

    def is_ours(self, path: str) -> bool:
        return path == self.below or path.startswith(f"{self.below}/")

    def noted(self, request: Request, found: Seen | Answer) -> Seen | Answer:
        """Remember what a caller may see; a refusal is not remembered."""
        if not isinstance(found, Answer):
            self.remembered.put(request, found)
        return found


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
        answer = (
            found if isinstance(found, Answer) else self.pages.answer(request, self.below, found)
        )
        start_response(f"{answer.status} {answer.reason or '-'}", list(answer.headers))
        return [answer.body]

    def _seen(self, request: Request) -> Seen | Answer:
        steps = asking(request, static_prefix=self.static_prefix, has_accounts=self.has_accounts)
        question = next(steps)
        while True:
            try:
                question = steps.send(ask_wsgi(self.wrapped, question))
            except StopIteration as end:
                return self.noted(request, end.value)


class _AsgiDoor(_Door):
    """Under uvicorn."""

    async def __call__(
        self,
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        if scope["type"] != "http" or not self.is_ours(scope["path"]):
            await self.wrapped(scope, receive, send)
            return
        from anyio import to_thread

        request = Request.of_asgi(scope)
        known = self.remembered.get(request)
        found = await self._seen(request) if known is None else known
        answer = (
            found
            if isinstance(found, Answer)
            else await to_thread.run_sync(self.pages.answer, request, self.below, found)
        )
        headers = [(n.encode("latin-1"), v.encode("latin-1")) for n, v in answer.headers]
        await send(
            {"type": "http.response.start", "status": int(answer.status), "headers": headers}
        )
        await send({"type": "http.response.body", "body": answer.body})

    async def _seen(self, request: Request) -> Seen | Answer:
        steps = asking(request, static_prefix=self.static_prefix, has_accounts=self.has_accounts)
        question = next(steps)
        while True:
            answer = await ask_asgi(self.wrapped, question)
            try:
                question = steps.send(answer)
            except StopIteration as end:
                return self.noted(request, end.value)
