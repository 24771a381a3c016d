"""A real HTTP server in front of another that fails as it is told."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit


@dataclass
class Request:
    number: int
    method: str
    path: str
    body: bytes = field(repr=False)
    headers: dict[str, str] = field(repr=False)


@dataclass
class Answer:
    status: int
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)


React = Callable[[Request], "Answer | None"]
"""An answer to give, None to give none and close the connection."""


class FaultyProxy:
    """Forwards to `target`; `react` may answer instead, `forward` is the way on."""

    def __init__(self, target: str) -> None:
        self._target = urlsplit(target).netloc
        self._lock = threading.Lock()
        self._server: ThreadingHTTPServer | None = None
        self.requests: list[Request] = []
        self.react: React = self.forward
        self.port = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def forward(self, request: Request) -> Answer:
        connection = HTTPConnection(self._target, timeout=60)
        try:
            headers = {**request.headers, "Host": self._target}
            connection.request(request.method, request.path, request.body, headers)
            response = connection.getresponse()
            kind = response.headers.get("Content-Type", "application/json")
            return Answer(response.status, response.read(), {"Content-Type": kind})
        finally:
            connection.close()

    def start(self) -> None:
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                with proxy._lock:
                    number = len(proxy.requests)
                    request = Request(number, self.command, self.path, body, dict(self.headers))
                    proxy.requests.append(request)
                answer = proxy.react(request)
                self.close_connection = True
                if answer is None:
                    return
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815

            def log_message(self, *arguments: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *arguments: Any) -> None:
                """A client that gave up waiting is what these tests are about."""

        self._server = Server(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


FAIL = Answer(500, b'{"error_code": "INTERNAL_ERROR", "message": "broken"}')


def fails(proxy: FaultyProxy, request: Request) -> Answer | None:
    return FAIL


def is_never_forwarded(proxy: FaultyProxy, request: Request) -> Answer | None:
    return None


def loses_its_answer(proxy: FaultyProxy, request: Request) -> Answer | None:
    proxy.forward(request)
    return None


def fails_after_it_was_done(proxy: FaultyProxy, request: Request) -> Answer | None:
    proxy.forward(request)
    return FAIL
