"""Arrow datasets: Arrow prunes files and row groups by time; only batches leave it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

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
