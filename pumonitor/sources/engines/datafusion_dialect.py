"""SQL of DataFusion."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import ClassVar, Final

from pumonitor.sources.column_types.column_kinds import Key, Kind
from pumonitor.sources.column_types.dialects import (
    FINER,
    MINUTES,
    WITH_OFFSET,
    WITHOUT_OFFSET,
    Dialect,
)

__all__ = ["DataFusion"]

_MOMENT: Final = 'Timestamp(Microsecond, Some("UTC"))'
_LOCAL: Final = "Timestamp(Microsecond, None)"


class DataFusion(Dialect):
    """Arrow's types by their names: what SQL calls a timestamp counts nanoseconds, to 2262."""

    __slots__ = ()
    name = "datafusion"
    has_indexes = False
    types: ClassVar[Mapping[Kind, str]] = {**Dialect.types, "moment": _MOMENT, "naive": _LOCAL}

    def constant(self, value: object) -> str:
        """Write a whole number, a moment or a local time."""
        if isinstance(value, datetime):
            return self.literal(value, "naive" if value.tzinfo is None else "moment")
        return Dialect.constant(self, value)

    def literal(self, value: object, kind: Kind) -> str:
        """A value with its type."""
        if kind in {"moment", "naive"}:
            return f"arrow_cast({self.written(value)}, '{self.types[kind]}')"
        return Dialect.literal(self, value, kind)

    def key(self, raw: str, kind: Kind, key: Key) -> str:
        """An id to compare by; null for a number beyond 64 bits, which a cast would refuse."""
        return f"try_cast({raw} AS BIGINT)" if key == "integer" else self.category(raw, kind)

    def clock(self, raw: str, kind: Kind) -> str:
        """Microseconds of a moment, or of a local time on its own clock."""
        return f"CAST(arrow_cast({raw}, '{_MOMENT if kind == 'moment' else _LOCAL}') AS BIGINT)"

    def clock_with_offset(self, raw: str) -> str:
        """Microseconds of ISO 8601 text that says its offset; null for other text."""
        return self._read(raw, WITH_OFFSET)

    def clock_without_offset(self, raw: str) -> str:
        """Local microseconds of ISO 8601 text without an offset; null for other text."""
        return self._read(raw, WITHOUT_OFFSET)

    def hashed(self, key: str) -> str:
        """SHA-256 of an id's text."""
        return f"encode(sha256(CAST({key} AS VARCHAR)), 'hex')"

    @staticmethod
    def _read(raw: str, pattern: str) -> str:
        cut = rf"regexp_replace({raw}, '{FINER}', '\1')"
        # A time without seconds is none there, nor is one with a blank before its offset.
        full = rf"regexp_replace({cut}, '{MINUTES}($|[ Z+-])', '\1:00\2')"
        full = rf"regexp_replace({full}, ' ([Z+-])', '\1')"
        # It takes the 60th second for the next minute's first.
        return (
            f"CASE WHEN regexp_like({raw}, '^{pattern}$') AND substr({raw}, 17, 3) <> ':60' "
            f"THEN CAST(arrow_try_cast({full}, '{_MOMENT}') AS BIGINT) END"
        )
