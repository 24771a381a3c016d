"""What can go wrong with the state database."""

from __future__ import annotations

import re

from pumonitor.errors import PumonitorError

__all__ = ["StaleClaimError", "StateError", "StateUnavailableError", "without_passwords"]

_USER_AND_PASSWORD = re.compile(r"(?<=://)[^/\s@]*:[^/\s@]*@")


class StateError(PumonitorError):
    """The state database cannot be reached, is locked, or is not one this version can use."""


class StateUnavailableError(StateError):
    """It cannot be reached or takes nothing now: it is down, locked, full or without its tables."""


class StaleClaimError(PumonitorError):
    """Work was not stored because its claim had run out and others took it over."""


def without_passwords(text: str) -> str:
    """The text with user and password of every address in it hidden.

    Examples
    --------
    >>> without_passwords("no answer from postgresql://ana:s3cret@host/scores")
    'no answer from postgresql://***@host/scores'
    """
    return _USER_AND_PASSWORD.sub("***@", text)
