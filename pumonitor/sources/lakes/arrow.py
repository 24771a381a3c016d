"""Arrow datasets: Arrow prunes files and row groups by time; only batches leave it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pumonitor.scans import Parts, Scan
from pumonitor.sources.lakes.table import LakeTable, TimeRange
from pumonitor.sources.reach.table_formats import refuse_tables_on_disk

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as ds

__all__ = ["is_arrow_dataset", "open_dataset"]


def is_arrow_dataset(table: object) -> bool:
    """Whether this is a `pyarrow.dataset.Dataset`, without importing it."""
    return any(
        one.__module__ == "pyarrow._dataset" and one.__name__ == "Dataset"
        for one in type(table).__mro__
    )


def open_dataset(dataset: ds.Dataset, *, name: str) -> LakeTable:
    """A dataset with the files that it lists; files that are added later are no part of it.

    Raises
    ------
    InputError
        If its files lie in a table of a lake, which no longer holds all of them.
    """
    files = getattr(dataset, "files", ())
    refuse_tables_on_disk(
        name, sorted({Path(one).absolute().parent for one in files}), reads_lakes=True
    )
    return LakeTable(name, ArrowDataset(dataset))


class ArrowDataset:
    """The rows of a dataset."""

    secrets: Sequence[str] = ()
    version = "files"
    # Nothing tells which rows these files hold now.
    identity: Mapping[str, str] = {}

    def __init__(self, dataset: ds.Dataset) -> None:
        self._dataset = dataset
        self.schema: pa.Schema = dataset.schema
        self.rows: int = dataset.count_rows()

    def batches(self, names: Sequence[str], within: TimeRange | None) -> Iterator[pa.RecordBatch]:
        """Rows with some columns, a part of a row group at a time."""
        kept = None if within is None else _filter(self.schema, within)
        yield from self._dataset.to_batches(columns=list(names), filter=kept)

    def scan(self, names: Sequence[str], within: TimeRange | None) -> Scan:
        """Of Parquet the columns of row groups that may hold such rows; other files whole."""
        kept = None if within is None else _filter(self.schema, within)
        every = list(self._dataset.get_fragments())
        read = groups = of_groups = files = 0
        for fragment in every:
            if not hasattr(fragment, "row_groups"):
                files += 1
                # One of rows in memory has no path.
                if hasattr(fragment, "path"):
                    read += fragment.filesystem.get_file_info(fragment.path).size
                continue
            of_groups += fragment.num_row_groups
            parts = fragment.subset(kept) if kept is not None else fragment
            groups += parts.num_row_groups
            files += parts.num_row_groups > 0
            read += sum(_bytes(fragment, one.id, names) for one in parts.row_groups)
        told = [Parts(named="files", read=files, of=len(every))]
        if of_groups:
            told.append(Parts(named="row groups", read=groups, of=of_groups))
        return Scan(read=read, parts=tuple(told))


def _bytes(fragment: ds.ParquetFileFragment, number: int, names: Sequence[str]) -> int:
    """Compressed bytes of the columns of one row group."""
    group = fragment.metadata.row_group(number)
    columns = (group.column(place) for place in range(group.num_columns))
    return sum(
        one.total_compressed_size for one in columns if one.path_in_schema.split(".")[0] in names
    )


def _filter(schema: pa.Schema, within: TimeRange) -> ds.Expression | None:
    """True of the rows in the range; None where values are of another type than the column."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    kind = schema.field(within.column).type
    try:
        low, high = (pa.scalar(one, type=kind) for one in (within.low, within.high))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return None
    column = ds.field(within.column)
    return ((column >= low) & (column <= high)) | column.is_null()
