"""Engines of the state database: how its connections are prepared, and transactions begin."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event

from pumonitor.errors import InputError
from pumonitor.monitor.ledger.database.errors import StateUnavailableError
from pumonitor.monitor.ledger.database.plain_json import as_json

READS = "pumonitor_reads"
"""Option of a connection whose transactions read."""

WAITS = "pumonitor_waits"
"""Option of a connection whose transactions wait for others that write."""

_CONNECT_SECONDS = 10
_WAL_POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Timeouts of the database.

    Attributes
    ----------
    lock : timedelta
        Longest wait for a lock.
    statement : timedelta
        Longest duration of a statement (PostgreSQL).
    idle : timedelta
        Longest idle time within a transaction, after which the server ends it (PostgreSQL).
    """

    lock: timedelta = timedelta(seconds=15)
    statement: timedelta = timedelta(seconds=60)
    idle: timedelta = timedelta(seconds=30)


def sqlite_engine(url: URL, timeouts: Timeouts) -> Engine:
    """Engine of SQLite: its transactions begin explicitly, and write one at a time."""
    seconds = timeouts.lock.total_seconds()
    file = Path(str(url.database))
    opened: set[tuple[int, int]] = set()
    engine = create_engine(
        url, connect_args={"timeout": seconds}, json_serializer=as_json, hide_parameters=True
    )

    @event.listens_for(engine, "do_connect")
    def make_private(_dialect: Any, _record: Any, _args: Any, _options: Any) -> None:
        if opened:
            _refuse_other_file(file, opened)
        elif not str(file).startswith("file:"):
            # It holds keys and hashes of tokens. SQLite gives its other files the same rights.
            with suppress(OSError):
                os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        with suppress(OSError):
            found = file.stat()
            opened.add((found.st_dev, found.st_ino))
        # Disables the driver's own BEGIN, which comes late; transactions begin explicitly below.
        connection.isolation_level = None
        _switch_to_wal(connection, seconds)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        if opened:
            _refuse_other_file(file, opened)
        options = connection.get_execution_options()
        if options.get(READS, False):
            connection.exec_driver_sql("BEGIN")
            return
        waits = options.get(WAITS, True)
        if not waits:
            connection.exec_driver_sql("PRAGMA busy_timeout = 0")
        try:
            # IMMEDIATE: a transaction that reads first could not write after another's commit.
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        finally:
            if not waits:
                connection.exec_driver_sql(f"PRAGMA busy_timeout = {round(seconds * 1000)}")

    return engine


def _refuse_other_file(file: Path, opened: set[tuple[int, int]]) -> None:
    """Refuse to work on a file that has no name any more: what is written there is lost."""
    try:
        found = file.stat()
    except OSError as error:
        why = f"is lost ({error.strerror})"
    else:
        if (found.st_dev, found.st_ino) in opened:
            return
        why = "was replaced by another file"
    msg = (
        f"the state database sqlite:///{file} {why} while it was open: stop all that use it, put "
        "it back, and start them again"
    )
    raise StateUnavailableError(msg)


def _switch_to_wal(connection: Any, seconds: float) -> None:
    """Switch SQLite to WAL mode; retries itself, as SQLite does not wait for locks here."""
    import sqlite3

    until = time.monotonic() + seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(_WAL_POLL_SECONDS)
        else:
            return


def postgresql_engine(url: URL, timeouts: Timeouts) -> Engine:
    """Engine of PostgreSQL, with its timeouts."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        msg = "a state database in PostgreSQL needs psycopg: pip install 'pumonitor[postgres]'"
        raise InputError(msg) from None
    settings = {
        "lock_timeout": timeouts.lock,
        "statement_timeout": timeouts.statement,
        "idle_in_transaction_session_timeout": timeouts.idle,
    }
    engine = create_engine(
        url,
        connect_args={
            "connect_timeout": _CONNECT_SECONDS,
            "application_name": "pumonitor",
            # Connection poolers lose prepared statements.
            "prepare_threshold": None,
        },
        json_serializer=as_json,
        pool_pre_ping=True,
        hide_parameters=True,
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        connection.autocommit = True
        for name, value in settings.items():
            connection.execute(f"SET {name} = {round(value.total_seconds() * 1000)}")
        connection.execute("SET TimeZone = 'UTC'")
        connection.autocommit = False

    return engine
