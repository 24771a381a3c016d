"""Suppress the logs of other packages while a message is sent, since they contain addresses.

At level DEBUG they log the path of every request, and for many destinations that is the token.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Final

_PACKAGES: Final = frozenset(
    {
        "aiohttp",
        "apprise",
        "oauthlib",
        "paho",
        "requests",
        "requests_oauthlib",
        "slixmpp",
        "urllib3",
    }
)


class _Gate(logging.Filter):
    """Log filter that drops all records while any thread sends, since some packages use several."""

    def __init__(self) -> None:
        super().__init__()
        self._sending = 0
        self._lock = Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        logged = _LOGGED.get()
        if logged is not None and record.levelno >= logging.WARNING:
            logged.append(record.getMessage())
        return self._sending == 0

    def count(self, more: int) -> None:
        with self._lock:
            self._sending += more


_GATE: Final = _Gate()

_LOGGED: Final[ContextVar[list[str] | None]] = ContextVar("logged", default=None)
"""Collects log lines of the current sending; threads started with its context add theirs."""


@contextmanager
def suppressed_logs() -> Iterator[list[str]]:
    """Context in which the logs of the sending packages are dropped.

    Yields
    ------
    list of str
        Warnings and errors among it. They may hold secrets.
    """
    # A filter holds for its own logger only, not for those below it. Some appear at first use.
    for name in ["urllib3.connectionpool", "urllib3.connection", "apprise", *_known()]:
        logger = logging.getLogger(name)
        if _GATE not in logger.filters:
            logger.addFilter(_GATE)
    _GATE.count(1)
    logged: list[str] = []
    token = _LOGGED.set(logged)
    try:
        yield logged
    finally:
        _LOGGED.reset(token)
        _GATE.count(-1)


def _known() -> list[str]:
    return [name for name in logging.root.manager.loggerDict if name.split(".")[0] in _PACKAGES]
