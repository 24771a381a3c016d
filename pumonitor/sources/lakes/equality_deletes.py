"""Which rows of an Iceberg table are deleted by their values (equality deletes)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pumonitor.errors import InputError
from pumonitor.sources.lakes.iceberg_internals import NumberedFile

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.manifest import DataFile
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.snapshots import Snapshot
    from pyiceberg.types import NestedField

__all__ = ["EqualityDelete", "equality_deletes", "partition_of", "that_apply"]

_READ: Final = ("PARQUET", "ORC")
_REWRITE: Final = "rewrite its data files, in Spark by CALL system.rewrite_data_files"


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualityDelete:
    """A file of values; rows that have them are deleted from older files.

    Attributes
    ----------
    file : DataFile
    columns : tuple of NestedField
        Whose values are compared, in the order of their ids.
    sequence : int
        Rows of files with a lower number are deleted. What is written together with a delete stays:
        so a row is replaced in one commit.
    everywhere : bool
        Whether from all partitions, else from its own.
    """

    file: DataFile
    columns: tuple[NestedField, ...]
    sequence: int
    everywhere: bool


def equality_deletes(
    name: str, metadata: TableMetadata, snapshot: Snapshot | None, io: FileIO
) -> list[EqualityDelete]:
    """Deletes by value of a snapshot, from the lists of its files.

    Raises
    ------
    InputError
        If one is written in a way that is not read.
    """
    from pyiceberg.manifest import DataFileContent, ManifestContent

    if snapshot is None:
        return []
    return [
        _delete(name, metadata, entry.data_file, int(entry.sequence_number or 0))
        for manifest in snapshot.manifests(io)
        if manifest.content is ManifestContent.DELETES
        for entry in manifest.fetch_manifest_entry(io, discard_deleted=True)
        if entry.data_file.content is DataFileContent.EQUALITY_DELETES
    ]


def _delete(name: str, metadata: TableMetadata, file: DataFile, sequence: int) -> EqualityDelete:
    if file.file_format.name not in _READ:
        msg = (
            f"{name} has rows that were deleted by their values in files of the format "
            f"{file.file_format.name}, of which {' and '.join(_READ)} are read: {_REWRITE}"
        )
        raise InputError(msg)
    if not file.equality_ids:
        msg = f"{name} is damaged: {file.file_path} deletes rows by the values of no column"
        raise InputError(msg)
    fields = metadata.specs()[file.spec_id].fields
    return EqualityDelete(
        file=file,
        columns=tuple(_column(name, metadata, one) for one in sorted(file.equality_ids)),
        sequence=sequence,
        # A partition by a field that was dropped is none.
        everywhere=all(str(one.transform) == "void" for one in fields),
    )


def _column(name: str, metadata: TableMetadata, number: int) -> NestedField:
    """A column by its id, as it is, or was before it was dropped."""
    from pyiceberg.types import PrimitiveType

    current = metadata.schema()
    earlier = sorted(metadata.schemas, key=lambda one: -one.schema_id)
    for schema in (current, *earlier):
        for field in schema.fields:
            if field.field_id == number and isinstance(field.field_type, PrimitiveType):
                # Files that were written later do not have a column that was dropped.
                gone = schema is not current
                return field.model_copy(update={"required": False}) if gone else field
    msg = (
        f"{name} has rows that were deleted by the values of a field within a column (its id is "
        f"{number}), which are not read: {_REWRITE}"
    )
    raise InputError(msg)


def that_apply(
    deletes: Iterable[EqualityDelete], files: Sequence[NumberedFile]
) -> list[EqualityDelete]:
    """The deletes that rows of these files may be hit by."""
    oldest: dict[object, int] = {}
    for one in files:
        place = partition_of(one.task.file)
        oldest[place] = min(oldest.get(place, one.sequence), one.sequence)
    return [one for one in deletes if _first(one, oldest) < one.sequence]


def _first(delete: EqualityDelete, oldest: Mapping[object, int]) -> int:
    """The lowest number of the files in reach of a delete; its own where there are none."""
    if delete.everywhere:
        return min(oldest.values(), default=delete.sequence)
    return oldest.get(partition_of(delete.file), delete.sequence)


def partition_of(file: DataFile) -> object:
    """What tells its partition from all others."""
    return (file.spec_id, file.partition)
