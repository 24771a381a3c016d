"""Whether the service lives and can work, and its numbers, for whoever watches over it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from pumonitor.errors import InputError

__all__ = ["health_server"]


@contextmanager
def health_server(
    address: str, *, ready: Callable[[], None], metrics: Callable[[], bytes] | None = None
) -> Iterator[int]:
    """Answer /healthz, which depends on nothing, /readyz, which asks the state database, /metrics.

    Parameters
    ----------
    address : str
        ``HOST:PORT``; port 0 takes a free one.
    ready : callable
        Raises when the state database cannot be used.
    metrics : callable, optional
        What Prometheus is told.

    Yields
    ------
    int
        The port.

    Raises
    ------
    InputError
        If the address cannot be used.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        msg = f"a health address is HOST:PORT, for example 127.0.0.1:8080, got {address!r}"
        raise InputError(msg)

    def is_ready() -> bytes:
        ready()
        return b"ready\n"

    answers = {"/healthz": lambda: b"alive\n", "/readyz": is_ready}
    if metrics is not None:
        answers["/metrics"] = metrics
    try:
        server = ThreadingHTTPServer((host, int(port)), _handler(answers))
    except OSError as error:
        msg = f"the health address {address} cannot be used: {error.strerror or error}"
        raise InputError(msg) from None
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()


def _handler(answers: Mapping[str, Callable[[], bytes]]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = answers.get(self.path)
            if answer is None:
                self._answer(HTTPStatus.NOT_FOUND, f"{', '.join(answers)}\n".encode())
                return
            try:
                found = answer()
            except Exception:  # noqa: BLE001 (whatever it is, the service cannot work)
                self._answer(HTTPStatus.SERVICE_UNAVAILABLE, b"no state database\n")
            else:
                self._answer(HTTPStatus.OK, found)

        def _answer(self, status: HTTPStatus, body: bytes) -> None:
            self.send_response(status)
            # What Prometheus asks for; other readers take it as plain text.
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Probes every few seconds are no news."""

    return Handler
