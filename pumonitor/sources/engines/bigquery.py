"""BigQuery, through the dialect of SQLAlchemy of its makers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pumonitor.scans import Scan
from pumonitor.sources.column_types.column_kinds import Kind
from pumonitor.sources.column_types.warehouses.bigquery import BigQuery
from pumonitor.sources.engines.warehouse_engine import (
    WarehouseBackend,
    WarehouseEngine,
    opened_by,
)
from pumonitor.sources.windows.contained_sql import spelled_out

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from pumonitor.sources.windows.counts_engine import Reading

_NOT_FOUND: Final = 404
_BAD_REQUEST: Final = 400


def open_bigquery(url: str, *, timeout: float, as_of: datetime | None = None) -> WarehouseEngine:
    """Open a project of BigQuery."""
    return opened_by(BigQueryBackend(), url, timeout=timeout, as_of=as_of)


class BigQueryBackend(WarehouseBackend):
    """Types, limits and errors of BigQuery."""

    version_query = "SELECT 'service' AS version"
    kinds: ClassVar[Mapping[str, Kind]] = {
        "bignumeric": "number",
        "bool": "boolean",
        "boolean": "boolean",
        "date": "date",
        "datetime": "naive",
        "float": "number",
        "float64": "number",
        "int64": "integer",
        "integer": "integer",
        "string": "text",
        "timestamp": "moment",
    }

    def __init__(self) -> None:
        super().__init__()
        self.dialect = BigQuery()

    def prepare(self, connection: Connection, *, timeout: float) -> None:
        """With a limit of time for each job, and a label by which its bill is told from others."""
        from google.cloud.bigquery import QueryJobConfig

        driver: Any = connection.connection.driver_connection
        config = driver._client.default_query_job_config or QueryJobConfig()
        config.job_timeout_ms = round(timeout * 1000)
        config.labels = {**config.labels, "program": "pumonitor"}
        driver._client.default_query_job_config = config

    def answered(self, cursor: Any) -> None:
        """The job's id, and what it has read."""
        job = getattr(cursor, "query_job", None)
        if job is not None:
            self.query_ids.append(str(job.job_id))
            self.bytes_read += int(job.total_bytes_processed or 0)

    def expected(self, connection: Connection, reading: Reading) -> Scan | None:
        """By a dry run, which costs nothing."""
        from google.cloud.bigquery import QueryJobConfig

        driver: Any = connection.connection.driver_connection
        config = QueryJobConfig(dry_run=True, use_query_cache=False)
        sql = spelled_out(reading.statement, self.dialect.constant)
        job = driver._client.query(sql, job_config=config)
        return Scan(read=int(job.total_bytes_processed))

    def path_of(self, table: str) -> str:
        """One name in backticks, project and dataset included."""
        return self.dialect.quoted(table)

    def is_late(self, error: Any) -> bool:
        """By its words: the service cancels a job that has run out of time."""
        return "Job timed out" in str(error) or "job_timeout" in str(error)

    def is_mistake(self, error: Any, said: str) -> bool:
        """A request that is wrong, or names what is not there."""
        del said
        inner = error.args[0] if getattr(error, "args", None) else error
        return getattr(inner, "code", None) in {_BAD_REQUEST, _NOT_FOUND}
