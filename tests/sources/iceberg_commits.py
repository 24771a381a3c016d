"""Commits to Iceberg tables with deletes, as Flink and Spark make them and pyiceberg does not."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4
from zlib import crc32

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.io.pyarrow import _dataframe_to_data_files
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    ManifestWriterV2,
    write_manifest_list,
)
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation, Snapshot, Summary
from pyiceberg.table.update import AddSnapshotUpdate, AssertRefSnapshotId, SetSnapshotRefUpdate
from pyiceberg.typedef import Record
from pyroaring import BitMap

__all__ = ["NEW", "Deleted", "commit", "delete_by_position", "deletion_vector"]

NEW = -1
"""The file of the rows that the same commit adds."""


@dataclass(frozen=True, kw_only=True)
class Deleted:
    """Values whose rows are deleted.

    Attributes
    ----------
    rows : pa.Table
        A column for each field, under any name.
    fields : sequence of int
        Ids of the columns.
    compared : sequence of int, optional
        Ids of those that are compared; all of them otherwise.
    """

    rows: pa.Table
    fields: Sequence[int]
    compared: Sequence[int] = ()


class _Manifest(ManifestWriterV2):
    kind = ManifestContent.DATA

    def content(self) -> ManifestContent:
        return self.kind

    @property
    def _meta(self) -> dict[str, str]:
        return {**super()._meta, "content": self.kind.name.lower()}


class _DeleteManifest(_Manifest):
    kind = ManifestContent.DELETES


def commit(
    table: Table,
    *,
    rows: pa.Table | None = None,
    values: Sequence[Deleted] = (),
    positions: Mapping[int, Sequence[int]] | None = None,
    counted: bool = True,
    more: Sequence[DataFile] = (),
) -> None:
    """Add rows and delete others in one snapshot.

    Parameters
    ----------
    table : Table
    rows : pa.Table, optional
    values : sequence of Deleted
    positions : mapping of int to sequence of int, optional
        Places of rows by the place of their file among all, or `NEW`.
    counted : bool
        Whether the summary counts deletes by value; not every writer does.
    more : sequence of DataFile
        Files of deletes that were written elsewhere.
    """
    table.refresh()
    metadata, before = table.metadata, table.current_snapshot()
    added = [] if rows is None else list(_dataframe_to_data_files(metadata, rows, table.io))
    files = [_delete_file(table, one.rows, one) for one in values]
    for place, numbers in (positions or {}).items():
        path = added[0].file_path if place == NEW else _paths(table)[place]
        listed = pa.table(
            {"file_path": [path] * len(numbers), "pos": pa.array(numbers, pa.int64())}
        )
        files.append(_delete_file(table, listed))
    files += more
    number = uuid4().int % 2**62
    manifests = []
    if added:
        manifests.append(_manifest(table, _Manifest, added, number))
    manifests += [_manifest(table, _DeleteManifest, [one], number) for one in files]
    totals = dict(before.summary.additional_properties)
    for key, count in (
        ("total-records", 0 if rows is None else rows.num_rows),
        ("total-data-files", len(added)),
        ("total-equality-deletes", sum(one.rows.num_rows for one in values) if counted else 0),
    ):
        totals[key] = str(int(totals.get(key, 0)) + count)
    _append(table, manifests, number, totals)


def _paths(table: Table) -> list[str]:
    """Files of rows, in the order of their names."""
    return sorted(
        entry.data_file.file_path
        for manifest in table.current_snapshot().manifests(table.io)
        for entry in manifest.fetch_manifest_entry(table.io)
        if entry.data_file.content is DataFileContent.DATA
    )


def delete_by_position(table: Table, positions: list[int], *, of_file: int = 0) -> None:
    """Delete rows of one file, as Spark does."""
    commit(table, positions={of_file: positions})


def _delete_file(table: Table, rows: pa.Table, by: Deleted | None = None) -> DataFile:
    """Write a file of deletes: of positions, or of values."""
    place = f"{table.metadata.location}/data/deletes-{uuid4()}.parquet"
    file = Path(place.removeprefix("file://"))
    file.parent.mkdir(parents=True, exist_ok=True)
    if by is not None:
        named = [
            field.with_metadata({"PARQUET:field_id": str(number)})
            for field, number in zip(rows.schema, by.fields, strict=True)
        ]
        rows = pa.Table.from_arrays(rows.columns, schema=pa.schema(named))
    pq.write_table(rows, file)
    content = DataFileContent.POSITION_DELETES if by is None else DataFileContent.EQUALITY_DELETES
    return DataFile.from_args(
        content=content,
        file_path=place,
        file_format=FileFormat.PARQUET,
        partition=Record(),
        record_count=rows.num_rows,
        file_size_in_bytes=file.stat().st_size,
        equality_ids=None if by is None else list(by.compared or by.fields),
    )


def deletion_vector(table: Table, positions: Sequence[int]) -> DataFile:
    """Write a Puffin file with a vector of the rows that are deleted from the first file."""
    (path, *_) = _paths(table)
    bitmap = b"\xd1\xd3\x39\x64" + struct.pack("<qi", 1, 0) + BitMap(positions).serialize()
    blob = struct.pack(">i", len(bitmap)) + bitmap + struct.pack(">I", crc32(bitmap))
    said = {
        "type": "deletion-vector-v1",
        "fields": [],
        "snapshot-id": -1,
        "sequence-number": -1,
        "offset": 4,
        "length": len(blob),
        "properties": {"referenced-data-file": path, "cardinality": str(len(positions))},
    }
    footer = json.dumps({"blobs": [said], "properties": {}}).encode()
    ending = struct.pack("<i", len(footer)) + bytes(4)
    place = f"{table.metadata.location}/data/{uuid4()}.puffin"
    content = b"PFA1" + blob + b"PFA1" + footer + ending + b"PFA1"
    Path(place.removeprefix("file://")).write_bytes(content)
    return DataFile.from_args(
        content=DataFileContent.POSITION_DELETES,
        file_path=place,
        file_format=FileFormat.PUFFIN,
        partition=Record(),
        record_count=len(positions),
        file_size_in_bytes=len(content),
    )


def _manifest(
    table: Table, writer: type[_Manifest], files: Sequence[DataFile], number: int
) -> ManifestFile:
    output = table.io.new_output(f"{table.metadata.location}/metadata/{uuid4()}.avro")
    with writer(table.spec(), table.schema(), output, number, "null") as opened:
        for one in files:
            opened.add_entry(
                ManifestEntry.from_args(
                    status=ManifestEntryStatus.ADDED, snapshot_id=number, data_file=one
                )
            )
    return opened.to_manifest_file()


def _append(
    table: Table, manifests: Sequence[ManifestFile], number: int, totals: Mapping[str, str]
) -> None:
    metadata, before = table.metadata, table.current_snapshot()
    parent, sequence = before.snapshot_id, metadata.last_sequence_number + 1
    listed = table.io.new_output(f"{metadata.location}/metadata/{uuid4()}-list.avro")
    with write_manifest_list(2, listed, number, parent, sequence, "null") as writer:
        writer.add_manifests([*before.manifests(table.io), *manifests])
    snapshot = Snapshot(
        snapshot_id=number,
        parent_snapshot_id=parent,
        sequence_number=sequence,
        timestamp_ms=before.timestamp_ms + 1,
        manifest_list=listed.location,
        summary=Summary(operation=Operation.OVERWRITE, **totals),
        schema_id=metadata.current_schema_id,
    )
    table.catalog.commit_table(
        table,
        (AssertRefSnapshotId(ref="main", snapshot_id=parent),),
        (
            AddSnapshotUpdate(snapshot=snapshot),
            SetSnapshotRefUpdate(ref_name="main", type="branch", snapshot_id=number),
        ),
    )
    table.refresh()
