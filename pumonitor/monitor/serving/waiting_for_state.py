"""Wait for a state database that is not up yet."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from threading import Event
from typing import Final, TypeVar

from pumonitor.monitor.ledger.database.errors import StateUnavailableError

_log = logging.getLogger("pumonitor")

_FIRST_WAIT: Final = timedelta(seconds=1)
_LONGEST_WAIT: Final = timedelta(seconds=30)

Opened = TypeVar("Opened")


def opened_in_time(open_once: Callable[[], Opened], *, stopped: Event) -> Opened | None:
    """Open the state database, trying until it succeeds; None if stopped before.

    Every attempt that fails is logged with its reason. Waits double from one second to 30.

    Raises
    ------
    InputError
        If its address is not valid.
    StateError
        If waiting cannot help, because a newer version of pumonitor wrote it.
    """
    wait = _FIRST_WAIT
    while not stopped.is_set():
        try:
            return open_once()
        except StateUnavailableError as error:
            _log.warning(
                "waiting for the state database, next try in %d s: %s", wait.seconds, error
            )
            stopped.wait(wait.total_seconds())
            wait = min(2 * wait, _LONGEST_WAIT)
    return None
