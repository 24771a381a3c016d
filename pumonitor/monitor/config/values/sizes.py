"""Numbers of bytes in a configuration, such as 10 GB."""

from __future__ import annotations

import re
from typing import Any, Final

from pumonitor.errors import shortened

_LETTERS: Final = "kmgtp"
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([kmgtp])(i?))?(?:b|bytes)?", re.IGNORECASE)


def read_size(given: object) -> int:
    """Read a number of bytes: a whole number, or one with kB, MB, GB, TB, PB or KiB, MiB and so on.

    Raises
    ------
    ValueError
        If it cannot be read, or is 0.

    Examples
    --------
    >>> read_size("10 GB"), read_size("1.5 MiB"), read_size(4096)
    (10000000000, 1572864, 4096)
    """
    size = given if isinstance(given, int) and not isinstance(given, bool) else 0
    found = _SIZE.fullmatch(given.strip()) if isinstance(given, str) else None
    if found is not None:
        base = 1024 if found[3] else 1000
        size = round(float(found[1]) * base ** (_LETTERS.find((found[2] or " ").lower()) + 1))
    if size <= 0:
        shown: Any = shortened(given) if isinstance(given, str) else given
        msg = f"must be a number of bytes above 0, such as 10 GB, 500 MB or 5000000, got {shown!r}"
        raise ValueError(msg)
    return size
