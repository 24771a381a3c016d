"""A stand-in for a warehouse: its SQL, as sqlglot understands it, run by DuckDB.

It shows that a statement is one of that dialect and means there what it should, as far as sqlglot
knows the dialect. It is not the service: what a function really does there, only the service tells.
"""

# ruff: noqa: S608 (the tables are ours)

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import contextmanager
from functools import lru_cache
from unittest.mock import patch

import duckdb
import pandas as pd
import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from pumonitor.sources.column_types.column_kinds import Column, Relation
from pumonitor.sources.column_types.monitored_tables import SqlQuery, SqlTable
from pumonitor.sources.column_types.warehouses import WAREHOUSES
from pumonitor.sources.column_types.warehouses.redshift import END_MARK
from pumonitor.sources.column_types.warehouses.written_labels import WritesLabels
from pumonitor.sources.windows.contained_sql import check_query, spelled_out
from pumonitor.sources.windows.counts_engine import received, stepping
from pumonitor.sources.windows.counts_query import Statement

_KINDS = {
    "BIGINT": "integer",
    "INTEGER": "integer",
    "DOUBLE": "number",
    "FLOAT": "single",
    "VARCHAR": "text",
    "BOOLEAN": "boolean",
    "TIMESTAMP WITH TIME ZONE": "moment",
    "TIMESTAMP": "naive",
    "TIMESTAMP_NS": "naive",
    "DATE": "date",
}
# What sqlglot leaves as it is and DuckDB calls otherwise.
_FUNCTIONS = (
    "CREATE MACRO is_finite(x) AS isfinite(x)",
    "CREATE MACRO safe_convert_bytes_to_string(x) AS decode(x)",
)


class Translated:
    """An engine that speaks one dialect and is answered by DuckDB."""

    def __init__(self, name: str, frames: Mapping[str, object], *, label_parts: int = 1) -> None:
        self._label_parts = label_parts
        self.dialect = WAREHOUSES[name]()
        self.asked: list[str] = []
        self._duck = duckdb.connect()
        self._duck.execute("SET timezone = 'UTC'")
        for function in _FUNCTIONS:
            self._duck.execute(function)
        for table, frame in frames.items():
            self._duck.register("given", pd.DataFrame(frame))
            self._duck.execute(f"CREATE TABLE {table} AS SELECT * FROM given")
            self._duck.unregister("given")

    def version(self):
        return "0"

    def relation(self, table, *, role, columns, parameters):
        sql = self.dialect.quoted(table.table) if isinstance(table, SqlTable) else ""
        if isinstance(table, SqlQuery):
            query = check_query(table.query, dialect=self.dialect.name, parameters=parameters)
            given = Statement(sql=query, values=parameters)
            sql = f"({spelled_out(given, self.dialect.constant)})"
        asked = translated(f"SELECT * FROM {sql} AS source", self.dialect.name)
        described = self._duck.execute(f"DESCRIBE {asked}").fetchall()
        return Relation(
            name=f"{role} {getattr(table, 'table', 'query')}",
            sql=sql,
            columns={
                name: Column(
                    name=name,
                    type=kind,
                    kind=_KINDS[kind],
                    sql=f"source.{self.dialect.quoted(name)}",
                )
                for name, kind, *_ in described
            },
        )

    def load(self, relation, names, *, time=None, bounds=None, limit=None):
        """Nothing has to be loaded first."""

    @contextmanager
    def snapshot(self):
        yield

    def rows(self, statement, *, about, progress=None, step=""):
        assert not statement.values  # noqa: PD011 (of parameters)
        self.asked.append(statement.sql)
        rows = self._duck.execute(translated(statement.sql, self.dialect.name)).fetchall()
        return [tuple(map(_unmarked, row)) for row in rows]

    def columns(self, statement, *, about, progress=None, step=""):
        with stepping(progress, step):
            rows = self.rows(statement, about=about)
        names = [one[0] for one in self._duck.description]
        columns = zip(*rows, strict=True) if rows else [() for _ in names]
        return dict(zip(names, columns, strict=True))

    def receive(self, labels, *, name, key):
        if isinstance(self.dialect, WritesLabels):
            written = self.dialect.labels_written(labels, key=key)
            # As if the text were so long: short labels show what many would.
            room = self.dialect.longest_statement * 0.43
            length = int((self._label_parts - 0.5) * room)
            parts = self.dialect.parts_written(labels, key=key, length=length)
            assert len(parts) == (self._label_parts if self._label_parts > 1 else 0)
            return received(name, written, key, self.dialect, parts=parts)
        self._duck.register("given", labels)
        self._duck.execute("CREATE OR REPLACE TABLE pumonitor_labels AS SELECT * FROM given")
        self._duck.unregister("given")
        return received(name, "pumonitor_labels", key, self.dialect)

    def keep(self, name, statement, *, about):
        return False

    def close(self):
        self._duck.close()


@lru_cache(maxsize=256)
def translated(sql: str, dialect: str) -> str:
    """The statement in DuckDB's SQL; it must be a query of the dialect."""
    parser = Dialect.get_or_raise(dialect).parser_class
    # Columns of lists that stand in FROM as tables are never written, and to look for them copies
    # all that was parsed, again and again: half of the time.
    with patch.object(parser, "SUPPORTS_IMPLICIT_UNNEST", new=False):
        tree = sqlglot.parse_one(sql, dialect=dialect)
    assert isinstance(tree, exp.Query)
    # DuckDB compares by bytes, and knows none of these collations.
    tree = tree.transform(
        lambda node: node.this if isinstance(node, exp.Collate) else node, copy=False
    )
    for node in tree.find_all(exp.RegexpReplace):
        said = node.args["replacement"]
        said.replace(exp.Literal.string(re.sub(r"\$(\d)", r"\\\1", said.this)))
    return tree.sql(dialect="duckdb")


def _unmarked(value: object) -> object:
    """As the engine of Redshift gives it."""
    return value.removesuffix(END_MARK) if isinstance(value, str) else value
