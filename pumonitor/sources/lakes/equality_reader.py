"""Rows of an Iceberg table without those deleted by their values: an anti-join in DuckDB."""

# ruff: noqa: S608 (columns are called by their ids)

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Final

from pumonitor.errors import InputError, SourceError
from pumonitor.sources.lakes.equality_deletes import EqualityDelete, partition_of
from pumonitor.sources.lakes.iceberg_internals import NumberedFile, stream
from pumonitor.sources.lakes.table import LakeRows
from pumonitor.sources.lakes.views import NOT_FOR_STREAMS, show_rows
from pumonitor.sources.reach.session import contained

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
    from pyiceberg.expressions import BooleanExpression
    from pyiceberg.io import FileIO
    from pyiceberg.schema import Schema
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.types import NestedField

__all__ = ["EqualityReader"]

# Which side of a join is held is left to no guess: deleted values are, rows only stream by.
_WITHOUT: Final = (*NOT_FOR_STREAMS, "build_side_probe_side")
_NO_PLACE: Final = -1
_OUT_OF_MEMORY: Final = "Out of Memory"


class EqualityReader:
    """Reads files of rows without what was deleted from them later.

    What is held are the deleted values, each once, with the greatest number under which it was
    deleted.

    Parameters
    ----------
    name : str
        Of the table, for messages.
    metadata : TableMetadata
    io : FileIO
    deletes : sequence of EqualityDelete
        Those that may apply.
    """

    def __init__(
        self, name: str, metadata: TableMetadata, io: FileIO, deletes: Sequence[EqualityDelete]
    ) -> None:
        self._name = name
        self._metadata = metadata
        self._io = io
        self._deletes = deletes
        self._keys = {field.field_id: field for one in deletes for field in one.columns}
        self._places: dict[object, int] = {}

    def batches(
        self, wanted: Schema, files: Sequence[NumberedFile], where: BooleanExpression
    ) -> Iterator[pa.RecordBatch]:
        """Rows that count, with some columns, a part at a time.

        Raises
        ------
        SourceError
            If the deleted values do not fit into memory.
        """
        failures: list[Exception] = []
        try:
            with closing(contained((), without=_WITHOUT, prepare=_prepare)) as connection:
                yield from self._remaining(connection, wanted, files, where, failures)
        except Exception as error:
            if failures:
                # What broke a stream off; its reader only knows that it did.
                raise failures[0] from None
            if _OUT_OF_MEMORY in str(error):
                msg = (
                    f"{self._name} has rows that were deleted by more values than fit into memory: "
                    "rewrite its data files, in Spark by CALL system.rewrite_data_files"
                )
                raise SourceError(msg) from None
            raise

    def _remaining(
        self,
        connection: duckdb.DuckDBPyConnection,
        wanted: Schema,
        files: Sequence[NumberedFile],
        where: BooleanExpression,
        failures: list[Exception],
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        joins = " ".join(self._hold(connection, failures))
        rows = LakeRows(
            _layout(wanted.fields, self._keys.values()),
            lambda: self._rows(wanted, files, where),
            failures.append,
            expected=sum(int(one.task.file.record_count) for one in files),
        )
        show_rows(connection, "rows", rows)
        columns = ", ".join(f"c{field.field_id}" for field in wanted.fields)
        found = connection.sql(f"SELECT {columns} FROM rows {joins}")
        for batch in pa.RecordBatchReader.from_stream(found):
            yield batch.rename_columns([field.name for field in wanted.fields])

    def _hold(self, connection: duckdb.DuckDBPyConnection, failures: list[Exception]) -> list[str]:
        """Make a table of deleted values for each set of columns; the joins that heed them."""
        groups: dict[tuple[tuple[int, ...], bool], list[EqualityDelete]] = {}
        for one in self._deletes:
            numbers = tuple(field.field_id for field in one.columns)
            groups.setdefault((numbers, one.everywhere), []).append(one)
        joins = []
        for place, ((numbers, everywhere), group) in enumerate(groups.items()):
            values = LakeRows(
                _layout((), group[0].columns),
                partial(self._deleted, group),
                failures.append,
                expected=sum(int(one.file.record_count) for one in group),
            )
            show_rows(connection, "given", values)
            keys = [f"k{number}" for number in numbers]
            name, held = f"deleted_{place}", ", ".join([*keys, "place"])
            connection.execute(
                f"CREATE TABLE {name} AS "
                f"SELECT {held}, max(sequence) AS sequence FROM given GROUP BY {held}"
            )
            same = [f"rows.{key} IS NOT DISTINCT FROM {name}.{key}" for key in keys]
            same += [] if everywhere else [f"rows.place = {name}.place"]
            same.append(f"rows.sequence < {name}.sequence")
            joins.append(f"ANTI JOIN {name} ON {' AND '.join(same)}")
        return joins

    def _deleted(self, group: Sequence[EqualityDelete]) -> Iterator[pa.RecordBatch]:
        from pyiceberg.exceptions import ResolveError
        from pyiceberg.table import FileScanTask

        keys = {field.field_id: field for field in group[0].columns}
        # What such a file lacks would be taken for missing values, and they are values here.
        schema = _schema(
            {number: one.model_copy(update={"required": True}) for number, one in keys.items()}
        )
        for one in group:
            place = _NO_PLACE if one.everywhere else self._place(partition_of(one.file))
            try:
                for batch in stream(self._metadata, self._io, schema, [FileScanTask(one.file)]):
                    yield _laid_out(batch, (), keys, place=place, sequence=one.sequence)
            except ResolveError:
                names = ", ".join(column.name for column in keys.values())
                msg = (
                    f"{self._name} is damaged: {one.file.file_path} deletes rows by the values of "
                    f"columns ({names}) of which it has not all"
                )
                raise InputError(msg) from None

    def _rows(
        self, wanted: Schema, files: Sequence[NumberedFile], where: BooleanExpression
    ) -> Iterator[pa.RecordBatch]:
        chosen = {field.field_id: field for field in wanted.fields}
        schema = _schema({**self._keys, **chosen})
        for one in files:
            place = self._place(partition_of(one.task.file))
            for batch in stream(self._metadata, self._io, schema, [one.task], where=where):
                yield _laid_out(batch, chosen, self._keys, place=place, sequence=one.sequence)

    def _place(self, partition: object) -> int:
        return self._places.setdefault(partition, len(self._places))


def _prepare(connection: duckdb.DuckDBPyConnection) -> None:
    # Rows are read within the thread that asks for them, which is one of another engine.
    connection.execute("SET threads = 1")
    # Without it a uuid comes back as text.
    connection.execute("SET arrow_lossless_conversion = true")


def _schema(fields: Mapping[int, NestedField]) -> Schema:
    """Columns under names of their own: one that was dropped may be called like another."""
    from pyiceberg.schema import Schema

    return Schema(
        *(one.model_copy(update={"name": f"c{number}"}) for number, one in fields.items())
    )


def _layout(wanted: Iterable[NestedField], keys: Iterable[NestedField]) -> pa.Schema:
    """Of what `_laid_out` gives."""
    import pyarrow as pa
    from pyiceberg.io.pyarrow import schema_to_pyarrow

    def typed(fields: Iterable[NestedField]) -> list[tuple[int, pa.DataType]]:
        given = {one.field_id: one for one in fields}
        arrow = schema_to_pyarrow(_schema(given), include_field_ids=False)
        return list(zip(given, arrow.types, strict=True))

    columns = [(f"c{number}", kind) for number, kind in typed(wanted)]
    for number, kind in typed(keys):
        columns.append((f"k{number}", _compared(pa.array([], kind)).type))
    return pa.schema([*columns, ("place", pa.int64()), ("sequence", pa.int64())])


def _laid_out(
    batch: pa.RecordBatch,
    wanted: Iterable[int],
    keys: Iterable[int],
    *,
    place: int,
    sequence: int,
) -> pa.RecordBatch:
    """Columns as `c`, compared ones as `k`, and the partition and number of their file."""
    import pyarrow as pa

    columns = {f"c{number}": batch.column(f"c{number}") for number in wanted}
    columns |= {f"k{number}": _compared(batch.column(f"c{number}")) for number in keys}
    for name, value in (("place", place), ("sequence", sequence)):
        columns[name] = pa.repeat(pa.scalar(value, pa.int64()), batch.num_rows)
    return pa.RecordBatch.from_pydict(columns)


def _compared(values: pa.Array) -> pa.Array:
    """Doubles by their bits: 0 is not -0 to Iceberg, and whatever is no number is the same."""
    import math

    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(values.type):
        return values
    same = pc.if_else(pc.is_nan(values), pa.scalar(math.nan, values.type), values)
    return same.view(pa.int32() if pa.types.is_float32(values.type) else pa.int64())
