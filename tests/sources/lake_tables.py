"""Small tables of lakes, and deletion vectors of Delta as Spark writes them."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyiceberg.catalog.sql import SqlCatalog
from pyroaring import BitMap

__all__ = [
    "arrow_of",
    "delete_by_vector",
    "delta_table",
    "iceberg_catalog",
    "iceberg_table",
]

_Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_ROARING_ARRAY = 1681511377


def arrow_of(frame: pd.DataFrame) -> pa.Table:
    """The frame, with times in microseconds as both formats have them."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    micro = [
        field.with_type(pa.timestamp("us", field.type.tz))
        if pa.types.is_timestamp(field.type)
        else field
        for field in table.schema
    ]
    return table.cast(pa.schema(micro), safe=False).replace_schema_metadata()


def delta_table(folder: Path, rows: pa.Table, *, files: int = 3, **options: object) -> str:
    """Write a Delta table of several commits; its address."""
    for part in _parts(rows, files):
        write_deltalake(folder, part, mode="append", **options)
    return f"delta://{folder}"


def iceberg_catalog(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str = "lake"
) -> SqlCatalog:
    """An empty catalog with the namespace fraud, which the environment names."""
    folder.mkdir(parents=True, exist_ok=True)
    uri = f"sqlite:///{folder / 'catalog.db'}"
    monkeypatch.setenv(f"PYICEBERG_CATALOG__{name.upper()}__URI", uri)
    catalog = SqlCatalog(name, uri=uri, warehouse=f"file://{folder / 'warehouse'}")
    catalog.create_namespace_if_not_exists("fraud")
    return catalog


def iceberg_table(catalog: SqlCatalog, name: str, rows: pa.Table, *, files: int = 3) -> str:
    """Write an Iceberg table of several snapshots; its address."""
    table = catalog.create_table(f"fraud.{name}", rows.schema)
    for part in _parts(rows, files):
        table.append(part)
    return f"iceberg://{catalog.name}/fraud.{name}"


def _parts(rows: pa.Table, files: int) -> list[pa.Table]:
    each = -(-rows.num_rows // files) or 1
    return [rows.slice(at, each) for at in range(0, max(rows.num_rows, 1), each)]


def delete_by_vector(folder: Path, positions: list[int], *, of_file: int = 0) -> None:
    """Delete rows of one file of a Delta table by a deletion vector in its log, as Spark does."""
    table = DeltaTable(folder)
    actions = table.get_add_actions(flatten=True)
    added = {name: pa.table(actions)[name].to_pylist() for name in ("path", "size_bytes")}
    path, size = added["path"][of_file], added["size_bytes"][of_file]
    logs = sorted((folder / "_delta_log").glob("*.json"))
    stats = next(
        action["add"]["stats"]
        for log in logs
        for action in map(json.loads, log.read_text().splitlines())
        if action.get("add", {}).get("path") == path
    )
    bitmap = BitMap(positions).serialize()
    content = struct.pack("<iqi", _ROARING_ARRAY, 1, 0) + bitmap
    vector = {
        "storageType": "i",
        "pathOrInlineDv": _z85(content + b"\0" * (-len(content) % 4)),
        "sizeInBytes": len(content),
        "cardinality": len(positions),
    }
    file = {"path": path, "dataChange": True}
    known = table.protocol()
    features = {
        name: [*(had or ()), "deletionVectors"]
        for name, had in (
            ("readerFeatures", known.reader_features),
            ("writerFeatures", known.writer_features),
        )
    }
    actions_now = [
        {"commitInfo": {"timestamp": 4102444800000, "operation": "DELETE"}},
        {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, **features}},
        {"remove": {**file, "deletionTimestamp": 1}},
        {
            "add": {
                **file,
                "partitionValues": {},
                "size": size,
                "modificationTime": 1,
                "stats": stats,
                "deletionVector": vector,
            }
        },
    ]
    name = f"{table.version() + 1:020d}.json"
    (folder / "_delta_log" / name).write_text("\n".join(map(json.dumps, actions_now)))


def _z85(content: bytes) -> str:
    """Text of bytes as ZeroMQ writes them, five letters for four bytes."""
    letters = []
    for (number,) in struct.iter_unpack(">I", content):
        letters += [_Z85[number // 85**power % 85] for power in (4, 3, 2, 1, 0)]
    return "".join(letters)
