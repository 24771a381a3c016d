"""Shared by all tables: column types of times and row ids, names of constraints."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import TIMESTAMP, BigInteger, Dialect, Integer, MetaData, String
from sqlalchemy.types import TypeDecorator


class Moment(TypeDecorator[datetime]):
    """An aware UTC time, to the microsecond.

    In SQLite it is ISO 8601 text of fixed length, which sorts correctly and which its date
    functions can read.
    """

    impl = TIMESTAMP(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        """Text in SQLite."""
        return dialect.type_descriptor(String(32) if dialect.name == "sqlite" else self.impl)

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """From Python to the database."""
        if value is None:
            return None
        if value.tzinfo is None:
            msg = f"times must have a zone, got {value}"
            raise ValueError(msg)
        utc = value.astimezone(UTC)
        return utc.isoformat(timespec="microseconds") if dialect.name == "sqlite" else utc

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """From the database to Python."""
        if value is None:
            return None
        if dialect.name == "sqlite":
            return _read(value)
        # Pages read thousands; only PostgreSQL may name its zone differently.
        found: datetime = value
        return found if found.tzinfo is UTC else found.astimezone(UTC)


@lru_cache(maxsize=16_384)
def _read(text: str) -> datetime:
    """A moment as SQLite has it. The results of a window all have the same ones."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo is UTC else found.astimezone(UTC)


# SQLite numbers rows by itself only where the type is INTEGER.
Number = BigInteger().with_variant(Integer, "sqlite")


metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
