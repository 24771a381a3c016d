"""Lengths of time in a configuration, such as 30d or 6h."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any, Final

from pumonitor.errors import shortened
from pumonitor.plain_text import shown_duration

__all__ = ["read_duration", "shown_duration"]

_SECONDS: Final = {"s": 1, "min": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_LENGTH = re.compile(r"([-+]?\d+(?:\.\d+)?)\s*([a-zA-Z]*)")


def read_duration(text: object) -> timedelta:
    """Read a length of time: a number with s, min, h, d or w.

    Raises
    ------
    ValueError
        If it cannot be read or is negative.

    Examples
    --------
    >>> read_duration("36h")
    datetime.timedelta(days=1, seconds=43200)
    """
    if text == 0 and not isinstance(text, bool):
        return timedelta()
    found = _LENGTH.fullmatch(text.strip()) if isinstance(text, str) else None
    given: Any = shortened(text) if isinstance(text, str) else text
    if found is None or found[2].lower() not in _SECONDS:
        hint = "; write min for minutes" if found and found[2].lower() == "m" else ""
        hint = "; the length of a month varies: write 30d" if found and found[2] == "mo" else hint
        msg = f"must be a number with s, min, h, d or w, such as 30d, got {given!r}{hint}"
        raise ValueError(msg)
    number, unit = float(found[1]), found[2].lower()
    if number < 0:
        msg = f"must not be negative, got {given}"
        raise ValueError(msg)
    try:
        return timedelta(seconds=number * _SECONDS[unit])
    except OverflowError:
        msg = f"is too long, got {given}"
        raise ValueError(msg) from None
