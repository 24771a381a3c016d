"""BigQuery's SQL."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import ClassVar

from pumonitor.sources.column_types.column_kinds import Kind
from pumonitor.sources.column_types.dialects import escaped
from pumonitor.sources.column_types.warehouses.warehouse import Warehouse
from pumonitor.sources.column_types.warehouses.written_labels import WritesLabels


class BigQuery(Warehouse, WritesLabels):
    """BigQuery, in GoogleSQL."""

    __slots__ = ()
    name = "bigquery"
    # A megabyte, before tables are resolved.
    longest_statement = 1_000_000
    floor = "CAST(floor({}) AS INT64)"
    whole = "INT64"
    text = "STRING"
    double = "FLOAT64"
    types: ClassVar[Mapping[Kind, str]] = {
        "integer": "INT64",
        "number": "FLOAT64",
        "text": "STRING",
        "boolean": "BOOL",
        "moment": "TIMESTAMP",
        "naive": "DATETIME",
        "date": "DATE",
    }

    def quoted(self, identifier: str) -> str:
        """Write an identifier."""
        return "`" + identifier.replace("\\", "\\\\").replace("`", "\\`") + "`"

    def constant(self, value: object) -> str:
        """Write a whole number, a moment or a local time."""
        if isinstance(value, datetime):
            kind = "DATETIME" if value.tzinfo is None else "TIMESTAMP"
            return f"{kind} '{value.isoformat(sep=' ')}'"
        return Warehouse.constant(self, value)

    def written(self, value: object) -> str:
        """A value before it gets its type."""
        return escaped(value) if isinstance(value, str) else Warehouse.written(self, value)

    def category(self, raw: str, kind: Kind) -> str:
        """Text that is compared and sorted by its bytes, whatever the column's collation."""
        text = Warehouse.category(self, raw, kind)
        return f"collate({text}, '')" if kind == "text" else text

    def clock(self, raw: str, kind: Kind) -> str:
        """Microseconds of a moment, or of a local time on its own clock."""
        moment = raw if kind == "moment" else f"timestamp({raw}, 'UTC')"
        return f"unix_micros({moment})"

    def divided(self, number: str, by: int) -> str:
        """Whole-number division: a slash gives a floating-point number here."""
        return f"div({number}, {by})"

    def not_finite(self, number: str) -> str:
        """Whether a double is infinite or NaN, or null."""
        return f"coalesce(is_nan({number}) OR is_inf({number}), TRUE)"

    def hashed(self, key: str) -> str:
        """SHA-256 of an id's text."""
        return f"to_hex(sha256(CAST({key} AS STRING)))"

    def _matches(self, raw: str, pattern: str) -> str:
        return f"regexp_contains({raw}, r'^({pattern})$')"

    def _first(self, raw: str, pattern: str) -> str:
        # It gives the first group, if the pattern has one: none may have.
        return f"regexp_extract({raw}, r'({_ungrouped(pattern)})')"

    def _records(self, text: str) -> str:
        return f"SELECT record FROM UNNEST(split({text}, ',')) AS record"  # noqa: S608

    def _field(self, number: int) -> str:
        return f"split(record, '/')[safe_offset({number - 1})]"

    def _from_hexadecimal(self, digits: str) -> str:
        return f"safe_convert_bytes_to_string(from_hex({digits}))"

    def _whole(self, digits: str) -> str:
        return f"safe_cast({digits} AS INT64)"

    def _seconds(self, text: str) -> str:
        return f"unix_seconds(safe_cast(concat({text}, '+00:00') AS TIMESTAMP))"


def _ungrouped(pattern: str) -> str:
    """The pattern with groups that capture nothing."""
    return pattern.replace("(", "(?:")
