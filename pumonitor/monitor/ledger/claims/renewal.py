"""Renew a lease in a thread while work goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Thread

from pumonitor.monitor.ledger.database.errors import StaleClaimError, StateError


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


@contextmanager
def surely_held(renew: Callable[[], None], *, lease: timedelta) -> Iterator[Callable[[], bool]]:
    """Context that renews a lease; yields a function that returns whether it surely holds.

    It does within half a lease of the last renewal: what is begun then ends before the lease does.
    """
    half = lease.total_seconds() / 2
    held_until = time.monotonic() + half

    def renew_and_note() -> None:
        nonlocal held_until
        begun = time.monotonic()
        renew()
        held_until = begun + half

    with renewed(renew_and_note, lease=lease):
        yield lambda: time.monotonic() < held_until
