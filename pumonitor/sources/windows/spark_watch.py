"""Questions to a Spark session that are given up when its server is lost, or after too long.

A client waits for its server for as long as the connection stands: also for one whose memory is
full, which answers nothing any more.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Event, Thread
from typing import Any, Final, Generic, TypeVar

from pumonitor.errors import SourceError

_Answer = TypeVar("_Answer")

_RETRIES: Final = 4
_LONGEST_WAIT: Final = 4_000
"""Milliseconds between two tries; each wait is four times the one before, from 50 on."""
_ASKED_EVERY: Final = 10.0
_LONGEST_SILENCE: Final = 30.0
"""Seconds after which a server that does not answer the smallest question counts as lost."""


class GivenUpError(SourceError):
    """A server did not answer in time, and its session cannot be asked any more."""


def answered_in_time(
    session: Any,
    ask: Callable[[], _Answer],
    *,
    about: str,
    timeout: float,
) -> _Answer:
    """What a question to a session comes to.

    A thread of its own asks it; meanwhile the session is asked for one of its settings.

    Raises
    ------
    SourceError
        If it takes longer than `timeout` seconds, or the server does not answer any more; a
        `GivenUpError` for Spark Connect. Whatever the question itself raises is raised here.
    """
    question = _Question(ask)
    ends = time.monotonic() + timeout
    while not question.is_answered(within=min(_ASKED_EVERY, ends - time.monotonic())):
        if time.monotonic() >= ends:
            _Question(session.interruptAll).is_answered(within=5.0)
            msg = (
                f"{about} took longer than the {timeout:g} s allowed: allow more time, or give "
                "Spark more cores and memory"
            )
            raise _error_after_letting_go(session, msg)
        sign_of_life = _Question(lambda: session.conf.get("spark.sql.session.timeZone", None))
        if not sign_of_life.is_answered(within=_LONGEST_SILENCE) and not question.is_answered():
            msg = (
                f"{about} cannot be read: the Spark server has not answered for "
                f"{_LONGEST_SILENCE:g} s; see its log (it may lack memory), start it again and run "
                "the same once more"
            )
            raise _error_after_letting_go(session, msg)
    return question.answer()


def try_for_seconds(session: Any) -> Callable[[], None]:
    """Give up a Spark Connect server that is gone after 5 seconds: by itself Spark tries for 600.

    A round of the monitor, or a job, that comes later tries again. What is returned has the session
    try as before.
    """
    if "connect" not in type(session).__module__:
        return lambda: None
    from pyspark.sql.connect.client.retries import DefaultPolicy

    policy = DefaultPolicy(max_retries=_RETRIES, max_backoff=_LONGEST_WAIT)
    before = session.client.get_retry_policies()
    session.client.set_retry_policies([policy])
    return partial(session.client.set_retry_policies, before)


class _Question(Generic[_Answer]):
    """Asked by a thread, which does not keep the process from ending if it waits for ever."""

    def __init__(self, ask: Callable[[], _Answer]) -> None:
        self._ask = ask
        self._done = Event()
        self._answers: list[_Answer] = []
        self._errors: list[BaseException] = []
        Thread(target=self._run, name="pumonitor-spark", daemon=True).start()

    def is_answered(self, within: float = 0.0) -> bool:
        """Whether it is, or has failed, within so many seconds."""
        return self._done.wait(max(0.0, within))

    def answer(self) -> _Answer:
        """What it came to."""
        if self._errors:
            raise self._errors[0]
        return self._answers[0]

    def _run(self) -> None:
        try:
            self._answers.append(self._ask())
        except BaseException as error:  # noqa: BLE001 (raised by who waits for the answer)
            self._errors.append(error)
        finally:
            self._done.set()


def _error_after_letting_go(session: Any, message: str) -> SourceError:
    """Nothing of the session may keep this process waiting from now on, not even as it ends."""
    client = getattr(session, "client", None) if "connect" in type(session).__module__ else None
    if client is None:
        return SourceError(message)
    with suppress(Exception):
        # Ending the session asks the server, as closing the client does.
        client._channel.close()
    return GivenUpError(message)
