"""Predictions and labels in databases that SQLAlchemy connects to, counted there."""

# ruff: noqa: S608 (identifiers reach SQL only quoted by the dialect, values as parameters)

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pumonitor.errors import InputError, PumonitorError, SourceError, did_you_mean
from pumonitor.ports import Progress
from pumonitor.scans import Scan
from pumonitor.sources.column_types.column_kinds import Column, Key, Relation
from pumonitor.sources.engines.fetched_columns import columns_of
from pumonitor.sources.engines.named_tables import named
from pumonitor.sources.engines.registry import engine_kind
from pumonitor.sources.engines.sql_backend import LABELS_TABLE, SqlBackend, ids_with_nul
from pumonitor.sources.windows.contained_sql import for_sqlalchemy
from pumonitor.sources.windows.counts_engine import LoadsNothing, Reading, received, stepping
from pumonitor.sources.windows.counts_query import Statement

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa
    from sqlalchemy import Connection, CursorResult, Engine
    from sqlalchemy.engine import ExceptionContext

    from pumonitor.sources.engines.sql_backend import SqlBackend

_Fetched = TypeVar("_Fetched")

_BATCH_ROWS: Final = 10_000
_INSERT: Final = (
    f"INSERT INTO {LABELS_TABLE} (id, known, label, propensity) "
    "VALUES (:id, :known, :label, :propensity)"
)


