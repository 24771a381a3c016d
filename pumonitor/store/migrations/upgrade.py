"""Bring a state database up to date; one process does it, others that start meanwhile wait."""

from __future__ import annotations

from pathlib import Path

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from pumonitor.store.database import Database
from pumonitor.store.errors import StateError

__all__ = ["upgrade"]

_FOLDER = Path(__file__).parent
_LOCK = "pumonitor migrations"


def upgrade(database: Database) -> None:
    """Take the steps that the database lacks, all of them or none.

    Raises
    ------
    StateError
        If a newer version of pumonitor has been there before.
    """
    scripts = ScriptDirectory(str(_FOLDER))
    with database.reading() as connection:
        if _revision(connection) == scripts.get_current_head():
            return
    with database.writing() as connection:
        database.wait_alone(connection, _LOCK)
        _take_steps(connection, scripts, database)


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _take_steps(connection: Connection, scripts: ScriptDirectory, database: Database) -> None:
    context = MigrationContext.configure(connection)
    current = context.get_current_revision()
    known = [script.revision for script in scripts.walk_revisions()]
    if current is not None and current not in known:
        msg = (
            f"the state database {database.name} was written by a newer version of pumonitor (its "
            f"tables are at step {current}, this version knows steps up to {known[0]}): install "
            "that version, or name another database"
        )
        raise StateError(msg)
    with Operations.context(context):
        for script in reversed(list(scripts.iterate_revisions("head", current or "base"))):
            script.module.upgrade()
            context.stamp(scripts, script.revision)
