"""Predictions and labels in files and data frames, counted by the embedded DuckDB."""

# ruff: noqa: S608 (names and values reach SQL only through `quoted` and `text`)

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from pumonitor.errors import DamagedFileError, InputError
from pumonitor.scans import Scan
from pumonitor.sources.column_types.column_kinds import Column, Kind, Relation
from pumonitor.sources.column_types.columns import csv_layout, place_of
from pumonitor.sources.lakes.addresses import is_lake_address
from pumonitor.sources.lakes.arrow import is_arrow_dataset, open_dataset
from pumonitor.sources.lakes.opening import open_lake
from pumonitor.sources.lakes.table import LakeRows, LakeTable, saying_why
from pumonitor.sources.lakes.views import NOT_FOR_STREAMS, show_rows
from pumonitor.sources.reach.locations import Location, matches_nothing
from pumonitor.sources.reach.places import Place, connect, files_of, no_files, place_of_files
from pumonitor.sources.reach.session import Session, quoted, text
from pumonitor.sources.windows.counts_engine import Reading
from pumonitor.sources.windows.counts_frames import LazyTable, eager_table
from pumonitor.sources.windows.damaged_files import damaged_files
from pumonitor.sources.windows.duckdb_answers import DuckDBAnswers, described, kind_of_type
from pumonitor.sources.windows.file_sizes import (
    InMemory,
    ParquetSizes,
    Sizes,
    WholeFiles,
    ends_in_footers,
)
from pumonitor.sources.windows.parquet_files import file_of, parquet_files

if TYPE_CHECKING:
    import pyarrow as pa

_SAMPLE_ROWS: Final = 1000
# The rest prune files and use their statistics, which tell nothing of NaN; nothing asks them to.
_WITHOUT: Final = ("statistics_propagation",)


