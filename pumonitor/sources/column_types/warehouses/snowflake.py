"""Snowflake's SQL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import ClassVar, Final

from pumonitor.sources.column_types.column_kinds import Kind
from pumonitor.sources.column_types.dialects import escaped
from pumonitor.sources.column_types.warehouses.warehouse import Warehouse

_PLAIN: Final = re.compile(r"[a-z_][a-z0-9_$]*")


class Snowflake(Warehouse):
    """Snowflake.

    Notes
    -----
    Nothing here depends on parameters of a session (formats of times and dates, the zone, what
    TIMESTAMP stands for), so a statement that is written to a file means the same elsewhere.
    """

    __slots__ = ()
    name = "snowflake"
    floor = "CAST(floor({}) AS NUMBER(38, 0))"
    whole = "NUMBER(38, 0)"
    types: ClassVar[Mapping[Kind, str]] = {
        "integer": "NUMBER(38, 0)",
        "number": "DOUBLE",
        "text": "VARCHAR",
        "boolean": "BOOLEAN",
        "moment": "TIMESTAMP_TZ",
        "naive": "TIMESTAMP_NTZ",
        "date": "DATE",
    }
    years = (1582, 9999)

    def named(self, name: str) -> str:
        """In capitals, as a name is stored that was given without quotes."""
        return self.quoted(name.upper() if _PLAIN.fullmatch(name) else name)

    def constant(self, value: object) -> str:
        """Write a whole number, a moment or a local time."""
        if isinstance(value, datetime) and value.tzinfo is None:
            written = value.isoformat(sep=" ", timespec="microseconds")
            return f"to_timestamp_ntz('{written}', 'YYYY-MM-DD HH24:MI:SS.FF6')"
        if isinstance(value, datetime):
            written = value.isoformat(sep=" ", timespec="microseconds")
            return f"to_timestamp_tz('{written}', 'YYYY-MM-DD HH24:MI:SS.FF6TZH:TZM')"
        return Warehouse.constant(self, value)

    def written(self, value: object) -> str:
        """A value before it gets its type."""
        return escaped(value) if isinstance(value, str) else Warehouse.written(self, value)

    def double_constant(self, value: float) -> str:
        """Digits that are read back as this very number, in 64 bits."""
        # A constant with an exponent may be a decimal of so many places.
        return f"CAST('{value:.17e}' AS DOUBLE)"

    def category(self, raw: str, kind: Kind) -> str:
        """Text that is compared and sorted by its bytes, whatever the column's collation."""
        if kind == "date":
            return f"to_char({raw}, 'YYYY-MM-DD')"
        text = Warehouse.category(self, raw, kind)
        return f"collate({text}, '')" if kind == "text" else text

    def clock(self, raw: str, kind: Kind) -> str:
        """Microseconds of a moment, or of a local time on its own clock."""
        time = f"CAST({raw} AS TIMESTAMP_NTZ)" if kind == "date" else raw
        return f"date_part(epoch_microsecond, {time})"

    def hashed(self, key: str) -> str:
        """SHA-256 of an id's text."""
        return f"sha2(CAST({key} AS VARCHAR), 256)"

    def _matches(self, raw: str, pattern: str) -> str:
        # It is anchored at both ends by itself.
        return f"regexp_like({raw}, '{pattern}')"

    def _first(self, raw: str, pattern: str) -> str:
        return f"regexp_substr({raw}, '{pattern}')"

    def _whole(self, digits: str) -> str:
        return f"try_cast({digits} AS NUMBER(38, 0))"

    def _seconds(self, text: str) -> str:
        time = f"try_to_timestamp_ntz({text}, 'YYYY-MM-DD HH24:MI:SS')"
        return f"date_part(epoch_second, {time})"
