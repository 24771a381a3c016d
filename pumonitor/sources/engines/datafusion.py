"""Parquet files of a folder, counted by DataFusion."""

# ruff: noqa: S608 (identifiers reach SQL only quoted by the dialect)

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from pumonitor.errors import InputError, SourceError, did_you_mean
from pumonitor.sources.column_types.column_kinds import Column, Key, Kind, Relation
from pumonitor.sources.column_types.monitored_tables import SqlQuery
from pumonitor.sources.engines.arrow_engine import ArrowEngine
from pumonitor.sources.engines.datafusion_dialect import DataFusion
from pumonitor.sources.engines.file_urls import refuse_host
from pumonitor.sources.engines.named_tables import named
from pumonitor.sources.reach.table_formats import refuse_tables_on_disk
from pumonitor.sources.windows.contained_sql import WRITTEN_OUT, written_out
from pumonitor.sources.windows.counts_engine import received
from pumonitor.sources.windows.counts_query import Statement

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SETTINGS", "DataFusionEngine", "open_datafusion"]

SETTINGS: Final = {
    # Its check of a plan finds nullable what is not, and refuses most of our statements for that.
    "datafusion.execution.skip_physical_aggregate_schema_check": "true",
    "datafusion.execution.time_zone": "+00:00",
}
_MISTAKES: Final = ("Error during planning", "Schema error", "SQL error", "Arrow error")
"""What messages about a query or values hold, not those about files."""


def open_datafusion(url: str, *, timeout: float, as_of: datetime | None = None) -> DataFusionEngine:
    """Open a folder, whose files have no versions."""
    del as_of
    return DataFusionEngine(url, timeout=timeout)


class DataFusionEngine(ArrowEngine):
    """Reads Parquet files; nothing is ever written.

    Parameters
    ----------
    url : str
        datafusion:///FOLDER, or datafusion:// for no tables at all. ``FOLDER/scores.parquet`` is
        the table ``scores``, as are the Parquet files in ``FOLDER/scores``.
    timeout : float
        Seconds for one statement.
    """

    def __init__(self, url: str, *, timeout: float) -> None:
        import datafusion

        refuse_host(url, example="datafusion:///FOLDER")
        self.dialect = DataFusion()
        self._timeout = timeout
        self._version = datafusion.__version__
        self._context = datafusion.SessionContext(datafusion.SessionConfig(dict(SETTINGS)))
        self._only_reads = (
            datafusion.SQLOptions()
            .with_allow_ddl(allow=False)
            .with_allow_dml(allow=False)
            .with_allow_statements(allow=False)
        )
        self._tables = _tables_in(unquote(url.partition("://")[2].removeprefix("/")))
        self._received = 0

    def version(self) -> str:
        """Version of the library."""
        return str(self._version)

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
        if isinstance(table, SqlQuery):
            for name in self._tables:
                if re.search(rf"\b{re.escape(name)}\b", table.query):
                    self._registered(name, f"the query of {role}")
        read = named(
            table,
            role=role,
            parameters=parameters,
            spoken="duckdb",
            sql_of=self._registered,
            placeholder=WRITTEN_OUT,
        )
        schema = self._planned(
            Statement(sql=f"SELECT * FROM {read.sql} AS source", values=read.parameters), read.name
        ).schema()
        return Relation(
            name=read.name,
            sql=read.sql,
            columns={
                one.name: Column(
                    name=one.name,
                    type=str(one.type),
                    kind=_kind(one.type),
                    sql=f"source.{self.dialect.quoted(one.name)}",
                )
                for one in schema
            },
            parameters=read.parameters,
        )

    def receive(self, labels: pa.Table, *, name: str, key: Key) -> Relation:
        """Labels as they are, in memory."""
        self._received += 1
        table = f"pumonitor_labels_{self._received}"
        self._context.from_arrow(labels, table)
        return received(name, table, key, self.dialect)

    def close(self) -> None:
        """Let go of everything."""
        self._context = None

    def _planned(self, statement: Statement, about: str) -> Any:
        sql = written_out(statement.sql, statement.values, self.dialect.constant)
        try:
            return self._context.sql_with_options(sql, self._only_reads)
        except Exception as error:  # noqa: BLE001 (the library has no type of its own for it)
            raise _in_our_words(error, about) from None

    def _answer(self, statement: Statement, about: str) -> pa.Table:
        planned = self._planned(statement, about)
        try:
            # In a thread: where the caller has a loop of its own, none can be run.
            with ThreadPoolExecutor(1) as thread:
                return thread.submit(asyncio.run, _read(planned, self._timeout)).result()
        except TimeoutError:
            msg = (
                f"{about} took longer to read than the {self._timeout:g} s allowed: read a shorter "
                "window"
            )
            raise SourceError(msg) from None
        except Exception as error:  # noqa: BLE001 (as above)
            raise _in_our_words(error, about) from None

    def _registered(self, table: str, name: str) -> str:
        """The table's SQL; its files are found now and read later."""
        if table not in self._tables:
            hint = did_you_mean(table, self._tables, most=3)
            msg = f"{name}: the folder has no Parquet file or folder of this name{hint}"
            raise InputError(msg)
        quoted = self.dialect.quoted(table)
        if not self._context.table_exist(quoted):
            place = self._tables[table]
            folder = place if place.is_dir() else place.parent
            refuse_tables_on_disk(str(place), [folder.absolute()], reads_lakes=True)
            try:
                self._context.register_parquet(quoted, str(place))
            except Exception as error:  # noqa: BLE001 (as above)
                raise _in_our_words(error, name) from None
        return quoted


async def _read(planned: Any, seconds: float) -> pa.Table:
    """The answer; what takes longer is dropped, which ends it."""
    import pyarrow as pa

    async def batches() -> list[pa.RecordBatch]:
        return [one.to_pyarrow() async for one in planned.execute_stream()]

    found = await asyncio.wait_for(batches(), seconds)
    # What is planned may call nullable what is not.
    return pa.Table.from_batches(found, schema=found[0].schema if found else planned.schema())


def _tables_in(folder: str) -> dict[str, Path]:
    """Parquet files, and folders that hold some, by the names of their tables."""
    if not folder:
        return {}
    if not Path(folder).is_dir():
        msg = (
            f"there is no folder {folder}: datafusion:///FOLDER names one that holds Parquet files"
        )
        raise InputError(msg)
    found = {one.name: one for one in sorted(Path(folder).iterdir()) if any(one.glob("*.parquet"))}
    return found | {one.stem: one for one in sorted(Path(folder).glob("*.parquet"))}


def _in_our_words(error: Exception, about: str) -> InputError | SourceError:
    said = (str(error).strip().splitlines() or [""])[0].removeprefix("DataFusion error: ")
    problem = InputError if any(one in said for one in _MISTAKES) else SourceError
    return problem(f"{about} cannot be read: {said}")


def _kind(stored: pa.DataType) -> Kind:
    import pyarrow.types as of

    if of.is_dictionary(stored):
        return _kind(stored.value_type)
    if of.is_decimal(stored):
        return "integer" if stored.scale == 0 else "number"
    if of.is_timestamp(stored):
        return "naive" if stored.tz is None else "moment"
    kinds: tuple[tuple[Any, Kind], ...] = (
        (of.is_integer, "integer"),
        (of.is_float32, "single"),
        (of.is_floating, "number"),
        (of.is_boolean, "boolean"),
        (of.is_date, "date"),
        (of.is_string, "text"),
        (of.is_large_string, "text"),
        (of.is_string_view, "text"),
        (of.is_null, "empty"),
    )
    return next((kind for is_of, kind in kinds if is_of(stored)), "other")
