"""Iceberg tables: pyiceberg plans, prunes and applies deletes by position; only batches leave it.

Deletes by value (equality deletes, as Flink writes them) are refused, since pyiceberg does not
apply them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pumonitor.errors import InputError, PumonitorError, SourceError, did_you_mean
from pumonitor.scans import Parts, Scan
from pumonitor.sources.lakes.addresses import LakeAddress
from pumonitor.sources.lakes.failures import extra_missing, in_our_words, secrets_in
from pumonitor.sources.lakes.table import TimeRange

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.catalog import Catalog
    from pyiceberg.expressions import BooleanExpression
    from pyiceberg.io import FileIO
    from pyiceberg.schema import Schema
    from pyiceberg.table import DataScan, FileScanTask, Table
    from pyiceberg.table.metadata import TableMetadata

__all__ = ["open_iceberg"]

_KNOWN: Final = "0.12"

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SQLITE: Final = "sqlite:///"


def open_iceberg(address: LakeAddress, *, as_of: datetime | None) -> IcebergVersion | None:
    """Open an Iceberg table; None where it keeps no snapshot as old as that.

    Raises
    ------
    InputError
        If there is no such catalog or table.
    SourceError
        If its catalog or store does not answer.
    ExtraMissingError
        If pyiceberg, or what it reads this catalog with, is not installed.
    """
    try:
        from pyiceberg.exceptions import (
            NoSuchNamespaceError,
            NoSuchTableError,
            NotInstalledError,
        )
    except ModuleNotFoundError:
        raise extra_missing(address.name, package="pyiceberg", extra="iceberg") from None
    settings = _settings(address)
    secrets = secrets_in(settings)
    try:
        metadata, io = _loaded(_catalog(address, settings), address)
    except (NoSuchTableError, NoSuchNamespaceError):
        msg = f"{address.name}: the catalog '{address.catalog}' has no table {address.place}"
        raise InputError(msg) from None
    except NotInstalledError as error:
        msg = f"{address.name}: its catalog needs another package: {error}"
        raise InputError(msg) from None
    except PumonitorError:
        raise
    except Exception as error:  # noqa: BLE001 (its library raises what its catalog and store raise)
        raise in_our_words(error, name=address.name, secrets=secrets) from None
    if as_of is not None:
        past = _as_of(metadata, as_of)
        if past is None:
            return None
        metadata = past
    return IcebergVersion(address.name, metadata, io, secrets)


def _settings(address: LakeAddress) -> dict[str, str]:
    """What is configured of the catalog, read anew each time as secrets may change."""
    from pyiceberg.utils.config import Config

    config = Config()
    found = config.get_catalog_config(address.catalog)
    if found is None:
        known = config.get_known_catalogs()
        name = address.catalog.upper().replace("-", "_")
        msg = (
            f"{address.name}: there is no catalog '{address.catalog}' in .pyiceberg.yaml (in "
            f"PYICEBERG_HOME, the home or the current folder), nor PYICEBERG_CATALOG__{name}__URI "
            f"in the environment{did_you_mean(address.catalog, known)}"
        )
        raise InputError(msg)
    return {key: str(value) for key, value in found.items()}


def _catalog(address: LakeAddress, settings: Mapping[str, str]) -> Catalog:
    from pyiceberg.catalog import load_catalog

    uri = settings.get("uri", "")
    file = uri.removeprefix(_SQLITE)
    if uri.startswith(_SQLITE) and not Path(file).is_file():
        # To connect would make it.
        msg = f"{address.name}: there is no file {file}, the catalog '{address.catalog}'"
        raise InputError(msg)
    # Whoever only reads makes no tables in a catalog's database.
    return load_catalog(address.catalog, **{**settings, "init_catalog_tables": "false"})


def _loaded(catalog: Catalog, address: LakeAddress) -> tuple[TableMetadata, FileIO]:
    try:
        table: Table = catalog.load_table(address.place)
    finally:
        # What it read stays; a database would count the connection.
        catalog.close()
    return table.metadata, table.io


def _as_of(metadata: TableMetadata, moment: datetime) -> TableMetadata | None:
    """The metadata as they were, with the columns of then; None where they are kept no more."""
    latest = (moment - _EPOCH) // timedelta(milliseconds=1)
    kept = [one for one in metadata.snapshot_log if one.timestamp_ms <= latest]
    snapshot = metadata.snapshot_by_id(kept[-1].snapshot_id) if kept else None
    if snapshot is None:
        return None
    schema = metadata.current_schema_id if snapshot.schema_id is None else snapshot.schema_id
    return metadata.model_copy(
        update={"current_snapshot_id": snapshot.snapshot_id, "current_schema_id": schema}
    )


class IcebergVersion:
    """A snapshot of an Iceberg table, without its deleted rows and with its renamed columns."""

    def __init__(
        self, name: str, metadata: TableMetadata, io: FileIO, secrets: Sequence[str]
    ) -> None:
        from pyiceberg.io.pyarrow import schema_to_pyarrow

        self._name = name
        self._metadata = metadata
        self._io = io
        self.secrets = secrets
        self.schema: pa.Schema = schema_to_pyarrow(metadata.schema(), include_field_ids=False)
        snapshot = metadata.current_snapshot()
        number = "none" if snapshot is None else str(snapshot.snapshot_id)
        self.version = f"snapshot {number}"
        self.identity: Mapping[str, str] = {
            "snapshot": number,
            "id": str(metadata.table_uuid),
        }
        summary = None if snapshot is None else snapshot.summary
        totals = {} if summary is None else summary.additional_properties
        self.rows = int(totals.get("total-records") or 0)
        self._files = int(totals.get("total-data-files") or 0)
        self._is_accepted = False

    def batches(self, names: Sequence[str], within: TimeRange | None) -> Iterator[pa.RecordBatch]:
        """Rows that count, with some columns, a part of a row group at a time."""
        planned = self._planned(names, within)
        files = self._files_of(planned)
        where = planned.row_filter
        yield from stream(self._metadata, self._io, planned.projection(), files, where)

    def scan(self, names: Sequence[str], within: TimeRange | None) -> Scan:
        """Of the files that its plan has: the columns, or all where their sizes are not told."""
        tasks = self._files_of(self._planned(names, within))
        schema = self._metadata.schema()
        numbers = {schema.find_field(name).field_id for name in names}
        read = 0
        for task in tasks:
            sizes = task.file.column_sizes or {}
            told = [sizes.get(number) for number in numbers]
            whole = int(task.file.file_size_in_bytes)
            read += whole if None in told else min(whole, sum(size or 0 for size in told))
            read += sum(int(file.file_size_in_bytes) for file in task.delete_files)
        parts = Parts(named="files", read=len(tasks), of=max(self._files, len(tasks)))
        return Scan(read=read, parts=(parts,))

    def _files_of(self, planned: DataScan) -> list[FileScanTask]:
        """The files of a scan, of a table whose rows pyiceberg can tell."""
        self._refuse_deletes_by_value()
        return list(planned.plan_files())

    def _refuse_deletes_by_value(self) -> None:
        """Refuse a table with rows that are deleted by their values.

        All lists of deletes are looked through: of a part of the time pyiceberg plans only deletes
        whose own times lie in it, though these say nothing of the times of the deleted rows.
        """
        from pyiceberg.manifest import DataFileContent, ManifestContent

        snapshot = self._metadata.current_snapshot()
        if snapshot is None or self._is_accepted:
            return
        manifests = snapshot.manifests(self._io)
        rows = [manifest for manifest in manifests if manifest.content is ManifestContent.DATA]
        oldest = min((int(manifest.min_sequence_number or 0) for manifest in rows), default=0)
        deletes = sum(
            entry.data_file.content is DataFileContent.EQUALITY_DELETES
            for manifest in manifests
            # What a rewrite of all files has left behind deletes nothing.
            if manifest.content is ManifestContent.DELETES
            and int(manifest.sequence_number or 0) >= oldest
            for entry in manifest.fetch_manifest_entry(self._io, discard_deleted=True)
        )
        if deletes:
            msg = (
                f"{self._name} has rows that are deleted by their values ({deletes} files of "
                "equality deletes, as Flink writes them), which pyiceberg does not apply: rewrite "
                "its data files, in Spark by CALL system.rewrite_data_files with the option "
                "delete-file-threshold = 1, or have Spark count it (source: sc://HOST:15002)"
            )
            raise InputError(msg)
        self._is_accepted = True

    def _planned(self, names: Sequence[str], within: TimeRange | None) -> DataScan:
        from pyiceberg.expressions import AlwaysTrue
        from pyiceberg.table import DataScan

        # Without a catalog, which would plan its newest snapshot.
        return DataScan(
            table_metadata=self._metadata,
            io=self._io,
            row_filter=AlwaysTrue() if within is None else _filter(self.schema, within),
            selected_fields=tuple(names),
        )


def _filter(schema: pa.Schema, within: TimeRange) -> BooleanExpression:
    """What is true of the rows in the range; of all rows where values are not of the type."""
    import pyarrow as pa
    from pyiceberg.expressions import (
        AlwaysTrue,
        And,
        GreaterThanOrEqual,
        IsNull,
        LessThanOrEqual,
        Or,
    )

    kind = schema.field(within.column).type
    low, high = within.low, within.high
    if pa.types.is_date(kind) and isinstance(low, datetime):
        low, high = low.date(), high.date()
    elif not _has_type(low, kind):
        return AlwaysTrue()
    # Its types say nothing of how these are made.
    at_or_after = GreaterThanOrEqual(within.column, low)  # type: ignore[arg-type, call-arg]
    at_or_before = LessThanOrEqual(within.column, high)  # type: ignore[arg-type, call-arg]
    missing = IsNull(within.column)  # type: ignore[arg-type, call-arg]
    return Or(And(at_or_after, at_or_before), missing)


def _has_type(value: Any, kind: pa.DataType) -> bool:
    import pyarrow as pa

    if isinstance(value, datetime):
        return bool(pa.types.is_timestamp(kind)) and (value.tzinfo is None) == (kind.tz is None)
    return bool(pa.types.is_integer(kind))


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
