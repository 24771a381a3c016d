"""A database file of DuckDB, attached read-only to a database in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from pumonitor.errors import InputError, SourceError, did_you_mean
from pumonitor.ports import Progress
from pumonitor.scans import Scan
from pumonitor.sources.column_types.column_kinds import Relation
from pumonitor.sources.engines.file_urls import refuse_host
from pumonitor.sources.engines.named_tables import named
from pumonitor.sources.reach.locations import nothing_found
from pumonitor.sources.reach.session import contained, quoted, text
from pumonitor.sources.windows.contained_sql import WRITTEN_OUT
from pumonitor.sources.windows.counts_engine import Reading
from pumonitor.sources.windows.counts_query import Statement
from pumonitor.sources.windows.duckdb_answers import DuckDBAnswers, described

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_ATTACHED: Final = "given"
_IN_MEMORY: Final = ("", ":memory:")


def open_duckdb(url: str, *, timeout: float, as_of: datetime | None = None) -> DuckDBFile:
    """Open a file of DuckDB, whose tables have no versions."""
    del as_of
    return DuckDBFile(url, timeout=timeout)


class DuckDBFile(DuckDBAnswers):
    """Reads tables and views of a file; what is kept for a moment is held in memory.

    Parameters
    ----------
    url : str
        duckdb:///FILE, or duckdb:// for a database in memory, which has no tables.
    timeout : float
        Seconds for one statement.
    """

    def __init__(self, url: str, *, timeout: float) -> None:
        refuse_host(url, example="duckdb:///FILE")
        self._timeout = timeout
        file = unquote(url.partition("://")[2].removeprefix("/").partition("?")[0])
        self._file = "" if file in _IN_MEMORY else file
        super().__init__(contained([], prepare=_attaching(file) if self._file else None))

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
            spoken="duckdb",
            sql_of=self._table,
            placeholder=WRITTEN_OUT,
        )
        readable = self._sql(Statement(sql=read.sql, values=read.parameters))
        return Relation(
            name=read.name,
            sql=read.sql,
            columns=described(self._session(read.name), f"{readable} AS source"),
            parameters=read.parameters,
        )

    def expected(self, reading: Reading, *, about: str) -> Scan:
        """The whole file: of columns and row groups that are not asked for nothing is read."""
        del reading, about
        return Scan(read=Path(self._file).stat().st_size if self._file else 0)

    def spent(self) -> Mapping[str, str]:
        """The library tells nothing."""
        return {}

    def rows(
        self, statement: Statement, *, about: str, progress: Progress | None = None, step: str = ""
    ) -> list[tuple[Any, ...]]:
        """All rows of the answer."""
        with _Limit(self._connection, self._timeout, about):
            return super().rows(statement, about=about, progress=progress, step=step)

    def columns(
        self, statement: Statement, *, about: str, progress: Progress | None = None, step: str = ""
    ) -> Mapping[str, Any]:
        """All columns of the answer."""
        with _Limit(self._connection, self._timeout, about):
            return super().columns(statement, about=about, progress=progress, step=step)

    def keep(self, name: str, statement: Statement, *, about: str) -> bool:
        """Hold an answer as a table in memory until the snapshot ends."""
        with _Limit(self._connection, self._timeout, about):
            return super().keep(name, statement, about=about)

    def _table(self, table: str, name: str) -> str:
        found = self._connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables "
            "WHERE table_catalog = current_database()"
        ).fetchall()
        for schema, bare in found:
            if table in {f"{schema}.{bare}", bare if schema == "main" else None}:
                return f"{quoted(schema)}.{quoted(bare)}"
        known = [bare if schema == "main" else f"{schema}.{bare}" for schema, bare in found]
        hint = did_you_mean(table, known, most=3)
        msg = f"{name}: the duckdb database has no such table or view{hint}"
        raise InputError(msg)


class _Limit:
    """Ends a statement that takes too long; the library has no limit of its own."""

    def __init__(self, connection: DuckDBPyConnection, seconds: float, about: str) -> None:
        self._connection = connection
        self._seconds = seconds
        self._about = about
        self._is_over = False
        self._timer = Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._timer.cancel()
        if self._is_over and isinstance(error, SourceError):
            msg = (
                f"{self._about} took longer to read than the {self._seconds:g} s allowed: read a "
                "shorter window"
            )
            raise SourceError(msg) from None

    def _end(self) -> None:
        self._is_over = True
        self._connection.interrupt()


def _attaching(file: str) -> Callable[[DuckDBPyConnection], None]:
    if not Path(file).is_file():
        raise InputError(nothing_found(file, what="DuckDB database"))

    def attach(connection: DuckDBPyConnection) -> None:
        import duckdb

        try:
            connection.execute(f"ATTACH {text(file)} AS {_ATTACHED} (READ_ONLY)")
        except duckdb.Error as error:
            said = str(error).strip().splitlines()[0]
            msg = f"the duckdb database {file} cannot be opened: {said}"
            raise SourceError(msg) from None
        connection.execute(f"USE {_ATTACHED}")

    return attach
