"""How far a long delivery is, told while it goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Final

from pumonitor.cli.progress import Step

__all__ = ["delivery_told"]

_EVERY: Final = 2.0


@contextmanager
def delivery_told(waiting: Callable[[], int], step: Step) -> Iterator[None]:
    """Tell every two seconds what share of the messages has been delivered, and at the end.

    Parameters
    ----------
    waiting : callable
        How many messages wait.
    step : Step
    """
    step("Delivering", None)
    at_first = waiting()
    if at_first == 0:
        yield
        return
    ended = Event()

    def told() -> None:
        left = waiting()
        done = max(at_first - left, 0)
        step(f"Delivering, {done:,} of {at_first:,} messages", done / at_first)

    def watch() -> None:
        while not ended.wait(_EVERY):
            told()

    watcher = Thread(target=watch, name="delivery progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
    told()
