"""Standings: what the last round found for each monitor, so that the next can skip work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, select, update

from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.schema import monitors, standings
from pumonitor.monitor.ledger.records.rows import record_of

_LOOKS_APART: Final = timedelta(minutes=1)
"""Looks of rounds in quick succession are written down once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What is known of a monitor without reading its tables or windows.

    Attributes
    ----------
    monitor : str
    configuration : str
        Hash of the configuration under which its windows were planned.
    files : str or None
        Digest of names, sizes and times of its files when they were read; None for other tables.
    first_prediction, last_prediction : datetime or None
        Times of the first and last prediction at that moment; None without predictions.
    planned_until : datetime or None
        All windows that end by then are planned.
    set_aside : sequence of str
        What was left out of its tables, in a sentence each.
    rules : str or None
        Digest of the rules that were evaluated.
    quiet_until : datetime or None
        Nothing is due for these rules before then; None once anything that they read has changed.
    looked_at : datetime or None
        When a round last looked at it; None if none has since that is written down.
    problem : str or None
        What kept that round from reading its tables.
    problem_since : datetime or None
        When a round first met that problem, or another one before it without a good round between.
    """

    monitor: str
    configuration: str
    files: str | None = None
    first_prediction: datetime | None = None
    last_prediction: datetime | None = None
    planned_until: datetime | None = None
    set_aside: Sequence[str] = ()
    rules: str | None = None
    quiet_until: datetime | None = None
    looked_at: datetime | None = None
    problem: str | None = None
    problem_since: datetime | None = None


class StoredStandings:
    """Standings in the state database. Every method is one transaction.

    Parameters
    ----------
    database : Database
    mask : callable
        Hides secrets in problems before they are stored.
    """

    def __init__(self, database: Database, *, mask: Callable[[str], str] = str) -> None:
        self._database = database
        self._mask = mask

    def all(self) -> dict[str, Standing]:
        """Monitor to its standing."""
        with self._database.reading() as connection:
            return {
                row.monitor: record_of(Standing, row, set_aside=tuple(row.set_aside or ()))
                for row in connection.execute(select(standings))
            }

    def current_configurations(self) -> dict[str, str]:
        """Hash of each monitor's current configuration."""
        query = select(monitors.c.name, monitors.c.configuration).where(monitors.c.is_current)
        with self._database.reading() as connection:
            return {row.name: row.configuration for row in connection.execute(query)}

    def planned(self, found: Standing) -> None:
        """Store the result of planning; the columns about alerts are unchanged."""
        names = ("configuration", "files", "first_prediction", "last_prediction", "planned_until")
        values = {name: getattr(found, name) for name in names}
        values["set_aside"] = list(found.set_aside) or None
        with self._database.writing() as connection:
            _put(connection, self._database, found.monitor, found.configuration, values)

    def looked(
        self,
        configurations: Mapping[str, str],
        *,
        at: datetime,
        problems: Mapping[str, str],
    ) -> None:
        """Store that a round looked at these monitors, and what kept it from reading some.

        Nothing is written where the last round found the same less than a minute before.

        Parameters
        ----------
        configurations : mapping of str to str
            Monitor to the hash of its configuration.
        at : datetime
        problems : mapping of str to str
            Monitor to why its tables could not be read.
        """
        known = self.all()
        looks: list[tuple[str, str, dict[str, Any]]] = []
        has_changed = False
        for name, configuration in configurations.items():
            before = known.get(name) or Standing(monitor=name, configuration=configuration)
            problem = self._mask(problems[name]) if name in problems else None
            is_news = problem != before.problem
            if is_news or before.looked_at is None or at - before.looked_at >= _LOOKS_APART:
                since = None if problem is None else before.problem_since or at
                look = {"looked_at": at, "problem": problem, "problem_since": since}
                looks.append((name, before.configuration, look))
            has_changed = has_changed or is_news
        if looks:
            # A look alone changes nothing that pages keep.
            with self._database.writing(counted=has_changed) as connection:
                for name, configuration, look in looks:
                    _put(connection, self._database, name, configuration, look)


def rest(
    connection: Connection,
    database: Database,
    *,
    monitor: str,
    configuration: str,
    rules: str,
    until: datetime,
) -> None:
    """Store that nothing is due for these rules until then, unless something changes."""
    values = {"rules": rules, "quiet_until": until}
    _put(connection, database, monitor, configuration, values)


def stir(connection: Connection, monitor: str | None = None) -> None:
    """Make the alerts of a monitor, or of all, due in the next round."""
    of = () if monitor is None else (standings.c.monitor == monitor,)
    connection.execute(update(standings).where(*of).values(quiet_until=None))


def _put(
    connection: Connection,
    database: Database,
    monitor: str,
    configuration: str,
    values: Mapping[str, Any],
) -> None:
    row = {"monitor": monitor, "configuration": configuration}
    connection.execute(database.insert_if_absent(standings).values(row))
    connection.execute(update(standings).where(standings.c.monitor == monitor).values(values))
