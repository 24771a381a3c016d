"""Arithmetic of whole numbers beyond 32 bits, of which no small table can need any."""

# ruff: noqa: S608 (constants alone)

from __future__ import annotations

from typing import Any, Final

from pumonitor.errors import PumonitorError
from pumonitor.sources.column_types.dialects import Dialect
from pumonitor.sources.windows.counts_engine import Engine
from pumonitor.sources.windows.counts_query import Statement

NAME: Final = "counts and times beyond 32 bits"
_LAST: Final = 253_402_300_799_999_999
"""Microseconds of the last moment of the year 9999."""


def differing_number(engine: Engine) -> str:
    """The first number that comes out wrong; "" if all are right."""
    for sql, expected in _probes(engine.dialect):
        try:
            with engine.snapshot():
                found = engine.columns(Statement(sql=sql), about="a number")["n"][0]
        except PumonitorError as error:
            return f"{sql}: {error}"
        if not _is_whole(found) or int(found) != expected or _is_short(found):
            return f"{sql}: {found!r} here, which must be {expected} in 64 bits"
    return ""


def _probes(dialect: Dialect) -> list[tuple[str, int]]:
    whole, counted = dialect.whole, dialect.counted
    two = "(SELECT 1 AS a UNION ALL SELECT 2 AS a) AS two_rows"
    large, last = f"CAST(3000000000 AS {whole})", f"CAST({_LAST} AS {whole})"
    return [
        (f"SELECT {counted} + 2147483646 AS n FROM {two}", 2**31),
        (f"SELECT sum({large}) AS n FROM {two}", 6_000_000_000),
        (f"SELECT max(4 * CAST({_LAST} AS {whole}) + a + 1) AS n FROM {two}", 4 * _LAST + 3),
        (f"SELECT max({dialect.remainder(last, 1_000_000)}) AS n FROM {two}", 999_999),
    ]


def _is_whole(found: Any) -> bool:
    # Sums come as doubles from some, exact up to 2**53: the larger numbers here would not be.
    return found is not None and int(found) == found


def _is_short(found: Any) -> bool:
    """Whether it came in fewer bytes than the largest count takes."""
    return getattr(found, "itemsize", 8) < 8
