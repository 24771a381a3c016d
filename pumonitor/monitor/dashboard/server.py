"""The pages behind an HTTP server of their own."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any, Final

from flask import Flask

from pumonitor.errors import InputError
from pumonitor.monitor.addresses import is_named, is_own_name, listening_address
from pumonitor.monitor.app import utc_now
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.dashboard.app import make_app
from pumonitor.monitor.dashboard.callers import Callers
from pumonitor.monitor.dashboard.forms import LONGEST
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.ports import Clock

_THREADS: Final = 8
_CONNECTIONS: Final = 400
"""At once. Whoever holds this many keeps others out, so none is held for long."""
_IDLE: Final = 60
"""Seconds after which a connection on which nothing moves is closed."""
_LONGEST_REQUEST: Final = 20.0
"""Seconds in which a request must have come whole, however steadily it drips."""
_LONGEST_WAIT: Final = 5.0
"""For a connection, before old ones are closed; the end wakes the thread."""
_LAST_ANSWERS: Final = 20.0
"""Seconds for requests that have begun, and again for their answers to be taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """How the pages are served to others than the users of this machine.

    Attributes
    ----------
    host_names : tuple of str
        Names by which browsers reach them; then everybody has to sign in. Without any the pages
        answer to names of this machine, at an address of its own, and to everybody.
    is_plain_http : bool
        Whether browsers come by http and not by https.
    trusted_proxy : str or None
        Address of a proxy whose X-Forwarded headers are believed.
    """

    host_names: tuple[str, ...] = ()
    is_plain_http: bool = False
    trusted_proxy: str | None = None


@contextmanager
def pages_server(
    address: str,
    monitors: Mapping[str, Monitor],
    ledger: Ledger,
    *,
    served: Served | None = None,
    clock: Clock = utc_now,
) -> Iterator[str]:
    """Context in which the pages are served, with their address.

    Parameters
    ----------
    address : str
        ``HOST:PORT``; port 0 takes a free one.
    monitors : mapping of str to Monitor
    ledger : Ledger
    served : Served, optional
    clock : Clock, optional

    Raises
    ------
    InputError
        If the address cannot be used, or can be reached from other machines and no host names are
        given.
    """
    place, served = listening_address(address, what="pages"), served or Served()
    names = served.host_names
    if not place.is_loopback and not names:
        msg = (
            f"the pages address {address} can be reached from other machines: name the hosts by "
            "which browsers reach it (--host-names pumonitor.example.org), and everybody has to "
            "sign in with a token (pumonitor tokens create); or use an address of this machine "
            "alone, such as 127.0.0.1:8090"
        )
        raise InputError(msg)
    site = Site(monitors=monitors, ledger=ledger, clock=clock)
    app = make_app(
        site,
        is_host=(lambda host: is_named(host, names)) if names else is_own_name,
        callers=Callers(site, signs_in=bool(names), is_plain_http=served.is_plain_http),
    )
    logging.getLogger("waitress").setLevel(logging.WARNING)
    # More readers than threads are no fault: they wait for each other.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    try:
        listening = socket.create_server((place.host, place.port), family=place.family)
    except OSError as error:
        msg = f"the pages address {address} cannot be used: {error.strerror or error}"
        raise InputError(msg) from None
    shown = f"[{place.host}]" if ":" in place.host else place.host
    with listening, _serving(app, listening, trusted_proxy=served.trusted_proxy):
        yield f"http://{shown}:{listening.getsockname()[1]}/"


@contextmanager
def _serving(
    app: Flask, listening: socket.socket, *, trusted_proxy: str | None = None
) -> Iterator[None]:
    """Context in which a thread answers; requests that have begun are answered before its end."""
    from waitress import create_server, wasyncore

    connections: dict[int, object] = {}
    server = create_server(
        app,
        map=connections,
        sockets=[listening],
        threads=_THREADS,
        connection_limit=_CONNECTIONS,
        channel_timeout=_IDLE,
        cleanup_interval=_LONGEST_WAIT,
        ident="pumonitor",
        # What is longer is refused before the application sees it.
        max_request_body_size=LONGEST + 1,
        # Of others than the proxy these headers are taken away.
        clear_untrusted_proxy_headers=True,
        **({} if trusted_proxy is None else _of_proxy(trusted_proxy)),
    )
    stopped = Event()

    def serve() -> None:
        begun: dict[object, float] = {}
        looked = time.monotonic()
        while not stopped.is_set():
            # By poll, as select takes no more than 1,024 files of the whole process.
            wasyncore.loop(timeout=_LONGEST_WAIT, use_poll=True, map=connections, count=1)
            if time.monotonic() >= looked + _LONGEST_WAIT:
                looked = time.monotonic()
                begun = _end_slow(list(server.active_channels.values()), begun, now=looked)
        server.task_dispatcher.shutdown(timeout=_LAST_ANSWERS)
        # Answers that are ready are still sent.
        until = time.monotonic() + _LAST_ANSWERS
        while _is_sending(connections) and time.monotonic() < until:
            wasyncore.loop(timeout=0.1, use_poll=True, map=connections, count=1)
        for channel in list(server.active_channels.values()):
            channel.handle_close()  # with the file that holds a long answer
        wasyncore.close_all(connections)

    thread = Thread(target=serve, name="pages", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        server.pull_trigger()
        thread.join()


def _end_slow(
    channels: list[Any], begun: dict[object, float], *, now: float
) -> dict[object, float]:
    """Close connections whose request does not come to its end; when the others' were first seen.

    waitress closes connections on which nothing moves. A byte from time to time would keep one open
    for ever.
    """
    coming = {one.request: one for one in channels if one.request is not None}
    found = {request: begun.get(request, now) for request in coming}
    for request, since in found.items():
        if now - since >= _LONGEST_REQUEST:
            coming[request].will_close = True
    return found


def _is_sending(connections: Mapping[int, object]) -> bool:
    return any(getattr(one, "total_outbufs_len", 0) for one in connections.values())


def _of_proxy(address: str) -> dict[str, Any]:
    return {
        "trusted_proxy": address,
        "trusted_proxy_headers": {"x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"},
    }
