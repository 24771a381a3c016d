"""Connections to allowed addresses only, closed at a deadline."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from threading import Lock, Timer
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError

from pumonitor.monitor.delivery.http.public_addresses import is_public


class PrivateAddressError(Exception):
    """A host name resolves to an address that is not public."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.address = address


class Deadline:
    """Closes connections that are still open at the deadline, whatever they wait for."""

    def __init__(self, seconds: float) -> None:
        self._timer = Timer(seconds, self._cut)
        self._timer.daemon = True
        self._lock = Lock()
        self._handles: list[socket.socket] = []
        self.is_over = False

    def watch(self, connected: socket.socket) -> None:
        """Keep a duplicate handle of a socket, which stays valid when TLS wraps the first."""
        with self._lock:
            self._handles.append(connected.dup())
            if self.is_over:
                self._shut()

    def __enter__(self) -> Deadline:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            for handle in self._handles:
                handle.close()
            self._handles.clear()

    def _cut(self) -> None:
        with self._lock:
            self.is_over = True
            self._shut()

    def _shut(self) -> None:
        for handle in self._handles:
            with suppress(OSError):
                handle.shutdown(socket.SHUT_RDWR)


def _connected(connection: HTTPConnection, connect: Callable[[], socket.socket]) -> socket.socket:
    """Resolve the name once, check the addresses, and connect to one that passed the check."""
    allow_private: bool = connection.__dict__["allow_private"]
    deadline: Deadline = connection.__dict__["deadline"]
    name = connection._dns_host
    try:
        found = socket.getaddrinfo(name, connection.port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        as_gaierror = error if isinstance(error, socket.gaierror) else socket.gaierror(str(error))
        raise NameResolutionError(connection.host, connection, as_gaierror) from None
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    private = [address for address in addresses if not is_public(address)]
    if private and not allow_private:
        raise PrivateAddressError(private[0])
    last: NewConnectionError | ConnectTimeoutError | None = None
    for address in addresses:
        try:
            # An address in place of the name is not looked up again.
            connection._dns_host = address
            made = connect()
        except (NewConnectionError, ConnectTimeoutError) as error:
            last = error
        else:
            deadline.watch(made)
            return made
        finally:
            # TLS and the Host header go by the name.
            connection._dns_host = name
    raise last or NewConnectionError(connection, "the name has no address")


class _Http(HTTPConnection):
    def _new_conn(self) -> socket.socket:
        return _connected(self, super()._new_conn)


class _Https(HTTPSConnection):
    def _new_conn(self) -> socket.socket:
        return _connected(self, super()._new_conn)


class _HttpPool(HTTPConnectionPool):
    ConnectionCls = _Http

    def __init__(self, *arguments: Any, guard: Mapping[str, Any], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._guard = guard

    def _new_conn(self) -> Any:
        connection = super()._new_conn()
        connection.__dict__.update(self._guard)
        return connection


class _HttpsPool(HTTPSConnectionPool):
    ConnectionCls = _Https

    def __init__(self, *arguments: Any, guard: Mapping[str, Any], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._guard = guard

    def _new_conn(self) -> Any:
        connection = super()._new_conn()
        connection.__dict__.update(self._guard)
        return connection


class _Adapter(HTTPAdapter):
    """Transport adapter that connects with `_connected` and does not retry."""

    def __init__(self, *, allow_private: bool, deadline: Deadline) -> None:
        self._guard = {"allow_private": allow_private, "deadline": deadline}
        super().__init__(max_retries=0)

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        super().init_poolmanager(*arguments, **options)
        manager: PoolManager = self.poolmanager
        manager.pool_classes_by_scheme = {
            "http": partial(_HttpPool, guard=self._guard),  # type: ignore[dict-item]  # makes one
            "https": partial(_HttpsPool, guard=self._guard),  # type: ignore[dict-item]  # makes one
        }


@contextmanager
def guarded_session(*, allow_private: bool, deadline: Deadline) -> Iterator[requests.Session]:
    """Session that ignores the environment's proxies and password files, not its certificates."""
    with requests.Session() as session:
        session.trust_env = False
        bundle = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE")
        if bundle:
            session.verify = bundle
        adapter = _Adapter(allow_private=allow_private, deadline=deadline)
        session.mount("https://", adapter)
        session.mount("http://", adapter)
        yield session
