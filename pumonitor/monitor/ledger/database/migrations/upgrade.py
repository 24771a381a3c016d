"""Bring a state database up to date; one process does it, others that start meanwhile wait."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, inspect, text

from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.errors import StateError

if TYPE_CHECKING:
    from alembic.script import ScriptDirectory

__all__ = ["upgrade"]

_FOLDER = Path(__file__).parent
_LOCK = "pumonitor migrations"
_REVISION: Final = re.compile(r'^(down_)?revision\b[^=]*= "(.+)"$', re.MULTILINE)


def upgrade(database: Database) -> None:
    """Take the steps that the database lacks, all of them or none.

    Raises
    ------
    StateError
        If a newer version of pumonitor has been there before.
    """
    with database.reading() as connection:
        if _revision(connection) in _heads():
            return
    # Loaded by those who take steps: most of the time there are none.
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory(str(_FOLDER))
    with database.writing() as connection:
        database.wait_alone(connection, _LOCK)
        _take_steps(connection, scripts, database)


def _heads() -> set[str]:
    """Steps that no other follows, as the files say; one."""
    found = [
        (bool(down), revision)
        for file in (_FOLDER / "versions").glob("*.py")
        for down, revision in _REVISION.findall(file.read_text(encoding="utf-8"))
    ]
    return {revision for down, revision in found if not down} - {
        revision for down, revision in found if down
    }


def _revision(connection: Connection) -> str | None:
    """The step at which the tables are; None for an empty database."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return found


def _take_steps(connection: Connection, scripts: ScriptDirectory, database: Database) -> None:
    from alembic.operations import Operations
    from alembic.runtime.migration import MigrationContext

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
