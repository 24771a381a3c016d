"""ClickHouse, by the HTTP interface of a server or embedded, read by Arrow."""

# ruff: noqa: S608 (identifiers reach SQL only quoted by the dialect)

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final

from pumonitor.errors import InputError, SourceError, did_you_mean
from pumonitor.scans import Parts, Scan
from pumonitor.sources.column_types.column_kinds import Column, Key, Kind, Relation
from pumonitor.sources.engines.arrow_answers import rows_of
from pumonitor.sources.engines.arrow_engine import ArrowEngine
from pumonitor.sources.engines.clickhouse_dialect import ClickHouse, EmbeddedClickHouse
from pumonitor.sources.engines.clickhouse_transport import ClickHouseError, Transport
from pumonitor.sources.engines.file_urls import refuse_host
from pumonitor.sources.engines.named_tables import named
from pumonitor.sources.windows.contained_sql import WRITTEN_OUT, written_out
from pumonitor.sources.windows.counts_engine import Reading, received
from pumonitor.sources.windows.counts_query import Statement

if TYPE_CHECKING:
    import pyarrow as pa

SETTINGS: Final[dict[str, str | int]] = {
    # Without these the same query runs and counts otherwise: what an outer join does not find is
    # 0 or '' there, a cast of NULL is 0, and so is the largest of nothing.
    "join_use_nulls": 1,
    "cast_keep_nullable": 1,
    "aggregate_functions_null_for_empty": 1,
    # A name means the column that is read, not what the same SELECT makes of it.
    "prefer_column_name_to_alias": 1,
    "session_timezone": "UTC",
    "output_format_arrow_string_as_string": 1,
}
"""What every statement is read under."""

_KINDS: Final[dict[str, Kind]] = {
    "Bool": "boolean",
    "Float32": "single",
    "Float64": "number",
    "String": "text",
    "UUID": "text",
    "Date": "date",
    "Date32": "date",
    "Nothing": "empty",
}
_WRAPPED: Final = re.compile(r"^(?:Nullable|LowCardinality)\((.*)\)$")
_WHOLE: Final = re.compile(r"U?Int\d+|Decimal\(\d+, 0\)")
_TEXT: Final = re.compile(r"(FixedString|Enum8|Enum16)\(.*")
_MOMENT: Final = re.compile(r"DateTime(64)?(\(.*)?")
_TOO_LATE: Final = 159
_MISTAKES: Final = frozenset({6, 27, 36, 38, 41, 42, 43, 46, 47, 53, 60, 62, 63, 70, 81, 386})
"""Codes of what is wrong with a query or with values, not with the server."""


def open_clickhouse(url: str, *, timeout: float, as_of: datetime | None = None) -> ClickHouseEngine:
    """Open a server; its tables have no versions."""
    from pumonitor.sources.engines.clickhouse_http import HttpTransport

    del as_of
    return ClickHouseEngine(HttpTransport(url, timeout=timeout), timeout=timeout)


def open_chdb(url: str, *, timeout: float, as_of: datetime | None = None) -> ClickHouseEngine:
    """Open the embedded library on a folder; its tables have no versions."""
    from pumonitor.sources.engines.clickhouse_embedded import EmbeddedTransport

    del as_of
    refuse_host(url, example="chdb:///FOLDER")
    dialect = EmbeddedClickHouse()
    return ClickHouseEngine(EmbeddedTransport(url), timeout=timeout, dialect=dialect)


