"""Cursors: where a list goes on, so that windows added meanwhile move nothing."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Final

from pumonitor.monitor.dashboard.api.problems import ProblemError

_LARGEST: Final = 2**63 - 1
_UNREADABLE: Final = (binascii.Error, ValueError, TypeError, OverflowError, RecursionError)
_UNKNOWN: Final = "this cursor belongs to no list: begin again without one, with the same filters"


def cursor_after(key: Sequence[Any], *, of: Sequence[Any]) -> str:
    """A cursor behind the entry with that key.

    It is the key itself, so nothing is kept here, and what is added meanwhile moves no entry from
    one page to another. It shows nothing that its list does not.

    Parameters
    ----------
    key : sequence
        Text, numbers and times by which the list is sorted.
    of : sequence
        The list and its filters: a cursor of another list is refused.

    Examples
    --------
    >>> cursor = cursor_after(["card-fraud", 3], of=["results", "f1"])
    >>> read_cursor(cursor, ["", 0], of=["results", "f1"])
    ['card-fraud', 3]
    """
    plain = [one.isoformat() if isinstance(one, datetime) else one for one in key]
    text = json.dumps([_sum(of), *plain], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_cursor(cursor: str, like: Sequence[Any], *, of: Sequence[Any]) -> list[Any]:
    """The key in a cursor.

    Parameters
    ----------
    cursor : str
    like : sequence
        A key with values of the same types.
    of : sequence

    Raises
    ------
    ProblemError
        If it is no cursor of this list.
    """
    try:
        mark, *key = _decoded(cursor)
        read = [_like(one, example) for one, example in zip(key, like, strict=True)]
    except _UNREADABLE:
        raise ProblemError(HTTPStatus.NOT_FOUND, _UNKNOWN) from None
    if mark != _sum(of):
        raise ProblemError(HTTPStatus.NOT_FOUND, _UNKNOWN)
    return read


def texts_in(cursor: str) -> list[str]:
    """The texts in a cursor, whichever list it is of; none in what is no cursor."""
    try:
        return [one for one in _decoded(cursor) if isinstance(one, str)]
    except _UNREADABLE:
        return []


def _decoded(cursor: str) -> Any:
    padded = cursor + "=" * (-len(cursor) % 4)
    return json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))


def _like(value: Any, example: Any) -> Any:
    if isinstance(example, datetime):
        return datetime.fromisoformat(value).astimezone(UTC)
    if type(value) is not type(example):
        raise TypeError
    # Anybody can write a cursor: what no database takes stands in none of ours.
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise OverflowError
    if isinstance(value, str):
        value.encode()
    return value


def _sum(of: Sequence[Any]) -> str:
    return hashlib.sha256(json.dumps(of, default=str).encode()).hexdigest()[:12]
