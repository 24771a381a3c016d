"""What has no public name in pyiceberg, in one place; where it has changed, that is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from pumonitor.errors import SourceError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.expressions import BooleanExpression
    from pyiceberg.io import FileIO
    from pyiceberg.schema import Schema
    from pyiceberg.table import FileScanTask
    from pyiceberg.table.metadata import TableMetadata

_KNOWN: Final = "0.12"


def stream(
    metadata: TableMetadata,
    io: FileIO,
    schema: Schema,
    tasks: Sequence[FileScanTask],
    where: BooleanExpression,
) -> Iterator[pa.RecordBatch]:
    """Rows of files that are not deleted by position, a part of a row group at a time.

    pyiceberg's public readers hold the rows of whole files, and of all of them at once.

    Raises
    ------
    SourceError
        If this version of pyiceberg has no such reader.
    """
    with _as_it_was():
        from pyiceberg.io.pyarrow import ArrowScan, _read_all_delete_files

        scan = ArrowScan(metadata, io, schema, where)
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
            f"pyiceberg {found} reads tables otherwise than {_KNOWN} does ({error}): "
            f"pip install 'pyiceberg=={_KNOWN}.*'"
        )
        raise SourceError(msg) from None
