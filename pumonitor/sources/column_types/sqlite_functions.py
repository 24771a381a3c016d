"""Functions that SQLite lacks, written in Python."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Final

from pumonitor.sources.column_types.dialects import WITH_OFFSET, WITHOUT_OFFSET


def sqlite_functions() -> Mapping[str, Callable[[object], int | str | None]]:
    """Functions for SQLite, which reads text as times to the millisecond only, and has no hash."""
    return {
        "pumonitor_clock_with_offset": _with_offset,
        "pumonitor_clock_without_offset": _without_offset,
        "pumonitor_hashed": _hashed,
    }


def _hashed(value: object) -> str | None:
    return None if value is None else sha256(str(value).encode()).hexdigest()


_PATTERNS: Final = (re.compile(WITH_OFFSET), re.compile(WITHOUT_OFFSET))


def _with_offset(value: object) -> int | None:
    return _read(value, _PATTERNS[0])


def _without_offset(value: object) -> int | None:
    return _read(value, _PATTERNS[1])


def _read(value: object, pattern: re.Pattern[str]) -> int | None:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        return None
    try:
        read = datetime.fromisoformat(re.sub(" (?=[Z+-])", "", value))
    except ValueError:
        return None
    since = read if read.tzinfo is not None else read.replace(tzinfo=UTC)
    return (since - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
