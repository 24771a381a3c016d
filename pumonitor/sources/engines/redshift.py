"""Redshift, through the driver of its makers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from pumonitor.scans import Scan
from pumonitor.sources.column_types.column_kinds import Kind
from pumonitor.sources.column_types.warehouses.redshift import END_MARK, Redshift
from pumonitor.sources.engines.postgresql import PostgreSQLBackend
from pumonitor.sources.engines.sql_backend import answered_rows
from pumonitor.sources.engines.warehouse_engine import (
    WarehouseBackend,
    WarehouseEngine,
    opened_by,
)

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from pumonitor.sources.windows.counts_engine import Reading

_QUERY_CANCELED: Final = "57014"
_NOT_ALLOWED: Final = "42501"
_SCANNED: Final = re.compile(r"\bScan on\b.*\brows=(\d+) width=(\d+)")
_MISTAKES: Final = ("42", "22")


def open_redshift(url: str, *, timeout: float, as_of: datetime | None = None) -> WarehouseEngine:
    """Open a database of Redshift."""
    return opened_by(RedshiftBackend(), url, timeout=timeout, as_of=as_of)


class RedshiftBackend(WarehouseBackend):
    """Types, limits and errors of Redshift; types have the numbers of PostgreSQL's."""

    driver = "redshift_connector"
    holds_nul = False
    version_query = "SELECT version()"

    def __init__(self) -> None:
        super().__init__()
        self.dialect = Redshift()

    def prepare(self, connection: Connection, *, timeout: float) -> None:
        """In UTC, with a limit of time."""
        connection.exec_driver_sql(f"SET statement_timeout TO {round(timeout * 1000)}")
        connection.exec_driver_sql("SET timezone TO 'UTC'")
        connection.commit()

    def plain(self, value: object) -> object:
        """Without the mark behind text that ends with a blank."""
        return value.removesuffix(END_MARK) if isinstance(value, str) else value

    def stored_name(self, told: object) -> str:
        """The driver may give it as bytes."""
        return told.decode() if isinstance(told, bytes) else str(told)

    def column_types(
        self, described: Sequence[Sequence[Any]], sample: Sequence[Sequence[Any]]
    ) -> list[tuple[str, Kind]]:
        """By the numbers of the types."""
        return PostgreSQLBackend().column_types(described, sample)

    def version(self, told: str) -> str:
        """Its own version: what stands before it is that of the PostgreSQL it came from."""
        return super().version(told.partition("Redshift")[2] or told)

    def expected(self, connection: Connection, reading: Reading) -> Scan | None:
        """Rows that the plan expects of tables, times their width."""
        statement = reading.statement
        rows = answered_rows(connection, f"EXPLAIN {statement.sql}", statement.values)
        lines = [str(next(iter(row.values()))) for row in rows]
        found = [one for line in lines for one in _SCANNED.findall(line)]
        if not found:
            return None
        return Scan(read=sum(int(rows) * int(width) for rows, width in found), is_most=False)

    def spent(self, connection: Connection) -> Mapping[str, str]:
        """The id of the last statement: the service is asked, since its driver does not know."""
        import sqlalchemy.exc

        try:
            found = connection.exec_driver_sql("SELECT last_user_query_id()").scalar()
        except sqlalchemy.exc.SQLAlchemyError:
            # It may not be there; what was counted is.
            found = None
        if found is not None and int(found) > 0:
            self.query_ids.append(str(found))
        return super().spent(connection)

    def is_late(self, error: Any) -> bool:
        """The state of cancelled statements."""
        return _state(error) == _QUERY_CANCELED

    def is_mistake(self, error: Any, said: str) -> bool:
        """By the class of the state; a right that is missing is no mistake of the query."""
        del said
        return _state(error).startswith(_MISTAKES) and _state(error) != _NOT_ALLOWED


def _state(error: Any) -> str:
    told = error.args[0] if getattr(error, "args", None) else None
    return str(told.get("C", "")) if isinstance(told, dict) else ""
