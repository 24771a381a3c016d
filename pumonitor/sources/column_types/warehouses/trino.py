"""Trino's SQL, which Athena and Starburst speak as well."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import ClassVar

from pumonitor.sources.column_types.column_kinds import Kind
from pumonitor.sources.column_types.warehouses.warehouse import Warehouse
from pumonitor.sources.column_types.warehouses.written_labels import WritesLabels


class Trino(Warehouse, WritesLabels):
    """Trino."""

    __slots__ = ()
    name = "trino"
    # What `query.max-length` is unless somebody raised it.
    longest_statement = 1_000_000
    types: ClassVar[Mapping[Kind, str]] = {
        **Warehouse.types,
        "single": "REAL",
        "moment": "TIMESTAMP(6) WITH TIME ZONE",
        "naive": "TIMESTAMP(6)",
    }

    def constant(self, value: object) -> str:
        """Write a whole number, a moment or a local time."""
        if isinstance(value, datetime):
            return f"TIMESTAMP {self.written(value)}"
        return Warehouse.constant(self, value)

    def written(self, value: object) -> str:
        """A value before it gets its type; a moment in UTC, by that name."""
        if not isinstance(value, datetime):
            return Warehouse.written(self, value)
        zone = "" if value.tzinfo is None else " UTC"
        local = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
        return f"'{local.isoformat(sep=' ', timespec='microseconds')}{zone}'"

    def clock(self, raw: str, kind: Kind) -> str:
        """Microseconds of a moment, or of a local time on its own clock."""
        # Differences are told in milliseconds at most, and a cast to six digits rounds: whole
        # seconds are counted, and the first six digits after the dot read from its text.
        time = {"moment": f"{raw} AT TIME ZONE 'UTC'", "date": f"CAST({raw} AS timestamp(0))"}
        local = time.get(kind, raw)
        epoch = f"TIMESTAMP '1970-01-01 00:00:00{' UTC' if kind == 'moment' else ''}'"
        seconds = f"date_diff('second', {epoch}, date_trunc('second', {local}))"
        digits = f"regexp_extract(CAST({local} AS VARCHAR), '[.]([0-9]{{1,6}})', 1)"
        return f"{seconds} * 1000000 + coalesce(CAST(rpad({digits}, 6, '0') AS BIGINT), 0)"

    def not_finite(self, number: str) -> str:
        """Whether a double is infinite or NaN, or null."""
        return f"NOT coalesce(is_finite({number}), FALSE)"

    def hashed(self, key: str) -> str:
        """SHA-256 of an id's text."""
        return f"lower(to_hex(sha256(to_utf8(CAST({key} AS VARCHAR)))))"

    def _matches(self, raw: str, pattern: str) -> str:
        return f"regexp_like({raw}, '^({pattern})$')"

    def _first(self, raw: str, pattern: str) -> str:
        return f"regexp_extract({raw}, '{pattern}')"

    def _whole(self, digits: str) -> str:
        return f"try_cast({digits} AS BIGINT)"

    def _seconds(self, text: str) -> str:
        time = f"try_cast({text} AS timestamp(0))"
        return f"date_diff('second', TIMESTAMP '1970-01-01 00:00:00', {time})"

    def _records(self, text: str) -> str:
        return f"SELECT record FROM UNNEST(split({text}, ',')) AS pieces(record)"  # noqa: S608

    def _field(self, number: int) -> str:
        return f"split_part(record, '/', {number})"

    def _from_hexadecimal(self, digits: str) -> str:
        return f"from_utf8(from_hex({digits}))"
