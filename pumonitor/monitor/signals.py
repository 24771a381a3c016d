"""Stop on signals: gently, and in time whatever hangs, with leases given back."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from types import FrameType
from typing import Final

from pumonitor.errors import PumonitorError

_log = logging.getLogger("pumonitor")

_SECONDS_TO_FINISH: Final = 14.0
"""For windows and requests that have begun. Container platforms kill after 30."""

_SECONDS_TO_GIVE_BACK: Final = 4.0


class Stop:
    """What a signal starts.

    Attributes
    ----------
    number : int
        The signal that came; 0 before one did.
    """

    def __init__(self) -> None:
        self.number = 0
        self._stop: list[Callable[[], None]] = []
        self._give_back: list[Callable[[], None]] = []
        self._finished = Event()

    def calls(
        self, stop: Callable[[], None], *, give_back: Callable[[], None] | None = None
    ) -> None:
        """Add what a signal calls; at once if it has come.

        Parameters
        ----------
        stop : callable
            Begins nothing more.
        give_back : callable, optional
            Gives back what is held, where what has begun does not end in time.
        """
        self._stop.append(stop)
        self._give_back += [] if give_back is None else [give_back]
        if self.number:
            stop()

    def _came(self, number: int) -> None:
        self.number = number
        for stop in list(self._stop):
            stop()
        if self._finished.wait(_SECONDS_TO_FINISH):
            return
        _log.warning(
            "stopped by %s without waiting any longer for what has begun; its leases are given "
            "back, and it is done again",
            signal.Signals(number).name,
        )
        # A state database that hangs holds nobody up either.
        last = Thread(target=self._leave, daemon=True)
        last.start()
        last.join(_SECONDS_TO_GIVE_BACK)
        logging.shutdown()
        os._exit(0)

    def _leave(self) -> None:
        for give_back in self._give_back:
            with suppress(PumonitorError):
                give_back()


@contextmanager
def stop_on_signals(*names: str) -> Iterator[Stop]:
    """Context in which signals stop the work; 18 seconds later the process ends in any case.

    A thread of its own reacts, also while the main thread waits for a query. A signal that is
    ignored (`nohup`) stays so. Outside of the main thread nothing is changed.

    Parameters
    ----------
    *names : str
        Such as "SIGTERM"; those that the machine does not have are left out.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    numbers = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    reader, writer = socket.socketpair()
    writer.settimeout(0)
    before = {number: signal.signal(number, _nothing) for number in numbers}
    woken_before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)

    def react() -> None:
        with reader:
            while came := reader.recv(1):
                if came[0] in numbers:
                    stop._came(came[0])
                    return

    reacting = Thread(target=react, name="signals", daemon=True)
    reacting.start()
    try:
        yield stop
    finally:
        stop._finished.set()
        signal.set_wakeup_fd(woken_before)
        for number, handler in before.items():
            signal.signal(number, handler)
        writer.close()
        reacting.join()


def _nothing(_number: int, _frame: FrameType | None) -> None:
    """The thread reacts."""
