"""Connections to the state database: SQLite in a file, or PostgreSQL.

Every use is one short transaction. Locks and statements time out, and a worker that was stopped in
the middle of a transaction does not block the others for long.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any
from zlib import crc32

from sqlalchemy import URL, Connection, Insert, Table, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    DBAPIError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    ProgrammingError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from pumonitor.errors import InputError
from pumonitor.monitor.ledger.database.engines import (
    READS,
    WAITS,
    Timeouts,
    postgresql_engine,
    sqlite_engine,
)
from pumonitor.monitor.ledger.database.errors import (
    StateError,
    StateUnavailableError,
    without_passwords,
)

__all__ = ["Database", "Timeouts"]

_DRIVERS = {
    "sqlite": "sqlite+pysqlite",
    "postgresql": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
}
_MIGRATION_SECONDS = 300
_ADVISORY_SPACE = 0x70756D6F  # "pumo": keeps our advisory locks apart from other programs'
_NO_SUCH_TABLE = "42P01"
_NO_RIGHTS = "42501"

_COUNT_A_WRITE = (
    "INSERT INTO write_count (id, number) VALUES (1, 1) "
    "ON CONFLICT (id) DO UPDATE SET number = write_count.number + 1"
)
_CLOCKS = {
    "sqlite": "SELECT strftime('%Y-%m-%dT%H:%M:%f', 'now')",
    "postgresql": "SELECT clock_timestamp()",
}


class Database:
    """The state database's engine, clock and transactions.

    Parameters
    ----------
    address : str
        ``sqlite:///FILE`` or ``postgresql://USER:PASSWORD@HOST/NAME``.
    timeouts : Timeouts, optional

    Attributes
    ----------
    name : str
        The address without password, for display.
    engine : Engine
    counts_writes : bool
        Whether transactions that write are counted: once the tables are up to date.

    Raises
    ------
    InputError
        If the address is of neither kind.

    Examples
    --------
    >>> import tempfile
    >>> database = Database(f"sqlite:///{tempfile.mkdtemp()}/state.db")
    >>> with database.reading() as connection:
    ...     database.now(connection).tzinfo
    datetime.timezone.utc
    >>> database.close()
    """

    def __init__(self, address: str, *, timeouts: Timeouts | None = None) -> None:
        url = _checked(address)
        # The parameters of an address may contain passwords too.
        self.name = url.set(query={}).render_as_string(hide_password=True)
        self.is_sqlite = url.get_backend_name() == "sqlite"
        url = url.set(drivername=_DRIVERS[url.get_backend_name()])
        timeouts = timeouts or Timeouts()
        self.engine = (
            sqlite_engine(url, timeouts) if self.is_sqlite else postgresql_engine(url, timeouts)
        )
        self._clock = _CLOCKS[self.engine.dialect.name]
        self._turn = Lock() if self.is_sqlite else None
        self._patience = timeouts.lock
        self._snapshot: Connection | None = None
        self.counts_writes = False

    def is_there(self) -> bool:
        """Whether there is something to open: opening a file of SQLite that is missing makes it."""
        return not self.is_sqlite or _file_of(self.engine.url).exists()

    @property
    def readable_by_others(self) -> Path | None:
        """The file of SQLite, where other users of the machine can read or write it."""
        file = _file_of(self.engine.url) if self.is_sqlite else None
        return file if file is not None and file.exists() and file.stat().st_mode & 0o007 else None

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @contextmanager
    def writing(self, *, counted: bool = True, waits: bool = True) -> Iterator[Connection]:
        """Context with a writing transaction, committed at the end; one at a time in SQLite.

        Parameters
        ----------
        counted : bool
            Whether readers are to see that something has changed (`writes`).
        waits : bool
            Whether to wait for others that write. Otherwise it fails at once, or soon.
        """
        engine = self.engine.execution_options(**{WAITS: waits})
        with self._in_turn(waits=waits), self._in_our_words(), engine.begin() as connection:
            if not waits and not self.is_sqlite:
                connection.exec_driver_sql("SET LOCAL lock_timeout = '50ms'")
            before = self._rows_changed(connection)
            yield connection
            if self.counts_writes and counted and self._has_changed(connection, before):
                # Last of all: others that write wait for this row, and then only for the commit.
                connection.exec_driver_sql(_COUNT_A_WRITE)

    def _rows_changed(self, connection: Connection) -> int:
        if not self.is_sqlite:
            return 0
        driver: Any = connection.connection.dbapi_connection
        return int(driver.total_changes)

    def _has_changed(self, connection: Connection, before: int) -> bool:
        """Whether this transaction has written anything."""
        if self.is_sqlite:
            return self._rows_changed(connection) > before
        found = connection.exec_driver_sql("SELECT pg_current_xact_id_if_assigned() IS NOT NULL")
        return bool(found.scalar_one())

    def writes(self, connection: Connection) -> int:
        """How many transactions have changed anything: while it stays, all that is read stays."""
        return int(
            connection.exec_driver_sql(
                "SELECT coalesce(max(number), 0) FROM write_count"
            ).scalar_one()
        )

    @contextmanager
    def _in_turn(self, *, waits: bool) -> Iterator[None]:
        """Queue of threads that write to SQLite, whose own waiting is not fair."""
        if self._turn is None:
            yield
            return
        if not self._turn.acquire(timeout=self._patience.total_seconds() if waits else 0.0):
            msg = f"the state database {self.name} is held by another thread of this process"
            raise StateUnavailableError(msg)
        try:
            yield
        finally:
            self._turn.release()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Context with a read-only transaction, which waits for no lock.

        All its statements see the state of one moment, whatever is committed meanwhile.
        """
        if self._snapshot is not None:
            yield self._snapshot
            return
        with self._begun_reading() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Database]:
        """Context with this database as it is at one moment: all its readings see the same.

        Examples
        --------
        >>> import tempfile
        >>> database = Database(f"sqlite:///{tempfile.mkdtemp()}/state.db")
        >>> with database.snapshot() as at_once:
        ...     with at_once.reading() as one, at_once.reading() as other:
        ...         one is other
        True
        >>> database.close()
        """
        with self._begun_reading() as connection:
            at_once = copy.copy(self)
            at_once._snapshot = connection
            yield at_once

    @contextmanager
    def _begun_reading(self) -> Iterator[Connection]:
        with self._in_our_words(), self.engine.connect() as connection:
            reader = connection.execution_options(**{READS: True})
            if not self.is_sqlite:
                reader = reader.execution_options(
                    postgresql_readonly=True, isolation_level="REPEATABLE READ"
                )
            with reader.begin():
                yield reader

    def now(self, connection: Connection) -> datetime:
        """Time of the database's clock, which all workers share."""
        found = connection.exec_driver_sql(self._clock).scalar_one()
        if isinstance(found, str):
            return datetime.fromisoformat(found).replace(tzinfo=UTC)
        moment: datetime = found.astimezone(UTC)
        return moment

    def alone(self, connection: Connection, what: str) -> None:
        """Lock a name: other transactions wait at the same call until this one ends."""
        if not self.is_sqlite:
            connection.exec_driver_sql(
                "SELECT pg_advisory_xact_lock(%s, %s)",
                (_ADVISORY_SPACE, crc32(what.encode()) - 2**31),
            )

    def wait_alone(self, connection: Connection, what: str) -> None:
        """Like `alone`, for migrations: lock and statement timeouts are minutes."""
        if not self.is_sqlite:
            for setting in ("lock_timeout", "statement_timeout"):
                connection.exec_driver_sql(f"SET LOCAL {setting} = '{_MIGRATION_SECONDS}s'")
        self.alone(connection, what)

    def insert_if_absent(self, table: Table) -> Insert:
        """An INSERT that skips rows whose keys exist."""
        statement: Insert = self._insert(table).on_conflict_do_nothing()
        return statement

    def put(self, connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
        """Insert rows, in place of those with the same keys."""
        if not rows:
            return
        keys = [column.name for column in table.primary_key]
        upsert = self._insert(table)
        others = {
            column.name: upsert.excluded[column.name]
            for column in table.columns
            if column.name not in keys
        }
        connection.execute(upsert.on_conflict_do_update(index_elements=keys, set_=others), rows)

    def _insert(self, table: Table) -> Any:
        # Each of SQLAlchemy's dialects takes a while to load.
        if self.is_sqlite:
            from sqlalchemy.dialects import sqlite

            return sqlite.insert(table)
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table)

    @contextmanager
    def _in_our_words(self) -> Iterator[None]:
        try:
            yield
        except (IntegrityError, ProgrammingError) as error:
            state = getattr(error.orig, "sqlstate", None)
            if state == _NO_RIGHTS:
                raise StateError(self._without_rights(error)) from None
            if state == _NO_SUCH_TABLE:
                raise self._state_error(error) from None
            raise  # a fault of ours, which needs its traceback
        except DBAPIError as error:
            raise self._state_error(error) from None
        except PoolTimeoutError:
            msg = f"the state database {self.name} cannot be used: too many connections are in use"
            raise StateUnavailableError(msg) from None

    def _without_rights(self, error: DBAPIError) -> str:
        what = without_passwords(str(error.orig).strip().splitlines()[0])
        return (
            f"the role {self.engine.url.username!r} has too few rights in the state database "
            f"{self.name}: {what}. Whoever works needs USAGE and CREATE on its schema and SELECT, "
            "INSERT, UPDATE and DELETE on its tables; whoever only reads needs USAGE and SELECT"
        )

    def _state_error(self, error: DBAPIError) -> StateError:
        lines = str(error.orig).strip().splitlines() or [type(error.orig).__name__]
        why = without_passwords(lines[0])
        if "locked" in why or "lock timeout" in why:
            what = "is held by another process"
        elif isinstance(error, DatabaseError) and error.connection_invalidated:
            what = "closed the connection"
        else:
            what = "cannot be used"
        # A file that is not a database is a plain DatabaseError; trying again does not help.
        now = isinstance(error, OperationalError | InterfaceError | ProgrammingError)
        kind = StateUnavailableError if now else StateError
        return kind(f"the state database {self.name} {what}: {why}")


def _checked(address: str) -> URL:
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        url = None
    if url is None or url.get_backend_name() not in _DRIVERS:
        kind, has_kind, _ = address.partition("://")
        msg = (
            "state must be sqlite:///FILE or postgresql://USER@HOST/NAME"
            f"{f', got {kind}://...' if has_kind else ''}"
        )
        raise InputError(msg)
    if url.get_backend_name() == "sqlite":
        _check_file(url)
    return url


def _check_file(url: URL) -> None:
    if url.database in (None, "", ":memory:") or "memory" in url.query.get("mode", ""):
        msg = (
            "state must be a file that several processes can open, so sqlite:// needs a file: "
            "write sqlite:///pumonitor.db"
        )
        raise InputError(msg)
    folder = _file_of(url).parent
    if not folder.is_dir():
        msg = f"the folder of the state database does not exist: {folder}"
        raise InputError(msg)


def _file_of(url: URL) -> Path:
    """The file of a database of SQLite."""
    return Path(str(url.database).removeprefix("file:"))
