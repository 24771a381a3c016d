"""Log what others can make happen as often as they like: each thing once a minute."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from threading import Lock
from typing import Final

_log = logging.getLogger("pumonitor")
_SECONDS: Final = 60.0
_MOST_KEYS: Final = 1_000


class SeldomLogged:
    """Warnings, of which the same comes once a minute, with the number of those left out.

    Parameters
    ----------
    clock : callable
        Seconds, never going back.

    Examples
    --------
    >>> seldom = SeldomLogged()
    >>> seldom.warn("10.0.0.7", "wrong token from 10.0.0.7")
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._last: dict[str, tuple[float, int]] = {}

    def warn(self, key: str, message: str) -> None:
        """Log it, unless the same key was logged less than a minute ago."""
        now = self._clock()
        with self._lock:
            at, left_out = self._last.get(key, (-_SECONDS, 0))
            if now - at < _SECONDS:
                self._last[key] = at, left_out + 1
                return
            self._last.pop(key, None)
            self._last[key] = now, 0
            while len(self._last) > _MOST_KEYS:
                self._last.pop(next(iter(self._last)))
        more = f" ({left_out} more since the last line about it)" if left_out else ""
        _log.warning("%s%s", message, more)
