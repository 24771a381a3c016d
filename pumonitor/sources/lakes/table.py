"""One version of a lake's table, handed to DuckDB as rows that can be read again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from pumonitor.errors import InputError, PumonitorError
from pumonitor.scans import Scan
from pumonitor.sources.lakes.failures import in_our_words

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRange:
    """Which rows are wanted: those of a stretch of time, and those without a time.

    Attributes
    ----------
    column : str
    low, high : datetime or int
        In the terms of the column: moments, local times, or whole numbers. Rows from `low` up to
        but not including `high`; a few more do no harm.
    """

    column: str
    low: Any
    high: Any


class LakeVersion(Protocol):
    """A version of a table: what is committed later changes nothing in it."""

    @property
    def version(self) -> str:
        """What it is called in messages, such as "version 7"."""

    @property
    def identity(self) -> Mapping[str, str]:
        """What is stored of it, so that it can be told which rows were read."""

    @property
    def schema(self) -> pa.Schema:
        """All columns."""

    @property
    def rows(self) -> int:
        """About how many rows there are."""

    @property
    def secrets(self) -> Sequence[str]:
        """What no message may repeat."""

    def batches(self, names: Sequence[str], within: TimeRange | None) -> Iterator[pa.RecordBatch]:
        """Rows that count, with some columns, a part at a time."""

    def scan(self, names: Sequence[str], within: TimeRange | None) -> Scan:
        """What these batches would read, by the statistics of files."""


@dataclass(frozen=True, slots=True)
class LakeTable:
    """A table of a lake, whose version stays the one it was opened with.

    Attributes
    ----------
    name : str
        For messages.
    version : LakeVersion
    failures : list of PumonitorError
        Why a stream broke off, in our words; the engine that read it knows only that it did.
    """

    name: str
    version: LakeVersion
    failures: list[PumonitorError] = field(default_factory=list)

    def load(
        self,
        names: Sequence[str],
        *,
        time: str | None = None,
        bounds: Sequence[object] | None = None,
        limit: int | None = None,
    ) -> LakeRows:
        """Rows whose time is within bounds or missing, or all; they are read when DuckDB asks."""
        # Whoever wants the first few only stops reading.
        del limit
        within = _range(time, bounds)
        chosen = list(dict.fromkeys(names))
        self._check(chosen)
        return LakeRows(
            # A stream whose columns are not those announced would be misread.
            self._part(chosen),
            lambda: self.version.batches(chosen, within),
            self._failed,
            expected=self.version.rows,
        )

    def scan(self, names: Sequence[str], time: str, bounds: Sequence[object] | None) -> Scan:
        """What getting these rows would read.

        Raises
        ------
        SourceError
            If the table's metadata cannot be read.
        """
        try:
            return self.version.scan(list(names), _range(time, bounds))
        except PumonitorError:
            raise
        except Exception as error:  # noqa: BLE001 (its library raises what its store raises)
            self._failed(error)
            raise self.failures.pop() from None

    def _part(self, names: Sequence[str]) -> pa.Schema:
        import pyarrow as pa

        return pa.schema([self.version.schema.field(name) for name in names])

    def _check(self, names: Sequence[str]) -> None:
        """Refuse columns that to DuckDB are one."""
        header = self.version.schema.names
        for name in names:
            alike = [one for one in header if one != name and one.casefold() == name.casefold()]
            if name in header and alike:
                msg = (
                    f"{self.name} has columns '{name}' and '{alike[0]}', which differ in case "
                    "only: rename one of them"
                )
                raise InputError(msg)

    def _failed(self, error: Exception) -> None:
        self.failures.append(
            in_our_words(
                error,
                name=self.name,
                version=self.version.version,
                secrets=self.version.secrets,
            )
        )


def _range(time: str | None, bounds: Sequence[object] | None) -> TimeRange | None:
    if time is None or bounds is None:
        return None
    return TimeRange(column=time, low=bounds[0], high=bounds[1])


class LakeRows:
    """Rows as an Arrow stream: each time it is asked for, it begins anew.

    Parameters
    ----------
    schema : pyarrow.Schema
        Of the rows, whatever that of their files is.
    batches : callable
        Begins to read.
    failed : callable
        Called with what broke a stream off.
    expected : int
        About how many rows the table has.
    """

    def __init__(
        self,
        schema: pa.Schema,
        batches: Callable[[], Iterator[pa.RecordBatch]],
        failed: Callable[[Exception], None],
        *,
        expected: int,
    ) -> None:
        self.expected = expected
        self.schema = schema
        self._batches = batches
        self._failed = failed

    def __arrow_c_schema__(self) -> object:
        """The columns, without reading."""
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows from the first on."""
        import pyarrow as pa

        del requested_schema
        return pa.RecordBatchReader.from_batches(self.schema, self._read()).__arrow_c_stream__()

    def _read(self) -> Iterator[pa.RecordBatch]:
        try:
            for batch in self._batches():
                # Files may hold a column in several layouts, of which one was announced.
                yield batch.select(self.schema.names).cast(self.schema)
        except Exception as error:
            self._failed(error)
            raise


@contextmanager
def saying_why(lakes: Iterable[LakeTable]) -> Iterator[None]:
    """Raise what broke a stream off, in place of what its reader says: that it broke off.

    Parameters
    ----------
    lakes : iterable of LakeTable
        All whose rows may be asked for within the block.
    """
    try:
        yield
    except PumonitorError:
        for lake in lakes:
            if lake.failures:
                raise lake.failures.pop() from None
        raise
