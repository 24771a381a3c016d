"""Renew a lease in a thread while work goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Thread

from pumonitor.monitor.ledger.database.errors import StaleClaimError, StateError

__all__ = ["renewed"]


@contextmanager
def renewed(renew: Callable[[], None], *, lease: timedelta) -> Iterator[None]:
    """Context that calls `renew` in a thread, three times per lease.

    If the state database does not answer, the next call tries again. The thread ends when the claim
    is no longer held.
    """
    finished = Event()
    every = max(lease.total_seconds() / 3, 0.05)

    def keep() -> None:
        while not finished.wait(every):
            try:
                renew()
            except StaleClaimError:
                return
            except StateError:
                continue

    keeper = Thread(target=keep, daemon=True, name="renewal of a lease")
    keeper.start()
    try:
        yield
    finally:
        finished.set()
        keeper.join()