class SQLEngine(LoadsNothing):
    """One connection that only reads, with a time limit for each statement.

    Parameters
    ----------
    url : str
    backend : SqlBackend
        What the database differs by from others.
    timeout : float
        Seconds.
    """

    def __init__(self, url: str, backend: SqlBackend, *, timeout: float) -> None:
        self._secrets = secrets_of(url)
        self._backend = backend
        self._engine = connections_to(url, backend, timeout=timeout)
        self._timeout = timeout
        self.dialect = backend.dialect
        self._connection: Connection | None = None
        self._is_reading = False

    def version(self) -> str:
        """Version of the server, or of the library that reads the file."""
        connection = self._connected()
        rows = self._run(connection, self._backend.version_query, {}, "its version")
        if not self._is_reading:
            connection.rollback()
        return self._backend.version(str(rows[0][0]))

    def relation(
        self,
        table: object,
        *,
        role: str,
        columns: Mapping[str, str],
        parameters: Mapping[str, object],
    ) -> Relation:
        """A table or a query with its columns."""
        del columns
        kind = engine_kind(self.dialect.name)
        read = named(
            table,
            role=role,
            parameters=parameters,
            spoken=None if kind is None else kind.spoken,
            sql_of=self._table,
        )
        values = {key: self.dialect.parameter(value) for key, value in read.parameters.items()}
        with self.snapshot():
            found = self._columns(read.name, read.sql, values)
        return Relation(name=read.name, sql=read.sql, columns=found, parameters=read.parameters)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """One transaction that only reads."""
        connection = self._connected()
        self._backend.begins()
        for statement in self._backend.begin:
            self._run(connection, statement, {}, "")
        self._is_reading = True
        try:
            yield
        finally:
            self._is_reading = False
            connection.rollback()

    def expected(self, reading: Reading, *, about: str) -> Scan | None:
        """What would be read; None where the database does not tell.

        Raises
        ------
        InputError
            If the query is at fault.
        SourceError
            If the database cannot be asked.
        """
        import sqlalchemy.exc

        self._backend.statement_begins(timeout=self._timeout)
        try:
            return self._backend.expected(self._connected(), reading)
        except sqlalchemy.exc.SQLAlchemyError as error:
            raise self._in_our_words(error, about) from None

    def spent(self) -> Mapping[str, str]:
        """What is told of the statements since the last snapshot began."""
        return self._backend.spent(self._connected())

    def rows(
        self, statement: Statement, *, about: str, progress: Progress | None = None, step: str = ""
    ) -> list[tuple[Any, ...]]:
        """All rows of the answer."""
        with stepping(progress, step):
            return self._run(self._connected(), statement.sql, dict(statement.values), about)

    def columns(
        self, statement: Statement, *, about: str, progress: Progress | None = None, step: str = ""
    ) -> Mapping[str, Any]:
        """All columns of the answer."""
        with stepping(progress, step):
            return self._answered(
                self._connected(),
                statement.sql,
                dict(statement.values),
                about,
                fetched=columns_of,
                # Else drivers hold the whole answer, several times as large as its columns.
                stream_results=True,
            )

    def keep(self, name: str, statement: Statement, *, about: str) -> bool:
        """Nothing is written here."""
        del name, statement, about
        return False

    def receive(self, labels: pa.Table, *, name: str, key: Key) -> Relation:
        """Put labels into a temporary table, the only thing that is ever written."""
        connection, backend = self._connected(), self._backend
        if not backend.holds_nul and key == "text" and (found := ids_with_nul(labels)):
            msg = (
                f"{name} has {found} ids that hold a NUL character, which {self.dialect.name} does "
                "not store: remove it where the rows are written"
            )
            raise InputError(msg)
        made = (f"DROP TABLE IF EXISTS {LABELS_TABLE}", backend.labels_table(key))
        for statement in (*backend.before_labels, *made):
            self._run(connection, statement, {}, name)
        for batch in labels.to_batches(max_chunksize=_BATCH_ROWS):
            self._run(connection, _INSERT, batch.to_pylist(), name)
        for statement in backend.after_labels:
            self._run(connection, statement, {}, name)
        connection.commit()
        return received(name, LABELS_TABLE, key, self.dialect)

    def close(self) -> None:
        """Let go of everything."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._engine.dispose()

    def _connected(self) -> Connection:
        if self._connection is None:
            import sqlalchemy.exc

            try:
                self._connection = self._engine.connect()
                self._backend.prepare(self._connection, timeout=self._timeout)
            except sqlalchemy.exc.SQLAlchemyError as error:
                msg = f"the {self.dialect.name} database cannot be reached: {self._masked(error)}"
                raise SourceError(msg) from None
        return self._connection

    def _run(
        self, connection: Connection, sql: str, values: Any, about: str
    ) -> list[tuple[Any, ...]]:
        return self._answered(connection, sql, values, about, fetched=_rows_of)

    def _answered(
        self,
        connection: Connection,
        sql: str,
        values: Any,
        about: str,
        *,
        fetched: Callable[[CursorResult[Any]], _Fetched],
        **options: bool,
    ) -> _Fetched:
        import sqlalchemy
        import sqlalchemy.exc

        self._backend.statement_begins(timeout=self._timeout)
        try:
            result = connection.execute(sqlalchemy.text(sql), values, execution_options=options)
            if not result.returns_rows:
                return fetched(result)
            cursor = result.cursor
            self._backend.answered(cursor)
            answer = fetched(result)
            self._backend.fetched(cursor)
            return answer
        except sqlalchemy.exc.SQLAlchemyError as error:
            raise self._in_our_words(error, about) from None

    def _in_our_words(self, error: Exception, about: str) -> PumonitorError:
        driver = getattr(error, "orig", None)
        if self._backend.is_late(driver):
            return SourceError(
                f"{about} took longer to read than the {self._timeout:g} s allowed: an index on "
                "its time and id columns helps, or a shorter window"
            )
        said = self._masked(error)
        if (waited := self._backend.is_locked(said)) is not None:
            return SourceError(
                f"{about} cannot be read: another program has locked the database for longer than "
                f"{waited:g} s; try again, or set PRAGMA journal_mode = WAL there, "
                "which lets rows be read while others are written"
            )
        problem = InputError if self._backend.is_mistake(driver, said) else SourceError
        return problem(f"{about} cannot be read: {said}")

    def _masked(self, error: Exception) -> str:
        message = self._backend.words(getattr(error, "orig", None) or error)
        for secret in self._secrets:
            message = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", "***", message)
        return message

    def _table(self, table: str, name: str) -> str:
        import sqlalchemy
        import sqlalchemy.exc

        connection = self._connected()
        look = sqlalchemy.inspect(connection)
        schema, _, bare = table.rpartition(".")
        try:
            for one, within in ((table, None), (bare, schema or None)):
                if look.has_table(one, schema=within):
                    parts = [part for part in (within, one) if part]
                    return for_sqlalchemy(".".join(map(self.dialect.quoted, parts)))
            known = [*look.get_table_names(), *look.get_view_names()]
            if schema in look.get_schema_names():
                known += [f"{schema}.{one}" for one in look.get_table_names(schema=schema)]
        except sqlalchemy.exc.SQLAlchemyError as error:
            raise self._in_our_words(error, name) from None
        finally:
            connection.rollback()
        hint = did_you_mean(table, known, most=3)
        msg = f"{name}: the {self.dialect.name} database has no such table or view{hint}"
        raise InputError(msg)

    def _columns(self, name: str, sql: str, values: Mapping[str, object]) -> dict[str, Column]:
        """Columns and their kinds: databases tell them, in SQLite every value has its own."""
        import sqlalchemy
        import sqlalchemy.exc

        backend, connection = self._backend, self._connected()
        backend.statement_begins(timeout=self._timeout)
        try:
            result = connection.execute(
                sqlalchemy.text(f"SELECT * FROM {sql} AS source LIMIT {backend.sample_rows}"),
                dict(values),
            )
            described: Sequence[Any] = list(result.cursor.description)
            sample = result.fetchall()
        except sqlalchemy.exc.SQLAlchemyError as error:
            raise self._in_our_words(error, name) from None
        plain = backend.column_names(described, of_query=sql.startswith("("))
        doubled = [one for one in plain if plain.count(one) > 1]
        if doubled:
            msg = f"{name} has {plain.count(doubled[0])} columns named '{doubled[0]}': rename one"
            raise InputError(msg)
        names = [backend.stored_name(one[0]) for one in described]
        types = backend.column_types(described, sample)
        return {
            backend.shown_name(one): Column(
                name=backend.shown_name(one),
                type=stored,
                kind=kind,
                sql=f"source.{for_sqlalchemy(self.dialect.quoted(one))}",
            )
            for one, (stored, kind) in zip(names, types, strict=True)
        }


def _rows_of(result: CursorResult[Any]) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in result.fetchall()] if result.returns_rows else []


def connections_to(url: str, backend: SqlBackend, *, timeout: float) -> Engine:
    """Connections to a database, each opened when it is needed and closed for good afterwards."""
    import sqlalchemy
    import sqlalchemy.event
    import sqlalchemy.exc
    from sqlalchemy.pool import NullPool

    try:
        read = sqlalchemy.make_url(url)
    except sqlalchemy.exc.ArgumentError:
        msg = (
            "the url of a database is not one: write it like "
            "postgresql+psycopg://user:password@host/database or sqlite:///file.db"
        )
        raise InputError(msg) from None
    if backend.driver and "+" not in read.drivername:
        read = read.set(drivername=f"{read.drivername}+{backend.driver}")
    read, options = backend.connect_to(read, timeout=timeout)
    try:
        engine = sqlalchemy.create_engine(
            read, poolclass=NullPool, hide_parameters=True, connect_args=options
        )
    except ModuleNotFoundError as error:
        msg = f"the url of a database needs the driver {error.name}: install it with pip"
        raise InputError(msg) from None
    sqlalchemy.event.listen(engine, "handle_error", _close_lost_cursor)
    return engine


def _close_lost_cursor(context: ExceptionContext) -> None:
    """Close a cursor on the server whose connection is lost, which SQLAlchemy leaves open."""
    cursor: Any = getattr(context.execution_context, "cursor", None)
    if cursor is not None and context.is_disconnect:
        # The first time it may find out that the server is gone.
        for _ in range(2):
            with suppress(Exception):
                cursor.close()


def secrets_of(url: str) -> tuple[str, ...]:
    """What no message may repeat of an address."""
    import sqlalchemy
    import sqlalchemy.exc

    try:
        read = sqlalchemy.make_url(url)
    except sqlalchemy.exc.ArgumentError:
        return (url,)
    given = [read.password, read.username, *(str(value) for value in read.query.values())]
    return tuple(str(one) for one in given if one)
