"""Health server: whether the service is alive and ready, and its metrics."""

from __future__ import annotations

import hmac
import io
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from threading import BoundedSemaphore, Thread
from typing import Any, Final

from pumonitor.errors import InputError
from pumonitor.monitor.addresses import Listening, is_own_name, listening_address
from pumonitor.monitor.ledger.database.errors import StateError
from pumonitor.monitor.seldom_logged import SeldomLogged

SECONDS_PER_REQUEST: Final = 5.0
"""Longest time from the connection to the end of the answer; slower clients are cut off."""

_MOST_AT_ONCE: Final = 32
_SHORTEST_TOKEN: Final = 16


@contextmanager
def health_server(
    address: str,
    *,
    ready: Callable[[], None],
    metrics: Callable[[], bytes] | None = None,
    token: str | None = None,
    seconds_per_request: float = SECONDS_PER_REQUEST,
) -> Iterator[int]:
    """Serve /healthz, which depends on nothing, /readyz and /metrics, which read the ledger.

    The number of connections is limited; further ones are closed. On loopback addresses the Host
    header of a request must be one of this machine's names, which prevents DNS rebinding by a page
    in a browser.

    Parameters
    ----------
    address : str
        ``HOST:PORT``, ``[IPv6]:PORT`` or ``:PORT`` of 127.0.0.1; port 0 takes a free one.
    ready : callable
        Raises when the state database cannot be used.
    metrics : callable, optional
        Returns the answer to Prometheus.
    token : str, optional
        Token that every request must send (``Authorization: Bearer``); required if other machines
        can connect.
    seconds_per_request : float

    Yields
    ------
    int
        The port.

    Raises
    ------
    InputError
        If the address cannot be used, or if it needs a token.
    """
    place = listening_address(address, what="health")
    if token is None and not place.is_loopback:
        msg = (
            f"the health address {address} can be reached from other machines: set the environment "
            "variable PUMONITOR_HEALTH_TOKEN to a token, which requests must send as "
            "Authorization: Bearer TOKEN, or use an address of this machine alone, such as "
            "127.0.0.1:8080"
        )
        raise InputError(msg)
    if token is not None and (len(token) < _SHORTEST_TOKEN or not token.isascii()):
        msg = (
            f"a health token must have {_SHORTEST_TOKEN} or more plain characters, got {len(token)}"
        )
        raise InputError(msg)

    def is_ready() -> bytes:
        ready()
        return b"ready\n"

    answers = {"/healthz": lambda: b"alive\n", "/readyz": is_ready}
    if metrics is not None:
        answers["/metrics"] = metrics
    rules = _Rules(
        answers=answers,
        token=token,
        only_own_names=place.is_loopback,
        seconds=seconds_per_request,
    )
    try:
        server = _Server(place, _handler(rules))
    except OSError as error:
        msg = f"the health address {address} cannot be used: {error.strerror or error}"
        raise InputError(msg) from None
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()


class _Server(ThreadingHTTPServer):
    """Serves a bounded number of connections at a time, each in a thread."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, place: Listening, handler: type[BaseHTTPRequestHandler]) -> None:
        self.address_family = place.family
        self._free = BoundedSemaphore(_MOST_AT_ONCE)
        super().__init__((place.host, place.port), handler)

    def server_bind(self) -> None:
        # HTTP's own asks name servers for this machine's name, which may take long.
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "pumonitor", self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors of a connection: clients that hang up are normal."""


class _Reader(io.RawIOBase):
    """Reads a request until a deadline, however slowly it arrives."""

    def __init__(self, connection: socket.socket, until: float) -> None:
        self._connection = connection
        self._until = until

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._connection.settimeout(_left(self._until))
        return self._connection.recv_into(buffer)


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rules:
    """Which requests are answered: token, host name and path."""

    answers: Mapping[str, Callable[[], bytes]]
    token: str | None
    only_own_names: bool
    seconds: float

    def refusal(self, hosts: list[str], authorization: str) -> tuple[HTTPStatus, bytes] | None:
        """Status and reason if a request is refused; None if it is answered."""
        if len(hosts) > 1 or (self.only_own_names and not all(map(is_own_name, hosts))):
            return HTTPStatus.MISDIRECTED_REQUEST, b"the Host header has an unknown host name\n"
        if self.token is not None:
            kind, _, given = authorization.partition(" ")
            is_right = hmac.compare_digest(given.strip().encode(), self.token.encode())
            if kind.lower() != "bearer" or not is_right:
                return HTTPStatus.UNAUTHORIZED, b"Authorization: Bearer TOKEN is needed\n"
        return None


def _outcome(
    path: str, answer: Callable[[], bytes], seldom: SeldomLogged
) -> tuple[HTTPStatus, bytes]:
    """Status and body of an answer. What fails is logged: the answer does not say why."""
    try:
        return HTTPStatus.OK, answer()
    except StateError as error:
        seldom.warn(path, f"{path}: {error}")
        return HTTPStatus.SERVICE_UNAVAILABLE, b"no state database\n"
    except Exception as error:  # noqa: BLE001 (whoever asks is to see that it fails)
        kind = type(error).__name__
        seldom.warn(path, f"{path} failed unexpectedly: {kind}: {error}")
        said = f"{kind}; the log of pumonitor serve says more\n"
        return HTTPStatus.INTERNAL_SERVER_ERROR, said.encode()


def _handler(rules: _Rules) -> type[BaseHTTPRequestHandler]:
    seldom = SeldomLogged()

    class Handler(BaseHTTPRequestHandler):
        def setup(self) -> None:
            super().setup()
            self._until = time.monotonic() + rules.seconds
            self.rfile.close()
            self.rfile = io.BufferedReader(_Reader(self.connection, self._until))

        def do_GET(self) -> None:
            refused = rules.refusal(
                self.headers.get_all("Host", []), self.headers.get("Authorization", "")
            )
            if refused is not None:
                if refused[0] == HTTPStatus.UNAUTHORIZED:
                    who = self.client_address[0]
                    how = "a wrong" if self.headers.get("Authorization") else "no"
                    seldom.warn(who, f"health: {how} token from {who} for {self.path!r:.100}")
                self._answer(*refused)
                return
            answer = rules.answers.get(self.path)
            if answer is None:
                self._answer(HTTPStatus.NOT_FOUND, f"{', '.join(rules.answers)}\n".encode())
                return
            self._answer(*_outcome(self.path, answer, seldom))

        def _answer(self, status: HTTPStatus, body: bytes) -> None:
            # The answer itself may have taken long to find; whoever asked has as long to take it.
            self.connection.settimeout(rules.seconds)
            self.send_response(status)
            if status == HTTPStatus.UNAUTHORIZED:
                self.send_header("WWW-Authenticate", "Bearer")
            # What Prometheus asks for; other readers take it as plain text.
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Log no requests, since probes come every few seconds."""

    return Handler