class ClickHouseEngine(ArrowEngine):
    """Reads tables where they are; nothing is ever written.

    Parameters
    ----------
    transport : Transport
    timeout : float
        Seconds for one statement.
    dialect : ClickHouse, optional
        That of a server by default.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        timeout: float,
        dialect: ClickHouse | None = None,
    ) -> None:
        self.dialect = dialect or ClickHouse()
        self._transport = transport
        self._timeout = timeout
        self._settings = {**SETTINGS, "max_execution_time": max(1, round(timeout))}

    def version(self) -> str:
        """Version of the server or of the library."""
        return str(self._asked("SELECT version()", "its version").column(0)[0].as_py())

    def relation(
        self,
        table: object,
        *,
        role: str,
        columns: Mapping[str, str],
        parameters: Mapping[str, object],
    ) -> Relation:
        """A table, a view or a query with its columns."""
        del columns
        read = named(
            table,
            role=role,
            parameters=parameters,
            spoken="clickhouse",
            sql_of=self._table,
            placeholder=WRITTEN_OUT,
        )
        sql = written_out(read.sql, read.parameters, self.dialect.constant)
        described = self._asked(f"DESCRIBE TABLE (SELECT * FROM {sql} AS source)", read.name)
        found = zip(*(described.column(one).to_pylist() for one in ("name", "type")), strict=True)
        return Relation(
            name=read.name,
            sql=read.sql,
            columns={
                column: Column(
                    name=column,
                    type=stored,
                    kind=_kind(stored),
                    sql=f"source.{self.dialect.quoted(column)}",
                )
                for column, stored in found
            },
            parameters=read.parameters,
        )

    def expected(self, reading: Reading, *, about: str) -> Scan | None:
        """By its estimate of parts and marks, of tables of the MergeTree family."""
        statement = reading.statement
        sql = written_out(statement.sql, statement.values, self.dialect.constant)
        estimated = self._asked(f"EXPLAIN ESTIMATE {sql}", about).to_pylist()
        read = parts = of_parts = 0
        for one in estimated:
            of_table = self._asked(
                "SELECT count() AS parts, sum(marks) AS marks, sum(data_compressed_bytes) AS bytes "
                "FROM system.parts WHERE active AND database = "
                f"{self.dialect.written(one['database'])} AND table = "
                f"{self.dialect.written(one['table'])}",
                about,
            )
            (whole,) = of_table.to_pylist()
            read += whole["bytes"] * one["marks"] // max(1, whole["marks"])
            # A table that the statement names several times is read as often.
            parts += min(one["parts"], whole["parts"])
            of_parts += whole["parts"]
        if not estimated:
            return None
        return Scan(read=read, parts=(Parts(named="parts", read=parts, of=of_parts),))

    def spent(self) -> Mapping[str, str]:
        """Nothing is told."""
        return {}

    def receive(self, labels: pa.Table, *, name: str, key: Key) -> Relation:
        """Send labels along with every statement."""
        return received(name, self._transport.receive(labels), key, self.dialect)

    def close(self) -> None:
        """Let go of everything."""
        self._transport.close()

    def _answer(self, statement: Statement, about: str) -> pa.Table:
        sql = written_out(statement.sql, statement.values, self.dialect.constant)
        return self._asked(sql, about)

    def _asked(self, sql: str, about: str) -> pa.Table:
        try:
            return self._transport.ask(sql, self._settings)
        except ClickHouseError as error:
            if error.code == _TOO_LATE:
                msg = (
                    f"{about} took longer to read than the {self._timeout:g} s allowed: order the "
                    "table by its time, or read a shorter window"
                )
                raise SourceError(msg) from None
            problem = InputError if error.code in _MISTAKES else SourceError
            msg = f"{about} cannot be read: {error}"
            raise problem(msg) from None

    def _table(self, table: str, name: str) -> str:
        listed = self._asked(
            "SELECT database, name, database = currentDatabase() AS is_current FROM system.tables "
            "WHERE database NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema')",
            name,
        )
        known: list[str] = []
        for database, bare, is_current in rows_of(listed):
            if table in {f"{database}.{bare}", bare if is_current else None}:
                return f"{self.dialect.quoted(database)}.{self.dialect.quoted(bare)}"
            known.append(bare if is_current else f"{database}.{bare}")
        hint = did_you_mean(table, known, most=3)
        msg = f"{name}: the clickhouse database has no such table or view{hint}"
        raise InputError(msg)


def _kind(stored: str) -> Kind:
    plain = stored
    while (inner := _WRAPPED.match(plain)) is not None:
        plain = inner[1]
    if _WHOLE.fullmatch(plain):
        return "integer"
    if _TEXT.fullmatch(plain):
        return "text"
    if _MOMENT.fullmatch(plain):
        # Even one without a zone is stored as a moment.
        return "moment"
    if plain.startswith("Decimal"):
        return "number"
    return _KINDS.get(plain, "other")
