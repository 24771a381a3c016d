"""Errors of delivery: the destination is down, or the message is refused."""

from __future__ import annotations

import re
from datetime import timedelta

from pumonitor.errors import PumonitorError

_LONGEST = 500
_USER_AND_PASSWORD = re.compile(r"(?<=://)[^/\s@]+@")
_SECRET_PARAMETER = re.compile(
    r"((?:password|passwd|pwd|secret|token|api[_-]?key|signature|sig)=)[^&\s'\")]+", re.IGNORECASE
)
_AUTHORIZATION = re.compile(r"\b(Bearer|Basic)\s+[A-Za-z0-9+/=._~-]+", re.IGNORECASE)


class DestinationDownError(PumonitorError):
    """The destination accepts nothing now; the message is sent again until it does.

    Parameters
    ----------
    reason : str
        In words, without secrets.
    retry_after : timedelta, optional
        Wait that the destination asked for.
    """

    def __init__(self, reason: str, *, retry_after: timedelta | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class MessageRefusedError(PumonitorError):
    """The destination works but refuses this message, or the message cannot be read.

    Parameters
    ----------
    reason : str
        In words, without secrets.
    for_good : bool
        Whether trying again is of no use: the message is set aside at once.
    """

    def __init__(self, reason: str, *, for_good: bool = False) -> None:
        super().__init__(reason)
        self.for_good = for_good


def presentable(text: object) -> str:
    """A reason fit to store and show: one line, of limited length, credentials masked.

    Examples
    --------
    >>> presentable("refused by https://ana:s3cret@host/api?token=abc&page=2")
    'refused by https://***@host/api?token=***&page=2'
    """
    line = " ".join(str(text).split())
    line = _USER_AND_PASSWORD.sub("***@", line)
    line = _SECRET_PARAMETER.sub(r"\1***", line)
    line = _AUTHORIZATION.sub(r"\1 ***", line)
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
