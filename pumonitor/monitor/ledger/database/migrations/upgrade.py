"""Bring a state database up to date; one process does it, others that start meanwhile wait."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, inspect, text

from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.errors import StateError

if TYPE_CHECKING:
    from alembic.script import ScriptDirectory

_FOLDER = Path(__file__).parent
_LOCK = "pumonitor migrations"
_REVISION: Final = re.compile(r'^(down_)?revision\b[^=]*= "(.+)"$', re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far the tables of a state database are.

    Attributes
    ----------
    at : str or None
        Newest step that was taken; None for a database without tables.
    newest : str
        Newest step that this version knows.
    """

    at: str | None
    newest: str

    @property
    def is_newest(self) -> bool:
        """Whether no step is missing."""
        return self.at == self.newest


def standing(database: Database) -> Standing:
    """How far the tables are; nothing is changed, and no file is made.

    Raises
    ------
    StateError
        If a newer version of pumonitor has been there before.
    """
    at = None
    if database.is_there():
        with database.reading() as connection:
            at = _revision(connection)
    steps = _steps()
    _refuse_newer(at, steps, database)
    return Standing(at=at, newest=steps[-1])


def check_tables(database: Database) -> None:
    """Make sure that this version can use the tables as they are; an empty database gets them.

    Raises
    ------
    StateError
        If steps are missing, or a newer version of pumonitor has been there before.
    """
    found = standing(database)
    if found.at is None:
        upgrade(database)
    elif not found.is_newest:
        msg = (
            f"the state database {database.name} is that of an older version of pumonitor (its "
            f"tables are at step {found.at}, this version reads step {found.newest}), whose "
            "workers would stop if it were changed: read it with that version; or stop them, back "
            "it up and run pumonitor migrate (pumonitor run and serve of this version do so too)"
        )
        raise StateError(msg)
    database.counts_writes = True


def upgrade(database: Database) -> Standing:
    """Take the steps that the database lacks, all of them or none.

    Returns
    -------
    Standing
        How far the tables were before.

    Raises
    ------
    StateError
        If a newer version of pumonitor has been there before.
    """
    newest = _steps()[-1]
    with database.reading() as connection:
        at = _revision(connection)
    if at != newest:
        # Loaded by those who take steps: most of the time there are none.
        from alembic.script import ScriptDirectory

        scripts = ScriptDirectory(str(_FOLDER))
        with database.writing() as connection:
            database.wait_alone(connection, _LOCK)
            at = _take_steps(connection, scripts, database)
    database.counts_writes = True
    return Standing(at=at, newest=newest)


def _steps() -> list[str]:
    """All steps in their order, as the files say."""
    follows = {}
    for file in (_FOLDER / "versions").glob("*.py"):
        found = {
            bool(down): revision
            for down, revision in _REVISION.findall(file.read_text(encoding="utf-8"))
        }
        if found:
            follows[found.get(True)] = found[False]
    steps: list[str] = []
    while (after := steps[-1] if steps else None) in follows:
        steps.append(follows[after])
    return steps


def _revision(connection: Connection) -> str | None:
    """The step at which the tables are; None for an empty database."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return found


def _take_steps(connection: Connection, scripts: ScriptDirectory, database: Database) -> str | None:
    """Take them; the step at which the tables were."""
    from alembic.operations import Operations
    from alembic.runtime.migration import MigrationContext

    context = MigrationContext.configure(connection)
    current = context.get_current_revision()
    _refuse_newer(current, _steps(), database)
    with Operations.context(context):
        for script in reversed(list(scripts.iterate_revisions("head", current or "base"))):
            script.module.upgrade()
            context.stamp(scripts, script.revision)
    return current


def _refuse_newer(at: str | None, steps: list[str], database: Database) -> None:
    if at is not None and at not in steps:
        msg = (
            f"the state database {database.name} was written by a newer version of pumonitor (its "
            f"tables are at step {at}, this version knows steps up to {steps[-1]}): install "
            "that version, or name another database"
        )
        raise StateError(msg)
