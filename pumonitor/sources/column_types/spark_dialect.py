"""SQL of Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from pumonitor.sources.column_types.column_kinds import Key, Kind
from pumonitor.sources.column_types.dialects import (
    FINER,
    MINUTES,
    WITH_OFFSET,
    WITHOUT_OFFSET,
    Dialect,
    escaped,
)


@dataclass(frozen=True, slots=True)
class Spark(Dialect):
    """Spark SQL.

    Attributes
    ----------
    few_labels : bool
        Whether labels are few enough to be sent to where predictions are.
    """

    name = "pyspark"
    text = "STRING"
    types: ClassVar[Mapping[Kind, str]] = {
        **Dialect.types,
        "text": "STRING",
        "moment": "TIMESTAMP",
        "naive": "TIMESTAMP_NTZ",
    }
    few_labels: bool = False

    def broadcast(self, *tables: str) -> str:
        """A hint: without it Spark would move all predictions to join a few labels to them."""
        return f"/*+ BROADCAST({', '.join(tables)}) */ " if self.few_labels else ""

    def quoted(self, identifier: str) -> str:
        """Write an identifier."""
        return "`" + identifier.replace("`", "``") + "`"

    def constant(self, value: object) -> str:
        """Write a whole number, a moment or a local time."""
        if isinstance(value, datetime):
            kind = "TIMESTAMP_NTZ" if value.tzinfo is None else "TIMESTAMP"
            return f"{kind} '{value.isoformat(sep=' ')}'"
        return Dialect.constant(self, value)

    def clock(self, raw: str, kind: Kind) -> str:
        """Microseconds of a moment, or of a local time on its own clock."""
        if kind == "moment":
            return f"unix_micros({raw})"
        # The session's zone plays no part in the distance of two local times.
        return (
            "timestampdiff(MICROSECOND, TIMESTAMP_NTZ '1970-01-01 00:00:00', "
            f"CAST({raw} AS TIMESTAMP_NTZ))"
        )

    def written(self, value: object) -> str:
        """A value before it gets its type; a doubled quote would be the end of one text."""
        return escaped(value) if isinstance(value, str) else Dialect.written(self, value)

    def clock_with_offset(self, raw: str) -> str:
        """Microseconds of text that says its offset."""
        # A time without seconds is none if an offset follows.
        full = f"regexp_replace({self._cut(raw)}, '{MINUTES}( ?[Z+-])', '$1:00$2')"
        full = f"regexp_replace({full}, '([+-][0-9]{{2}})$', '$1:00')"
        full = f"regexp_replace({full}, '([+-][0-9]{{2}})([0-9]{{2}})$', '$1:$2')"
        moment = self.clock(f"try_cast({full} AS TIMESTAMP)", "moment")
        return f"CASE WHEN {raw} RLIKE '^{WITH_OFFSET}$' THEN {moment} END"

    def clock_without_offset(self, raw: str) -> str:
        """Local microseconds of text without an offset."""
        local = self.clock(f"try_cast({self._cut(raw)} AS TIMESTAMP_NTZ)", "naive")
        return f"CASE WHEN {raw} RLIKE '^{WITHOUT_OFFSET}$' THEN {local} END"

    def divided(self, number: str, by: int) -> str:
        """Whole-number division."""
        return f"({number} div {by})"

    def different(self, identifier: str, key: Key) -> tuple[str, str]:
        """Of numbers 64 neighbours are one group, and one bit each; of text a hash is moved.

        To group by the id itself Spark would move all of them between its partitions.
        """
        if key == "text":
            return f"xxhash64({identifier})", "1"
        bit = f"shiftleft(1L, CAST({identifier} & 63 AS INT))"
        return f"shiftright({identifier}, 6)", f"coalesce(bit_count(bit_or({bit})), 1)"

    def hashed(self, key: str) -> str:
        """SHA-256 of an id's text."""
        return f"sha2(CAST({key} AS STRING), 256)"

    @staticmethod
    def _cut(raw: str) -> str:
        return f"regexp_replace({raw}, '{FINER}', '$1')"
