"""State databases as earlier versions left them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from unittest import mock

from alembic.script import ScriptDirectory
from sqlalchemy import inspect

from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.migrations.upgrade import standing, upgrade


def take_steps_up_to(database: Database, step: str) -> None:
    """Take the steps that a version took whose newest was this one."""
    every = ScriptDirectory.iterate_revisions
    with mock.patch.object(
        ScriptDirectory,
        "iterate_revisions",
        lambda self, _, base: every(self, step, base),
    ):
        upgrade(database)


def step_before_the_newest(database: Database) -> str:
    return f"{int(standing(database).newest) - 1:04}"


def take_newest_step_back(database: Database) -> str:
    """Drop what the newest step made, as if it had never been taken; the step before it."""
    step = step_before_the_newest(database)
    take_steps_back_to(database, step)
    return step


def take_steps_back_to(database: Database, step: str) -> None:
    """Drop what all steps after this one made."""
    with tempfile.TemporaryDirectory() as folder:
        empty = Database(f"sqlite:///{Path(folder) / 'state.db'}")
        take_steps_up_to(empty, step)
        before, indexes_before = _columns(empty), _indexes(empty)
        empty.close()
    now, indexes = _columns(database), _indexes(database)
    with database.writing() as connection:
        for table in sorted(now):
            if table not in before:
                cascade = "" if database.is_sqlite else " CASCADE"
                connection.exec_driver_sql(f"DROP TABLE {table}{cascade}")
                continue
            for index in sorted(indexes[table] - indexes_before.get(table, set())):
                connection.exec_driver_sql(f"DROP INDEX {index}")
            for column in sorted(now[table] - before[table]):
                connection.exec_driver_sql(f"ALTER TABLE {table} DROP COLUMN {column}")
        connection.exec_driver_sql(f"UPDATE alembic_version SET version_num = '{step}'")  # noqa: S608


def _columns(database: Database) -> dict[str, set[str]]:
    with database.reading() as connection:
        inspector = inspect(connection)
        return {
            table: {column["name"] for column in inspector.get_columns(table)}
            for table in inspector.get_table_names()
        }


def _indexes(database: Database) -> dict[str, set[str]]:
    with database.reading() as connection:
        inspector = inspect(connection)
        return {
            table: {
                str(index["name"])
                for index in inspector.get_indexes(table)
                if "duplicates_constraint" not in index
            }
            for table in inspector.get_table_names()
        }
