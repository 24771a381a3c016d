"""Whether the service lives and can work, for whoever restarts it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from pumonitor.errors import InputError

__all__ = ["health_server"]


@contextmanager
def health_server(address: str, *, ready: Callable[[], None]) -> Iterator[int]:
    """Answer /healthz, which depends on nothing, and /readyz, which asks the state database.

    Parameters
    ----------
    address : str
        ``HOST:PORT``; port 0 takes a free one.
    ready : callable
        Raises when the state database cannot be used.

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

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/healthz":
                self._answer(HTTPStatus.OK, "alive")
            elif self.path == "/readyz":
                try:
                    ready()
                except Exception:  # noqa: BLE001 (whatever it is, the service cannot work)
                    self._answer(HTTPStatus.SERVICE_UNAVAILABLE, "no state database")
                else:
                    self._answer(HTTPStatus.OK, "ready")
            else:
                self._answer(HTTPStatus.NOT_FOUND, "/healthz or /readyz")

        def _answer(self, status: HTTPStatus, text: str) -> None:
            body = f"{text}\n".encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/plain; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Probes every few seconds are no news."""

    try:
        server = ThreadingHTTPServer((host, int(port)), Handler)
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
