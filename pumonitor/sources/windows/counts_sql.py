"""Predictions and labels in PostgreSQL and SQLite, counted there through SQLAlchemy."""

# ruff: noqa: S608 (identifiers reach SQL only quoted by the dialect, values as parameters)

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from pumonitor.errors import InputError, PumonitorError, SourceError, did_you_mean
from pumonitor.ports import Progress
from pumonitor.sources.column_types.column_kinds import Column, Key, Kind, Relation
from pumonitor.sources.column_types.dialects import sqlite_functions
from pumonitor.sources.column_types.monitored_tables import SqlQuery, SqlTable
from pumonitor.sources.windows.contained_sql import check_query, for_sqlalchemy
from pumonitor.sources.windows.counts_engine import MOST_WINDOWS, received, stepping
from pumonitor.sources.windows.counts_query import Statement
from pumonitor.sources.windows.sql_connections import DIALECTS, LONGEST_WAIT, engine_of, secrets_of

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlalchemy import Connection

__all__ = ["SQLEngine"]

# By the numbers under which PostgreSQL lists its types, the same with every driver.
_POSTGRESQL_KINDS: Final[dict[int, tuple[str, Kind]]] = {
    16: ("boolean", "boolean"),
    20: ("bigint", "integer"),
    21: ("smallint", "integer"),
    23: ("integer", "integer"),
    25: ("text", "text"),
    700: ("real", "single"),
    701: ("double precision", "number"),
    1042: ("character", "text"),
    1043: ("character varying", "text"),
    1082: ("date", "date"),
    1114: ("timestamp without time zone", "naive"),
    1184: ("timestamp with time zone", "moment"),
    1700: ("numeric", "number"),
    2950: ("uuid", "text"),
}
_SQLITE_KINDS: Final[dict[str, Kind]] = {"integer": "integer", "real": "number", "text": "text"}
_RENAMED: Final = re.compile(r":\d+$")
_SAMPLE_ROWS: Final = 1000
_BATCH_ROWS: Final = 10_000
_STEPS_BETWEEN_LOOKS: Final = 100_000
_QUERY_CANCELED: Final = "57014"
_NOT_ALLOWED: Final = "42501"
# What SQLite says of a query that is no SQL or asks for what is not there; it has no numbers.
_MISTAKES: Final = ("no such column", "no such table", "no such function", "syntax error")


