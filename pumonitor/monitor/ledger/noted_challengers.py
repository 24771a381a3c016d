"""Which challengers there are and what the gate said of them, for pages that ask no registry."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, delete, exists, func, insert, select, update

from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.queries import one_of
from pumonitor.monitor.ledger.database.schema import noted_challengers, promotions
from pumonitor.monitor.ledger.records.challengers import NotedChallenger
from pumonitor.monitor.ledger.records.rows import record_of

_LONGEST: Final = 1000
_FOUND: Final = ("link", "scored_by", "trained_until", "is_deployed", "problem")

_own = noted_challengers.c


class StoredNotedChallengers:
    """Challengers as rounds found them. Every method is one transaction.

    Parameters
    ----------
    database : Database
    mask : callable
        Hides secrets in problems before they are stored.
    """

    def __init__(self, database: Database, *, mask: Callable[[str], str]) -> None:
        self._database = database
        self._mask = mask

    def note(self, monitor: str, found: Sequence[NotedChallenger]) -> None:
        """Store the challengers of a monitor; others of it are deleted.

        Of one that could not be found, what the same link led to before stays, so that a registry
        that is away for an hour leaves the pages as they are. Nothing is written where nothing has
        changed, as readers see each transaction that writes, unless there was a promotion since:
        which of the two is newer says which version is deployed.
        """
        with self._database.reading() as connection:
            known = {one.name: one for one in _read(connection, monitor)}
            promoted = _promoted(connection, monitor)
        if known.keys() == {one.name for one in found} and all(
            self._stays(one, known.get(one.name), promoted) for one in found
        ):
            return
        with self._database.writing() as connection:
            self._database.alone(connection, f"challengers of {monitor}")
            connection.execute(
                delete(noted_challengers).where(
                    _own.monitor == monitor, _own.challenger.not_in([one.name for one in found])
                )
            )
            before = {one.name: one for one in _read(connection, monitor)}
            at = self._database.now(connection)
            for one in found:
                if self._stays(one, before.get(one.name), promoted):
                    continue
                kept = self._kept(one, before.get(one.name))
                values = {name: getattr(kept, name) for name in _FOUND} | {"noted_at": at}
                if one.name in before:
                    if kept.scored_by != before[one.name].scored_by:
                        # The verdict was on another model.
                        values |= {"verdict": None, "evidence": None}
                    connection.execute(
                        update(noted_challengers).where(*_of(monitor, one.name)).values(**values)
                    )
                else:
                    connection.execute(
                        insert(noted_challengers).values(
                            monitor=monitor, challenger=one.name, **values
                        )
                    )

    def _kept(self, one: NotedChallenger, before: NotedChallenger | None) -> NotedChallenger:
        """What is stored of it, where this was stored before."""
        values = {name: getattr(one, name) for name in _FOUND}
        values["problem"] = None if one.problem is None else self._mask(one.problem)[:_LONGEST]
        was_found = before is not None and before.link == one.link
        if before is not None and was_found and one.scored_by is None:
            values |= {"scored_by": before.scored_by, "trained_until": before.trained_until}
        return NotedChallenger(
            name=one.name, noted_at=None if before is None else before.noted_at, **values
        )

    def _stays(
        self, one: NotedChallenger, before: NotedChallenger | None, promoted: datetime | None
    ) -> bool:
        """Whether it is noted already, after the last promotion."""
        if before is None or before != self._kept(one, before):
            return False
        return promoted is None or (before.noted_at is not None and before.noted_at >= promoted)

    def all(self, monitor: str) -> tuple[NotedChallenger, ...]:
        """Challengers of a monitor, by name."""
        with self._database.reading() as connection:
            return _read(connection, monitor)

    def judged_on(self, monitor: str) -> frozenset[tuple[str, str | None, str | None]]:
        """Of each challenger its name, and hashes of what the gate was asked last, and on what."""
        query = select(_own.challenger, _own.gate, _own.evidence).where(_own.monitor == monitor)
        with self._database.reading() as connection:
            return frozenset((row[0], row[1], row[2]) for row in connection.execute(query))

    def note_verdicts(
        self, monitor: str, verdicts: Mapping[str, str], *, gate: str, evidence: str
    ) -> None:
        """Store what the gate says of challengers that are noted; of others it says nothing.

        Parameters
        ----------
        monitor : str
        verdicts : mapping of str to str
            By challenger.
        gate, evidence : str
            Hashes of what was asked, and of what was judged.
        """
        with self._database.writing() as connection:
            self._database.alone(connection, f"challengers of {monitor}")
            at = self._database.now(connection)
            for one in _read(connection, monitor):
                connection.execute(
                    update(noted_challengers)
                    .where(*_of(monitor, one.name))
                    .values(
                        verdict=verdicts.get(one.name), gate=gate, evidence=evidence, judged_at=at
                    )
                )

    def better(self, monitors: Collection[str]) -> dict[str, dict[str, str]]:
        """Monitor to its challengers that were surely better, each with the hash of the gate.

        Not those that were judged beside a version that is deployed no more.
        """
        other_since = exists().where(
            promotions.c.monitor == _own.monitor,
            promotions.c.state == "done",
            promotions.c.ended_at >= _own.judged_at,
        )
        query = (
            select(_own.monitor, _own.challenger, _own.gate)
            .where(*one_of(_own.monitor, monitors), _own.verdict == "better", ~other_since)
            .order_by(_own.monitor, _own.challenger)
        )
        found: dict[str, dict[str, str]] = {}
        with self._database.reading() as connection:
            for monitor, challenger, gate in connection.execute(query):
                found.setdefault(monitor, {})[challenger] = gate
        return found


def _of(monitor: str, challenger: str) -> tuple[ColumnElement[bool], ...]:
    return (_own.monitor == monitor, _own.challenger == challenger)


def _promoted(connection: Connection, monitor: str) -> datetime | None:
    """When the deployed version last changed by a promotion."""
    own = promotions.c
    query = select(func.max(own.ended_at)).where(own.monitor == monitor, own.state == "done")
    found: datetime | None = connection.scalar(query)
    return found


def _read(connection: Connection, monitor: str) -> tuple[NotedChallenger, ...]:
    names: list[Any] = [_own[name] for name in (*_FOUND, "noted_at")]
    query = (
        select(_own.challenger.label("name"), *names)
        .where(_own.monitor == monitor)
        .order_by(_own.challenger)
    )
    return tuple(record_of(NotedChallenger, row) for row in connection.execute(query))
