"""Delta tables: deltalake plans, prunes and applies deletes; only batches leave it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pumonitor.errors import InputError, PumonitorError
from pumonitor.scans import Parts, Scan
from pumonitor.sources.lakes.addresses import LakeAddress
from pumonitor.sources.lakes.failures import extra_missing, in_our_words
from pumonitor.sources.lakes.table import TimeRange
from pumonitor.sources.reach.remote_stores import ENDPOINTS, TIMEOUT_SECONDS, TRIES

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import DeltaTable

__all__ = ["open_delta"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

# Of a store that does not answer it is said soon; by default it is asked for three minutes.
_PATIENCE: Final = {"timeout": f"{TIMEOUT_SECONDS}s", "max_retries": str(TRIES - 1)}


def open_delta(address: LakeAddress, *, as_of: datetime | None) -> DeltaVersion | None:
    """Open a Delta table; None where it keeps no version as old as that.

    Raises
    ------
    InputError
        If there is none, or if it has features that are not read.
    SourceError
        If its store does not answer.
    ExtraMissingError
        If deltalake is not installed.
    """
    try:
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaProtocolError, TableNotFoundError
    except ModuleNotFoundError:
        raise extra_missing(address.name, package="deltalake", extra="delta") from None
    _check_folder(address)
    try:
        table = DeltaTable(address.place, storage_options=_options(address.place))
        if as_of is not None and not _went_back(table, as_of):
            return None
        return DeltaVersion(table)
    except TableNotFoundError:
        msg = f"{address.name} is no Delta table: it has no _delta_log with a first version"
        raise InputError(msg) from None
    except DeltaProtocolError as error:
        msg = f"{address.name} has features that this version of deltalake does not read: {error}"
        raise InputError(msg) from None
    except PumonitorError:
        raise
    except Exception as error:  # noqa: BLE001 (its library raises what its store and log raise)
        raise in_our_words(error, name=address.name) from None


def _check_folder(address: LakeAddress) -> None:
    if "://" in address.place:
        return
    folder = Path(address.place)
    if not folder.is_dir():
        msg = f"{address.name}: there is no folder {folder.absolute()}"
        raise InputError(msg)
    if not (folder / "_delta_log").is_dir():
        msg = f"{address.name} is no Delta table: {folder.absolute()} has no folder _delta_log"
        raise InputError(msg)


def _options(place: str) -> dict[str, str] | None:
    """What the environment does not say in the library's own terms; its keys it reads itself."""
    if "://" not in place:
        return None
    options = dict(_PATIENCE)
    if place.startswith("s3"):
        found = (os.environ.get(name, "").strip() for name in ENDPOINTS["s3"])
        endpoint = next(filter(None, found), "")
        if endpoint:
            options["aws_endpoint_url"] = endpoint
        if endpoint.startswith("http://"):
            options["aws_allow_http"] = "true"
    return options


def _went_back(table: DeltaTable, as_of: datetime) -> bool:
    """Load the version that was the newest at a moment, by the times that commits bear.

    Times of the log's files, by which the library would choose, are new in a copy of a table.
    """
    latest = round((as_of - _EPOCH) / timedelta(milliseconds=1))
    versions = [
        int(one["version"])
        for one in table.history()
        if one.get("timestamp") is not None and int(one["timestamp"]) <= latest
    ]
    if not versions:
        return False
    table.load_as_version(max(versions))
    return True


class DeltaVersion:
    """A version of a Delta table, with its deletion vectors and renamed columns."""

    secrets: Sequence[str] = ()

    def __init__(self, table: DeltaTable) -> None:
        import pyarrow as pa

        self._table = table
        self.schema: pa.Schema = pa.schema(table.schema().to_arrow())
        self.version = f"version {table.version()}"
        self.identity: Mapping[str, str] = {
            "version": str(table.version()),
            "id": str(table.metadata().id),
        }
        # Files whose writer counted nothing have no number.
        self._files = pa.table(table.get_add_actions(flatten=True))
        self.rows = sum(one or 0 for one in self._files["num_records"].to_pylist())

    def batches(self, names: Sequence[str], within: TimeRange | None) -> Iterator[pa.RecordBatch]:
        """Rows that count, with some columns, a few thousand at a time."""
        import pyarrow as pa

        predicate = None if within is None else _predicate(self.schema, within)
        stream = self._table.scan(columns=list(names), predicate=predicate)
        yield from pa.RecordBatchReader.from_stream(stream)

    def scan(self, names: Sequence[str], within: TimeRange | None) -> Scan:
        """The whole of each file that may hold such rows: sizes of columns are not in the log."""
        import pyarrow.compute as pc

        del names
        files = self._files
        kept = files if within is None else files.filter(_may_hold(files, self.schema, within))
        parts = Parts(named="files", read=kept.num_rows, of=files.num_rows)
        return Scan(read=int(pc.sum(kept["size_bytes"]).as_py() or 0), parts=(parts,))


def _may_hold(files: pa.Table, schema: pa.Schema, within: TimeRange) -> pa.Array:
    """Whether each file's statistics leave room for a time in the range, or for none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    name, everything = within.column, pa.array([True] * files.num_rows)
    ends = (f"min.{name}", f"max.{name}")
    if f"partition.{name}" in files.column_names:
        ends = (f"partition.{name}", f"partition.{name}")
    if not set(ends) <= set(files.column_names):
        return everything
    kind = schema.field(name).type
    least, most = (files[one].combine_chunks() for one in ends)
    try:
        low, high = (
            pa.scalar(_of_type(one, kind), type=least.type) for one in (within.low, within.high)
        )
        room = pc.and_kleene(pc.greater_equal(most, low), pc.less_equal(least, high))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return everything
    missing = f"null_count.{name}"
    if missing in files.column_names:
        room = pc.or_kleene(room, pc.greater(files[missing].combine_chunks(), 0))
    return pc.fill_null(room, fill_value=True)


def _of_type(value: Any, kind: pa.DataType) -> Any:
    import pyarrow as pa

    return value.date() if pa.types.is_date(kind) and isinstance(value, datetime) else value


def _predicate(schema: pa.Schema, within: TimeRange) -> str | None:
    """SQL that is true of the rows in the range; None where values of the type are not written."""
    column = '"' + within.column.replace('"', '""') + '"'
    kind = schema.field(within.column).type
    low, high = _constant(within.low, kind), _constant(within.high, kind)
    if low is None or high is None:
        return None
    return f"({column} >= {low} AND {column} <= {high}) OR {column} IS NULL"


def _constant(value: Any, kind: pa.DataType) -> str | None:
    import pyarrow as pa

    if pa.types.is_integer(kind) and isinstance(value, int):
        return str(value)
    if not isinstance(value, datetime):
        return None
    if pa.types.is_date(kind):
        return f"DATE '{value.date().isoformat()}'"
    if not pa.types.is_timestamp(kind):
        return None
    since = _EPOCH if value.tzinfo else _EPOCH.replace(tzinfo=None)
    count = (value - since) // timedelta(microseconds=1)
    # Written as text it would be read in nanoseconds, of which the year 9999 has too many.
    zone = "None" if kind.tz is None else f'Some("{kind.tz}")'
    return f"arrow_cast({count}, 'Timestamp(Microsecond, {zone})')"
