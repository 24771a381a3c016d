"""What the embedded DuckDB answers, whatever it reads."""

# ruff: noqa: S608 (names reach SQL only through `quoted`)

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final

from pumonitor.ports import Progress
from pumonitor.sources.column_types.column_kinds import Column, Key, Kind, Relation
from pumonitor.sources.column_types.dialects import DuckDB
from pumonitor.sources.reach.session import Session, quoted
from pumonitor.sources.windows.contained_sql import written_out
from pumonitor.sources.windows.counts_engine import LASTING, LoadsNothing, received
from pumonitor.sources.windows.counts_query import Statement

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_KINDS: Final[dict[str, Kind]] = {
    "FLOAT": "single",
    "DOUBLE": "number",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "UUID": "text",
    "VARCHAR": "text",
    '"NULL"': "empty",
    "TIMESTAMP WITH TIME ZONE": "moment",
    "TIMESTAMPTZ_NS": "moment",
}
_WHOLE: Final = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|DECIMAL\(\d+,0\)")
_NAIVE: Final = re.compile(r"TIMESTAMP(_S|_MS|_NS)?")


class DuckDBAnswers(LoadsNothing):
    """One connection to the embedded library."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.dialect = DuckDB()
        self._connection = connection

    def version(self) -> str:
        """Version of the embedded library."""
        import duckdb

        return duckdb.__version__

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """What is read stays as it is; what was kept goes with it, unless it is to last."""
        try:
            yield
        finally:
            kept = self._connection.execute(
                "SELECT table_name FROM duckdb_tables() WHERE temporary"
            ).fetchall()
            for (name,) in kept:
                if name.startswith(LASTING):
                    continue
                self._connection.execute(f"DROP TABLE {quoted(name)}")

    def rows(
        self, statement: Statement, *, about: str, progress: Progress | None = None, step: str = ""
    ) -> list[tuple[Any, ...]]:
        """All rows of the answer."""
        with self.saying_why():
            return self._session(about, progress).rows(self._sql(statement), step=step)

    def columns(
        self, statement: Statement, *, about: str, progress: Progress | None = None, step: str = ""
    ) -> Mapping[str, Any]:
        """All columns of the answer."""
        with self.saying_why():
            return self._session(about, progress).masked(self._sql(statement), step=step)

    def keep(self, name: str, statement: Statement, *, about: str) -> bool:
        """Hold an answer as a table until the snapshot ends."""
        with self.saying_why():
            self._session(about).rows(
                f"CREATE OR REPLACE TEMP TABLE {quoted(name)} AS {self._sql(statement)}"
            )
        return True

    def receive(self, labels: pa.Table, *, name: str, key: Key) -> Relation:
        """Take labels from another engine."""
        self._connection.register("pumonitor_labels", labels)
        return received(name, "pumonitor_labels", key, self.dialect)

    def close(self) -> None:
        """Let go of everything."""
        self._connection.close()

    def saying_why(self) -> AbstractContextManager[None]:
        """Within it a failure is told in the words of what was being read."""
        return nullcontext()

    def _session(self, about: str, progress: Progress | None = None) -> Session:
        return Session(self._connection, name=about, progress=progress)

    def _sql(self, statement: Statement) -> str:
        return written_out(statement.sql, statement.values, self.dialect.constant)


def described(session: Session, reader: str) -> dict[str, Column]:
    """Columns of what stands after FROM."""
    return {
        str(name): Column(
            name=str(name),
            type=str(kind),
            kind=kind_of_type(str(kind)),
            sql=f"source.{quoted(name)}",
        )
        for name, kind, *_ in session.rows(f"DESCRIBE SELECT * FROM {reader}")
    }


def kind_of_type(name: str) -> Kind:
    """What kind of values a type of DuckDB holds."""
    if _WHOLE.fullmatch(name):
        return "integer"
    if _NAIVE.fullmatch(name):
        return "naive"
    if name.startswith("ENUM"):
        return "text"
    if name.startswith("DECIMAL"):
        return "number"
    return _KINDS.get(name, "other")
