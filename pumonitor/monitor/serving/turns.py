"""Who is next: fair turns among monitors, and a limit for each server that they read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from threading import Condition


class Turns:
    """Gives monitors to workers: the one that has waited longest and whose servers have room.

    So a server that does not answer holds as many workers as its limit says, and the monitors of
    other servers go on with the rest. A monitor is with one worker at a time. Can be used by any
    thread.

    Parameters
    ----------
    servers : mapping of str to collection of str
        Monitor to the servers that its tables are on.
    at_once : int
        Most monitors of one server that are with workers at the same time.
    limits : mapping of str to int, optional
        The same for single servers.

    Examples
    --------
    >>> turns = Turns({"a": ["slow"], "b": ["slow"], "c": ["other"]}, at_once=1)
    >>> for name in "abc":
    ...     turns.ask(name)
    >>> turns.next(), turns.next(), turns.next()
    ('a', 'c', None)
    >>> turns.done("a")
    >>> turns.next()
    'b'
    """

    def __init__(
        self,
        servers: Mapping[str, Collection[str]],
        *,
        at_once: int,
        limits: Mapping[str, int] | None = None,
    ) -> None:
        self._servers = {name: frozenset(of) for name, of in servers.items()}
        self._at_once = at_once
        self._limits = dict(limits or {})
        # In the order in which they asked; a dictionary for its order and its keys.
        self._waiting: dict[str, None] = {}
        self._taken: set[str] = set()
        self._busy: Counter[str] = Counter()
        self._changed = Condition()
        self._closed = False

    def ask(self, name: str) -> None:
        """Put a monitor at the end, unless it waits already."""
        with self._changed:
            self._waiting.setdefault(name)
            self._changed.notify_all()

    def next(self) -> str | None:
        """The monitor whose turn it is, until `done`; None if there is none now."""
        with self._changed:
            return self._take()

    def wait(self) -> str | None:
        """Like `next`, but wait for one; None after `close`."""
        with self._changed:
            while not self._closed:
                name = self._take()
                if name is not None:
                    return name
                self._changed.wait()
            return None

    def done(self, name: str) -> None:
        """Take a monitor back, with its places at its servers."""
        with self._changed:
            self._taken.discard(name)
            self._busy.subtract(self._servers[name])
            self._changed.notify_all()

    def close(self) -> None:
        """Give no more monitors to anybody."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def beside(self, name: str) -> frozenset[str]:
        """The monitor, and those that are on no other server than it is."""
        own = self._servers[name]
        return frozenset(one for one, of in self._servers.items() if of <= own) | {name}

    def _take(self) -> str | None:
        for name in self._waiting:
            if name not in self._taken and all(map(self._has_room, self._servers[name])):
                del self._waiting[name]
                self._taken.add(name)
                self._busy.update(self._servers[name])
                return name
        return None

    def _has_room(self, server: str) -> bool:
        return self._busy[server] < self._limits.get(server, self._at_once)
