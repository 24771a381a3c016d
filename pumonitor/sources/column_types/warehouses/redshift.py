"""Redshift's SQL."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import ClassVar, Final

from pumonitor.sources.column_types.column_kinds import Kind
from pumonitor.sources.column_types.warehouses.warehouse import Warehouse

END_MARK: Final = "\x01"
"""Stands after text that ends with a blank: without it the blank would count for nothing."""


class Redshift(Warehouse):
    """Redshift.

    Notes
    -----
    It takes text that differs in trailing blanks alone for the same text. Such text gets
    `END_MARK` behind it, which the engine takes off the answers.
    """

    __slots__ = ()
    name = "redshift"
    # TEXT would be cut off after 256 bytes.
    text = "VARCHAR(65535)"
    double = "DOUBLE PRECISION"
    types: ClassVar[Mapping[Kind, str]] = {
        **Warehouse.types,
        "number": "DOUBLE PRECISION",
        "single": "REAL",
        "text": "VARCHAR(65535)",
    }

    def constant(self, value: object) -> str:
        """Write a whole number, a moment or a local time."""
        if isinstance(value, datetime):
            kind = "TIMESTAMP" if value.tzinfo is None else "TIMESTAMPTZ"
            return f"CAST('{value.isoformat(sep=' ')}' AS {kind})"
        return Warehouse.constant(self, value)

    def double_constant(self, value: float) -> str:
        """Digits that are read back as this very number, in 64 bits."""
        return f"CAST('{value:.17e}' AS DOUBLE PRECISION)"

    def written(self, value: object) -> str:
        """A value before it gets its type; a backslash escapes in text."""
        if isinstance(value, str):
            value = value.replace("\\", "\\\\")
        return Warehouse.written(self, value)

    def category(self, raw: str, kind: Kind) -> str:
        """Text that is compared and sorted by its bytes, trailing blanks included."""
        if kind == "date":
            return f"to_char({raw}, 'YYYY-MM-DD')"
        text = Warehouse.category(self, raw, kind)
        if kind != "text":
            return text
        text = f"collate({text}, 'case_sensitive')"
        ends = f"ascii(right({text}, 1)) = 32"
        return f"CASE WHEN {ends} THEN {text} || chr({ord(END_MARK)}) ELSE {text} END"

    def plain(self, text: str) -> str:
        """Text as it was stored, of what `category` made of it."""
        return f"rtrim({text}, chr({ord(END_MARK)}))"

    def clock(self, raw: str, kind: Kind) -> str:
        """Microseconds of a moment, or of a local time on its own clock."""
        local = {"moment": f"{raw} AT TIME ZONE 'UTC'", "date": f"CAST({raw} AS TIMESTAMP)"}
        return f"datediff(microsecond, {_EPOCH}, {local.get(kind, raw)})"

    def hashed(self, key: str) -> str:
        """SHA-256 of an id's text."""
        return f"sha2({self.plain(f'CAST({key} AS {self.text})')}, 256)"

    def _matches(self, raw: str, pattern: str) -> str:
        return f"{raw} ~ '^({pattern})$'"

    def _first(self, raw: str, pattern: str) -> str:
        # It gives empty text where there is none.
        return f"nullif(regexp_substr({raw}, '{pattern}'), '')"

    def _whole(self, digits: str) -> str:
        return f"try_cast({digits} AS BIGINT)"

    def _seconds(self, text: str) -> str:
        return f"datediff(second, {_EPOCH}, try_cast({text} AS TIMESTAMP))"


_EPOCH: Final = "CAST('1970-01-01 00:00:00' AS TIMESTAMP)"
