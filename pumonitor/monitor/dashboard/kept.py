"""What pages have computed from stored revisions, which never change."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, Final

_MOST: Final = 32


class Kept:
    """The last few results by key; several threads may ask at once.

    Examples
    --------
    >>> kept = Kept(most=1)
    >>> kept.get("a", lambda: 1), kept.get("a", lambda: 2), kept.get("b", lambda: 3)
    (1, 1, 3)
    >>> kept.get("a", lambda: 4)
    4
    """

    def __init__(self, *, most: int = _MOST) -> None:
        self._most = most
        self._found: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = Lock()

    def find(self, key: Hashable) -> Any:
        """What was made for the key; None if nothing is kept."""
        with self._lock:
            return self._found.get(key)

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What was made for the key, made now unless it is kept."""
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key]
        # Made outside the lock: another page does not wait for it. Two at once make the same.
        made = make()
        with self._lock:
            self._found[key] = made
            while len(self._found) > self._most:
                self._found.popitem(last=False)
        return made
