"""The rows of one table, in files or in a lake, as a session that reads them and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pumonitor.sources.column_types.columns import TABLE, place_of
from pumonitor.sources.lakes.addresses import is_lake_address
from pumonitor.sources.lakes.opening import open_lake
from pumonitor.sources.lakes.table import saying_why
from pumonitor.sources.reach.locations import Location, locate
from pumonitor.sources.reach.session import (
    READ_EXACTLY,
    Progress,
    Session,
    contained,
    open_session,
)

if TYPE_CHECKING:
    from pumonitor.sources.lakes.table import LakeTable


@contextmanager
def opened_rows(
    path: str | os.PathLike[str], names: Mapping[str, str], *, progress: Progress | None
) -> Iterator[tuple[Session, Location]]:
    """Open files, or a table of a lake in its newest version.

    The named columns of a lake are held in memory: its library gives rows in an order that may
    change from one reading to the next, and columns that are read apart have to match.

    Parameters
    ----------
    path : path-like
        A file, a pattern, or the address of a lake (delta://, iceberg://).
    names : mapping of str to str
        Role to column, of all columns that will be read.
    progress : callable or None

    Raises
    ------
    InputError
        If there is no such file or table, or if a lake's lacks a column.
    SourceError
        If it cannot be read.
    """
    address = os.fspath(path)
    if not is_lake_address(address):
        location = locate(path, reads_lakes=True)
        with open_session(location, progress=progress) as session:
            yield session, location
        return
    lake = open_lake(address)
    connection = contained([], without=READ_EXACTLY)
    try:
        if progress is not None:
            progress("Reading rows", 0.0)
        connection.register(TABLE, _rows(lake, names))
        # A table has no files; its name stands for the one that it is.
        location = Location(name=lake.name, files=(lake.name,), kind="table")
        yield Session(connection, name=lake.name, progress=progress), location
    finally:
        connection.close()


def _rows(lake: LakeTable, names: Mapping[str, str]) -> object:
    import pyarrow as pa

    header = lake.version.schema.names
    for role, name in names.items():
        place_of(header, name, role=role, file=lake.name, shown=lake.name)
    with saying_why([lake]):
        try:
            return pa.RecordBatchReader.from_stream(lake.load(list(names.values()))).read_all()
        except pa.ArrowException:
            if lake.failures:
                raise lake.failures.pop() from None
            raise
