"""Connections through SQLAlchemy, and what no message may repeat of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pumonitor.errors import InputError

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from pumonitor.sources.engines.sql_backend import SqlBackend

__all__ = ["connections_to", "secrets_of"]


def connections_to(url: str, backend: SqlBackend, *, timeout: float) -> Engine:
    """Connections to a database, each opened when it is needed and closed for good afterwards."""
    import sqlalchemy
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
        return sqlalchemy.create_engine(
            read, poolclass=NullPool, hide_parameters=True, connect_args=options
        )
    except ModuleNotFoundError as error:
        msg = f"the url of a database needs the driver {error.name}: install it with pip"
        raise InputError(msg) from None


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
