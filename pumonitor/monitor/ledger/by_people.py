"""What people change about alerts, each with its entry in the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, insert, select, update

from pumonitor.monitor.ledger.alerts.alerts import AlertTables, stored_alert
from pumonitor.monitor.ledger.audit import record
from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.queries import equal
from pumonitor.monitor.ledger.database.schema import alert_states, silences
from pumonitor.monitor.ledger.records.alerts import Silence
from pumonitor.monitor.rules.alerts.alert import Alert


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenAlerts:
    """Alerts of a monitor. None matches any value.

    Attributes
    ----------
    monitor : str
    rule : str or None
        Name or key of the rule.
    model_version, segment : str or None
    incident : int or None
    """

    monitor: str
    rule: str | None = None
    model_version: str | None = None
    segment: str | None = None
    incident: int | None = None

    def firing(self) -> tuple[ColumnElement[bool], ...]:
        """Conditions on the table of states: they match, and fire."""
        own = alert_states.c
        return (
            own.monitor == self.monitor,
            own.is_firing,
            own.closed_at.is_(None),
            *([] if self.rule is None else [(own.rule == self.rule) | (own.rule_key == self.rule)]),
            *equal(own.segment, self.segment),
            *equal(own.model_version, self.model_version),
            *equal(own.incident, self.incident),
        )


class ChangesByPeople:
    """Acknowledgements and silences in the state database. Every method is one transaction.

    Parameters
    ----------
    database : Database
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def acknowledge(self, which: ChosenAlerts, *, by: str, reason: str = "") -> tuple[Alert, ...]:
        """Acknowledge firing alerts with all of their incidents, which then get no reminders.

        Returns those that were not acknowledged before.
        """
        own = alert_states.c
        is_open = own.acknowledged_incident != own.incident
        return self._mark(which, is_open, own.incident, "acknowledge", by, reason)

    def is_firing(self, which: ChosenAlerts) -> bool:
        """Whether any alert that matches fires."""
        query = select(alert_states.c.monitor).where(*which.firing()).limit(1)
        with self._database.reading() as connection:
            return connection.execute(query).first() is not None

    def take_back(self, which: ChosenAlerts, *, by: str, reason: str = "") -> tuple[Alert, ...]:
        """Take acknowledgements of incidents back; returns the alerts that were acknowledged."""
        own = alert_states.c
        is_known = own.acknowledged_incident == own.incident
        return self._mark(which, is_known, 0, "unacknowledge", by, reason)

    def _mark(
        self,
        which: ChosenAlerts,
        can_be_marked: ColumnElement[bool],
        incident: Any,
        action: str,
        by: str,
        reason: str,
    ) -> tuple[Alert, ...]:
        with self._database.writing() as connection:
            tables = AlertTables(connection, self._database)
            # The fold writes whole rows, so it must not run at the same time.
            tables.alone(which.monitor)
            own = alert_states.c
            all_firing = ChosenAlerts(monitor=which.monitor).firing()
            asked, firing = (
                [stored_alert(row) for row in connection.execute(select(alert_states).where(*of))]
                for of in (which.firing(), (*all_firing, can_be_marked))
            )
            chosen = {alert.dedup_key for alert in asked}
            marked = tuple(alert for alert in firing if alert.dedup_key in chosen)
            for alert in marked:
                places = zip(
                    (own.rule_key, own.model_version, own.segment), alert.place, strict=True
                )
                connection.execute(
                    update(alert_states)
                    .where(own.monitor == which.monitor, *(name == value for name, value in places))
                    .values(acknowledged_incident=incident)
                )
                detail = {
                    "monitor": alert.monitor,
                    "rule": alert.rule,
                    "model_version": alert.model_version,
                    "segment": alert.segment,
                    "incident": alert.incident,
                    "reason": reason,
                }
                self._record(connection, by, action, detail)
        return marked

    def silence(self, silence: Silence) -> int:
        """Store a silence of its author; returns its id."""
        values = silence.model_dump(exclude={"id"})
        with self._database.writing() as connection:
            at = self._database.now(connection)
            query = insert(silences).values(**values, created_at=at).returning(silences.c.id)
            number = int(connection.execute(query).scalar_one())
            self._record(connection, silence.author, "silence", {**values, "id": number})
        return number

    def silence_numbered(self, number: int) -> Silence | None:
        """A silence by its id; None if there is none."""
        with self._database.reading() as connection:
            row = connection.execute(select(silences).where(silences.c.id == number)).first()
        return None if row is None else Silence.model_validate(row)

    def end_silence(self, number: int, *, at: datetime, by: str) -> bool:
        """End a silence at a moment; returns False if there is none, or it had ended before."""
        with self._database.writing() as connection:
            starts = connection.scalar(select(silences.c.starts).where(silences.c.id == number))
            if starts is None:
                return False
            done = connection.execute(
                update(silences)
                .where(silences.c.id == number, silences.c.ends > at)
                .values(ends=max(at, starts))
            )
            if done.rowcount == 1:
                self._record(connection, by, "unsilence", {"id": number})
            return done.rowcount == 1

    def _record(
        self, connection: Connection, by: str, action: str, detail: Mapping[str, Any]
    ) -> None:
        at = self._database.now(connection)
        record(connection, at=at, actor=by, action=action, detail=detail)