class DuckDBEngine(DuckDBAnswers):
    """Reads files and frames that are all known when it is opened.

    Parameters
    ----------
    tables : mapping of str to object
        By what they are called in messages: a path, pattern or address, or a data frame.
    may_be_absent : frozenset of str
        Those whose pattern may match no file yet.
    as_of : datetime, optional
        Of tables in lakes the version is read that was the newest then; by default the newest.
    """

    def __init__(
        self,
        tables: Mapping[str, object],
        *,
        may_be_absent: frozenset[str] = frozenset(),
        as_of: datetime | None = None,
    ) -> None:
        self._frames: dict[str, Any] = {}
        self._files: dict[str, Place | None] = {}
        self._lakes: dict[str, LakeTable] = {}
        self._may_be_absent = may_be_absent
        problems: list[str] = []
        for name, table in tables.items():
            if is_arrow_dataset(table):
                shown = f"the Arrow dataset of {name}"
                self._lakes[name] = open_dataset(table, name=shown)
            elif not isinstance(table, str | os.PathLike):
                self._frames[name] = table
            elif name in may_be_absent and matches_nothing(table):
                self._files[name] = None
            else:
                try:
                    if is_lake_address(address := os.fspath(table)):
                        self._lakes[name] = open_lake(address, as_of=as_of)
                    else:
                        self._files[name] = place_of_files(table, sets_aside=True)
                except InputError as error:
                    problems.append(str(error))
        if problems:
            raise InputError("; ".join(dict.fromkeys(problems)))
        super().__init__(
            connect(
                filter(None, self._files.values()),
                without=(*_WITHOUT, *(NOT_FOR_STREAMS if self._lakes else ())),
            )
        )
        self._lazy: dict[str, LazyTable | LakeTable] = {}
        self._sizes: dict[str, Sizes] = {}

    def relation(
        self,
        table: object,
        *,
        role: str,
        columns: Mapping[str, str],
        parameters: Mapping[str, object],
    ) -> Relation:
        """The table that was called so when the engine was opened, with its columns."""
        del table, parameters
        return self._relation(role, columns)

    def _relation(self, table: str, roles: Mapping[str, str]) -> Relation:
        _refuse_alike(table, list(roles))
        if table in self._frames:
            return self._frame(table, list(roles))
        if table in self._lakes:
            return self._lake(table)
        files = self._files[table]
        if files is None:
            return _without_rows(table, roles)
        shown = f"{table} {files.name}"
        session = Session(self._connection, name=shown, progress=None)
        paths = files_of(files, session)
        if not paths:
            if table in self._may_be_absent:
                return _without_rows(shown, roles)
            raise no_files(files)
        unread = files.damaged if isinstance(files, Location) else {}
        if files.kind == "parquet":
            return self._parquet(session, shown, paths, roles, unread=unread)
        if files.kind == "csv":
            relation = self._csv(session, shown, paths, roles)
        else:
            listed = f"[{', '.join(map(text, paths))}]"
            relation = self._json(session, shown, listed, list(roles))
        self._sizes[relation.sql] = WholeFiles(paths)
        return replace(relation, damaged=damaged_files(session, unread, (), None))

    def load(
        self,
        relation: Relation,
        names: Sequence[str],
        *,
        time: str | None = None,
        bounds: Sequence[object] | None = None,
        limit: int | None = None,
    ) -> None:
        """Have the rows of a lazy frame or a lake ready that a question is about."""
        lazy = self._lazy.get(relation.sql)
        if lazy is not None:
            rows = lazy.load(names, time=time, bounds=bounds, limit=limit)
            self._register(relation.sql.strip('"'), rows, relation.name)

    def expected(self, reading: Reading, *, about: str) -> Scan | None:
        """What getting rows of files or of a lake ready would read; None where nothing tells."""
        del about
        sizes = self._sizes.get(reading.relation.sql)
        with self.saying_why():
            return (
                None if sizes is None else sizes.scan(reading.names, reading.time, reading.bounds)
            )

    def damaged_file(
        self, relation: Relation, time: str, bounds: Sequence[object] | None
    ) -> str | None:
        """The first Parquet file with rows between bounds of a time that cannot be read.

        Where DuckDB finds that a page is damaged it does not always say of which file.
        """
        sizes = self._sizes.get(relation.sql)
        if not isinstance(sizes, ParquetSizes):
            return None
        for file in sizes.files_within(time, bounds):
            session = Session(self._connection, name=file, progress=None)
            columns = ", ".join(f"count(hash({quoted(name)}))" for name in sizes.columns)
            try:
                session.rows(f"SELECT {columns} FROM read_parquet({text(file)})")
            except DamagedFileError:
                return file
        return None

    def spent(self) -> Mapping[str, str]:
        """The library tells nothing."""
        return {}

    def saying_why(self) -> AbstractContextManager[None]:
        """What a lake's library could not read is said in its words."""
        return saying_why(self._lakes.values())

    def _frame(self, table: str, names: Sequence[str]) -> Relation:
        view = f"pumonitor_frame_{list(self._frames).index(table)}"
        frame = self._frames[table]
        shown = f"the data frame of {table}"
        lazy = LazyTable.of(frame, name=shown)
        if lazy is not None:
            self._register(view, lazy.load(names, limit=_SAMPLE_ROWS), shown)
            self._lazy[quoted(view)] = lazy
        else:
            self._sizes[quoted(view)] = InMemory()
            held = eager_table(frame, names, name=shown)
            if held.num_rows == 0:
                return _without_rows(shown, names)
            self._register(view, held, shown)
        session = Session(self._connection, name=shown, progress=None)
        return Relation(
            name=shown,
            sql=quoted(view),
            columns=described(session, quoted(view)),
            is_streamed=lazy is None,
        )

    def _lake(self, table: str) -> Relation:
        lake, view = self._lakes[table], f"pumonitor_lake_{list(self._lakes).index(table)}"
        identity = lake.version.identity
        shown = f"{table} {lake.name}" if identity else lake.name
        self._register(view, lake.load(lake.version.schema.names), shown)
        self._lazy[quoted(view)] = self._sizes[quoted(view)] = lake
        session = Session(self._connection, name=shown, progress=None)
        return Relation(
            name=shown,
            sql=quoted(view),
            columns=described(session, quoted(view)),
            version={"table": lake.name, **identity} if identity else {},
        )

    def _register(self, view: str, rows: pa.Table | LakeRows, shown: str) -> None:
        import duckdb

        try:
            if isinstance(rows, LakeRows):
                show_rows(self._connection, view, rows)
            else:
                self._connection.register(view, rows)
        except duckdb.Error:
            listed = ", ".join(f"'{field.name}' {field.type}" for field in rows.schema)
            msg = (
                f"{shown} has a column of a type that is not read here: cast it; there are {listed}"
            )
            raise InputError(msg) from None

    def _parquet(
        self,
        session: Session,
        shown: str,
        paths: Sequence[str],
        roles: Mapping[str, str],
        *,
        unread: Mapping[str, str],
    ) -> Relation:
        found = parquet_files(session, paths, roles, name=shown, kind_of=kind_of_type)
        # Nothing is asked of files that are no Parquet at all.
        damaged = {**unread, **found.damaged}
        if not found.files:
            nothing = _without_rows(shown, roles)
            return replace(nothing, damaged=damaged_files(session, damaged, (), None))
        listed = ", ".join(map(text, found.files))
        reader = f"read_parquet([{listed}], hive_partitioning = false, union_by_name = true)"
        columns = described(session, reader)
        for name, kinds in found.kinds.items():
            if "single" in kinds and columns[name].kind == "number":
                # A score of 32 bits means the same beside files of 64.
                columns[name] = replace(columns[name], kind="single")
        self._sizes[reader] = ParquetSizes(
            session, found.files, {one: columns[one] for one in roles}, number=len(self._sizes)
        )
        return Relation(
            name=shown,
            sql=reader,
            columns=columns,
            rows=found.rows,
            damaged=damaged_files(session, damaged, found.files, _time_of(roles, columns)),
            ends=ends_in_footers(found.files, {one: columns[one] for one in roles}),
        )

    @staticmethod
    def _csv(
        session: Session, shown: str, files: Sequence[str], roles: Mapping[str, str]
    ) -> Relation:
        parts: list[str] = []
        columns: dict[str, Column] = {}
        for file in files:
            header, reader, cells = csv_layout(session, file, {name: name for name in roles})
            of_file = file_of(shown, file, of=len(files))
            places = [
                place_of(header, name, role=role, file=file, shown=of_file)
                for name, role in roles.items()
            ]
            # By number: to DuckDB names are one that differ in case only.
            chosen = ", ".join(
                f"{cells[place].expression} AS column_{number}"
                for number, place in enumerate(places)
            )
            parts.append(f"SELECT {chosen} FROM {reader.format(files=text(file))}")
            columns |= {
                name: Column(name=name, type="TEXT", kind="cell", sql=f"source.{quoted(name)}")
                for name in header
            }
        columns |= {
            name: Column(name=name, type="TEXT", kind="cell", sql=f"source.column_{number}")
            for number, name in enumerate(roles)
        }
        return Relation(name=shown, sql=f"({' UNION ALL BY NAME '.join(parts)})", columns=columns)

    def _json(self, session: Session, shown: str, files: str, names: Sequence[str]) -> Relation:
        """Types are asked of the values: detection would drop a time's offset."""
        found = session.rows(f"DESCRIBE SELECT * FROM read_json({files}, sample_size = -1)")
        header = [str(row[0]) for row in found]
        listed = ", ".join(f"{text(name)}: 'JSON'" for name in header)
        reader = f"read_json({files}, columns = {{{listed}}})"
        columns: dict[str, Column] = {}
        chosen: list[str] = []
        for name in header:
            kind: Kind = "other"
            stored, read = "JSON", quoted(name)
            if name in names:
                kinds = {
                    str(row[0])
                    for row in session.rows(
                        f"SELECT DISTINCT json_type({quoted(name)}) FROM {reader}"
                    )
                } - {"None", "NULL"}
                kind, read = _json_kind(kinds, quoted(name))
                stored = f"JSON {' and '.join(sorted(kinds)) or 'null'}"
            columns[name] = Column(
                name=name,
                type=stored,
                kind=kind,
                sql=f"source.{quoted(name)}",
            )
            chosen.append(f"{read} AS {quoted(name)}")
        return Relation(
            name=shown, sql=f"(SELECT {', '.join(chosen)} FROM {reader})", columns=columns
        )