class SQLEngine:
    """One connection that only reads, with a time limit for each statement.

    Parameters
    ----------
    url : str
    timeout : float
        Seconds.
    """

    def __init__(self, url: str, *, timeout: float) -> None:
        self._secrets = secrets_of(url)
        self._engine = engine_of(url, timeout)
        self._timeout = timeout
        self._longest_wait = min(timeout, LONGEST_WAIT)
        self._deadline = float("inf")
        self.dialect = DIALECTS[self._engine.dialect.name]()
        self._connection: Connection | None = None

    def relation(
        self,
        location: SqlTable | SqlQuery,
        *,
        role: str,
        parameters: Mapping[str, object],
    ) -> Relation:
        """A table or a query with its columns.

        Parameters
        ----------
        location : SqlTable or SqlQuery
        role : str
            What it is called in messages.
        parameters : mapping of str to object
            Values that let every row through.
        """
        values: dict[str, object] = {}
        taken: Mapping[str, object] = {}
        if isinstance(location, SqlTable):
            name = f"{role} {location.table}"
            sql = self._table(location.table, name)
        else:
            name = f"the query of {role}"
            query = check_query(
                location.query, dialect=self.dialect.name, parameters=parameters, name=name
            )
            sql, taken = f"({query})", parameters
            values = {key: self.dialect.parameter(value) for key, value in parameters.items()}
        with self.snapshot():
            columns = self._columns(name, sql, values)
        return Relation(name=name, sql=sql, columns=columns, parameters=taken)

    def load(
        self,
        relation: Relation,
        names: Sequence[str],
        *,
        time: str | None = None,
        bounds: Sequence[object] | None = None,
        limit: int | None = None,
    ) -> None:
        """Nothing has to be loaded first."""

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """One transaction that only reads."""
        connection = self._connected()
        if self.dialect.name == "postgresql":
            self._run(
                connection, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY", {}, ""
            )
        else:
            self._run(connection, "PRAGMA query_only = ON", {}, "")
            self._run(connection, "BEGIN", {}, "")
        try:
            yield
        finally:
            connection.rollback()

    def rows(
        self, statement: Statement, *, about: str, progress: Progress | None = None, step: str = ""
    ) -> list[tuple[Any, ...]]:
        """All rows of the answer."""
        with stepping(progress, step):
            return self._run(self._connected(), statement.sql, dict(statement.values), about)[1]

    def columns(
        self, statement: Statement, *, about: str, progress: Progress | None = None, step: str = ""
    ) -> Mapping[str, Any]:
        """All columns of the answer."""
        with stepping(progress, step):
            names, rows = self._run(self._connected(), statement.sql, dict(statement.values), about)
        columns = zip(*rows, strict=True) if rows else [() for _ in names]
        return dict(zip(names, columns, strict=True))

    def keep(self, name: str, statement: Statement, *, about: str, for_long: bool = False) -> bool:
        """Nothing is written here."""
        del name, statement, about, for_long
        return False

    def windows_at_once(self, relation: Relation) -> int:
        """As many as anywhere: its rows stay where they are."""
        del relation
        return MOST_WINDOWS

    def receive(self, labels: pa.Table, *, name: str, key: Key) -> Relation:
        """Put labels into a temporary table, the only thing that is ever written."""
        connection = self._connected()
        if self.dialect.name == "sqlite":
            self._run(connection, "PRAGMA query_only = OFF", {}, name)
        elif key == "text" and (found := _with_nul(labels["id"])):
            msg = (
                f"{name} has {found} ids that hold a NUL character, which {self.dialect.name} does "
                "not store: remove it where the rows are written"
            )
            raise InputError(msg)
        kind = "BIGINT" if key == "integer" else "TEXT"
        self._run(connection, "DROP TABLE IF EXISTS pumonitor_labels", {}, name)
        self._run(
            connection,
            f"CREATE TEMPORARY TABLE pumonitor_labels (id {kind}, known BIGINT, label SMALLINT, "
            f"propensity {self.dialect.double})",
            {},
            name,
        )
        insert = (
            "INSERT INTO pumonitor_labels (id, known, label, propensity) "
            "VALUES (:id, :known, :label, :propensity)"
        )
        for batch in labels.to_batches(max_chunksize=_BATCH_ROWS):
            self._run(connection, insert, batch.to_pylist(), name)
        if self.dialect.name == "postgresql":
            self._run(connection, "ANALYZE pumonitor_labels", {}, name)
        connection.commit()
        return received(name, "pumonitor_labels", key, self.dialect)

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
                if self.dialect.name == "sqlite":
                    self._prepare_sqlite(self._connection)
            except sqlalchemy.exc.SQLAlchemyError as error:
                msg = f"the {self.dialect.name} database cannot be reached: {self._masked(error)}"
                raise SourceError(msg) from None
        return self._connection

    def _prepare_sqlite(self, connection: Connection) -> None:
        driver: Any = connection.connection.driver_connection
        for name, function in sqlite_functions().items():
            driver.create_function(name, 1, function, deterministic=True)
        driver.set_progress_handler(self._is_late, _STEPS_BETWEEN_LOOKS)

    def _is_late(self) -> bool:
        return time.monotonic() > self._deadline

    def _run(
        self, connection: Connection, sql: str, values: Any, about: str
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        import sqlalchemy
        import sqlalchemy.exc

        self._deadline = time.monotonic() + self._timeout
        try:
            result = connection.execute(sqlalchemy.text(sql), values)
            if not result.returns_rows:
                return [], []
            return list(result.keys()), [tuple(row) for row in result.fetchall()]
        except sqlalchemy.exc.SQLAlchemyError as error:
            raise self._in_our_words(error, about) from None

    def _in_our_words(self, error: Exception, about: str) -> PumonitorError:
        driver = getattr(error, "orig", None)
        state = str(getattr(driver, "sqlstate", None) or "")
        if state == _QUERY_CANCELED or str(driver) == "interrupted":
            return SourceError(
                f"{about} took longer to read than the {self._timeout:g} s allowed: an index on "
                "its time and id columns helps, or a shorter window"
            )
        said = self._masked(error)
        if said == "database is locked":
            return SourceError(
                f"{about} cannot be read: another program has locked the database for longer than "
                f"{self._longest_wait:g} s; try again, or set PRAGMA journal_mode = WAL there, "
                "which lets rows be read while others are written"
            )
        is_mistake = state.startswith("42") and state != _NOT_ALLOWED
        is_mistake = is_mistake or any(one in said for one in _MISTAKES)
        problem = InputError if is_mistake or state.startswith("22") else SourceError
        return problem(f"{about} cannot be read: {said}")

    def _masked(self, error: Exception) -> str:
        lines = str(getattr(error, "orig", None) or error).strip().splitlines() or [""]
        message = lines[0]
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
        """Columns and their kinds: PostgreSQL tells them, in SQLite every value has its own."""
        import sqlalchemy
        import sqlalchemy.exc

        connection = self._connected()
        self._deadline = time.monotonic() + self._timeout
        rows = _SAMPLE_ROWS if self.dialect.name == "sqlite" else 0
        try:
            result = connection.execute(
                sqlalchemy.text(f"SELECT * FROM {sql} AS source LIMIT {rows}"), dict(values)
            )
            described: list[Any] = list(result.cursor.description)
            sample = result.fetchall()
        except sqlalchemy.exc.SQLAlchemyError as error:
            raise self._in_our_words(error, name) from None
        names = [str(one[0]) for one in described]
        plain = names
        if self.dialect.name == "sqlite" and sql.startswith("("):
            # It renames the second of two columns of a subquery.
            plain = [_RENAMED.sub("", one) for one in names]
        doubled = [one for one in plain if plain.count(one) > 1]
        if doubled:
            msg = f"{name} has {plain.count(doubled[0])} columns named '{doubled[0]}': rename one"
            raise InputError(msg)
        columns: dict[str, Column] = {}
        for place, one in enumerate(described):
            if self.dialect.name == "sqlite":
                stored, kind = _sqlite_kind([row[place] for row in sample])
            else:
                stored, kind = _POSTGRESQL_KINDS.get(one[1], ("a type not read here", "other"))
                if stored == "numeric" and one[5] == 0:
                    kind = "integer"
            columns[names[place]] = Column(
                name=names[place],
                type=stored,
                kind=kind,
                sql=f"source.{for_sqlalchemy(self.dialect.quoted(names[place]))}",
            )
        return columns


def _with_nul(ids: pa.ChunkedArray) -> int:
    import pyarrow.compute as pc

    return int(pc.sum(pc.match_substring(ids, "\0")).as_py() or 0)


def _sqlite_kind(values: Sequence[object]) -> tuple[str, Kind]:
    types = {int: "integer", float: "real", str: "text", bytes: "blob"}
    found = sorted({types.get(type(value), "other") for value in values if value is not None})
    if not found:
        return "nothing but NULL", "empty"
    if found == ["integer", "real"]:
        return "integer and real", "number"
    stored = " and ".join(found)
    return stored, _SQLITE_KINDS.get(stored, "other")
