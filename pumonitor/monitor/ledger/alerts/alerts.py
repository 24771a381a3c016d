"""Alerts in the state database: states, transitions, progress of the fold, and silences."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, and_, delete, insert, not_, select, tuple_, update

from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.plain_json import plain_json
from pumonitor.monitor.ledger.database.queries import equal, one_of
from pumonitor.monitor.ledger.database.schema import (
    alert_progress,
    alert_states,
    alert_transitions,
    outbox,
    silences,
)
from pumonitor.monitor.ledger.records.alerts import Progress, Silence, StoredTransition, Withheld
from pumonitor.monitor.ledger.records.rows import record_of
from pumonitor.monitor.rules.alerts.alert import Alert, Transition, TransitionKind

_MOST: Final = 10_000
"""Most rows that a read for people answers with, unless it is told otherwise."""


class StoredAlerts:
    """Queries on alerts for the command line, pages and exporter.

    Every method is one transaction.

    Parameters
    ----------
    database : Database
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def current(
        self,
        monitor: str | None = None,
        *,
        monitors: Collection[str] | None = None,
        firing: bool | None = None,
        told: bool = False,
        closed: bool = False,
        after: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> tuple[Alert, ...]:
        """Alerts in their present state, sorted by monitor, rule, key, model version and segment.

        Parameters
        ----------
        monitor : str, optional
            By default all monitors.
        monitors : collection of str, optional
            Only those of these monitors.
        firing : bool, optional
            Only alerts with an open incident (True), or only those without (False).
        told : bool
            Only alerts of which a notification was sent.
        closed : bool
            Whether to include alerts of rules that were edited or deleted.
        after : sequence of str, optional
            Only those behind the alert with these five, by which they are sorted.
        limit : int, optional
            By default all: what delivers alerts must miss none.
        """
        own = alert_states.c
        order = (own.monitor, own.rule, own.rule_key, own.model_version, own.segment)
        query = (
            select(alert_states)
            .where(
                *equal(own.monitor, monitor),
                *one_of(own.monitor, monitors),
                *equal(own.is_firing, firing),
                *([own.told_incident > 0] if told else []),
                *([] if after is None else [tuple_(*order) > tuple_(*after)]),
            )
            .order_by(*order)
            .limit(limit)
        )
        if not closed:
            query = query.where(alert_states.c.closed_at.is_(None))
        with self._database.reading() as connection:
            return tuple(stored_alert(row) for row in connection.execute(query))

    def unnotified(self, monitor: str | None = None, *, limit: int = _MOST) -> tuple[Alert, ...]:
        """Firing alerts without a notification, as they began in a backfill or long ago.

        Parameters
        ----------
        monitor : str, optional
            All without it.
        limit : int
            By default the first 10,000, by monitor and rule.
        """
        state, began = alert_states.c, alert_transitions.c
        same = ("monitor", "rule_key", "model_version", "segment", "incident")
        query = (
            select(alert_states)
            .join(alert_transitions, and_(*(state[name] == began[name] for name in same)))
            .where(
                *equal(state.monitor, monitor),
                state.is_firing,
                state.closed_at.is_(None),
                not_(and_(state.told_firing, state.told_incident == state.incident)),
                began.kind == "fired",
                began.withheld == "history",
            )
            .order_by(state.monitor, state.rule, state.model_version, state.segment)
            .limit(limit)
        )
        with self._database.reading() as connection:
            return tuple(stored_alert(row) for row in connection.execute(query))

    def history(
        self,
        monitor: str | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        rule: str | None = None,
        monitors: Collection[str] | None = None,
        kind: TransitionKind | None = None,
        before: int | None = None,
        windows: tuple[datetime, datetime] | None = None,
        limit: int | None = None,
    ) -> tuple[StoredTransition, ...]:
        """Transitions, the oldest first; with `limit`, only the newest ones.

        Parameters
        ----------
        monitor : str, optional
        since, until : datetime, optional
            Only transitions with `as_of` in [since, until).
        rule : str, optional
            Name or key of the rule.
        monitors : collection of str, optional
            Only those of these monitors.
        kind : {"fired", "resolved", "reminder"}, optional
        before : int, optional
            Only those with a smaller id.
        windows : tuple of datetime, optional
            Only those of windows that start in this stretch of time.
        limit : int, optional
        """
        own = alert_transitions.c
        # The newest of many monitors are read from the end of all: by its index of monitors SQLite
        # would collect everything that has happened to them, and sort it.
        is_from_end = monitors is not None and len(monitors) > 1 and since is None
        of: Any = own.monitor.concat("") if is_from_end else own.monitor
        query: Select[Any] = (
            select(alert_transitions)
            .where(
                *equal(own.monitor, monitor),
                *([] if since is None else [own.as_of >= since]),
                *([] if until is None else [own.as_of < until]),
                *([] if rule is None else [(own.rule == rule) | (own.rule_key == rule)]),
                *one_of(of, monitors),
                *equal(own.kind, kind),
                *([] if before is None else [own.id < before]),
                *(
                    []
                    if windows is None
                    else [own.window_start >= windows[0], own.window_start < windows[1]]
                ),
            )
            .order_by(own.id.desc())
            .limit(limit)
        )
        with self._database.reading() as connection:
            return tuple(_transition(row) for row in reversed(connection.execute(query).all()))

    def firing_at(
        self, monitor: str, moment: datetime, *, limit: int | None = None
    ) -> tuple[StoredTransition, ...]:
        """How incidents began that were open when the windows from a moment on began."""
        own, end = alert_transitions.c, alert_transitions.alias()
        same = ("monitor", "rule_key", "model_version", "segment", "incident")
        ended = (
            select(end.c.id)
            .where(
                *(end.c[name] == own[name] for name in same),
                end.c.kind == "resolved",
                end.c.window_start < moment,
            )
            .exists()
        )
        query = (
            select(alert_transitions)
            .where(own.monitor == monitor, own.kind == "fired", own.window_start < moment, ~ended)
            .order_by(own.id.desc())
            .limit(limit)
        )
        with self._database.reading() as connection:
            return tuple(_transition(row) for row in reversed(connection.execute(query).all()))

    def beginnings(self, monitors: Collection[str], *, limit: int = _MOST) -> dict[str, Transition]:
        """How the open incident of each firing alert of these monitors began, by incident key.

        Parameters
        ----------
        monitors : collection of str
        limit : int
            By default the 10,000 that fired last.
        """
        with self._database.reading() as connection:
            return AlertTables(connection, self._database).beginnings(monitors, limit=limit)

    def progress(self, monitor: str) -> dict[str, Progress]:
        """How far the rules of a monitor are, by key."""
        with self._database.reading() as connection:
            return AlertTables(connection, self._database).progress(monitor)

    def silences(self, *, at: datetime | None = None, limit: int = _MOST) -> tuple[Silence, ...]:
        """Silences, or those that hold at a moment, in the order of their beginnings.

        Parameters
        ----------
        at : datetime, optional
        limit : int
            By default the newest 10,000. What sends notifications reads all: to miss one would
            notify of what is silenced.
        """
        with self._database.reading() as connection:
            return AlertTables(connection, self._database).silences(at=at, limit=limit)

    def silences_to_end(
        self,
        *,
        after: datetime,
        monitors: Collection[str],
        before: int | None = None,
        limit: int,
    ) -> tuple[Silence, ...]:
        """Silences that end after a moment, of these monitors or of all; the newest first.

        Parameters
        ----------
        after : datetime
        monitors : collection of str
        before : int, optional
            Only those with a smaller id.
        limit : int
        """
        own = silences.c
        query = (
            select(silences)
            .where(
                own.ends > after,
                own.monitor.is_(None) | own.monitor.in_(monitors),
                *([] if before is None else [own.id < before]),
            )
            .order_by(own.id.desc())
            .limit(limit)
        )
        with self._database.reading() as connection:
            return tuple(record_of(Silence, row) for row in connection.execute(query))


class AlertTables:
    """Access to the tables of alerts within a worker's transaction.

    Parameters
    ----------
    connection : Connection
    database : Database
    """

    def __init__(self, connection: Connection, database: Database) -> None:
        self.connection = connection
        self._database = database

    def alone(self, monitor: str) -> None:
        """Lock the alerts of a monitor until the transaction ends."""
        self._database.alone(self.connection, f"alerts {monitor}")

    def now(self) -> datetime:
        """Time of the database's clock."""
        return self._database.now(self.connection)

    def beginnings(
        self, monitors: Collection[str], *, limit: int | None = None
    ) -> dict[str, Transition]:
        """How the open incident of each firing alert began, by the alert's own incident key."""
        state, began = alert_states.c, alert_transitions.c
        same = ("monitor", "rule_key", "model_version", "segment", "incident")
        query = (
            select(alert_transitions)
            .join(alert_states, and_(*(state[name] == began[name] for name in same)))
            .where(state.monitor.in_(monitors), state.is_firing, began.kind == "fired")
            .order_by(began.id.desc())
            .limit(limit)
        )
        found = [_transition(row).transition for row in self.connection.execute(query)]
        return {began.incident_key(began.incident): began for began in found}

    def progress(self, monitor: str) -> dict[str, Progress]:
        """How far the rules of a monitor are, by key."""
        rows = self.connection.execute(
            select(alert_progress).where(alert_progress.c.monitor == monitor)
        )
        return {row.rule_key: record_of(Progress, row) for row in rows}

    def set_progress(self, monitor: str, progress: Mapping[str, Progress]) -> None:
        """Store the progress of these rules."""
        rows = [{"monitor": monitor, "rule_key": key, **asdict(at)} for key, at in progress.items()]
        self._database.put(self.connection, alert_progress, rows)

    def drop_progress(self, monitor: str, keys: Iterable[str]) -> None:
        """Delete the progress of rules that were edited or deleted."""
        self.connection.execute(
            delete(alert_progress).where(
                alert_progress.c.monitor == monitor, alert_progress.c.rule_key.in_(list(keys))
            )
        )

    def alerts(self, monitor: str) -> list[Alert]:
        """All alerts of a monitor, closed ones as well."""
        query = select(alert_states).where(alert_states.c.monitor == monitor)
        return [stored_alert(row) for row in self.connection.execute(query)]

    def put_alerts(self, alerts: Iterable[Alert]) -> None:
        """Store these alerts, replacing their earlier states."""
        self._database.put(self.connection, alert_states, [asdict(alert) for alert in alerts])

    def add(self, transition: Transition, *, at: datetime, withheld: Withheld | None) -> int:
        """Store a transition; returns its id."""
        values = asdict(transition)
        values["cause"] = plain_json(dict(transition.cause), "cause of an alert")
        query = (
            insert(alert_transitions)
            .values(**values, recorded_at=at, withheld=withheld)
            .returning(alert_transitions.c.id)
        )
        return int(self.connection.execute(query).scalar_one())

    def mark_notified(self, number: int, *, at: datetime) -> None:
        """Record that messages about a transition are in the outbox."""
        self.connection.execute(
            update(alert_transitions).where(alert_transitions.c.id == number).values(told_at=at)
        )

    def notified_destinations(self, key: str) -> list[str]:
        """Destinations in the outbox to which the message of that key was, or will be, sent."""
        query = select(outbox.c.destination).where(outbox.c.key == key)
        return sorted(self.connection.scalars(query))

    def transition(
        self, alert: Alert, *, incident: int, kind: TransitionKind
    ) -> StoredTransition | None:
        """The transition with which an incident of an alert fired or was resolved."""
        own = alert_transitions.c
        row = self.connection.execute(
            select(alert_transitions).where(
                own.monitor == alert.monitor,
                own.rule_key == alert.rule_key,
                own.model_version == alert.model_version,
                own.segment == alert.segment,
                own.incident == incident,
                own.kind == kind,
            )
        ).first()
        return None if row is None else _transition(row)

    def silences(
        self, *, at: datetime | None = None, limit: int | None = None
    ) -> tuple[Silence, ...]:
        """All silences, or those that hold at a moment; with `limit` only the newest."""
        own = silences.c
        query = select(silences).order_by(own.starts.desc(), own.id.desc()).limit(limit)
        if at is not None:
            query = query.where(own.starts <= at, own.ends > at)
        return tuple(
            record_of(Silence, row) for row in reversed(self.connection.execute(query).all())
        )


def stored_alert(row: Row[Any]) -> Alert:
    """The alert of a row of `alert_states`."""
    return record_of(Alert, row)


def _transition(row: Row[Any]) -> StoredTransition:
    return record_of(StoredTransition, row, transition=record_of(Transition, row))