def _without_rows(name: str, names: Iterable[str]) -> Relation:
    """A table without rows: whatever its columns' types are, they say nothing."""
    columns = {
        one: Column(name=one, type="without rows", kind="empty", sql=f"source.{quoted(one)}")
        for one in names
    }
    nothing = ", ".join(f"CAST(NULL AS VARCHAR) AS {quoted(one)}" for one in columns)
    return Relation(name=name, sql=f"(SELECT {nothing} WHERE 1 = 0)", columns=columns)


def _time_of(roles: Mapping[str, str], columns: Mapping[str, Column]) -> Column | None:
    """The column of times."""
    return next(
        (
            columns[name]
            for name, role in roles.items()
            if role in {"time", "known_at", "decided_at", "queued_at"}
        ),
        None,
    )


def _refuse_alike(table: str, names: Sequence[str]) -> None:
    """Two named columns that to DuckDB are one."""
    folded: dict[str, str] = {}
    for name in names:
        other = folded.setdefault(name.casefold(), name)
        if other != name:
            msg = (
                f"{table} name the columns '{other}' and '{name}', which differ in case only: "
                "rename one"
            )
            raise InputError(msg)


def _json_kind(kinds: set[str], column: str) -> tuple[Kind, str]:
    if not kinds:
        return "empty", "CAST(NULL AS VARCHAR)"
    if kinds == {"VARCHAR"}:
        return "text", f"{column} ->> '$'"
    if kinds <= {"BIGINT", "UBIGINT"}:
        return "integer", f"CAST({column} AS BIGINT)"
    if kinds <= {"BIGINT", "UBIGINT", "DOUBLE"}:
        return "number", f"CAST({column} AS DOUBLE)"
    if kinds == {"BOOLEAN"}:
        return "boolean", f"CAST({column} AS BOOLEAN)"
    return "other", column
