"""A DuckDB connection that may read the named files and do nothing else."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from pumonitor.errors import DamagedFileError, InputError, SourceError
from pumonitor.sources.reach.locations import Location, short_name
from pumonitor.sources.reach.remote_failures import remote_failure, without_signatures

if TYPE_CHECKING:
    import duckdb

Progress = Callable[[str, float], None]
"""Called with what is being done and the share of it done, 0 to 1."""

# Parquet statistics leave NaN out, and DuckDB believes them: isnan(score) becomes false for every
# row, and max(score) the highest of the others.
READ_EXACTLY = ("statistics_propagation", "filter_pushdown")

_MEMORY_LIMIT = "600MB"
_MAX_THREADS = 8
_POLL_SECONDS = 0.1
_FILE = re.compile(r"^ *file = (.+)$", re.MULTILINE)
_CUT_OFF = re.compile(r"No magic bytes found at end|Could not read enough bytes")
_DAMAGED = re.compile(r"decompression failure|corrupt", re.IGNORECASE)


def quoted(identifier: str) -> str:
    """Write an SQL identifier."""
    return '"' + identifier.replace('"', '""') + '"'


def text(value: str) -> str:
    """Write an SQL string literal."""
    return "'" + value.replace("'", "''") + "'"


def number(value: float) -> str:
    """Write an SQL literal that is exactly this double (a plain 0.1 would be a decimal)."""
    return f"'{value!r}'::DOUBLE"


class Session:
    """Runs queries, reports how far they are, and puts DuckDB's errors in our words."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, *, name: str, progress: Progress | None
    ) -> None:
        self._connection = connection
        self._name = name
        self._progress = progress

    def about(self, name: str) -> Session:
        """The same connection, with another name in messages."""
        return Session(self._connection, name=name, progress=self._progress)

    def rows(self, sql: str, *, step: str = "") -> list[tuple[Any, ...]]:
        """Return all rows of the answer."""
        answer: list[tuple[Any, ...]] = self._run(
            step, lambda: self._connection.execute(sql).fetchall()
        )
        return answer

    def arrays(self, sql: str, *, step: str = "") -> dict[str, np.ndarray[Any, Any]]:
        """Return the columns of the answer as numpy arrays; for queries that return no nulls."""
        columns: dict[str, np.ndarray[Any, Any]] = self._run(
            step, lambda: self._connection.execute(sql).fetchnumpy()
        )
        return {name: np.asarray(column) for name, column in columns.items()}

    def masked(self, sql: str, *, step: str = "") -> dict[str, np.ndarray[Any, Any]]:
        """Return the columns of the answer, masked where they are null."""
        columns: dict[str, np.ndarray[Any, Any]] = self._run(
            step, lambda: self._connection.execute(sql).fetchnumpy()
        )
        return columns

    def _run(self, step: str, work: Callable[[], Any]) -> Any:
        import duckdb

        try:
            if self._progress is None or not step:
                return work()
            return self._watched(step, work, self._progress)
        except duckdb.OutOfMemoryException:
            msg = (
                f"reading {self._name} needs more than the {_MEMORY_LIMIT} of memory allowed: "
                "write Parquet files with smaller row groups (100,000 rows each), or monitor "
                "shorter windows"
            )
            raise SourceError(msg) from None
        except duckdb.Error as error:
            if (failure := remote_failure(error, self._name)) is not None:
                raise failure from None
            msg = f"{self._name} cannot be read: {_in_short(error, self._name)}"
            if (damage := _damage(error)) is not None:
                msg += f"; {damage}"
                raise DamagedFileError(msg) from None
            if not isinstance(error, duckdb.InvalidInputException | duckdb.ConversionException):
                raise SourceError(msg) from None
            raise InputError(msg) from None

    def _watched(self, step: str, work: Callable[[], Any], progress: Progress) -> Any:
        progress(step, 0.0)
        with ThreadPoolExecutor(max_workers=1) as pool:
            future = pool.submit(work)
            try:
                while not wait([future], timeout=_POLL_SECONDS).done:
                    progress(step, max(self._connection.query_progress(), 0.0) / 100)
                result = future.result()
            except KeyboardInterrupt:
                # Without this the pool would wait for the query to end.
                self._connection.interrupt()
                raise
        progress(step, 1.0)
        return result


def _in_short(error: Exception, name: str) -> str:
    """Keep the first lines of a DuckDB message: what and where, without advice and settings."""
    kept: list[str] = []
    for line in str(error).splitlines():
        if not line.strip() or line.startswith("Possible"):
            break
        kept.append(line.strip())
    message = without_signatures(", ".join(kept))
    for prefix in ("Invalid Input Error: ", "IO Error: ", "CSV Error on "):
        message = message.removeprefix(prefix)
    # Of which file a line is stands among the settings.
    file = _FILE.search(str(error))
    if file is not None and not name.endswith(short_name(file[1])):
        return f"{short_name(file[1])}, {message}"
    return message


def _damage(error: Exception) -> str | None:
    """How a message about a damaged file ends; None about anything else."""
    import duckdb

    if _CUT_OFF.search(str(error)):
        return (
            "it is cut off, or still being written: write it again, and rename it into place when "
            "it is complete"
        )
    # What its reader of Parquet finds wrong with a footer bears no kind.
    if type(error) is duckdb.Error or _DAMAGED.search(str(error)):
        return "it is damaged: write it again"
    return None


@contextmanager
def open_session(location: Location, *, progress: Progress | None = None) -> Iterator[Session]:
    """Open a connection contained to the location's files; its configuration is locked."""
    connection = contained(location.files, without=READ_EXACTLY)
    try:
        yield Session(connection, name=location.name, progress=progress)
    finally:
        connection.close()


def _cores() -> int:
    """Those that this process may use, of which a container or a parent process leaves it some."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def contained(
    files: Sequence[str],
    *,
    directories: Sequence[str] = (),
    without: Sequence[str] = (),
    prepare: Callable[[duckdb.DuckDBPyConnection], None] | None = None,
) -> duckdb.DuckDBPyConnection:
    """Connect to an empty database that may read some files and whose configuration is locked.

    Parameters
    ----------
    files : sequence of str
    directories : sequence of str
        All of whose files may be read.
    without : sequence of str
        Optimizers that are switched off, where this version of DuckDB has them.
    prepare : callable, optional
        Called with the connection before it is locked.
    """
    import duckdb

    connection = duckdb.connect(
        ":memory:",
        config={
            "threads": min(_cores(), _MAX_THREADS),
            "memory_limit": _MEMORY_LIMIT,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
        },
    )
    try:
        if prepare is not None:
            prepare(connection)
        connection.execute("SET temp_directory = ''")
        connection.execute("SET TimeZone = 'UTC'")
        found = connection.execute("SELECT name FROM duckdb_optimizers()").fetchall()
        off = ",".join(one for one in without if (one,) in found)
        connection.execute(f"SET disabled_optimizers = {text(off)}")
        connection.execute("SET enable_progress_bar = true")
        connection.execute("SET enable_progress_bar_print = false")
        connection.execute(f"SET allowed_paths = [{', '.join(map(text, files))}]")
        connection.execute(f"SET allowed_directories = [{', '.join(map(text, directories))}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
    except BaseException:
        connection.close()
        raise
    return connection
