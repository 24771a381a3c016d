"""What warehouses that SQLAlchemy connects to have in common, beside their SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from pumonitor.errors import InputError
from pumonitor.ports import Progress
from pumonitor.sources.column_types.column_kinds import Key, Kind, Relation
from pumonitor.sources.column_types.warehouses.written_labels import MOST_PARTS, WritesLabels
from pumonitor.sources.engines.sql_backend import SqlBackend
from pumonitor.sources.engines.sql_engine import SQLEngine
from pumonitor.sources.windows.contained_sql import for_sqlalchemy
from pumonitor.sources.windows.counts_engine import received
from pumonitor.sources.windows.counts_query import Statement

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlalchemy import Connection

    from pumonitor.scans import Scan
    from pumonitor.sources.windows.counts_engine import Reading


class WarehouseBackend(SqlBackend):
    """A warehouse as most are.

    Attributes
    ----------
    query_id : str
        Attribute of the driver's cursor that has the id of a query; "" if none has.
    query_ids, bytes_read
        Of the statements since a snapshot began.
    kinds : mapping of str to str
        Kinds of values by the names of types, in small letters and without their lengths.
    """

    query_id: ClassVar[str] = ""
    kinds: ClassVar[Mapping[str, Kind]] = {}
    version_query = "SELECT 'unknown' AS version"

    def __init__(self) -> None:
        self.query_ids: list[str] = []
        self.bytes_read = 0

    def answered(self, cursor: Any) -> None:
        """Keep what the driver tells of the query."""
        if found := getattr(cursor, self.query_id or "no id", None):
            self.query_ids.append(str(found))

    def begins(self) -> None:
        """Statements whose cost is told together begin; their rows may change between them."""
        self.query_ids.clear()
        self.bytes_read = 0

    def spent(self, connection: Connection) -> Mapping[str, str]:
        """Ids and bytes of queries, where the driver tells them."""
        del connection
        told = {"query_ids": " ".join(self.query_ids), "bytes": str(self.bytes_read or "")}
        return {name: value for name, value in told.items() if value}

    def path_of(self, table: str) -> str:
        """The name of a table as SQL: a dot stands between parts of the name."""
        return ".".join(self.dialect.named(part) for part in table.split("."))

    def plain(self, value: object) -> object:
        """A value of an answer as it was stored."""
        return value

    def column_names(self, described: Sequence[Sequence[Any]], *, of_query: bool) -> list[str]:
        """As people write them."""
        del of_query
        return [self.shown_name(self.stored_name(one[0])) for one in described]

    def column_types(
        self, described: Sequence[Sequence[Any]], sample: Sequence[Sequence[Any]]
    ) -> list[tuple[str, Kind]]:
        """By their names; a decimal without places after the point is a whole number."""
        del sample
        return [self._kind(one) for one in described]

    def _kind(self, described: Sequence[Any]) -> tuple[str, Kind]:
        stored = str(described[1]).lower()
        bare = _without_lengths(stored)
        if bare in {"decimal", "numeric", "number"}:
            whole = described[5] == 0 or stored.replace(" ", "").endswith(",0)")
            return stored, "integer" if whole else "number"
        return stored, self.kinds.get(bare, "other")

    def labels_table(self, kind: str) -> str:
        """The statement that makes the temporary table."""
        table = super().labels_table(kind)
        return table.replace(" TEXT,", f" {self.dialect.text},")


def _without_lengths(name: str) -> str:
    before, _, after = name.partition("(")
    return f"{before.strip()}{after.partition(')')[2]}".strip()


class WarehouseEngine(SQLEngine):
    """One session of a warehouse; nothing but a temporary table of labels is ever written."""

    _backend: WarehouseBackend
    _version: str = ""
    _written: str = ""

    def version(self) -> str:
        """Version of the service, asked once."""
        self._version = self._version or super().version()
        return self._version

    def rows(
        self, statement: Statement, *, about: str, progress: Progress | None = None, step: str = ""
    ) -> list[tuple[Any, ...]]:
        """All rows of the answer."""
        found = super().rows(statement, about=about, progress=progress, step=step)
        return [tuple(map(self._backend.plain, row)) for row in found]

    def columns(
        self, statement: Statement, *, about: str, progress: Progress | None = None, step: str = ""
    ) -> Mapping[str, Any]:
        """All columns of the answer, by names in small letters, as all of ours are."""
        found = super().columns(statement, about=about, progress=progress, step=step)
        return {
            name.lower(): [self._backend.plain(value) for value in values]
            if values.dtype == object
            else values
            for name, values in found.items()
        }

    def receive(self, labels: pa.Table, *, name: str, key: Key) -> Relation:
        """Put labels into a temporary table; without one they are written into statements."""
        if not isinstance(self.dialect, WritesLabels):
            return super().receive(labels, name=name, key=key)
        self._written = f"the {labels.num_rows} {name}"
        whole = self.dialect.labels_written(labels, key=key)
        parts = self.dialect.parts_written(labels, key=key, length=len(whole))
        return received(name, whole, key, self.dialect, parts=parts)

    def _answered(self, connection: Connection, sql: str, *given: Any, **options: Any) -> Any:
        self._check_length(sql)
        return super()._answered(connection, sql, *given, **options)

    def expected(self, reading: Reading, *, about: str) -> Scan | None:
        """What the service says that a statement would read; None where it does not tell."""
        self._check_length(reading.statement.sql)
        return super().expected(reading, about=about)

    def _check_length(self, sql: str) -> None:
        """Refuse a statement that labels make longer than the service takes."""
        dialect, length = self.dialect, len(sql.encode())
        if not isinstance(dialect, WritesLabels) or not self._written:
            return
        if length > dialect.longest_statement:
            msg = (
                f"{self._written} are elsewhere than the predictions and written into statements: "
                f"they are too many for {MOST_PARTS} of them, and one becomes {length} characters "
                f"long where {dialect.name} takes {dialect.longest_statement}; load them into the "
                "warehouse, beside the predictions"
            )
            raise InputError(msg)

    def _table(self, table: str, name: str) -> str:
        # Whether it is there says the first look at its columns: to list tables takes rights.
        del name
        return for_sqlalchemy(self._backend.path_of(table))


def opened_by(
    backend: WarehouseBackend, url: str, *, timeout: float, as_of: datetime | None
) -> WarehouseEngine:
    """Open a warehouse whose tables are read as they are now."""
    del as_of
    return WarehouseEngine(url, backend, timeout=timeout)
