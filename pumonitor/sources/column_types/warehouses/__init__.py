"""SQL of warehouses, a file each: how they say what `Dialect` asks for."""

from collections.abc import Mapping
from typing import Final

from pumonitor.sources.column_types.dialects import Dialect
from pumonitor.sources.column_types.warehouses.bigquery import BigQuery
from pumonitor.sources.column_types.warehouses.databricks import Databricks
from pumonitor.sources.column_types.warehouses.redshift import Redshift
from pumonitor.sources.column_types.warehouses.snowflake import Snowflake
from pumonitor.sources.column_types.warehouses.trino import Trino

__all__ = ["WAREHOUSES"]

WAREHOUSES: Final[Mapping[str, type[Dialect]]] = {
    one.name: one for one in (Snowflake, BigQuery, Redshift, Trino, Databricks)
}
"""Dialects by the scheme of their URLs."""
