"""Errors of the state database."""

from __future__ import annotations

import re

from pumonitor.errors import PumonitorError

_USER_AND_PASSWORD = re.compile(r"(?<=://)[^/\s@]*:[^/\s@]*@")


class StateError(PumonitorError):
    """The state database is unreachable, locked, or unusable with this version of pumonitor."""


class StateUnavailableError(StateError):
    """The state database is temporarily unusable: down, locked, full or without its tables."""


class StaleClaimError(PumonitorError):
    """A result was not stored, as the claim had expired and another worker took it over."""


def without_passwords(text: str) -> str:
    """Replace user and password of every address in a text.

    Examples
    --------
    >>> without_passwords("no answer from postgresql://ana:s3cret@host/scores")
    'no answer from postgresql://***@host/scores'
    """
    return _USER_AND_PASSWORD.sub("***@", text)
