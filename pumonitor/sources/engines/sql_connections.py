"""Connections through SQLAlchemy, and what no message may repeat of them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pumonitor.errors import InputError

if TYPE_CHECKING:
    from sqlalchemy import Engine
    from sqlalchemy.engine import ExceptionContext

    from pumonitor.sources.engines.sql_backend import SqlBackend


def connections_to(url: str, backend: SqlBackend, *, timeout: float) -> Engine:
    """Connections to a database, each opened when it is needed and closed for good afterwards."""
    import sqlalchemy
    import sqlalchemy.event
    import sqlalchemy.exc
    from sqlalchemy.pool import NullPool

    try:
        read = sqlalchemy.make_url(url)
    except sqlalchemy.exc.ArgumentError:
        msg = (
            "the url of a database is not one: write it like "
            "postgresql+psycopg://user:password@host/database or sqlite:///file.db"
        )
        raise InputError(msg) from None
    if backend.driver and "+" not in read.drivername:
        read = read.set(drivername=f"{read.drivername}+{backend.driver}")
    read, options = backend.connect_to(read, timeout=timeout)
    try:
        engine = sqlalchemy.create_engine(
            read, poolclass=NullPool, hide_parameters=True, connect_args=options
        )
    except ModuleNotFoundError as error:
        msg = f"the url of a database needs the driver {error.name}: install it with pip"
        raise InputError(msg) from None
    sqlalchemy.event.listen(engine, "handle_error", _close_lost_cursor)
    return engine


def _close_lost_cursor(context: ExceptionContext) -> None:
    """Close a cursor on the server whose connection is lost, which SQLAlchemy leaves open."""
    cursor: Any = getattr(context.execution_context, "cursor", None)
    if cursor is not None and context.is_disconnect:
        # The first time it may find out that the server is gone.
        for _ in range(2):
            with suppress(Exception):
                cursor.close()


def secrets_of(url: str) -> tuple[str, ...]:
    """What no message may repeat of an address."""
    import sqlalchemy
    import sqlalchemy.exc

    try:
        read = sqlalchemy.make_url(url)
    except sqlalchemy.exc.ArgumentError:
        return (url,)
    given = [read.password, read.username, *(str(value) for value in read.query.values())]
    return tuple(str(one) for one in given if one)
