"""Connections to PostgreSQL and SQLite: read only, never making a file, ended in time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pumonitor.errors import InputError, did_you_mean
from pumonitor.sources.column_types.dialects import Dialect, PostgreSQL, SQLite
from pumonitor.sources.reach.locations import nothing_found

if TYPE_CHECKING:
    from sqlalchemy import Engine

__all__ = ["DIALECTS", "LONGEST_WAIT", "engine_of", "secrets_of"]

DIALECTS: Final[dict[str, type[Dialect]]] = {"postgresql": PostgreSQL, "sqlite": SQLite}
LONGEST_WAIT: Final = 30.0
"""Seconds for which a SQLite database may be locked by who writes it."""


def engine_of(url: str, timeout: float) -> Engine:
    """A connection to a database of a kind that is read, which ends in time."""
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
    dialect = read.get_backend_name()
    if dialect not in DIALECTS:
        hint = did_you_mean(dialect, DIALECTS)
        msg = f"databases of the kind {dialect} are not read: {', '.join(DIALECTS)} are{hint}"
        raise InputError(msg)
    options: dict[str, Any] = {}
    if dialect == "postgresql" and read.get_driver_name() == "psycopg":
        limit = round(timeout * 1000)
        options = {
            "options": f"-c statement_timeout={limit} -c lock_timeout={limit} -c TimeZone=UTC"
        }
    elif dialect == "sqlite":
        options = {"timeout": min(timeout, LONGEST_WAIT)}
        read = only_existing(read)
    try:
        return sqlalchemy.create_engine(
            read, poolclass=NullPool, hide_parameters=True, connect_args=options
        )
    except ModuleNotFoundError as error:
        msg = f"the url of a database needs the driver {error.name}: install it with pip"
        raise InputError(msg) from None


def only_existing(url: Any) -> Any:
    """A SQLite file that is there: connecting would create it."""
    from pathlib import Path
    from urllib.parse import quote

    file = url.database
    if not file or file == ":memory:" or file.startswith("file:"):
        return url
    if not Path(file).is_file():
        raise InputError(nothing_found(file, what="SQLite database"))
    return url.set(database=f"file:{quote(str(Path(file).absolute()))}").update_query_dict(
        {"mode": "ro", "uri": "true"}
    )


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
