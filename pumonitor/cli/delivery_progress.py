"""Show the progress of a long delivery."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Final

from pumonitor.cli.progress import Step

_EVERY: Final = 2.0


@contextmanager
def show_delivery(waiting: Callable[[], int], step: Step) -> Iterator[None]:
    """Context that shows every two seconds, and at its end, the share of delivered messages.

    Parameters
    ----------
    waiting : callable
        Returns the number of undelivered messages.
    step : Step
        Receives the progress.
    """
    step("Delivering", None)
    at_first = waiting()
    if at_first == 0:
        yield
        return
    ended = Event()

    def report() -> None:
        left = waiting()
        done = max(at_first - left, 0)
        step(f"Delivering, {done:,} of {at_first:,} messages", done / at_first)

    def watch() -> None:
        while not ended.wait(_EVERY):
            report()

    watcher = Thread(target=watch, name="delivery progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
    report()
