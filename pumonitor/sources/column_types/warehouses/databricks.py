"""SQL of a Databricks SQL warehouse: Spark's, and its collations."""

from __future__ import annotations

from pumonitor.sources.column_types.column_kinds import Kind
from pumonitor.sources.column_types.spark_dialect import Spark

__all__ = ["Databricks"]


class Databricks(Spark):
    """Databricks SQL."""

    __slots__ = ()
    name = "databricks"

    def category(self, raw: str, kind: Kind) -> str:
        """Text that is compared and sorted by its bytes, whatever the column's collation."""
        text = Spark.category(self, raw, kind)
        return f"({text} COLLATE UTF8_BINARY)" if kind == "text" else text
