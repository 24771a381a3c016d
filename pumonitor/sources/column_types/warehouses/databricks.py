"""SQL of a Databricks SQL warehouse: Spark's, and its collations."""

from __future__ import annotations

from pumonitor.sources.column_types.column_kinds import Key, Kind
from pumonitor.sources.column_types.dialects import Dialect
from pumonitor.sources.column_types.spark_dialect import Spark
from pumonitor.sources.column_types.warehouses.written_labels import WritesLabels


class Databricks(Spark, WritesLabels):
    """Databricks SQL."""

    __slots__ = ()
    name = "databricks"
    # It takes 16 MB; a plan of that would be long in the making.
    longest_statement = 4_000_000

    def category(self, raw: str, kind: Kind) -> str:
        """Text that is compared and sorted by its bytes, whatever the column's collation."""
        text = Spark.category(self, raw, kind)
        return f"({text} COLLATE UTF8_BINARY)" if kind == "text" else text

    def different(self, identifier: str, key: Key) -> tuple[str, str]:
        """Ids as they are: its own engine was not measured."""
        return Dialect.different(self, identifier, key)

    def _records(self, text: str) -> str:
        return f"SELECT explode(split({text}, ',')) AS record"

    def _field(self, number: int) -> str:
        return f"split_part(record, '/', {number})"

    def _from_hexadecimal(self, digits: str) -> str:
        return f"decode(unhex({digits}), 'UTF-8')"
