"""Delta tables: deltalake plans, prunes and applies deletes; only batches leave it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pumonitor.errors import InputError, PumonitorError
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
        files = pa.table(table.get_add_actions(flatten=True))
        self.rows = sum(one or 0 for one in files["num_records"].to_pylist())

    def batches(self, names: Sequence[str], within: TimeRange | None) -> Iterator[pa.RecordBatch]:
        """Rows that count, with some columns, a few thousand at a time."""
        import pyarrow as pa

        predicate = None if within is None else _predicate(self.schema, within)
        stream = self._table.scan(columns=list(names), predicate=predicate)
        yield from pa.RecordBatchReader.from_stream(stream)


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
