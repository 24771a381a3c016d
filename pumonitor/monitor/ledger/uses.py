"""Who uses a state database for which monitor: configurations that take turns, files that left one.

All functions take the connection of an open transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, select

from pumonitor.errors import InputError
from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.schema import audit, keys

_PLACE: Final = "place of monitor "
_TURNS: Final = 4
"""Configurations in a row, each the one before the last: somebody may go back to an earlier one
once, and forth again."""


class TakenTurnsError(InputError):
    """Two configurations of a monitor take turns on one state database."""


def turns(connection: Connection, monitor: str) -> tuple[str, datetime] | None:
    """The configuration that took turns with the present one, and when it last had its turn.

    None where no two of them take turns, or since somebody said which is to be used.
    """
    entries = connection.execute(
        select(audit.c.at, audit.c.action, audit.c.detail)
        .where(
            audit.c.action.in_(["register", "take over"]),
            audit.c.detail["monitor"].as_string() == monitor,
        )
        .order_by(audit.c.id.desc())
        .limit(_TURNS)
    ).all()
    used = [entry.detail.get("configuration") for entry in entries]
    if len(used) < _TURNS or any(entry.action != "register" for entry in entries):
        return None
    present, other = used[0], used[1]
    if present == other or used != [present, other] * (_TURNS // 2):
        return None
    return str(other), entries[1].at


def refuse_turns(connection: Connection, monitor: str, configuration: str) -> None:
    """Refuse the configuration whose turn would be next.

    Raises
    ------
    TakenTurnsError
        If it took turns with the present one.
    """
    found = turns(connection, monitor)
    if found is not None and found[0] == configuration:
        msg = (
            f"{monitor}: two configurations take turns on this state database, and this one (hash "
            f"{configuration[:8]}) is left alone: somebody else works with the other. Stop whoever "
            "uses the one that is not wanted, or give one of them another name or another state "
            "database; pumonitor run --take-over puts this one to use"
        )
        raise TakenTurnsError(msg)


def note_place(connection: Connection, database: Database, monitor: str, place: str) -> None:
    """Remember which machine and file a monitor is worked on from."""
    database.put(connection, keys, [{"name": _PLACE + monitor, "value": place}])


def places(connection: Connection, monitors: Sequence[str]) -> dict[str, str]:
    """Monitor to the machine and file that it was last worked on from, as far as they are known."""
    names = [_PLACE + name for name in monitors]
    rows = connection.execute(select(keys.c.name, keys.c.value).where(keys.c.name.in_(names)))
    return {row.name.removeprefix(_PLACE): row.value for row in rows}


def left_note(name: str, *, place: str, own: str) -> tuple[str, str] | None:
    """What is said of a monitor with open incidents that is not configured, and what to do.

    None of others' ones.

    Parameters
    ----------
    name : str
    place : str
        Machine and file that it was worked on from, "" if that is not known.
    own : str
        Machine and file of this configuration.
    """
    file, own_file = place.partition(":")[2], own.partition(":")[2]
    if place == own:
        return (
            f"{name}: it is not in {file} any more",
            "pumonitor run and serve resolve its open incidents, and say why to whom they had "
            "notified",
        )
    if place and file != own_file:
        return None
    return (
        f"{name}: it has open incidents and is not in this configuration",
        f"if nobody else watches it, pumonitor finish {name} resolves them",
    )
