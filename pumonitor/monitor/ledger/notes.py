"""Notes of people in the state database."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from pumonitor.monitor.ledger.audit import record
from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.queries import equal, one_of
from pumonitor.monitor.ledger.database.schema import notes
from pumonitor.monitor.ledger.records.notes import Note, NotedAlert
from pumonitor.monitor.ledger.records.rows import record_of


class StoredNotes:
    """Notes, which are never changed: one that was withdrawn stays. Every method is a transaction.

    Parameters
    ----------
    database : Database
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, note: Note) -> Note:
        """Store a note of its author; returns it with its id."""
        values = {name: getattr(note, name) for name in ("monitor", "at", "ends", "text", "author")}
        if note.alert is not None:
            values |= note.alert.model_dump()
        with self._database.writing() as connection:
            at = self._database.now(connection)
            query = insert(notes).values(**values, created_at=at).returning(notes.c.id)
            number = int(connection.execute(query).scalar_one())
            self._record(connection, note.author, "note", values | {"id": number})
        return note.model_copy(update={"id": number, "created_at": at})

    def withdraw(self, number: int, *, by: str) -> bool:
        """Withdraw a note; returns False if there is none, or it was withdrawn before."""
        with self._database.writing() as connection:
            done = connection.execute(
                update(notes)
                .where(notes.c.id == number, notes.c.withdrawn_at.is_(None))
                .values(withdrawn_at=self._database.now(connection))
            )
            if done.rowcount == 1:
                self._record(connection, by, "withdraw note", {"id": number})
            return done.rowcount == 1

    def numbered(self, number: int) -> Note | None:
        """A note by its id, withdrawn or not; None if there is none."""
        with self._database.reading() as connection:
            row = connection.execute(select(notes).where(notes.c.id == number)).first()
        return None if row is None else _note(row)

    def all(
        self,
        monitor: str | None = None,
        *,
        monitors: Collection[str] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        withdrawn: bool = False,
        limit: int | None = None,
    ) -> tuple[Note, ...]:
        """Notes in the order of the times they are about.

        Parameters
        ----------
        monitor : str, optional
            By default all monitors.
        monitors : collection of str, optional
            Only those of these monitors.
        since, until : datetime, optional
            Only notes about times in [since, until).
        withdrawn : bool
            Whether to include withdrawn ones.
        limit : int, optional
            Only the newest ones.
        """
        own = notes.c
        query = (
            select(notes)
            .where(
                *equal(own.monitor, monitor),
                *one_of(own.monitor, monitors),
                *([] if since is None else [own.at >= since]),
                *([] if until is None else [own.at < until]),
                *([] if withdrawn else [own.withdrawn_at.is_(None)]),
            )
            .order_by(own.at.desc(), own.id.desc())
            .limit(limit)
        )
        with self._database.reading() as connection:
            return tuple(_note(row) for row in reversed(connection.execute(query).all()))

    def newest(
        self, monitors: Collection[str], *, before: int | None = None, limit: int
    ) -> tuple[Note, ...]:
        """Notes of these monitors that were not withdrawn, the last written first.

        Parameters
        ----------
        monitors : collection of str
        before : int, optional
            Only those with a smaller id.
        limit : int
        """
        own = notes.c
        query = (
            select(notes)
            .where(
                own.monitor.in_(monitors),
                own.withdrawn_at.is_(None),
                *([] if before is None else [own.id < before]),
            )
            .order_by(own.id.desc())
            .limit(limit)
        )
        with self._database.reading() as connection:
            return tuple(_note(row) for row in connection.execute(query))

    def _record(
        self, connection: Connection, by: str, action: str, detail: Mapping[str, Any]
    ) -> None:
        at = self._database.now(connection)
        record(connection, at=at, actor=by, action=action, detail=detail)


def _note(row: Row[Any]) -> Note:
    return record_of(Note, row, alert=None if row.rule_key is None else record_of(NotedAlert, row))
