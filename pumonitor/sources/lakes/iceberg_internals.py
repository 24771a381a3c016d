"""What has no public name in pyiceberg, in one place; where it has changed, that is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from pumonitor.errors import SourceError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.expressions import BooleanExpression
    from pyiceberg.io import FileIO
    from pyiceberg.manifest import ManifestEntry
    from pyiceberg.schema import Schema
    from pyiceberg.table import DataScan, FileScanTask
    from pyiceberg.table.metadata import TableMetadata

__all__ = ["NumberedFile", "numbered_files", "stream"]

_KNOWN: Final = "0.12"


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedFile:
    """A file of rows, and when its rows became part of the table.

    Attributes
    ----------
    task : FileScanTask
        The file, with the deletes by position that apply to it.
    sequence : int
        What is deleted by value under a greater number is deleted from this file.
    """

    task: FileScanTask
    sequence: int


def numbered_files(scan: DataScan) -> list[NumberedFile]:
    """The files of a scan, which its own method refuses to plan where rows are deleted by value.

    Raises
    ------
    SourceError
        If this version of pyiceberg has no such planner.
    """
    from pyiceberg.manifest import DataFileContent

    snapshot = scan.snapshot()
    if snapshot is None:
        return []
    sequences: dict[str, int] = {}

    def is_planned(entry: ManifestEntry) -> bool:
        if entry.data_file.content is DataFileContent.DATA:
            sequences[entry.data_file.file_path] = int(entry.sequence_number or 0)
        return entry.data_file.content is not DataFileContent.EQUALITY_DELETES

    with _as_it_was():
        from pyiceberg.table import ManifestGroupPlanner

        planner = ManifestGroupPlanner(scan.table_metadata, scan.io, scan.row_filter)
        tasks = list(planner.plan_files(snapshot.manifests(scan.io), is_planned))
    return [NumberedFile(task=one, sequence=sequences[one.file.file_path]) for one in tasks]


def stream(
    metadata: TableMetadata,
    io: FileIO,
    schema: Schema,
    tasks: Sequence[FileScanTask],
    *,
    where: BooleanExpression | None = None,
) -> Iterator[pa.RecordBatch]:
    """Rows of files that are not deleted by position, a part of a row group at a time.

    pyiceberg's public readers hold the rows of whole files, and of all of them at once.

    Parameters
    ----------
    schema : Schema
        Columns by their ids, under names that need not be those of the table.
    where : BooleanExpression, optional

    Raises
    ------
    SourceError
        If this version of pyiceberg has no such reader.
    """
    from pyiceberg.expressions import AlwaysTrue

    with _as_it_was():
        from pyiceberg.io.pyarrow import ArrowScan, _read_all_delete_files

        scan = ArrowScan(metadata, io, schema, AlwaysTrue() if where is None else where)
        batches = scan._record_batches_from_scan_tasks_and_deletes(
            tasks, _read_all_delete_files(io, tasks)
        )
    yield from batches


@contextmanager
def _as_it_was() -> Iterator[None]:
    """Say so where a name is gone, or takes other arguments."""
    try:
        yield
    except (ImportError, AttributeError, TypeError) as error:
        found = version("pyiceberg")
        if found.startswith(f"{_KNOWN}."):
            raise
        msg = (
            f"pyiceberg {found} plans and reads tables otherwise than {_KNOWN} does ({error}): "
            f"pip install 'pyiceberg=={_KNOWN}.*'"
        )
        raise SourceError(msg) from None
